"""Long work in child processes: start, look, cancel. One job per workspace and verb runs at a time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from shoal.app.project import Project, Stored, Workspace, is_id, new_id
from shoal.app.verb_options import VerbOptions
from shoal.app.verbs import VERBS
from shoal.errors import InputError
from shoal.policy.manifest import OWNERS_ENDINGS, files_of
from shoal.storage.writing import write_bytes
from shoal.systems import machine

State = Literal["running", "done", "failed", "cancelled"]
GRACE = 2.0
_KEPT = ("job.json", "policy.yaml")
_LOST = {"error": "The app ended while this was running.", "cure": "Start it again."}
_NO_CHILD = {"error": "The system refused to start another process.", "cure": "Close a file, or other programs."}


class Busy(InputError):
    """The verb runs on this file already."""


@dataclass(frozen=True)
class Job:
    """One run of a verb: what was asked, how far it is, how it ended."""

    folder: Path = field(repr=False)
    id: str
    workspace: str
    verb: str
    options: dict[str, Any] = field(repr=False)
    state: State
    started: float
    ended: float | None = None
    error: dict[str, str] | None = None
    # the file and how it is read, as they were at the start; the policy of then lies beside the record
    asked: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def policy_path(self) -> Path:
        """The policy that it works by, whatever was decided since."""
        return self.folder / "policy.yaml"

    @property
    def policy_text(self) -> bytes | None:
        """The text of that policy."""
        with suppress(FileNotFoundError):
            return self.policy_path.read_bytes()
        return None

    @property
    def running(self) -> bool:
        """Whether it is not over."""
        return self.state == "running"

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran."""
        return (self.ended or time.time()) - self.started

    @property
    def progress(self) -> dict[str, Any]:
        """The step and, where known, the share of it that is done."""
        with suppress(OSError, ValueError):
            found = json.loads((self.folder / "progress.json").read_bytes())
            return {"step": found["step"], "share": found["share"]}
        return {"step": "starting", "share": None}

    @property
    def stored(self) -> Stored | None:
        """The result, where there is one."""
        with suppress(OSError):
            return Stored.read(self.folder / "result.json")
        return None

    @property
    def released(self) -> Path | None:
        """The file or the folder that may leave, where the verb wrote one."""
        found = [self.folder / "out" / name for name in ("release", "safe.csv", "safe.tsv", "safe.parquet")]
        return next((path for path in found if path.exists()), None)

    def to_dict(self) -> dict[str, Any]:
        """The job as the API shows it."""
        return {
            "id": self.id,
            "workspace": self.workspace,
            "verb": self.verb,
            "options": self.options,
            "state": self.state,
            "seconds": round(self.seconds, 3),
            "progress": self.progress if self.running else None,
            "error": self.error,
        }

    def saved(self) -> Job:
        """Write the record."""
        record = {name: value for name, value in asdict(self).items() if name != "folder"}
        write_bytes(self.folder / "job.json", json.dumps(record).encode(), 0o600)
        return self

    @classmethod
    def read(cls, folder: Path) -> Job:
        """The job that a folder holds."""
        return cls(folder=folder, **json.loads((folder / "job.json").read_bytes()))


class Jobs:
    """All jobs of a project; the children end with it."""

    def __init__(self, project: Project, allow: tuple[Path, ...] = ()) -> None:
        self.project, self._allow = project, allow
        self._running: dict[tuple[str, str], tuple[str, subprocess.Popen[bytes]]] = {}
        self._waiting: list[threading.Thread] = []
        self._lock = threading.RLock()
        for workspace in project.workspaces():
            for job in self.of(workspace):
                if job.running:  # of a run that crashed
                    self._finish(job, "failed", _LOST)

    def start(self, workspace: Workspace, verb: str, options: VerbOptions | dict[str, Any] | None = None) -> Job:
        """Start a verb on the file of a workspace; `Busy` where it runs there already."""
        made = options if isinstance(options, VerbOptions) else checked_options(verb, options or {})
        with self._lock:
            if (workspace.id, verb) in self._running:
                raise Busy(f"{verb} is already running on this file.", "Wait for it, or cancel it.")
            folder = workspace.jobs_folder / new_id()
            for place in (folder, folder / "tmp"):
                place.mkdir(mode=0o700)
            asked = made.model_dump(mode="json", exclude_defaults=True)
            if (policy := workspace.policy_text) is not None:
                write_bytes(folder / "policy.yaml", policy, 0o600)
            now, state = time.time(), workspace.stamp()
            job = Job(folder, folder.name, workspace.id, verb, asked, "running", now, asked=state).saved()
            try:
                child = start_child("shoal.app.worker", folder)
            except OSError:
                self._finish(job, "failed", _NO_CHILD)
                raise InputError(_NO_CHILD["error"], _NO_CHILD["cure"]) from None
            self._running[workspace.id, verb] = (job.id, child)
        _tell(child, self._order(workspace, job))
        waiter = threading.Thread(target=self._wait, args=(workspace, job, child), daemon=True)
        waiter.start()
        self._waiting = [thread for thread in self._waiting if thread.is_alive()] + [waiter]
        return job

    def _order(self, workspace: Workspace, job: Job) -> dict[str, Any]:
        return {
            "verb": job.verb,
            "options": job.options,
            "source": str(workspace.source),
            "name": workspace.name,
            "reading": job.asked["reading"],
            "policy": str(job.policy_path) if job.policy_path.exists() else None,
            "folder": str(job.folder),
            "allow": [str(folder) for folder in self._allow],
            "workspace": workspace.id,
            "releases": {space.id: self.releases(space) for space in self.project.workspaces()},
        }

    def releases(self, workspace: Workspace) -> dict[str, str]:
        """What verbs released: the file or folder that the last good run of each wrote."""
        done = [job for job in self.of(workspace) if job.state == "done"]
        return {job.verb: str(job.released) for job in done if job.released is not None}

    def _wait(self, workspace: Workspace, job: Job, child: subprocess.Popen[bytes]) -> None:
        """Wait for the child, then write how it ended."""
        code = child.wait()
        if child.stdin is not None:
            with suppress(OSError):
                child.stdin.close()
        with self._lock:
            current = self._running.get((workspace.id, job.verb))
            if current is None or current[0] != job.id:
                return  # cancelled
            del self._running[workspace.id, job.verb]
            if code == 0 and (job.folder / "result.json").exists():
                self._finish(job, "done", None)
                self._forget_older(workspace, job)
                return
            error = _without_a_word(code)
            with suppress(OSError, ValueError):
                error = json.loads((job.folder / "error.json").read_bytes())
            self._finish(job, "failed", error)

    def _finish(self, job: Job, state: State, error: dict[str, str] | None) -> Job:
        """Write the end of a job; what an unfinished one left is removed."""
        for entry in (job.folder / "tmp", job.folder / "progress.json", job.folder / "error.json"):
            _remove(entry)
        if state != "done":
            for entry in job.folder.iterdir():
                if entry.name not in _KEPT:
                    _remove(entry)
        return replace(job, state=state, ended=time.time(), error=error).saved()

    def _forget_older(self, workspace: Workspace, job: Job) -> None:
        """Only the last run of a verb is kept."""
        for other in self.of(workspace):
            if other.verb == job.verb and other.id != job.id:
                shutil.rmtree(other.folder, ignore_errors=True)

    def cancel(self, job: Job) -> Job:
        """End the child and remove what it wrote; a job that is over stays as it is."""
        with self._lock:
            running = self._running.get((job.workspace, job.verb))
            if running is None or running[0] != job.id:
                return self.find(job.workspace, job.id) or job
            del self._running[job.workspace, job.verb]
        machine.end(running[1], GRACE)
        return self._finish(job, "cancelled", None)

    def of(self, workspace: Workspace) -> list[Job]:
        """The jobs of a workspace, oldest first."""
        return jobs_in(workspace)

    def find(self, workspace: str, identifier: str) -> Job | None:
        """One job; None where there is none of this name."""
        space = self.project.workspace(workspace)
        if space is None or not is_id(identifier):
            return None
        with suppress(OSError, ValueError, TypeError):
            return Job.read(space.jobs_folder / identifier)
        return None

    def last(self, workspace: Workspace, verb: str) -> Job | None:
        """The last job of a verb, however it ended."""
        return next((job for job in reversed(self.of(workspace)) if job.verb == verb), None)

    def found(self, workspace: Workspace, verb: str) -> Stored | None:
        """What a verb found when it last ended well."""
        job = last_done(workspace, verb)
        return None if job is None else job.stored

    def close_workspace(self, workspace: Workspace) -> None:
        """End all that runs on a file."""
        for job in self.of(workspace):
            self.cancel(job)

    def close(self) -> None:
        """End all children."""
        with self._lock:
            children = [child for _, child in self._running.values()]
            names = list(self._running)
            jobs = [job_id for job_id, _ in self._running.values()]
            self._running.clear()
        for child in children:
            machine.end(child, GRACE)
        for (workspace, _), identifier in zip(names, jobs, strict=True):
            if (job := self.find(workspace, identifier)) is not None:
                self._finish(job, "failed", _LOST)
        for thread in self._waiting:
            thread.join(GRACE)


def checked_options(verb: str, given: dict[str, Any]) -> VerbOptions:
    """The options of a verb; refused by the names of those that are not as they should be, never by their values."""
    try:
        return VERBS[verb].options.model_validate(given)
    except ValidationError as error:
        names = {str(found["loc"][-1]) for found in error.errors() if found["loc"]}
        raise InputError(f"Not as it should be: {', '.join(sorted(names))}.", "Choose one of the list.") from None


def _without_a_word(code: int) -> dict[str, str]:
    """What is known of a child that left no message.

    >>> _without_a_word(-9)["error"]
    'The process was ended from outside (signal 9).'
    """
    if code >= 0:
        return {"error": f"The process ended without a result (code {code}).", "cure": "Start it again."}
    cure = "Start it again. If nobody ended it, the memory was not enough: name fewer columns."
    return {"error": f"The process was ended from outside (signal {-code}).", "cure": cure}


def jobs_in(workspace: Workspace) -> list[Job]:
    """The jobs of a workspace, oldest first."""
    found = []
    for folder in workspace.jobs_folder.iterdir() if workspace.jobs_folder.exists() else ():
        with suppress(OSError, ValueError, TypeError):
            found.append(Job.read(folder))
    return sorted(found, key=lambda job: job.started)


def last_done(workspace: Workspace, verb: str) -> Job | None:
    """The last job of a verb that ended well: the one whose result is shown."""
    return next((job for job in reversed(jobs_in(workspace)) if job.verb == verb and job.state == "done"), None)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def start_child(module: str, folder: Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A process of this Python that runs a module of ours; temporary files go to its own folder."""
    keep = {"TMPDIR": str(folder / "tmp"), "TMP": str(folder / "tmp"), "TEMP": str(folder / "tmp")}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RUST_BACKTRACE": "0", "OPENBLAS_NUM_THREADS": "1", **keep},
        **machine.apart(),
    )


def _tell(child: subprocess.Popen[bytes], order: dict[str, Any]) -> None:
    assert child.stdin is not None
    with suppress(BrokenPipeError):
        child.stdin.write(json.dumps(order).encode() + b"\n")
        child.stdin.flush()


# What may leave, as one ZIP file made while it is sent; the owner's part is never in it.


_PIECE = 1 << 20
_DAY = (1980, 1, 1, 0, 0, 0)


class _Sink:
    """A file that only remembers what was written since it was last asked."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""

    def taken(self) -> bytes:
        made = b"".join(self.parts)
        self.parts.clear()
        return made


def released_by(workspace: Workspace, verb: str) -> Job | None:
    """The last job of a verb that ended well and wrote a release: one that holds, or that says that it promises
    nothing."""
    job = last_done(workspace, verb)
    stored = None if job is None or job.released is None else job.stored
    if job is None or stored is None:
        return None
    allowed = ("holds", "no guarantee", None)  # None: a table that stays personal data has no verdict
    return job if stored.result.get("verdict") in allowed or job.options.get("no_guarantee") else None


def public_files(job: Job) -> list[Path]:
    """The files that may leave: of a publication all in its folder, of a release the data and what stands beside it."""
    released = job.released
    if released is None:
        return []
    if released.is_dir():
        return sorted(path for path in released.rglob("*") if path.is_file() and not path.is_symlink())
    found = [Path(path) for path in files_of(released)]
    return [path for path in found if path.is_file() and not path.name.endswith(OWNERS_ENDINGS)]


def zipped(files: list[Path], folder: Path) -> Iterator[bytes]:
    """A ZIP file of files below a folder, piece by piece; nothing is compressed twice, nothing is held whole."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:  # type: ignore[call-overload]
        for path in files:
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _DAY)
            entry.compress_type = zipfile.ZIP_DEFLATED
            with path.open("rb") as opened, archive.open(entry, "w", force_zip64=True) as member:
                while piece := opened.read(_PIECE):
                    member.write(piece)
                    yield sink.taken()
    yield sink.taken()
