"""A synthetic table under differential privacy: which epsilon, the error to expect, and the release."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from shoal.app.pages.charts import drawn
from shoal.app.pages.request import begin
from shoal.app.pages.steps import AppStep, back, page, same
from shoal.app.project import Workspace
from shoal.app.server import Fields, jobs_of, workspace_of
from shoal.errors import InputError
from shoal.results.html import markup
from shoal.vocabulary import Synthesizer, words_of

router = APIRouter()
STEP = AppStep(
    "dp", "Synthetic table", "A release with a proof", "Release a synthetic table",
    "Records are drawn from a model that was measured with noise: whatever is concluded from them is concluded nearly "
    "as well without any one person. Domains must stand in the policy.",
    verbs={"dp-release": "Drawing the table", "epsilon": "Trying epsilons"}, apart=True,
)  # fmt: skip
_TAKEN = ("epsilon", "delta", "synthesizer", "max_rows_per_person")


@router.get("/w/{identifier}/dp")
def private(request: Request, identifier: str) -> HTMLResponse:
    """The form, and what was found for its owner."""
    return _page(request, workspace_of(request, identifier))


@router.post("/w/{identifier}/dp")
def draw(request: Request, identifier: str, form: Fields) -> Response:
    """Preview, draw, or try epsilons, as the button says."""
    workspace = workspace_of(request, identifier)
    given: dict[str, Any] = {name: form[name][0].strip() for name in _TAKEN if form.get(name, [""])[0].strip()}
    action = form.get("action", ["preview"])[0]
    if action == "epsilon":
        given.pop("epsilon", None)
    else:
        given["preview"] = action == "preview"
    try:
        if "max_rows_per_person" in given:
            given["max_rows_per_person"] = int(given["max_rows_per_person"])
        begin(request, workspace, "epsilon" if action == "epsilon" else "dp-release", given)
    except ValueError:  # as pydantic and int raise it
        return _page(request, workspace, InputError("A setting is not a number.", "Write epsilon 1, delta 1e-9, say."))
    return back(identifier, step="dp")


def _page(request: Request, workspace: Workspace, problem: Exception | None = None) -> HTMLResponse:
    found = {verb: jobs_of(request).found(workspace, verb) for verb in ("dp-release", "epsilon")}
    shown = {
        verb.replace("-", "_"): None if one is None else Markup(markup(one.sections, drawn))
        for verb, one in found.items()
    }
    return page(
        request,
        workspace,
        "dp",
        problem=problem,
        synthesizers=[word for word in words_of(Synthesizer) if word != "microaggregate"],
        same=same(workspace, ("dp-release", {"epsilon": "1"})),
        **shown,
    )
