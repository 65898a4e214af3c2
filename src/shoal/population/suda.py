"""Special uniques (SUDA2): records that few columns already single out.

A minimal sample unique (MSU) of a record is a set of columns on which the record is alone, and on no smaller part of
which it is. A record that is alone on some columns is alone on all larger sets: it leaves the search of those, and what
is left of a set is decided by one count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, factorial

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message
from shoal.storage import Array
from shoal.storage.classes import Coded, Codes, pack, sorted_with_order

# so many column sets are as much as anyone waits for
MOST_SETS = 200_000
# counting in a dense table beats sorting while the table fits the cache
_DENSE = 1 << 18


@dataclass(frozen=True)
class SpecialUniques:
    """The score of each tuple, and for each column set the minimal sample uniques that it is."""

    scores: Array
    # column sets (positions) with the number of records whose MSU they are
    sets: list[tuple[tuple[int, ...], int]]
    columns: int
    size: int

    @cached_property
    def total(self) -> int:
        """The sum of all scores."""
        return sum(found * factorial(self.columns - len(members)) for members, found in self.sets)

    def share_of_column(self, column: int) -> float:
        """How much of all scores comes from sets that hold a column; sets overlap, so shares sum to more than 1."""
        return sum(self.share_of_set(members, found) for members, found in self.sets if column in members)

    def share_of_set(self, members: tuple[int, ...], found: int) -> float:
        """How much of all scores comes from a set."""
        return found * factorial(self.columns - len(members)) / self.total


def special_uniques(columns: Sequence[Codes], counts: Array, size: int | None = None) -> SpecialUniques:
    """All minimal sample uniques of up to `size` columns, of distinct tuples with the number of records of each.

    score = sum over the MSUs of (m - |MSU|)!, m columns (Elliot et al.).

    >>> columns = [Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 1, 2]), 3)]
    >>> special_uniques(columns, np.array([1, 1, 1, 5])).scores.tolist()
    [1.0, 1.0, 1.0, 0.0]
    """
    width = len(columns)
    size = width if size is None else min(size, width)
    _check_size(width, size)
    order = sorted(range(width), key=lambda place: columns[place].cardinality)
    search = _Search([columns[place] for place in order], np.asarray(counts))
    found = search.run(size)
    named = [(tuple(sorted(order[place] for place in members)), number) for members, number in found]
    return SpecialUniques(search.scores, sorted(named, key=lambda entry: (len(entry[0]), entry[0])), width, size)


def _check_size(width: int, size: int) -> None:
    if size < 1:
        raise InputError("Special uniques have one column or more.", Message("Use a size of 1 or more ({suda})."))
    sets = sum(comb(width, number) for number in range(1, size + 1))
    if sets > MOST_SETS:
        raise InputError(
            f"{width} columns have {sets:,} sets of up to {size} columns: too many to search.",
            Message(
                "Search smaller sets ({suda}: a size of {} or less), or fewer quasi-identifiers.", _fitting_size(width)
            ),
        )


def _fitting_size(width: int) -> int:
    total, size = 0, 0
    while size < width and total + comb(width, size + 1) <= MOST_SETS:
        size += 1
        total += comb(width, size)
    return max(size, 1)


class _Search:
    """Level by level; of each set is kept which tuples are alone on it, as bits."""

    def __init__(self, columns: Sequence[Codes], counts: Array) -> None:
        self.columns = [Coded(column.codes, column.cardinality) for column in columns]
        self.rows = len(counts)
        self.several = counts > 1
        self.scores = np.zeros(self.rows)
        # the keys of the set at hand and of its first columns
        self.path: list[tuple[tuple[int, ...], Coded]] = []

    def run(self, size: int) -> list[tuple[tuple[int, ...], int]]:
        """The column sets that are an MSU of some record, with the number of those records."""
        width = len(self.columns)
        alone: dict[tuple[int, ...], Array] = {(): np.packbits(np.zeros(self.rows, bool))}
        found = []
        for number in range(1, size + 1):
            progress.report("special uniques", number, size)
            worth = float(factorial(width - number))
            here: dict[tuple[int, ...], Array] = {}
            for members in combinations(range(width), number):
                already = np.bitwise_or.reduce([alone[part] for part in combinations(members, number - 1)])
                fresh = self._alone_now(members, already)
                if len(fresh):
                    self.scores[fresh] += worth
                    found.append((members, len(fresh)))
                    bits = np.zeros(self.rows, bool)
                    bits[fresh] = True
                    already = already | np.packbits(bits)
                if number < size:
                    here[members] = already
            alone = here
        return found

    def _alone_now(self, members: tuple[int, ...], already: Array) -> Array:
        """The tuples that are alone on a set and on no part of it."""
        left = np.flatnonzero(np.unpackbits(already, count=self.rows) == 0)
        key = self._key(members)
        single = _occurs_once(key.codes[left], key.cardinality)
        return np.asarray(left[single & ~self.several[left]])

    def _key(self, members: tuple[int, ...]) -> Coded:
        """One key per tuple. Sets come in lexical order, so the keys of the first columns are there already."""
        while self.path and self.path[-1][0] != members[: len(self.path[-1][0])]:
            self.path.pop()
        if self.path and len(self.path[-1][0]) == len(members):
            return self.path[-1][1]
        last = self.columns[members[-1]]
        key = last if len(members) == 1 else pack([self._key(members[:-1]), last])
        self.path.append((members, key))
        return key


def _occurs_once(key: Array, limit: int) -> Array:
    """Which keys occur once."""
    if limit <= max(_DENSE, len(key)):
        return np.asarray(np.bincount(key, minlength=1)[key] == 1)
    order, ordered = sorted_with_order(Coded(key, limit))
    differs = np.ones(len(ordered) + 1, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=differs[1:-1])
    once = np.empty(len(ordered), bool)
    once[order] = differs[1:] & differs[:-1]
    return once


def dis_suda(scores: Array, uniques: int, pairs: int, share: float, columns: int) -> Array:
    """The chance that a match with a special unique is right: DIS spread over the uniques by their scores.

    DIS = U p / (U p + P (1 - p)), U unique records, P records in pairs, p the sampled share (Skinner and Elliot);
    1 / (1 + (U / DIS - U) / (s^q sum(s^-q))), q = 1 + (8 - m) / 20 (Elliot and Manning, as in sdcMicro).

    >>> dis_suda(np.array([2.0, 6.0, 0.0]), 2, 4, 0.1, 3).round(4).tolist()
    [0.0336, 0.1208, 0.0]
    """
    risk = np.zeros(len(scores))
    special = scores > 0
    if not special.any() or not uniques:
        return risk
    chance = uniques * share / (uniques * share + pairs * (1 - share))
    power = 1 + (8 - columns) / 20
    scaled = scores[special] ** power
    risk[special] = 1 / (1 + (uniques / chance - uniques) / (scaled * (1 / scaled).sum()))
    return risk
