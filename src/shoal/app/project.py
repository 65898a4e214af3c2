"""The project folder: what is known about each opened file, on disk, so that a reload or a restart loses nothing.

    project.lock                     held while the app runs
    api-token                        for scripts
    w/<id>/workspace.json            name, source, reading options
    w/<id>/policy.yaml               the policy, as the library writes it
    w/<id>/source/                   an uploaded or generated file, under a name of ours
    w/<id>/jobs/<id>/                one run of a verb: record, progress, result, files it wrote

No path is ever made from the name of a user's file. Folders are for their owner only (0700).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from shoal.app.locks import PROJECT_MARK, Lock
from shoal.app.policy_texts import as_text, named_files, parsed
from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.writing import write_bytes

Origin = Literal["upload", "machine", "example"]
_ID = re.compile(r"[0-9a-f]{16}")
_RUN, _NEW = "run-", "new-"


def new_id() -> str:
    """A random name for a workspace or a job."""
    return secrets.token_hex(8)


def is_id(text: str) -> bool:
    """Whether a text can be the name of a workspace or a job.

    >>> is_id("0123456789abcdef"), is_id("../../etc"), is_id("0123456789ABCDEF")
    (True, False, False)
    """
    return _ID.fullmatch(text) is not None


@dataclass(frozen=True)
class Reading:
    """How the file is read, where that is not found by itself: as `--encoding`, `--delimiter`, `--missing` say.

    `codebook` is a file that says what its columns of codes hold, from which roles are proposed.
    """

    encoding: str | None = None
    delimiter: str | None = None
    missing: tuple[str, ...] = ()
    codebook: str | None = None

    def options(self) -> Any:
        """The library's own options."""
        from shoal.reading import Options

        return Options(self.encoding, self.delimiter, tuple(self.missing), codebook=self.codebook)

    def files(self) -> list[str]:
        """The files of this machine that it names."""
        return [] if self.codebook is None else [self.codebook]


@dataclass(frozen=True)
class Workspace:
    """One opened file: where it lies, how it is read, and what was decided and found about it."""

    folder: Path = field(repr=False)
    id: str
    name: str = field(repr=False)
    source: Path = field(repr=False)
    origin: Origin
    reading: Reading = Reading()
    created: str = ""

    @property
    def policy_path(self) -> Path:
        """The policy file."""
        return self.folder / "policy.yaml"

    @property
    def jobs_folder(self) -> Path:
        """Where runs of verbs are kept."""
        return self.folder / "jobs"

    @property
    def has_policy(self) -> bool:
        """Whether something was decided yet."""
        return self.policy_path.exists()

    @property
    def policy_text(self) -> bytes | None:
        """The policy as it is written now."""
        with suppress(FileNotFoundError):
            return self.policy_path.read_bytes()
        return None

    def policy(self) -> Any:
        """The policy; an empty one where nothing was decided yet."""
        return parsed(self.policy_text)

    def set_policy(self, policy: Any) -> None:
        """Keep a policy (the library's, or its content, which the library checks)."""
        write_bytes(self.policy_path, as_text(policy), 0o600)

    def stamp(self) -> dict[str, Any]:
        """What results rest on beside the policy's words: how the file is read, and the files as they are now."""
        reading = {**vars(self.reading), "missing": list(self.reading.missing)}
        named = [*self.reading.files(), *(named_files(self.policy()) if self.has_policy else [])]
        return {"reading": reading, "source": _state(self.source), "files": [_state(Path(name)) for name in named]}

    def with_reading(self, reading: Reading) -> Workspace:
        """The workspace with other reading options, kept."""
        return replace(self, reading=reading).saved()

    def saved(self) -> Workspace:
        """Write the record of the workspace."""
        reading = {**vars(self.reading), "missing": list(self.reading.missing)}
        record = {
            "id": self.id,
            "name": self.name,
            "source": str(self.source),
            "origin": self.origin,
            "reading": reading,
            "created": self.created,
        }
        write_bytes(self.folder / "workspace.json", json.dumps(record, ensure_ascii=False).encode(), 0o600)
        return self

    @classmethod
    def read(cls, folder: Path) -> Workspace:
        """The workspace that a folder holds."""
        record = json.loads((folder / "workspace.json").read_bytes())
        reading = Reading(**{**record["reading"], "missing": tuple(record["reading"]["missing"])})
        return cls(
            folder, record["id"], record["name"], Path(record["source"]), record["origin"], reading, record["created"]
        )


class Project:
    """A folder with one or more workspaces, held by one running app."""

    def __init__(self, folder: Path, *, temporary: bool) -> None:
        self.folder, self.temporary = folder, temporary
        self._lock = Lock(folder / PROJECT_MARK)
        if not self._lock.take():
            raise InputError(
                "The project folder is open in another run of the app.", "End that one, or name another folder."
            )
        (folder / "w").mkdir(mode=0o700, exist_ok=True)

    @classmethod
    def open(cls, folder: Path | None) -> Project:
        """The project of a folder that is kept, or a temporary one; what crashed runs left behind is removed."""
        if folder is not None:
            return cls(_private(folder), temporary=False)
        runs = _private(Path(tempfile.gettempdir()) / f"shoal-app-{_user()}")
        remove_leftovers(runs)
        made = cls(Path(tempfile.mkdtemp(prefix=_NEW, dir=runs)), temporary=True)
        return made._as_run()  # under its name only when its lock is held: another start may be clearing up

    def _as_run(self) -> Project:
        self.folder = self.folder.rename(self.folder.with_name(_RUN + self.folder.name.removeprefix(_NEW)))
        return self

    def close(self) -> None:
        """Let go; a temporary project is removed."""
        if self.temporary and self._lock.held:
            shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.release()

    def workspaces(self) -> list[Workspace]:
        """All of them, oldest first."""
        found = [self._read(folder) for folder in (self.folder / "w").iterdir() if is_id(folder.name)]
        return sorted((space for space in found if space), key=lambda space: (space.created, space.id))

    def workspace(self, identifier: str) -> Workspace | None:
        """One of them; None where there is none of this name."""
        return self._read(self.folder / "w" / identifier) if is_id(identifier) else None

    @staticmethod
    def _read(folder: Path) -> Workspace | None:
        with suppress(OSError, ValueError, KeyError, TypeError):
            return Workspace.read(folder)
        return None

    def new(self, name: str, origin: Origin, source: Path | None = None, ending: str = ".csv") -> Workspace:
        """A workspace for a file of this machine, or for one that will be written to its own folder."""
        identifier = new_id()
        folder = self.folder / "w" / identifier
        for made in (folder, folder / "jobs", folder / "source"):
            made.mkdir(mode=0o700)
        place = source if source is not None else folder / "source" / f"data{ending}"
        created = datetime.now(UTC).isoformat(timespec="milliseconds")
        return Workspace(folder, identifier, _shown(name), place, origin, Reading(), created).saved()

    def remove(self, workspace: Workspace) -> None:
        """Close a file: everything about it goes; a file of this machine itself stays."""
        gone = workspace.folder.with_name(f"gone-{workspace.id}")  # at once not found, then removed
        with suppress(FileNotFoundError):
            workspace.folder.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)


def _shown(name: str) -> str:
    """The name of a file for people: its last part, without control characters.

    >>> _shown("../../etc/pass\\x00wd"), _shown(""), _shown("C:\\\\data\\\\people.csv")
    ('passwd', 'table', 'people.csv')
    """
    last = re.split(r"[/\\]", name)[-1]
    return "".join(letter for letter in last if letter.isprintable())[:200].strip() or "table"


def _state(path: Path) -> list[int] | None:
    """Which file lies at a path, as far as that is known without reading it."""
    with suppress(OSError, ValueError):
        found = path.stat()
        return [found.st_ino, found.st_size, found.st_mtime_ns]
    return None


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


def _private(folder: Path) -> Path:
    """A folder of our own, made if need be; one of somebody else, or a link, is refused."""
    try:
        folder.mkdir(mode=0o700, parents=False, exist_ok=True)
    except (FileExistsError, FileNotFoundError, PermissionError, NotADirectoryError):
        raise InputError(f"{folder} cannot be made.", "Name a folder in one that is there.") from None
    owner = folder.lstat()
    if folder.is_symlink() or (hasattr(os, "getuid") and owner.st_uid != os.getuid()):
        raise InputError(f"{folder} is a link, or belongs to somebody else.", "Name a folder of your own.")
    folder.chmod(0o700)
    return folder


def remove_leftovers(runs: Path) -> None:
    """Remove temporary projects whose app no longer runs: their lock is free."""
    for folder in _runs(runs):
        lock = Lock(folder / PROJECT_MARK)
        if lock.take():
            shutil.rmtree(folder, ignore_errors=True)
            lock.release()


def _runs(runs: Path) -> Iterator[Path]:
    yield from (folder for folder in runs.iterdir() if folder.name.startswith(_RUN) and not folder.is_symlink())
