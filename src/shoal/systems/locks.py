"""Locks on files, which the system lets go of when their process ends, however it ends.

What is locked is a small file of its own, never the data: Windows lets nobody else read or rename a locked file. The
file of a lock is removed when the lock is let go.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from shoal.systems import WINDOWS
from shoal.systems.files import is_own

_ENDING = ".lock"
# a link in the place of the file is not followed, where the system can be told so
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
# how often, and how long in seconds, the file of a lock is waited for that somebody else is removing at this moment
_TRIES, _PAUSE = 100, 0.02


class Lock:
    """One process, and in it one object, holds a lock at a time. `stays`: its file is not removed when it is let go.

    On a file system without locks, whoever makes the file has the lock, and one that a killed process left stays.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "work.lock"
    >>> first, second = Lock(path), Lock(path)
    >>> first.take(), second.take(), first.release(), second.take()
    (True, False, None, True)
    >>> second.release(); path.exists()
    False
    """

    def __init__(self, path: Path, *, stays: bool = False) -> None:
        self.path, self._stays = path, stays
        self._handle: int | None = None
        # False on a file system without locks, where one that was waited for may be held by several
        self.is_kept = True

    @property
    def held(self) -> bool:
        """Whether this object holds it."""
        return self._handle is not None

    def take(self, *, wait: bool = False) -> bool:
        """Whether it could be had; with `wait`, it is waited for. False where its folder is gone."""
        assert self._handle is None, "a lock is taken once"
        while True:
            is_new = not os.path.lexists(self.path)
            try:
                handle = self._opened(_TRIES if wait else 0)
            except FileNotFoundError:
                return False
            except PermissionError:
                if WINDOWS and not wait:  # somebody else is removing it
                    return False
                raise
            try:
                if self._is_ours(handle, is_new, wait):
                    self._handle = handle
                    return True
            finally:
                if self._handle is None:
                    os.close(handle)
            if not wait:
                return False

    def _opened(self, tries: int) -> int:
        """A handle on the file, which is made if need be. Windows refuses one that is being removed."""
        while True:
            try:
                return os.open(self.path, _FLAGS, 0o600)
            except PermissionError:
                if not WINDOWS or not tries:
                    raise
                tries -= 1
                time.sleep(_PAUSE)

    def _is_ours(self, handle: int, is_new: bool, wait: bool) -> bool:
        from filelock import lock_descriptor

        try:
            if not lock_descriptor(handle, blocking=wait):
                return False
        except OSError:  # a file system without locks
            self.is_kept = False
            return is_new or wait
        if WINDOWS:  # nobody removes a file that is open
            return True
        try:  # who held it may have removed it since it was opened
            return os.path.samestat(os.fstat(handle), self.path.lstat())
        except OSError:
            return False

    def release(self) -> None:
        """Let go."""
        if self._handle is None:
            return
        # while it is held, or another one could get a lock on a file that goes; Windows removes only what nobody has
        # open: after the lock was let go, and then never the file of somebody who holds it now
        removed = self._stays or self._is_removed()
        os.close(self._handle)
        self._handle = None
        if not removed:
            self._is_removed()

    def _is_removed(self) -> bool:
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
            return True
        return False

    def __enter__(self) -> Lock:
        self.take(wait=True)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def lock_beside(path: Path) -> Lock:
    """The lock of a draft: its file lies beside it, so that what is locked can be renamed and removed."""
    return Lock(path.with_name(f"{path.name}{_ENDING}"))


def abandoned(folder: Path, name: re.Pattern[str]) -> Iterator[Path]:
    """The drafts of this user in a folder whose writers have ended; each is locked while it is looked at.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "1.draft").touch(); (folder / "2.draft").touch()
    >>> with lock_beside(folder / "2.draft"):
    ...     [draft.name for draft in abandoned(folder, re.compile(r".*[.]draft$"))]
    ['1.draft']
    """
    names = {entry.name.removesuffix(_ENDING) for entry in folder.iterdir()}
    for draft in sorted(folder / found for found in names if name.match(found)):
        lock = lock_beside(draft)
        with suppress(OSError):
            if os.path.lexists(draft) and (draft.is_symlink() or not is_own(draft.lstat())):
                continue
            lock.take()
        try:
            if lock.held and draft.exists():
                yield draft
        finally:
            lock.release()
