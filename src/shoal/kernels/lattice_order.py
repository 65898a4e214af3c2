"""Loops that choose which node of a lattice is looked at next, and close those that cannot be the best any more."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
from cython.cimports.libc.math import exp, floor, isfinite, pow

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint16 = cython.typedef(cython.ushort)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)

# the measures of class sizes as the loops know them
DISCERNIBILITY, AVERAGE_CLASS_SIZE = 0, 1

_INFINITE = cython.declare(cython.double, float("inf"))


# a bound of every node


def highest_below(bounds: cython.const[float64][::1], limit: float64, candidates: int64[::1], count: int64) -> Any:
    """The open node with the highest lower bound under the limit, or -1, and how many candidates are left.

    Bounds rise and the limit falls, so what is no candidate now will never be one again.
    """
    cython.declare(i=int64, node=int64, bound=float64)
    best: int64 = -1
    value: float64 = -1
    left: int64 = 0
    with cython.nogil:
        for i in range(count):
            node = candidates[i]
            bound = bounds[node]
            if bound < limit:
                candidates[left] = node
                left += 1
                if bound > value:
                    best = node
                    value = bound
    return best, left


def next_open(bounds: cython.const[float64][::1], limit: float64, order: cython.const[int64][::1], at: int64) -> int64:
    """The first place in an order, from a place on, of a node whose bound is under the limit; else past its end."""
    with cython.nogil:
        while at < order.shape[0] and not bounds[order[at]] < limit:
            at += 1
    return at


# nodes that may be better than the best found, listed in the order of their levels


def list_open(
    factors: cython.const[float64][:, ::1], low: cython.const[int64][::1], high: cython.const[int64][::1],
    target: float64, found: uint16[:, ::1], bounds: float64[::1], changes: uint16[::1],
) -> int64:  # fmt: skip
    """List the nodes whose product is below the target, depth first; how many there are, or one more than fit.

    `changes` is the first column in which each differs from the one before.
    """
    cython.declare(i=int64)
    columns: int64 = low.shape[0]
    count: int64 = 0
    changed: int64 = 0
    j: int64 = 0
    at: int64[::1] = np.array(low)
    prefix: float64[::1] = np.ones(columns + 1)
    with cython.nogil:
        while j >= 0:
            # factors rise with the level: what is too much stays so
            if at[j] > high[j] or prefix[j] * factors[j, at[j]] >= target:
                at[j] = low[j]
                j -= 1
                if j >= 0:
                    at[j] += 1
                    changed = min(changed, j)
                continue
            prefix[j + 1] = prefix[j] * factors[j, at[j]]
            if j < columns - 1:
                j += 1
                continue
            if count == found.shape[0]:
                count += 1
                break
            for i in range(columns):
                found[count, i] = at[i]
            bounds[count] = prefix[columns]
            changes[count] = changed
            changed = j
            count += 1
            at[j] += 1
    return count


def close_open(
    levels: uint16[:, ::1], bounds: float64[::1], changes: uint16[::1], at: cython.const[uint16][::1],
    factors: cython.const[float64][:, ::1], lost: cython.bint, target: float64,
) -> int64:  # fmt: skip
    """Raise the bounds of open nodes at or below a node, which is closed itself, and move those that stay open to the
    front; how many they are. `lost`: none of them is feasible. What neighbours have in common is worked out once."""
    cython.declare(i=int64, j=int64, first=int64, bound=float64)
    columns: int64 = at.shape[0]
    left: int64 = 0
    below: int64 = columns  # so many columns are at or below the node's before one is above it
    changed: int64 = columns  # the first column that changed since the last node that stays
    prefix: float64[::1] = np.ones(columns + 1)
    with cython.nogil:
        for i in range(bounds.shape[0]):
            bound = bounds[i]
            first = changes[i]
            changed = min(changed, first)
            if first <= below:
                below = first
                while below < columns and levels[i, below] <= at[below]:
                    prefix[below + 1] = prefix[below] * factors[below, levels[i, below]]
                    below += 1
            if below == columns:
                if lost:
                    continue
                j = columns - 1
                while j >= 0 and levels[i, j] == at[j]:
                    j -= 1
                if j < 0:
                    continue
                bound = max(bound, prefix[columns])
            if bound < target:
                if left < i:
                    for j in range(columns):
                        levels[left, j] = levels[i, j]
                bounds[left] = bound
                changes[left] = changed
                changed = columns
                left += 1
    return left


def place_of(levels: cython.const[uint16][:, ::1], at: cython.const[uint16][::1]) -> int64:
    """Where a node stands among nodes in the order of their levels; -1 if it is not there."""
    cython.declare(middle=int64, j=int64)
    first: int64 = 0
    last: int64 = levels.shape[0]
    found: int64 = -1
    with cython.nogil:
        while first < last:
            middle = (first + last) // 2
            j = 0
            while j < at.shape[0] and levels[middle, j] == at[j]:
                j += 1
            if j == at.shape[0]:
                found = middle
                break
            if levels[middle, j] < at[j]:
                first = middle + 1
            else:
                last = middle
    return found


def most_promising(
    levels: cython.const[uint16][:, ::1], parts: cython.const[float64][:, ::1], base: float64,
    free: cython.const[float64][:, ::1], at_limit: cython.const[float64][:, ::1], limit: float64,
) -> int64:  # fmt: skip
    """The node with the lowest product that is expected, between that with nothing lost and that at the limit.

    `base` and `parts` by column and level add up to the logarithm of the records that a node is expected to lose.
    """
    cython.declare(i=int64, j=int64, lost=float64, product=float64, most=float64, share=float64)
    best: float64 = _INFINITE
    place: int64 = 0
    with cython.nogil:
        for i in range(levels.shape[0]):
            lost = base
            product = 1
            most = 1
            for j in range(levels.shape[1]):
                lost += parts[j, levels[i, j]]
                product *= free[j, levels[i, j]]
                most *= at_limit[j, levels[i, j]]
            share = exp(min(lost, 50.0)) / limit
            if share <= 1 and product < best:
                product *= pow(most / product, share)
                if product < best:
                    best = product
                    place = i
    return place


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _raised(
    at: cython.const[int64][::1], worth: cython.const[float64][:, ::1], high: cython.const[int64][::1]
) -> int64:
    """The column that is worth most to raise; -1 at the top."""
    cython.declare(j=int64)
    best: int64 = -1
    for j in range(at.shape[0]):
        if at[j] < high[j] and (best < 0 or worth[j, at[j]] > worth[best, at[best]]):
            best = j
    return best


def ladder(
    levels: cython.const[int64][::1], worth: cython.const[float64][:, ::1], high: cython.const[int64][::1]
) -> Any:
    """Nodes from one up to the top, in each row one level higher: the column is raised where that is worth most."""
    cython.declare(i=int64, j=int64)
    columns: int64 = levels.shape[0]
    steps: int64 = 1
    for j in range(columns):
        steps += high[j] - levels[j]
    nodes = np.empty((steps, columns), np.int64)
    found: int64[:, ::1] = nodes
    at: int64[::1] = np.array(levels)
    with cython.nogil:
        for i in range(steps):
            for j in range(columns):
                found[i, j] = at[j]
            if i < steps - 1:
                at[_raised(at, worth, high)] += 1
    return nodes


def proposals(
    levels: cython.const[int64][:, ::1], needed: cython.const[float64][::1], worth: cython.const[float64][:, ::1],
    parts: cython.const[float64][:, ::1], base: float64, high: cython.const[int64][::1],
) -> Any:  # fmt: skip
    """For each node the coarsest on its ladder that is expected to lose enough, and what that loses; else itself."""
    cython.declare(i=int64, j=int64, column=int64, lost=float64)
    columns: int64 = high.shape[0]
    looks, losses = np.array(levels), np.array(needed)
    found: int64[:, ::1] = looks
    expected: float64[::1] = losses
    at: int64[::1] = np.array(high)
    with cython.nogil:
        for i in range(levels.shape[0]):
            for j in range(columns):
                at[j] = levels[i, j]
            column = 0
            while column >= 0:
                lost = base
                for j in range(columns):
                    lost += parts[j, at[j]]
                lost = exp(min(lost, 50.0))
                if lost >= needed[i]:
                    for j in range(columns):
                        found[i, j] = at[j]
                    expected[i] = lost
                column = _raised(at, worth, high)
                if column >= 0:
                    at[column] += 1
    return looks, losses


def closed_by(
    levels: cython.const[int64][:, ::1], needed: cython.const[float64][::1], looks: cython.const[int64][:, ::1],
    lost: cython.const[float64][::1],
) -> Any:  # fmt: skip
    """How many of some nodes are below each look and closed by what it is expected to lose."""
    cython.declare(i=int64, t=int64, j=int64)
    counts = np.zeros(looks.shape[0], np.int64)
    found: int64[::1] = counts
    with cython.nogil:
        for i in range(looks.shape[0]):
            for t in range(levels.shape[0]):
                if needed[t] > lost[i]:
                    continue
                j = 0
                while j < levels.shape[1] and levels[t, j] <= looks[i, j]:
                    j += 1
                if j == levels.shape[1]:
                    found[i] += 1
    return counts


# measures of class sizes: bounds from finer and from coarser nodes


@cython.cclass
class ClassBounds:
    """What is known of every node of a lattice, where a measure of class sizes is minimized.

    `known` has what the finer nodes tell (the first row) and the coarser ones, as in `Figures`; `is_open` whether a
    node can be the best by the `rule`: at most so many suppressed; a score below the second figure, or as low as the
    third with no more suppressed than the fourth; the measure, k, and the members of all classes.
    """

    known = cython.declare(float64[:, ::1], visibility="public")
    rule = cython.declare(cython.const[float64][::1], visibility="public")
    is_open = cython.declare(uint8[::1], visibility="public")
    extents = cython.declare(cython.const[int64][::1], visibility="public")
    strides = cython.declare(cython.const[int64][::1], visibility="public")
    lowest = cython.declare(int64[::1], visibility="public")
    highest = cython.declare(int64[::1], visibility="public")
    at = cython.declare(int64[::1], visibility="public")

    def __init__(self, known: Any, rule: Any, is_open: Any, extents: Any, strides: Any) -> None:
        self.known = known
        self.rule = rule
        self.is_open = is_open
        self.extents = extents
        self.strides = strides
        self.lowest = np.zeros_like(extents)
        self.highest = extents - 1
        self.at = np.zeros_like(extents)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _least(own: ClassBounds, place: int64) -> float64:
    """The least score that a node can have, by what finer and coarser ones have told."""
    cython.declare(joined=float64)
    k: float64 = own.rule[5]
    members: float64 = own.rule[6]
    up: float64 = own.known[0, place]
    if own.rule[4] == 0:  # discernibility
        return (max(up, k * members) + own.known[2, place]) / (members * members)
    # one more class is that of the suppressed
    joined = floor(min(-up, members / k) - own.known[2, place] + 1e-9)
    return 1 / (max(min(joined, -own.known[3, place]), 0.0) + 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _may_be_best(own: ClassBounds, place: int64) -> cython.bint:
    """Whether a node can be feasible, and as good as the best found with no more suppressed, or better."""
    cython.declare(least=float64)
    if own.known[1, place] > own.rule[0]:
        return False
    least = _least(own, place)
    return least < own.rule[1] or (least <= own.rule[2] and own.known[1, place] <= own.rule[3])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _start(own: ClassBounds) -> int64:
    """The place of a node at level 0 of the last column, by the levels `at` of the others."""
    cython.declare(j=int64)
    start: int64 = 0
    for j in range(own.at.shape[0] - 1):
        start += own.at[j] * own.strides[j]
    return start


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _step(own: ClassBounds, first: cython.const[int64][::1], last: cython.const[int64][::1]) -> cython.bint:
    """Move `at` to the next levels of all columns but the last, from some to others; whether there are."""
    j: int64 = own.at.shape[0] - 2
    while j >= 0:
        own.at[j] += 1
        if own.at[j] <= last[j]:
            return True
        own.at[j] = first[j]
        j -= 1
    return False


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _raise(
    own: ClassBounds, first: cython.const[int64][::1], last: cython.const[int64][::1],
    figures: cython.const[float64][::1], begin: int64, end: int64,
) -> cython.void:  # fmt: skip
    """Raise some of what is known of all nodes from one to another, and close those that cannot be the best."""
    cython.declare(j=int64, i=int64, start=int64, place=int64)
    columns: int64 = first.shape[0]
    more: cython.bint = True
    for j in range(columns):
        own.at[j] = first[j]
    while more:
        start = _start(own)
        for place in range(start + first[columns - 1], start + last[columns - 1] + 1):
            for i in range(begin, end):
                own.known[i, place] = max(own.known[i, place], figures[i])
            if own.is_open[place]:
                own.is_open[place] = _may_be_best(own, place)
        more = _step(own, first, last)


def note_look(own: ClassBounds, levels: cython.const[int64][::1], figures: cython.const[float64][::1]) -> None:
    """What a look at a node (its levels counted from the lowest) tells about all coarser and all finer nodes."""
    cython.declare(j=int64)
    place: int64 = 0
    with cython.nogil:
        for j in range(levels.shape[0]):
            place += levels[j] * own.strides[j]
        own.is_open[place] = False
        _raise(own, levels, own.highest, figures, 0, 1)
        _raise(own, own.lowest, levels, figures, 1, figures.shape[0])


def close_all(own: ClassBounds) -> None:
    """Close what cannot be the best by a rule that has changed."""
    cython.declare(place=int64)
    with cython.nogil:
        for place in range(own.is_open.shape[0]):
            if own.is_open[place]:
                own.is_open[place] = _may_be_best(own, place)


def lowest_open(own: ClassBounds) -> float64:
    """The least score that an open node can have; infinite if none is open."""
    cython.declare(place=int64)
    lowest: float64 = _INFINITE
    with cython.nogil:
        for place in range(own.is_open.shape[0]):
            if own.is_open[place]:
                lowest = min(lowest, _least(own, place))
    return lowest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count(own: ClassBounds, first: cython.const[int64][::1], last: cython.const[int64][::1]) -> int64:
    """How many nodes from one to another are open."""
    cython.declare(j=int64, start=int64, place=int64)
    columns: int64 = first.shape[0]
    found: int64 = 0
    more: cython.bint = True
    for j in range(columns):
        own.at[j] = first[j]
    while more:
        start = _start(own)
        for place in range(start + first[columns - 1], start + last[columns - 1] + 1):
            found += own.is_open[place]
        more = _step(own, first, last)
    return found


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _expected(chances: cython.const[float64][:, ::1], place: int64, finer: int64, coarser: int64) -> float64:
    """How many open nodes a look closes: itself, all finer ones, all coarser ones."""
    return 1 + chances[0, place] * (finer - 1) + chances[1, place] * (coarser - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sink(heap: int64[::1], count: int64, at: int64, scores: cython.const[float64][::1]) -> cython.void:
    """Move a node of a heap down until none below it has a higher score."""
    cython.declare(below=int64, node=int64)
    while 2 * at + 1 < count:
        below = 2 * at + 1
        if below + 1 < count and scores[heap[below + 1]] > scores[heap[below]]:
            below += 1
        if scores[heap[below]] <= scores[heap[at]]:
            return
        node = heap[at]
        heap[at] = heap[below]
        heap[below] = node
        at = below


def order_open(
    own: ClassBounds, forecast: cython.const[float64][:, ::1], needed: cython.const[float64][::1],
    spread: cython.const[float64][::1], chances: float64[:, ::1], scores: float64[::1], heap: int64[::1],
) -> int64:  # fmt: skip
    """How many open nodes each is expected to close, as a heap of the open ones with the most on top; how many it has.

    `chances` become how likely a node closes all finer and all coarser ones: its forecast beside what is needed.
    """
    cython.declare(i=int64, j=int64, step=int64, start=int64, last=int64, place=int64, sure=float64)
    nodes: int64 = own.is_open.shape[0]
    count: int64 = 0
    finer: int32[::1] = np.array(own.is_open, np.int32)
    coarser: int32[::1] = np.array(own.is_open, np.int32)
    with cython.nogil:
        for j in range(own.extents.shape[0]):
            step = own.strides[j]
            start = 0
            while start < nodes:
                last = start + step * own.extents[j]
                for place in range(start + step, last):
                    finer[place] += finer[place - step]
                for place in range(last - step - 1, start - 1, -1):
                    coarser[place] += coarser[place + step]
                start = last
        for place in range(nodes):
            if own.is_open[place]:
                for i in range(2):
                    sure = (forecast[i, place] - needed[i]) / spread[i]
                    chances[i, place] = 1 / (1 + exp(-1.7 * min(max(sure, -20.0), 20.0)))
                scores[place] = _expected(chances, place, finer[place], coarser[place])
                heap[count] = place
                count += 1
        for place in range(count // 2 - 1, -1, -1):
            _sink(heap, count, place, scores)
    return count


def next_look(
    own: ClassBounds, heap: int64[::1], count: int64, scores: float64[::1], chances: cython.const[float64][:, ::1],
    levels: int64[::1], share: float64,
) -> int64:  # fmt: skip
    """The open node that is expected to close the most is on top of the heap, `levels` are its own; how many it has.

    What a node closes only gets less: scores from before are counted again from the highest on, until one holds.
    """
    cython.declare(best=int64, j=int64, finer=int64, coarser=int64, before=float64)
    with cython.nogil:
        while count > 0:
            best = heap[0]
            if not own.is_open[best]:
                count -= 1
                heap[0] = heap[count]
            else:
                for j in range(levels.shape[0]):
                    levels[j] = best // own.strides[j] % own.extents[j]
                finer = _count(own, own.lowest, levels)
                coarser = _count(own, levels, own.highest)
                before = scores[best]
                scores[best] = _expected(chances, best, finer, coarser)
                if scores[best] >= share * before:
                    break
            _sink(heap, count, 0, scores)
    return count


def note_figures(
    which: cython.const[int64][:, ::1], found: cython.const[float64][:, ::1], needed: cython.const[float64][::1],
    parts: cython.const[float64][:, ::1], squares: float64[:, :, ::1], rights: float64[:, ::1],
    errors: float64[:, ::1],
) -> None:  # fmt: skip
    """Add figures of nodes that were looked at to the equations of least squares, and how far the forecast before was
    from them; `which` parts each is the sum of. What is near to what is needed counts most."""
    cython.declare(n=int64, i=int64, x=int64, y=int64, a=int64, far=float64, weight=float64, error=float64)
    with cython.nogil:
        for n in range(which.shape[0]):
            for i in range(2):
                far = found[n, i] - needed[i]
                weight = 1 / (1 + far * far) if isfinite(needed[i]) else 1.0
                error = found[n, i]
                for x in range(which.shape[1]):
                    a = which[n, x]
                    error -= parts[i, a]
                    rights[i, a] += weight * found[n, i]
                    for y in range(which.shape[1]):
                        squares[i, a, which[n, y]] += weight
                errors[0, i] = 0.95 * errors[0, i] + weight * error * error
                errors[1, i] = 0.95 * errors[1, i] + weight
