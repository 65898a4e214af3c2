"""The uniques of sets of columns, each set counted once, from the nearest smaller one whose classes are at hand.

Uniques never fall when a column is added: what is known of smaller and larger sets often tells enough of a set that
was never counted. A column that another one determines adds nothing to it, so both sets are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial
from typing import NamedTuple

import numpy as np

from shoal.storage import Array, Column
from shoal.storage.classes import Coded, CountTable, class_sizes, sorted_keys, sorted_with_order

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


# Which column costs most: each column's share of the uniques, as in a game where columns join one by one.
#
# Shapley value of a column = the uniques that it adds, averaged over all orders in which columns can join. The values
# sum up to the uniques of all columns together.

# Past so many (set, tuple) pairs, orders are drawn instead of all sets counted.
MOST_CELLS = 40_000_000
MOST_COLUMNS = 16
FEWEST_PAIRS_OF_ORDERS, MOST_PAIRS_OF_ORDERS = 3, 16
MOST_DRAWN_CELLS = 100_000_000


class Contributions(NamedTuple):
    """Shares of the uniques by column, summing up to 1; `error` is the largest standard error, 0 if exact."""

    shares: dict[str, float]
    exact: bool
    error: float


def contributions(table: CountTable, names: Sequence[str], sets: CountedSets | None = None) -> Contributions:
    """The share of the uniques that each of these columns brings; `sets` is what is known of sets of the table.

    >>> from shoal.storage.classes import Coded
    >>> table = CountTable.of({"a": Coded(np.array([0, 1, 2]), 3), "b": Coded(np.array([0, 0, 0]), 1)})
    >>> contributions(table, ["a", "b"]).shares
    {'a': 1.0, 'b': 0.0}
    """
    if not names:
        return Contributions({}, True, 0.0)
    part = table if list(names) == list(table.tuples) else table.roll_up(names)
    if len(names) <= MOST_COLUMNS and len(part) << len(names) <= MOST_CELLS:
        values = _shapley(uniques_of_all_sets(part), len(names))
        return Contributions(_shares(names, values), True, 0.0)
    places = [list(table.tuples).index(name) for name in names]
    orders = _drawn(sets or CountedSets(Tuples.of(table)), places, len(part))
    total = max(float(orders.sum(axis=1).max()), 1.0)
    error = float((orders.std(axis=0, ddof=1) / np.sqrt(len(orders))).max()) / total
    return Contributions(_shares(names, orders.mean(axis=0)), False, error)


def shares_of_all_sets(uniques: Sequence[int] | None, names: Sequence[str]) -> dict[str, float] | None:
    """The shares of columns from the uniques of every set, by the bits of their places; None where they are not known.

    >>> shares_of_all_sets([0, 3, 0, 3], ["a", "b"])
    {'a': 1.0, 'b': 0.0}
    """
    return None if uniques is None else _shares(names, _shapley(np.asarray(uniques, np.float64), len(names)))


def _shares(names: Sequence[str], values: Array) -> dict[str, float]:
    total = float(values.sum())
    shares = values / total if total else np.zeros(len(values))
    return dict(zip(names, shares.tolist(), strict=True))


def _shapley(uniques: Array, columns: int) -> Array:
    """Exact, from the uniques of every set."""
    sets = np.arange(len(uniques))
    sizes = np.bitwise_count(sets).astype(np.int64)
    weights = np.array([factorial(s) * factorial(columns - s - 1) / factorial(columns) for s in range(columns)])
    values = np.empty(columns)
    for column in range(columns):
        without = sets[sets >> column & 1 == 0]
        values[column] = (weights[sizes[without]] * (uniques[without | 1 << column] - uniques[without])).sum()
    return values


def _drawn(sets: CountedSets, places: Sequence[int], tuples: int) -> Array:
    """What each column adds in drawn orders; each order is also gone through backwards, which halves the error."""
    draw = np.random.default_rng(0)
    columns = len(places)
    affordable = MOST_DRAWN_CELLS // (2 * columns * max(tuples, 1))
    found = np.zeros((min(max(affordable, FEWEST_PAIRS_OF_ORDERS), MOST_PAIRS_OF_ORDERS), columns))
    for pair in found:
        order = draw.permutation(columns)
        for turned in (order, order[::-1]):
            chosen, before = 0, sets.uniques(0)
            for place, column in enumerate(turned.tolist(), 1):
                chosen |= 1 << places[column]
                after = sets.uniques(chosen, goes_on=place < columns)
                pair[column] += (after - before) / 2
                before = after
    return found


# Columns that others determine: who knows the municipality knows the province.


# Tuples looked at to discard most pairs of columns before the whole table is asked.
SAMPLE = 2000
# A column that is nearly an identifier determines everything, which tells nothing.
TELLS_NOTHING = 0.99


def determined_by(table: CountTable) -> dict[str, list[str]]:
    """For each column the columns that alone determine it: equal there means equal here.

    A determines B exactly if (A, B) has as many classes as A.

    >>> from shoal.storage.classes import Coded
    >>> town, province = Coded(np.array([0, 1, 2, 2]), 3), Coded(np.array([0, 0, 1, 1]), 2)
    >>> determined_by(CountTable.of({"town": town, "province": province, "row": Coded(np.arange(4), 4)}))
    {'province': ['town']}
    """
    names = list(table.tuples)
    matrix = np.stack([table.tuples[name].codes[_some(len(table))].astype(np.int64) for name in names], axis=1)
    distinct = {name: len(class_sizes([table.tuples[name]])) for name in names}
    found: dict[str, list[str]] = {}
    for index, name in enumerate(names):
        if distinct[name] >= TELLS_NOTHING * table.records:
            continue
        for other in np.flatnonzero(_constant_within(matrix, index)).tolist():
            target = names[other]
            if target == name or distinct[target] > distinct[name]:
                continue
            if len(class_sizes([table.tuples[name], table.tuples[target]])) == distinct[name]:
                found.setdefault(target, []).append(name)
    return {name: found[name] for name in names if name in found}


def _some(count: int) -> Array:
    return np.arange(count) if count <= SAMPLE else np.random.default_rng(0).choice(count, SAMPLE, replace=False)


def _constant_within(matrix: Array, column: int) -> Array:
    """Which columns of a sample have one value within each value of a column."""
    ordered = matrix[np.argsort(matrix[:, column], kind="stable")]
    same = ordered[1:, column] == ordered[:-1, column]
    return np.asarray(~(ordered[1:][same] != ordered[:-1][same]).any(axis=0))


def determines(column: Column, other: Column) -> bool:
    """Whether equal values of a column always go with equal values of another; the first rows rule most pairs out.

    >>> from shoal.storage.reading import read
    >>> table = read({"town": ["Bari", "Bari", "Pisa"], "province": ["BA", "BA", "PI"], "age": [1, 2, 3]})
    >>> determines(table["town"], table["province"]), determines(table["town"], table["age"])
    (True, False)
    """
    last = np.zeros(column.cardinality, other.codes.dtype)
    for rows in (slice(0, 50 * SAMPLE), slice(None)):
        codes, told = column.codes[rows], other.codes[rows]
        last[codes] = told
        if not np.array_equal(last[codes], told):
            return False
    return True
