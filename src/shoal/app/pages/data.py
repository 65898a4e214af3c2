"""The first page: which file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from shoal.app.server import project_of, render

router = APIRouter()


@router.get("/")
def start(request: Request) -> HTMLResponse:
    """The files that are open, and how to open one."""
    return render(request, "data.html", workspaces=project_of(request).workspaces())
