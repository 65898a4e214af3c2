"""A few points of a person, drawn at random: is there anybody else who has them all?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.models.item_sets import ItemSets
from shoal.storage import Array
from shoal.storage.classes import Coded

# persons of whom it is tried whether a few of their items tell them from all others
TARGETS = 10_000
# up to so many different points a table of flags is smaller than a search
_FLAGS = 1 << 28


def targets_of(owner: Coded, targets: int, seed: int) -> Array:
    """So many persons drawn at random, all of them where there are fewer; in order."""
    draw = np.random.default_rng(seed)
    return np.sort(draw.choice(owner.cardinality, min(targets, owner.cardinality), replace=False))


def alone_with(owner: Coded, point: Coded, target: Array, asked: list[int], seed: int) -> tuple[Array, int]:
    """Whether each target is the only person with its first so many points, and how many targets have fewer points.

    The points of a target are drawn without replacement from its different ones; with more points the same are known
    and others beside them. An index of persons by point is made for known points only: one pass over the rows.
    """
    from shoal.kernels.attacks import others_with_all

    known = known_points(owner, point, target, asked[-1], seed)
    needed = np.unique(known.codes[known.codes >= 0])
    ranks = np.where(known.codes >= 0, np.searchsorted(needed, known.codes), -1)
    rows = rows_among(point, needed)
    persons = owner.cardinality
    index = np.searchsorted(needed, point.codes[rows].astype(np.int64)) * persons + owner.codes[rows]
    index.sort()
    starts = np.searchsorted(index, np.arange(len(needed) + 1) * persons)
    others = others_with_all(index, starts, persons, target.astype(np.int64), ranks, np.array(asked))
    return ~others, int((known.different < asked[-1]).sum())


class Known(NamedTuple):
    """Points that an attacker knows: one line per target, padded with -1, and how many the target has in all."""

    codes: Array
    different: Array


def known_points(owner: Coded, point: Coded, target: Array, most: int, seed: int) -> Known:
    """Up to `most` different points of each target, in a random order that does not depend on the order of rows.

    >>> owner, point = Coded(np.array([0, 0, 1]), 2), Coded(np.array([5, 5, 6]), 7)
    >>> known_points(owner, point, np.array([0, 1]), 2, seed=0).codes.tolist()
    [[5, -1], [6, -1]]
    """
    rows = rows_among(owner, target)
    mine = np.searchsorted(target, owner.codes[rows].astype(np.int64))
    pairs = np.unique(np.stack([mine, point.codes[rows].astype(np.int64)], axis=1), axis=0)
    count = np.bincount(pairs[:, 0], minlength=len(target))
    order, rank = drawn(pairs[:, 0], count, seed)
    kept = rank < most
    codes = np.full((len(target), most), -1, np.int64)
    codes[pairs[order, 0][kept], rank[kept]] = pairs[order, 1][kept]
    return Known(codes, count)


def drawn(group: Array, count: Array, seed: int) -> tuple[Array, Array]:
    """The members of each group in a random order: positions group by group, and the number of each in its group.

    >>> drawn(np.array([0, 0, 1]), np.array([2, 1]), seed=0)[1].tolist()
    [0, 1, 0]
    """
    order = np.lexsort((np.random.default_rng([seed, 1]).random(len(group)), group))
    return order, np.arange(len(group)) - np.repeat(np.cumsum(count) - count, count)


def rows_among(column: Coded, wanted: Array) -> Array:
    """The rows whose code is among those wanted, which are sorted.

    >>> rows_among(Coded(np.array([3, 1, 3, 0]), 4), np.array([0, 3])).tolist()
    [0, 2, 3]
    """
    if column.cardinality <= _FLAGS:
        flags = np.zeros(column.cardinality, bool)
        flags[wanted] = True
        return np.flatnonzero(flags[column.codes])
    places = np.searchsorted(wanted, column.codes)
    return np.flatnonzero(wanted[np.minimum(places, len(wanted) - 1)] == column.codes)


def alone_shares(sets: ItemSets, sizes: Sequence[int]) -> list[float]:
    """The share of persons whom so many of their items, drawn at random, tell from all others.

    >>> sets = ItemSets.of(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2]), 2)
    >>> alone_shares(sets, [2])
    [1.0]
    """
    having = np.flatnonzero(sets.lengths)
    if not len(having):
        return [0.0] * len(sizes)
    rank = np.cumsum(sets.lengths > 0) - 1
    owner = Coded(rank[sets.owner], len(having))
    target = targets_of(owner, TARGETS, 0)
    alone, _ = alone_with(owner, Coded(sets.items, len(sets.code)), target, list(sizes), 0)
    # who has no item is not found by one
    return [float(one) * len(having) / sets.persons for one in alone.mean(axis=0)]
