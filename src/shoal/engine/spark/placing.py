"""Back to the rows: what a tuple, or an occurrence of it, becomes is sent to the nodes and joined to its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.engine.spark.keys import PREFIX, Keys, column
from shoal.engine.spark.session import spark_errors
from shoal.table import Array, Table

# rows of a map up to which every node gets it whole
BROADCAST = 2_000_000
ROW, OCCURRENCE, FIRST, LAST, KEPT = (f"{PREFIX}{name}" for name in ("row", "occurrence", "first", "last", "kept"))


@dataclass(frozen=True)
class Placed:
    """The tuples of `rows`: their keys, how often each occurs, and the order that puts rows tuple by tuple."""

    keys: Keys
    lookup: pl.DataFrame
    times: Array
    order: Array | None = None


def lookup_of(keys: Keys, table: Any) -> pl.DataFrame:
    """The keys of an arrow table of tuples, under names of their own."""
    return pl.DataFrame({f"{name}_": pl.Series(table.column(name)) for name in keys.names})


def tuple_of_each_row(keys: Keys, lookup: pl.DataFrame) -> Array:
    """The place in `lookup` of the tuple of each row, in the order of the source."""
    with spark_errors(keys.source.name):
        found = lookup_of(keys, keys.coded().select(*keys.names).toArrow())
    numbered = lookup.with_row_index("tuple")
    joined = found.join(numbered, on=lookup.columns, how="left", nulls_equal=True, maintain_order="left")
    return joined["tuple"].cast(pl.Int64).to_numpy()


def placed(table: Table, frame: pl.DataFrame, dropped: Collection[str], kept: Array | None = None) -> Any:
    """The rows on the cluster, with what belongs to their tuple and occurrence in `frame`; rows not `kept` go."""
    native: Placed = table.native
    same = [name for name in frame.columns if name in table.columns and frame[name].equals(table[name].as_it_came())]
    changed = frame.drop(same).with_columns(pl.Series(KEPT, np.ones(table.rows, bool) if kept is None else kept))
    changed = changed if native.order is None else changed[native.order]
    runs, first = _runs(changed, native.times)
    start = np.concatenate([[0], np.cumsum(native.times)])
    of_tuple = np.searchsorted(start, first, side="right") - 1
    lookup = native.lookup[of_tuple]
    whole = len(first) == len(native.times)
    if not whole:
        ends = np.append(first[1:], len(runs))
        lookup = lookup.with_columns(
            pl.Series(FIRST, first - start[of_tuple]), pl.Series(LAST, ends - start[of_tuple] - 1)
        )
    read = {*table.columns}
    names = _in_order(native.keys.source.names, frame.columns, read, dropped)
    here = changed[first][KEPT]
    return joined(native.keys, lookup.filter(here), changed[first].filter(here).drop(KEPT), names, not whole)


def _runs(changed: pl.DataFrame, times: Array) -> tuple[Array, Array]:
    """Rows of one tuple that become the same, one after the other: the run of each row, and where runs start."""
    new = np.zeros(int(times.sum()), bool)
    new[np.concatenate([[0], np.cumsum(times)[:-1]])] = True
    for series in changed.iter_columns():
        new[1:] |= series.ne_missing(series.shift(1)).to_numpy()[1:]
    return np.cumsum(new) - 1, np.flatnonzero(new)


def _in_order(
    source: Sequence[str], frame: Sequence[str], read: Collection[str], dropped: Collection[str]
) -> list[str]:
    """The columns that go out, those of the frame and those that were not read, in the order of the source."""
    left, names = list(frame), []
    for name in source:
        if name in frame:
            until = left.index(name) + 1
            names += left[:until]
            left = left[until:]
        elif name not in read and name not in dropped:
            names.append(name)
    return [*names, *left]


def joined(
    keys: Keys, lookup: pl.DataFrame, becomes: pl.DataFrame, names: Sequence[str], by_occurrence: bool = False
) -> Any:
    """The source with the columns of `becomes` joined by key; by occurrence where a tuple becomes several things."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    new = {name: f"{PREFIX}new{place}" for place, name in enumerate(becomes.columns)}
    with spark_errors(keys.source.name):
        rows = keys.coded(F.monotonically_increasing_id().alias(ROW)) if by_occurrence else keys.coded()
        if by_occurrence:
            order = Window.partitionBy(*keys.names).orderBy(ROW)
            rows = rows.withColumn(OCCURRENCE, F.row_number().over(order) - 1)
        sent = pl.concat([lookup, becomes.rename(new)], how="horizontal")
        there = keys.source.spark.createDataFrame(sent.to_arrow(compat_level=pl.CompatLevel.oldest()))
        condition = F.lit(True)
        for place, (name, group) in enumerate(zip(keys.names, keys.groups, strict=True)):
            same = column(name).eqNullSafe(column(f"{name}_")) if group[0].raw else column(name) == column(f"{name}_")
            condition = same if place == 0 else condition & same
        if by_occurrence:
            condition = condition & column(OCCURRENCE).between(column(FIRST), column(LAST))
        there = F.broadcast(there) if len(sent) <= BROADCAST else there
        out = [column(new[name]).alias(name) if name in new else column(name) for name in names]
        return rows.join(there, condition, "inner").select(*out)
