"""The engine for a cluster: Spark counts packed keys; the driver sees tuples, and one key per row in `rows`."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.engine.base import (
    CheckDraft,
    Counted,
    Engine,
    OrderParts,
    Pairs,
    PairsAsked,
    RecordRuns,
    RowMap,
    SizeHistogram,
    TupleRecoding,
    names_to_count,
)
from shoal.engine.local import LOCAL
from shoal.engine.spark.frames import SparkSource, open_source
from shoal.engine.spark.keys import INTEGERS, PREFIX, class_sizes, column, tuples
from shoal.engine.spark.order import NUMBER, has_order, in_secret_order, left_out, without
from shoal.engine.spark.order import numbered as with_numbers
from shoal.engine.spark.parts import ClusterRows, RowCodes, counted_tuples, marginals
from shoal.engine.spark.placing import (
    Pairing,
    PlacedTuples,
    cut_on_cluster,
    joined,
    lookup_of,
    placed,
    tuple_of_each_row,
)
from shoal.engine.spark.session import spark_errors
from shoal.errors import InputError, Message
from shoal.policy.manifest import OWNERS_ENDINGS
from shoal.storage import Array, Column, Table
from shoal.storage.classes import class_of_each_row, pack
from shoal.storage.reading import Options
from shoal.storage.rows import Rows, weights_of
from shoal.storage.tuples import tuples_of
from shoal.storage.writing import hash_of_files

# Rows that leave a cluster: a folder of Parquet files, staged beside its place and visible whole by one rename.


DRAWN = f"{PREFIX}drawn"
# files that only the owner of a release may read


def write_folder(
    frame: Any,
    path: str | Path,
    check: CheckDraft | None = None,
    shuffle: int | None = None,
    rows: int | None = None,
    missing: int = 0,
) -> None:
    """Write a frame as Parquet; a run that ends early leaves at most a folder whose name starts with a point.

    What `check` gives stands beside the folder before that takes its name, which is what makes the release one.
    """
    from pyspark.sql import functions as F

    target = str(path).rstrip("/")
    folder, slash, name = target.rpartition("/")
    staged = f"{folder}{slash}.{name}.{uuid.uuid4().hex}.staged.parquet"
    place = _Place(frame.sparkSession, target)
    if place.exists(target):
        raise InputError(f"{target} exists already.", "Name another folder, or remove it first.")
    beside: list[str] = []
    try:
        with spark_errors(target):
            removed: Sequence[int] = ()
            if NUMBER in frame.columns and shuffle is not None and rows is not None:
                removed, frame = _in_order(frame, shuffle, rows, missing)
            elif shuffle is not None:  # by a number drawn for each row, over all files and within each
                drawn = frame.withColumn(DRAWN, F.rand(shuffle % (1 << 62)))
                frame = drawn.repartition(DRAWN).sortWithinPartitions(DRAWN).drop(DRAWN)
            frame.write.mode("error").parquet(staged)
            files = {} if check is None else check(staged, folder_sha256(frame.sparkSession, staged), removed)
        for other, content in files.items():
            beside.append(f"{folder}{slash}{other}")
            place.write(beside[-1], content, owners=other.endswith(OWNERS_ENDINGS))
        place.rename(staged, target)
        beside.clear()
    finally:
        place.remove(staged)
        for other in beside:
            place.remove(other)


def _in_order(frame: Any, seed: int, rows: int, missing: int) -> tuple[list[int], Any]:
    """The numbers of the rows that were left out, and the others in the secret order of their release."""
    removed = left_out(frame, rows, "the release").tolist() if missing else []
    return removed, in_secret_order(without(frame, removed, rows, "the release"), seed, rows - len(removed))


def folder_sha256(spark: Any, folder: str) -> str:
    """The SHA-256 of a folder, by those of its files, which the cluster computes: see `writing.sha256`."""
    from pyspark.sql import functions as F

    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(folder)
    found = files.select("path", F.sha2("content", 256).alias("hash")).toArrow().to_pylist()
    return hash_of_files({entry["path"].rpartition("/")[2]: entry["hash"] for entry in found})


class _Place:
    """The file system of a path: Hadoop's, which knows every scheme; that of this machine for a plain path of it."""

    def __init__(self, spark: Any, path: str) -> None:
        gateway = getattr(spark, "_jvm", None)
        if gateway is None:
            raise InputError(
                "A release is written by the driver of a classic Spark session, not through Spark Connect.",
                "Run shoal on the cluster itself, or write `frame` by your own means and verify it.",
            )
        self._path = gateway.org.apache.hadoop.fs.Path
        self._permission = gateway.org.apache.hadoop.fs.permission.FsPermission
        self._files = self._path(path).getFileSystem(spark._jsc.hadoopConfiguration())
        self._files.setWriteChecksum(False)  # no .crc beside a manifest

    def exists(self, path: str) -> bool:
        return bool(self._files.exists(self._path(path)))

    def rename(self, old: str, new: str) -> None:
        if not self._files.rename(self._path(old), self._path(new)):
            raise InputError(f"{new} could not be given its name.", "Check the rights on the folder above it.")

    def write(self, path: str, content: bytes, owners: bool = False) -> None:
        stream = self._files.create(self._path(path), True)
        if owners:  # before anything is in it
            self._files.setPermission(self._path(path), self._permission("600"))
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def remove(self, path: str) -> None:
        if self.exists(path):
            self._files.delete(self._path(path), True)


class SparkEngine(Engine):
    """Files and data frames of a cluster."""

    name = "spark"
    keeps_rows = True

    def count(
        self,
        source: Any,
        columns: Sequence[str] | None = None,
        *,
        without: Collection[str] = (),
        count: str | None = None,
        person: str | None = None,
        options: Options | None = None,
    ) -> Counted:
        """Count the tuples of columns by Spark's own aggregation."""
        opened = open_source(source, options)
        extra = [name for name in (count, person) if name is not None]
        names = names_to_count(opened.names, columns, {*without, *extra})
        if not names:
            return Counted({}, np.zeros(0, np.int64), None, opened.name, (), tuple(opened.names))
        weight = None
        if count is not None and person is None and _is_whole_number(opened, count, options):
            weights_of(tuples(opened, [count], options)[0][count])  # refuses what is not a count
            extra, weight = [], count
        table, times, _, _ = tuples(opened, [*names, *extra], options, weight)
        about = (opened.name, table.notes, tuple(opened.names))
        if person is not None:
            every = np.repeat(np.arange(table.rows), times)
            rows = Rows.of(table.take(every), names, count, person)
            return Counted({one.name: one for one in rows.columns}, rows.ones, rows.person, *about)
        weights = times if count is None or weight is not None else times * weights_of(table[count])
        kept = table if count is None else table.take(weights > 0)
        found, counts = tuples_of({name: kept[name] for name in names}, weights[weights > 0])
        return Counted(found, counts, None, *about)

    def sizes(
        self,
        source: Any,
        sets: Sequence[Sequence[str]],
        *,
        count: str | None = None,
        without_nulls: Sequence[str] = (),
        options: Options | None = None,
    ) -> list[SizeHistogram]:
        """Histograms of class sizes: two aggregations on the cluster for each set, no tuple leaves it."""
        from pyspark.sql import functions as F

        opened = open_source(source, options)
        _check_undeclared(options)
        if count is not None:
            weights_of(tuples(opened, [count], options)[0][count])  # refuses what is not a count
        frame, removed = opened.frame, 0
        records = F.count(F.lit(1)) if count is None else F.sum(column(count).cast("long"))
        with spark_errors(opened.name):
            if without_nulls:
                whole = F.lit(True)
                for name in without_nulls:
                    whole = whole & column(name).isNotNull()
                removed = (
                    frame.filter(~whole).agg(F.coalesce(records, F.lit(0)).alias("n")).toArrow().to_pylist()[0]["n"]
                )
                frame = frame.filter(whole)
            found = []
            for names in sets:
                here = SparkSource(frame, opened.name, opened.from_text_file)
                found.append(SizeHistogram(*class_sizes(here, names, records, options)[:2], removed))
        return found

    def rows(
        self,
        source: Any,
        columns: Sequence[str] | None = None,
        options: Options | None = None,
        *,
        needed: Sequence[str] | None = None,
        by_tuple: int | None = None,
        by_part: int | None = None,
    ) -> Table:
        """The tuples, each with its records; in the order of the source their keys are brought, row by row."""
        opened = open_source(source, options)
        there = names_to_count(opened.names, columns)
        if absent := [name for name in [*there, *(needed or ())] if name not in opened.names]:
            raise InputError.missing_columns(absent, opened.names, opened.name)
        names = there if needed is None else [name for name in opened.names if name in needed]
        beside = ClusterColumns(self, opened, [name for name in there if name not in names], options)
        if not names:
            return _no_columns(opened, beside)
        if by_part is not None and (table := _where_it_is(opened, names, beside, options, by_part)) is not None:
            return table
        table, times, keys, found = tuples(opened, names, options)
        lookup = lookup_of(keys, found)
        if by_tuple is not None and keys.rows >= by_tuple:
            order = np.argsort(pack(list(table.columns.values())).codes, kind="stable")
            counted = table.counting(order, times[order])
            return replace(counted, native=PlacedTuples(keys, lookup[order], times[order]), beside=beside, part_of=None)
        every = tuple_of_each_row(keys, lookup)
        native = PlacedTuples(keys, lookup, times, np.argsort(every, kind="stable"))
        return replace(table.take(every), native=native, beside=beside)

    def cut(self, table: Table, rank: Array, parts: OrderParts) -> RecordRuns:
        """From the counts alone; where tuples of equal rank are parted, their rows are numbered on the cluster."""
        return LOCAL.cut(table, rank, parts) if table.records is None else cut_on_cluster(table, rank, parts)

    def recode(
        self,
        source: Any,
        steps: Sequence[TupleRecoding],
        names: Sequence[str] | None = None,
        options: Options | None = None,
    ) -> Any:
        """Each row with what its tuples become: a map of each step goes to all nodes."""
        opened = open_source(source, options)
        now = opened.frame
        for columns, becomes in steps:
            own = all(name in opened.names for name in columns)
            known = opened if own else SparkSource(now, opened.name)  # a column that a step added has its type already
            table, _, keys, there = tuples(known, list(columns), options if own else None)
            tuple_of_key, count = class_of_each_row(pack(table.select(columns)))
            if wrong := [name for name, values in becomes.items() if len(values) != count]:
                raise InputError(
                    f"Column '{wrong[0]}' has {len(becomes[wrong[0]]):,} new values for {count:,} tuples.",
                    "Give one for each tuple that the engine counts.",
                )
            changed = pl.DataFrame({name: values.gather(tuple_of_key) for name, values in becomes.items()})
            out = [*now.columns, *(name for name in becomes if name not in now.columns)]
            here = replace(keys, source=replace(known, frame=now, files=None))
            now = joined(here, lookup_of(keys, there), changed, out)
        return now if names is None else now.select(*(column(name) for name in names))

    def assign(
        self,
        table: Table,
        frame: pl.DataFrame,
        *,
        changed: Collection[str] = (),
        dropped: Collection[str] = (),
        kept: Array | None = None,
        numbered: bool = False,
    ) -> Any:
        """Each row with what belongs to its tuple and occurrence; a table of rows that were recoded leads to them."""
        if not isinstance(table.native, PlacedTuples):
            source = open_source(table.native, None)
            return (with_numbers(source) if numbered else source.frame).drop(*dropped)
        return placed(table, frame, dropped, kept, numbered)

    def is_ordered(self, table: Table) -> bool:
        """Rows of files are; those of a data frame come as Spark keeps them."""
        return has_order(open_source(table, None))

    def pairs(
        self,
        released: Table,
        original: Table,
        row_map: RowMap,
        asked: Sequence[PairsAsked],
        starred: Sequence[str],
        options: tuple[Options | None, Options | None] = (None, None),
    ) -> Iterator[Pairs]:
        """Rows are joined by their numbers on the cluster; the driver gets each distinct pair with its records."""
        pairing = Pairing(open_source(released, None), open_source(original, None), options)
        yield from pairing.pairs(original.total, row_map, asked, starred)

    def write(
        self,
        table: Any,
        path: str | Path,
        *,
        check: CheckDraft | None = None,
        shuffle: int | None = None,
        rows: int | None = None,
        left_out: int = 0,
    ) -> None:
        """A folder of Parquet files, which becomes visible whole."""
        write_folder(table, path, check, shuffle, rows, left_out)


def _where_it_is(
    source: SparkSource, names: Sequence[str], beside: Mapping[str, Column], options: Options | None, least: int
) -> Table | None:
    """A table of which every row stays where it is, if there are so many.

    Where any number will do the classes alone are looked at, as of a release: its rows are read once.
    """
    with spark_errors(source.name):
        rows = source.frame.count()
    if rows < max(least, 1):
        return None
    counted = None if least or not source.are_exact(names) else counted_tuples(source, names, rows)
    found = marginals(source, names, options, counted)
    elsewhere = ClusterRows(source, RowCodes.of(found), counted)
    columns = {name: one.column for name, one in found.items()}
    return Table(columns, rows, source.name, (), elsewhere, tuple(source.names), beside, elsewhere=elsewhere)


def _no_columns(source: SparkSource, beside: Mapping[str, Column]) -> Table:
    """A table of which every column stays where it is."""
    with spark_errors(source.name):
        rows = source.frame.count()
    if not rows:
        raise InputError(f"{source.name} has no rows.", "Nothing can be measured on an empty table.")
    return Table({}, rows, source.name, (), source, tuple(source.names), beside)


class ClusterColumns(Mapping[str, Column]):
    """Columns that stay on the cluster: each is counted when it is asked for, its values one after the other."""

    def __init__(self, engine: SparkEngine, source: SparkSource, names: Sequence[str], options: Options | None) -> None:
        self._engine, self._source, self._names, self._options = engine, source, list(names), options
        self._found: dict[str, Column] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __getitem__(self, name: str) -> Column:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            counted = self._engine.count(self._source, [name], options=self._options)
            self._found[name] = counted.columns[name].counting(np.arange(len(counted.counts)), counted.counts)
        return self._found[name]


def _is_whole_number(source: SparkSource, name: str, options: Options | None) -> bool:
    """Whether Spark has a column as a whole number, as it is counted with."""
    declared = options is not None and bool(options.declared_types)
    whole = name in source.names and source.frame.schema[name].dataType.typeName() in INTEGERS
    return whole and not source.from_text_file and not declared


def _check_undeclared(options: Options | None) -> None:
    if options is not None and options.declared_types:
        raise InputError(
            "The count table does not fit the driver, where the declared types of columns are read.",
            Message("Leave out the {types}, or raise spark.shoal.driver.tuples."),
        )


SPARK = SparkEngine()
