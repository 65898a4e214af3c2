"""The application: pages, API and static files behind one guard."""

from __future__ import annotations

import asyncio
import json
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qsl

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.exceptions import HTTPException

from shoal import __version__
from shoal.app.jobs import GRACE, Busy, Jobs, start_child
from shoal.app.picker import Picker
from shoal.app.project import Project, Settings, Stored, Workspace, section_from_json
from shoal.app.security import API, Guard, RefusedRequest, Sessions
from shoal.errors import InputError, ShoalError
from shoal.systems import machine
from shoal.wording import in_units

# What attackers with other knowledge would find: one counting process per opened file, asked many times.
#
# The first question counts the file; every further one is answered from the count table. A process ends when its file
# is closed, when it was not asked for a while, or when the policy or the reading options change.


_GONE = "The counting process ended without a word; often the memory was not enough."


class _Asked:
    """A counting process: what it was made for, and the line to it."""

    def __init__(self, workspace: Workspace, columns: list[str], stamp: tuple[Any, ...]) -> None:
        self.stamp, self.columns, self.used = stamp, columns, time.monotonic()
        self.lock = threading.Lock()
        self._tmp = tempfile.TemporaryDirectory(prefix="count-", dir=workspace.folder)
        (Path(self._tmp.name) / "tmp").mkdir(mode=0o700)
        self.child: subprocess.Popen[bytes] = start_child(
            "shoal.app.counter", Path(self._tmp.name), stdout=subprocess.PIPE
        )

    def say(self, order: dict[str, Any]) -> dict[str, Any]:
        """One question, one answer."""
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        line = b""
        with suppress(BrokenPipeError, ValueError):
            self.child.stdin.write(json.dumps(order).encode() + b"\n")
            self.child.stdin.flush()
            line = self.child.stdout.readline()
        self.used = time.monotonic()
        if not line:
            raise InputError(_GONE, "Ask about fewer columns.")
        found: dict[str, Any] = json.loads(line)
        if "error" in found:
            raise InputError(found["error"], found["cure"] or None)
        return found

    def close(self) -> None:
        """End the process."""
        machine.end(self.child, GRACE)
        for pipe in (self.child.stdin, self.child.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._tmp.cleanup()


class Counters:
    """The counting processes of all opened files."""

    def __init__(self, idle_seconds: float, allow: tuple[Path, ...] = ()) -> None:
        self._idle, self._allow = idle_seconds, [str(folder) for folder in allow]
        self._of: dict[str, _Asked] = {}
        self._lock = threading.Lock()

    def ask(self, workspace: Workspace, known: list[str], columns: list[str]) -> Stored:
        """The risk where an attacker knows `known`, some of `columns`, which are counted once."""
        self.close_idle()
        asked = self._process(workspace, columns)
        with asked.lock:
            found = asked.say({"columns": known})
        sections = [section_from_json(section) for section in found["sections"]]
        return Stored(found["result"], found["summary"], sections)

    def is_ready(self, workspace: Workspace, columns: list[str]) -> bool:
        """Whether a question would be answered at once."""
        asked = self._of.get(workspace.id)
        ready = asked is not None and asked.stamp == _stamp(workspace) and set(columns) <= set(asked.columns)
        return ready and asked is not None and not asked.lock.locked()

    def _process(self, workspace: Workspace, columns: list[str]) -> _Asked:
        stamp = _stamp(workspace)
        with self._lock:
            asked = self._of.get(workspace.id)
            usable = asked is not None and asked.stamp == stamp and set(columns) <= set(asked.columns)
            if asked is not None and usable and asked.child.poll() is None:
                return asked
            if asked is not None:
                asked.close()
            asked = self._of[workspace.id] = _Asked(workspace, columns, stamp)
            asked.lock.acquire()  # whoever asks next waits for the first count
        try:
            asked.say({**_order(workspace, columns), "allow": self._allow})
        except InputError:
            self.close_workspace(workspace.id)
            raise
        finally:
            asked.lock.release()
        return asked

    def close_workspace(self, identifier: str) -> None:
        """End the process of a file."""
        with self._lock:
            asked = self._of.pop(identifier, None)
        if asked is not None:
            asked.close()

    def close_idle(self) -> None:
        """End processes that nobody asked for long."""
        now = time.monotonic()
        old = [name for name, asked in list(self._of.items()) if now - asked.used > self._idle]
        for name in old:
            if not self._of[name].lock.locked():
                self.close_workspace(name)

    def close(self) -> None:
        """End all of them."""
        for name in list(self._of):
            self.close_workspace(name)


def _order(workspace: Workspace, columns: list[str]) -> dict[str, Any]:
    policy = str(workspace.policy_path) if workspace.has_policy else None
    return {"source": str(workspace.source), "columns": columns, "reading": asdict(workspace.reading), "policy": policy}


def _stamp(workspace: Workspace) -> tuple[Any, ...]:
    """What the count depends on: the file, how it is read, and the policy."""
    changed = workspace.policy_path.stat().st_mtime_ns if workspace.has_policy else 0
    with suppress(OSError):
        found = workspace.source.stat()
        return (workspace.reading, changed, found.st_mtime_ns, found.st_size)
    return (workspace.reading, changed)


_HERE = Path(__file__).parent
_CURES = {
    400: "Send JSON as /api/v1/docs describes it.",
    404: "Look at what there is, then name that.",
    405: "See /api/v1/docs for what this address takes.",
}


def create_app(settings: Settings) -> FastAPI:
    """The app of one project; its children and a temporary project end with it."""
    project = Project.open(settings.project)
    app = FastAPI(
        title="shoal", version=__version__, openapi_url=None, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.settings, app.state.project, app.state.jobs = settings, project, Jobs(project, settings.allow)
    app.state.counters, app.state.picker = Counters(settings.idle_seconds, settings.allow), Picker(settings.allow)
    app.state.templates, app.state.deciding = _templates(settings), {}
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")
    _add_routes(app)
    for kind in (ShoalError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _refusal)
    sessions = Sessions(settings)
    app.add_middleware(Guard, settings=settings, sessions=sessions)
    return app


def _add_routes(app: FastAPI) -> None:
    from shoal.app import api
    from shoal.app.pages import ROUTERS

    app.include_router(api.router)
    for pages in ROUTERS:
        app.include_router(pages, include_in_schema=False)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    try:
        yield
    finally:
        close(app)


def close(app: FastAPI) -> None:
    """End the children and let go of the project; a second time does nothing."""
    app.state.counters.close()
    app.state.jobs.close()
    app.state.project.close()


def _templates(settings: Settings) -> Environment:
    from shoal.app.pages.steps import shown

    made = Environment(
        loader=PackageLoader("shoal.app", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    made.globals |= {"base": settings.prefix, "version": __version__, "upload_limit": in_units(settings.upload_limit)}
    return made


def render(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """A page or a piece of one; every value is escaped, a name that is not given is an error."""
    page = request.app.state.templates.get_template(template)
    return HTMLResponse(page.render(request=request, **context), status)


def project_of(request: Request) -> Project:
    """The project of the app."""
    found: Project = request.app.state.project
    return found


def jobs_of(request: Request) -> Jobs:
    """The jobs of the app."""
    found: Jobs = request.app.state.jobs
    return found


def picker_of(request: Request) -> Picker:
    """The picker of the app."""
    found: Picker = request.app.state.picker
    return found


def counters_of(request: Request) -> Counters:
    """The counting processes of the app."""
    found: Counters = request.app.state.counters
    return found


def close_file(request: Request, workspace: Workspace) -> None:
    """Close a file: its processes end, and all that was kept about it is removed."""
    counters_of(request).close_workspace(workspace.id)
    jobs_of(request).close_workspace(workspace)
    project_of(request).remove(workspace)


def workspace_of(request: Request, identifier: str) -> Workspace:
    """The workspace of an address; 404 where there is none. What is read about it is read from now on."""
    if not hasattr(request.state, "since"):
        request.state.since = time.time()
    found = project_of(request).workspace(identifier)
    if found is None:
        raise HTTPException(404, "This file is not open.")
    return found


async def form_of(request: Request) -> dict[str, list[str]]:
    """The fields of a form (`application/x-www-form-urlencoded`), each with all its values."""
    try:
        body = (await request.body()).decode()
        pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=20_000)
    except ValueError:
        raise InputError("The form cannot be read.", "Reload the page and try again.") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


async def _fields(request: Request) -> AsyncIterator[dict[str, list[str]]]:
    """The fields of a form about a file; the forms of one file are worked off one after the other."""
    form, workspace = await form_of(request), workspace_of(request, request.path_params["identifier"])
    async with request.app.state.deciding.setdefault(workspace.id, asyncio.Lock()):
        yield form


# a route that takes it runs in a thread: a policy that takes long to parse does not stop other pages
Fields = Annotated[dict[str, list[str]], Depends(_fields)]


async def _refusal(request: Request, error: Exception) -> Response:
    """What was refused, in the library's words: JSON for the API, a page for people."""
    status, what, cure = _in_words(error)
    if request.url.path.startswith(API):
        return JSONResponse({"error": what, "cure": cure}, status)
    piece = request.headers.get("hx-request") == "true"
    return render(request, "error_piece.html" if piece else "error.html", status=status, error=what, cure=cure)


def _places(error: RequestValidationError) -> str:
    """Where a request is wrong, by the names of its fields; never by what was given."""
    places = {".".join(str(part) for part in found["loc"][1:]) or "body" for found in error.errors()}
    return ", ".join(sorted(places))[:500].encode("utf-8", "replace").decode()


def _in_words(error: Exception) -> tuple[int, str, str]:
    if isinstance(error, Busy):
        return 409, error.what, error.cure or ""
    if isinstance(error, InputError):
        return 422, error.what, error.cure or ""
    if isinstance(error, RequestValidationError):
        return 422, f"The request is not as it should be: {_places(error)}.", "See /api/v1/docs."
    if isinstance(error, HTTPException):
        cure = error.cure if isinstance(error, RefusedRequest) else _CURES.get(error.status_code, "")
        return error.status_code, str(error.detail), cure
    return 422, str(error), ""
