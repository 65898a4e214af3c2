"""Uniques of many sets of columns: each set refines the classes of a smaller one, and what is alone leaves.

A tuple alone in its class stays alone whatever column is added (uniques never fall), so only tuples that still share
their class are carried on. On tables that identify people they are soon few, and a set costs next to nothing.
"""

from __future__ import annotations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.table.classes import Coded, CountTable, sorted_with_order
from shoal.table.sorting import sorted_keys

# A dense table of counts beats sorting up to so many cells per tuple, and while it is small altogether.
_CELLS_PER_TUPLE = 8
_FEW_CELLS = 1 << 16


@dataclass(frozen=True)
class Tuples:
    """The distinct tuples of all columns; a tuple of two or more records is never unique."""

    columns: tuple[Coded, ...]
    light: Array | None  # which tuples stand for one record; None if all do
    count: int
    records: int

    @classmethod
    def of(cls, table: CountTable) -> Tuples:
        light = table.counts == 1
        columns = tuple(table.tuples.values())
        return cls(columns, None if light.all() else light, len(table), table.records)

    def whole(self) -> Partition:
        """All tuples in one class: the set of no columns."""
        if self.count == 1:  # a tuple alone has nobody to be told from
            return Partition(np.zeros(0, np.int64), np.zeros(0, np.int64), 0, int(self.records == 1))
        # numbers of 32 bits take less memory, and where it is little, more time
        number = np.int32 if _FEW_CELLS < self.count < 1 << 31 else np.int64
        return Partition(np.arange(self.count, dtype=number), np.zeros(self.count, number), 1, 0)


@dataclass(frozen=True)
class Partition:
    """The tuples that share their class with another: `rows` and their `classes`; `uniques` counts those alone."""

    rows: Array
    classes: Array
    count: int
    uniques: int

    def uniques_with(self, tuples: Tuples, column: int) -> int:
        """How many uniques one more column gives; cheaper than the refined partition."""
        key, cells = self._key(tuples, column)
        if _is_dense(len(key), cells):
            counts = np.bincount(key, minlength=1)
            if tuples.light is None:
                return self.uniques + int(np.count_nonzero(counts == 1))
            return self.uniques + int(np.count_nonzero((counts.take(key) == 1) & tuples.light.take(self.rows)))
        if tuples.light is not None:
            # the lowest bit says whether the tuple is light
            key = key * 2 + tuples.light.take(self.rows)
        key = sorted_keys(key.astype(np.uint32) if 2 * cells < 1 << 32 else key)
        same = key if tuples.light is None else key >> 1
        alone = _alone(same)
        return self.uniques + int(np.count_nonzero(alone if tuples.light is None else alone & (key & 1).astype(bool)))

    def refine(self, tuples: Tuples, column: int) -> Partition:
        """The partition by one more column."""
        key, cells = self._key(tuples, column)
        if _is_dense(len(key), cells):
            numbers = np.bincount(key, minlength=1)
            shared = numbers > 1
            stay = shared.take(key)
            # the counts give their places to the numbers of the classes that are left, which are few
            places = np.flatnonzero(shared)
            count = len(places)
            numbers[places] = np.arange(count)
            classes = numbers.take(key[stay])
        else:
            order, ordered = sorted_with_order(Coded(key, cells))
            alone = _alone(ordered)
            stay = np.ones(len(key), bool)
            stay[order[alone]] = False
            new = np.concatenate([[True], ordered[1:] != ordered[:-1]]) & ~alone
            numbers = np.empty(len(key), np.int64)
            numbers[order] = np.cumsum(new) - 1
            classes = numbers[stay]
            count = int(np.count_nonzero(new))
        alone_now = len(key) - len(classes)
        if tuples.light is not None:
            alone_now = int(np.count_nonzero(tuples.light[self.rows[~stay]]))
        return Partition(self.rows[stay], classes.astype(self.rows.dtype, copy=False), count, self.uniques + alone_now)

    def _key(self, tuples: Tuples, column: int) -> tuple[Array, int]:
        codes, cardinality = tuples.columns[column]
        key = self.classes * np.int64(cardinality)
        key += codes.take(self.rows)
        return key, self.count * cardinality


def _is_dense(rows: int, cells: int) -> bool:
    return cells <= max(_CELLS_PER_TUPLE * rows, _FEW_CELLS)


def _alone(ordered: Array) -> Array:
    """Which entries of a sorted array differ from both neighbours."""
    new = np.ones(len(ordered) + 1, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:-1])
    return new[1:] & new[:-1]


def uniques_of_all_sets(table: CountTable) -> Array:
    """The uniques of every set of columns: entry i is for the columns whose bits are set in i.

    >>> table = CountTable.of({"a": Coded(np.array([0, 0, 1]), 2), "b": Coded(np.array([0, 1, 0]), 2)})
    >>> uniques_of_all_sets(table).tolist()
    [0, 1, 1, 3]
    """
    tuples = Tuples.of(table)
    # columns that tell most apart go first, so that tuples leave early
    order = sorted(range(len(tuples.columns)), key=lambda column: -tuples.columns[column].cardinality)
    found = np.zeros(1 << len(order), np.int64)

    def walk(partition: Partition, chosen: int, start: int) -> None:
        found[chosen] = partition.uniques
        for place in range(start, len(order)):
            column = order[place]
            larger = chosen | 1 << column
            if not len(partition.rows):
                found[larger] = partition.uniques
                walk(partition, larger, place + 1)
            elif place == len(order) - 1:
                found[larger] = partition.uniques_with(tuples, column)
            else:
                walk(partition.refine(tuples, column), larger, place + 1)

    walk(tuples.whole(), 0, 0)
    return found
