"""Arrays on disk where memory does not suffice: the folder of one run, its lock, and what it needs.

The folder holds data: it is its owner's alone (0700, files 0600). It is removed when the run ends, well or not. After
a kill it stays, and the next run removes it.
Windows removes no file that is mapped into memory: there what is still used then goes later, at the latest with the
next run.
"""

from __future__ import annotations

import atexit
import errno
import gc
import itertools
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message, Setting
from shoal.storage.table import Array, blocks_of, on_disk
from shoal.systems.files import forget_pages, is_own, others_may, take_space, user
from shoal.systems.files import remove as remove_file
from shoal.systems.machine import free_memory
from shoal.wording import in_units

if TYPE_CHECKING:
    from shoal.systems.locks import Lock


# How much memory a job may use: what was asked for, or a share of what the machine has free.


# of the free memory, so much may be planned with: libraries, buffers and the page cache need the rest
SHARE_OF_FREE = 0.6
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# a text below this without a unit is not meant in bytes
_NEEDS_UNIT = 1_000_000


def memory_budget(asked: str | int | None = None) -> int:
    """The bytes of memory that a table and the work on it may take: as asked, by `SHOAL_MEMORY`, or by what is free.

    >>> memory_budget("2 GB")
    2000000000
    """
    asked = asked if asked is not None else os.environ.get("SHOAL_MEMORY") or None
    return bytes_of(asked) if asked is not None else int(SHARE_OF_FREE * free_memory())


def bytes_of(amount: str | int, setting: str = "memory") -> int:
    """An amount of memory or disk: `24GB`, `500 MB` (powers of 1,000), `8GiB` (powers of 1,024), or a number of bytes.

    A small text without a unit (`8`) is refused: whoever writes it means gigabytes.

    >>> bytes_of("1.5k"), bytes_of("1.5 KiB"), bytes_of(100)
    (1500, 1536, 100)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([kmgt])(i?)b?|(b?))\s*", str(amount), re.IGNORECASE)
    if not found or float(found[1]) == 0:
        raise InputError(Message("The setting `{}` cannot be read.", Setting(setting)), "Write 24GB or 500MB.")
    if isinstance(amount, str) and found[4] == "" and float(found[1]) < _NEEDS_UNIT:
        raise InputError(Message("The setting `{}` has no unit.", Setting(setting)), "Write 8GB or 500MB.")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[(found[2] or "").lower()])


_PREFIX, _LOCK = "shoal-spill", "lock"
_NUMBERS = itertools.count()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Spill:
    """Where a run puts what does not fit its memory; nothing is made until it is needed.

    >>> with Spill(memory=1000) as spill:
    ...     spill.start(10_000)
    ...     file = spill.new_file("ages"); _ = file.append(np.array([34, 51], np.uint8))
    ...     ages = file.mapped(np.uint8)
    >>> ages.tolist(), spill.folder.exists()
    ([34, 51], False)
    """

    def __init__(self, memory: str | int | None = None, parent: str | Path | None = None) -> None:
        self.budget = memory_budget(memory)
        self.parent = Path(parent or os.environ.get("SHOAL_SPILL") or tempfile.gettempdir()).resolve()
        self._folder: Path | None = None
        self._taken = itertools.count()
        self._lock: Lock | None = None

    @property
    def started(self) -> bool:
        """Whether anything is on disk."""
        return self._folder is not None

    @property
    def folder(self) -> Path:
        """The folder of this run."""
        assert self._folder is not None, "start() first"
        return self._folder

    def start(self, need: int) -> None:
        """Make the folder; `need`: bytes at most."""
        if self._folder is not None:
            return
        if not self.parent.is_dir():
            what = f"There is no folder {self.parent} for temporary files."
            raise InputError(what, _cure(need))
        _remove_what_was_in_use()
        self._remove_abandoned()
        self._check(need)
        self._make()
        progress.report(f"using up to {in_units(need)} of disk in {self.parent}", 0)

    def _check(self, need: int) -> None:
        free = shutil.disk_usage(self.parent).free
        if need > free:
            raise InputError(
                f"The table does not fit in memory ({in_units(self.budget)}), and counting it on disk takes up to "
                f"{in_units(need)}: {self.parent} has {in_units(free)} free.",
                _cure(need),
            )

    def _make(self) -> None:
        """A new folder, locked; one that another run took for abandoned before it was locked is let go."""
        while self._lock is None:
            try:
                path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}-{user()}-", dir=self.parent))
            except OSError as error:
                why = error.strerror or "no right to write there"
                raise InputError(f"{self.parent} cannot be written to: {why}.", _cure(0)) from None
            lock = _lock_of(path)
            if lock.take():
                self._folder, self._lock = path, lock

    def _remove_abandoned(self) -> None:
        """What killed runs left is data in the wrong place."""
        for path in self.parent.glob(f"{_PREFIX}-{user()}-*"):
            if _is_ours(path):
                lock = _lock_of(path)
                if lock.take():
                    _remove(path, lock)
                    lock.release()

    def new_file(self, word: str) -> SpilledFile:
        """A new file of the folder, which no other thread takes meanwhile."""
        while True:
            path = self.folder / f"{word}-{next(self._taken)}"
            with suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))  # looking first would let two take one name
                break
        return SpilledFile(path)

    def array(self, word: str, dtype: Any, rows: int) -> Array:
        """A new array on disk that is filled in any order; its space is taken at once, so that it cannot lack later."""
        file = self.new_file(word)
        file.take(rows * np.dtype(dtype).itemsize)
        return file.mapped(dtype, writable=True)

    def close(self) -> None:
        """Remove everything; arrays that are mapped stay readable until nobody uses them."""
        if self._lock is not None:
            if not _remove(self.folder, self._lock):
                _IN_USE.append((self.folder, self._lock))
            self._lock = None

    def __enter__(self) -> Spill:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Memory:
    """Where a job puts arrays that fit in memory: the same as in a `Spill`, without files.

    >>> file = MEMORY.new_file("ages"); file.append(np.array([34, 51], np.uint8))
    0
    >>> file.mapped(np.uint8).tolist(), len(MEMORY.array("ages", np.uint8, 3))
    ([34, 51], 3)
    """

    def new_file(self, word: str) -> MemoryFile:
        """Arrays one behind the other."""
        return MemoryFile()

    def array(self, word: str, dtype: Any, rows: int) -> Array:
        """A new array that is filled in any order."""
        return np.empty(rows, dtype)


class MemoryFile:
    """Arrays one behind the other in memory."""

    def __init__(self) -> None:
        self._arrays: list[Array] = []
        self.bytes = 0

    def append(self, array: Array) -> int:
        """An array at the end; where it starts."""
        self._arrays.append(array)
        self.bytes += array.nbytes
        return self.bytes - array.nbytes

    def mapped(self, dtype: Any) -> Array:
        """All of them as one array."""
        return self._arrays[0] if len(self._arrays) == 1 else np.concatenate([np.empty(0, dtype), *self._arrays])


MEMORY = Memory()
# where a job puts its arrays
Store: TypeAlias = Memory | Spill


class SpilledFile:
    """Arrays one behind the other in a new file, its owner's alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        self._handle = os.fdopen(opened, "r+b", buffering=0)
        self.bytes = 0

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
        found = np.fromfile(self.path, dtype, count, offset=start)
        assert len(found) == count
        return found

    def take(self, size: int) -> None:
        """Take the space of so many bytes on the disk: an array that is mapped cannot say that a disk is full."""
        if size:
            with filling(self.path.parent):
                take_space(self._handle.fileno(), size)
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
        remove_file(self.path)


def forget(array: Array) -> None:
    """Let the pages of an array on disk go from memory; they are read again when needed."""
    if isinstance(array, np.memmap):
        held = getattr(array, "_mmap", None)
        if held is not None:
            forget_pages(held)


def remove(array: Array) -> None:
    """Give the disk of an array free that nobody needs any more."""
    forget(array)
    if on_disk(array):
        remove_file(Path(str(getattr(array, "filename", ""))))


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
        return _changed(array, change, spill.new_file("changed"), dtype)


def _changed(array: Array, change: Callable[[Array], Array], file: SpilledFile, dtype: Any) -> Array:
    for block in blocks_of(len(array)):
        file.append(change(np.asarray(array[block])).astype(dtype, copy=False))
    forget(array)
    return file.mapped(dtype)


def _cure(need: int) -> str:
    space = f" with {in_units(need)} free" if need else " with more space"
    return Message("Set `{spill_dir}` (SHOAL_SPILL) to a folder{}, or `{memory}` (SHOAL_MEMORY) to more.", space)


class filling:
    """A disk that is full as one sentence with its cure."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, OSError) and error.errno in _FULL:
            what = f"The disk of {self.folder.parent} is full; nothing was left on it."
            raise InputError(what, _cure(0)) from None


def _is_ours(path: Path) -> bool:
    """Whether a folder is this user's own and nobody else's."""
    try:
        about = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and is_own(about) and not others_may(about.st_mode)


def _lock_of(folder: Path) -> Lock:
    """The lock of a folder lies in it, so that it is as private as the folder."""
    from shoal.systems.locks import Lock

    return Lock(folder / _LOCK)


def _remove(folder: Path, lock: Lock) -> bool:
    """Remove a folder whose lock is held, and the lock last; whether nothing in it is in use any more."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name != _LOCK:
                remove_file(entry)
        if any(entry.name != _LOCK for entry in folder.iterdir()):
            return False
    lock.release()
    with suppress(OSError):
        folder.rmdir()
    return True


# folders whose files are still mapped into memory, on a system that does not remove such files
_IN_USE: list[tuple[Path, Lock]] = []


@atexit.register
def _remove_what_was_in_use() -> None:
    if _IN_USE:
        gc.collect()
        _IN_USE[:] = [(folder, lock) for folder, lock in _IN_USE if not _remove(folder, lock)]
