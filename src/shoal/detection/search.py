"""Which set of columns exposes most people: for each size, and altogether.

Uniques never fall when a column is added. So a branch of the search can be left when all its columns together do not
beat the sets already found for its sizes; and a set that tells all records apart is an identifier, as is every larger
one, so the search does not go past it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from shoal import progress
from shoal.detection.counted_sets import CountedSets, Tuples, bits_of

Columns = tuple[int, ...]

# A near-identifier tells this share of the records apart; it is looked for among sets of so few columns.
NEAR = 0.99
NEAR_SIZE = 3
# Below so many tuples a bound costs more than it saves.
_TUPLES_WORTH_A_BOUND = 2000


class OutOfTime(Exception):
    """The time limit of a search is reached; what was found so far stands."""


@dataclass
class ColumnSetSearch:
    """Searches the sets of columns; keeps the best set of each size, the identifiers, and what was examined.

    Columns that are identifiers by themselves are left out of all sets: they would make every set an identifier.
    """

    tuples: Tuples
    max_size: int
    deadline: float
    # for a column those that alone determine it, as a set
    determined: Mapping[int, int] = field(default_factory=dict)
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
        self.sets = CountedSets(self.tuples, self.determined)
        self._pairs_with = [0] * len(self.tuples.columns)
        for column in range(len(self.tuples.columns)):
            self._note((column,))
        self.columns = [column for column in range(len(self.tuples.columns)) if (column,) not in self.identifiers]
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

    def uniques_of(self, columns: Sequence[int]) -> int:
        """The uniques of a set of columns."""
        chosen = bits_of(columns)
        self.seen.add(chosen)
        return self.sets.uniques(chosen)

    def _check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise OutOfTime

    def _note(self, columns: Columns, goes_on: bool = False) -> bool:
        """Keep what is found of a set; whether it is an identifier. Larger sets may follow (`goes_on`)."""
        columns = tuple(sorted(columns))
        chosen, size = bits_of(columns), len(columns)
        self.seen.add(chosen)
        if self._tells_nothing(chosen, size):
            return False
        uniques = self.sets.uniques(chosen, goes_on)
        if uniques == self.tuples.records and self.sets_identify:
            self.identifiers.add(columns)
            if size == 2:
                self._pairs_with[columns[0]] |= 1 << columns[1]
                self._pairs_with[columns[1]] |= 1 << columns[0]
            return True
        if size <= NEAR_SIZE and uniques >= self._near:
            self.near.add(columns)
        if size not in self.best or (-uniques, columns) < (-self.best[size][0], self.best[size][1]):
            self.best[size] = (uniques, columns)
        return False

    def _tells_nothing(self, chosen: int, size: int) -> bool:
        """Whether what is known of larger sets says that this one is neither best nor nearly an identifier."""
        if size not in self.best:
            return False
        _, most = self.sets.bounds(chosen)
        return most < self.best[size][0] and (size > NEAR_SIZE or most < self._near)

    # ways to go

    def _greedy(self) -> None:
        """Add the column that exposes most, again and again: good sets early make the bounds bite."""
        chosen: list[int] = []
        while len(chosen) < self.max_size:
            best: tuple[int, int] | None = None
            for column in self.columns:
                if column in chosen:
                    continue
                self._check_time()
                larger = bits_of((*chosen, column))
                if not self._note((*chosen, column)) and (best is None or self.sets.exceeds(larger, best[0])):
                    best = self.sets.uniques(larger), column
            if best is None:
                return
            chosen.append(best[1])

    def _exact(self, size: int) -> None:
        """Every set up to a size, less the branches that a bound excludes."""
        if size <= self.proven:
            return
        for place, column in enumerate(self._order):
            progress.report(f"searching sets of up to {size} columns", place, len(self._order))
            self._walk((column,), place + 1, size)
        self.proven = size

    def _walk(self, chosen: Columns, start: int, size: int) -> None:
        """The sets with some chosen columns and others from a place on."""
        if len(chosen) == size or start == len(self._order) or self._is_beaten(chosen, start, size):
            return
        held = bits_of(chosen)
        for place in range(start, len(self._order)):
            self._check_time()
            larger = (*chosen, self._order[place])
            if held & self._pairs_with[self._order[place]]:  # holds a pair that is an identifier
                continue
            if not self._note(larger, goes_on=len(larger) < size and place < len(self._order) - 1):
                self._walk(larger, place + 1, size)

    def _is_beaten(self, chosen: Columns, start: int, size: int) -> bool:
        """Whether all columns left together do not beat what is known for any size they could reach."""
        sizes = range(len(chosen) + 1, min(size, len(chosen) + len(self._order) - start) + 1)
        least = min((self.best[reachable][0] if reachable in self.best else -1) for reachable in sizes)
        if len(chosen) < NEAR_SIZE:
            least = min(least, int(self._near) - 1)
        held = bits_of(chosen)
        if least >= self.sets.most:
            partition = self.sets.partition(held)
            if partition.uniques + len(partition.rows) <= least:
                return True
        if len(sizes) < 2 or self._are_few_left(held):
            return False
        return not self.sets.exceeds(held | bits_of(self._order[start:]), least)

    def _are_few_left(self, chosen: int) -> bool:
        """Whether few tuples share their class; at least those of one record do that are not unique."""
        if self.sets.most - self.sets.bounds(chosen)[1] >= _TUPLES_WORTH_A_BOUND:
            return False
        return len(self.sets.partition(chosen).rows) < _TUPLES_WORTH_A_BOUND

    def _beam(self, width: int = 4) -> None:
        """After time is out: grow the best pairs greedily, on a budget of sets, so that larger sizes have an answer."""
        self.deadline = time.monotonic() + 0.5 + 0.1 * len(self.columns) ** 0.5
        try:
            starts = [found[1] for size, found in sorted(self.best.items()) if size <= 3][-width:]
            for start in starts:
                chosen = list(start)
                while len(chosen) < self.max_size:
                    self.seen.add(bits_of(chosen))
                    alive: dict[int, int] = {}
                    for column in self.columns:
                        self._check_time()
                        if column not in chosen and not self._note((*chosen, column)):
                            alive[column] = self.sets.uniques(bits_of((*chosen, column)))
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
            without = {column: self.uniques_of([c for c in self.columns if c != column]) for column in self._order}
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
                self.best[size] = (wanted, self._first_equal((), 0, columns, wanted, needed, [budget]) or columns)

    def _first_equal(
        self, chosen: Columns, start: int, known: Columns, wanted: int, needed: set[int], budget: list[int]
    ) -> Columns | None:
        """The first set before `known` that has the wanted uniques, if the budget lets it be found."""
        if len(chosen) == len(known):
            return chosen
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
            rest = [other for other in self.columns[place + 1 :] if len(missing) < slots or other in missing]
            # uniques never fall, nor do those of all the rest together suffice if they stay below
            held = bits_of(larger)
            if self.sets.exceeds(held | bits_of(rest), wanted - 1) and not self.sets.exceeds(held, wanted):
                found = self._first_equal(larger, place + 1, known, wanted, needed, budget)
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
