"""The small files of a desk: ordinary files of limited size, read through models."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from shoal.errors import InputError


def read_limited(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file, if it is not larger than `most`."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{path} is not an ordinary file.", "Restore it.")
            content = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Restore it, or check its rights.") from None
    if len(content) > most:
        raise InputError(f"{path} is larger than {most:,} bytes.", "Restore it: a desk does not write such a file.")
    return content
