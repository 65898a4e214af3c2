"""The query desk: its budget, a question with the error to expect, the answer in words, and what each one cost."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool

from shoal.app.pages import desk_forms as forms
from shoal.app.pages.request import begin, ensure, needs_again
from shoal.app.pages.running import back, state_of
from shoal.app.pages.steps import AppStep, page, same
from shoal.app.project import Workspace
from shoal.app.reproduce_step import ReproducedStep
from shoal.app.server import form_of, jobs_of, project_of, render, workspace_of
from shoal.app.verbs.asking import desk_of, settings_of
from shoal.errors import InputError
from shoal.results.html import markup
from shoal.storage.writing import write_bytes
from shoal.vocabulary import Accounting, Mechanism, words_of
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.dp import Budget, Desk, QueryEstimate


# The gauge of a budget: half a circle, drawn on the server; the words beside it say the same.


_ARC = "M 14 90 A 76 76 0 0 1 166 90"


def gauge(spent: float, middle: str, below: str, words: str) -> Markup:
    """How much of something is spent, between 0 and 1, with what is left in the middle.

    >>> drawn = gauge(0.25, "0.75", "<b>", "a quarter is spent")
    >>> 'stroke-dasharray="25.00 200"' in drawn, "<b>" in drawn, 'aria-label="a quarter is spent"' in drawn
    (True, False, True)
    """
    share = 100 * min(max(spent, 0.0), 1.0)
    used = f'<path class="used" d="{_ARC}" pathLength="100" stroke-dasharray="{share:.2f} 200"/>' if share else ""
    return Markup(
        f'<svg class="gauge" viewBox="0 0 180 104" role="img" aria-label="{escape(words)}">'
        f'<path class="left" d="{_ARC}"/>{used}'
        f'<text class="middle" x="90" y="76" text-anchor="middle">{escape(middle)}</text>'
        f'<text x="90" y="97" text-anchor="middle">{escape(below)}</text></svg>'
    )


router = APIRouter()
STEP = AppStep(
    "desk", "Query desk", "Answers instead of data", "Ask the query desk",
    "Where the table itself may not leave, noisy answers may: each costs some of a privacy budget.",
    verbs={
        "sample-data": "Making the example", "desk-types": "Looking at the types of the columns",
        "desk-open": "Opening the desk", "desk-query": "Asking the desk",
    },
    apart=True,
)  # fmt: skip


@router.get("/w/{identifier}/desk")
def desk(request: Request, identifier: str) -> HTMLResponse:
    """The desk of a file, or the form that opens one."""
    return shown_page(request, workspace_of(request, identifier))


def shown_page(request: Request, workspace: Workspace, problem: Exception | None = None) -> HTMLResponse:
    """The page: one form while no desk is open, the budget and the other form then."""
    running = state_of(request, workspace, "desk")["running"]  # first: what ends while the page is made is polled for
    budget: Budget | None = None
    if is_open(workspace):
        try:
            with _opened(workspace) as found:
                budget = found.budget()
        except InputError as error:  # a ledger that is damaged, or held by somebody else
            problem = problem or error
    else:
        ensure(request, workspace, "desk-types")
    return page(
        request,
        workspace,
        "desk",
        problem=problem,
        same=_same(request, workspace, budget),
        temporary=project_of(request).temporary,
        opening=None if is_open(workspace) else _opening(request, workspace),
        budget=None if budget is None else _budget(budget),
        answer=None if budget is None else _answer(request, workspace),
        question=None if budget is None else _question(workspace, budget),
        estimate=None if budget is None else _estimate(workspace, budget.columns),
        **({"running": running} if running else {}),
    )


def is_open(workspace: Workspace) -> bool:
    """Whether this file has a desk."""
    return (desk_of(workspace.folder) / "desk.json").exists()


def _opened(workspace: Workspace) -> Desk:
    from shoal.dp import Desk

    if not is_open(workspace):
        raise InputError("No desk is open on this file.", "Open one with a budget first.")
    return Desk(desk_of(workspace.folder))


# --- opening


@router.post("/w/{identifier}/desk")
async def open_on(request: Request, identifier: str) -> Response:
    """Open the desk of a file; what is wrong with its terms is said by the library."""
    workspace, fields = workspace_of(request, identifier), _fields(await form_of(request))
    _keep(workspace, "desk-terms.json", fields)
    try:
        terms = forms.terms_of(fields, list(_types(request, workspace)))
    except InputError as error:
        return await run_in_threadpool(shown_page, request, workspace, error)
    begin(request, workspace, "desk-open", terms.model_dump(mode="json", exclude_defaults=True))
    return back(identifier, step="desk")


def _types(request: Request, workspace: Workspace) -> dict[str, str]:
    """The proposed type of every column; none until they were looked at."""
    found = None if needs_again(workspace, "desk-types") else jobs_of(request).found(workspace, "desk-types")
    return {} if found is None else dict(found.result["types"])


def _opening(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    """The form that opens a desk: as it was last sent, or with what the policy says."""
    types = _types(request, workspace)
    if not types:
        return None
    from shoal.dp.types import TYPES

    kept = _kept(workspace, "desk-terms.json")
    policy = workspace.policy()
    person = list(types).index(policy.person) if policy.person in types else ""
    columns = [
        {"place": place, "name": name, "type": kept.get(f"type-{place}", word), "proposed": word,
         "use": f"use-{place}" in kept if kept else policy.columns.get(name) != "identifier"}
        for place, (name, word) in enumerate(types.items())
    ]  # fmt: skip
    plain = {"epsilon": "1", "delta": "0", "accounting": "basic", "person": str(person), "max_rows_per_person": ""}
    return {**plain, **kept, "columns": columns, "types": TYPES, "accountings": words_of(Accounting)}


# --- asking


@router.post("/w/{identifier}/desk/estimate")
async def estimate(request: Request, identifier: str) -> HTMLResponse:
    """The error to expect of the question as it stands in the form; nothing is spent and no data is read."""
    workspace, fields = workspace_of(request, identifier), _fields(await form_of(request))
    return await run_in_threadpool(_estimate_piece, request, workspace, fields)


def _estimate_piece(request: Request, workspace: Workspace, fields: dict[str, str]) -> HTMLResponse:
    _keep(workspace, "question.json", fields)
    with _opened(workspace) as found:
        types = found.terms.types
    return render(request, "estimate.html", estimate=_estimate(workspace, types))


@router.post("/w/{identifier}/desk/question")
async def ask(request: Request, identifier: str) -> Response:
    """Show the error to expect, or ask and pay."""
    workspace, fields = workspace_of(request, identifier), _fields(await form_of(request))
    return await run_in_threadpool(_ask, request, workspace, fields)


def _ask(request: Request, workspace: Workspace, fields: dict[str, str]) -> Response:
    _keep(workspace, "question.json", fields)
    try:
        with _opened(workspace) as found:
            asked = forms.question_of(fields, found.terms.types)
            _preview(found, asked)
    except InputError as error:
        return shown_page(request, workspace, error)
    if fields.get("do") == "ask":
        begin(request, workspace, "desk-query", asked.model_dump(mode="json", exclude_defaults=True))
    return back(workspace.id, step="desk")


def _preview(found: Desk, asked: Any) -> QueryEstimate:
    return found.preview(asked.kind, asked.column, **settings_of(asked))


def _estimate(workspace: Workspace, types: dict[str, str]) -> dict[str, Any]:
    """What the question of the form would cost, and how far its answer may be off; or what is wrong with it."""
    fields = {**forms.FIRST_QUESTION, **_kept(workspace, "question.json")}
    try:
        asked = forms.question_of(fields, types)
        with _opened(workspace) as found:
            expected = _preview(found, asked)
    except InputError as error:
        return {"what": error.what, "cure": error.cure or "", "shown": None}
    tone = "" if expected.affordable else "warning"
    return {"what": None, "shown": Markup(markup(expected.sections())), "tone": tone, "where": asked.where}


def _question(workspace: Workspace, budget: Budget) -> dict[str, Any]:
    """The fields of a question as they were last sent, and what may be chosen."""
    kept = {**forms.FIRST_QUESTION, **_kept(workspace, "question.json")}
    names = list(budget.columns)
    return {
        "typed": lambda name: kept.get(name, ""),
        "kinds": [(kind, forms.KIND_WORDS[kind]) for kind in forms.KINDS],
        "of": {name: " ".join(kinds) for name, kinds in forms.FIELDS.items()},
        "columns": [(str(place), name, budget.columns[name]) for place, name in enumerate(names)],
        "operators": forms.OPERATORS,
        "conditions": range(forms.CONDITIONS),
        "groups": range(forms.GROUPS),
        "mechanisms": words_of(Mechanism),
        "more": bool(kept.get("where") or kept.get("delta") or kept.get("mechanism", "laplace") != "laplace"),
    }


# --- what was found


def _budget(budget: Budget) -> dict[str, Any]:
    """The gauge, its words, the terms, and what each question cost."""
    from shoal.dp.results import question_in_words

    unit = budget.unit
    words = budget.summary()
    return {
        "gauge": gauge(budget.share_spent, f"{budget.remaining[unit]:.4g}", f"{unit} left", words),
        "words": words,
        "protected": budget.protected,
        "empty": budget.share_spent >= 1,
        "unit": unit,
        "columns": counted(len(budget.columns), "column"),
        "opened": budget.opened[:16].replace("T", " "),
        "history": [
            {"entry": one.entry, "words": question_in_words(one.query), "epsilon": one.query["epsilon"],
             "loss": one.loss, "delta": one.delta, "at": one.at[:16].replace("T", " ")}
            for one in reversed(budget.history)
        ],
        "sections": Markup(markup(budget.sections())),
    }  # fmt: skip


def _answer(request: Request, workspace: Workspace) -> dict[str, Any] | None:
    """The last answer, or the refusal, in the library's words."""
    from shoal.dp.results import question_in_words

    found = jobs_of(request).found(workspace, "desk-query")
    if found is None or found.result.get("preview"):
        return None
    if found.result.get("refused"):
        return {"refused": found.summary, "asked": "", "summary": "", "shown": ""}
    sections = list(found.sections)
    shown = sections if isinstance(found.result["answer"], list) else sections[1:]
    return {
        "refused": None,
        "asked": question_in_words(found.result["query"]),
        "summary": found.summary,
        "shown": Markup(markup(shown)),
    }


def _same(request: Request, workspace: Workspace, budget: Budget | None) -> ReproducedStep | None:
    """Opening and the last question, as commands and as Python."""
    # a desk that is there was opened by a job that ended well, or is about to
    tried = [job for job in jobs_of(request).of(workspace) if job.verb == "desk-open"]
    opened = [job for state in ("done", "running") for job in tried if job.state == state]
    if budget is None or not opened:
        return None
    last = jobs_of(request).last(workspace, "desk-query")
    asked = [] if last is None else [("desk-query", last.options)]
    return same(workspace, ("desk-open", opened[0].options), *asked, ("desk-show", {}))


# --- fields as they were typed, kept over a reload


def _fields(form: dict[str, list[str]]) -> dict[str, str]:
    return {name: values[-1] for name, values in form.items()}


def _keep(workspace: Workspace, name: str, fields: dict[str, str]) -> None:
    kept = {key: value for key, value in fields.items() if key != "do"}
    write_bytes(workspace.folder / name, json.dumps(kept).encode(), 0o600)


def _kept(workspace: Workspace, name: str) -> dict[str, str]:
    with suppress(OSError, ValueError):
        found: dict[str, str] = json.loads((workspace.folder / name).read_bytes())
        return found
    return {}
