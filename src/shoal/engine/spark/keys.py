"""Packed keys on the cluster: every row's tuple as one 64-bit number (or a few), by expressions that Spark compiles.

Integers, dates and booleans are packed by their distance from the smallest; any other column by its place in a
dictionary that is collected by a distinct and sent to all nodes. No Python runs per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import TooManyTuples
from shoal.engine.spark.frames import SparkSource
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.encode import ColumnEncoder
from shoal.storage.reading import Options, declared_table

PREFIX = "__shoal_"
# values past which a column is grouped by itself and not by its place in a dictionary
LARGEST_DICTIONARY = 1_000_000
# a key is a signed word
MOST = 1 << 63
INTEGERS = ("byte", "short", "integer", "long")
_DIRECT = (*INTEGERS, "date", "boolean")


def column(name: str) -> Any:
    """A column of that exact name, whatever letters it has."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


@dataclass(frozen=True)
class Packed:
    """One column in a key: how many codes it has, and how a code becomes a value again."""

    name: str
    radix: int
    dtype: pl.DataType
    low: int = 0
    nulls: bool = False
    # of a dictionary: the values in order, and the raw values with the code of each
    values: pl.Series | None = None
    lookup: pl.DataFrame | None = None
    respelled: int = 0
    # neither: the column is a key by itself
    raw: bool = False

    @property
    def code_name(self) -> str:
        return f"{PREFIX}code_{self.name}"

    def expression(self) -> Any:
        """The code of a row."""
        from pyspark.sql import functions as F

        if self.values is not None:
            return F.coalesce(column(self.code_name), F.lit(len(self.values)).cast("long"))
        value = column(self.name)
        number = F.unix_date(value) if self.dtype == pl.Date else value
        code = number.cast("int").cast("long") if self.dtype == pl.Boolean else number.cast("long")
        code = code - F.lit(self.low)
        return F.coalesce(code, F.lit(self.radix - 1).cast("long")) if self.nulls else code

    def decoded(self, codes: Array, missing: frozenset[str] = frozenset()) -> Column:
        """The column of tuples with these codes (or, where it is a key by itself, of these values)."""
        if self.values is not None:
            nulls = int(np.count_nonzero(codes == len(self.values)))
            narrow = smallest_unsigned(len(self.values) + (nulls > 0))
            return Column(self.name, codes.astype(narrow), self.values, nulls, self.dtype, respelled=self.respelled)
        encoder = ColumnEncoder(self.name)
        numbers = pl.Series(self.name, codes + self.low)
        if self.nulls:
            numbers = pl.select(pl.when(pl.Series(codes != self.radix - 1)).then(numbers)).to_series()
        encoder.add(
            numbers.cast(pl.Int32 if self.dtype == pl.Date else numbers.dtype).cast(self.dtype).alias(self.name)
        )
        return encoder.finish()


@dataclass(frozen=True)
class Keys:
    """How some columns of a frame are packed: groups of columns, each one key."""

    source: SparkSource
    columns: list[Packed]
    rows: int
    notes: list[str] = field(default_factory=list)

    @property
    def groups(self) -> list[list[Packed]]:
        """The columns of each key; a column that is a key by itself is alone."""
        found: list[list[Packed]] = []
        limit = 1
        for one in self.columns:
            if one.raw:
                continue
            if not found or limit * one.radix > MOST:
                found.append([])
                limit = 1
            found[-1].append(one)
            limit *= one.radix
        return [*found, *([one] for one in self.columns if one.raw)]

    @property
    def names(self) -> list[str]:
        return [f"{PREFIX}key{place}" for place in range(len(self.groups))]

    def coded(self, *more: Any) -> Any:
        """The frame with its keys beside its columns."""
        from pyspark.sql import functions as F

        frame = self.source.frame
        for one in self.columns:
            if one.lookup is not None:
                there = self.source.spark.createDataFrame(_to_arrow(one.lookup.rename({"raw": f"{PREFIX}raw"})))
                there = there.withColumnRenamed("code", one.code_name)
                frame = frame.join(F.broadcast(there), column(one.name) == column(f"{PREFIX}raw"), "left")
                frame = frame.drop(f"{PREFIX}raw")
        return frame.select("*", *more, *self.expressions())

    def expressions(self) -> list[Any]:
        """The keys, by mixed radix."""
        found = []
        for name, group in zip(self.names, self.groups, strict=True):
            key = column(group[0].name) if group[0].raw else group[0].expression()
            for one in group[1:]:
                key = key * one.radix + one.expression()
            found.append(key.alias(name))
        return found

    def unpacked(self, table: Any, missing: frozenset[str] = frozenset()) -> dict[str, Column]:
        """The columns of an arrow table with the keys of tuples."""
        found: dict[str, Column] = {}
        for name, group in zip(self.names, self.groups, strict=True):
            if group[0].raw:
                encoder = ColumnEncoder(group[0].name, self.source.from_text_file, missing)
                encoder.add(pl.Series(group[0].name, table.column(name)))
                found[group[0].name] = encoder.finish()
                continue
            rest = table.column(name).to_numpy()
            for one in reversed(group):
                above = rest // one.radix
                found[one.name] = one.decoded(rest - above * one.radix)
                rest = above
        return {one.name: found[one.name] for one in self.columns}


def _to_arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def make_keys(source: SparkSource, names: Sequence[str], missing: frozenset[str] = frozenset()) -> Keys:
    """Look at the columns: the ends of numbers in one pass, the distinct values of others in a pass each."""
    from pyspark.sql import functions as F

    if absent := [name for name in names if name not in source.names]:
        raise InputError.missing_columns(absent, source.names, source.name)
    types = {entry.name: entry.dataType.typeName() for entry in source.frame.schema}
    direct = [name for name in names if types[name] in _DIRECT and not source.from_text_file]
    asked = [F.count(F.lit(1)).alias("rows")]
    for place, name in enumerate(direct):
        value = column(name)
        value = (
            F.unix_date(value) if types[name] == "date" else value.cast("int") if types[name] == "boolean" else value
        )
        asked += [F.min(value).alias(f"low{place}"), F.max(value).alias(f"high{place}")]
        asked.append(F.count(value).alias(f"known{place}"))
    with spark_errors(source.name):
        ends = source.frame.agg(*asked).toArrow().to_pylist()[0]
        if ends["rows"] == 0:
            raise InputError(f"{source.name} has no rows.", "Nothing can be measured on an empty table.")
        found, notes = [], list[str]()
        for name in names:
            if name in direct:
                place = direct.index(name)
                low, high, known = (ends[f"{what}{place}"] for what in ("low", "high", "known"))
                found.append(_by_ends(source, name, low, high, known, ends["rows"]))
            else:
                found.append(_by_dictionary(source, name, missing, notes))
    if notes:
        notes = [f"{', '.join(notes)}: words such as NA are read as text; --missing NA reads them as missing"]
    return Keys(source, found, ends["rows"], notes)


def _dtype(source: SparkSource, name: str) -> pl.DataType:
    words: dict[str, Any] = {
        "byte": pl.Int8(), "short": pl.Int16(), "integer": pl.Int32(), "long": pl.Int64(), "date": pl.Date(),
        "boolean": pl.Boolean(),
    }  # fmt: skip
    found: pl.DataType = words[source.frame.schema[name].dataType.typeName()]
    return found


def _by_ends(source: SparkSource, name: str, low: int | None, high: int | None, known: int, rows: int) -> Packed:
    dtype = _dtype(source, name)
    if low is None or high is None:
        return Packed(name, 1, dtype, 0, True)
    nulls = known < rows
    radix = high - low + 1 + nulls
    if radix > MOST:
        return Packed(name, 0, dtype, raw=True)
    return Packed(name, radix, dtype, low, nulls)


def _by_dictionary(source: SparkSource, name: str, missing: frozenset[str], notes: list[str]) -> Packed:
    from shoal.storage.texts import has_missing_words

    kind = source.frame.schema[name].dataType.typeName()
    if kind in ("array", "map", "struct", "variant"):
        raise InputError(
            f"Column '{name}' holds lists or records, not single values.",
            "Leave it out, or spread it over columns of single values first.",
        )
    values = source.frame.select(column(name).alias("raw")).distinct()
    seen = pl.Series("raw", values.limit(LARGEST_DICTIONARY + 1).toArrow().column("raw"))
    if len(seen) > LARGEST_DICTIONARY:
        return Packed(name, 0, seen.dtype, raw=True)
    seen = seen.drop_nulls()
    encoder = ColumnEncoder(name, source.from_text_file, missing)
    encoder.add(seen)
    made = encoder.finish()
    if source.from_text_file and has_missing_words(made.values):
        notes.append(name)
    lookup = pl.DataFrame({"raw": seen, "code": made.codes.astype(np.int64)})
    radix = len(made.values) + 1
    return Packed(name, radix, made.dtype, 0, True, made.values, lookup, made.respelled)


# The count table: tuples are counted by Spark's own aggregation on packed keys, and unpacked on the driver.


COUNT, MARK = f"{PREFIX}count", f"{PREFIX}mark"


def missing_words(options: Options | None) -> frozenset[str]:
    """The words that are read as missing."""
    return frozenset(() if options is None else options.missing)


def tuples(
    source: SparkSource, names: Sequence[str], options: Options | None, weight: str | None = None
) -> tuple[Table, Array, Keys, Any]:
    """The distinct tuples of columns as a table, how often each occurs, the keys, and those of each tuple.

    `weight` names a column that says how many records a row stands for.
    """
    from pyspark.sql import functions as F

    progress.report("counting on Spark", 0)
    missing = missing_words(options)
    keys = make_keys(source, names, missing)
    limit = source.driver_tuples
    with spark_errors(source.name):
        records = F.count(F.lit(1)) if weight is None else F.sum(column(weight).cast("long"))
        counted = keys.coded().groupBy(*keys.names).agg(records.alias(COUNT))
        if keys.rows > limit and (there := counted.count()) > limit:
            raise _too_many(source.name, names, there, limit)
        table = counted.toArrow()
    found = keys.unpacked(table, missing)
    about = Table(found, table.num_rows, source.name, tuple(keys.notes), None, tuple(source.names))
    about = about if options is None else declared_table(about, options)
    return about, table.column(COUNT).to_numpy(), keys, table


def class_sizes(
    source: SparkSource, names: Sequence[str], records: Any, options: Options | None, mark: Any = None
) -> tuple[Array, Array, Array]:
    """How many classes there are of each size, and of each those that a condition on their values marks: two
    aggregations on the cluster, no tuple leaves it."""
    from pyspark.sql import functions as F

    rows, by = source.frame, [column(name) for name in names]
    if not source.are_exact(names):
        keys = make_keys(source, names, missing_words(options))
        rows, by = keys.coded(), [column(name) for name in keys.names]
    marked = (F.lit(False) if mark is None else mark).alias(MARK)
    classes = rows.groupBy(*by, marked).agg(records.alias(COUNT)).filter(column(COUNT) > 0)
    with spark_errors(source.name):
        found = classes.groupBy(COUNT, MARK).agg(F.count(F.lit(1)).alias("classes")).toArrow()
    sizes = pl.DataFrame(pl.from_arrow(found)).sort(COUNT, MARK)
    return sizes[COUNT].to_numpy(), sizes["classes"].to_numpy(), sizes[MARK].to_numpy()


def _too_many(source: str, names: Sequence[str], there: int, limit: int) -> TooManyTuples:
    """The tuples, or the values of one column, do not fit the driver.

    >>> print(_too_many("claims", ["id"], 90, 40))
    Column 'id' of claims has 90 different values; the driver takes 40. ...
    """
    raised = "Raise spark.shoal.driver.tuples and the driver's memory (100 bytes per {})"
    if len(names) == 1:
        return TooManyTuples(
            f"Column '{names[0]}' of {source} has {there:,} different values; the driver takes {limit:,}.",
            f"{raised.format('value')}, or leave the column out.",
        )
    return TooManyTuples(
        f"{source} has {there:,} different tuples in these columns; the driver takes {limit:,}.",
        f"{raised.format('tuple')}, or name fewer columns.",
    )
