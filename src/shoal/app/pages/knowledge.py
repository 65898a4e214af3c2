"""What an attacker who knows some of the quasi-identifiers singles out, answered at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from shoal.app.project import Workspace
from shoal.app.server import counters_of, jobs_of, render, workspace_of
from shoal.errors import InputError
from shoal.exposure.results import IdentityRisk
from shoal.wording import in_words, percent

router = APIRouter()


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
