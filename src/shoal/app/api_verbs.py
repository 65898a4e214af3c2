"""Two routes per verb: POST starts it, GET reads what it found. Made from the table of verbs."""

# no `annotations` from the future here: the type of the options is known only when the route is made
import inspect
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from shoal.app.api_models import Id, JobView
from shoal.app.server import jobs_of, workspace_of
from shoal.app.verbs import VERBS, Verb, VerbOptions, stepping


def add_to(router: APIRouter) -> None:
    """Add the routes of all verbs."""
    for verb in VERBS.values():
        # a file is generated when it is opened; what pages ask for beside the verbs is theirs
        if verb.name == "sample-data" or verb in stepping.VERBS:
            continue
        path = f"/workspaces/{{workspace}}/{verb.name}"
        name = verb.name.replace("-", "_")
        router.add_api_route(
            path,
            _starter(verb),
            methods=["POST"],
            status_code=202,
            response_model=JobView,
            name=f"start_{name}",
            summary=verb.summary,
            tags=["verbs"],
        )
        router.add_api_route(
            path,
            _reader(verb),
            methods=["GET"],
            response_model=dict[str, Any],
            name=f"read_{name}",
            summary=f"What {verb.name} found when it last ended well: what --json prints.",
            tags=["verbs"],
        )


def _starter(verb: Verb) -> Callable[..., JobView]:
    def start(request: Request, workspace: Id, options: VerbOptions) -> JobView:
        return JobView.of(jobs_of(request).start(workspace_of(request, workspace), verb.name, options))

    signature = inspect.signature(start)
    typed = [
        entry.replace(annotation=verb.options) if entry.name == "options" else entry
        for entry in signature.parameters.values()
    ]
    start.__signature__ = signature.replace(parameters=typed)  # type: ignore[attr-defined]
    return start


def _reader(verb: Verb) -> Callable[..., JSONResponse]:
    def read(request: Request, workspace: Id) -> JSONResponse:
        found = jobs_of(request).found(workspace_of(request, workspace), verb.name)
        if found is None:
            raise HTTPException(404, f"{verb.name} has not ended well on this file yet.")
        return JSONResponse(found.result)

    return read
