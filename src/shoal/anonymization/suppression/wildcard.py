"""The fewest cells so that every record matches k, where a suppressed cell matches anything.

Sets of columns are tried from the cheapest on. A record takes the first set outside which k records are like it: then
whatever else is suppressed, those k match it. Records for which no cheap set does may also count those that were
suppressed already and match them because of it (`_Settled`).

A record that stands out is always changed itself. Matching alone would let two suppressed records cover a hundred
unique ones that stay in full view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb

import numpy as np

from shoal import progress
from shoal.anonymization.suppression.sets import groups_on, tiers
from shoal.errors import InputError
from shoal.table import Array
from shoal.table.classes import Coded

# flags for each combination of m columns and each tuple
MOST_FLAGS = 400_000_000
# joins of settled with open tuples for sets of one cost; small tables may take more
MOST_JOINS = 1_200
FEW_JOINED = 20_000_000


def masks_for_wildcards(
    codes: Sequence[Coded], counts: Array, k: int, costs: Sequence[float], m: int | None = None
) -> Array:
    """The columns to suppress (a bit mask) in the records of each distinct tuple, of which there are `counts`.

    With `m`, every combination of m columns must reach k instead of all columns together.

    >>> codes = [Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 2]), 3)]
    >>> masks_for_wildcards(codes, np.array([4, 1, 1]), 2, [1.0, 1.0]).tolist()
    [0, 2, 1]
    """
    rare = _Rare.of(codes, counts, k, m)
    masks = np.zeros(len(counts), np.int64)
    left = rare.standing_out()
    settled = _Settled(codes, counts, masks)
    total = len(left)
    for tier in tiers(costs):
        if not len(left):
            break
        progress.report("suppressing", total - len(left), total)
        for by_matching in (False, True):
            if by_matching and (m is not None or not settled.is_quick(tier)):
                continue
            found = _choose(rare, settled if by_matching else None, tier, left, k)
            masks[left] = found
            settled.add(left[found > 0])
            left = left[found == 0]
    return masks


def _choose(rare: _Rare, settled: _Settled | None, tier: list[int], left: Array, k: int) -> Array:
    """For each tuple a set of the tier that suffices, or 0; of several the one that most tuples could take."""
    chosen, popularity = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    everything = (1 << len(rare.codes)) - 1
    for mask in tier:
        if not len(left):
            break
        if settled is None:
            enough = rare.enough(mask, left)
        else:
            enough = rare.alike(mask, left) + settled.matching(mask, left) >= k
        group, groups = groups_on(rare.codes, mask, left)
        takers = np.bincount(group[enough], rare.counts[left[enough]], groups).astype(np.int64)[group]
        # a row without any value covers nobody: never where another set of the tier does
        better = enough & ((takers > popularity) if mask != everything else (chosen == 0))
        chosen[better], popularity[better] = mask, takers[better]
    return chosen


@dataclass(frozen=True)
class _Rare:
    """Which tuples have a combination that fewer than k records share."""

    codes: Sequence[Coded]
    counts: Array
    k: int
    m: int
    combinations: list[int]  # of m columns, as masks
    flags: Array  # per combination and tuple: whether it is rare

    @classmethod
    def of(cls, codes: Sequence[Coded], counts: Array, k: int, m: int | None) -> _Rare:
        columns = len(codes)
        m = columns if m is None else m
        if comb(columns, m) * len(counts) > MOST_FLAGS:
            raise InputError(
                f"All combinations of {m} out of {columns} columns are too many to protect.",
                "Use a smaller --all-m, or fewer quasi-identifiers.",
            )
        chosen = [sum(1 << place for place in places) for places in combinations(range(columns), m)]
        everything = (1 << columns) - 1
        flags = np.empty((len(chosen), len(counts)), bool)
        for number, mask in enumerate(chosen):
            progress.report("combining columns", number, len(chosen))
            group, groups = groups_on(codes, everything ^ mask)
            flags[number] = (np.bincount(group, counts, groups) < k)[group]
        return cls(codes, counts, k, m, chosen, flags)

    def standing_out(self) -> Array:
        """The tuples with any rare combination."""
        return np.flatnonzero(self.flags.any(axis=0))

    def alike(self, mask: int, tuples: Array) -> Array:
        """How many records are like each of these outside a mask."""
        group, groups = groups_on(self.codes, mask)
        return np.bincount(group, self.counts, groups).astype(np.int64)[group[tuples]]

    def enough(self, mask: int, tuples: Array) -> Array:
        """For which of these tuples nothing rare is left outside a mask."""
        columns = len(self.codes)
        shown = columns - mask.bit_count()
        if shown == 0:
            return np.ones(len(tuples), bool)
        if shown < self.m:
            return np.asarray(self.alike(mask, tuples) >= self.k)
        inside = [number for number, chosen in enumerate(self.combinations) if not chosen & mask]
        return np.asarray(~self.flags[inside][:, tuples].any(axis=0))


@dataclass
class _Settled:
    """Tuples whose suppressed columns are decided, by those columns."""

    codes: Sequence[Coded]
    counts: Array
    masks: Array
    by_mask: dict[int, Array] = field(default_factory=dict)

    def add(self, tuples: Array) -> None:
        """Tuples that were decided; rows suppressed throughout cover nobody."""
        everything = (1 << len(self.codes)) - 1
        for mask in np.unique(self.masks[tuples]).tolist():
            if mask != everything:
                these = tuples[self.masks[tuples] == mask]
                self.by_mask[mask] = np.concatenate([self.by_mask.get(mask, these[:0]), these])

    def is_quick(self, tier: list[int]) -> bool:
        """Whether matching is worth its time: joins grow with the sets of columns that are suppressed somewhere."""
        joins = len(tier) * len(self.by_mask)
        return joins <= MOST_JOINS or joins * len(self.counts) <= FEW_JOINED

    def matching(self, mask: int, tuples: Array) -> Array:
        """Settled records that match each tuple only because of their own suppressed cells."""
        hidden: dict[int, list[Array]] = {}
        for own, settled in self.by_mask.items():
            if own & ~mask:
                hidden.setdefault(mask | own, []).append(settled)
        if not hidden:
            return np.zeros(len(tuples), np.int64)
        matching = [self._agreeing(union, np.concatenate(settled), tuples) for union, settled in hidden.items()]
        everyone = np.concatenate([part for settled in hidden.values() for part in settled])
        return np.asarray(sum(matching) - self._agreeing(mask, everyone, tuples))

    def _agreeing(self, mask: int, settled: Array, tuples: Array) -> Array:
        """How many of the settled records are like each tuple outside a mask."""
        group, groups = groups_on(self.codes, mask, np.concatenate([settled, tuples]))
        records = np.bincount(group[: len(settled)], self.counts[settled], groups)
        return np.asarray(records[group[len(settled) :]], np.int64)
