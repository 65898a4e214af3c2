"""What the app does with a file before any verb: generate the example, and show the first rows."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from shoal.app.project import Stored
from shoal.app.verbs.base import Option, Task, Verb, VerbOptions
from shoal.results.sections import Headline


class SampleOptions(VerbOptions):
    """Options of `shoal sample-data`."""

    sample: str = "discharges"
    rows: Annotated[int | None, Field(ge=1, le=10**9), Option("-n")] = None
    seed: Annotated[int, Field(ge=0, le=2**31), Option("--seed")] = 0


class PreviewOptions(VerbOptions):
    """How many rows."""

    rows: Annotated[int, Field(ge=1, le=1_000)] = 200


def _sample(task: Task, options: SampleOptions) -> Any:
    from shoal.reproduction.sample.written import write_sample

    return write_sample(options.sample, output=task.source, rows=options.rows, seed=options.seed, force=True)


def _preview(task: Task, options: PreviewOptions) -> Stored:
    from shoal.storage.reading.head import read_head

    frame, notes = read_head(task.source, options.rows, task.reading)
    found = {"columns": frame.columns, "rows": [list(row) for row in frame.rows()], "notes": list(notes)}
    return Stored(found, f"The first {len(frame)} rows.", [Headline(f"The first {len(frame)} rows.")])


VERBS = (
    Verb("sample-data", ("sample-data",), "shoal:sample_data", SampleOptions, "An example.", False, False, _sample),
    Verb(
        "preview", (), "shoal.storage.reading.head:read_head", PreviewOptions, "The first rows.", False, True, _preview
    ),
)
