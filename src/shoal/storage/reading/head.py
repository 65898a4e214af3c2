"""The first rows of a table as they are written, without reading the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Message
from shoal.storage.reading import is_path
from shoal.storage.reading.bytes import damage_as_error
from shoal.storage.reading.csv import NotInEncoding
from shoal.storage.reading.files import Options, find_files, open_file

# files whose names of columns are known without reading rows
_CHEAP = {".csv", ".tsv", ".txt", ".parquet"}


def check_header(source: Any, names: Sequence[str], options: Options | None = None) -> None:
    """Refuse names, and those of declared types, that one file does not have, by its header alone; others are not
    looked at here, nor is a header in doubt."""
    if not is_path(source) or len(files := find_files(source)) != 1:
        return
    file, given = files[0], options or Options()
    if file.path.suffix.lower() not in _CHEAP or file.keys or file.part is not None:
        return
    try:
        opened = open_file(file, given)
    except NotInEncoding:
        return
    if opened.header_in_doubt or opened.columns_may_come_late:
        return
    typed = [] if given.released else list(given.types or ())
    for about, where in ((typed, Message("{}, of which `{types}` tells,", file.path)), (names, str(file.path))):
        if unknown := [name for name in dict.fromkeys(about) if name not in opened.names]:
            raise InputError.missing_columns(unknown, opened.names, where, opened.elsewhere)


def read_head(
    source: str | Path, rows: int = 100, options: Options | None = None
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The first rows of a file (the first one, where there are several) as texts, and what was found about its format.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("age;zip\\n34;02139\\n51;10001\\n")
    >>> frame, notes = read_head(path, 1)
    >>> frame.rows(), notes
    ([('34', '02139')], ('columns separated by ;',))
    """
    given = options or Options()
    try:
        return _head(source, rows, given)
    except NotInEncoding:
        if given.encoding is not None:
            raise
        return _head(source, rows, replace(given, encoding="cp1252"))


def _head(source: str | Path, rows: int, options: Options) -> tuple[pl.DataFrame, tuple[str, ...]]:
    file = find_files(source)[0]
    opened = open_file(file, options)
    found: list[pl.DataFrame] = []
    with damage_as_error(file.path):
        for batch, _ in opened.batches(list(opened.names)):
            found.append(batch.head(rows - sum(map(len, found))))
            if sum(map(len, found)) >= rows:
                break
    if not found:
        return pl.DataFrame(schema=dict.fromkeys(opened.names, pl.String)), tuple(opened.notes)
    frame = pl.concat(found, how="diagonal")
    texts = [_as_text(frame[name]) for name in frame.columns]
    return pl.DataFrame(texts), tuple(opened.notes)


def _as_text(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype == pl.Binary:
        return pl.Series(column.name, ["…" if value is not None else None for value in column], pl.String)
    return column.cast(pl.String)
