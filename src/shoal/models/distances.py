"""How near each class is to the whole table in a sensitive attribute: the earth mover's distance, three ways."""

from __future__ import annotations

from typing import Literal

import numpy as np

from shoal.kernels import closeness
from shoal.models.spread import Spread, Whole
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, sensitive_counts, sorted_with_order

Labels = Literal["values", "ranks"]
Way = Literal["equal", "ordered", "hierarchical"]
# entries of a dense table of classes and codes that are looked at together
_BLOCK = 1 << 20
# entries of classes that are looked at together
_ENTRIES = 1 << 16


def distance_of_cells(spread: Spread, way: Way) -> Array:
    """The distance of each cell from the whole table: that of the known values, and the difference of the shares of
    members without one.

    equal: half the sum of |q - p|, ordered: sum of |F_class - F| / (M - 1), hierarchical: over the inner nodes,
    height / height of the tree times what has to be moved between the node's children (Li, Li, Venkatasubramanian).

    >>> spread = Spread(*np.array([[0, 0, 1], [0, 1, 2], [1, 1, 2]]), Whole(np.array([1, 1, 2])))
    >>> [distance_of_cells(spread, way).tolist() for way in ("equal", "ordered")]
    [[0.5, 0.5], [0.375, 0.375]]
    """
    # what is not known says nothing about values: only that it is not known
    known = np.where(spread.known > 0, _of_known(spread, way), 0.0)
    return np.asarray(known + np.abs(spread.unknown_shares - spread.whole.unknown_share))


def _of_known(spread: Spread, way: Way) -> Array:
    if way == "equal":
        return spread.total(np.maximum(spread.shares - spread.whole.shares[spread.codes], 0.0))
    return _ordered(spread) if way == "ordered" else _hierarchical(spread)


def farthest_point(whole: Whole, way: Way) -> float:
    """The distance from the whole table of the farthest class that has one value only.

    >>> farthest_point(Whole(np.array([1, 1, 2])), "equal")
    0.75
    """
    present = np.flatnonzero(whole.valued)
    if not len(present):
        return 0.0
    alone = Spread(np.arange(len(present)), present, np.ones(len(present), np.int64), whole)
    return float(_of_known(alone, way).max())


def _ordered(spread: Spread) -> Array:
    """F is constant for a class between two of its members, so a class of m members takes m + 1 stretches, each summed
    in closed form. Some classes after the other, so that what is computed of them stays in the cache."""
    labels, starts = spread.whole.values, spread.starts
    if labels < 2:
        return np.zeros(len(starts))
    share = np.cumsum(spread.whole.shares[:labels])
    area = np.concatenate([[0.0], np.cumsum(share)])
    found = np.empty(len(starts))
    ends = np.append(starts, len(spread.codes))
    firsts = np.unique(np.searchsorted(starts, np.arange(0, len(spread.codes), _ENTRIES), side="right") - 1)
    for first, last in zip(firsts.tolist(), [*firsts[1:].tolist(), len(starts)], strict=True):
        here = slice(ends[first], ends[last])
        found[first:last] = _areas(
            spread.codes[here], spread.valued[here], starts[first:last] - here.start, share, area
        )
    return found / (labels - 1)


def _areas(codes: Array, valued: Array, starts: Array, share: Array, area: Array) -> Array:
    """The sum of |F_class - F| of some classes."""
    # a stretch from each member to the next of its class (or the end), and one from the start to the first
    entries = np.diff(starts, append=len(codes))
    stop = np.append(codes[1:], len(share))
    stop[starts[1:] - 1] = len(share)
    running = np.cumsum(valued)
    before = np.repeat((running - valued)[starts], entries)
    level = (running - before) / np.maximum(np.repeat(np.add.reduceat(valued, starts), entries), 1)
    return np.asarray(np.add.reduceat(_stretch(level, codes, stop, share, area), starts) + area[codes[starts]])


def _stretch(level: Array, start: Array, stop: Array, share: Array, area: Array) -> Array:
    """Sum of |level - F(i)| for start <= i < stop; F grows, so it crosses the level once."""
    cross = np.clip(np.searchsorted(share, level), start, stop)
    below = level * (cross - start) - (area[cross] - area[start])
    above = (area[stop] - area[cross]) - level * (stop - cross)
    return np.asarray(below + above)


def _hierarchical(spread: Spread) -> Array:
    """Moving costs the height of the common node; summed up, that is the mean over the levels below the top of the
    equal distance between nodes. Blocks of classes, so that the dense table of shares stays small."""
    classes, height = len(spread.starts), len(spread.whole.tree) - 1
    found = np.zeros(classes)
    if height < 1:
        return found
    step = max(1, _BLOCK // len(spread.whole.counts))
    ends = np.append(spread.starts, len(spread.cells))
    number = np.repeat(np.arange(classes), spread.entries)
    for first in range(0, classes, step):
        last = min(classes, first + step)
        entries = slice(ends[first], ends[last])
        of_class, codes, shares = number[entries] - first, spread.codes[entries], spread.shares[entries]
        for nodes, whole in zip(spread.whole.tree[:-1], spread.whole.shares_by_level, strict=False):
            joined = np.bincount(of_class * len(whole) + nodes[codes], shares, (last - first) * len(whole))
            found[first:last] += np.maximum(joined.reshape(-1, len(whole)) - whole, 0.0).sum(axis=1)
    return found / height


def ordered_distance(
    class_of_row: Array,
    classes: int,
    confidential: Column,
    labels: Labels = "values",
    weights: Array | None = None,
) -> Array:
    """The ordered distance of each class, over the distinct values or the ranks of all records (ties by row).

    `weights`: the records of each row; ranks are of rows that are one record each.

    >>> from shoal.storage.reading import read
    >>> charge = read({"charge": [10, 20, 30, 40]})["charge"]
    >>> ordered_distance(np.array([0, 0, 1, 1]), 2, charge).tolist()
    [0.3333333333333333, 0.3333333333333333]
    """
    if labels == "ranks":
        return distance_by_ranks(class_of_row, classes, ranks_of(confidential), weights)
    codes = Coded(confidential.codes, confidential.cardinality)
    return _distance_by_codes(class_of_row, classes, codes, confidential.nulls > 0, weights)


def ranks_of(confidential: Column) -> Array:
    """The rank of each record among all, ties by row.

    >>> from shoal.storage.reading import read
    >>> ranks_of(read({"charge": [20, 10, 20]})["charge"]).tolist()
    [1, 0, 2]
    """
    ranks = np.empty(len(confidential.codes), np.int64)
    ranks[sorted_with_order(Coded(confidential.codes, confidential.cardinality))[0]] = np.arange(len(ranks))
    return ranks


def distance_by_ranks(class_of_row: Array, classes: int, ranks: Array, weights: Array | None = None) -> Array:
    """The ordered distance of each class over ranks that are known."""
    return _distance_by_codes(class_of_row, classes, Coded(ranks, len(ranks)), False, weights)


def _distance_by_codes(class_of_row: Array, classes: int, codes: Coded, missing: bool, weights: Array | None) -> Array:
    found = sensitive_counts(class_of_row, classes, codes, weights)
    counts = np.bincount(codes.codes, weights, minlength=codes.cardinality).astype(np.int64)
    whole = Whole(counts, missing=missing)
    spread = Spread(found.classes.astype(np.int64), found.codes.astype(np.int64), found.counts, whole)
    return distance_of_cells(spread, "ordered")


def farthest_class(
    class_of_row: Array,
    classes: int,
    confidential: Column,
    labels: Labels = "values",
    weights: Array | None = None,
) -> float | None:
    """The ordered distance of the farthest class; suppressed rows (-1) are part of the whole table, but of no class.

    None where every row is suppressed.

    >>> from shoal.storage.reading import read
    >>> charge = read({"charge": [10, 20, 30, 40]})["charge"]
    >>> [round(farthest_class(np.array(rows), 1, charge), 4) for rows in ([0, -1, -1, 0], [0, 0, -1, -1])]
    [0.1667, 0.3333]
    """
    apart = class_of_row < 0
    found = ordered_distance(np.where(apart, classes, class_of_row), classes + 1, confidential, labels, weights)
    judged = found[:-1] if apart.any() else found
    return float(judged.max()) if len(judged) else None


# The largest part of a class that is within t of the whole table: no finer classes can keep more of it.


class DistanceTree:
    """The tree of a sensitive column for the loops: `nodes[level, code]`, and the shares of all nodes, level by level
    from `first[level]` on. Without a hierarchy values stand directly below the top (the equal distance)."""

    def __init__(self, whole: Whole, hierarchical: bool) -> None:
        levels = [nodes.astype(np.int64) for nodes in whole.tree]
        shares = whole.shares_by_level
        if not hierarchical:
            levels = [np.arange(len(whole.counts)), np.zeros(len(whole.counts), np.int64)]
            shares = [whole.shares, np.ones(1)]
        self.nodes = np.array(levels)
        self.shares = np.concatenate(shares)
        self.first = np.append(0, np.cumsum([len(of_level) for of_level in shares]))
        self.parent = np.zeros(len(self.shares), np.int64)
        for level in range(len(levels) - 1):
            self.parent[self.first[level] + levels[level]] = self.first[level + 1] + levels[level + 1]

    @property
    def height(self) -> int:
        return len(self.nodes) - 1

    def for_loops(self) -> closeness.ValueTree:
        """The tree as loops take it, with work space of one thread."""
        return closeness.ValueTree(self.nodes[0], self.shares, self.first, self.parent)


def must_lose(spread: Spread, tree: DistanceTree, far: Array, t: float) -> Array:
    """The least share of each class that finer classes lose, where all are to be within t; `far`: which are not.

    Finer classes that are within t are so together, since the distance is convex. So what they keep of a class is a
    part of it within t, and the largest such part bounds it.

    >>> spread = Spread(*np.array([[0, 0], [0, 1], [9, 1]]), Whole(np.array([10, 10])))
    >>> must_lose(spread, DistanceTree(spread.whole, False), np.array([True]), 0.25).tolist()  # 3 and 1 are left
    [0.6]
    """
    lost = np.zeros(len(spread.starts))
    ends = np.append(spread.starts, len(spread.codes))
    closeness.lost_shares(tree.for_loops(), np.flatnonzero(far), ends, spread.codes, spread.counts, t, lost)
    return lost


def least_within(t: float, tree: DistanceTree, most: int) -> int:
    """The fewest members that can be within t of the whole table, whatever their values; `most` where it is more.

    One member after the other gets the value that adds least, which is the best for all of them: the distance is a sum
    of convex functions, one of every branch of the tree.

    >>> least_within(0.25, DistanceTree(Whole(np.array([10, 10])), False), 9)  # 1 of 1 is 0.5 away, 1 of 2 is not
    2
    """
    return int(closeness.least_within(tree.for_loops(), t, most))
