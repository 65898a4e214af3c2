"""Results of verbs on disk: the verb's own JSON beside its sections, which read back as the sections they were."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from shoal.dataclasses import dataclass
from shoal.results.result import Result, as_json
from shoal.results.sections import Bar, Cell, Chart, Commands, Content, Figure, Figures, Files, Grid, Headline, Notes
from shoal.results.sections import Section as Section
from shoal.writing import write_bytes

_SECTIONS: dict[str, type[Any]] = {
    kind.__name__.lower(): kind for kind in (Headline, Figures, Grid, Chart, Notes, Files, Commands)
}


@dataclass(frozen=True)
class Stored:
    """What a verb found: its JSON, one sentence, and its sections."""

    result: dict[str, Any]
    summary: str
    sections: Sequence[Section]

    @classmethod
    def of(cls, result: Result) -> Stored:
        """What is kept of a result."""
        return cls(result.to_dict(), result.summary(), result.sections())

    def write(self, path: Path) -> None:
        """To a file of its owner, whole or not at all."""
        content = {
            "result": self.result,
            "summary": self.summary,
            "sections": [section_to_json(section) for section in self.sections],
        }
        write_bytes(path, json.dumps(content, ensure_ascii=False).encode(), 0o600)

    @classmethod
    def read(cls, path: Path) -> Stored:
        """From a file that `write` made."""
        content = json.loads(path.read_bytes())
        return cls(content["result"], content["summary"], [section_from_json(found) for found in content["sections"]])


def section_to_json(section: Section) -> dict[str, Any]:
    """A section as JSON, with its kind.

    >>> section_to_json(Headline("Nobody is unique.", "good"))
    {'kind': 'headline', 'text': 'Nobody is unique.', 'tone': 'good'}
    """
    found = {entry.name: _content(getattr(section, entry.name)) for entry in fields(section)}
    return {"kind": type(section).__name__.lower(), **found}


def _content(value: Any) -> Any:
    if isinstance(value, Bar):
        return {"share": value.share}
    if isinstance(value, Cell):
        return {"text": value.text, "tone": value.tone}
    if isinstance(value, Figure):
        return {"name": value.name, "value": value.value, "tone": value.tone}
    if isinstance(value, (list, tuple)):
        return [_content(entry) for entry in value]
    return as_json(value)


def section_from_json(found: Mapping[str, Any]) -> Section:
    """The section that `section_to_json` wrote.

    >>> grid = Grid(("name", "share"), [("age", Bar(0.5)), (Cell("sex", "dim"), "0")], left=1, title="Columns")
    >>> section_from_json(section_to_json(grid)).rows
    [('age', Bar(share=0.5)), (Cell(text='sex', tone='dim'), '0')]
    """
    given = dict(found)
    kind = _SECTIONS[given.pop("kind")]
    if kind is Figures:
        given["figures"] = [Figure(**figure) for figure in given["figures"]]
    if kind is Grid:
        given["rows"] = [tuple(_cell(cell) for cell in row) for row in given["rows"]]
        given |= {"heads": tuple(given["heads"]), "wrap": tuple(given["wrap"])}
    section: Section = kind(**given)
    return section


def _cell(found: Any) -> Content:
    if not isinstance(found, dict):
        return str(found)
    return Bar(found["share"]) if "share" in found else Cell(**found)
