"""The JSON API: the verbs of the command line with the names of its options; jobs are resources.

A verb is started with POST (202 and the job), looked at under `jobs`, and its result, the same JSON that `--json`
prints, is read with GET. Errors are `{"error": what, "cure": cure}`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, StreamingResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from shoal import __version__
from shoal.app.jobs import Job, State, public_files, released_by, zipped
from shoal.app.opening import allowed_reading, keep_policy, open_example, open_place, receive_upload
from shoal.app.picker import FolderListing
from shoal.app.project import FileReading, Origin, Workspace, section_to_json
from shoal.app.security import RefusedRequest
from shoal.app.server import close_file, counters_of, jobs_of, picker_of, project_of, render, workspace_of
from shoal.app.verb_options import Verb, VerbOptions
from shoal.app.verbs import OF_PAGES, VERBS, ReleasedBy

# What the API answers with, beside the results of verbs.


Id = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="As the app names it.")]


class Problem(BaseModel):
    """What happened, and the cure."""

    error: str
    cure: str


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": said}
    for status, said in {
        400: "The request cannot be read",
        403: "No session, no token, or from another site",
        404: "Not there",
        405: "Not a method of this address",
        409: "The verb is running already",
        413: "Larger than the limit",
        415: "Not JSON",
        421: "Not our host",
        422: "Not as it should be",
    }.items()
}


class Version(BaseModel):
    """The version of shoal, and its verbs with what each answers."""

    version: str
    verbs: dict[str, str]

    @classmethod
    def of(cls, verbs: Mapping[str, Verb]) -> Version:
        """What there is."""
        return cls(version=__version__, verbs={name: verb.summary for name, verb in verbs.items()})


class WorkspaceView(BaseModel):
    """An open file."""

    id: str
    name: str
    origin: Origin
    reading: FileReading
    created: str
    has_policy: bool


def view(workspace: Workspace) -> WorkspaceView:
    """A workspace as the API shows it."""
    return WorkspaceView.model_validate(workspace, from_attributes=True)


class ProgressView(BaseModel):
    """The step of a running job and, where known, the share of it that is done."""

    step: str
    share: float | None


class JobView(BaseModel):
    """One run of a verb."""

    id: str
    workspace: str
    verb: str
    options: dict[str, Any]
    state: State
    seconds: float
    progress: ProgressView | None
    error: Problem | None

    @classmethod
    def of(cls, job: Job) -> JobView:
        """A job as the API shows it."""
        return cls.model_validate(job.to_dict())


# Two routes per verb: POST starts it, GET reads what it found. Made from the table of verbs.


# no `annotations` from the future here: the type of the options is known only when the route is made


def add_to(router: APIRouter) -> None:
    """Add the routes of all verbs."""
    for verb in VERBS.values():
        # a file is generated when it is opened; what pages ask for beside the verbs is theirs
        if verb.name == "sample-data" or verb in OF_PAGES:
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


# JSON that comes to the API: half of a character (a lone surrogate) is not text, and is refused before it is kept.


class _Checked(Request):
    async def json(self) -> Any:
        """The body, whose every text can be written."""
        found = await super().json()
        try:
            json.dumps(found, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise RefusedRequest(
                422, "The request holds what is not text (half of a character).", "Send characters that are whole."
            ) from None
        return found


class CheckedRoute(APIRoute):
    """A route whose JSON bodies are checked."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Read the body through the check."""
        handle = super().get_route_handler()

        async def checked(request: Request) -> Response:
            return await handle(_Checked(request.scope, request.receive))

        return checked


router = APIRouter(prefix="/api/v1", responses=PROBLEMS, route_class=CheckedRoute)


class NewWorkspace(BaseModel):
    """Which file: its place in the listing of `/files`, or a built-in example with its number of rows."""

    model_config = ConfigDict(extra="forbid")

    place: str | None = None
    sample: Literal["discharges", "licences", "ratings", "trips"] | None = None
    rows: Annotated[int, Field(ge=1, le=10_000_000)] = 20_000
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class Question(BaseModel):
    """Which columns an attacker knows, among those that are counted (those of the policy if not given)."""

    model_config = ConfigDict(extra="forbid")

    known: Annotated[list[str], Field(min_length=1, max_length=200)]
    columns: Annotated[list[str], Field(min_length=1, max_length=200)] | None = None


@router.get("/", tags=["app"])
def version() -> Version:
    """The version, and the verbs there are."""
    return Version.of(VERBS)


@router.get("/files", tags=["files"])
def files(request: Request, place: Annotated[str, Query(max_length=4_000)] = "") -> FolderListing:
    """Folders and tables of this machine, below the folders that were allowed at start."""
    return picker_of(request).look(place)


@router.put("/uploads", status_code=201, tags=["files"])
async def upload(request: Request, name: Annotated[str, Query(max_length=1_000)] = "") -> WorkspaceView:
    """Upload a file as the body of the request; `name` is only shown."""
    return view(await receive_upload(request, project_of(request), name))


@router.get("/workspaces", tags=["workspaces"])
def workspaces(request: Request) -> list[WorkspaceView]:
    """The open files."""
    return [view(workspace) for workspace in project_of(request).workspaces()]


@router.post("/workspaces", status_code=201, tags=["workspaces"])
def open_workspace(request: Request, which: NewWorkspace) -> WorkspaceView:
    """Open a file of this machine, or generate an example (then wait for its job `sample-data`)."""
    if (which.place is None) == (which.sample is None):
        raise HTTPException(422, "Give `place` or `sample`.")
    if which.place is not None:
        return view(open_place(project_of(request), picker_of(request), which.place))
    made, _ = open_example(project_of(request), jobs_of(request), which.sample or "", which.rows, which.seed)
    return view(made)


@router.get("/workspaces/{workspace}", tags=["workspaces"])
def workspace(request: Request, workspace: Id) -> WorkspaceView:
    """One open file."""
    return view(workspace_of(request, workspace))


@router.delete("/workspaces/{workspace}", status_code=204, tags=["workspaces"])
def close_workspace(request: Request, workspace: Id) -> None:
    """Close a file: what runs on it ends, what was found is removed; the file itself stays, unless it was uploaded."""
    close_file(request, workspace_of(request, workspace))


@router.put("/workspaces/{workspace}/reading", tags=["workspaces"])
def reading(request: Request, workspace: Id, options: FileReading) -> WorkspaceView:
    """Say how the file is read."""
    how = allowed_reading(options, picker_of(request))
    return view(workspace_of(request, workspace).with_reading(how))


@router.get("/workspaces/{workspace}/policy", tags=["workspaces"])
def policy(request: Request, workspace: Id) -> dict[str, Any]:
    """The policy as JSON."""
    found: dict[str, Any] = workspace_of(request, workspace).policy().as_written()
    return found


@router.put("/workspaces/{workspace}/policy", tags=["workspaces"])
def set_policy(request: Request, workspace: Id, content: dict[str, Any]) -> dict[str, Any]:
    """Replace the policy; the library checks it."""
    return keep_policy(workspace_of(request, workspace), content, picker_of(request)).as_written()


@router.get(
    "/workspaces/{workspace}/policy.yaml",
    tags=["workspaces"],
    response_model=None,
    responses={200: {"content": {"text/plain": {}}}},
)
def policy_file(request: Request, workspace: Id) -> PlainTextResponse:
    """The policy as the file that the command line takes."""
    found = workspace_of(request, workspace)
    if not found.has_policy:
        raise HTTPException(404, "Nothing is decided about this file yet.")
    return PlainTextResponse(found.policy_path.read_text("utf-8"))


@router.post("/workspaces/{workspace}/knowledge", tags=["verbs"])
def knowledge(request: Request, workspace: Id, question: Question) -> dict[str, Any]:
    """The risk where an attacker knows some columns: the JSON of `risk`. The first question counts the file."""
    space = workspace_of(request, workspace)
    columns = question.columns or list(dict.fromkeys([*space.policy().quasi_identifiers, *question.known]))
    return counters_of(request).ask(space, question.known, columns).result


@router.get("/workspaces/{workspace}/jobs", tags=["jobs"])
def jobs(request: Request, workspace: Id) -> list[JobView]:
    """The last job of each verb."""
    return [JobView.of(job) for job in jobs_of(request).of(workspace_of(request, workspace))]


def _job(request: Request, workspace: str, job: str) -> Job:
    found = jobs_of(request).find(workspace_of(request, workspace).id, job)
    if found is None:
        raise HTTPException(404, "There is no such job.")
    return found


@router.get("/workspaces/{workspace}/jobs/{job}", tags=["jobs"])
def job(request: Request, workspace: Id, job: Id) -> JobView:
    """How far a job is."""
    return JobView.of(_job(request, workspace, job))


@router.delete("/workspaces/{workspace}/jobs/{job}", tags=["jobs"])
def cancel(request: Request, workspace: Id, job: Id) -> JobView:
    """Cancel a job: its process ends, and what it wrote is removed. One that is over stays as it is."""
    return JobView.of(jobs_of(request).cancel(_job(request, workspace, job)))


@router.get("/workspaces/{workspace}/jobs/{job}/sections", tags=["jobs"])
def sections(request: Request, workspace: Id, job: Id) -> list[dict[str, Any]]:
    """The result as headlines, figures, grids and notes, as the pages show it."""
    stored = _job(request, workspace, job).stored
    if stored is None:
        raise HTTPException(404, "This job has no result.")
    return [section_to_json(section) for section in stored.sections]


@router.get(
    "/workspaces/{workspace}/releases/{verb}.zip",
    tags=["verbs"],
    response_model=None,
    responses={200: {"content": {"application/zip": {}}}},
)
def release(request: Request, workspace: Id, verb: Annotated[ReleasedBy, Path()]) -> StreamingResponse:
    """What may leave, as one ZIP file; never the owner's part."""
    job = released_by(workspace_of(request, workspace), verb)
    if job is None or job.released is None:
        raise HTTPException(404, "Nothing is released yet: the verb has not ended with a release that holds.")
    headers = {"content-disposition": 'attachment; filename="release.zip"'}
    pieces = zipped(public_files(job), job.released.parent)
    return StreamingResponse(pieces, media_type="application/zip", headers=headers)


add_to(router)


@router.get("/openapi.json", include_in_schema=False)
def openapi(request: Request) -> JSONResponse:
    """The description of this API for programs."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False)
def docs(request: Request) -> HTMLResponse:
    """The description of this API for people; nothing is loaded from elsewhere."""
    return render(request, "api_docs.html", api=request.app.openapi())
