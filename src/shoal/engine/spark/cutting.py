"""Sort and cut: records in the order of a rank, by exact global row numbers, of which the driver sees counts alone.

Where a record stands follows from the counts of the tuples before it. Only tuples of equal rank that are parted need
their rows: these are numbered in the order of the source, in two steps, so that no task gets all rows of a rank: within
each partition of the source, and by how many rows of the rank the partitions before it hold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.engine.base import OrderParts, RecordRuns, TooManyTuples
from shoal.engine.spark.keys import PREFIX, Keys, column
from shoal.engine.spark.placing import FIRST, LAST, ROW, PlacedTuples, numbered_in_tuples, occurrences_of, on_keys, sent
from shoal.engine.spark.session import spark_errors
from shoal.storage import Array, Table

TIED, GROUP, BEFORE, PARTITION, NUMBER, PART = (
    f"{PREFIX}{name}" for name in ("tied", "group", "before", "partition", "number", "part")
)
# rows of one partition have row numbers that differ in the lower bits only (monotonically_increasing_id)
_BITS = 33


def cut_on_cluster(table: Table, rank: Array, parts: OrderParts) -> RecordRuns:
    """Runs of a table of tuples, or of parts of them."""
    records = table.records
    assert records is not None
    order = np.argsort(rank, kind="stable")
    sizes = records[order]
    ends = np.cumsum(sizes)
    new = np.diff(rank[order], prepend=rank[order[:1]] - 1) != 0
    first = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    starts, stops = (ends - sizes)[first], np.append((ends - sizes)[first[1:]], ends[-1])
    several = np.diff(first, append=len(order)) > 1
    parted = several & (parts.of(starts) != parts.of(stops - 1))
    tied = parted[group]
    plain = RecordRuns(order[~tied], (ends - sizes)[~tied], sizes[~tied])
    if not tied.any():
        return plain
    found = _counted_by_part(table, order[tied], starts[group[tied]], parts)
    row, position, many = (np.concatenate(pair) for pair in zip(plain, found, strict=True))
    sort = np.argsort(position, kind="stable")
    return RecordRuns(row[sort], position[sort], many[sort])


def _counted_by_part(table: Table, rows: Array, start: Array, parts: OrderParts) -> RecordRuns:
    """How many records of each tied row lie in each part; `start` is where its rank starts."""
    from pyspark.sql import functions as F

    keys = table.native.keys
    limit = keys.source.driver_tuples
    with spark_errors(keys.source.name):
        numbered = _numbered(keys, _tied_rows(table, rows, start))
        part = _part_of(column(GROUP) + column(NUMBER), parts).alias(PART)
        counted = numbered.groupBy(TIED, GROUP, part).agg(F.count(F.lit(1)).alias(NUMBER))
        found = counted.limit(limit + 1).toArrow()
    if found.num_rows > limit:
        raise TooManyTuples(
            f"{keys.source.name} has more than {limit:,} records that are parted among others of equal rank.",
            "Raise spark.shoal.driver.tuples and the driver's memory, or choose another method.",
        )
    row, begins, part, records = (found.column(name).to_numpy() for name in (TIED, GROUP, PART, NUMBER))
    order = np.lexsort((row, part, begins))
    row, begins, part, records = row[order], begins[order], part[order], records[order]
    begins = np.maximum(begins, parts.start(part))
    new = np.diff(begins, prepend=-1) != 0
    before = np.cumsum(records) - records
    return RecordRuns(row, begins + before - before[new][np.cumsum(new) - 1], records)


def _tied_rows(table: Table, rows: Array, start: Array) -> Any:
    """The rows on the cluster of some rows of the table: which of them, where its rank starts, their row numbers."""
    from pyspark.sql import functions as F

    native: PlacedTuples = table.native
    keys, parted = native.keys, table.part_of is not None
    coded = keys.coded(F.monotonically_increasing_id().alias(ROW)).select(*keys.names, ROW)
    lookup = native.lookup[rows if table.part_of is None else table.part_of[rows]]
    about = lookup.with_columns(pl.Series(TIED, rows), pl.Series(GROUP, start))
    if parted:
        coded = coded.join(sent(keys, lookup.unique()), on_keys(keys), "leftsemi")
        coded = numbered_in_tuples(keys, coded)
        first, last = occurrences_of(table)
        about = about.with_columns(pl.Series(FIRST, first[rows]), pl.Series(LAST, last[rows]))
    return coded.join(sent(keys, about), on_keys(keys, parted), "inner").select(TIED, GROUP, ROW)


def _numbered(keys: Keys, rows: Any) -> Any:
    """Rows with their number within their rank, in the order of the source."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    rows = rows.withColumn(PARTITION, F.shiftright(ROW, _BITS))
    held = rows.groupBy(GROUP, PARTITION).agg(F.count(F.lit(1)).alias(BEFORE)).toArrow()
    counts = pl.DataFrame({name: pl.Series(held.column(name)) for name in (GROUP, PARTITION, BEFORE)})
    before = counts.sort(GROUP, PARTITION).with_columns(
        (pl.col(BEFORE).cum_sum().over(GROUP) - pl.col(BEFORE)).alias(BEFORE)
    )
    there = sent(keys, before.rename({GROUP: f"{GROUP}_", PARTITION: f"{PARTITION}_"}))
    same = (column(GROUP) == column(f"{GROUP}_")) & (column(PARTITION) == column(f"{PARTITION}_"))
    order = Window.partitionBy(GROUP, PARTITION).orderBy(ROW)
    number = F.row_number().over(order) - 1 + column(BEFORE)
    return rows.join(there, same, "inner").withColumn(NUMBER, number)


def _part_of(position: Any, parts: OrderParts) -> Any:
    """The part of a position, as `OrderParts.of` says it."""
    from pyspark.sql import functions as F

    if parts.starts is None:
        return F.least(F.floor(position / parts.step), F.lit(parts.count - 1).cast("long"))
    starts = F.array(*(F.lit(int(start)) for start in parts.starts))
    return F.size(F.filter(starts, lambda start: start <= position)).cast("long") - 1
