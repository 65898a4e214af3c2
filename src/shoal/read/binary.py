"""Parquet and Arrow IPC files, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from shoal.errors import InputError
from shoal.frames import ROWS_PER_BATCH
from shoal.read.files import Source


def open_parquet(path: Path) -> Source:
    """A Parquet file; `key=value` folders above it become columns, as Spark and Hive write them."""
    hive = any("=" in part for part in path.parent.parts)
    try:
        scan = pl.scan_parquet(path, glob=False, hive_partitioning=hive)
        return _source(path, scan)
    except (pl.exceptions.PolarsError, OSError):
        raise _damaged(path, "Parquet") from None


def open_ipc(path: Path, stream: bool) -> Source:
    """An Arrow IPC (Feather) file; the stream form has no index and is read at once."""
    try:
        scan = pl.read_ipc_stream(path).lazy() if stream else pl.scan_ipc(path, glob=False)
        return _source(path, scan)
    except (pl.exceptions.PolarsError, OSError):
        raise _damaged(path, "Arrow") from None


def _damaged(path: Path, kind: str) -> InputError:
    return InputError(f"{path} is not a whole {kind} file: it is damaged or cut short.", "Copy or export it again.")


def _source(path: Path, scan: pl.LazyFrame) -> Source:
    size = path.stat().st_size
    rows = int(scan.select(pl.len()).collect().item())

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        seen = 0
        for batch in scan.select(columns).collect_batches(chunk_size=ROWS_PER_BATCH):
            seen += len(batch)
            yield batch, size * seen // max(rows, 1)
        if seen != rows:
            raise _damaged(path, "Parquet or Arrow")

    return Source(path, scan.collect_schema().names(), batches)
