"""Back to the rows: what a tuple, or an occurrence of it, becomes is sent to the nodes and joined to its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.engine.base import OrderParts, Pairs, PairsAsked, RecordRuns, RowMap, TooManyTuples
from shoal.engine.spark.frames import EXACT, SparkSource
from shoal.engine.spark.keys import PREFIX, Keys, column
from shoal.engine.spark.order import NUMBER, numbered, released_numbers, without
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError
from shoal.storage import Array, Column, Table
from shoal.storage.encode import ColumnEncoder
from shoal.storage.reading import Options, declared_table

# rows of a map up to which every node gets it whole
BROADCAST = 2_000_000
ROW, OCCURRENCE, FIRST, LAST, KEPT = (f"{PREFIX}{name}" for name in ("row", "occurrence", "first", "last", "kept"))


@dataclass(frozen=True)
class PlacedTuples:
    """The tuples of `rows`: their keys, how often each occurs, and the order that puts rows tuple by tuple."""

    keys: Keys
    lookup: pl.DataFrame
    times: Array
    order: Array | None = None

    @property
    def source(self) -> SparkSource:
        """The rows themselves."""
        return self.keys.source


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


def placed(
    table: Table, frame: pl.DataFrame, dropped: Collection[str], kept: Array | None = None, with_numbers: bool = False
) -> Any:
    """The rows on the cluster, with what belongs to their tuple and occurrence in `frame`; rows not `kept` go."""
    native: PlacedTuples = table.native
    same = [name for name in frame.columns if name in table.columns and frame[name].equals(table[name].as_it_came())]
    changed = frame.drop(same).with_columns(pl.Series(KEPT, np.ones(table.rows, bool) if kept is None else kept))
    order, of_tuple, records = _by_tuple(table, native)
    changed = changed if order is None else changed[order]
    first = _runs(changed, of_tuple)
    of_run, ends = of_tuple[first], np.cumsum(np.add.reduceat(records, first))
    lookup = native.lookup[of_run]
    whole = len(first) == len(native.times)
    if not whole:
        start = (np.cumsum(native.times) - native.times)[of_run]
        starts = np.concatenate([[0], ends[:-1]])
        lookup = lookup.with_columns(pl.Series(FIRST, starts - start), pl.Series(LAST, ends - start - 1))
    read = {*table.columns}
    names = _in_order(native.keys.source.names, frame.columns, read, dropped)
    here = changed[first][KEPT]
    keys = native.keys
    if with_numbers:
        keys, names = replace(keys, source=replace(keys.source, frame=numbered(keys.source))), [*names, NUMBER]
    return joined(keys, lookup.filter(here), changed[first].filter(here).drop(KEPT), names, not whole)


def _by_tuple(table: Table, native: PlacedTuples) -> tuple[Array | None, Array, Array]:
    """The order that puts the rows of a table tuple by tuple, and in it the tuple and the records of each."""
    if native.order is not None:
        return native.order, np.repeat(np.arange(len(native.times)), native.times), np.ones(table.rows, np.int64)
    of_tuple = np.arange(table.rows) if table.part_of is None else table.part_of
    order = np.argsort(of_tuple, kind="stable")
    records = np.ones(table.rows, np.int64) if table.records is None else table.records
    return order, of_tuple[order], records[order]


def occurrences_of(table: Table) -> tuple[Array, Array]:
    """Of each row of a table of parts of tuples the first and the last of the tuple's records that it stands for."""
    native: PlacedTuples = table.native
    order, of_tuple, records = _by_tuple(table, native)
    ends, start = np.cumsum(records), (np.cumsum(native.times) - native.times)[of_tuple]
    first, last = np.empty(table.rows, np.int64), np.empty(table.rows, np.int64)
    first[order], last[order] = ends - records - start, ends - start - 1
    return first, last


def _runs(changed: pl.DataFrame, of_tuple: Array) -> Array:
    """Where runs start of rows of one tuple that become the same."""
    new = np.diff(of_tuple, prepend=-1) != 0
    for series in changed.iter_columns():
        new[1:] |= series.ne_missing(series.shift(1)).to_numpy()[1:]
    return np.flatnonzero(new)


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
    from pyspark.sql import functions as F

    new = {name: f"{PREFIX}new{place}" for place, name in enumerate(becomes.columns)}
    with spark_errors(keys.source.name):
        number = column(NUMBER) if NUMBER in keys.source.names else F.monotonically_increasing_id()
        rows = keys.coded(number.alias(ROW)) if by_occurrence else keys.coded()
        rows = numbered_in_tuples(keys, rows) if by_occurrence else rows
        there = sent(keys, pl.concat([lookup, becomes.rename(new)], how="horizontal"))
        out = [column(new[name]).alias(name) if name in new else column(name) for name in names]
        return rows.join(there, on_keys(keys, by_occurrence), "inner").select(*out)


def numbered_in_tuples(keys: Keys, rows: Any) -> Any:
    """Rows with their number among those of the same tuple, in the order of the source."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = Window.partitionBy(*keys.names).orderBy(ROW)
    return rows.withColumn(OCCURRENCE, F.row_number().over(order) - 1)


def sent(keys: Keys, frame: pl.DataFrame) -> Any:
    """A frame of the driver on the cluster: to all nodes where it is small."""
    from pyspark.sql import functions as F

    there = keys.source.spark.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
    return F.broadcast(there) if len(frame) <= BROADCAST else there


def on_keys(keys: Keys, by_occurrence: bool = False) -> Any:
    """Rows that have the keys of a lookup, and a number from FIRST to LAST."""
    condition: Any = None
    for name, group in zip(keys.names, keys.groups, strict=True):
        same = column(name).eqNullSafe(column(f"{name}_")) if group[0].raw else column(name) == column(f"{name}_")
        condition = same if condition is None else condition & same
    return condition & column(OCCURRENCE).between(column(FIRST), column(LAST)) if by_occurrence else condition


# A release beside its original on a cluster: rows joined by their numbers, each distinct pair counted there.


STARRED, RECORDS, OTHER = (f"{PREFIX}{name}" for name in ("starred", "records", "other_number"))


class Pairing:
    """The rows of a release and of its original, joined; in the join each column has a name of its own."""

    def __init__(
        self, released: SparkSource, original: SparkSource, options: tuple[Options | None, Options | None]
    ) -> None:
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
        return self._sides[side].kind(name)

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
        return kinds[0] == kinds[1] and kinds[0] in EXACT

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


# Sort and cut: records in the order of a rank, by exact global row numbers, of which the driver sees counts alone.
#
# Where a record stands follows from the counts of the tuples before it. Only tuples of equal rank that are parted need
# their rows: these are numbered in the order of the source, in two steps, so that no task gets all rows of a rank:
# within each partition of the source, and by how many rows of the rank the partitions before it hold.


TIED, GROUP, BEFORE, PARTITION, PART = (f"{PREFIX}{name}" for name in ("tied", "group", "before", "partition", "part"))
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
