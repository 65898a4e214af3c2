"""Verbs on free text: scrub releases a table with its notes scrubbed, k-safety writes documents."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from shoal.app.verbs.base import Option, Task, Verb, VerbOptions, out
from shoal.app.verbs.changing import FileKind, FileName, KeyFile, PersonalOptions, released
from shoal.app.verbs.measuring import Columns, Person
from shoal.text.k_safety import SafetyMethod
from shoal.vocabulary import DateOrder, Replacing


class ScrubOptions(PersonalOptions):
    """Options of `shoal scrub`; `spans_out`: the places of what was replaced are written too, for the owner only."""

    text: Annotated[Columns, Option("--text", "columns")]
    known: Annotated[Columns | None, Option("--known", "columns")] = None
    person: Person = None
    replace: Annotated[Replacing, Option("--replace")] = "tag"
    key_file: KeyFile = None
    keep: Annotated[Columns | None, Option("--keep", "columns")] = None
    known_from: Annotated[FileName | None, Option("--known-from", "file")] = None
    text_model: Annotated[FileName | None, Option("--text-model", "file")] = None
    date_order: Annotated[DateOrder | None, Option("--date-order")] = None
    spans_out: bool = False


class KSafetyOptions(VerbOptions):
    """Options of `shoal k-safety`; the entities are a table of this machine."""

    entities: Annotated[FileName, Option("--entities", "file")]
    k: Annotated[int, Field(ge=1, le=10**9), Option("-k")]
    text: Annotated[str, Option("--text")] = "text"
    method: Annotated[SafetyMethod, Option("--method")] = "greedy"
    file_format: FileKind = "csv"


def _scrub(task: Task, options: ScrubOptions) -> Any:
    more = {"spans_out": task.folder / "spans.csv"} if options.spans_out else {}
    return released("release_scrubbed", policy=False, **more)(task, options)


def _k_safety(task: Task, options: KSafetyOptions) -> Any:
    from shoal.methods.scrubbing.documents import k_safety

    output = out(task) / f"documents.{options.file_format}"
    return k_safety(task.source, output=output, options=task.reading, **options.arguments())


VERBS = (
    Verb(
        "scrub",
        ("scrub",),
        "shoal.releases.jobs:release_scrubbed",
        ScrubOptions,
        "Replace what points at people in columns of free text.",
        takes_policy=False,
        run=_scrub,
        writes="scrubbed",
    ),
    Verb(
        "k-safety",
        ("k-safety",),
        "shoal.methods.scrubbing.documents:k_safety",
        KSafetyOptions,
        "Remove the terms by which a document tells whom it is about.",
        takes_policy=False,
        run=_k_safety,
    ),
)
