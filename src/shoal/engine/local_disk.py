"""Counting a table that is on disk, for the local engine."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.engine.base import Counted
from shoal.reading import Options, is_path
from shoal.reading.files import find_files
from shoal.table import Table
from shoal.table.external import count_on_disk
from shoal.table.rows import weights_of
from shoal.table.spill import Spill
from shoal.table.tuples import as_tuples

_TAIL = 1 << 16


def counted_on_disk(table: Table, names: Sequence[str], count: str | None, spill: Spill) -> Counted:
    """The tuples of a table whose codes are on disk: what `tuples_of` gives for one in memory."""
    columns = {column.name: column for column in table.select(names)}
    weights = None if count is None else weights_of(table[count])
    found = count_on_disk(columns, weights, spill)
    tuples = {name: as_tuples(column, found.tuples[name].codes) for name, column in columns.items()}
    return Counted(tuples, found.counts, None, table.name, table.notes, table.source_names)


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
