"""The largest part of a class that is within t of the whole table: no finer classes can keep more of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.compiled import compiled, compiled_part
from shoal.models.spread import Spread, Whole
from shoal.table import Array

# amounts are members times shares: those that differ by less are the same
_SAME = 1e-9
# each step of Newton's method gives a bound that holds, the next one a better one
_STEPS = 3


class Tree:
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

    def scratch(self) -> Array:
        """Space for the amounts of every node by slope, and for their derivatives."""
        return np.zeros((2, len(self.shares), self.height + 1))


def must_lose(spread: Spread, tree: Tree, far: Array, t: float) -> Array:
    """The least share of each class that finer classes lose, where all are to be within t; `far`: which are not.

    Finer classes that are within t are so together, since the distance is convex. So what they keep of a class is a
    part of it within t, and the largest such part bounds it.

    >>> spread = Spread(*np.array([[0, 0], [0, 1], [9, 1]]), Whole(np.array([10, 10])))
    >>> must_lose(spread, Tree(spread.whole, False), np.array([True]), 0.25).tolist()  # 3 and 1 are left
    [0.6]
    """
    lost = np.zeros(len(spread.starts))
    ends = np.append(spread.starts, len(spread.codes))
    arrays = (tree.nodes[0], tree.shares, tree.first, tree.parent, tree.scratch())
    _lost_shares(np.flatnonzero(far), ends, spread.codes, spread.counts, t, *arrays, lost)
    return lost


def least_within(t: float, tree: Tree, most: int) -> int:
    """The fewest members that can be within t of the whole table, whatever their values; `most` where it is more.

    One member after the other gets the value that adds least, which is the best for all of them: the distance is a sum
    of convex functions, one of every branch of the tree.

    >>> least_within(0.25, Tree(Whole(np.array([10, 10])), False), 9)  # 1 of 1 is 0.5 away, 1 of 2 is not
    2
    """
    return int(_least_within(t, most, tree.shares, tree.first, tree.parent))


@compiled
def _least_within(t: float, most: int, shares: Array, first: Array, parent: Array) -> int:
    height = len(first) - 2
    held = np.zeros(len(shares))
    for size in range(1, most):
        held[:] = 0.0
        cost = 0.0
        for _ in range(size):
            best, added = -1, np.inf
            for leaf in range(first[1]):
                node, more = leaf, 0.0
                for _ in range(height):
                    more += min(max(held[node] + 1 - size * shares[node], 0.0), 1.0)
                    node = parent[node]
                if more < added:
                    best, added = leaf, more
            cost += added
            node = best
            for _ in range(height):
                held[node] += 1
                node = parent[node]
        if cost <= (t * height + _SAME) * size:
            return size
    return most


@compiled
def _lost_shares(
    which: Array,
    ends: Array,
    codes: Array,
    counts: Array,
    t: float,
    leaf: Array,
    shares: Array,
    first: Array,
    parent: Array,
    work: Array,
    lost: Array,
) -> None:
    members = np.zeros(first[1], np.int64)
    for i in which:
        members[:] = 0
        size = 0
        for e in range(ends[i], ends[i + 1]):
            members[leaf[codes[e]]] += counts[e]
            size += counts[e]
        lost[i] = 1 - most_kept(members, size, 1, t, shares, first, parent, work) / size


@compiled_part
def most_kept(
    members: Array, size: int, least: int, t: float, shares: Array, first: Array, parent: Array, work: Array
) -> int:
    """An upper bound of the members in a part within t of a class that is not, `members[leaf]` of each value; 0 where
    no part of `least` members is.

    The least cost of keeping S members, less what t allows, is convex in S and 0 at the largest S: Newton's method from
    above never passes it.
    """
    allowed = t * (len(first) - 2)
    # a little less than all: there the last amount is used up, and the slope has two sides
    kept = size - 1e-3
    for _ in range(_STEPS):
        cost, slope = least_cost(members, kept, shares, first, parent, work)
        over = cost - kept * allowed
        if over <= _SAME * size or slope <= allowed:
            break
        step = over / (slope - allowed)
        kept = max(kept - step, 0.0)
        if step < 0.1 or kept + 1 < least:
            break
    most = min(int(kept + 1e-3 + 1e-6), size - 1)
    return most if most >= least else 0


@compiled_part
def least_cost(members: Array, kept: float, shares: Array, first: Array, parent: Array, work: Array) -> Any:
    """The least height x distance x S of a part of S members, and its slope in S (the left one).

    A node with more than S times its share has to send the rest past itself, at every level. What can be kept under a
    node is taken cheapest first: amounts[node, s] at s per member.
    """
    height = len(first) - 2
    amounts, slopes = work[0], work[1]
    for node in range(first[1], first[height + 1]):
        for s in range(height + 1):
            amounts[node, s] = 0.0
            slopes[node, s] = 0.0
    for leaf in range(first[1]):
        # without a branch: which values are too many changes from one to the next
        above, left, share = parent[leaf], kept * shares[leaf], shares[leaf]
        within = min(float(members[leaf]), left)
        used_up = share if members[leaf] >= left - _SAME else 0.0
        amounts[above, 0] += within
        slopes[above, 0] += used_up
        amounts[above, 1] += members[leaf] - within
        slopes[above, 1] -= used_up
    for level in range(1, height):
        for node in range(first[level], first[level + 1]):
            left, left_slope = kept * shares[node], shares[node]
            above = parent[node]
            over = over_slope = 0.0
            for s in range(level + 1):
                amount, slope = amounts[node, s], slopes[node, s]
                whole = (amount < left - _SAME) | ((amount <= left + _SAME) & (slope >= left_slope))
                within = amount if whole else left
                within_slope = slope if whole else left_slope
                left -= within
                left_slope -= within_slope
                amounts[above, s] += within + over
                slopes[above, s] += within_slope + over_slope
                over, over_slope = amount - within, slope - within_slope
            amounts[above, level + 1] += over
            slopes[above, level + 1] += over_slope
    top = first[height]
    left, left_slope = kept, 1.0
    cost = cost_slope = 0.0
    for s in range(height + 1):
        amount, slope = amounts[top, s], slopes[top, s]
        whole = (amount < left - _SAME) | ((amount <= left + _SAME) & (slope >= left_slope))
        within = amount if whole else left
        within_slope = slope if whole else left_slope
        left -= within
        left_slope -= within_slope
        cost += s * within
        cost_slope += s * within_slope
    return cost, cost_slope
