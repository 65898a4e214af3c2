"""Exchange records between the groups of a block while that lowers the information loss.

What cannot win is passed over by exact bounds: (a) members of a group are at least as far from its box's farthest
corner as from each other, so records of two boxes with a gap between them cost at least the gap each; (b) a box without
a record is no larger than with another in its place, so cost(A-i) + far(j, A-i) + cost(B-j) + far(i, B-j) is a bound.
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


@compiled
def _box_without(xs: Array, members: Array, size: int, without: int, low: Array, high: Array) -> None:
    """The box of all members but one (or of all, -1)."""
    first = 1 if without == 0 else 0
    box.start(low, high, xs[members[first]])
    for s in range(first + 1, size):
        if s != without:
            box.widen(low, high, xs[members[s]])


@compiled
def _renew(
    xs: Array,
    members: Array,
    size: int,
    low: Array,
    high: Array,
    low_1: Array,
    high_1: Array,
    cost_1: Array,
    inner: Array,
) -> Number:
    """The box and the cost of a group, whole and without each member."""
    _box_without(xs, members, size, -1, low, high)
    cost = np.float32(0)
    for s in range(size):
        cost += box.far_corner(xs[members[s]], low, high)
    for out in range(size):
        _box_without(xs, members, size, out, low_1[out], high_1[out])
        inner[out] = True
        for j in range(xs.shape[1]):
            if low_1[out, j] != low[j] or high_1[out, j] != high[j]:
                inner[out] = False
                break
        total = np.float32(0)
        for s in range(size):
            if s != out:
                total += box.far_corner(xs[members[s]], low_1[out], high_1[out])
        cost_1[out] = total
    return cost


@compiled
def _cost_with(
    xs: Array,
    members: Array,
    size: int,
    without: int,
    low: Array,
    high: Array,
    row: Array,
    corners: Array,
    limit: Number,
) -> Number:
    """The cost of a group without one member (-1: with all) and with another record; inf once it passes the limit."""
    for j in range(len(row)):
        corners[0, j] = row[j] if row[j] < low[j] else low[j]
        corners[1, j] = row[j] if row[j] > high[j] else high[j]
    total = box.far_corner(row, corners[0], corners[1])
    for s in range(size):
        if s != without:
            total += box.far_corner(xs[members[s]], corners[0], corners[1])
            if total >= limit:
                return np.float32(np.inf)
    return total


@compiled
def _best_of_pair(
    xs: Array,
    member_a: Array, size_a: int, low_a: Array, high_a: Array,
    low_1a: Array, high_1a: Array, cost_1a: Array, inner_a: Array,
    member_b: Array, size_b: int, low_b: Array, high_b: Array,
    low_1b: Array, high_1b: Array, cost_1b: Array, inner_b: Array,
    cost_a: Number, cost_b: Number, k: int, most: int, fars: Array, corners: Array,
) -> tuple[int, int]:  # fmt: skip
    """The best exchange of two groups: a swap (i, j), a move (i, -1) from a to b or (-1, j) from b to a, or none."""
    now = cost_a + cost_b
    if now <= 0:
        return -1, -1
    best = now - _SURE * now
    out_a, out_b = -1, -1
    gap = box.gap(low_a, high_a, low_b, high_b)
    if gap * (min(size_a, size_b) + 1) >= best:
        return out_a, out_b
    for s in range(size_a):
        fars[0, s] = box.far_corner(xs[member_a[s]], low_b, high_b)
    for s in range(size_b):
        fars[1, s] = box.far_corner(xs[member_b[s]], low_a, high_a)
    if gap * (size_a + size_b) < best:
        for i in range(size_a):
            row_a = xs[member_a[i]]
            for j in range(size_b):
                bound = cost_1a[i] + cost_1b[j]
                if bound >= best:
                    continue
                row_b = xs[member_b[j]]
                bound += fars[1, j] if inner_a[i] else box.far_corner(row_b, low_1a[i], high_1a[i])
                if bound >= best:
                    continue
                bound += fars[0, i] if inner_b[j] else box.far_corner(row_a, low_1b[j], high_1b[j])
                if bound >= best:
                    continue
                new = _cost_with(xs, member_a, size_a, i, low_1a[i], high_1a[i], row_b, corners, best - cost_1b[j])
                if new < np.inf:
                    new += _cost_with(xs, member_b, size_b, j, low_1b[j], high_1b[j], row_a, corners, best - new)
                    if new < best:
                        best, out_a, out_b = new, i, j
    if size_a > k and size_b < most:
        for i in range(size_a):
            if cost_1a[i] + cost_b + fars[0, i] < best:
                new = _cost_with(xs, member_b, size_b, -1, low_b, high_b, xs[member_a[i]], corners, best - cost_1a[i])
                if new + cost_1a[i] < best:
                    best, out_a, out_b = new + cost_1a[i], i, -1
    if size_b > k and size_a < most:
        for j in range(size_b):
            if cost_1b[j] + cost_a + fars[1, j] < best:
                new = _cost_with(xs, member_a, size_a, -1, low_a, high_a, xs[member_b[j]], corners, best - cost_1b[j])
                if new + cost_1b[j] < best:
                    best, out_a, out_b = new + cost_1b[j], -1, j
    return out_a, out_b


@compiled
def _dissolved(
    xs: Array, members: Array, sizes: Array, a: int, near: Array, low: Array, high: Array,
    low_1: Array, high_1: Array, cost: Array, cost_1: Array, inner: Array, corners: Array, gone_to: Array,
) -> bool:  # fmt: skip
    """Give all members of a group to near groups, if those have room and that costs less than the group did."""
    most = members.shape[1]
    limit = cost[a] - _SURE * cost[a]
    bound = np.float32(0)
    for s in range(sizes[a]):
        least = np.float32(np.inf)
        for b in near:
            if 0 < sizes[b] < most:
                least = min(least, box.far_corner(xs[members[a, s]], low[b], high[b]))
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
                more = (
                    _cost_with(xs, members[b], sizes[b], -1, low[b], high[b], row, corners, np.float32(np.inf))
                    - cost[b]
                )
                if more < best:
                    best, to = more, b
        if to < 0 or added + best >= limit:
            break
        members[to, sizes[to]] = members[a, done]
        sizes[to] += 1
        cost[to] = _renew(xs, members[to], sizes[to], low[to], high[to], low_1[to], high_1[to], cost_1[to], inner[to])
        added += best
        gone_to[done] = to
        done += 1
    if done == sizes[a]:
        sizes[a] = 0
        return True
    for s in range(done - 1, -1, -1):
        b = gone_to[s]
        sizes[b] -= 1
        cost[b] = _renew(xs, members[b], sizes[b], low[b], high[b], low_1[b], high_1[b], cost_1[b], inner[b])
    return False


@compiled
def exchange_boxes(xs: Array, members: Array, sizes: Array, k: int) -> int:
    """Exchange records between the groups of a block until nothing is gained; how many exchanges were made."""
    groups, most = members.shape
    columns = xs.shape[1]
    low, high = np.empty((groups, columns), np.float32), np.empty((groups, columns), np.float32)
    low_1, high_1 = np.empty((groups, most, columns), np.float32), np.empty((groups, most, columns), np.float32)
    cost, cost_1 = np.empty(groups, np.float32), np.empty((groups, most), np.float32)
    inner = np.empty((groups, most), np.bool_)
    for g in range(groups):
        cost[g] = _renew(xs, members[g], sizes[g], low[g], high[g], low_1[g], high_1[g], cost_1[g], inner[g])
    centres = np.empty((groups, columns), np.float32)
    for g in range(groups):
        for j in range(columns):
            centres[g, j] = low[g, j] + high[g, j]
    near = nearest_groups(centres)
    fars, corners = np.empty((2, most), np.float32), np.empty((2, columns), np.float32)
    # when a group last changed, and when a pair was last looked at
    changed, looked = np.ones(groups, np.int64), np.zeros((groups, groups), np.int64)
    gone_to = np.empty(most, np.int64)
    clock = 1
    made = 0
    for _ in range(_SWEEPS):
        before = made
        for a in range(groups):
            if sizes[a] > 0 and _dissolved(
                xs, members, sizes, a, near[a], low, high, low_1, high_1, cost, cost_1, inner, corners, gone_to
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
                        xs,
                        members[a], sizes[a], low[a], high[a], low_1[a], high_1[a], cost_1[a], inner[a],
                        members[b], sizes[b], low[b], high[b], low_1[b], high_1[b], cost_1[b], inner[b],
                        cost[a], cost[b], k, most, fars, corners,
                    )  # fmt: skip
                    if out_a < 0 and out_b < 0:
                        break
                    trade(members, sizes, a, b, out_a, out_b)
                    made += 1
                    clock += 1
                    changed[a] = changed[b] = clock
                    for g in (a, b):
                        cost[g] = _renew(
                            xs, members[g], sizes[g], low[g], high[g], low_1[g], high_1[g], cost_1[g], inner[g]
                        )
        if made == before:
            break
    return made
