"""Verbs that look and change nothing, and what the app does with a file before any verb: an example, the first rows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from shoal.app.project import Stored
from shoal.app.verbs.base import Task, Verb, VerbOptions, command
from shoal.results.sections import Headline


class Sampled(VerbOptions):
    """`sample` is the table."""

    sample: str = "discharges"


class PreviewOptions(VerbOptions):
    """How many rows."""

    rows: Annotated[int, Field(ge=1, le=1_000)] = 200


class LatticeBase(VerbOptions):
    """Models and options of methods stand in the policy."""

    suppression: float | str | None = None

    def keywords(self) -> dict[str, Any]:
        """With the part of the rows that may be left out."""
        return super().keywords() | ({} if self.suppression is None else {"suppression": self.suppression})


def _sample(task: Task, options: Any) -> Any:
    from shoal.reproduction.sample.written import write_sample

    return write_sample(options.sample, output=task.source, rows=options.rows, seed=options.seed, force=True)


def _preview(task: Task, options: PreviewOptions) -> Stored:
    from shoal.storage.reading.head import read_head

    frame, notes = read_head(task.source, options.rows, task.reading)
    content = {"columns": frame.columns, "rows": [list(row) for row in frame.rows()], "notes": list(notes)}
    return Stored(content, f"The first {len(frame)} rows.", [Headline(f"The first {len(frame)} rows.")])


VERBS = (
    command("sample-data", Sampled, run=_sample),
    Verb("preview", PreviewOptions, _preview, note="The first rows."),
    command("profile"),
    command("detect"),
    command("risk"),
    command("leak"),
    command("lattice", LatticeBase),
    command("cells"),
)
