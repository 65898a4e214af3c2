"""The steps of the work in their order, what each is for, and which of them are done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup, escape
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from shoal.app.jobs import Job
from shoal.app.pages.request import begin, is_of_now, needs_again
from shoal.app.project import Workspace
from shoal.app.reproduce_step import ReproducedStep, reproduce_step
from shoal.app.server import form_of, jobs_of, render, workspace_of
from shoal.errors import InputError

# What failed, as a page says it: the file by its name, each cause once, settings as the page calls them.


# verbs that read the same file: what is wrong with it is said once, in the words of the last
_READ = ("preview", "propose", "detect")
# settings as the library names them, and as the pages do
_NAMES = {"`suppression`": "more “Records that may be left out”", "`method`": "“How”", "`encoding`": "“Encoding”"}


def in_page_words(failures: Iterable[dict[str, Any]], workspace: Workspace) -> list[dict[str, Any]]:
    """Failures as a page shows them."""
    found = list(failures)
    readers = [one for one in found if one["verb"] in _READ]
    return [_said(one, workspace) for one in found if one["verb"] not in _READ or one is readers[-1]]


def _said(failure: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    said = dict(failure)
    for part in ("what", "cure"):
        text = said[part] or ""
        for written, shown in {str(workspace.source): workspace.name, **_NAMES}.items():
            text = text.replace(written, shown)
        said[part] = text
    return said


# what a step rests on that is done once roles were decided
DECIDED = "policy"


@dataclass(frozen=True)
class AppStep:
    """One step: its name in addresses and in the list, the reason beside it, the title and the reason on its page.

    `verbs` are those whose results its page shows, each with what is said while it runs. It is done where a result of
    `done_by` is of the decisions as they are now. What stands `apart` is no part of the way.
    """

    key: str
    name: str
    why: str
    title: str
    why_long: str
    verbs: Mapping[str, str] = field(default_factory=dict)
    done_by: str | None = None
    apart: bool = False


# the steps of all pages, in the order of their list (`pages/__init__.py`)
STEPS: list[AppStep] = []


def step_named(key: str) -> AppStep:
    """A step by its name in addresses; the first one where there is none of this name."""
    return next((step for step in STEPS if step.key == key), STEPS[0])


def is_done(request: Request, workspace: Workspace, step: AppStep) -> bool:
    """Whether a step was done, with the decisions as they are now."""
    if step.done_by is None or step.done_by == DECIDED:
        return step.done_by == DECIDED and workspace.has_policy
    found = jobs_of(request).found(workspace, step.done_by)
    if found is None or needs_again(workspace, step.done_by):
        return False
    return step.done_by not in ("protect", "publish") or found.result.get("verdict") == "holds"


def _state(request: Request, workspace: Workspace, step: AppStep) -> str:
    from shoal.app.pages.check import warned

    if not is_done(request, workspace, step):
        return "open"
    return "warned" if step.done_by == "publish" and warned(request, workspace) else "done"


def listed(request: Request, workspace: Workspace | None) -> dict[str, Any]:
    """The steps as the frame of every page lists them."""
    shown: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for step in STEPS:
        first = "/" if step is STEPS[0] else None
        shown[step.apart].append(
            {
                "key": step.key, "name": step.name, "why": step.why,
                "href": f"/w/{workspace.id}/{step.key}" if workspace else first,
                "state": _state(request, workspace, step) if workspace and not step.apart else "open",
            }
        )  # fmt: skip
    return {"steps": shown[False], "apart": shown[True]}


def page(
    request: Request,
    workspace: Workspace,
    key: str,
    *,
    same: ReproducedStep | None = None,
    problem: Exception | None = None,
    **context: Any,
) -> HTMLResponse:
    """The page of a step: its frame, what runs or failed, the policy, and what is its own."""
    state = state_of(request, workspace, key, problem)
    refused = getattr(request.state, "policy_refused", None)
    way = [step for step in STEPS if not step.apart]
    after = next((step for before, step in pairwise(way) if before.key == key), None)
    frame = {
        **listed(request, workspace),
        **state,
        "failures": in_page_words(state["failures"], workspace),
        "workspace": workspace,
        "step": step_named(key),
        "after": after and {"name": after.name, "href": f"/w/{workspace.id}/{after.key}"},
        "same": same,
        "policy_refused": refused,
        "policy_text": workspace.policy_path.read_text("utf-8") if workspace.has_policy else None,
    }
    status = 200 if problem is None and refused is None else 422
    return render(request, f"{key}.html", status=status, **{**frame, **context})


# The same step on the command line and in Python, as the pages show it: one or several verbs, one after the other.


def same(workspace: Workspace, *steps: tuple[str, dict[str, Any]]) -> ReproducedStep:
    """Verbs with their options as commands below each other, and as one piece of Python."""
    found = [made for verb, options in steps if (made := reproduce_step(workspace, verb, options)) is not None]
    commands = "\n".join(made.command for made in found)
    python = [line for made in found for line in made.python.splitlines()]
    once = [line for place, line in enumerate(python) if line != "import shoal" or place == 0]
    return ReproducedStep(commands, "\n".join(once))


# Texts as pages show them: signs that turn the direction of writing around are shown, not obeyed.


# embeddings, overrides and isolates; marks such as U+200F stay, they only touch what stands beside them
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")


def shown(value: Any) -> Any:
    """What a template puts on a page; texts without signs that would turn the words behind them around.

    >>> shown("a\\u202eb"), shown(3)
    ('a\ufffdb', 3)
    """
    return value.translate(_TURNING) if isinstance(value, str) else value


class VerbatimText:
    """A text that comes back from a form as it was: escaped, and nothing else.

    >>> str(escape(VerbatimText("<\\u202e>"))) == "&lt;\\u202e&gt;"
    True
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __html__(self) -> Markup:
        return escape(self.text)


# What runs, what failed and what is out of date on a page; the pieces that poll, and cancel.


router = APIRouter()

# what is said of a cancelled verb; a desk never takes a price back
_REMOVED = "What it had written was removed."
_LEFT = {"desk-query": "If its price was written down already, asking the same again is free and shows the answer."}
# results that are not made again by themselves once decisions have changed
_ASKED_FOR = ("protect", "publish")


def state_of(request: Request, workspace: Workspace, key: str, problem: Exception | None = None) -> dict[str, Any]:
    """What runs, what failed, and whether the page shows figures of earlier decisions."""
    jobs = jobs_of(request)
    last = [job for verb in step_named(key).verbs if (job := jobs.last(workspace, verb)) is not None]
    failures = [
        {"what": job.error["error"], "cure": job.error.get("cure"), "verb": job.verb}
        for job in last
        if job.state == "failed" and job.error and is_of_now(workspace, job)
    ]
    if problem is not None:
        cure = problem.cure if isinstance(problem, InputError) else None
        what = problem.what if isinstance(problem, InputError) else str(problem)
        failures.insert(0, {"what": what, "cure": cure, "verb": None})
    return {
        "running": [running_job(job) for job in last if job.running],
        "ended": [job.id for job in last if _ended_meanwhile(request, job)],
        "failures": failures,
        "cancelled": [
            {"verb": job.verb, "words": _words(job.verb), "left": _LEFT.get(job.verb, _REMOVED)}
            for job in last
            if job.state == "cancelled"
        ],
        "outdated": any(
            jobs.found(workspace, job.verb) and not job.running and needs_again(workspace, job.verb)
            for job in last
            if job.verb in _ASKED_FOR
        ),
    }


def _words(verb: str) -> str:
    """What is said of a verb while it runs."""
    return next((step.verbs[verb] for step in STEPS if verb in step.verbs), verb)


def _ended_meanwhile(request: Request, job: Job) -> bool:
    """Whether a job ended while the page was made: its result may be missing, so the page is read again."""
    return request.method == "GET" and job.ended is not None and job.ended >= request.state.since


def running_job(job: Job) -> dict[str, Any]:
    """A running job in words."""
    progress = job.progress
    seconds = f"{job.seconds:.0f} s"
    share = progress["share"]
    part = "" if share is None else f", {100 * share:.0f}%"
    return {
        "id": job.id,
        "words": _words(job.verb),
        "now": f"{str(progress['step']).capitalize()}{part} · {seconds}",
        "share": share,
    }


def _job(request: Request, identifier: str, job: str) -> Job:
    found = jobs_of(request).find(identifier, job)
    if found is None:
        raise HTTPException(404, "This work is not known any more.")
    return found


@router.get("/w/{identifier}/jobs/{job}")
def poll(request: Request, identifier: str, job: str, step: str = "data") -> Response:
    """The piece that shows a running job; once it is over, the page is loaded again."""
    workspace, found = workspace_of(request, identifier), jobs_of(request).find(identifier, job)
    if found is None or not found.running:
        return HTMLResponse("", headers={"HX-Refresh": "true"})
    return render(request, "job.html", workspace=workspace, job=running_job(found), step=step_named(step))


@router.post("/w/{identifier}/jobs/{job}/cancel")
async def cancel(request: Request, identifier: str, job: str) -> RedirectResponse:
    """End a job and what it wrote."""
    form = await form_of(request)
    await run_in_threadpool(jobs_of(request).cancel, _job(request, identifier, job))  # it waits for the child
    return back(identifier, form)


@router.post("/w/{identifier}/again")
async def again(request: Request, identifier: str) -> RedirectResponse:
    """Start a verb of a page once more, after it failed or was cancelled."""
    form = await form_of(request)
    verb = form.get("verb", [""])[0]
    if not any(verb in step.verbs for step in STEPS):
        raise InputError("This cannot be started from a page.", "Reload the page.")
    workspace = workspace_of(request, identifier)
    last = jobs_of(request).last(workspace, verb)
    begin(request, workspace, verb, last.options if last is not None else None)
    return back(identifier, form)


def back(identifier: str, form: dict[str, list[str]] | None = None, step: str = "data") -> RedirectResponse:
    """To the page of a step; a form may name it."""
    key = step_named((form or {}).get("step", [step])[0]).key
    return RedirectResponse(f"/w/{identifier}/{key}", 303)
