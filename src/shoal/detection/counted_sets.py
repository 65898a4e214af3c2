"""The uniques of sets of columns, each set counted once, from the nearest smaller one whose classes are at hand.

Uniques never fall when a column is added: what is known of smaller and larger sets often tells enough of a set that
was never counted. A column that another one determines adds nothing to it, so both sets are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Coded, CountTable, sorted_keys, sorted_with_order

# Uniques of many sets of columns: each set refines the classes of a smaller one, and what is alone leaves.
#
# A tuple alone in its class stays alone whatever column is added (uniques never fall), so only tuples that still share
# their class are carried on. On tables that identify people they are soon few, and a set costs next to nothing.


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


# So many partitions are kept, and so many entries of theirs per tuple of the table.
_MOST_KEPT = 16
_KEPT_PER_TUPLE = 4
# Looking at a known set takes about as long as refining so many tuples; past many of them all looking ends.
_TUPLES_PER_LOOK = 8
_MOST_LOOKS = 1024


def bits_of(columns: Iterable[int]) -> int:
    """A set of columns as one number.

    >>> bits_of([0, 2])
    5
    """
    bits = 0
    for column in columns:
        bits |= 1 << column
    return bits


def without_determined(chosen: int, determined: Mapping[int, int]) -> int:
    """A set less the columns that others in it determine: its classes are the same.

    >>> bin(without_determined(0b111, {0: 0b010}))
    '0b110'
    """
    for column, others in determined.items():
        if chosen >> column & 1 and chosen & others:
            chosen &= ~(1 << column)
    return chosen


class CountedSets:
    """The uniques of sets of columns of a table; a set is a number, `bits_of` its columns.

    `determined` tells for a column the set of those that alone determine it.

    >>> import numpy as np
    >>> from shoal.storage.classes import Coded, CountTable
    >>> table = CountTable.of({"a": Coded(np.array([0, 0, 1]), 2), "b": Coded(np.array([0, 1, 0]), 2)})
    >>> sets = CountedSets(Tuples.of(table))
    >>> [sets.uniques(chosen) for chosen in range(4)], sets.exceeds(0b11, 2)
    ([0, 1, 1, 3], True)
    """

    def __init__(self, tuples: Tuples, determined: Mapping[int, int] | None = None) -> None:
        self.tuples = tuples
        self.most = tuples.count if tuples.light is None else int(tuples.light.sum())
        self._determined = determined or {}
        self._most_looks = min(tuples.count // _TUPLES_PER_LOOK, _MOST_LOOKS)
        self._order = sorted(range(len(tuples.columns)), key=lambda column: -tuples.columns[column].cardinality)
        self._whole = tuples.whole()
        self._known = {0: self._whole.uniques}
        # the last one used comes last
        self._kept: dict[int, Partition] = {}
        self._held = 0

    def uniques(self, chosen: int, goes_on: bool = False) -> int:
        """The uniques of a set; where larger ones follow (`goes_on`) its classes are made at once."""
        chosen = without_determined(chosen, self._determined)
        if chosen not in self._known and goes_on:
            self._known[chosen] = self.partition(chosen).uniques
        elif chosen not in self._known:
            nearest = self._nearest(chosen)
            *before, last = self._columns(chosen & ~nearest)
            self._known[chosen] = self._refined(nearest, before).uniques_with(self.tuples, last)
        return self._known[chosen]

    def partition(self, chosen: int) -> Partition:
        """The partition by a set."""
        chosen = without_determined(chosen, self._determined)
        nearest = self._nearest(chosen)
        return self._refined(nearest, self._columns(chosen & ~nearest))

    def exceeds(self, chosen: int, uniques: int) -> bool:
        """Whether a set has more uniques; nothing is counted where what is known of other sets tells."""
        chosen = without_determined(chosen, self._determined)
        least, most = self.bounds(chosen)
        if least > uniques or most <= uniques:
            return least > uniques
        nearest = self._nearest(chosen)
        *before, last = self._columns(chosen & ~nearest)
        partition = self._refined(nearest, before, uniques)
        if partition.uniques > uniques:
            return True
        self._known[chosen] = partition.uniques_with(self.tuples, last)
        return self._known[chosen] > uniques

    def bounds(self, chosen: int) -> tuple[int, int]:
        """Between which numbers the uniques of a set lie, by what was counted so far."""
        chosen = without_determined(chosen, self._determined)
        if (found := self._known.get(chosen)) is not None:
            return found, found
        least, most = 0, self.most
        if len(self._known) > self._most_looks:
            return least, most
        for known, uniques in self._known.items():
            if uniques > least and known & chosen == known:
                least = uniques
            elif uniques < most and known & chosen == chosen:
                most = uniques
        return least, most

    def _columns(self, chosen: int) -> list[int]:
        """Those that tell most apart first: tuples leave early."""
        return [column for column in self._order if chosen >> column & 1]

    def _nearest(self, chosen: int) -> int:
        """The part of a set whose partition is kept and from which the rest costs least."""
        nearest, cost = 0, len(self._whole.rows) * chosen.bit_count()
        for kept, partition in self._kept.items():
            if kept & chosen == kept and len(partition.rows) * (chosen & ~kept).bit_count() < cost:
                nearest, cost = kept, len(partition.rows) * (chosen & ~kept).bit_count()
        return nearest

    def _refined(self, chosen: int, columns: Iterable[int], enough: int | None = None) -> Partition:
        """The partition by a kept set and more columns, until more than `enough` are unique; each step is kept."""
        partition = self._kept[chosen] if chosen else self._whole
        if chosen:
            self._keep(chosen, partition)
        for column in columns:
            if not len(partition.rows) or (enough is not None and partition.uniques > enough):
                break
            partition = partition.refine(self.tuples, column)
            chosen |= 1 << column
            self._known[chosen] = partition.uniques
            self._keep(chosen, partition)
        return partition

    def _keep(self, chosen: int, partition: Partition) -> None:
        """Keep a partition as the last one used, and leave those that were not used for longest."""
        before = self._kept.pop(chosen, None)
        self._held += len(partition.rows) - (len(before.rows) if before else 0)
        self._kept[chosen] = partition
        while len(self._kept) > 1 and (
            len(self._kept) > _MOST_KEPT or self._held > _KEPT_PER_TUPLE * self.tuples.count
        ):
            self._held -= len(self._kept.pop(next(iter(self._kept))).rows)
