"""Arrays on disk where memory does not suffice: the folder of one run, its lock, its journal, and what it needs.

The folder holds data: it is its owner's alone (0700, files 0600). It is removed when the run ends, well or not. After
a kill it stays; the next run goes on in it where the sources and the settings are the same, and removes it where not.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import json
import mmap
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.table.memory import memory_budget
from shoal.table.table import ROWS_AT_ONCE, Array, on_disk
from shoal.wording import in_units

_PREFIX = "shoal-spill"
_NUMBERS = itertools.count()
_SETTINGS = ("spill_dir", "memory")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Spill:
    """Where a run puts what does not fit its memory; nothing is made until it is needed.

    >>> with Spill(memory=1000) as spill:
    ...     spill.start(10_000)
    ...     file = spill.file("ages"); _ = file.append(np.array([34, 51], np.uint8))
    ...     ages = file.mapped(np.uint8)
    >>> ages.tolist(), spill.folder.exists()
    ([34, 51], False)
    """

    def __init__(
        self,
        memory: str | int | None = None,
        parent: str | Path | None = None,
        stamp: Callable[[], str | None] = lambda: None,
    ) -> None:
        self.budget = memory_budget(memory)
        self.parent = Path(parent or os.environ.get("SHOAL_SPILL") or tempfile.gettempdir()).resolve()
        self._stamp_of = stamp
        self._stamp: str | None = None
        self._folder: Path | None = None
        self._lock: int | None = None
        self.state: dict[str, Any] = {}

    @property
    def started(self) -> bool:
        """Whether anything is on disk."""
        return self._folder is not None

    @property
    def resumable(self) -> bool:
        """Whether a run after a kill could go on."""
        return self._stamp is not None

    @property
    def folder(self) -> Path:
        """The folder of this run."""
        assert self._folder is not None, "start() first"
        return self._folder

    def start(self, need: int) -> None:
        """Make the folder, or take up one that a killed run with the same sources left; `need`: bytes at most."""
        if self._folder is not None:
            return
        if not self.parent.is_dir():
            what = f"There is no folder {self.parent} for temporary files."
            raise InputError(what, _cure(need), settings=_SETTINGS)
        self._stamp = self._stamp_of()
        self._take_up()
        if self._folder is None:
            self._remove_abandoned()
            self._check(need)
            self._make()
        self._remove_abandoned()
        progress.report(f"using up to {in_units(need)} of disk in {self.parent}", 0)

    def _check(self, need: int) -> None:
        free = shutil.disk_usage(self.parent).free
        if need > free:
            raise InputError(
                f"The table does not fit in memory ({in_units(self.budget)}), and counting it on disk takes up to "
                f"{in_units(need)}: {self.parent} has {in_units(free)} free.",
                _cure(need),
                settings=_SETTINGS,
            )

    def _path(self) -> Path:
        return self.parent / f"{_PREFIX}-{os.getuid()}-{self._stamp}"

    def _take_up(self) -> None:
        """Go on in the folder of a killed run with the same sources and settings."""
        if self._stamp is None or not _is_ours(self._path()):
            return
        lock = _locked(self._path())
        if lock is not None:
            self._folder, self._lock = self._path(), lock
            journal = self._folder / "state.json"
            self.state = json.loads(journal.read_text()) if journal.exists() else {}

    def _make(self) -> None:
        """A new folder, locked; one that another run took for abandoned before it was locked is let go."""
        while self._lock is None:
            try:
                path = self._path()
                if self._stamp is None or path.exists() or path.is_symlink():
                    path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{os.getuid()}-", dir=self.parent))
                else:
                    path.mkdir(mode=0o700)
            except FileExistsError:  # an equal run made it in this moment
                continue
            except OSError as error:
                why = error.strerror or "no right to write there"
                raise InputError(f"{self.parent} cannot be written to: {why}.", _cure(0), settings=_SETTINGS) from None
            self._folder, self._lock = path, _locked(path)

    def _remove_abandoned(self) -> None:
        """What killed runs left, and nobody goes on with, is data in the wrong place."""
        for path in self.parent.glob(f"{_PREFIX}-{os.getuid()}-*"):
            if path != self._folder and path != self._path() and _is_ours(path):
                lock = _locked(path)
                if lock is not None:
                    _remove(path)
                    os.close(lock)

    def new_file(self, word: str) -> SpilledFile:
        """A file of the folder that neither this run nor one before it has, nor another thread takes meanwhile."""
        for number in itertools.count():
            path = self.folder / f"{word}-{number}"
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # looking first would let two take one name
                break
        return SpilledFile(path)

    def file(self, name: str) -> SpilledFile:
        """A new file of the folder."""
        return SpilledFile(self.folder / name)

    def array(self, word: str, dtype: Any, rows: int) -> Array:
        """A new array on disk that is filled in any order; its space is taken at once, so that it cannot lack later."""
        file = self.new_file(word)
        file.take(rows * np.dtype(dtype).itemsize)
        return file.mapped(dtype, writable=True)

    def keep(self, **state: Any) -> None:
        """Note in the journal what is done, so that a run after a kill need not do it again."""
        self.state.update(state)
        draft = self.folder / "state.json.new"
        with filling(self.folder), os.fdopen(opened(draft), "w") as file:
            json.dump(self.state, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.folder / "state.json")

    def close(self) -> None:
        """Remove everything; arrays that are mapped stay readable until nobody uses them."""
        if self._lock is not None:
            _remove(self.folder)
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class SpilledFile:
    """Arrays one behind the other in a file: a new one, or the first `kept` bytes of one that is there."""

    def __init__(self, path: Path, kept: int | None = None) -> None:
        self.path = path
        self._handle = os.fdopen(opened(path) if kept is None else os.open(path, os.O_RDWR), "r+b", buffering=0)
        self.bytes = kept or 0
        self._handle.truncate(self.bytes)
        self._handle.seek(self.bytes)

    def append(self, array: Array) -> int:
        """Write an array at the end; where it starts."""
        start = self.bytes
        data = np.ascontiguousarray(array).view(np.uint8).data
        with filling(self.path.parent):
            while data:
                written = self._handle.write(data)
                assert written is not None
                data, self.bytes = data[written:], self.bytes + written
        return start

    def read(self, start: int, dtype: Any, count: int) -> Array:
        """An array that was written."""
        found = np.empty(count, dtype)
        data, place = found.view(np.uint8).data, start
        while data:
            size = os.preadv(self._handle.fileno(), [data], place)
            assert size
            data, place = data[size:], place + size
        return found

    def take(self, size: int) -> None:
        """Take the space of so many bytes on the disk: an array that is mapped cannot say that a disk is full."""
        if size:
            with filling(self.path.parent):
                os.posix_fallocate(self._handle.fileno(), 0, size)
        self.bytes = size

    def mapped(self, dtype: Any, writable: bool = False) -> Array:
        """The whole file as one array, read from the disk as it is used."""
        self._handle.close()
        if not self.bytes:
            return np.empty(0, dtype)
        return np.memmap(self.path, dtype, "r+" if writable else "r")

    def close(self) -> None:
        """Nothing more is written."""
        self._handle.close()

    def remove(self) -> None:
        """Give the disk free."""
        self._handle.close()
        self.path.unlink(missing_ok=True)


def forget(array: Array) -> None:
    """Let the pages of an array on disk go from memory; they are read again when needed."""
    if isinstance(array, np.memmap):
        held = getattr(array, "_mmap", None)
        if held is not None:
            held.madvise(mmap.MADV_DONTNEED)


def remove(array: Array) -> None:
    """Give the disk of an array free that nobody needs any more."""
    forget(array)
    if on_disk(array):
        Path(str(getattr(array, "filename", ""))).unlink(missing_ok=True)


def blocks_of(rows: int) -> list[slice]:
    """Rows in blocks that are worked on at once.

    >>> blocks_of(3)
    [slice(0, 3, None)]
    """
    return [slice(start, min(start + ROWS_AT_ONCE, rows)) for start in range(0, rows, ROWS_AT_ONCE)]


def in_blocks(array: Array, change: Callable[[Array], Array], dtype: Any) -> Array:
    """What `change` makes of an array, block by block onto the disk where the array itself is there.

    >>> in_blocks(np.array([1, 2]), lambda numbers: numbers + 1, np.int64).tolist()
    [2, 3]
    """
    if not on_disk(array):
        return change(array)
    path = Path(str(getattr(array, "filename", "")))
    if path.parent.is_dir():  # beside it
        return _changed(array, change, SpilledFile(path.with_name(f"{path.name}-{next(_NUMBERS)}")), dtype)
    with Spill(parent=path.parent.parent if path.parent.parent.is_dir() else None) as spill:
        spill.start(len(array) * np.dtype(dtype).itemsize)
        return _changed(array, change, spill.file("changed"), dtype)


def _changed(array: Array, change: Callable[[Array], Array], file: SpilledFile, dtype: Any) -> Array:
    for start in range(0, len(array), ROWS_AT_ONCE):
        file.append(change(np.asarray(array[start : start + ROWS_AT_ONCE])).astype(dtype, copy=False))
    forget(array)
    return file.mapped(dtype)


def _cure(need: int) -> str:
    space = f" with {in_units(need)} free" if need else " with more space"
    return f"Set `spill_dir` (SHOAL_SPILL) to a folder{space}, or `memory` (SHOAL_MEMORY) to more."


class filling:
    """A disk that is full as one sentence with its cure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno in _FULL:
            what = f"The disk of {self.folder.parent} is full; nothing was left on it."
            raise InputError(what, _cure(0), settings=_SETTINGS) from None


def opened(path: Path) -> int:
    """A new file, its owner's alone."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)


def _is_ours(path: Path) -> bool:
    """Whether a folder is this user's own and nobody else's."""
    try:
        about = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid() and not about.st_mode & 0o077


def _remove(folder: Path) -> None:
    """Remove a folder that is locked: under another name first, or an equal run could begin in what goes."""
    other = folder.with_name(f"{_PREFIX}-{os.getuid()}-{secrets.token_hex(8)}")
    with suppress(OSError):
        folder.rename(other)
    shutil.rmtree(other if other.exists() else folder, ignore_errors=True)


def _locked(folder: Path) -> int | None:
    """A lock on a folder, which ends with the process; None where a living process has it, or the folder is gone."""
    try:
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # who had it may have removed or renamed the folder since it was opened
        there = os.path.samestat(os.fstat(handle), (folder / "lock").stat())
    except OSError:
        there = False
    if not there:
        os.close(handle)
        return None
    os.ftruncate(handle, 0)
    os.write(handle, f"{os.getpid()}\n".encode())
    return handle
