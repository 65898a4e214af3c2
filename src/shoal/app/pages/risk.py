"""Risk: how exposed people are, in large figures and plain words, and what an attacker who knows less would find."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from starlette.background import BackgroundTask

from shoal.app.pages.charts import BarRow, bars
from shoal.app.pages.knowledge import knowledge_of, places, warm
from shoal.app.pages.request import ensure
from shoal.app.pages.steps import page, same
from shoal.app.project import Stored
from shoal.app.server import jobs_of, workspace_of
from shoal.results.html import markup
from shoal.results.sections import Bar, Grid, Headline
from shoal.wording import in_words, percent

router = APIRouter()


@router.get("/w/{identifier}/risk")
def risk(request: Request, identifier: str) -> HTMLResponse:
    """The figures of the table as it is."""
    workspace = workspace_of(request, identifier)
    ready = workspace.has_policy and bool(workspace.policy().quasi_identifiers)
    if ready:
        ensure(request, workspace, "risk")
    found = jobs_of(request).found(workspace, "risk") if ready else None
    asked = places(request)
    chosen = "know" in request.query_params
    known = asked if chosen or found is None else list(range(len(found.result["quasi_identifiers"])))
    answer = page(
        request,
        workspace,
        "risk",
        same=same(workspace, ("risk", {})),
        ready=ready,
        risk=None if found is None else _shown(found),
        knowledge=None if found is None else knowledge_of(request, workspace, found, known),
    )
    if found is not None:  # the first switch need not wait for the count
        answer.background = BackgroundTask(warm, request, workspace, found.result["quasi_identifiers"])
    return answer


def _shown(found: Stored) -> dict[str, Any]:
    result = found.result
    who = "people" if result["persons"] else "records"
    prosecutor = result["prosecutor"]
    over = prosecutor["share_over_threshold"]
    headline = next(one for one in found.sections if isinstance(one, Headline))
    limit = f"{prosecutor['threshold']:.2g}"
    alone = "1 is alone" if result["uniques"] == 1 else f"{result['uniques']:,} are alone"
    stats = [
        {"name": f"of the {who} are unique", "value": percent(result["uniqueness"]),
         "note": f"{result['uniques']:,} {who}", "tone": "bad" if result["uniques"] else "good"},
        {"name": "is the smallest class (k)", "value": f"{result['k']:,}",
         "note": alone if result["k"] == 1 else f"at least {result['k']:,} look alike",
         "tone": "bad" if result["k"] < 3 else "good"},
        {"name": "found again if all are looked for", "value": percent(result["marketer"]["average"] or 0),
         "note": "on average", "tone": "soft"},
        {"name": f"over the threshold of {limit}", "value": "–" if over is None else percent(over),
         "note": "too exposed" if over else "within the limit", "tone": "bad" if over else "good"},
    ]  # fmt: skip
    return {
        "tone": headline.tone,
        "headline": headline.text,
        "meaning": _meaning(result, who),
        "stats": stats,
        "sizes": _sizes(found),
        "attackers": _attackers(result),
        "sections": Markup(markup(list(found.sections))),
    }


def _meaning(result: dict[str, Any], who: str) -> str:
    names = in_words(result["quasi_identifiers"])
    if not result["uniques"]:
        return f"Whoever knows {names} of somebody always finds several {who} that fit."
    return f"Whoever knows {names} of one of them finds that one record, and reads everything else in it."


def _sizes(found: Stored) -> Markup:
    """The grid of class sizes as bars: the first grid with a bar in each row."""
    grid = next(one for one in found.sections if isinstance(one, Grid) and one.heads[0] == "class size")
    rows = [
        BarRow(str(row[0]), row[3].share, str(row[2]), "bad" if place == 0 and row[3].share else "")
        for place, row in enumerate(grid.rows)
        if isinstance(row[3], Bar)
    ]
    return bars(rows, "Share of the records by the size of their class")


def _attackers(result: dict[str, Any]) -> list[dict[str, str]]:
    prosecutor, journalist, marketer = result["prosecutor"], result["journalist"], result["marketer"]
    return [
        {"name": "Somebody who knows that you are in it", "figure": f"up to {percent(prosecutor['highest'] or 0)}",
         "words": "The prosecutor: looks for one person and knows that the table holds them."},
        {"name": "Somebody who looks for anyone", "figure": "needs figures about the population" if journalist is None
         else f"up to {percent(journalist['highest'] or 0)}",
         "words": "The journalist: shows that one record can be found again, whoever it is."},
        {"name": "Somebody who links everybody", "figure": f"{percent(marketer['average'] or 0)} found",
         "words": "The marketer: matches the whole table with another one."},
    ]  # fmt: skip
