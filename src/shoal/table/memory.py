"""How much memory a job may use: what was asked for, or a share of what the machine has free."""

from __future__ import annotations

import os
import re
from pathlib import Path

from shoal.errors import InputError

# of the free memory, so much may be planned with: libraries, buffers and the page cache need the rest
SHARE_OF_FREE = 0.6
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
# a text below this without a unit is not meant in bytes
_NEEDS_UNIT = 1_000_000
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


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
        raise InputError(f"The setting `{setting}` cannot be read.", "Write 24GB or 500MB.", settings=setting)
    if isinstance(amount, str) and found[4] == "" and float(found[1]) < _NEEDS_UNIT:
        raise InputError(f"The setting `{setting}` has no unit.", "Write 8GB or 500MB.", settings=setting)
    return int(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[(found[2] or "").lower()])


def free_memory() -> int:
    """The bytes of memory that are free, or can be had by dropping cached files; a container's limit counts."""
    free = _available()
    for path in _LIMITS:
        try:
            limit = Path(path).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            free = min(free, int(limit))
    return free


def _available() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
