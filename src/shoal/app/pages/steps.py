"""The steps of the work in their order, what each is for, and which of them are done."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from shoal.app.pages.asked import needs_again
from shoal.app.pages.failures import in_page_words
from shoal.app.project import Workspace
from shoal.app.same_again import SameAgain
from shoal.app.server import jobs_of, render
from shoal.dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One step: its name in addresses and in the list, the reason beside it, the title and the reason on its page."""

    key: str
    name: str
    why: str
    title: str
    why_long: str


STEPS = (
    Step("data", "Data", "What is in the file", "Is this your table?",
         "Everything that follows rests on how the file was read: look at it before you go on."),
    Step("columns", "Columns", "Which ones point at people", "Which columns point at people?",
         "Leaving out names is not enough: age, ZIP code and sex together single most people out. You decide what each "
         "column is; shoal proposes it, with its reasons."),
    Step("risk", "Risk", "How exposed people are now", "How exposed are the people in it?",
         "A person whom nobody else resembles can be found again. Here you see how many there are, before anything is "
         "changed."),
    Step("protect", "Protect", "Change as little as needed", "Protect people, change little",
         "Say what must hold. shoal looks for the release that keeps it and loses least."),
    Step("check", "Attack and verify", "Does it hold?", "Does the protection hold?",
         "A promise counts when the written file was measured and attacks on it failed."),
    Step("release", "Release", "Hand it over with its report", "Hand it over",
         "The data goes out with a report that says what was done, what was measured and what remains."),
)  # fmt: skip
DESK = Step(
    "desk", "Query desk", "Answers instead of data", "Ask the query desk",
    "Where the table itself may not leave, noisy answers may: each costs some of a privacy budget.",
)  # fmt: skip

# the verb whose result says that a step is done
_DONE_BY = {"data": "propose", "risk": "risk", "protect": "protect", "check": "publish", "release": "publish"}


def step_named(key: str) -> Step:
    """A step by its name in addresses; the first one where there is none of this name."""
    return next((step for step in (*STEPS, DESK) if step.key == key), STEPS[0])


def is_done(request: Request, workspace: Workspace, key: str) -> bool:
    """Whether a step was done, with the decisions as they are now."""
    if key == "columns":
        return workspace.has_policy
    verb = _DONE_BY[key]
    found = jobs_of(request).found(workspace, verb)
    if found is None or needs_again(workspace, verb):
        return False
    return verb not in ("protect", "publish") or found.result.get("verdict") == "holds"


def _state(request: Request, workspace: Workspace, key: str) -> str:
    from shoal.app.pages.check import warned

    if not is_done(request, workspace, key):
        return "open"
    return "warned" if _DONE_BY.get(key) == "publish" and warned(request, workspace) else "done"


def listed(request: Request, workspace: Workspace | None) -> dict[str, Any]:
    """The steps as the frame of every page lists them."""
    steps = [
        {
            "key": step.key, "name": step.name, "why": step.why,
            "href": f"/w/{workspace.id}/{step.key}" if workspace else "/" if step.key == "data" else None,
            "state": _state(request, workspace, step.key) if workspace else "open",
        }
        for step in STEPS
    ]  # fmt: skip
    desk = f"/w/{workspace.id}/desk" if workspace else None
    return {"steps": steps, "apart": [{"key": DESK.key, "name": DESK.name, "why": DESK.why, "href": desk}]}


def page(
    request: Request,
    workspace: Workspace,
    key: str,
    *,
    same: SameAgain | None = None,
    problem: Exception | None = None,
    **context: Any,
) -> HTMLResponse:
    """The page of a step: its frame, what runs or failed, the policy, and what is its own."""
    from shoal.app.pages.running import state_of

    state = state_of(request, workspace, key, problem)
    refused = getattr(request.state, "policy_refused", None)
    keys = [step.key for step in STEPS]
    after = f"/w/{workspace.id}/{keys[keys.index(key) + 1]}" if key in keys[:-1] else None
    frame = {
        **listed(request, workspace),
        **state,
        "failures": in_page_words(state["failures"], workspace),
        "workspace": workspace,
        "step": step_named(key),
        "after": after,
        "same": same,
        "policy_refused": refused,
        "policy_text": workspace.policy_path.read_text("utf-8") if workspace.has_policy else None,
    }
    status = 200 if problem is None and refused is None else 422
    return render(request, f"{key}.html", status=status, **{**frame, **context})
