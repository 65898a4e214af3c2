"""Hierarchies of the quasi-identifiers: shown as they are built, built otherwise, or written by hand."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from shoal.app.pages.request import begin, needs_again
from shoal.app.pages.risk import is_place
from shoal.app.pages.steps import VerbatimText, back
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, picker_of, workspace_of
from shoal.errors import InputError
from shoal.vocabulary import HierarchyKind, words_of

_LONGEST_LABEL = 10_000
router = APIRouter()
# longer trees are not edited in a field of a page
MOST_LINES = 2_000
_KINDS = {
    "auto": "By what the column holds",
    "equal-width": "Intervals of equal width",
    "powers": "Intervals that grow by powers",
    "equal-frequency": "Intervals with as many people each",
    "dates": "Day, month, quarter, year, decade",
    "prefix": "Codes by prefix",
    "categories": "Categories, rare ones joined",
    "boolean": "Yes, no, and anything",
    "countries": "Countries by region",
    "us-states": "US states by region",
    "icd-10": "ICD-10 chapters and blocks",
    "nace": "NACE sections and divisions",
    "isced": "ISCED levels",
}
KINDS = [(word, _KINDS.get(word, word)) for word in words_of(HierarchyKind)]


def trees_of(request: Request, workspace: Workspace) -> list[dict[str, Any]] | None:
    """The tree of each quasi-identifier: given by the policy, or as it would be built; None until that was asked."""
    _take_built(request, workspace)
    policy = workspace.policy()
    found = jobs_of(request).found(workspace, "trees")
    if found is None or needs_again(workspace, "trees"):
        return None
    built = {one["column"]: one for one in found.result["hierarchies"]}
    given = policy.hierarchies if isinstance(policy.hierarchies, dict) else {}
    allows = picker_of(request).allows
    given = {name: tree if isinstance(tree, list) or allows(tree) else [] for name, tree in given.items()}
    return [_tree(place, name, built.get(name), given.get(name)) for place, name in enumerate(policy.quasi_identifiers)]


def _tree(place: int, name: str, built: dict[str, Any] | None, given: Any) -> dict[str, Any]:
    rows = given if isinstance(given, list) else _rows(built["output"] if given is None and built else given)
    levels = len(rows[0]) if rows else 0
    sizes = [len({row[level] for row in rows}) for level in range(levels)]
    middle = rows[len(rows) // 2] if rows else []
    return {
        "place": place,
        "column": name,
        "given": given is not None,
        "source": "Yours" if given is not None else built["source"] if built else "",
        "sizes": " → ".join(f"{size:,}" for size in sizes),
        "levels": levels,
        "example": " → ".join(middle),
        "text": VerbatimText(_as_text(rows) if len(rows) <= MOST_LINES else ""),
        "long": len(rows) > MOST_LINES,
    }


def _rows(path: str | None) -> list[list[str]]:
    """The rows of a tree's file: the leaf, then what it becomes."""
    if path is None or not Path(path).exists():
        return []
    with Path(path).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.reader(file, delimiter=";") if row]


def _typed(text: str) -> list[list[str]]:
    """The rows of a tree that somebody typed."""
    cure = "Write a leaf and what it becomes: 34;30-39;*."
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=";") if row]
    except csv.Error:
        raise InputError("The tree is not rows of labels.", cure) from None
    # the reader's own limit is a setting of the whole process
    if any(len(label) > _LONGEST_LABEL for row in rows for label in row):
        raise InputError(f"The tree has a label of more than {_LONGEST_LABEL:,} characters.", cure)
    return rows


def _as_text(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(rows)
    return text.getvalue()


def _take_built(request: Request, workspace: Workspace) -> None:
    """Put a tree that was built as asked into the policy, once."""
    job = jobs_of(request).last(workspace, "trees")
    if job is None or job.state != "done" or not job.options.get("kinds") or (job.folder / "taken").exists():
        return
    (job.folder / "taken").touch()
    stored = job.stored
    policy = workspace.policy()
    given = dict(policy.hierarchies) if isinstance(policy.hierarchies, dict) else {}
    for one in stored.result["hierarchies"] if stored else ():
        if one["column"] in job.options["kinds"]:
            given[one["column"]] = _rows(one["output"])
    workspace.set_policy({**policy.as_written(), "hierarchies": given})


def _column(workspace: Workspace, form: dict[str, list[str]]) -> str:
    names = workspace.policy().quasi_identifiers
    place = form.get("column", [""])[0]
    if not is_place(place) or int(place) >= len(names):
        raise InputError("The column is not a quasi-identifier any more.", "Reload the page.")
    return str(names[int(place)])


@router.post("/w/{identifier}/hierarchy/show")
def show(request: Request, identifier: str) -> Response:
    """Build the hierarchies to look at them."""
    workspace = workspace_of(request, identifier)
    begin(request, workspace, "trees", {"columns": workspace.policy().quasi_identifiers})
    return back(identifier, step="protect")


@router.post("/w/{identifier}/hierarchy/build")
def build(request: Request, identifier: str, form: Fields) -> Response:
    """Build the tree of one column in another way; the policy keeps it."""
    from shoal.app.pages.protect import shown_page

    workspace = workspace_of(request, identifier)
    try:
        asked: dict[str, Any] = {"kind": form.get("kind", ["auto"])[0]}
        for name, reads in (("width", float), ("cut", int)):
            if text := form.get(name, [""])[0].strip():
                asked[name] = _number(text, reads, name)
        names = workspace.policy().quasi_identifiers
        begin(request, workspace, "trees", {"columns": names, "kinds": {_column(workspace, form): asked}})
    except InputError as error:
        return shown_page(request, workspace, error)
    return back(identifier, step="protect")


def _number(text: str, reads: Any, name: str) -> Any:
    try:
        found = reads(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name} is not a number.", "Write 5, for example.")
    return found


@router.post("/w/{identifier}/hierarchy")
def keep(request: Request, identifier: str, form: Fields) -> Response:
    """Keep a tree that was written by hand; the library says what is wrong with it."""
    from shoal.app.pages.protect import shown_page
    from shoal.ranges.hierarchy.given import given_hierarchies

    workspace = workspace_of(request, identifier)
    policy = workspace.policy()
    given = dict(policy.hierarchies) if isinstance(policy.hierarchies, dict) else {}
    try:
        name = _column(workspace, form)
        given.pop(name, None)
        if not form.get("remove"):
            rows = _typed(form.get("text", [""])[0])
            given_hierarchies({name: rows}, [name])
            given[name] = rows
        workspace.set_policy({**policy.as_written(), "hierarchies": given})
    except InputError as error:
        return shown_page(request, workspace, error)
    return back(identifier, step="protect")
