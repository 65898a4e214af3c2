"""Risk: how exposed people are, in large figures and plain words, and what an attacker who knows less would find."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.background import BackgroundTask

from shoal.app.pages.charts import bars
from shoal.app.pages.request import ensure
from shoal.app.pages.steps import AppStep, page, same
from shoal.app.project import Stored, Workspace
from shoal.app.server import counters_of, jobs_of, render, workspace_of
from shoal.errors import InputError
from shoal.exposure.results import IdentityRisk, attackers, class_sizes
from shoal.results.html import markup
from shoal.wording import in_words, percent, share

router = APIRouter()
STEP = AppStep(
    "risk", "Risk", "How exposed people are now", "How exposed are the people in it?",
    "A person whom nobody else resembles can be found again. Here you see how many there are, before anything is "
    "changed.",
    verbs={"risk": "Counting who is alone"}, done_by="risk",
)  # fmt: skip


@router.get("/w/{identifier}/risk")
def risk(request: Request, identifier: str) -> HTMLResponse:
    """The figures of the table as it is."""
    workspace = workspace_of(request, identifier)
    ready = workspace.has_policy and bool(workspace.policy().quasi_identifiers)
    if ready:
        ensure(request, workspace, "risk")
    found = jobs_of(request).found(workspace, "risk") if ready else None
    result = None if found is None else found.typed(IdentityRisk)
    known = places(request)
    if result is not None and "know" not in request.query_params:
        known = list(range(len(result.quasi_identifiers)))
    answer = page(
        request,
        workspace,
        "risk",
        same=same(workspace, ("risk", {})),
        ready=ready,
        risk=None if found is None or result is None else _shown(found, result),
        knowledge=None if result is None else knowledge_of(request, workspace, result, known),
    )
    if result is not None:  # the first switch need not wait for the count
        answer.background = BackgroundTask(warm, request, workspace, result.quasi_identifiers)
    return answer


def _shown(found: Stored, result: IdentityRisk) -> dict[str, Any]:
    who = "records" if result.persons is None else "people"
    over, limit = result.prosecutor.share_over_threshold, f"{result.prosecutor.threshold:.2g}"
    alone = "1 is alone" if result.uniques == 1 else f"{result.uniques:,} are alone"
    stats = [
        {"name": f"of the {who} are unique", "value": percent(result.uniqueness),
         "note": f"{result.uniques:,} {who}", "tone": "bad" if result.uniques else "good"},
        {"name": "is the smallest class (k)", "value": f"{result.k:,}",
         "note": alone if result.k == 1 else f"at least {result.k:,} look alike",
         "tone": "bad" if result.k < 3 else "good"},
        {"name": "found again if all are looked for", "value": percent(result.marketer.average or 0),
         "note": "on average", "tone": "soft"},
        {"name": f"over the threshold of {limit}", "value": share(over),
         "note": "too exposed" if over else "within the limit", "tone": "bad" if over else "good"},
    ]  # fmt: skip
    return {
        "tone": found.headline.tone,
        "headline": found.headline.text,
        "meaning": _meaning(result, who),
        "stats": stats,
        "sizes": bars(class_sizes(result), "Share of the records by the size of their class", warn_first=True),
        "attackers": Markup(markup([attackers(result)])),
        "sections": Markup(markup(found.sections)),
    }


def _meaning(result: IdentityRisk, who: str) -> str:
    names = in_words(result.quasi_identifiers)
    if not result.uniques:
        return f"Whoever knows {names} of somebody always finds several {who} that fit."
    return f"Whoever knows {names} of one of them finds that one record, and reads everything else in it."


# What an attacker who knows some of the quasi-identifiers singles out, answered at once.


def knowledge_of(request: Request, workspace: Workspace, found: IdentityRisk, known: list[int]) -> dict[str, Any]:
    """The switches and the answer; `known` are the places of the columns that the attacker knows."""
    names = found.quasi_identifiers
    chosen = [names[place] for place in known if 0 <= place < len(names)]
    return {
        "columns": [{"place": place, "name": name, "on": place in known} for place, name in enumerate(names)],
        **_answer(request, workspace, found, chosen),
    }


def _answer(request: Request, workspace: Workspace, result: IdentityRisk, chosen: list[str]) -> dict[str, Any]:
    if not chosen:
        return {"problem": None, "share": "0%", "tone": "good", "count": "nobody",
                "words": "Whoever knows nothing of a person finds nobody.",
                "total": f"{result.records:,}"}  # fmt: skip
    if set(chosen) != set(result.quasi_identifiers):
        try:
            result = counters_of(request).ask(workspace, chosen, result.quasi_identifiers).typed(IdentityRisk)
        except InputError as error:
            return {"problem": error.what}
    uniques, total = result.uniques, result.persons or result.records
    return {
        "problem": None,
        "share": percent(uniques / total) if total else "–",
        "count": f"{uniques:,} can be found" if uniques else "nobody",
        "tone": "bad" if uniques else "good",
        "total": f"{total:,}",
        "words": f"They know {in_words(chosen)}.",
    }


@router.get("/w/{identifier}/knowledge")
def answer(request: Request, identifier: str) -> HTMLResponse:
    """The answer for the switches as they are."""
    workspace = workspace_of(request, identifier)
    found = jobs_of(request).found(workspace, "risk")
    if found is None:
        raise InputError("The risk is not counted yet.", "Wait for it, then reload the page.")
    known = places(request)
    answer = render(
        request, "answer.html", knowledge=knowledge_of(request, workspace, found.typed(IdentityRisk), known)
    )
    asked = "&".join(f"know={place}" for place in known) or "know="
    answer.headers["hx-replace-url"] = f"/w/{workspace.id}/risk?{asked}"  # a reload shows the same switches
    return answer


def is_place(text: str) -> bool:
    """Whether a text can be the place of a column."""
    return text.isascii() and text.isdigit() and len(text) <= 9


def places(request: Request) -> list[int]:
    """The places of the columns whose switches are on."""
    return [int(place) for place in request.query_params.getlist("know") if is_place(place)]


def warm(request: Request, workspace: Workspace, columns: list[str]) -> None:
    """Count the file for the questions to come."""
    counters = counters_of(request)
    if not counters.is_ready(workspace, columns):
        with suppress(InputError):
            counters.ask(workspace, columns, columns)
