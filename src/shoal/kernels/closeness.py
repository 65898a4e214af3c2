"""Loops of t-closeness: which classes are within t of the whole table, and how much of the others finer ones can keep.

The largest part of a class that is within t bounds what finer classes keep of it: those that are within t are so
together, since the distance is convex.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)
Count = cython.fused_type(cython.int, cython.longlong)

_INFINITE = cython.declare(cython.double, float("inf"))
# amounts are members times shares: those that differ by less are the same
_SAME = cython.declare(cython.double, 1e-9)
# each step of Newton's method gives a bound that holds, the next one a better one
_STEPS = cython.declare(cython.longlong, 3)


@cython.cclass
class ValueTree:
    """The tree of a sensitive column: the leaf of each code, the shares of all nodes in the table, level by level from
    `first[level]` on, the parent of each node; `work` space of one thread for amounts and slopes of every node."""

    leaf = cython.declare(cython.const[int64][::1], visibility="public")
    shares = cython.declare(cython.const[float64][::1], visibility="public")
    first = cython.declare(cython.const[int64][::1], visibility="public")
    parent = cython.declare(cython.const[int64][::1], visibility="public")
    work = cython.declare(float64[:, :, ::1], visibility="public")
    height = cython.declare(int64, visibility="public")
    slope: float64

    def __init__(self, leaf: Any, shares: Any, first: Any, parent: Any) -> None:
        self.leaf = leaf
        self.shares = shares
        self.first = first
        self.parent = parent
        self.height = len(first) - 2
        self.work = np.zeros((2, len(shares), len(first) - 1))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _least_cost(tree: ValueTree, members: cython.const[Count][::1], begin: int64, kept: float64) -> float64:
    """The least height x distance x S of a part of S members; `tree.slope` is its slope in S (the left one).

    `members` has how many the class has of each leaf, from a place on. A node with more than S times its share has to
    send the rest past itself, at every level. What can be kept under a node is taken cheapest first: work[0, node, s]
    at s per member.
    """
    cython.declare(node=int64, s=int64, leaf=int64, level=int64, above=int64, whole=cython.bint)
    cython.declare(left=float64, left_slope=float64, within=float64, within_slope=float64, over=float64)
    cython.declare(over_slope=float64, amount=float64, slope=float64, own=float64, cost=float64, cost_slope=float64)
    for node in range(tree.first[1], tree.first[tree.height + 1]):
        for s in range(tree.height + 1):
            tree.work[0, node, s] = 0
            tree.work[1, node, s] = 0
    for leaf in range(tree.first[1]):
        # without a branch: which values are too many changes from one to the next
        above = tree.parent[leaf]
        left = kept * tree.shares[leaf]
        own = members[begin + leaf]
        within = min(own, left)
        slope = tree.shares[leaf] if own >= left - _SAME else 0.0
        tree.work[0, above, 0] += within
        tree.work[1, above, 0] += slope
        tree.work[0, above, 1] += own - within
        tree.work[1, above, 1] -= slope
    for level in range(1, tree.height):
        for node in range(tree.first[level], tree.first[level + 1]):
            left = kept * tree.shares[node]
            left_slope = tree.shares[node]
            above = tree.parent[node]
            over = 0
            over_slope = 0
            for s in range(level + 1):
                amount = tree.work[0, node, s]
                slope = tree.work[1, node, s]
                whole = (amount < left - _SAME) | ((amount <= left + _SAME) & (slope >= left_slope))
                within = amount if whole else left
                within_slope = slope if whole else left_slope
                left -= within
                left_slope -= within_slope
                tree.work[0, above, s] += within + over
                tree.work[1, above, s] += within_slope + over_slope
                over = amount - within
                over_slope = slope - within_slope
            tree.work[0, above, level + 1] += over
            tree.work[1, above, level + 1] += over_slope
    node = tree.first[tree.height]
    left = kept
    left_slope = 1
    cost = 0
    cost_slope = 0
    for s in range(tree.height + 1):
        amount = tree.work[0, node, s]
        slope = tree.work[1, node, s]
        whole = (amount < left - _SAME) | ((amount <= left + _SAME) & (slope >= left_slope))
        within = amount if whole else left
        within_slope = slope if whole else left_slope
        left -= within
        left_slope -= within_slope
        cost += s * within
        cost_slope += s * within_slope
    tree.slope = cost_slope
    return cost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _most_kept(
    tree: ValueTree, members: cython.const[Count][::1], begin: int64, size: int64, least: int64, t: float64
) -> int64:
    """An upper bound of the members in a part within t of a class that is not; 0 where no part of `least` members is.

    The least cost of keeping S members, less what t allows, is convex in S and 0 at the largest S: Newton's method from
    above never passes it.
    """
    cython.declare(_=int64, most=int64, over=float64, less=float64)
    allowed: float64 = t * tree.height
    # a little less than all: there the last amount is used up, and the slope has two sides
    kept: float64 = size - 1e-3
    for _ in range(_STEPS):
        over = _least_cost(tree, members, begin, kept) - kept * allowed
        if over <= _SAME * size or tree.slope <= allowed:
            break
        less = over / (tree.slope - allowed)
        kept = max(kept - less, 0.0)
        if less < 0.1 or kept + 1 < least:
            break
    most = min(cython.cast(int64, kept + 1e-3 + 1e-6), size - 1)
    return most if most >= least else 0


def lost_shares(
    tree: ValueTree, which: cython.const[int64][::1], ends: cython.const[int64][::1], codes: cython.const[int64][::1],
    counts: cython.const[int64][::1], t: float64, lost: float64[::1],
) -> None:  # fmt: skip
    """The least share of some classes that finer classes within t lose: of class i, `counts` members have `codes`, from
    ends[i] to ends[i + 1]."""
    cython.declare(n=int64, i=int64, e=int64, size=int64)
    leaves: int64 = tree.first[1]
    members: int64[::1] = np.empty(leaves, np.int64)
    with cython.nogil:
        for n in range(which.shape[0]):
            i = which[n]
            for e in range(leaves):
                members[e] = 0
            size = 0
            for e in range(ends[i], ends[i + 1]):
                members[tree.leaf[codes[e]]] += counts[e]
                size += counts[e]
            lost[i] = 1 - cython.cast(float64, _most_kept(tree, members, 0, size, 1, t)) / size


def least_within(tree: ValueTree, t: float64, most: int64) -> int64:
    """The fewest members that can be within t of the whole table, whatever their values; `most` where it is more."""
    cython.declare(_=int64, i=int64, best=int64, leaf=int64, node=int64, more=float64, added=float64, cost=float64)
    held: float64[::1] = np.empty(tree.shares.shape[0])
    size: int64 = 1
    with cython.nogil:
        while size < most:
            for i in range(held.shape[0]):
                held[i] = 0
            cost = 0
            for _ in range(size):
                best = -1
                added = _INFINITE
                for leaf in range(tree.first[1]):
                    node = leaf
                    more = 0
                    for _ in range(tree.height):
                        more += min(max(held[node] + 1 - size * tree.shares[node], 0.0), 1.0)
                        node = tree.parent[node]
                    if more < added:
                        best = leaf
                        added = more
                cost += added
                node = best
                for _ in range(tree.height):
                    held[node] += 1
                    node = tree.parent[node]
            if cost <= (t * tree.height + _SAME) * size:
                break
            size += 1
    return min(size, most)


@cython.cclass
class Closeness:
    """Judges classes by k and t, with work space of one thread: where the values of each class are counted in `spread`,
    which has a place for each leaf of every class with k members, and one more."""

    tree = cython.declare(ValueTree, visibility="public")
    k = cython.declare(int64, visibility="public")
    t = cython.declare(float64, visibility="public")
    tolerance = cython.declare(float64, visibility="public")
    begins = cython.declare(int32[::1], visibility="public")
    spread = cython.declare(int32[::1], visibility="public")
    inner = cython.declare(float64[::1], visibility="public")

    def __init__(self, tree: ValueTree, k: int64, t: float64, tolerance: float64, begins: Any, spread: Any) -> None:
        self.tree = tree
        self.k = k
        self.t = t
        self.tolerance = tolerance
        self.begins = begins
        self.spread = spread
        self.inner = np.empty(tree.shares.shape[0])


def judge_classes(
    own: Closeness, place: cython.const[int32][::1], sizes: cython.const[int64][::1],
    of_tuple: cython.const[int32][::1], codes: cython.const[int32][::1], counts: cython.const[int32][::1],
    bad: uint8[::1],
) -> Any:  # fmt: skip
    """Which classes have less than k members, or values too far from those of all: their members, and how many classes
    are left. `counts` members of a tuple have a code of the sensitive column.

    The values of the classes with k members and more are counted one class after the other, for `most_kept` too.
    """
    cython.declare(c=int64, e=int64, node=int64, begin=int64, allowed=float64, far=float64, size=float64)
    classes: int64 = sizes.shape[0]
    leaves: int64 = own.tree.first[1]
    height: int64 = own.tree.height
    suppressed: int64 = 0
    kept: int64 = 0
    enough: int64 = 0
    with cython.nogil:
        for c in range(classes):
            if sizes[c] >= own.k:
                enough += 1
        # the values of all others go to one row behind
        for e in range((enough + 1) * leaves):
            own.spread[e] = 0
        begin = 0
        for c in range(classes):
            bad[c] = sizes[c] < own.k
            own.begins[c] = enough * leaves
            if not bad[c]:
                own.begins[c] = begin
                begin += leaves
        for e in range(of_tuple.shape[0]):
            own.spread[own.begins[place[of_tuple[e]]] + own.tree.leaf[codes[e]]] += counts[e]
        for c in range(classes):
            if not bad[c]:
                begin = own.begins[c]
                size = sizes[c]
                allowed = (own.t + own.tolerance) * height * size
                far = 0
                for node in range(leaves):
                    far += max(own.spread[begin + node] - size * own.tree.shares[node], 0.0)
                # what is too far already only gets farther
                if far <= allowed:
                    for node in range(leaves, own.inner.shape[0]):
                        own.inner[node] = 0
                    for node in range(leaves):
                        own.inner[own.tree.parent[node]] += own.spread[begin + node]
                    for node in range(leaves, own.tree.first[height]):
                        own.inner[own.tree.parent[node]] += own.inner[node]
                        far += max(own.inner[node] - size * own.tree.shares[node], 0.0)
                bad[c] = far > allowed
            if bad[c]:
                suppressed += sizes[c]
            else:
                kept += 1
    return suppressed, kept


def most_kept(own: Closeness, sizes: cython.const[int64][::1], bad: cython.const[uint8][::1], most: int64[::1]) -> None:
    """How many members of each class finer ones can keep at most, of the classes that were judged last."""
    cython.declare(c=int64)
    with cython.nogil:
        for c in range(sizes.shape[0]):
            most[c] = 0
            if not bad[c]:
                most[c] = sizes[c]
            elif sizes[c] >= own.k:
                most[c] = _most_kept(own.tree, own.spread, own.begins[c], sizes[c], own.k, own.t)
