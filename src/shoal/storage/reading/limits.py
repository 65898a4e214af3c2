"""Limits of time and memory on what a library reads from a file: one that is made to hang it must not hang us.

The library reads in a thread of its own, and whoever waits for it gives up. That costs a tenth of a millisecond, where
a process of its own costs 0.15 s of processor time and a copy of every row. What is given up goes on reading until this
process ends: a command ends at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from shoal.errors import InputError
from shoal.systems.machine import free_memory, resident_memory

_Result = TypeVar("_Result")
# how long a step of reading may take: so many seconds, and one for so many bytes of the file
_SECONDS, _BYTES_PER_SECOND = 60.0, 1 << 20
# the memory that it may take: so many bytes, or so many for each of the file's; and no more than this share of what is
# free, for past it the system ends processes without a word
_MEMORY, _MEMORY_PER_BYTE, _OF_FREE = 4 << 30, 200, 0.9
_LOOKED_EVERY = 0.05
_EXPORT_AGAIN = "Copy or export it again; or have the program that wrote it write CSV."


def within_limits(path: Path, work: Callable[[], _Result]) -> _Result:
    """What `work` reads from a file; an error where it takes more time or memory than any table of the file's size.

    >>> within_limits(Path("people.parquet"), lambda: 3)
    3
    """
    results: list[_Result] = []
    errors: list[BaseException] = []

    def read() -> None:
        try:
            results.append(work())
        except BaseException as error:  # a panic of the library is no Exception
            errors.append(error)

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(_LOOKED_EVERY)
    if reader.is_alive():
        _wait(reader, path)
    if errors:
        raise errors[0]
    return results[0]


def _wait(reader: threading.Thread, path: Path) -> None:
    """Until it has ended, or is past a limit."""
    size, start = path.stat().st_size, resident_memory()
    last = time.monotonic() + _SECONDS + size / _BYTES_PER_SECOND
    most = min(max(_MEMORY, _MEMORY_PER_BYTE * size), int(_OF_FREE * free_memory()))
    while reader.is_alive():
        if resident_memory() - start > most:
            raise InputError(
                f"{path} takes more memory than a table of its size: it is damaged, or made to fill memory.",
                _EXPORT_AGAIN,
            )
        if time.monotonic() > last:
            raise InputError(
                f"{path} takes longer to read than a table of its size: it is damaged, or made to hang its reader.",
                _EXPORT_AGAIN,
            )
        reader.join(_LOOKED_EVERY)
