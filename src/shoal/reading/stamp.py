"""What a run over files is about: one after a kill goes on where that is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.reading import is_path
from shoal.reading.files import Options, find_files

_TAIL = 1 << 16


def stamp_of(source: Any, columns: Sequence[str] | None, count: str | None, options: Options | None) -> str | None:
    """What a run is about: its files by size, time and last bytes, its columns and how they are read; None for frames.

    >>> stamp_of({"age": [34]}, ["age"], None, None) is None
    True
    """
    if not is_path(source):
        return None
    files = [_about(found.path, found.keys) for found in find_files(source)]
    reading = repr(None if options is None else replace(options, memory=None, spill_dir=None))
    told = json.dumps([__version__, files, None if columns is None else list(columns), count, reading])
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def _about(path: Path, keys: dict[str, str]) -> list[Any]:
    stat = path.stat()
    with path.open("rb") as file:
        file.seek(max(0, stat.st_size - _TAIL))
        tail = hashlib.sha256(file.read()).hexdigest()
    return [str(path.resolve()), stat.st_size, stat.st_mtime_ns, tail, sorted(keys.items())]
