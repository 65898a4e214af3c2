"""The fewest cells so that every record matches k, where a suppressed cell matches anything.

Sets of columns are tried from the cheapest on. A record takes the first set outside which k records are like it: then
whatever else is suppressed, those k match it. Records for which no cheap set does may also count those that were
suppressed already and match them because of it (`_Settled`): the more are settled, the more find help.

A record that stands out is always changed itself. Matching alone would let two suppressed records cover a hundred
unique ones that stay in full view.

Under the null rule `wildcard` missing values match anything from the start: the `free` columns of a tuple, as a bit
mask. They cost nothing, and a record stands out if fewer than k match it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message
from shoal.methods.suppression import groups_on, tiers
from shoal.ranges.coverage import like_rows
from shoal.storage import Array
from shoal.storage.classes import Coded

# flags for each combination of m columns and each tuple
MOST_FLAGS = 400_000_000
# joins of settled with open tuples for sets of one cost; small tables may take more
MOST_JOINS = 1_200
FEW_JOINED = 20_000_000
# tuples up to which all pairs are compared once, instead of grouped for each set of columns: to count what is alike,
# and what matches by its suppressed cells
FEW_ALIKE, FEW_MATCHING = 200, 2_000
# bytes of counts of records that are kept for the sets of one cost
MOST_KEPT = 100_000_000
# parts in which tuples are settled by matching where a tier has one set, and how often all are asked
_PARTS = 64
_ROUNDS = 4


def masks_for_wildcards(
    codes: Sequence[Coded],
    counts: Array,
    k: int,
    costs: Sequence[float],
    m: int | None = None,
    free: Array | None = None,
) -> tuple[Array, Array]:
    """The columns to suppress (a bit mask) in the records of each distinct tuple, of which there are `counts`; and the
    tuples that stood out.

    With `m`, every combination of m columns must reach k instead of all columns together.

    >>> codes = [Coded(np.array([0, 0, 1]), 2), Coded(np.array([0, 1, 2]), 3)]
    >>> masks, out = masks_for_wildcards(codes, np.array([4, 1, 1]), 2, [1.0, 1.0])
    >>> masks.tolist(), out.tolist()
    ([0, 2, 1], [1, 2])
    >>> masks_for_wildcards(codes, np.array([4, 1, 1]), 2, [1.0, 1.0], free=np.array([0, 2, 0]))[0].tolist()
    [0, 0, 1]
    """
    free = np.zeros(len(counts), np.int64) if free is None else free
    rare = _Rare.of(codes, counts, k, m, free)
    masks = np.zeros(len(counts), np.int64)
    standing_out = left = rare.standing_out()
    settled = _Settled(rare, masks)
    for tier in tiers(costs):
        if not len(left):
            break
        rare.kept.clear()
        left = _settle(rare, settled, tier, left, by_matching=False)
        if m is None and len(left) and settled.by_mask and settled.is_quick(tier):
            left = _settle_by_matching(rare, settled, tier, left)
        settled.tried += len(tier)
    if free.any() and m is None:
        _give_up(codes, counts, masks, free, k)
    return masks, standing_out


def _settle(rare: _Rare, settled: _Settled, tier: list[int], tuples: Array, by_matching: bool) -> Array:
    """Decide the suppressed columns of the tuples for which a set of the tier suffices; the others."""
    found = _choose(rare, settled, tier, tuples, by_matching)
    settled.masks[tuples] = found
    settled.add(tuples[found > 0])
    left: Array = tuples[found == 0]
    return left


def _settle_by_matching(rare: _Rare, settled: _Settled, tier: list[int], left: Array) -> Array:
    """Who is settled helps the next ones: tuples are asked part by part, those with the fewest near them first (the
    others find help more easily), and all again while somebody was helped."""
    left = left[np.argsort(rare.nearby[left], kind="stable")]
    parts = max(1, _PARTS // len(tier))
    for _ in range(_ROUNDS):
        before = len(left)
        for part in np.array_split(left, parts):
            _settle(rare, settled, tier, part, by_matching=True)
        left = left[settled.masks[left] == 0]
        if len(left) in (0, before):
            break
    return np.sort(left)


def _give_up(codes: Sequence[Coded], counts: Array, masks: Array, free: Array, k: int) -> None:
    """Suppress throughout whoever matches fewer than k now: somebody that a missing value let them count on may have
    been suppressed throughout, and such rows cover nobody."""
    everything = (1 << len(codes)) - 1
    while True:
        hidden = masks | free
        shown = np.flatnonzero(hidden != everything)
        if not len(shown):
            return
        known = (hidden[shown, None] >> np.arange(len(codes)) & 1) == 0
        columns = [Coded(column.codes[shown], column.cardinality) for column in codes]
        alone = like_rows(columns, known, counts[shown]) < k
        if not alone.any():
            return
        masks[shown[alone]] = everything


def _choose(rare: _Rare, settled: _Settled, tier: list[int], left: Array, by_matching: bool) -> Array:
    """For each tuple a set of the tier that suffices, or 0; of several the one that most tuples could take."""
    chosen, popularity = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    everything = (1 << len(rare.codes)) - 1
    step = f"suppressing: sets of columns{', with records that match' if by_matching else ''}"
    for number, mask in enumerate(tier):
        if not len(left):
            break
        progress.report(step, settled.tried + number, everything)
        if not by_matching:
            enough = rare.enough(mask, left)
        else:
            enough = rare.alike(mask, left) + settled.matching(mask, left) >= rare.k
        if not enough.any():
            continue
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
    free: Array
    # of the sets of one cost: how many records are like each tuple outside the set, up to k
    kept: dict[int, Array] = field(default_factory=dict)

    @classmethod
    def of(cls, codes: Sequence[Coded], counts: Array, k: int, m: int | None, free: Array) -> _Rare:
        columns = len(codes)
        m = columns if m is None else m
        if comb(columns, m) * len(counts) > MOST_FLAGS:
            raise InputError(
                f"All combinations of {m} out of {columns} columns are too many to protect.",
                Message("Use a smaller `{subset_size}`, or fewer quasi-identifiers."),
            )
        chosen = [sum(1 << place for place in places) for places in combinations(range(columns), m)]
        everything = (1 << columns) - 1
        rare = cls(codes, counts, k, m, chosen, np.empty((len(chosen), len(counts)), bool), free)
        for number, mask in enumerate(chosen):
            progress.report("combining columns", number, len(chosen))
            # a row in which everything is missing stands in no class
            rare.flags[number] = (rare.alike(everything ^ mask, np.arange(len(counts))) < k) & (free != everything)
        return rare

    @cached_property
    def nearby(self) -> Array:
        """How many records are like each tuple outside two columns, summed over all pairs."""
        found = np.zeros(len(self.counts))
        for one, other in combinations(range(len(self.codes)), 2):
            group, groups = groups_on(self.codes, 1 << one | 1 << other)
            found += np.bincount(group, self.counts, groups)[group]
        return found

    def standing_out(self) -> Array:
        """The tuples with any rare combination."""
        return np.flatnonzero(self.flags.any(axis=0))

    def alike(self, mask: int, tuples: Array) -> Array:
        """How many records (k, where there are more) are like each of these outside a mask, and outside what is free in
        either."""
        if len(self.counts) <= FEW_ALIKE:
            return np.asarray(((self.differences[tuples] & ~mask) == 0) @ self._covering)
        if not self.free.any():
            like = self.kept.get(mask)
            if like is None:
                group, groups = groups_on(self.codes, mask)
                sizes = np.minimum(np.bincount(group, self.counts, groups), self.k)
                like = sizes.astype(np.min_scalar_type(self.k))[group]
                if (len(self.kept) + 1) * like.nbytes <= MOST_KEPT:
                    self.kept[mask] = like
            return like[tuples].astype(np.int64)
        found = np.zeros(len(tuples), np.int64)
        everything = (1 << len(self.codes)) - 1
        for theirs in np.unique(self.free).tolist():
            if theirs == everything:  # it covers nobody
                continue
            others = np.flatnonzero(self.free == theirs)
            for own in np.unique(self.free[tuples]).tolist():
                here = np.flatnonzero(self.free[tuples] == own)
                found[here] += _agreeing(self, mask | own | theirs, others, tuples[here])
        return found

    @cached_property
    def differences(self) -> Array:
        """The columns in which each tuple (a row) differs from each, but for those that are free in either."""
        found = np.zeros((len(self.counts), len(self.counts)), np.int64)
        for place, column in enumerate(self.codes):
            found |= (column.codes[:, None] != column.codes).astype(np.int64) << place
        return found & ~(self.free[:, None] | self.free)

    @cached_property
    def _covering(self) -> Array:
        """The records of each tuple that others count on: without any value they cover nobody."""
        return np.where(self.free == (1 << len(self.codes)) - 1, 0, self.counts)

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

    rare: _Rare
    masks: Array
    by_mask: dict[tuple[int, int], Array] = field(default_factory=dict)
    tried: int = 0  # sets of columns, of cheaper tiers

    def add(self, tuples: Array) -> None:
        """Tuples that were decided; rows suppressed throughout cover nobody."""
        everything = (1 << len(self.rare.codes)) - 1
        for mask, free in set(zip(self.masks[tuples].tolist(), self.rare.free[tuples].tolist(), strict=True)):
            if mask | free != everything:
                these = tuples[(self.masks[tuples] == mask) & (self.rare.free[tuples] == free)]
                self.by_mask[mask, free] = np.concatenate([self.by_mask.get((mask, free), these[:0]), these])

    def is_quick(self, tier: list[int]) -> bool:
        """Whether matching is worth its time: joins grow with the sets of columns that are suppressed somewhere."""
        joins = len(tier) * len(self.by_mask)
        return joins <= MOST_JOINS or joins * len(self.rare.counts) <= FEW_JOINED

    def matching(self, mask: int, tuples: Array) -> Array:
        """Settled records that match each tuple only because of their own suppressed cells."""
        if len(self.rare.counts) <= FEW_MATCHING:
            settled = np.concatenate(list(self.by_mask.values()))
            apart = self.rare.differences[np.ix_(tuples, settled)] & ~mask
            joined = (apart != 0) & ((apart & ~self.masks[settled]) == 0)
            return np.asarray(joined @ self.rare.counts[settled])
        matches = np.zeros(len(tuples), np.int64)
        for free in np.unique(self.rare.free[tuples]).tolist():
            here = np.flatnonzero(self.rare.free[tuples] == free)
            after: dict[int, list[Array]] = {}
            before: dict[int, list[Array]] = {}
            for (own, theirs), settled in self.by_mask.items():
                if own & ~(mask | free | theirs):
                    after.setdefault(mask | free | theirs | own, []).append(settled)
                    before.setdefault(mask | free | theirs, []).append(settled)
            for union, parts in after.items():
                matches[here] += _agreeing(self.rare, union, np.concatenate(parts), tuples[here])
            for union, parts in before.items():
                matches[here] -= _agreeing(self.rare, union, np.concatenate(parts), tuples[here])
        return matches


def _agreeing(rare: _Rare, mask: int, records: Array, tuples: Array) -> Array:
    """How many of some records are like each tuple outside a mask."""
    group, groups = groups_on(rare.codes, mask, np.concatenate([records, tuples]))
    counts = np.bincount(group[: len(records)], rare.counts[records], groups)
    return np.asarray(counts[group[len(records) :]], np.int64)
