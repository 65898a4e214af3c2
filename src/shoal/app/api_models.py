"""What the API answers with, beside the results of verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field

from shoal import __version__
from shoal.app import picker
from shoal.app.jobs import Job, State
from shoal.app.project import FileReading, Origin, Workspace
from shoal.app.verbs import Verb

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


class Listed(BaseModel):
    """A folder or a file, and the place by which it is opened."""

    name: str
    place: str
    size: int | None = None


class Listing(BaseModel):
    """A folder of this machine."""

    place: str
    folder: str
    above: str | None
    folders: list[Listed]
    files: list[Listed]
    more: bool

    @classmethod
    def of(cls, found: picker.FolderListing) -> Listing:
        """From the picker."""
        folders = [Listed(name=entry.name, place=entry.place) for entry in found.folders]
        files = [Listed(name=entry.name, place=entry.place, size=entry.size) for entry in found.files]
        return cls(
            place=found.place, folder=found.shown, above=found.above, folders=folders, files=files, more=found.more
        )


class ReadingOptions(BaseModel):
    """How the file is read, as `--encoding`, `--delimiter`, `--missing` and `--codebook` say."""

    model_config = ConfigDict(extra="forbid")

    encoding: Annotated[str, Field(max_length=40, pattern=r"^[A-Za-z0-9._-]+$")] | None = None
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] | None = None
    missing: Annotated[list[Annotated[str, Field(max_length=100)]], Field(max_length=100)] = []
    codebook: Annotated[str, Field(min_length=1, max_length=4_000)] | None = None

    def reading(self) -> FileReading:
        """As a workspace keeps it."""
        return FileReading(self.encoding, self.delimiter, tuple(self.missing), self.codebook)


class ReadingView(BaseModel):
    """How the file is read."""

    encoding: str | None
    delimiter: str | None
    missing: list[str]
    codebook: str | None


class WorkspaceView(BaseModel):
    """An open file."""

    id: str
    name: str
    origin: Origin
    reading: ReadingView
    created: str
    has_policy: bool


def view(workspace: Workspace) -> WorkspaceView:
    """A workspace as the API shows it."""
    how = workspace.reading
    return WorkspaceView(
        id=workspace.id,
        name=workspace.name,
        origin=workspace.origin,
        reading=ReadingView(
            encoding=how.encoding, delimiter=how.delimiter, missing=list(how.missing), codebook=how.codebook
        ),
        created=workspace.created,
        has_policy=workspace.has_policy,
    )


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
