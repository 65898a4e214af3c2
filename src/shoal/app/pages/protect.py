"""Protect: the goal, by a standard or by figures; what the release that keeps it loses; and other ones to pick."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.pages.charts import drawn
from shoal.app.pages.hierarchies import KINDS, trees_of
from shoal.app.pages.request import begin
from shoal.app.pages.steps import AppStep, back, page, same
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, workspace_of
from shoal.errors import InputError
from shoal.methods.outcomes import FrontierPoint
from shoal.methods.results import Anonymized, Findings
from shoal.policy import Policy, as_policy, share_of
from shoal.policy.loading import decided
from shoal.policy.named import standards
from shoal.policy.thresholds import DEFAULT
from shoal.reports.chapters.utility import column_exhibit
from shoal.reports.findings import ColumnPicture
from shoal.results.html import markup
from shoal.results.registry import from_json
from shoal.results.sections import Chart, LinePicture, LinePoint
from shoal.utility.cost import ColumnCost
from shoal.wording import percent, share

# The goal as a form shows it and as the policy keeps it. The rules are the library's.


Form = dict[str, list[str]]
_LARGEST = 10**9
# what a form can set; a model of another kind comes with a policy that is loaded, and stays
_SET_HERE = ("k-anonymity", "l-diversity", "t-closeness")
_METHODS = {"": "The least loss, by any method"}
# methods that do nothing without settings which a page does not have; a policy that is loaded may name them
_NEED_SETTINGS = ("mask", "recode")
# standards about tables of counts, which these pages do not release
_NOT_RECORDS = ("cms-cells",)
_PREFERS = (
    ("", "As shoal sees fit"),
    ("least-loss", "The one that loses least"),
    ("hierarchies", "One that goes by hierarchies"),
    ("few-suppressed", "The one that leaves out fewest records"),
)


def goal_of(policy: Policy) -> dict[str, Any]:
    """The goal as the form shows it."""
    from shoal.methods import METHODS

    by_name = {model.model: model for model in policy.models}
    figures = {"k": 5, "l": 1, "t": 1.0}
    for key, model in zip(figures, _SET_HERE, strict=True):
        figures[key] = getattr(by_name.get(model), key, figures[key])
    sensitive = bool(policy.sensitive)
    threshold = policy.threshold if isinstance(policy.threshold, (int, float)) else None
    named = [one for one in standards().standards if one.models and one.name not in _NOT_RECORDS]
    return {
        "standard": _standard(policy, named),
        "standards": named,
        "sliders": [
            _slider("k", "People who look alike, at least (k)", 2, 50, 1, figures["k"], 10**9,
                    "Everybody shares all quasi-identifiers with k − 1 others or more."),
            *([
                _slider("l", "Different sensitive values in each such group (l)", 1, 10, 1, figures["l"], 10**6,
                        "1 asks for nothing. From 2 on, knowing the group does not give the value away."),
                _slider("t", "How far a group may differ from everybody (t)", 0.05, 1, 0.05, figures["t"], 1,
                        "1 asks for nothing. The smaller, the less the group tells about what is sensitive."),
            ] if sensitive else []),
            _slider("threshold", "Highest risk that is accepted", 0.01, 1, 0.01,
                    DEFAULT if threshold is None else threshold, 1,
                    "What Risk and the report hold every record against: 0.2 is one in five."),
        ],
        "sensitive": sensitive,
        "methods": [{"name": name, "words": words} for name, words in _METHODS.items()]
        + [
            {"name": kind.name, "words": f"{kind.name}: {kind.does}"}
            for kind in METHODS.values()
            if kind.name not in _NEED_SETTINGS or (policy.method and policy.method.name == kind.name)
        ],
        "method": policy.method.name if policy.method else "",
        "prefers": _PREFERS,
        "prefer": "",
        "suppression": f"{100 * policy.suppression:g}%",
    }  # fmt: skip


def _slider(
    key: str, label: str, low: float, high: float, step: float, value: float, most: float, words: str
) -> dict[str, Any]:
    return {
        "key": key, "label": label, "low": low, "high": high, "step": step, "value": f"{value:g}", "most": most,
        "words": words,
    }  # fmt: skip


def _standard(policy: Policy, named: list[Any]) -> str:
    """The standard whose figures the policy has."""
    models = [model.model_dump() for model in policy.models]
    same = [one.name for one in named if one.models == models and one.threshold == policy.threshold]
    return same[0] if same else ""


def with_goal(policy: Policy, form: Form, only_k: bool = False) -> Policy:
    """The policy with the goal of a form."""
    from shoal.policy.named import find_standard

    name = _one(form, "standard")
    method = {"name": chosen} if (chosen := _one(form, "method")) else None
    if only_k:
        goal = decided(policy, [], [], _whole(form, "k"), None, None)
        return as_policy({**goal.as_written(), "method": method})
    others = [model for model in policy.models if model.model not in _SET_HERE]
    base = {**policy.as_written(), "method": method, "suppression": _share(form, "suppression")}
    if name:
        standard = find_standard(name).policy.as_written()
        for part in ("threshold", "models", "attacks"):
            base[part] = standard.get(part)
        return as_policy({part: value for part, value in base.items() if value is not None})
    # what a standard asked of attacks goes with it; what a loaded policy asks of models that have no slider stays
    kept = [{"model": one.model, **one.model_dump(exclude_defaults=True)} for one in others]
    base |= {"models": kept, "threshold": _number(form, "threshold")}
    if _standard(policy, standards().standards):
        base["attacks"] = None
    plain = as_policy({part: value for part, value in base.items() if value is not None})
    groups = _whole(form, "l") if form.get("l") else 1
    close = _number(form, "t") if form.get("t") else 1.0
    return decided(plain, [], [], _whole(form, "k"), groups if groups > 1 else None, close if close < 1 else None)


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[0].strip()


def _number(form: Form, name: str) -> float:
    try:
        found = float(_one(form, name))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise InputError(f"{name} is not a number.", "Write 5 or 0.2, for example.")
    return found


def _whole(form: Form, name: str) -> int:
    found = _number(form, name)
    if found != int(found) or abs(found) > _LARGEST:
        raise InputError(f"{name} is not a whole number up to {_LARGEST:,}.", "Write 5, for example.")
    return int(found)


def _share(form: Form, name: str) -> float:
    try:
        return share_of(_one(form, name) or 0)
    except (ValueError, ArithmeticError) as error:
        raise InputError(f"{name}: {error}.", "Write 5%, for example.") from None


router = APIRouter()
STEP = AppStep(
    "protect", "Protect", "Change as little as needed", "Protect people, change little",
    "Say what must hold. shoal looks for the release that keeps it and loses least.",
    verbs={"trees": "Building hierarchies", "protect": "Looking for the release that loses least"},
    done_by="protect",
)  # fmt: skip


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
    result = found.typed(Anonymized)
    findings, choice = result.findings, result.findings.choice
    stats = [
        {"name": "people at least look alike", "value": f"{findings.k:,}",
         "note": f"a risk of at most {percent(1 / max(findings.k, 1))}", "tone": "soft"},
        {"name": "records left out", "value": f"{findings.suppressed_rows:,}",
         "note": f"of {findings.records:,}", "tone": "soft"},
        {"name": "of what the columns say is lost", "value": share(_loss(findings)),
         "note": f"by {result.method}, on all {findings.records:,} records", "tone": "soft"},
    ]  # fmt: skip
    points = [one for one in (choice.frontier if choice else ()) if _loss(one) is not None]
    own = max((one.k for one in points if one.k <= findings.k), default=0)  # the largest k that the release keeps
    return {
        "tone": found.headline.tone,
        "headline": found.headline.text,
        "meaning": choice.reason if choice else "",
        "holds": result.verdict == "holds",
        "stats": stats,
        "frontier": drawn(_frontier(points, own)) if len(points) > 1 else None,
        "picks": [
            {"k": one.k, "chosen": one.k == own,
             "words": f"{one.k}: loss {share(_loss(one))}, risk up to {percent(one.highest_risk)}"}
            for one in points
        ],
        "cost": _costs(job.folder / "columns.json", findings.cost),
        "sections": Markup(markup(found.sections)),
    }  # fmt: skip


def _loss(one: Findings | FrontierPoint) -> float | None:
    return one.loss if one.loss is not None else one.information_loss


def _frontier(points: list[FrontierPoint], k: int) -> Chart:
    """Loss against the highest risk; the release that was made is filled."""
    line = {one.k: LinePoint(one.highest_risk, _loss(one) or 0.0, f"k = {one.k}") for one in points}
    words = "; ".join(f"{point.label}: loss {percent(point.y)}" for point in line.values())
    picture = LinePicture(tuple(line.values()), "highest risk of a record", "loss", figures=True, own=line.get(k))
    return Chart(picture, f"Loss against risk. {words}")


def _costs(path: Path, cost: list[ColumnCost]) -> list[dict[str, Any]]:
    """What became of each column: a sentence, and its shares before and after."""
    charts: dict[str, Chart] = {}
    with suppress(OSError, ValueError):
        kept = [from_json(ColumnPicture, one) for one in json.loads(path.read_bytes())]
        charts = {one.column: column_exhibit(one).chart for one in kept}
    return [
        {
            "name": one.column,
            "sentence": one.beside_name,
            "chart": drawn(charts[one.column]) if one.column in charts else None,
        }
        for one in cost
    ]
