"""Attack and verify: the release is written into the project, read back, verified and attacked."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.pages.charts import ChartAxis, Point, RateRow, line_chart, rates, shares_up_to
from shoal.app.pages.request import begin, needs_again
from shoal.app.pages.running import back
from shoal.app.pages.steps import is_done, page, same
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, workspace_of
from shoal.errors import InputError
from shoal.policy.manifest import private_folder
from shoal.policy.thresholds import DEFAULT
from shoal.results.html import markup
from shoal.results.sections import Cell, Grid, Headline
from shoal.wording import counted, in_words, percent

# Attacks as pages show them: what each plays, its rates on one axis, and which of them succeed.


_QUESTIONS = {
    "singling-out": "Can a condition be found that fits one record only, and is it that of a real person?",
    "linkability": "Can somebody who knows the quasi-identifiers tell which record belongs to a person?",
    "inference": "Can a value that a person would not tell be guessed from the release?",
    "membership": "Can it be told whether somebody is in the table at all?",
}
_TONES = {"pass": "good", "fail": "bad", "measured": "plain-chip", "not tested": "warning"}
_TWIN = " (twin)"


def succeeding(attacks: dict[str, Any] | None, threshold: Any) -> list[dict[str, Any]]:
    """The attacks that do better than the risk which the policy accepts, over what they reach without the release.

    What counts is the lower end of the excess over people who are not in it; without any, over guessing.

    >>> one = {"name": "singling-out", "criterion": "singling-out", "rate": 0.8, "low": 0.7, "baseline": None,
    ...        "control": 0.02, "excess_low": 0.68, "notes": ["column charge stands in 98%"]}
    >>> [found["columns"] for found in succeeding({"attacks": [one], "verdict": {}}, None)]
    [['column charge stands in 98%']]
    >>> succeeding({"attacks": [one], "verdict": {}}, 0.7)
    []
    """
    limit = threshold if isinstance(threshold, (int, float)) else DEFAULT
    entries = (attacks or {}).get("attacks", [])
    twins = {one["name"].removesuffix(_TWIN) for one in entries if one["name"].endswith(_TWIN)}
    found = []
    for one in entries:
        if one["name"] in twins or (least := _least(one)) is None or least <= limit:
            continue
        others = percent(one["control"]) if one["control"] is not None else None
        found.append(
            {
                "name": one["name"].removesuffix(_TWIN),
                "criterion": one["criterion"],
                "words": f"{one['name'].removesuffix(_TWIN)} succeeds on {percent(one['rate'])} of the people in the "
                "release" + (f", and on {others} of those who are not in it" if others else ""),
                "columns": [note for note in one["notes"] if note.startswith("column ")],
            }
        )
    return found


def _least(one: dict[str, Any]) -> float | None:
    """What the release adds to an attack at least."""
    if one["rate"] is None:
        return None
    if one["excess_low"] is not None:
        return float(one["excess_low"])
    beside = one["control"] if one["control"] is not None else one["baseline"] or 0.0
    return None if beside >= 1 else 1 - (1 - one["low"]) / (1 - beside)


def warning_of(found: list[dict[str, Any]], limit: Any) -> dict[str, Any] | None:
    """What is said beside the verdict where attacks succeed: which, by which column, and what to do."""
    if not found:
        return None
    least = percent(limit if isinstance(limit, (int, float)) else DEFAULT)
    criteria = list(dict.fromkeys(one["criterion"].replace("-", " ") for one in found))
    return {
        "title": f"Attacks succeed: {in_words(criteria)}.",
        "text": f"The models hold, but the release helps an attacker by more than the risk of {least} that the policy "
        "accepts.",
        "lines": [". ".join([one["words"], *(_capital(note) for note in one["columns"])]) + "." for one in found],
        "cure": "Make a column that gives so much away a quasi-identifier, or leave it out as an identifier; or ask "
        "for more on Protect.",
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


@lru_cache(maxsize=1)
def _explained() -> dict[str, str]:
    import shoal.attacks.battery  # noqa: F401, every attack is listed once this is loaded
    from shoal.attacks.base import ATTACKS

    return {one.name: f"{one.knows} Success: {one.success[:1].lower()}{one.success[1:]}" for one in ATTACKS}


def groups(found: dict[str, Any], succeed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attacks of each criterion: their question, their rates, and what each of them plays."""
    criteria = dict.fromkeys(one["criterion"] for one in found["attacks"])
    warned = {one["criterion"] for one in succeed}
    return [_group(found, criterion, criterion in warned) for criterion in criteria]


def _group(found: dict[str, Any], criterion: str, warned: bool) -> dict[str, Any]:
    those = [one for one in found["attacks"] if one["criterion"] == criterion]
    verdict = found["verdict"].get(criterion, "measured")
    tone, word = _TONES.get(verdict, "plain-chip"), {"pass": "within the limit", "fail": "over the limit"}.get(verdict)
    if warned and verdict != "fail":
        tone, word = "bad", "succeeds" if word is None else f"succeeds, {word}"
    rows = [
        RateRow(one["name"], one["rate"], one["low"], one["high"], one["baseline"], one["control"], _share(one["rate"]))
        for one in those
    ]
    words = "; ".join(f"{row.name} {row.value if row.rate is not None else 'nobody to attack'}" for row in rows)
    names = dict.fromkeys(row.name.removesuffix(_TWIN) for row in rows)
    return {
        "name": _capital(criterion.replace("-", " ")),
        "verdict": word or verdict,
        "tone": tone,
        "question": _QUESTIONS.get(criterion, ""),
        "chart": rates(rows, f"{criterion}: {words}"),
        "rows": [_row(one) for one in those],
        "explained": [{"name": name, "words": _explained().get(name, "")} for name in names if name in _explained()],
    }


def _share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def _row(one: dict[str, Any]) -> dict[str, str]:
    def between(low: float | None, high: float | None) -> str:
        return "–" if low is None or high is None else f"{100 * low:.1f} to {100 * high:.1f}%"

    return {
        "name": one["name"], "targets": f"{one['targets']:,}", "rate": _share(one["rate"]),
        "interval": between(one["low"], one["high"]), "guessed": _share(one["baseline"]),
        "control": _share(one["control"]), "excess": between(one["excess_low"], one["excess_high"]),
    }  # fmt: skip


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
    across = ChartAxis(0, 1, ticks, "part of the release that leaks")
    last = answers[-1]
    words = "; ".join(f"{percent(point.x)} leaked: {percent(point.y)}" for point in points)
    return {
        "leak": line_chart(points, across, up, f"Probability of re-identification: {words}"),
        "leak_words": f"If {percent(last['leaked'] / last['persons'])} of it leaks, a person picked at random is "
        f"found again with a probability of {percent(last['probability'])}.",
        "leak_rows": [{"part": percent(point.x), "probability": percent(point.y)} for point in points],
    }
