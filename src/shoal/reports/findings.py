"""The document that a report is made from: what every step found, and nothing that is still to be computed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

from shoal.errors import InputError
from shoal.results import Figure, Figures, Headline, Notes, Result, Section, where_known
from shoal.storage.reading.bytes import parse_json, read_small
from shoal.wording import counted

_SHOWN = 5
Edition = Literal["internal", "public"]


@dataclass(frozen=True, repr=False)
class FindingsDocument(Result):
    """What every step of a publication found, each as its own verb gives it (`shoal schema risk` and so on), without
    counts of few people. `context` has the edition: the public one leaves out what helps an attacker."""

    name: ClassVar[str] = "findings"

    created: str
    software: dict[str, str]
    data: dict[str, Any]
    policy: dict[str, Any]
    profile: dict[str, Any] | None
    detect: dict[str, Any] | None
    risk: dict[str, dict[str, Any] | None]
    change: dict[str, Any] | None
    verification: dict[str, Any] | None
    attacks: dict[str, Any] | None
    leak: dict[str, Any] | None
    utility: dict[str, Any] | None
    context: dict[str, Any]
    limits: list[str]
    # attacks past their limit that the policy accepts, each with its reason
    accepted: list[str] | None = where_known()
    # where the release was refused: at which `step`, the `reason` and the `cure`
    refusal: dict[str, str | None] | None = where_known()
    # of a table under differential privacy: what it promises and, for its owner, how far off it is
    private_table: dict[str, Any] | None = where_known()

    def summary(self) -> str:
        """What was published, in a sentence."""
        if self.refusal is not None:
            return f"{counted(self.data['records'], 'record')}, {self.created[:10]}; refused: {self.refusal['step']}."
        verdict = "not reached" if self.verification is None else self.verification["verdict"]
        return f"{counted(self.data['records'], 'record')}, {self.created[:10]}; verification: {verdict}."

    def sections(self) -> list[Section]:
        """The steps that have findings, and what is not known."""
        steps = [name for name in KEYS[5:13] if getattr(self, name)]
        figures = [Figure("created", self.created), Figure("steps with findings", ", ".join(steps))]
        return [Headline(self.summary()), Figures(figures), Notes(self.limits)]


# what must be there for a report; what a step did not find is null
KEYS = ("schema_version", *(entry.name for entry in fields(FindingsDocument) if not entry.metadata))


def read_findings(path: str | Path) -> dict[str, Any]:
    """The findings in a file, or in a published folder.

    >>> read_findings("nothing.json")
    Traceback (most recent call last):
    shoal.errors.InputError: There are no findings at nothing.json. ...
    """
    file = Path(path) / "findings.json" if Path(path).is_dir() else Path(path)
    cure = "Name a folder that `shoal publish` wrote, or its findings.json."
    if not file.is_file():
        raise InputError(f"There are no findings at {path}.", cure)
    try:
        found = parse_json(read_small(file))
    except (ValueError, OSError):
        raise InputError(f"{file} is not a file of findings.", cure) from None
    return checked_findings(found, str(file))


def checked_findings(found: Any, where: str) -> dict[str, Any]:
    """Findings that have every part a report needs; what is missing is named."""
    cure = "Name a folder that `shoal publish` wrote, or its findings.json."
    if not isinstance(found, dict):
        raise InputError(f"{where} is not a file of findings.", cure)
    if missing := [key for key in KEYS if key not in found]:
        raise InputError(f"{where} is not a file of findings: it lacks {', '.join(missing)}.", cure)
    if found["schema_version"] != FindingsDocument.schema_version:
        raise InputError(f"{where} was written by another version of shoal.", "Make the report with that version.")
    from shoal.reports.findings_model import wrong_places

    if wrong := wrong_places(found):
        raise InputError(f"{where} is not a file of findings: see {', '.join(wrong[:_SHOWN])}.", cure)
    return found
