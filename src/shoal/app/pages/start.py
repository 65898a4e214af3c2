"""The first page: which file, from where; and what closes one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from shoal.app.opening import open_example, open_place, receive_upload
from shoal.app.pages.steps import listed
from shoal.app.server import close_file, form_of, jobs_of, picker_of, project_of, render, workspace_of
from shoal.errors import InputError
from shoal.wording import in_units

router = APIRouter()
EXAMPLE_ROWS = (3_000, 30_000, 300_000)
_ORIGINS = {"upload": "uploaded", "machine": "this machine", "example": "the example"}


@router.get("/")
def start(request: Request, folder: str = "") -> HTMLResponse:
    """The files that are open, and how to open one."""
    try:
        return _page(request, folder)
    except InputError as error:
        return _page(request, "", error)


def _page(request: Request, folder: str = "", problem: InputError | None = None) -> HTMLResponse:
    settings = request.app.state.settings
    context: dict[str, Any] = {
        **listed(request, None),
        "step": None,
        "workspace": None,
        "problem": problem,
        "limit": settings.upload_limit,
        "limit_words": in_units(settings.upload_limit),
        "example_rows": EXAMPLE_ROWS,
        "picker": _listing(request, folder),
        "workspaces": project_of(request).workspaces(),
        "origins": _ORIGINS,
        "temporary": project_of(request).temporary,
    }
    return render(request, "start.html", status=200 if problem is None else 422, **context)


def _listing(request: Request, folder: str) -> dict[str, Any] | None:
    if not picker_of(request).roots:
        return None
    found = picker_of(request).look(folder)
    return {
        "shown": found.folder,
        "above": found.above,
        "folders": found.folders,
        "files": [{"name": one.name, "place": one.place, "size": in_units(one.size or 0)} for one in found.files],
        "more": found.more,
    }


@router.put("/upload")
async def upload(request: Request, name: str = "table.csv") -> JSONResponse:
    """A file from the browser, streamed to disk."""
    try:
        workspace = await receive_upload(request, project_of(request), name)
    except InputError as error:
        return JSONResponse({"error": error.what, "cure": error.cure}, 422)
    return JSONResponse({"href": f"/w/{workspace.id}/data"})


@router.post("/open")
async def open_file(request: Request) -> Response:
    """A file of this machine, read where it is."""
    place = (await form_of(request)).get("place", [""])[0]
    try:
        return _to(open_place(project_of(request), picker_of(request), place).id)
    except InputError as error:
        return _page(request, "", error)


@router.post("/example")
async def example(request: Request) -> Response:
    """The built-in example, generated into the project."""
    rows = (await form_of(request)).get("rows", [str(EXAMPLE_ROWS[0])])[0]
    if rows not in map(str, EXAMPLE_ROWS):
        return _page(request, "", InputError("The example has no such size.", "Choose one of the list."))
    workspace, _ = open_example(project_of(request), jobs_of(request), rows=int(rows))
    return _to(workspace.id)


def _to(identifier: str) -> RedirectResponse:
    return RedirectResponse(f"/w/{identifier}/data", 303)


@router.get("/w/{identifier}")
def first(request: Request, identifier: str) -> RedirectResponse:
    """A file that was opened before."""
    return _to(workspace_of(request, identifier).id)


@router.post("/w/{identifier}/close")
def close(request: Request, identifier: str) -> RedirectResponse:
    """Close a file: what runs on it ends, what was kept about it goes."""
    close_file(request, workspace_of(request, identifier))
    return RedirectResponse("/", 303)
