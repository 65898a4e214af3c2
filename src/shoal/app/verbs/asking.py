"""The query desk of a workspace: opened once, asked until its budget is spent.

Its folder is not that of a job: a new run never brings a spent budget back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from shoal.app.verbs.base import Option, Task, Verb, VerbOptions
from shoal.app.verbs.measuring import Columns, Person
from shoal.errors import InputError
from shoal.vocabulary import Accounting, Mechanism

QueryKind = Literal["count", "persons", "sum", "mean", "variance", "median", "quantile", "histogram", "bounds"]


class DeskOpenOptions(VerbOptions):
    """Options of `shoal desk open`."""

    epsilon: Annotated[str, Option("--epsilon")]
    types: Annotated[dict[str, str] | None, Option("--types", "pairs")] = None
    confirm_types: bool = False
    delta: Annotated[str, Option("--delta")] = "0"
    person: Person = None
    max_rows_per_person: Annotated[int | None, Field(ge=1, le=10**9), Option("--max-rows-per-person")] = None
    accounting: Annotated[Accounting, Option("--accounting")] = "basic"
    columns: Annotated[Columns | None, Option("--columns", "columns")] = None


class DeskQueryOptions(VerbOptions):
    """Options of `shoal desk query`."""

    kind: QueryKind
    column: str | None = None
    epsilon: Annotated[str, Option("--epsilon")]
    where: Annotated[str | None, Option("--where")] = None
    by: Annotated[Columns | None, Option("--by", "columns")] = None
    keys: Annotated[list[Columns] | None, Option("--keys", "lists")] = None
    bounds: Annotated[str | None, Option("--bounds")] = None
    q: Annotated[str | None, Option("--q")] = None
    bins: Annotated[str | None, Option("--bins")] = None
    step: Annotated[str | None, Option("--step")] = None
    delta: Annotated[str | None, Option("--delta")] = None
    mechanism: Annotated[Mechanism, Option("--mechanism")] = "laplace"
    preview: bool = False


class DeskShowOptions(VerbOptions):
    """`shoal desk show` has no options here."""


def desk_of(workspace_folder: Path) -> Path:
    """The folder of a workspace's desk."""
    return workspace_folder / "desk"


def _desk(task: Task) -> Path:
    return desk_of(task.folder.parents[1])


def _open(task: Task, options: DeskOpenOptions) -> Any:
    from shoal.dp import open_desk
    from shoal.dp.types import OTHERS, PROPOSED

    given = {**options.arguments(), "types": {**(options.types or {})}}
    if options.confirm_types:
        given["types"][OTHERS] = PROPOSED
    return open_desk(task.source, folder=_desk(task), options=task.reading, **given)


def _opened(task: Task) -> Any:
    from shoal.dp import Desk

    if not _desk(task).exists():
        raise InputError("No desk is open on this file.", "Open one with a budget first.")
    return Desk(_desk(task))


def _query(task: Task, options: DeskQueryOptions) -> Any:
    from shoal.dp import BudgetRefused

    with _opened(task) as desk:
        ask = desk.preview if options.preview else desk.query
        try:
            return ask(options.kind, options.column, **options.arguments())
        except BudgetRefused as refused:
            return desk.refusal(refused)


def _show(task: Task, options: DeskShowOptions) -> Any:
    with _opened(task) as desk:
        return desk.budget()


VERBS = (
    Verb("desk-open", ("desk", "open"), "shoal.dp:open_desk", DeskOpenOptions, "Open a desk.", False, True, _open),
    Verb("desk-query", ("desk", "query"), "shoal.dp:Desk", DeskQueryOptions, "Ask the desk.", False, False, _query),
    Verb("desk-show", ("desk", "show"), "shoal.dp:Desk", DeskShowOptions, "What is left?", False, False, _show),
)
