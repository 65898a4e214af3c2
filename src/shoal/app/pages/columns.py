"""Columns: the proposed roles with their reasons, to accept or change, and which sets of columns single people out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from shoal.app.pages.charts import PERCENT, ChartAxis, Point, line_chart
from shoal.app.pages.request import ensure, needs_again
from shoal.app.pages.steps import DECIDED, AppStep, back, page, same
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, render, workspace_of
from shoal.detection.profiles import ColumnProfile, Profile
from shoal.detection.results import Detection
from shoal.errors import InputError
from shoal.policy import as_policy
from shoal.vocabulary import Role
from shoal.wording import counted, percent

router = APIRouter()
STEP = AppStep(
    "columns", "Columns", "Which ones point at people", "Which columns point at people?",
    "Leaving out names is not enough: age, ZIP code and sex together single most people out. You decide what each "
    "column is; shoal proposes it, with its reasons.",
    verbs={
        "sample-data": "Making the example", "propose": "Looking at the columns",
        "detect": "Looking for columns that single people out",
    },
    done_by=DECIDED,
)  # fmt: skip
_DECIDED = 0.5
_KEYS_SHOWN = 5
# the types that need no further settings; others come with a policy
_TYPES = ("nominal", "number", "date", "code", "boolean", "text")
# what may stand between items in a cell, and how the page calls it
_SEPARATORS = {"|": "|", ";": ";", ",": "a comma", " ": "a blank"}


@router.get("/w/{identifier}/columns")
def columns(request: Request, identifier: str, set: int | None = None) -> HTMLResponse:
    """Roles to accept or change, and the frontier; `set` is the size of the set whose columns are shown."""
    workspace = workspace_of(request, identifier)
    return _page(request, workspace, chosen=set)


def _page(
    request: Request, workspace: Workspace, chosen: int | None = None, problem: Exception | None = None
) -> HTMLResponse:
    ensure(request, workspace, "propose")
    profile = _profile(request, workspace)
    roles = roles_of(workspace, profile)
    types = {name: kind.type for name, kind in workspace.policy().types.items()} if workspace.has_policy else {}
    quasi = [name for name, role in roles.items() if role == "quasi-identifier"]
    if quasi:
        ensure(request, workspace, "detect", {"columns": quasi})
    return page(
        request,
        workspace,
        "columns",
        problem=problem,
        same=same(workspace, ("profile", {}), ("detect", {"columns": quasi} if quasi else {})),
        columns=[_shown(column, roles, types) for column in profile.columns] if profile else [],
        roles=_roles(workspace),
        decided=workspace.has_policy,
        saved=None,
        frontier=_frontier(request, workspace, chosen) if quasi else None,
    )


def _profile(request: Request, workspace: Workspace) -> Profile | None:
    found = jobs_of(request).found(workspace, "propose")
    return None if found is None else found.typed(Profile)


def roles_of(workspace: Workspace, profile: Profile | None) -> dict[str, str]:
    """The role of each column of the table: decided, or else as proposed; `items|` are items in a cell, | between."""
    policy = workspace.policy() if workspace.has_policy else None
    decided = dict(policy.columns) if policy else {}
    found = {column.name: decided.get(column.name, column.role) for column in (profile.columns if profile else ())}
    between = {policy.item_column: policy.separator or ""} if policy else {}
    return {name: role + between.get(name, "") if role == "items" else role for name, role in found.items()}


def _roles(workspace: Workspace) -> dict[str, str]:
    """The roles to choose from, with their words; of items with what stands between them in a cell."""
    kept = workspace.policy().separator if workspace.has_policy else None
    found = {}
    for role in get_args(Role):
        found[role] = "items, one in each row" if role == "items" else role
        if role == "items":
            between = _SEPARATORS if kept is None else {kept: kept, **_SEPARATORS}
            found |= {f"items{mark}": f"items in a cell, {word} between" for mark, word in between.items()}
    return found


def _shown(column: ColumnProfile, roles: dict[str, str], types: dict[str, str]) -> dict[str, Any]:
    kept = types.get(column.name, column.proposed_type or "")
    sure = column.confidence
    kind = column.kind if column.kind not in (None, column.type) else None
    return {
        "name": column.name,
        "role": roles[column.name],
        "proposed": column.role,
        "changed": roles[column.name] != column.role,
        "type": kept,
        "types": dict.fromkeys(["", kept, *_TYPES]) if not kept else dict.fromkeys([kept, *_TYPES]),
        "what": f"{kind}, {column.type}" if kind else column.type,
        "sure": f"{sure:.0%} sure" if sure >= _DECIDED else "your decision" if not sure else "not sure",
        "sure_tone": "plain-chip" if sure >= _DECIDED else "warning",
        "reason": " ".join(column.reasons),
        "distinct": f"{column.distinct:,}",
        "nulls": f"{column.nulls:,}" if column.nulls else "–",
    }


def _frontier(request: Request, workspace: Workspace, chosen: int | None) -> dict[str, Any] | None:
    """The best set of each size as a chart, and the columns of one of them."""
    stored = jobs_of(request).found(workspace, "detect")
    if stored is None:
        return None
    found = stored.typed(Detection)
    sets, keys = sets_by_size(found)
    if not sets:
        return None
    size = chosen if chosen in sets else min(3, max(sets))
    points = [
        Point(
            number, one.uniqueness, percent(one.uniqueness), f"?set={number}",
            f"{counted(number, 'column')}: {percent(one.uniqueness)} singled out", number == size,
        )
        for number, one in sorted(sets.items())
    ]  # fmt: skip
    across = ChartAxis(0.6, max(sets) + 0.4, [(number, str(number)) for number in sets], "number of columns known")
    one = sets[size]
    verb = "singles" if size == 1 else "single"
    return {
        "chart": line_chart(points, across, PERCENT, f"Records singled out by sets of columns. {stored.summary}",
                            target="#frontier"),
        "words": f"{counted(size, 'column')} {verb} out {percent(one.uniqueness)}",
        "tone": "bad" if one.uniques else "good",
        "columns": one.columns,
        "about": f"{one.uniques:,} of {found.records:,} records are the only ones with their values of:",
        "others": [" + ".join(key) for key in keys if size == len(key) and key != one.columns][:_KEYS_SHOWN],
        "proof": "" if found.exact else "The search was bounded: a larger set may single out more.",
        "old": needs_again(workspace, "detect"),
    }  # fmt: skip


@dataclass(frozen=True)
class SingledOut:
    """The set of columns of one size that singles out most."""

    columns: list[str]
    uniques: int
    uniqueness: float


def sets_by_size(found: Detection) -> tuple[dict[int, SingledOut], list[list[str]]]:
    """The set of each size that singles out most, up to the smallest that singles out everybody; and all such sets.

    The library lists the sets that single out everybody apart, so that the curve has to end with one of them.
    """
    keys = sorted(found.identifiers, key=len)
    most = len(keys[0]) if keys else None
    last = len(found.best.columns) if found.best else 0
    sizes = {len(one.columns): SingledOut(one.columns, one.uniques, one.uniqueness) for one in found.by_size}
    sets = {size: one for size, one in sizes.items() if (size <= last if most is None else size < most)}
    if most is not None:
        sets[most] = SingledOut(keys[0], found.records, 1.0)
    return sets, keys


@router.post("/w/{identifier}/columns")
def decide(request: Request, identifier: str, form: Fields) -> Response:
    """Keep the roles; the first time together with the rest of the proposed policy."""
    workspace = workspace_of(request, identifier)
    profile = _profile(request, workspace)
    if profile is None:
        return back(identifier, step="columns")
    names = [column.name for column in profile.columns]
    roles = {
        name: form[f"role-{place}"][0] for place, name in enumerate(names) if form.get(f"role-{place}")
    } or roles_of(workspace, profile)
    try:
        policy = _with_roles(_start(workspace, profile), roles)
        for place, column in enumerate(profile.columns):
            chosen = form.get(f"type-{place}", [""])[0]
            kept = as_policy(policy).types.get(column.name)
            if chosen and chosen != (kept.type if kept else column.proposed_type):
                policy["types"] = {**policy.get("types", {}), column.name: chosen}
        workspace.set_policy(policy)
    except InputError as error:
        return _page(request, workspace, problem=error)
    if request.headers.get("hx-request"):
        quasi = sum(role == "quasi-identifier" for role in roles.values())
        words = f"Saved: {counted(quasi, 'quasi-identifier')}." if quasi else "Saved. No column is a quasi-identifier."
        return render(request, "saved.html", saved=words)
    return back(identifier, step="risk" if form.get("next") else "columns")


def _start(workspace: Workspace, profile: Profile) -> dict[str, Any]:
    """What was decided so far; at first what the library proposes."""
    if workspace.has_policy:
        written: dict[str, Any] = workspace.policy().as_written()
        return written
    from shoal.policy import load_policy

    proposed = profile.policy_file
    return load_policy(proposed).as_written() if proposed and Path(proposed).exists() else {}


def _with_roles(policy: dict[str, Any], roles: dict[str, str]) -> dict[str, Any]:
    """A policy with other roles, without models about columns that are not sensitive any more, and without what was
    said of items in columns that hold none any more."""
    models = [
        model for model in policy.get("models", [])
        if model.get("sensitive") is None or roles.get(model["sensitive"]) == "sensitive"
    ]  # fmt: skip
    items = dict(policy.get("items", {}))
    for name, role in roles.items():
        said = {**items.pop(name, {}), "separator": role.removeprefix("items") or None}
        if role.startswith("items") and any(said.values()):
            items[name] = said
    plain = {name: "items" if role.startswith("items") else role for name, role in roles.items()}
    columns = {**policy.get("columns", {}), **plain}
    return {**policy, "columns": columns, "items": items, **({"models": models} if models else {})}
