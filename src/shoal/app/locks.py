"""A lock that the system lets go of when its process ends, however it ends."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

# the file that says: this folder is a project of the app
PROJECT_MARK = "project.lock"


class Lock:
    """One process holds it; where the system has no such locks, the number of the process is kept in the file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    @property
    def held(self) -> bool:
        """Whether this process has it."""
        return self._file is not None

    def take(self) -> bool:
        """Whether it could be had."""
        file = self._path.open("a+", encoding="ascii")
        self._path.chmod(0o600)
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            elif _runs(self._path.read_text("ascii")):
                raise BlockingIOError
        except BlockingIOError:
            file.close()
            return False
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._file = file
        return True

    def release(self) -> None:
        """Let go."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _runs(text: str) -> bool:
    with suppress(ValueError, OSError):
        if int(text) != os.getpid():
            os.kill(int(text), 0)
            return True
    return False
