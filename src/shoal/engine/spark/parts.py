"""Rows that stay on the cluster: counted by cells, and changed part by part in Python beside the executors."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import CellsOf, ChangePart, TooManyTuples
from shoal.engine.spark.frames import SparkSource, of_columns, one_changed, spark_schema
from shoal.engine.spark.keys import LARGEST_DICTIONARY, PREFIX, class_sizes, column, missing_words
from shoal.engine.spark.order import NUMBER, has_order, numbered
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.encode import ColumnEncoder
from shoal.storage.reading import Options, declared_table

CELL, PART, FOUND = (f"{PREFIX}{name}" for name in ("cell", "part", "found"))
# rows whose tuples are kept by one task, about: each task starts Python
_ROWS_OF_A_TASK = 1 << 20


@dataclass(frozen=True)
class RowCodes:
    """Rows as Spark has them -> columns in codes of the whole table's dictionaries."""

    columns: Mapping[str, Column]
    coders: Mapping[str, Coder]

    @classmethod
    def of(cls, marginals: Mapping[str, OwnColumn]) -> RowCodes:
        """By what is known of the columns."""
        return cls({n: one.column for n, one in marginals.items()}, {n: one.coder for n, one in marginals.items()})

    def __call__(self, frame: pl.DataFrame | Mapping[str, pl.Series]) -> list[Column]:
        """The columns of some rows; they know the frequencies of the whole table."""
        return [one.part(self.coders[name](frame[name])) for name, one in self.columns.items()]


def counted_tuples(source: SparkSource, names: Sequence[str], rows: int) -> SparkSource:
    """The tuples of some columns with the records of each, counted once; in few tasks, where rows are few."""
    from pyspark.sql import functions as F

    counted = source.frame.groupBy(*(column(name) for name in names)).agg(F.count(F.lit(1)).alias(RECORDS))
    tasks = min(int(source.spark.conf.get("spark.sql.shuffle.partitions")), -(-rows // _ROWS_OF_A_TASK))
    return SparkSource(worked_out_once(counted.coalesce(tasks)), source.name)


def worked_out_once(frame: Any) -> Any:
    """A frame that is kept on the disks of the cluster.

    Spark would take what it kept of an equal query for it, also where files were changed since: so no two are equal.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    return frame.filter(F.lit(uuid.uuid4().hex) != "").persist(StorageLevel.DISK_ONLY)


@dataclass(frozen=True)
class ClusterRows:
    """All rows of a source, and what is known of those columns that are looked at."""

    source: SparkSource
    known: RowCodes = field(default_factory=lambda: RowCodes({}, {}))
    # tuples of columns with the records of each, where they were counted already
    tuples: SparkSource | None = None

    def counted(self, cells_of: CellsOf) -> tuple[Array, Array]:
        """The cells that rows are in, and the records of each."""

        def count(frame: pl.DataFrame, known: RowCodes = self.known) -> pl.DataFrame:
            cells, records = np.unique(cells_of(known(frame)), return_counts=True)
            return pl.DataFrame({CELL: cells.astype(np.int64), RECORDS: records.astype(np.int64)})

        names = [column(name) for name in self.known.columns]
        schema = {CELL: pl.Int64, RECORDS: pl.Int64}
        found = counted_on_cluster(self.source.frame.select(*names), count, schema, self.source.name).sort(CELL)
        return found[CELL].to_numpy(), found[RECORDS].to_numpy()

    def numbered(self) -> Any:
        """The rows with their numbers, or where they have none with something that puts them in their order."""
        from pyspark.sql import functions as F

        if has_order(self.source):
            return numbered(self.source)
        return self.source.frame.withColumn(NUMBER, F.monotonically_increasing_id())

    def changed(
        self, part_of: CellsOf, shared: bool, change: ChangePart, dropped: Sequence[str], parts: int
    ) -> tuple[Any, list[bytes]]:
        """The rows with what `change` makes of the columns of each part, and what it found."""
        from pyspark.sql import functions as F

        known, names = self.known, list(self.known.columns)

        def parts_of(series: Sequence[pl.Series]) -> pl.Series:
            return pl.Series(part_of(known(dict(zip(names, series, strict=True)))))

        def work(part: pl.DataFrame) -> pl.DataFrame:
            part = part.sort(NUMBER)  # a cluster brings them in any order
            number = int(part[PART][0])
            new, own, members, found = change(number, known(part))
            part = part if own is None else part.filter(pl.Series(own))
            told = pl.Series(FOUND, [found, *[None] * (len(part) - 1)], pl.Binary)
            new = {**new, RECORDS: pl.Series(members)}
            part = part.with_columns(*(series.alias(name) for name, series in new.items()), told)
            return part.drop(PART)

        with spark_errors(self.source.name):
            cells = of_columns(parts_of, [column(name) for name in names])
            left = [name for name in self.source.names if name not in dropped]
            rows = self.numbered().select(*(column(name) for name in left), NUMBER, cells.alias(PART))
            if shared:  # 3 p, also in the part before: + 1, after: + 2
                here = F.expr(f"{PART} div 3")
                also = F.when(column(PART) % 3 == 0, F.array(here)).otherwise(
                    F.array(here, here + 2 * (column(PART) % 3) - 3)
                )
                rows = rows.withColumn(PART, F.explode(also))
            schema = spark_schema(dict.fromkeys(names, pl.String))
            fields = [schema[name] if name in names else rows.schema[name] for name in left]
            told = spark_schema({RECORDS: pl.Int64, FOUND: pl.Binary})
            out = type(schema)([*fields, rows.schema[NUMBER], *told])
            out = type(schema)([type(one)(one.name, one.dataType, True) for one in out])
            spread = rows.repartition(parts, PART)
            frame = worked_out_once(spread.groupBy(PART).applyInArrow(lambda part: one_changed(part, work), out))
            progress.report("grouping on Spark", 0)
            found = frame.filter(column(FOUND).isNotNull()).select(FOUND).toArrow().column(FOUND).to_pylist()
            return frame.drop(FOUND), found

    def only(self, names: Sequence[str]) -> ClusterRows:
        """The same, of which these columns are looked at, in this order."""
        columns, coders = self.known.columns, self.known.coders
        known = RowCodes({name: columns[name] for name in names}, {name: coders[name] for name in names})
        return replace(self, known=known)

    def as_they_were(self, frame: Any, names: Sequence[str]) -> tuple[Any, ClusterRows]:
        """Changed rows, with some columns, of which no cell was changed, in the types that they came in; and their
        boxes with the records of each."""
        types = {name: self.source.frame.schema[name].dataType for name in names}
        for name, kind in types.items():
            frame = frame.withColumn(name, column(name).cast(kind))
        boxes = SparkSource(frame.filter(column(RECORDS) > 0), self.source.name)
        return frame.drop(RECORDS), replace(self, tuples=boxes)

    def plain(self, frame: Any) -> Any:
        """Changed rows without their numbers."""
        return frame.drop(NUMBER)

    def sizes(self, names: Sequence[str], starred: Sequence[str]) -> tuple[Array, Array, int]:
        """How many classes of each size some columns have; rows that are `*` in all of them are counted apart."""
        from pyspark.sql import functions as F

        source = self.source if self.tuples is None else self.tuples
        star = F.lit(bool(names) and all(name in starred and source.kind(name) == "string" for name in names))
        for name in names:
            star = star & F.coalesce(column(name).cast("string") == "*", F.lit(False))
        records = F.count(F.lit(1)) if self.tuples is None else F.sum(column(RECORDS))
        sizes, classes, stars = class_sizes(source, names, records, None, star)
        return sizes[~stars], classes[~stars], int((sizes * classes)[stars].sum())


# Columns one by one: the distinct values of each with their records, of many columns in one pass over the rows.


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


def _counts(frame: pl.DataFrame, records: str | None = None) -> pl.DataFrame:
    """The values of each column of a batch; one of the columns may say how many records a row stands for."""
    found = []
    many = pl.Series("records", [1], pl.Int64).new_from_index(0, len(frame)) if records is None else frame[records]
    for place, series in enumerate(frame.drop(records or (), strict=False).iter_columns()):
        words = _in_words(series.dtype)
        values = _as_word(series) if words else series.cast(pl.String)
        counted = pl.DataFrame([values.alias("value"), many.alias("records")])
        counted = counted.group_by("value").agg(pl.col("records").sum())
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


def marginals(
    source: SparkSource, names: Sequence[str], options: Options | None, tuples: SparkSource | None = None
) -> dict[str, OwnColumn]:
    """Columns of which none has more than a million different values; from their `tuples`, where these were counted."""
    with spark_errors(source.name):
        wanted = source.frame.select(*(column(name) for name in names))
        types = pl.DataFrame(pl.from_arrow(wanted.limit(0).toArrow())).schema
    if odd := [name for name, dtype in types.items() if dtype.is_nested()]:
        raise InputError(
            f"Column '{odd[0]}' holds lists or records, not single values.",
            "Leave it out, or spread it over columns of single values first.",
        )
    progress.report("looking at the columns on Spark", 0)
    rows, count = (wanted, _counts) if tuples is None else (tuples.frame, partial(_counts, records=RECORDS))
    counts = counted_on_cluster(rows, count, _SCHEMA, source.name)
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
