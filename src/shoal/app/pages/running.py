"""What runs, what failed and what is out of date on a page; the pieces that poll, and cancel."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from shoal.app.jobs import Job
from shoal.app.pages.request import begin, is_of_now, needs_again
from shoal.app.pages.steps import STEPS, step_named
from shoal.app.project import Workspace
from shoal.app.server import form_of, jobs_of, render, workspace_of
from shoal.errors import InputError

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
        "running": [shown(job) for job in last if job.running],
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


def shown(job: Job) -> dict[str, Any]:
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
    return render(request, "job.html", workspace=workspace, job=shown(found), step=step_named(step))


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
