"""The columns of many rows as they are written, in codes: what a Parquet file of them is made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from shoal import progress
from shoal.anonymization.results import Anonymized
from shoal.formats.full_disk import filling_disk
from shoal.releases.parquet_codes import CodedColumn, write_coded
from shoal.table import Array, Column
from shoal.table.encode import encode
from shoal.writing import sync

# From so many rows on a file is written from codes, whoever writes it: then it is the same byte by byte.
FROM_ROWS = 1 << 18
# Records that stand together in such a file: of fewer, more of the dictionaries would be the same again.
ROW_GROUP = 1 << 19


def coded_result(result: Anonymized, rows: int, target: Path) -> list[CodedColumn] | None:
    """The columns of a result that is released with so many rows; None where they are not written from codes."""
    if not _from_codes(result, rows, target):
        return None
    gone, found = set(result.policy.with_role("identifier")), []
    for name, own in result.table.columns.items():
        if name not in gone:
            shown = [own] if name not in result.columns else result.columns[name].encoded
            found += [_coded(column) for column in shown]
    return _if_all(found)


def coded_frame(result: Anonymized, frame: pl.DataFrame, target: Path) -> list[CodedColumn] | None:
    """The columns of a frame that a result is released as; None where they are not written from codes."""
    if not _from_codes(result, len(frame), target):
        return None
    return _if_all([_coded(encode(series)) for series in frame])


def write_groups(columns: Sequence[CodedColumn], draft: Path, rows: int, order: Array | None = None) -> None:
    """Write so many rows as a Parquet file, in an `order` of them, if any."""

    def groups() -> Iterator[slice | Array]:
        for start in range(0, rows, ROW_GROUP):
            stop = min(start + ROW_GROUP, rows)
            yield slice(start, stop) if order is None else order[start:stop]
            progress.report("writing", stop, rows)

    write_coded(draft, columns, groups())


def write_coded_frame(columns: Sequence[CodedColumn], frame: pl.DataFrame, draft: Path, target: Path) -> None:
    """Write the columns of a frame as a Parquet file, down to the disk."""
    with filling_disk(draft, target, lambda: frame.estimated_size()):
        write_groups(columns, draft, len(frame))
    sync(draft)


def _from_codes(result: Anonymized, rows: int, target: Path) -> bool:
    """Not few rows, no other format than Parquet, no text that was scrubbed, nothing spelled as declared, no means."""
    if rows <= FROM_ROWS or target.suffix.lower() != ".parquet" or result.policy.with_role("text"):
        return False
    spelled = any(column.declared is not None for column in result.table.columns.values())
    return not spelled and all(entry.form.decimals is None for entry in result.columns.values())


def _coded(column: Column) -> CodedColumn:
    if column.written is not None and column.written[1].dtype.is_float():  # 0.0 and -0.0 apart; the last is null
        return CodedColumn(column.name, column.written[0], column.written[1][:-1])
    texts = isinstance(column.dtype, (pl.Categorical, pl.Enum))
    return CodedColumn(column.name, column.codes, column.values.cast(pl.String() if texts else column.dtype))


def _if_all(columns: list[CodedColumn]) -> list[CodedColumn] | None:
    apart = len({column.name for column in columns}) == len(columns)
    return columns if apart and all(column.is_written for column in columns) else None
