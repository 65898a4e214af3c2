"""Parquet and Arrow IPC files, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from shoal.reading.arrow_check import check_arrow
from shoal.reading.bytes import damage_as_error
from shoal.reading.files import Source
from shoal.reading.frames import ROWS_PER_BATCH
from shoal.reading.parquet_check import PageAt, check_parquet
from shoal.reading.parquet_texts import with_categories
from shoal.table.memory import memory_budget
from shoal.table.table import check_names
from shoal.table.text_types import typed_dictionary

# from so many rows on pages are read here: fewer are read as fast by polars, which needs no machine code
FROM_ROWS = 1 << 18
# a file whose texts are read by its dictionaries is in memory meanwhile: so much of what a table may take
_SHARE_OF_MEMORY = 16


def open_parquet(path: Path, keys: dict[str, str], memory: str | int | None = None, generally: bool = False) -> Source:
    """A Parquet file; `key=value` folders above it become columns that the file itself does not have."""
    footer = check_parquet(path, ())
    check_names(footer.names, str(path))
    with damage_as_error(path):
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=False)
        own = scan.collect_schema()
        added = {key: typed_dictionary(pl.Series([unquote(value)])) for key, value in keys.items() if key not in own}

        def keyed(scan: pl.LazyFrame) -> pl.LazyFrame:
            return scan.with_columns(pl.lit(value[0]).alias(key) for key, value in added.items())

        def plain(columns: list[str]) -> pl.LazyFrame:
            if path.stat().st_size * _SHARE_OF_MEMORY > memory_budget(memory):
                return keyed(scan)
            texts = with_categories(path, own, footer.about, columns)
            return keyed(scan if texts is None else pl.scan_parquet(texts, glob=False, hive_partitioning=False))

        def checked(columns: list[str]) -> pl.LazyFrame:
            check_parquet(path, set(columns), footer)
            return plain(columns)

        source = _source(path, keyed(scan), checked)

        def in_codes(columns: list[str]) -> Iterator[tuple[Any, int]]:
            """In codes where the pages are known, and the file is a small part of what a table may take."""
            pages = dict[int, list[PageAt]]()
            check_parquet(path, set(columns), footer, pages)
            size, rows = path.stat().st_size, int(footer.about[3])
            file = None
            if not generally and rows >= FROM_ROWS and size * _SHARE_OF_MEMORY <= memory_budget(memory):
                from shoal.reading.parquet_pages import CodedFile, has_loops

                file = CodedFile.of(path, footer, pages, keyed(scan), columns) if has_loops() else None
            if file is None:
                yield from _batches(plain(columns), columns, size, rows)
            else:
                yield from ((batch, size * done // rows) for batch, done in file.batches(columns))

        source.typed_batches = in_codes
        return source


def open_ipc(path: Path, stream: bool) -> Source:
    """An Arrow IPC (Feather) file; the stream form has no index and is read at once."""
    check_arrow(path, stream)
    with damage_as_error(path):
        scan = pl.read_ipc_stream(path).lazy() if stream else pl.scan_ipc(path, glob=False)
        return _source(path, scan)


def open_avro(path: Path) -> Source:
    """An Avro file, read at once: its blocks have no index."""
    with damage_as_error(path):
        return _source(path, pl.read_avro(path).lazy())


def _source(path: Path, scan: pl.LazyFrame, checked: Callable[[list[str]], pl.LazyFrame] | None = None) -> Source:
    """The batches of a scan; `checked` looks at some columns before they are read, and says how to read them."""
    size = path.stat().st_size
    rows = int(scan.select(pl.len()).collect().item())

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        return _batches(scan if checked is None else checked(columns), columns, size, rows)

    return Source(path, scan.collect_schema().names(), batches)


def _batches(scan: pl.LazyFrame, columns: list[str], size: int, rows: int) -> Iterator[tuple[pl.DataFrame, int]]:
    """The batches of a scan that has so many rows, and how many bytes of so many are read by then."""
    seen = 0
    for batch in scan.select(columns).collect_batches(chunk_size=ROWS_PER_BATCH):
        seen += len(batch)
        yield batch, size * seen // max(rows, 1)
    if seen != rows:
        raise EOFError
