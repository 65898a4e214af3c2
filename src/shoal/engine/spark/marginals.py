"""Columns one by one: the distinct values of each with their records, of many columns in one pass over the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import TooManyTuples
from shoal.engine.spark.frames import SparkSource, spark_schema
from shoal.engine.spark.keys import LARGEST_DICTIONARY, PREFIX, column, missing_words
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.encode import ColumnEncoder
from shoal.storage.reading import Options, declared_table

PLACE, WORD, TEXT, RECORDS = (f"{PREFIX}{name}" for name in ("place", "word", "text", "records"))
_SCHEMA = {PLACE: pl.Int32, WORD: pl.Int64, TEXT: pl.String, RECORDS: pl.Int64}
# counts that a task holds before it adds them up
_HELD = 1 << 20
# integers that lie so close have a table of their codes
_NEAR = 1 << 22


class Coder(NamedTuple):
    """The code of each value as Spark has it; what is not there is null."""

    raw: pl.Series
    codes: Array
    null: int

    def __call__(self, series: pl.Series) -> Array:
        """The codes of some rows.

        >>> Coder(pl.Series([30, 51]), np.array([0, 1]), 2)(pl.Series([51, None, 30])).tolist()
        [1, 2, 0]
        """
        dtype = smallest_unsigned(self.null + 1)
        if _in_words(self.raw.dtype) and not self.raw.dtype.is_float() and len(self.raw):
            raw = self.raw.to_physical().cast(pl.Int64).to_numpy()
            low, high = int(raw.min()), int(raw.max())
            if high - low < _NEAR:
                table = np.full(high - low + 2, self.null, dtype)
                table[raw - low] = self.codes
                word = series.to_physical().cast(pl.Int64).fill_null(high + 1).to_numpy()
                return np.asarray(table[word - low])
        known = pl.DataFrame({"raw": self.raw, "code": self.codes.astype(np.int64)})
        rows = pl.DataFrame({"raw": series.cast(self.raw.dtype)})
        found = rows.join(known, on="raw", how="left", nulls_equal=True, maintain_order="left")["code"]
        return found.fill_null(self.null).to_numpy().astype(dtype)


class OwnColumn(NamedTuple):
    """One column by itself, whose codes are each of its values once; and how its rows are coded."""

    column: Column
    coder: Coder


def _in_words(dtype: pl.DataType) -> bool:
    """Whether a value is one 64-bit word."""
    return dtype.is_integer() or dtype.is_float() or dtype in (pl.Boolean, pl.Date) or isinstance(dtype, pl.Datetime)


def _as_word(series: pl.Series) -> pl.Series:
    if series.dtype.is_float():  # by their bits, so that every value is itself
        bits = pl.Series(series.cast(pl.Float64).fill_null(0.0).to_numpy().view(np.int64))
        return pl.select(pl.when(series.is_not_null()).then(bits)).to_series()
    return series.to_physical().cast(pl.Int64)


def _of_word(words: pl.Series, dtype: pl.DataType) -> pl.Series:
    if dtype.is_float():
        return pl.Series(words.to_numpy().view(np.float64)).cast(dtype)
    return words.cast(pl.Int8 if dtype == pl.Boolean else pl.Int32 if dtype == pl.Date else pl.Int64).cast(dtype)


def _counts(frame: pl.DataFrame) -> pl.DataFrame:
    """The values of each column of a batch."""
    found = []
    for place, series in enumerate(frame.iter_columns()):
        words = _in_words(series.dtype)
        values = _as_word(series) if words else series.cast(pl.String)
        counted = values.alias("value").value_counts(name="records")
        nothing = pl.lit(None)
        found.append(
            counted.select(
                pl.lit(place, pl.Int32).alias(PLACE),
                (pl.col("value") if words else nothing).cast(pl.Int64).alias(WORD),
                (nothing if words else pl.col("value")).cast(pl.String).alias(TEXT),
                pl.col("records").cast(pl.Int64).alias(RECORDS),
            )
        )
    return pl.concat(found)


def added_up(counts: pl.DataFrame) -> pl.DataFrame:
    """Counts of the same, together; what is counted is told by all columns but the last."""
    *keys, records = counts.columns
    return counts.group_by(keys).agg(pl.col(records).sum())


def _folded(batches: Iterator[Any], count: Callable[[pl.DataFrame], pl.DataFrame]) -> Iterator[Any]:
    """What a task counts in all its batches."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(count(pl.DataFrame(pl.from_arrow(batch))))
        if sum(map(len, held)) > _HELD:
            held = [added_up(pl.concat(held))]
    if held:
        yield from added_up(pl.concat(held)).to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def counted_on_cluster(
    frame: Any, count: Callable[[pl.DataFrame], pl.DataFrame], schema: Mapping[str, Any], where: str
) -> pl.DataFrame:
    """What `count` finds in batches of rows, added up where the rows are; the last column is how many."""
    from pyspark.sql import functions as F

    *keys, records = schema
    with spark_errors(where):
        counted = frame.mapInArrow(partial(_folded, count=count), spark_schema(schema))
        found = counted.groupBy(*keys).agg(F.sum(records).alias(records)).toArrow()
    return pl.DataFrame(pl.from_arrow(found))


def marginals(source: SparkSource, names: Sequence[str], options: Options | None) -> dict[str, OwnColumn]:
    """Columns of which none has more than a million different values."""
    with spark_errors(source.name):
        wanted = source.frame.select(*(column(name) for name in names))
        types = pl.DataFrame(pl.from_arrow(wanted.limit(0).toArrow())).schema
    if odd := [name for name, dtype in types.items() if dtype.is_nested()]:
        raise InputError(
            f"Column '{odd[0]}' holds lists or records, not single values.",
            "Leave it out, or spread it over columns of single values first.",
        )
    progress.report("looking at the columns on Spark", 0)
    counts = counted_on_cluster(wanted, _counts, _SCHEMA, source.name)
    found = {}
    for place, name in enumerate(names):
        own = counts.filter(pl.col(PLACE) == place)
        if len(own) > LARGEST_DICTIONARY:
            raise TooManyTuples(
                f"Column '{name}' of {source.name} has more than {LARGEST_DICTIONARY:,} different values.",
                "Leave it out of the quasi-identifiers, or coarsen it first.",
            )
        found[name] = _marginal(source, name, types[name], own, options)
    return found


def _marginal(
    source: SparkSource, name: str, dtype: pl.DataType, counts: pl.DataFrame, options: Options | None
) -> OwnColumn:
    key = WORD if _in_words(dtype) else TEXT
    known = counts.filter(pl.col(key).is_not_null()).sort(key)
    raw = _of_word(known[key], dtype) if key == WORD else known[key].cast(dtype)
    encoder = ColumnEncoder(name, source.from_text_file, missing_words(options))
    encoder.add(raw.alias(name))
    made = encoder.finish()
    if options is not None:
        made = declared_table(Table({name: made}, len(raw), source.name), options)[name]
    values = len(made.values)
    records = np.bincount(made.codes, known[RECORDS].to_numpy(), values + 1).astype(np.int64)
    records[-1] += counts.filter(pl.col(key).is_null())[RECORDS].sum()
    nulls = int(records[-1])
    codes = np.arange(values + (nulls > 0)).astype(smallest_unsigned(values + 1))
    one = Column(
        name, codes, made.values, nulls, made.dtype, None, made.respelled, made.declared, records[: len(codes)]
    )
    return OwnColumn(one, Coder(raw, made.codes, values))
