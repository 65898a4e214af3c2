"""A release beside its original on a cluster: rows joined by their numbers, each distinct pair counted there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import Pairs, PairsAsked, RowMap, TooManyTuples
from shoal.engine.spark.frames import Source
from shoal.engine.spark.keys import PREFIX, column
from shoal.engine.spark.order import NUMBER, numbered, released_numbers, without
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.reading import Options, declared_table
from shoal.table import Column, Table
from shoal.table.encode import ColumnEncoder

STARRED, RECORDS, OTHER = (f"{PREFIX}{name}" for name in ("starred", "records", "other_number"))
# types whose values are equal exactly where Spark says so
_EXACT = ("byte", "short", "integer", "long", "date", "boolean", "string")


class Pairing:
    """The rows of a release and of its original, joined; in the join each column has a name of its own."""

    def __init__(self, released: Source, original: Source, options: tuple[Options | None, Options | None]) -> None:
        self._sides = (released, original)
        self._options = options
        self._names = tuple(
            {name: f"{PREFIX}{side}{place}" for place, name in enumerate(source.names)}
            for side, source in zip(("shown", "was"), self._sides, strict=True)
        )

    def pairs(self, rows: int, row_map: RowMap, asked: Sequence[PairsAsked], starred: Sequence[str]) -> Iterator[Pairs]:
        """Each distinct pair of what was asked for, one question after the other; rows are joined once."""
        from pyspark import StorageLevel

        used = (
            {*starred, *(name for one in asked for name in one.shown)},
            {name for one in asked for name in one.was},
        )
        joined = self._joined(rows, row_map, used, starred).persist(StorageLevel.DISK_ONLY)
        try:
            for place, one in enumerate(asked):
                progress.report("comparing on Spark", place, len(asked))
                yield self._counted(joined, one, rows - len(row_map.removed))
        finally:
            joined.unpersist()

    def _joined(self, rows: int, row_map: RowMap, used: tuple[set[str], set[str]], starred: Sequence[str]) -> Any:
        from pyspark.sql import functions as F

        shown, was = (
            numbered(source).select(*(column(name).alias(new) for name, new in names.items() if name in kept), NUMBER)
            for source, names, kept in zip(self._sides, self._names, used, strict=True)
        )
        name = self._sides[1].name
        was = released_numbers(
            without(was, row_map.removed, rows, name), row_map.seed, rows - len(row_map.removed), name
        )
        texts = all(self._type(0, one) == "string" for one in starred)
        suppressed = F.lit(bool(starred) and texts)
        for one in starred if texts else ():
            suppressed = suppressed & F.coalesce(column(self._names[0][one]) == "*", F.lit(False))
        was = was.withColumnRenamed(NUMBER, OTHER)
        return shown.withColumn(STARRED, suppressed).join(was, column(NUMBER) == column(OTHER))

    def _type(self, side: int, name: str) -> str:
        return str(self._sides[side].frame.schema[name].dataType.typeName())

    def _counted(self, joined: Any, asked: PairsAsked, rows: int) -> Pairs:
        from pyspark.sql import functions as F

        wanted = zip(self._names, (asked.shown, asked.was), strict=True)
        sides = [[names[one] for one in some] for names, some in wanted]
        differing = asked.differing and self._exact(asked)
        if differing:
            joined = joined.filter(~column(sides[0][0]).eqNullSafe(column(sides[1][0])))
        counted = joined.groupBy(*sides[0], *sides[1], STARRED).agg(F.count(F.lit(1)).alias(RECORDS))
        limit, name = self._sides[1].driver_tuples, self._sides[0].name
        with spark_errors(name):
            if rows > limit and (there := counted.count()) > limit:
                raise TooManyTuples(
                    f"{name} has {there:,} different pairs of what column '{asked.was[0]}' was and is; the driver "
                    f"takes {limit:,}.",
                    "Raise spark.shoal.driver.tuples and the driver's memory (100 bytes per pair).",
                )
            found = counted.toArrow()
        records = found.column(RECORDS).to_numpy()
        if not differing and int(records.sum()) != rows:
            raise InputError(f"The files of {name} or of its original were changed meanwhile.", "Run it again.")
        shown, was = (self._columns(side, some, found) for side, some in enumerate((asked.shown, asked.was)))
        return Pairs(shown, was, np.asarray(found.column(STARRED).to_numpy(zero_copy_only=False), bool), records)

    def _exact(self, asked: PairsAsked) -> bool:
        """Whether pairs of equal values need not be looked at: Spark and shoal tell the same values apart."""
        if any(source.from_text_file for source in self._sides) or len(asked.shown) != 1:
            return False
        kinds = (self._type(0, asked.shown[0]), self._type(1, asked.was[0]))
        return kinds[0] == kinds[1] and kinds[0] in _EXACT

    def _columns(self, side: int, names: Sequence[str], found: Any) -> Mapping[str, Column]:
        """The columns of one side, as a reader of its files finds them."""
        options, source = self._options[side], self._sides[side]
        missing = frozenset(() if options is None else options.missing)
        columns = {}
        for name in names:
            encoder = ColumnEncoder(name, source.from_text_file, missing)
            encoder.add(pl.Series(name, found.column(self._names[side][name])))
            columns[name] = encoder.finish()
        table = Table(columns, found.num_rows, source.name, (), None, tuple(source.names))
        return table.columns if options is None else declared_table(table, options).columns
