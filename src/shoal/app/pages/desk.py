"""The query desk: its budget, a question with the error to expect, the answer in words, and what each one cost."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, get_args

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup, escape
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from shoal.app.pages.request import begin, ensure, needs_again
from shoal.app.pages.steps import AppStep, back, page, same, state_of
from shoal.app.project import Workspace
from shoal.app.reproduce_step import ReproducedStep
from shoal.app.server import form_of, jobs_of, project_of, render, workspace_of
from shoal.app.verb_options import VerbOptions
from shoal.app.verbs import DeskOpenOptions, DeskQueryOptions, desk_of, settings_of
from shoal.errors import InputError
from shoal.results.html import markup
from shoal.storage.writing import write_bytes
from shoal.vocabulary import Accounting, Mechanism, QueryKind, words_of
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.dp import Budget, Desk, QueryEstimate
    from shoal.policy.conditions import Condition


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
        terms = terms_of(fields, list(_types(request, workspace)))
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
            asked = question_of(fields, found.terms.types)
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
    fields = {**FIRST_QUESTION, **_kept(workspace, "question.json")}
    try:
        asked = question_of(fields, types)
        with _opened(workspace) as found:
            expected = _preview(found, asked)
    except InputError as error:
        return {"what": error.what, "cure": error.cure or "", "shown": None}
    tone = "" if expected.affordable else "warning"
    return {"what": None, "shown": Markup(markup(expected.sections())), "tone": tone, "where": asked.where}


def _question(workspace: Workspace, budget: Budget) -> dict[str, Any]:
    """The fields of a question as they were last sent, and what may be chosen."""
    kept = {**FIRST_QUESTION, **_kept(workspace, "question.json")}
    names = list(budget.columns)
    return {
        "typed": lambda name: kept.get(name, ""),
        "kinds": [(kind, KIND_WORDS[kind]) for kind in KINDS],
        "of": {name: " ".join(kinds) for name, kinds in FIELDS.items()},
        "columns": [(str(place), name, budget.columns[name]) for place, name in enumerate(names)],
        "operators": OPERATORS,
        "conditions": range(CONDITIONS),
        "groups": range(GROUPS),
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


# The forms of the query desk: fields as they were typed, and the options of the library that they stand for.
#
# Columns go by their place, because a name may be anything. What a field means, and whether it is right, is said by
# the library alone.


KINDS: tuple[str, ...] = get_args(QueryKind)
Fields = Mapping[str, str]
# the kinds of questions that a field belongs to; a field of another kind is hidden and not sent on
FIELDS: dict[str, tuple[str, ...]] = {
    "column": tuple(kind for kind in KINDS if kind not in ("count", "persons")),
    "bounds": ("sum", "mean", "variance", "median", "quantile", "histogram"),
    "q": ("quantile",),
    "bins": ("histogram",),
    "step": ("median", "quantile"),
    "by": tuple(kind for kind in KINDS if kind not in ("histogram", "bounds")),
    "keys": tuple(kind for kind in KINDS if kind != "bounds"),
}
KIND_WORDS = {
    "count": "How many rows",
    "persons": "How many persons",
    "sum": "The sum",
    "mean": "The mean",
    "variance": "The variance",
    "median": "The median",
    "quantile": "Quantiles",
    "histogram": "A histogram",
    "bounds": "Bounds that hold most values",
}
_COMPARED = {"=": "is", "!=": "is not", "<": "is below", "<=": "is at most", ">": "is above", ">=": "is at least"}
OPERATORS = [*_COMPARED.items(), ("null", "is missing"), ("known", "is not missing")]
CONDITIONS = 3
GROUPS = 2
FIRST_QUESTION = {"kind": "count", "epsilon": "0.1"}


def terms_of(fields: Fields, columns: Sequence[str]) -> Any:
    """The options of `shoal desk open` that a form stands for."""
    person = _column(fields, "person", columns)
    asked = [place for place, name in enumerate(columns) if f"use-{place}" in fields and name != person]
    if not asked:
        raise InputError("No column is left to ask about.", "Tick at least one column.")
    given: dict[str, Any] = {
        "epsilon": fields.get("epsilon", "").strip(),
        "delta": fields.get("delta", "").strip() or "0",
        "types": {columns[place]: fields.get(f"type-{place}", "") for place in asked},
        "accounting": fields.get("accounting", "basic"),
        "person": person,
        "max_rows_per_person": fields.get("max_rows_per_person", "").strip() or None,
    }
    if len(asked) + (person is not None) < len(columns):
        given["columns"] = [columns[place] for place in asked]
    return _checked(DeskOpenOptions, given)


def question_of(fields: Fields, types: Mapping[str, str]) -> Any:
    """The options of `shoal desk query` that a form stands for."""
    kind = fields.get("kind", "")
    given: dict[str, Any] = {"kind": kind, "epsilon": fields.get("epsilon", "").strip()}
    for name in ("q", "bins", "step"):
        if _wanted(name, kind):
            given[name] = fields.get(name, "").strip() or None
    low, high = fields.get("low", "").strip(), fields.get("high", "").strip()
    if _wanted("bounds", kind) and (low or high):
        given["bounds"] = f"{low},{high}"
    if _wanted("column", kind):
        given["column"] = _column(fields, "column", list(types))
    given |= _groups(fields, kind, list(types))
    given["where"] = _where(fields, types)
    given["delta"] = fields.get("delta", "").strip() or None
    given["mechanism"] = fields.get("mechanism", "laplace")
    return _checked(DeskQueryOptions, given)


def _wanted(name: str, kind: str) -> bool:
    return kind in FIELDS[name]


def _column(fields: Fields, name: str, columns: Sequence[str]) -> str | None:
    place = fields.get(name, "")
    known = place.isdecimal() and len(place) < 10 and int(place) < len(columns)
    return columns[int(place)] if known else None


def _groups(fields: Fields, kind: str, columns: Sequence[str]) -> dict[str, Any]:
    """The columns of groups, and their public keys where those are named."""
    by = [name for place in range(GROUPS) if (name := _column(fields, f"by-{place}", columns)) is not None]
    texts = [text for place in range(GROUPS) if (text := fields.get(f"keys-{place}", "").strip())]
    try:
        keys = [next(csv.reader([text], skipinitialspace=True)) for text in texts]
    except csv.Error:
        raise InputError("The list of groups cannot be read.", "Write them in one line: f,m.") from None
    found: dict[str, Any] = {"by": by} if by and _wanted("by", kind) else {}
    if keys and _wanted("keys", kind) and (found or kind == "histogram"):
        found["keys"] = keys
    return found


def _where(fields: Fields, types: Mapping[str, str]) -> str | None:
    """All conditions of the form, as one condition of the library."""
    from shoal.policy.conditions import Joined, parse_where

    found = [_condition(fields, place, types) for place in range(CONDITIONS)]
    if text := fields.get("where", "").strip():
        found.append(parse_where(text, types, "The desk"))
    conditions = tuple(condition for condition in found if condition is not None)
    return Joined("and", conditions).canonical() if conditions else None


def _condition(fields: Fields, place: int, types: Mapping[str, str]) -> Condition | None:
    from shoal.policy.conditions import Compare, IsNull, Not, typed_text

    column = _column(fields, f"column-{place}", list(types))
    if column is None:
        return None
    operator, value = fields.get(f"operator-{place}", "="), fields.get(f"value-{place}", "").strip()
    if operator in ("null", "known"):
        return IsNull(column) if operator == "null" else Not(IsNull(column))
    if operator not in _COMPARED:
        raise InputError("A condition compares in a way that is not known.", "Choose one of the list.")
    return Compare(column, operator, typed_text(value, types[column], column))


def _checked(kind: type[VerbOptions], given: Mapping[str, Any]) -> Any:
    try:
        return kind.model_validate({name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "The form"
        raise InputError(f"{name} cannot be taken: {first['msg']}.", "Change it, then try again.") from None
