"""Exchange records between the groups of a block while that lowers the information loss.

What cannot win is passed over by exact bounds: (a) members of a group are at least as far from its box's farthest
corner as from each other, so records of two boxes with a gap between them cost at least the gap each; (b) a box without
a record is no larger than with another in its place, so cost(A-i) + far(j, A-i) + cost(B-j) + far(i, B-j) is a bound;
(c) the core of a box, what is left whichever one member goes, lies in every A-i, so far(j, core A) <= far(j, A-i).
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled
from shoal.table import Array
from shoal.transform.partition import box
from shoal.transform.partition.near_groups import nearest_groups, trade

_SWEEPS = 2
# a gain must be larger than the rounding of the costs (share of the cost of both groups)
_SURE = np.float32(2e-5)

# Of group g: corners[g] its box (low, high), core[g] the core of it, without[g, s] the box without member s,
# cost[g] and cost_without[g, s] what these cost.


@compiled
def _box_without(xs: Array, members: Array, size: int, without: int, corners: Array) -> None:
    """The box of all members but one (or of all, -1)."""
    first = 1 if without == 0 else 0
    box.start(corners[0], corners[1], xs[members[first]])
    for s in range(first + 1, size):
        if s != without:
            box.widen(corners[0], corners[1], xs[members[s]])


@compiled
def _renew(
    xs: Array, members: Array, sizes: Array, corners: Array, core: Array, without: Array, cost: Array,
    cost_without: Array, g: int,
) -> None:  # fmt: skip
    """The box and the cost of a group, whole and without each member."""
    size, inside = sizes[g], members[g]
    _box_without(xs, inside, size, -1, corners[g])
    total = np.float32(0)
    for s in range(size):
        total += box.far_corner(xs[inside[s]], corners[g, 0], corners[g, 1])
    cost[g] = total
    for j in range(xs.shape[1]):
        core[g, 0, j] = corners[g, 0, j]
        core[g, 1, j] = corners[g, 1, j]
    for out in range(size):
        left = without[g, out]
        _box_without(xs, inside, size, out, left)
        total = np.float32(0)
        for s in range(size):
            if s != out:
                total += box.far_corner(xs[inside[s]], left[0], left[1])
        cost_without[g, out] = total
        for j in range(xs.shape[1]):
            core[g, 0, j] = left[0, j] if left[0, j] > core[g, 0, j] else core[g, 0, j]
            core[g, 1, j] = left[1, j] if left[1, j] < core[g, 1, j] else core[g, 1, j]


@compiled
def _cost_with(
    xs: Array, members: Array, size: int, without: int, corners: Array, row: Array, scratch: Array, limit: Number
) -> Number:
    """The cost of a group without one member (-1: with all) and with another record; inf once it passes the limit."""
    for j in range(len(row)):
        scratch[0, j] = row[j] if row[j] < corners[0, j] else corners[0, j]
        scratch[1, j] = row[j] if row[j] > corners[1, j] else corners[1, j]
    total = box.far_corner(row, scratch[0], scratch[1])
    for s in range(size):
        if s != without:
            total += box.far_corner(xs[members[s]], scratch[0], scratch[1])
            if total >= limit:
                return np.float32(np.inf)
    return total


@compiled
def _best_swap(
    xs: Array, members: Array, sizes: Array, core: Array, without: Array, cost_without: Array,
    a: int, b: int, best: Number, fars: Array, scratch: Array,
) -> tuple[int, int, Number]:  # fmt: skip
    """The members of two groups whose swap costs least, if less than `best`, and what it costs."""
    out_a, out_b = -1, -1
    for i in range(sizes[a]):
        fars[0, i] = cost_without[a, i] + box.far_corner(xs[members[a, i]], core[b, 0], core[b, 1])
    for j in range(sizes[b]):
        fars[1, j] = cost_without[b, j] + box.far_corner(xs[members[b, j]], core[a, 0], core[a, 1])
    for i in range(sizes[a]):
        row_a, box_a = xs[members[a, i]], without[a, i]
        for j in range(sizes[b]):
            if fars[0, i] + fars[1, j] >= best:
                continue
            row_b, box_b = xs[members[b, j]], without[b, j]
            bound = cost_without[a, i] + cost_without[b, j] + box.far_corner(row_b, box_a[0], box_a[1])
            if bound >= best or bound + box.far_corner(row_a, box_b[0], box_b[1]) >= best:
                continue
            new = _cost_with(xs, members[a], sizes[a], i, box_a, row_b, scratch, best - cost_without[b, j])
            if new < np.inf:
                new += _cost_with(xs, members[b], sizes[b], j, box_b, row_a, scratch, best - new)
                if new < best:
                    best, out_a, out_b = new, i, j
    return out_a, out_b, best


@compiled
def _best_move(
    xs: Array, members: Array, sizes: Array, corners: Array, cost: Array, cost_without: Array,
    a: int, b: int, best: Number, scratch: Array,
) -> tuple[int, Number]:  # fmt: skip
    """The member of a whose move to b costs least, if less than `best`, and what it costs."""
    out = -1
    for i in range(sizes[a]):
        row, left = xs[members[a, i]], cost_without[a, i]
        if left + cost[b] + box.far_corner(row, corners[b, 0], corners[b, 1]) < best:
            new = left + _cost_with(xs, members[b], sizes[b], -1, corners[b], row, scratch, best - left)
            if new < best:
                best, out = new, i
    return out, best


@compiled
def _best_of_pair(
    xs: Array, members: Array, sizes: Array, corners: Array, core: Array, without: Array, cost: Array,
    cost_without: Array, a: int, b: int, k: int, fars: Array, scratch: Array,
) -> tuple[int, int]:  # fmt: skip
    """The best exchange of two groups: a swap (i, j), a move (i, -1) from a to b or (-1, j) from b to a, or none."""
    now, most = cost[a] + cost[b], members.shape[1]
    best = now - _SURE * now
    gap = box.gap(corners[a, 0], corners[a, 1], corners[b, 0], corners[b, 1])
    out_a, out_b = -1, -1
    if now <= 0 or gap * (min(sizes[a], sizes[b]) + 1) >= best:
        return out_a, out_b
    if gap * (sizes[a] + sizes[b]) < best:
        out_a, out_b, best = _best_swap(xs, members, sizes, core, without, cost_without, a, b, best, fars, scratch)
    if sizes[a] > k and sizes[b] < most:
        out, best = _best_move(xs, members, sizes, corners, cost, cost_without, a, b, best, scratch)
        if out >= 0:
            out_a, out_b = out, -1
    if sizes[b] > k and sizes[a] < most:
        out, best = _best_move(xs, members, sizes, corners, cost, cost_without, b, a, best, scratch)
        if out >= 0:
            out_a, out_b = -1, out
    return out_a, out_b


@compiled
def _dissolved(
    xs: Array, members: Array, sizes: Array, corners: Array, core: Array, without: Array, cost: Array,
    cost_without: Array, a: int, near: Array, gone_to: Array, scratch: Array,
) -> bool:  # fmt: skip
    """Give all members of a group to near groups, if those have room and that costs less than the group did."""
    most = members.shape[1]
    limit = cost[a] - _SURE * cost[a]
    bound = np.float32(0)
    for s in range(sizes[a]):
        least = np.float32(np.inf)
        for b in near:
            if 0 < sizes[b] < most:
                least = min(least, box.far_corner(xs[members[a, s]], corners[b, 0], corners[b, 1]))
        bound += least
        if bound >= limit:
            return False
    added = np.float32(0)
    done = 0
    while done < sizes[a]:
        row = xs[members[a, done]]
        best, to = np.float32(np.inf), -1
        for b in near:
            if 0 < sizes[b] < most:
                more = _cost_with(xs, members[b], sizes[b], -1, corners[b], row, scratch, np.float32(np.inf)) - cost[b]
                if more < best:
                    best, to = more, b
        if to < 0 or added + best >= limit:
            break
        members[to, sizes[to]] = members[a, done]
        sizes[to] += 1
        _renew(xs, members, sizes, corners, core, without, cost, cost_without, to)
        added += best
        gone_to[done] = to
        done += 1
    if done == sizes[a]:
        sizes[a] = 0
        return True
    for s in range(done - 1, -1, -1):
        sizes[gone_to[s]] -= 1
        _renew(xs, members, sizes, corners, core, without, cost, cost_without, gone_to[s])
    return False


@compiled
def exchange_boxes(xs: Array, members: Array, sizes: Array, k: int) -> int:
    """Exchange records between the groups of a block until little is gained; how many exchanges were made."""
    groups, most = members.shape
    columns = xs.shape[1]
    corners, core = np.empty((groups, 2, columns), np.float32), np.empty((groups, 2, columns), np.float32)
    without = np.empty((groups, most, 2, columns), np.float32)
    cost, cost_without = np.empty(groups, np.float32), np.empty((groups, most), np.float32)
    centres = np.empty((groups, columns), np.float32)
    for g in range(groups):
        _renew(xs, members, sizes, corners, core, without, cost, cost_without, g)
        for j in range(columns):
            centres[g, j] = corners[g, 0, j] + corners[g, 1, j]
    near = nearest_groups(centres)
    fars, scratch = np.empty((2, most), np.float32), np.empty((2, columns), np.float32)
    gone_to = np.empty(most, np.int64)
    # when a group last changed, and when a pair was last looked at
    changed, looked = np.ones(groups, np.int64), np.zeros((groups, groups), np.int64)
    clock, made = 1, 0
    for _ in range(_SWEEPS):
        before = made
        for a in range(groups):
            if sizes[a] > 0 and _dissolved(
                xs, members, sizes, corners, core, without, cost, cost_without, a, near[a], gone_to, scratch
            ):
                made += 1
                clock += 1
                for b in near[a]:
                    changed[b] = clock
            for b in near[a]:
                if sizes[a] == 0 or sizes[b] == 0:
                    continue
                first, second = min(a, b), max(a, b)
                while changed[a] > looked[first, second] or changed[b] > looked[first, second]:
                    looked[first, second] = clock
                    out_a, out_b = _best_of_pair(
                        xs, members, sizes, corners, core, without, cost, cost_without, a, b, k, fars, scratch
                    )
                    if out_a < 0 and out_b < 0:
                        break
                    trade(members, sizes, a, b, out_a, out_b)
                    made += 1
                    clock += 1
                    changed[a] = changed[b] = clock
                    _renew(xs, members, sizes, corners, core, without, cost, cost_without, a)
                    _renew(xs, members, sizes, corners, core, without, cost, cost_without, b)
        if made == before:
            break
    return made
