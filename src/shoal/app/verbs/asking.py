"""The query desk of a workspace: opened once, asked until its budget is spent.

Its folder is not that of a job: a new run never brings a spent budget back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shoal.app.verbs.base import Task, command
from shoal.errors import InputError
from shoal.vocabulary import QueryKind

__all__ = ["VERBS", "DeskOpenOptions", "DeskQueryOptions", "QueryKind", "desk_of", "settings_of"]


def desk_of(workspace_folder: Path) -> Path:
    """The folder of a workspace's desk."""
    return workspace_folder / "desk"


def _desk(task: Task) -> Path:
    return desk_of(task.folder.parents[1])


def _open(task: Task, options: Any) -> Any:
    from shoal.dp import open_desk
    from shoal.dp.types import OTHERS, PROPOSED

    given = {**options.keywords(), "types": {**(options.types or {})}}
    if options.confirm_types:
        given["types"][OTHERS] = PROPOSED
    return open_desk(task.source, folder=_desk(task), options=task.reading, **given)


def _opened(task: Task) -> Any:
    from shoal.dp import Desk

    if not _desk(task).exists():
        raise InputError("No desk is open on this file.", "Open one with a budget first.")
    return Desk(_desk(task))


def _query(task: Task, options: Any) -> Any:
    from shoal.dp import BudgetRefused

    with _opened(task) as desk:
        ask = desk.preview if options.preview else desk.query
        try:
            return ask(options.kind, options.column, **settings_of(options))
        except BudgetRefused as refused:
            return desk.refusal(refused)


def settings_of(options: Any) -> dict[str, Any]:
    """What a query says beside its kind and column."""
    return {name: value for name, value in options.keywords().items() if name not in ("kind", "column")}


def _show(task: Task, options: Any) -> Any:
    with _opened(task) as desk:
        return desk.budget()


VERBS = (
    command("desk open", run=_open),
    command("desk query", run=_query),
    command("desk show", run=_show),
)
DeskOpenOptions: Any = VERBS[0].options
DeskQueryOptions: Any = VERBS[1].options
