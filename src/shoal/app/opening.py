"""Open a file: one of this machine, the built-in example, or one that is uploaded (below)."""

from __future__ import annotations

import re
import shutil

from starlette.requests import Request

from shoal.app.jobs import Job, Jobs
from shoal.app.picker import Picker
from shoal.app.project import FileReading, Project, Workspace
from shoal.errors import InputError
from shoal.policy import Policy, as_policy

EXAMPLE_ROWS = 20_000


def open_place(project: Project, picker: Picker, place: str) -> Workspace:
    """A file of this machine, by its place in the picker; it stays where it is."""
    path = picker.file(place)
    return project.new(path.name, "machine", path)


def open_example(
    project: Project, jobs: Jobs, sample: str = "discharges", rows: int = EXAMPLE_ROWS, seed: int = 0
) -> tuple[Workspace, Job]:
    """A generated table; a child generates it."""
    workspace = project.new(f"{sample}.csv", "example")
    return workspace, jobs.start(workspace, "sample-data", {"sample": sample, "rows": rows, "seed": seed})


def allowed_reading(reading: FileReading, picker: Picker) -> FileReading:
    """A way of reading whose files, if it names any, lie below the allowed folders."""
    picker.check_files(reading.files())
    return reading


def keep_policy(workspace: Workspace, policy: Policy | dict[str, object], picker: Picker) -> Policy:
    """Keep a policy whose files, if it names any, lie below the allowed folders; the library checks the rest."""
    made = as_policy(policy)
    picker.check_policy(made)
    workspace.set_policy(made)
    return made


# A file that comes through the browser: streamed to disk under a name of ours, never held in memory.


# endings that say the format, as far as the first bytes do not; of any other the library says what it is not
ENDINGS = (
    ".csv", ".tsv", ".txt", ".tab", ".psv", ".parquet", ".arrow", ".feather", ".ipc", ".jsonl", ".ndjson", ".json",
    ".xlsx", ".xls", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt", ".db", ".sqlite", ".zip",
)  # fmt: skip
_COMPRESSED = (".gz", ".zst", ".bz2", ".xz")


def ending_of(name: str) -> str:
    """The ending under which a file is kept, one of a fixed list.

    >>> ending_of("people.CSV"), ending_of("a/b.csv.gz"), ending_of("../../evil.sh"), ending_of("x.csv/../../y")
    ('.csv', '.csv.gz', '.csv', '.csv')
    """
    found = re.search(r"(\.[a-z0-9]+)?(\.[a-z0-9]+)$", name.lower())
    first, last = (found[1] or "", found[2]) if found else ("", "")
    if last in _COMPRESSED:
        return (first if first in ENDINGS else ".csv") + last
    return last if last in ENDINGS else ".csv"


async def receive_upload(request: Request, project: Project, name: str) -> Workspace:
    """Stream the body of a request to a new workspace; what breaks off leaves nothing behind.

    The guard counts the bytes and refuses more than the limit, whatever was announced.
    """
    announced = int(request.headers.get("content-length") or 0)
    if announced > shutil.disk_usage(project.folder).free:
        raise InputError("The disk has not enough space for this file.", "Free some, or choose another --project.")
    workspace = project.new(name, "upload", ending=ending_of(name))
    size = 0
    try:
        with workspace.source.open("xb") as file:
            workspace.source.chmod(0o600)
            async for chunk in request.stream():
                size += len(chunk)
                file.write(chunk)
        if size == 0:
            raise InputError("The file is empty.", "Choose one with a header line and at least one record.")
    except BaseException:  # too large, broken off, no space
        project.remove(workspace)
        raise
    return workspace
