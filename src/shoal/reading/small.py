"""Small files that people write or keep: policies, hierarchies, plans, manifests. Ordinary ones, of limited size."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from shoal.errors import InputError

# More than any manifest or plan with its hierarchies has.
MOST_BYTES = 64 << 20


def read_small(path: str | Path, limit: int = MOST_BYTES) -> bytes:
    """The bytes of an ordinary file that has at most `limit` of them; pipes and devices are refused, not waited for.

    >>> read_small("/dev/null")
    Traceback (most recent call last):
    shoal.errors.InputError: /dev/null is not an ordinary file.
    Name a file.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{path} is not an ordinary file.", "Name a file.")
        content = file.read(limit + 1) if about.st_size <= limit else b""
    if about.st_size > limit or len(content) > limit:
        raise InputError(f"{path} has more than {limit:,} bytes.", "Check that it is the right file.")
    return content


def parse_json(content: bytes | str) -> Any:
    """JSON as Python objects; whatever is wrong with it is a ValueError, also endless nesting and endless digits.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: not JSON
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None


def read_json(path: str | Path, limit: int = MOST_BYTES) -> Any:
    """The content of a small JSON file; a ValueError where it is none, an OSError where there is no file."""
    return parse_json(read_small(path, limit))
