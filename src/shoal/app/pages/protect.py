"""Protect: the goal, by a standard or by figures; what the release that keeps it loses; and other ones to pick."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.pages.asked import begin
from shoal.app.pages.charts import Axis, Point, line_chart, paired_bars, shares_up_to
from shoal.app.pages.goal import goal_of, with_goal
from shoal.app.pages.hierarchies import KINDS, trees_of
from shoal.app.pages.running import back
from shoal.app.pages.same import same
from shoal.app.pages.steps import page
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, workspace_of
from shoal.errors import InputError
from shoal.results.html import markup
from shoal.results.sections import Headline
from shoal.wording import counted, percent

router = APIRouter()


@router.get("/w/{identifier}/protect")
def protect(request: Request, identifier: str) -> HTMLResponse:
    """The goal, the hierarchies, and what was found for the goal."""
    return shown_page(request, workspace_of(request, identifier))


def shown_page(request: Request, workspace: Workspace, problem: Exception | None = None) -> HTMLResponse:
    """The page of this step."""
    ready = workspace.has_policy and bool(workspace.policy().quasi_identifiers)
    return page(
        request,
        workspace,
        "protect",
        problem=problem,
        same=same(workspace, ("anonymize", _asked(request, workspace))),
        ready=ready,
        goal={**goal_of(workspace.policy()), **_asked(request, workspace)} if ready else None,
        trees=trees_of(request, workspace) if ready else None,
        kinds=KINDS,
        result=_result(request, workspace) if ready else None,
    )


@router.post("/w/{identifier}/protect")
def start(request: Request, identifier: str, form: Fields) -> Response:
    """Keep the goal in the policy, and look for a release that keeps it."""
    workspace = workspace_of(request, identifier)
    try:
        workspace.set_policy(with_goal(workspace.policy(), form))
    except InputError as error:
        return shown_page(request, workspace, error)
    if form.get("start"):
        prefer = form.get("prefer", [""])[0]
        begin(request, workspace, "protect", {"prefer": prefer} if prefer and not form.get("method", [""])[0] else None)
    return back(identifier, step="protect")


@router.post("/w/{identifier}/protect/pick")
def pick(request: Request, identifier: str, form: Fields) -> Response:
    """Take another point of loss against risk: the same method for another k."""
    workspace = workspace_of(request, identifier)
    found = jobs_of(request).found(workspace, "protect")
    if found is not None:
        try:
            asked = {**form, "method": [found.result["method"]]}
            workspace.set_policy(with_goal(workspace.policy(), asked, only_k=True))
        except InputError as error:
            return shown_page(request, workspace, error)
        begin(request, workspace, "protect")
    return back(identifier, step="protect")


def _asked(request: Request, workspace: Workspace) -> dict[str, Any]:
    """What was asked beside the policy."""
    last = jobs_of(request).last(workspace, "protect")
    return {} if last is None else dict(last.options)


def _result(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    found = jobs_of(request).found(workspace, "protect")
    job = jobs_of(request).last(workspace, "protect")
    if found is None or job is None:
        return None
    result = found.result
    headline = next(one for one in found.sections if isinstance(one, Headline))
    loss = result.get("loss") if result.get("loss") is not None else result.get("information_loss")
    stats = [
        {"name": "people at least look alike", "value": f"{result['k']:,}",
         "note": f"a risk of at most {percent(1 / max(result['k'], 1))}", "tone": "soft"},
        {"name": "records left out", "value": f"{result['suppressed_rows']:,}",
         "note": f"of {result['records']:,}", "tone": "soft"},
        {"name": "of what the columns say is lost", "value": "–" if loss is None else percent(loss),
         "note": f"by {result['method']}, on all {result['records']:,} records", "tone": "soft"},
    ]  # fmt: skip
    points = [one for one in result.get("frontier") or [] if _loss(one) is not None]
    return {
        "tone": headline.tone,
        "headline": headline.text,
        "meaning": result.get("reason") or "",
        "holds": result["verdict"] == "holds",
        "stats": stats,
        "frontier": _frontier(points, result["k"]) if len(points) > 1 else None,
        "picks": [
            {"k": one["k"], "chosen": one["k"] == _own(points, result["k"]),
             "words": f"{one['k']}: loss {percent(_loss(one) or 0)}, risk up to {percent(one['highest_risk'])}"}
            for one in points
        ],
        "cost": _costs(job.folder / "columns.json", result),
        "sections": Markup(markup(list(found.sections))),
    }  # fmt: skip


def _loss(point: dict[str, Any]) -> float | None:
    found = point["loss"] if point["loss"] is not None else point["information_loss"]
    return None if found is None else float(found)


def _own(points: list[dict[str, Any]], k: int) -> int:
    """The point of the release that was made: the largest k that it keeps."""
    return max((one["k"] for one in points if one["k"] <= k), default=0)


def _frontier(points: list[dict[str, Any]], k: int) -> Markup:
    """Loss against the highest risk; the release that was made is filled."""
    points = sorted(points, key=lambda one: float(one["highest_risk"]))
    losses = [_loss(one) or 0.0 for one in points]
    most = max(one["highest_risk"] for one in points) * 1.12
    own = _own(points, k)
    marks = [
        Point(one["highest_risk"], loss, f"k = {one['k']}", None, "", one["k"] == own)
        for one, loss in zip(points, losses, strict=True)
    ]
    ticks = [(one["highest_risk"], f"{100 * one['highest_risk']:.3g}%") for one in points]
    across = Axis(0, most, ticks, "highest risk of a record")
    words = "Loss against risk. " + "; ".join(
        f"k = {one['k']}: loss {percent(loss)}" for one, loss in zip(points, losses, strict=True)
    )
    return line_chart(marks, across, shares_up_to(max(losses), "loss"), words)


def _costs(path: Any, result: dict[str, Any]) -> list[dict[str, Any]]:
    """What became of each column: a sentence, and its shares before and after."""
    shares: dict[str, Any] = {}
    with suppress(OSError, ValueError):
        shares = {one["column"]: one for one in json.loads(path.read_bytes())}
    return [
        {
            "name": entry["column"],
            "sentence": _without_name(entry),
            "chart": _before_and_after(shares[entry["column"]]) if entry["column"] in shares else None,
        }
        for entry in result["cost"]
    ]


def _without_name(entry: dict[str, Any]) -> str:
    """What became of a column, without its name, which stands before."""
    return str(entry["sentence"]).removeprefix(entry["column"]).lstrip(": ")


def _before_and_after(one: dict[str, Any]) -> Markup:
    most = max((max(bar["before"], bar["after"]) for bar in one["bars"]), default=1) or 1
    rows = [
        (bar["label"], bar["before"] / most, bar["after"] / most,
         f"{percent(bar['before'])} → {percent(bar['after'])}")
        for bar in one["bars"]
    ]  # fmt: skip
    words = f"{one['column']} before and after: {counted(len(rows), 'bar')}"
    return paired_bars(rows, words)
