"""Attack and verify: the release is written into the project, read back, verified and attacked."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.pages.asked import begin, needs_again
from shoal.app.pages.attacked import groups, succeeding, warning_of
from shoal.app.pages.charts import Axis, Point, line_chart, shares_up_to
from shoal.app.pages.running import back
from shoal.app.pages.same import same
from shoal.app.pages.steps import is_done, page
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, workspace_of
from shoal.errors import InputError
from shoal.manifest.files import private_folder
from shoal.results.html import markup
from shoal.results.sections import Cell, Grid, Headline
from shoal.wording import counted, percent

router = APIRouter()
# what only people know, for the report
CONTEXT = (
    ("title", "What the data is called"),
    ("recipient", "Who receives it"),
    ("purpose", "What they need it for"),
    ("controls", "What protects it there: contracts, access rules, training"),
    ("responsible", "Who answers for the release"),
    ("expires", "Until when this assessment holds (YYYY-MM-DD)"),
)


@router.get("/w/{identifier}/check")
def check(request: Request, identifier: str) -> HTMLResponse:
    """What attacks and verification found."""
    return _page(request, workspace_of(request, identifier))


def _page(request: Request, workspace: Workspace, problem: Exception | None = None) -> HTMLResponse:
    result = _result(request, workspace)
    ready = is_done(request, workspace, "protect") or result is not None
    repeated = same(workspace, ("publish", {}), ("verify", {}))
    said = workspace.policy().context.model_dump(mode="json") if workspace.has_policy else {}
    context = [{"name": name, "label": label, "value": said.get(name) or ""} for name, label in CONTEXT]
    return page(
        request, workspace, "check", problem=problem, same=repeated, ready=ready, result=result, context=context
    )


@router.post("/w/{identifier}/check")
def start(request: Request, identifier: str, form: Fields) -> Response:
    """Keep what the report says about the receiver; then release, verify and attack."""
    workspace = workspace_of(request, identifier)
    said = {name: form[name][0].strip() for name, _ in CONTEXT if form.get(name)}
    context = {name: text for name, text in said.items() if text}
    try:
        if said:
            kept = {name: value for name, value in workspace.policy().as_written().items() if name != "context"}
            workspace.set_policy({**kept, "context": context} if context else kept)
    except InputError as error:
        return _page(request, workspace, error)
    begin(request, workspace, "publish")
    return back(identifier, step="check")


def folder_of(request: Request, workspace: Workspace) -> Path | None:
    """The folder that may leave, of the last publication that holds."""
    found = jobs_of(request).found(workspace, "publish")
    if found is None or found.result.get("verdict") != "holds" or not found.result.get("output"):
        return None
    folder = Path(found.result["output"])
    return folder if folder.is_dir() else None


def findings_of(folder: Path) -> dict[str, Any]:
    """What every step found, as its owner may know it."""
    found: dict[str, Any] = json.loads((private_folder(folder) / "findings.json").read_bytes())
    return found


def threshold_of(findings: dict[str, Any]) -> Any:
    """The risk that the policy of a release accepts."""
    return (findings["policy"] or {}).get("threshold")


def warned(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    """What is to be said of the attacks on the last release where some of them succeed."""
    folder = folder_of(request, workspace)
    return None if folder is None else _warned(folder, (private_folder(folder) / "findings.json").stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _warned(folder: Path, changed: int) -> dict[str, Any] | None:
    findings = findings_of(folder)
    limit = threshold_of(findings)
    return warning_of(succeeding(findings["attacks"], limit), limit)


def _result(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    found = jobs_of(request).found(workspace, "publish")
    if found is None:
        return None
    headline = next(one for one in found.sections if isinstance(one, Headline))
    grids = [one for one in found.sections if isinstance(one, Grid)]
    shown: dict[str, Any] = {
        "holds": found.result["verdict"] == "holds" and not needs_again(workspace, "publish"),
        "tone": headline.tone,
        "headline": headline.text,
        "meaning": "Nothing was released. Change the goal, or what the policy asks of attacks.",
        "steps": Markup(markup(grids)),
        "verification": None,
        "warning": None,
        "attacks": [],
        "notes": [],
        "leak": None,
    }
    folder = folder_of(request, workspace)
    if folder is None:
        return shown
    findings = findings_of(folder)
    verification = findings["verification"] or {}
    attacks = findings["attacks"] or {"attacks": [], "verdict": {}}
    limit = threshold_of(findings)
    succeed = succeeding(attacks, limit)
    shown |= {
        "headline": f"The written file keeps its promise: {counted(verification.get('records', 0), 'record')}, the "
        f"smallest class has {verification.get('k', 0):,}.",
        "meaning": "It was read back from disk and measured, and the attacks below were tried on it.",
        "verification": Markup(markup([_models(verification)])),
        "checks": Markup(markup([_checks(verification)])),
        "checks_words": _checks_words(verification),
        "warning": warning_of(succeed, limit),
        "attacks": groups(attacks, succeed),
        "judged": any(word in ("pass", "fail") for word in attacks["verdict"].values()),
        "notes": [f"{one['name']}: {note}" for one in attacks["attacks"] for note in one["notes"]],
        **_leak(findings["leak"]),
    }
    return shown


def _cell(holds: bool) -> Cell:
    return Cell("holds", "good") if holds else Cell("does not hold", "bad")


def _models(found: dict[str, Any]) -> Grid:
    """Every model with its verdict."""
    rows = [
        (f"{one['name']}, {', '.join(f'{key} = {value}' for key, value in one['parameters'].items())}",
         _cell(one["holds"]), f"the worst class has {one['worst'].get('size', '–')}")
        for one in found.get("models", [])
    ]  # fmt: skip
    return Grid(("what was promised", "verdict", "detail"), rows, left=3, wrap=(2,))


def _checks(found: dict[str, Any]) -> Grid:
    """Every check of the written file."""
    rows = [(one["name"], _cell(one["holds"]), one["detail"]) for one in found.get("checks", [])]
    return Grid(("check", "verdict", "detail"), rows, left=3, wrap=(2,))


def _checks_words(found: dict[str, Any]) -> str:
    checks = found.get("checks", [])
    failed = sum(not one["holds"] for one in checks)
    return f"{failed} of {len(checks)} checks fail" if failed else f"All {len(checks)} checks of the file hold"


def _leak(found: dict[str, Any] | None) -> dict[str, Any]:
    """The curve: the probability that a person is found again, over the part that leaks."""
    answers = (found or {}).get("answers") or []
    if not answers:
        return {"leak": None}
    points = [Point(one["leaked"] / one["persons"], one["probability"]) for one in answers]
    ticks = [(0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1, "100%")]
    up = shares_up_to(max(point.y for point in points))
    across = Axis(0, 1, ticks, "part of the release that leaks")
    last = answers[-1]
    words = "; ".join(f"{percent(point.x)} leaked: {percent(point.y)}" for point in points)
    return {
        "leak": line_chart(points, across, up, f"Probability of re-identification: {words}"),
        "leak_words": f"If {percent(last['leaked'] / last['persons'])} of it leaks, a person picked at random is "
        f"found again with a probability of {percent(last['probability'])}.",
        "leak_rows": [{"part": percent(point.x), "probability": percent(point.y)} for point in points],
    }
