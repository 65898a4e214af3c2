"""Rows that stay on the cluster: counted by cells, and changed part by part in Python beside the executors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import CellsOf, ChangePart
from shoal.engine.spark.frames import SparkSource, of_columns, one_changed, spark_schema
from shoal.engine.spark.keys import PREFIX, class_sizes, column
from shoal.engine.spark.marginals import Coder, OwnColumn, counted_on_cluster
from shoal.engine.spark.order import NUMBER, has_order, numbered
from shoal.engine.spark.session import spark_errors
from shoal.storage import Array, Column

CELL, RECORDS, PART, FOUND = (f"{PREFIX}{name}" for name in ("cell", "records", "part", "found"))


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


@dataclass(frozen=True)
class ClusterRows:
    """All rows of a source, and what is known of those columns that are looked at."""

    source: SparkSource
    known: RowCodes = field(default_factory=lambda: RowCodes({}, {}))

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
        from pyspark import StorageLevel
        from pyspark.sql import functions as F

        known, names = self.known, list(self.known.columns)

        def parts_of(series: Sequence[pl.Series]) -> pl.Series:
            return pl.Series(part_of(known(dict(zip(names, series, strict=True)))))

        def work(part: pl.DataFrame) -> pl.DataFrame:
            part = part.sort(NUMBER)  # a cluster brings them in any order
            number = int(part[PART][0])
            new, kept, found = change(number, known(part))
            part = part if kept is None else part.filter(pl.Series(kept))
            told = pl.Series(FOUND, [found, *[None] * (len(part) - 1)], pl.Binary)
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
            out = type(schema)([*fields, rows.schema[NUMBER], spark_schema({FOUND: pl.Binary})[FOUND]])
            out = type(schema)([type(one)(one.name, one.dataType, True) for one in out])
            spread = rows.repartition(parts, PART)
            frame = spread.groupBy(PART).applyInArrow(lambda part: one_changed(part, work), out)
            frame = frame.persist(StorageLevel.DISK_ONLY)
            progress.report("grouping on Spark", 0)
            found = frame.filter(column(FOUND).isNotNull()).select(FOUND).toArrow().column(FOUND).to_pylist()
            return frame.drop(FOUND), found

    def only(self, names: Sequence[str]) -> ClusterRows:
        """The same, of which these columns are looked at, in this order."""
        columns, coders = self.known.columns, self.known.coders
        known = RowCodes({name: columns[name] for name in names}, {name: coders[name] for name in names})
        return replace(self, known=known)

    def of(self, frame: Any) -> ClusterRows:
        """The same with other rows."""
        return replace(self, source=SparkSource(frame, self.source.name))

    def as_they_were(self, frame: Any, names: Sequence[str]) -> Any:
        """Changed rows, with some columns, of which no cell was changed, in the types that they came in."""
        types = {name: self.source.frame.schema[name].dataType for name in names}
        for name, kind in types.items():
            frame = frame.withColumn(name, column(name).cast(kind))
        return frame

    def plain(self, frame: Any) -> Any:
        """Changed rows without their numbers."""
        return frame.drop(NUMBER)

    def sizes(self, names: Sequence[str], starred: Sequence[str]) -> tuple[Array, Array, int]:
        """How many classes of each size some columns have; rows that are `*` in all of them are counted apart."""
        from pyspark.sql import functions as F

        frame, suppressed = self.source.frame, 0
        if names and all(name in starred and self.source.kind(name) == "string" for name in names):
            star = F.lit(True)
            for name in names:
                star = star & F.coalesce(column(name) == "*", F.lit(False))
            with spark_errors(self.source.name):
                suppressed = frame.filter(star).count()
            frame = frame.filter(~star) if suppressed else frame
        here = replace(self.source, frame=frame)
        if suppressed and not frame.limit(1).count():
            return np.zeros(0, np.int64), np.zeros(0, np.int64), suppressed
        return *class_sizes(here, names, F.count(F.lit(1)), None), suppressed
