"""The uniques of sets of columns, each set counted once, from the nearest smaller one whose classes are at hand.

Uniques never fall when a column is added: what is known of smaller and larger sets often tells enough of a set that
was never counted. A column that another one determines adds nothing to it, so both sets are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shoal.detection.partitions import Partition, Tuples

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
    >>> from shoal.table.classes import Coded, CountTable
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
