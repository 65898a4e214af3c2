"""Which set of columns exposes most people: for each size, and altogether.

Uniques never fall when a column is added. So a branch of the search can be left when all its columns together do not
beat the sets already found for its sizes; and a set that tells all records apart is an identifier, as is every larger
one, so the search does not go past it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations

from shoal import progress
from shoal.detection.partitions import Partition, Tuples

Columns = tuple[int, ...]

# A near-identifier tells this share of the records apart; it is looked for among sets of so few columns.
NEAR = 0.99
NEAR_SIZE = 3
# Below so many tuples a bound costs more than it saves.
_TUPLES_WORTH_A_BOUND = 2000


class OutOfTime(Exception):
    """The time limit of a search is reached; what was found so far stands."""


@dataclass
class Search:
    """Searches the sets of columns; keeps the best set of each size, the identifiers, and what was examined.

    Columns that are identifiers by themselves are left out of all sets: they would make every set an identifier.
    """

    tuples: Tuples
    max_size: int
    deadline: float
    best: dict[int, tuple[int, Columns]] = field(default_factory=dict)
    # in a sample, a set whose values all differ need not be an identifier of the table
    sets_identify: bool = True
    identifiers: set[Columns] = field(default_factory=set)
    # sets of few columns that may be near-identifiers: with c classes among n records, uniques >= 2c - n
    near: set[Columns] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    # largest size up to which every set was examined or excluded by a bound
    proven: int = 0

    def __post_init__(self) -> None:
        self._near = 2 * NEAR * self.tuples.records - self.tuples.records
        self._whole = self.tuples.whole()
        self._pairs_with = [0] * len(self.tuples.columns)
        singles = {column: self._whole.uniques_with(self.tuples, column) for column in range(len(self.tuples.columns))}
        for column, uniques in singles.items():
            self._note((column,), uniques)
        self.columns = [column for column in singles if (column,) not in self.identifiers]
        # what tells most apart first: tuples leave early, and bounds bite
        self._order = sorted(self.columns, key=lambda column: -self.tuples.columns[column].cardinality)
        self.max_size = min(self.max_size, len(self.columns))

    def run(self) -> None:
        """Search size by size as far as time allows, greedily first, then exactly."""
        self.proven = 1 if self.columns else 0
        try:
            self._greedy()
            self._exact(min(2, self.max_size))
            self._exact(self.max_size)
        except OutOfTime:
            self._beam()
        self._settle_ties()

    @property
    def examined(self) -> int:
        """How many different sets were counted."""
        return len(self.seen)

    # counting

    def _uniques(self, partition: Partition, column: int) -> int:
        self._check_time()
        return partition.uniques_with(self.tuples, column) if len(partition.rows) else partition.uniques

    def _refine(self, partition: Partition, column: int) -> Partition:
        self._check_time()
        return partition.refine(self.tuples, column) if len(partition.rows) else partition

    def partition_of(self, columns: Sequence[int]) -> Partition:
        """The partition by a set of columns."""
        self.seen.add(_bits(columns))
        return self._whole.refine_all(self.tuples, columns)

    def uniques_of(self, columns: Sequence[int]) -> int:
        """The uniques of a set of columns."""
        self.seen.add(_bits(columns))
        return self._whole.uniques_with_all(self.tuples, columns)

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime

    def _note(self, columns: Columns, uniques: int) -> bool:
        """Keep what was found of a set; whether it is an identifier."""
        columns = tuple(sorted(columns))
        self.seen.add(_bits(columns))
        if uniques == self.tuples.records and self.sets_identify:
            self.identifiers.add(columns)
            if len(columns) == 2:
                self._pairs_with[columns[0]] |= 1 << columns[1]
                self._pairs_with[columns[1]] |= 1 << columns[0]
            return True
        size = len(columns)
        if size <= NEAR_SIZE and uniques >= self._near:
            self.near.add(columns)
        if size not in self.best or (-uniques, columns) < (-self.best[size][0], self.best[size][1]):
            self.best[size] = (uniques, columns)
        return False

    # ways to go

    def _greedy(self) -> None:
        """Add the column that exposes most, again and again: good sets early make the bounds bite."""
        chosen: list[int] = []
        partition = self._whole
        while len(chosen) < self.max_size:
            best: tuple[int, int] | None = None
            for column in self.columns:
                if column in chosen:
                    continue
                uniques = self._uniques(partition, column)
                if not self._note((*chosen, column), uniques) and (best is None or uniques > best[0]):
                    best = uniques, column
            if best is None:
                return
            chosen.append(best[1])
            partition = self._refine(partition, best[1])

    def _exact(self, size: int) -> None:
        """Every set up to a size, less the branches that a bound excludes."""
        if size <= self.proven:
            return
        for place, column in enumerate(self._order):
            progress.report(f"searching sets of up to {size} columns", place, len(self._order))
            self._walk(self._refine(self._whole, column), (column,), place + 1, size)
        self.proven = size

    def _walk(self, partition: Partition, chosen: Columns, start: int, size: int, reached: int = 0) -> None:
        """The sets with some chosen columns and others from a place on; `reached`: uniques that all of those have."""
        if len(chosen) == size or start == len(self._order):
            return
        bound = self._bound(partition, chosen, start, size, reached)
        if bound is None:
            return
        reached, first = bound
        held = _bits(chosen)
        for place in range(start, len(self._order)):
            larger = (*chosen, self._order[place])
            if held & self._pairs_with[self._order[place]]:  # holds a pair that is an identifier
                continue
            if len(larger) == size or place == len(self._order) - 1:
                self._note(larger, self._uniques(partition, self._order[place]))
                continue
            refined = first if place == start and first is not None else self._refine(partition, self._order[place])
            first = None
            if not self._note(larger, refined.uniques):
                # with the first of the columns that are left, these are the same columns
                self._walk(refined, larger, place + 1, size, reached if place == start else 0)

    def _bound(
        self, partition: Partition, chosen: Columns, start: int, size: int, reached: int
    ) -> tuple[int, Partition | None] | None:
        """None where all columns left together do not beat what is known for any size they could reach.

        Else uniques that they reach, at least, and the partition by the first of them where it was made.
        """
        sizes = range(len(chosen) + 1, min(size, len(chosen) + len(self._order) - start) + 1)
        least = min((self.best[reachable][0] if reachable in self.best else -1) for reachable in sizes)
        if len(chosen) < NEAR_SIZE:
            least = min(least, int(self._near) - 1)
        if partition.uniques + len(partition.rows) <= least:
            return None
        if len(partition.rows) < _TUPLES_WORTH_A_BOUND or len(sizes) < 2:
            return partition.uniques, None
        if max(reached, partition.uniques) > least:
            return max(reached, partition.uniques), None
        first = self._refine(partition, self._order[start])
        reached = first.uniques_with_all(self.tuples, self._order[start + 1 :], least + 1)
        return None if reached <= least else (reached, first)

    def _beam(self, width: int = 4) -> None:
        """After time is out: grow the best pairs greedily, on a budget of sets, so that larger sizes have an answer."""
        self.deadline = time.monotonic() + 0.5 + 0.1 * len(self.columns) ** 0.5
        try:
            starts = [found[1] for size, found in sorted(self.best.items()) if size <= 3][-width:]
            for start in starts:
                chosen = list(start)
                while len(chosen) < self.max_size:
                    partition = self.partition_of(chosen)
                    found = {
                        column: self._uniques(partition, column) for column in self.columns if column not in chosen
                    }
                    alive = {c: u for c, u in found.items() if not self._note((*chosen, c), u)}
                    if not alive:
                        break
                    chosen.append(max(alive, key=lambda column: (alive[column], -column)))
        except OutOfTime:
            pass

    # equal sets

    def _settle_ties(self) -> None:
        """Of sets with equally many uniques take the first in the order of the columns, within a budget per size."""
        budget = min(100, 20_000_000 // max(self.tuples.count, 1))
        without: dict[int, int] = {}
        if 0 < len(self.columns) <= budget:
            without = self._whole.uniques_without_each(self.tuples, self._order)
            self.seen.update(_bits(self.columns) & ~(1 << column) for column in self.columns)
        most = max((uniques for uniques, _ in self.best.values()), default=0)
        smallest = min((size for size, (uniques, _) in self.best.items() if uniques == most), default=0)
        for size in [size for size in sorted(self.best) if 1 < size <= self.proven]:
            wanted, columns = self.best[size]
            if size > smallest and wanted == most:
                # nothing is gained past the best set: it, and the first columns that it lacks
                core = self.best[smallest][1]
                spare = [column for column in self.columns if column not in core][: size - smallest]
                padded = tuple(sorted((*core, *spare)))
                self.best[size] = (wanted, padded if self.uniques_of(padded) == most else columns)
                continue
            # every set with so many uniques holds the columns without which they cannot be reached
            needed = {column for column, uniques in without.items() if uniques < wanted}
            if len(needed) < size:
                found = self._first_equal(self._whole, (), 0, columns, wanted, needed, [budget])
                self.best[size] = (wanted, found or columns)

    def _first_equal(
        self,
        partition: Partition,
        chosen: Columns,
        start: int,
        known: Columns,
        wanted: int,
        needed: set[int],
        budget: list[int],
    ) -> Columns | None:
        """The first set before `known` that has the wanted uniques, if the budget lets it be found."""
        if len(chosen) == len(known):
            return chosen if partition.uniques == wanted else None
        last = len(self.columns) - (len(known) - len(chosen))
        for place in range(start, last + 1):
            column = self.columns[place]
            larger = (*chosen, column)
            budget[0] -= 1
            if budget[0] < 0 or larger > known[: len(larger)] or time.monotonic() > self.deadline:
                return None
            missing, slots = needed.difference(larger), len(known) - len(larger)
            if len(missing) > slots:
                continue
            refined = partition.refine(self.tuples, column) if len(partition.rows) else partition
            rest = [other for other in self._order if other > column and (len(missing) < slots or other in missing)]
            # uniques never fall, nor do those of all the rest together suffice if they stay below
            if refined.uniques <= wanted <= refined.uniques_with_all(self.tuples, rest, wanted):
                found = self._first_equal(refined, larger, place + 1, known, wanted, needed, budget)
                if found is not None:
                    return found
            if column in needed:
                return None
        return None

    # what was found

    def minimal_identifiers(self) -> list[Columns]:
        """The identifiers of which no part is one, small ones first."""
        found = (columns for columns in self.identifiers if not self._has_smaller(columns))
        return sorted(found, key=lambda columns: (len(columns), columns))

    def _has_smaller(self, columns: Columns) -> bool:
        parts = (part for size in range(1, len(columns)) for part in combinations(columns, size))
        return any(part in self.identifiers for part in parts)


def _bits(columns: Sequence[int]) -> int:
    """A set of columns as one number."""
    bits = 0
    for column in columns:
        bits |= 1 << column
    return bits
