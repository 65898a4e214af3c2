"""Attack and verify: the release is written into the project, read back, verified and attacked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.opening import keep_policy
from shoal.app.pages.charts import drawn
from shoal.app.pages.request import begin, needs_again
from shoal.app.pages.steps import AppStep, back, is_done, page, same, step_named
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, picker_of, workspace_of
from shoal.attacks.base import OF_TWIN, AttackOutcome, AttackResult, Criterion, twin_in
from shoal.attacks.cures import TriedCure
from shoal.errors import InputError
from shoal.policy.loading import load_policy
from shoal.policy.manifest import private_folder
from shoal.policy.sections import AttackLimit, AttackLimits
from shoal.policy.thresholds import DEFAULT
from shoal.releases.results import Verification
from shoal.reports.chapters.attacks import explained, on_release, rates_grid
from shoal.reports.chapters.closing import checks_grid
from shoal.reports.chapters.exposure import leak_exhibit, single_leaks
from shoal.reports.findings import ReportFindings, typed_findings
from shoal.results.html import markup
from shoal.results.registry import from_json
from shoal.results.sections import Chart, Grid, RatePicture, RateRow, verdicts_grid
from shoal.wording import counted, in_words, percent, share

# Attacks as pages show them: what each plays, its rates on one axis, and which of them succeed.


_QUESTIONS = {
    "singling-out": "Can a condition be found that fits one record only, and is it that of a real person?",
    "linkability": "Can somebody who knows the quasi-identifiers tell which record belongs to a person?",
    "inference": "Can a value that a person would not tell be guessed from the release?",
    "membership": "Can it be told whether somebody is in the table at all?",
}
_TONES = {"pass": "good", "fail": "bad", "measured": "plain-chip", "not tested": "warning"}


@dataclass(frozen=True)
class SucceedingAttack:
    """An attack that does better than the risk which is accepted; `columns` are its notes about single columns."""

    name: str
    criterion: str
    words: str
    columns: list[str]


def succeeding(attacks: AttackResult | None, threshold: float | str | None) -> list[SucceedingAttack]:
    """The attacks that do better than the risk which the policy accepts, over what they reach without the release.

    What counts is the lower end of the excess over people who are not in it; without any, over guessing.

    >>> one = AttackOutcome("singling-out", "singling-out", 9, 7, 0.8, 0.7, 0.9, None, 0.02, 0.8, 0.68, 0.9,
    ...     ["column charge stands in 98%"])
    >>> [found.columns for found in succeeding(AttackResult([one], {}, 0), None)]
    [['column charge stands in 98%']]
    >>> succeeding(AttackResult([one], {}, 0), 0.7)
    []
    """
    limit = threshold if isinstance(threshold, (int, float)) else DEFAULT
    outcomes = [] if attacks is None else attacks.attacks
    found = []
    for one in outcomes:
        if twin_in(one, outcomes) is not None or (least := _least(one)) is None or least <= limit:
            continue
        name = one.name.removesuffix(OF_TWIN)
        others = f", and on {percent(one.control)} of those who are not in it" if one.control is not None else ""
        words = f"{name} succeeds on {share(one.rate)} of the people in the release{others}"
        columns = [note for note in one.notes if note.startswith("column ")]
        found.append(SucceedingAttack(name, one.criterion, words, columns))
    return found


def _least(one: AttackOutcome) -> float | None:
    """What the release adds to an attack at least."""
    if one.rate is None or one.low is None:
        return None
    if one.excess_low is not None:
        return one.excess_low
    beside = one.control if one.control is not None else one.baseline or 0.0
    return None if beside >= 1 else 1 - (1 - one.low) / (1 - beside)


def warning_of(found: list[SucceedingAttack], limit: float | str | None) -> dict[str, Any] | None:
    """What is said beside the verdict where attacks succeed: which, by which column, and what to do."""
    if not found:
        return None
    least = percent(limit if isinstance(limit, (int, float)) else DEFAULT)
    criteria = list(dict.fromkeys(one.criterion.replace("-", " ") for one in found))
    return {
        "title": f"Attacks succeed: {in_words(criteria)}.",
        "text": f"The models hold, but the release helps an attacker by more than the risk of {least} that the policy "
        "accepts.",
        "lines": [". ".join([one.words, *(_capital(note) for note in one.columns)]) + "." for one in found],
        "cure": "Make a column that gives so much away a quasi-identifier, or leave it out as an identifier; or ask "
        "for more on Protect.",
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def groups(found: AttackResult, succeed: list[SucceedingAttack]) -> list[dict[str, Any]]:
    """The attacks of each criterion: their question, their rates, and what each of them plays, as the report has it."""
    criteria = dict.fromkeys(one.criterion for one in found.attacks)
    warned = {one.criterion for one in succeed}
    return [_group(found, criterion, criterion in warned) for criterion in criteria]


def _group(found: AttackResult, criterion: Criterion, warned: bool) -> dict[str, Any]:
    those = [one for one in found.attacks if one.criterion == criterion]
    verdict = found.verdict.get(criterion, "measured")
    tone, word = _TONES.get(verdict, "plain-chip"), {"pass": "within the limit", "fail": "over the limit"}.get(verdict)
    if warned and verdict != "fail":
        tone, word = "bad", "succeeds" if word is None else f"succeeds, {word}"
    rows = [RateRow(one.name, one.rate, one.low, one.high, one.baseline, one.control) for one in those]
    words = "; ".join(f"{row.label} {'nobody to attack' if row.rate is None else share(row.rate)}" for row in rows)
    return {
        "name": _capital(criterion.replace("-", " ")),
        "verdict": word or verdict,
        "tone": tone,
        "question": _QUESTIONS.get(criterion, ""),
        "chart": drawn(Chart(RatePicture(tuple(rows)), f"{criterion}: {words}")),
        "figures": Markup(markup([rates_grid(those)])),
        "explained": Markup(markup([explained(on_release(those))])),
    }


router = APIRouter()
STEP = AppStep(
    "check", "Attack and verify", "Does it hold?", "Does the protection hold?",
    "A promise counts when the written file was measured and attacks on it failed.",
    verbs={"publish": "Releasing, verifying and attacking"}, done_by="publish",
)  # fmt: skip
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
    ready = is_done(request, workspace, step_named("protect")) or result is not None
    repeated = same(workspace, ("publish", {}), ("verify", {}))
    said = workspace.policy().context.model_dump(mode="json") if workspace.has_policy else {}
    context = [{"name": name, "label": label, "value": said.get(name) or ""} for name, label in CONTEXT]
    attacks = _accepted(workspace.policy().attacks if workspace.has_policy else None)
    return page(
        request, workspace, "check", problem=problem, same=repeated, ready=ready, result=result, context=context,
        accepted=attacks,
    )  # fmt: skip


def _accepted(limits: AttackLimits | None) -> list[dict[str, str]]:
    """The limit of each criterion, and why more than that is accepted."""
    shown = []
    for name in AttackLimits.model_fields:
        said = getattr(limits, name, None)
        limit, why = (said.limit, said.accept) if isinstance(said, AttackLimit) else (said, None)
        words = _capital(name.replace("_", " "))
        shown.append(
            {"name": name, "words": words, "limit": "" if limit is None else f"{limit:.6g}", "accept": why or ""}
        )
    return shown


def _attacks_of(form: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """What a form says of attacks, as a policy writes it."""
    found: dict[str, Any] = {}
    for name in AttackLimits.model_fields:
        limit, why = (form.get(f"{part}-{name}", [""])[0].strip() for part in ("limit", "accept"))
        if limit or why:
            found[name] = {"limit": limit or None, "accept": why} if why else limit
    return found


@router.post("/w/{identifier}/check")
def start(request: Request, identifier: str, form: Fields) -> Response:
    """Keep what the report says about the receiver; then release, verify and attack."""
    workspace = workspace_of(request, identifier)
    said = {name: form[name][0].strip() for name, _ in CONTEXT if form.get(name)}
    context = {name: text for name, text in said.items() if text}
    try:
        if said:
            kept = workspace.policy().as_written()
            kept |= {"context": context}
            kept |= {"attacks": _attacks_of(form)} if any(name.startswith("accept-") for name in form) else {}
            empty = [name for name in ("context", "attacks") if not kept.get(name)]
            workspace.set_policy({name: value for name, value in kept.items() if name not in empty})
    except InputError as error:
        return _page(request, workspace, error)
    begin(request, workspace, "publish")
    return back(identifier, step="check")


@router.post("/w/{identifier}/cure")
def cure(request: Request, identifier: str, form: Fields) -> Response:
    """Take the policy of a cure that was tried on a draft; then release, verify and attack by it."""
    workspace = workspace_of(request, identifier)
    stored = jobs_of(request).found(workspace, "publish")
    files = [] if stored is None else [one["file"] for one in stored.result.get("cures") or [] if one.get("file")]
    try:
        wanted = form.get("cure", [""])[0]
        found = next((file for file in files if Path(file).name == wanted), None)
        if found is None or not Path(found).is_file():
            raise InputError("This cure is not there any more.", "Release, verify and attack again to try cures.")
        keep_policy(workspace, load_policy(found), picker_of(request))
    except InputError as error:
        return _page(request, workspace, error)
    begin(request, workspace, "publish")
    return back(identifier, step="check")


def folder_of(request: Request, workspace: Workspace) -> Path | None:
    """The folder that may leave, of the last publication that holds."""
    found = jobs_of(request).found(workspace, "publish")
    if found is None or found.result["verdict"] != "holds" or not found.result["output"]:
        return None
    folder = Path(found.result["output"])
    return folder if folder.is_dir() else None


def findings_of(folder: Path) -> ReportFindings:
    """What every step found, as its owner may know it."""
    return typed_findings(json.loads((private_folder(folder) / "findings.json").read_bytes()))


def warned(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    """What is to be said of the attacks on the last release where some of them succeed."""
    folder = folder_of(request, workspace)
    return None if folder is None else _warned(folder, (private_folder(folder) / "findings.json").stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _warned(folder: Path, changed: int) -> dict[str, Any] | None:
    found = findings_of(folder)
    return warning_of(succeeding(found.attacks, found.policy.threshold), found.policy.threshold)


def _result(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    stored = jobs_of(request).found(workspace, "publish")
    if stored is None:
        return None
    shown: dict[str, Any] = {
        "holds": stored.result["verdict"] == "holds" and not needs_again(workspace, "publish"),
        "tone": stored.headline.tone,
        "headline": stored.headline.text,
        "meaning": "Nothing was released. Take a cure, change the goal, or what the policy asks of attacks.",
        "cures": [
            {**one, "after": from_json(TriedCure, one).gain, "name": Path(one["file"]).name}
            for one in stored.result.get("cures") or []
            if one.get("file")
        ],
        "steps": Markup(markup([one for one in stored.sections if isinstance(one, Grid)])),
        "verification": None,
        "warning": None,
        "attacks": [],
        "notes": [],
        "leak": None,
    }
    folder = folder_of(request, workspace)
    if folder is None:
        return shown
    found = findings_of(folder)
    if found.verification is not None:
        shown |= _verified(found.verification)
    if found.attacks is not None:
        succeed = succeeding(found.attacks, found.policy.threshold)
        shown |= {
            "warning": warning_of(succeed, found.policy.threshold),
            "attacks": groups(found.attacks, succeed),
            "judged": any(word in ("pass", "fail") for word in found.attacks.verdict.values()),
            "notes": [f"{one.name}: {note}" for one in found.attacks.attacks for note in one.notes],
        }
    leaks = single_leaks(found)
    return {**shown, "leak": Markup(markup([leak_exhibit(leaks)], drawn)) if leaks else None}


def _verified(found: Verification) -> dict[str, Any]:
    """The verdict on the written file, model by model and check by check."""
    failed = sum(not one.holds for one in found.checks)
    total = len(found.checks)
    return {
        "headline": f"The written file keeps its promise: {counted(found.records, 'record')}, the smallest class has "
        f"{found.k:,}.",
        "meaning": "It was read back from disk and measured, and the attacks below were tried on it.",
        "verification": Markup(markup([verdicts_grid(found.models)])),
        "checks": Markup(markup([checks_grid(found.checks)])),
        "checks_words": f"{failed} of {total} checks fail" if failed else f"All {total} checks of the file hold",
    }
