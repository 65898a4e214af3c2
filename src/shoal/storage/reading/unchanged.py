"""Whether files are still those that were read: a release of rows that its source no longer holds would be a lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from shoal.errors import InputError

FileStates = Mapping[Path, tuple[int, ...] | None]


def states_of(paths: Iterable[Path]) -> dict[Path, tuple[int, ...] | None]:
    """Where each file is on its disk, its size, and when it was written last; None for one that is gone."""
    return {path.absolute(): _state(path) for path in paths}


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def check_unchanged(before: FileStates) -> None:
    """Refuse files that were written or replaced since their states were taken.

    >>> check_unchanged({Path("/people.csv"): (1, 2, 3, 4)})
    Traceback (most recent call last):
    shoal.errors.InputError: /people.csv was changed while shoal worked on it. ...
    """
    now = states_of(before)
    for path, state in before.items():
        if state != now[path]:
            raise InputError(
                f"{path} was changed while shoal worked on it.", "Nothing was written; run it again when it is whole."
            )
