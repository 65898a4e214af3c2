"""What a run over files is about: one after a kill goes on where that is the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal import __version__
from shoal.storage.reading import is_path
from shoal.storage.reading.files import Options, find_files

_TAIL = 1 << 16


def stamp_of(
    source: Any,
    columns: Sequence[str] | None,
    count: str | None,
    options: Options | None,
    without: Collection[str] = (),
) -> str | None:
    """What a run is about: its files, its columns (all but those of `without`) and how they are read; None for frames.

    A file is told by its place on the disk, its size, when it was changed last, and its last bytes.

    >>> stamp_of({"age": [34]}, ["age"], None, None) is None
    True
    """
    if not is_path(source):
        return None
    files = [_about(found.path, found.keys) for found in find_files(source)]
    reading = repr(None if options is None else replace(options, memory=None, spill_dir=None))
    wanted = None if columns is None else list(columns)
    told = json.dumps([__version__, files, wanted, sorted(without), count, reading])
    return hashlib.sha256(told.encode()).hexdigest()[:24]


def _about(path: Path, keys: dict[str, str]) -> list[Any]:
    stat = path.stat()
    with path.open("rb") as file:
        file.seek(max(0, stat.st_size - _TAIL))
        tail = hashlib.sha256(file.read()).hexdigest()
    # the time of the last change cannot be set back, as that of the content can
    about = [stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]
    return [str(path.resolve()), *about, tail, sorted(keys.items())]
