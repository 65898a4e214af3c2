"""Writers of the formats that shoal writes by itself, without labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import polars.selectors as cs

from shoal.errors import InputError
from shoal.storage.formats.cells import exact_as_floats
from shoal.storage.formats.labels import Labels

# Records that stand together in a Parquet or Arrow file, however they come to be written
ROW_GROUP = 1 << 17


def write_parquet(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A Parquet file."""
    frame.write_parquet(path, row_group_size=ROW_GROUP)


def write_arrow(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """An Arrow IPC file, which Feather is another name of."""
    frame.write_ipc(path, record_batch_size=ROW_GROUP)


def write_json_lines(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """One JSON object per line; JSON has no times, so they are texts with all their digits, as they are read back."""
    frame.with_columns(times_as_texts()).write_ndjson(path)


def times_as_texts() -> pl.Expr:
    """Columns of times as texts with microseconds, and the zone where there is one.

    >>> from datetime import datetime
    >>> pl.DataFrame({"at": [datetime(2020, 1, 2, 3)]}).select(times_as_texts()).item()
    '2020-01-02 03:00:00.000000'
    """
    return cs.datetime().dt.cast_time_unit("us").cast(pl.String)


def zoned_as_texts() -> pl.Expr:
    """Columns of times with a zone as texts that say it, as they are read back; a text file has a type for the others.

    >>> from datetime import UTC, datetime
    >>> pl.DataFrame({"at": [datetime(2020, 1, 2, 3, tzinfo=UTC)]}).select(zoned_as_texts()).item()
    '2020-01-02 03:00:00.000000+00:00'
    """
    return cs.datetime(time_zone="*").dt.cast_time_unit("us").cast(pl.String)


def write_csv(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A text file with commas, or with tabs where its extension says so."""
    frame.with_columns(zoned_as_texts()).write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")


def write_avro(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """An Avro file; types that Avro does not have are widened or written as text."""
    if odd := frame.select(cs.duration()).columns:
        raise InputError(
            f"Column '{odd[0]}' has a type that Avro files cannot hold.", "Write .parquet, or turn it into text."
        )
    frame = frame.with_columns(zoned_as_texts()).with_columns(cs.datetime("ns").dt.cast_time_unit("us"))
    frame.with_columns(_for_avro(frame)).write_avro(path, compression="deflate", name="table")


def _for_avro(frame: pl.DataFrame) -> list[pl.Expr]:
    """Small whole numbers as larger ones, and what has no type there as text."""
    small = [name for name, dtype in frame.schema.items() if dtype in (pl.Int8, pl.Int16, pl.UInt8, pl.UInt16)]
    large = [name for name, dtype in frame.schema.items() if dtype == pl.UInt32]
    decimals = [name for name, dtype in frame.schema.items() if dtype == pl.Decimal and exact_as_floats(frame[name])]
    odd = (pl.UInt64, pl.Decimal, pl.Time, pl.Categorical, pl.Enum, pl.Int128, pl.Null)
    texts = [name for name, dtype in frame.schema.items() if dtype in odd and name not in decimals]
    floats = pl.col(decimals).cast(pl.String).cast(pl.Float64)
    return [pl.col(small).cast(pl.Int32), pl.col(large).cast(pl.Int64), floats, pl.col(texts).cast(pl.String)]
