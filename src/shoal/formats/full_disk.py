"""A disk that fills while a file is written: said as that, with how much is needed, whatever a library makes of it."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from shoal.errors import InputError
from shoal.wording import in_units

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# a writer that does not say why it failed failed for lack of space where less than this is left
_NEARLY_NOTHING = 1 << 16


@contextmanager
def filling_disk(draft: Path, target: Path, size: Callable[[], float]) -> Iterator[None]:
    """Around the writing of a draft beside its target; `size`: about the bytes that it takes, asked for on failure.

    Polars has the reason of the system in the words of a ComputeError, and for Avro not even there.
    """
    try:
        yield
    except (OSError, pl.exceptions.ComputeError) as error:
        code = reason_of(error)
        free = _free(draft)
        if code is None and isinstance(error, pl.exceptions.ComputeError) and free is not None:
            code = errno.ENOSPC if free < _NEARLY_NOTHING else None
        if code in _FULL:
            there = "" if free is None else f", and {in_units(free + draft.stat().st_size)} were free"
            raise InputError(
                f"The disk of {target.parent.resolve()} is full: {target.name} takes about {in_units(size())}{there}.",
                f"Choose a folder with {in_units(size())} free. Nothing was written.",
            ) from None
        if code is not None:
            raise OSError(code, os.strerror(code)) from None
        raise


def reason_of(error: BaseException) -> int | None:
    """The number of the system's error that an error stands for, which some libraries leave in their message only.

    >>> reason_of(OSError("No space left on device (os error 28)"))
    28
    """
    found = re.search(r"os error ([0-9]+)", str(error))
    return getattr(error, "errno", None) or (int(found[1]) if found else None)


def _free(draft: Path) -> int | None:
    """The bytes that are left beside a draft, where that can be known."""
    try:
        return shutil.disk_usage(draft.parent).free
    except OSError:
        return None
