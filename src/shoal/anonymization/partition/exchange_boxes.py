"""Exchange records between the groups of a block while that lowers the information loss.

What cannot win is passed over by exact bounds: (a) members of a group are at least as far from its box's farthest
corner as from each other, so records of two boxes with a gap between them cost at least the gap each; (b) a box without
a record is no larger than with another in its place, so cost(A-i) + far(j, A-i) + cost(B-j) + far(i, B-j) is a bound;
(c) the core of a box, what is left whichever one member goes, lies in every A-i, so far(j, core A) <= far(j, A-i).
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.near_groups import nearest_groups, trade
from shoal.compiled import Number, compiled, compiled_inside, compiled_once, compiled_part
from shoal.table import Array

_SWEEPS = 2
# a gain must be larger than the rounding of the costs (share of the cost of both groups)
_SURE = np.float32(2e-5)
# no member; an int64 rather than a literal, for which every function would be compiled once more
_NOBODY = np.int64(-1)

# Boxes by number: g is that of group g, then come the cores (what is left whichever one member goes), then the boxes
# without one member, and a last one as scratch.


@compiled_inside
def _core(members: Array, g: Number) -> Number:
    return len(members) + g


@compiled_inside
def _without(members: Array, g: Number, s: Number) -> Number:
    return len(members) * 2 + g * members.shape[1] + s


@compiled_part
def _fit(
    xs: Array, members: Array, sizes: Array, g: Number, without: Number, low: Array, high: Array, to: Number
) -> None:
    """The box of all members of a group but one (or of all, -1)."""
    first = 1 if without == 0 else 0
    box.start(low, high, to, xs, members[g, first])
    for s in range(first + 1, sizes[g]):
        if s != without:
            box.widen(low, high, to, xs, members[g, s])


@compiled_part
def _renew(
    xs: Array, members: Array, sizes: Array, low: Array, high: Array, cost: Array, cost_without: Array, g: Number
) -> None:
    """The box and the cost of a group, whole and without each member."""
    _fit(xs, members, sizes, g, _NOBODY, low, high, g)
    total = np.float32(0)
    for s in range(sizes[g]):
        total += box.far_corner(xs, members[g, s], low, high, g)
    cost[g] = total
    core = _core(members, g)
    for j in range(xs.shape[1]):
        low[core, j] = low[g, j]
        high[core, j] = high[g, j]
    for out in range(sizes[g]):
        left = _without(members, g, out)
        _fit(xs, members, sizes, g, out, low, high, left)
        total = np.float32(0)
        for s in range(sizes[g]):
            if s != out:
                total += box.far_corner(xs, members[g, s], low, high, left)
        cost_without[g, out] = total
        for j in range(xs.shape[1]):
            low[core, j] = low[left, j] if low[left, j] > low[core, j] else low[core, j]
            high[core, j] = high[left, j] if high[left, j] < high[core, j] else high[core, j]


@compiled_part
def _cost_with(
    xs: Array, members: Array, sizes: Array, g: Number, without: Number, low: Array, high: Array, b: Number, i: Number,
    limit: Number,
) -> Number:  # fmt: skip
    """The cost of a group, whose box is b without one member (-1: with all), with another record i.

    It is inf once it passes the limit.
    """
    scratch = len(low) - 1
    box.widened(low, high, b, xs, i, scratch)
    total = box.far_corner(xs, i, low, high, scratch)
    for s in range(sizes[g]):
        if s != without:
            total += box.far_corner(xs, members[g, s], low, high, scratch)
            if total >= limit:
                return np.float32(np.inf)
    return total


@compiled_once
def _best_swap(
    xs: Array, members: Array, sizes: Array, low: Array, high: Array, cost_without: Array,
    a: Number, b: Number, best: Number, fars: Array,
) -> tuple[int, int, Number]:  # fmt: skip
    """The members of two groups whose swap costs least, if less than `best`, and what it costs."""
    out_a, out_b = -1, -1
    for i in range(sizes[a]):
        fars[0, i] = cost_without[a, i] + box.far_corner(xs, members[a, i], low, high, _core(members, b))
    for j in range(sizes[b]):
        fars[1, j] = cost_without[b, j] + box.far_corner(xs, members[b, j], low, high, _core(members, a))
    for i in range(sizes[a]):
        row_a, box_a = members[a, i], _without(members, a, i)
        for j in range(sizes[b]):
            if fars[0, i] + fars[1, j] >= best:
                continue
            row_b, box_b = members[b, j], _without(members, b, j)
            bound = cost_without[a, i] + cost_without[b, j] + box.far_corner(xs, row_b, low, high, box_a)
            if bound >= best or bound + box.far_corner(xs, row_a, low, high, box_b) >= best:
                continue
            new = _cost_with(xs, members, sizes, a, i, low, high, box_a, row_b, best - cost_without[b, j])
            if new < np.inf:
                new += _cost_with(xs, members, sizes, b, j, low, high, box_b, row_a, best - new)
                if new < best:
                    best, out_a, out_b = new, i, j
    return out_a, out_b, best


@compiled_part
def _best_move(
    xs: Array, members: Array, sizes: Array, low: Array, high: Array, cost: Array, cost_without: Array,
    a: Number, b: Number, best: Number,
) -> tuple[int, Number]:  # fmt: skip
    """The member of a whose move to b costs least, if less than `best`, and what it costs."""
    out = -1
    for i in range(sizes[a]):
        left = cost_without[a, i]
        if left + cost[b] + box.far_corner(xs, members[a, i], low, high, b) < best:
            new = left + _cost_with(xs, members, sizes, b, _NOBODY, low, high, b, members[a, i], best - left)
            if new < best:
                best, out = new, i
    return out, best


@compiled_part
def _best_of_pair(
    xs: Array, members: Array, sizes: Array, low: Array, high: Array, cost: Array, cost_without: Array,
    a: Number, b: Number, k: int, fars: Array,
) -> tuple[int, int]:  # fmt: skip
    """The best exchange of two groups: a swap (i, j), a move (i, -1) from a to b or (-1, j) from b to a, or none."""
    now, most = cost[a] + cost[b], members.shape[1]
    best = now - _SURE * now
    gap = box.gap(low, high, a, b)
    out_a, out_b = -1, -1
    if now <= 0 or gap * (min(sizes[a], sizes[b]) + 1) >= best:
        return out_a, out_b
    if gap * (sizes[a] + sizes[b]) < best:
        out_a, out_b, best = _best_swap(xs, members, sizes, low, high, cost_without, a, b, best, fars)
    if sizes[a] > k and sizes[b] < most:
        out, best = _best_move(xs, members, sizes, low, high, cost, cost_without, a, b, best)
        if out >= 0:
            out_a, out_b = out, -1
    if sizes[b] > k and sizes[a] < most:
        out, best = _best_move(xs, members, sizes, low, high, cost, cost_without, b, a, best)
        if out >= 0:
            out_a, out_b = -1, out
    return out_a, out_b


@compiled_part
def _dissolved(
    xs: Array, members: Array, sizes: Array, low: Array, high: Array, cost: Array, cost_without: Array,
    a: Number, near: Array, gone_to: Array,
) -> bool:  # fmt: skip
    """Give all members of a group to near groups, if those have room and that costs less than the group did."""
    most = members.shape[1]
    limit = cost[a] - _SURE * cost[a]
    bound = np.float32(0)
    for s in range(sizes[a]):
        least = np.float32(np.inf)
        for nth in range(near.shape[1]):
            b = near[a, nth]
            if 0 < sizes[b] < most:
                least = min(least, box.far_corner(xs, members[a, s], low, high, b))
        bound += least
        if bound >= limit:
            return False
    added = np.float32(0)
    done = 0
    while done < sizes[a]:
        best, to = np.float32(np.inf), _NOBODY
        for nth in range(near.shape[1]):
            b = near[a, nth]
            if 0 < sizes[b] < most:
                new = _cost_with(xs, members, sizes, b, _NOBODY, low, high, b, members[a, done], np.float32(np.inf))
                if new - cost[b] < best:
                    best, to = new - cost[b], b
        if to < 0 or added + best >= limit:
            break
        members[to, sizes[to]] = members[a, done]
        sizes[to] += 1
        _renew(xs, members, sizes, low, high, cost, cost_without, to)
        added += best
        gone_to[done] = to
        done += 1
    if done == sizes[a]:
        sizes[a] = 0
        return True
    for s in range(done - 1, -1, -1):
        sizes[gone_to[s]] -= 1
        _renew(xs, members, sizes, low, high, cost, cost_without, gone_to[s])
    return False


@compiled_once
def _exchange(xs: Array, members: Array, sizes: Array, k: int) -> int:
    """Exchange records between the groups of a block until little is gained; how many exchanges were made."""
    groups, most = members.shape
    columns = xs.shape[1]
    boxes = groups * (2 + most) + 1
    low, high = np.empty((boxes, columns), np.float32), np.empty((boxes, columns), np.float32)
    cost, cost_without = np.empty(groups, np.float32), np.empty((groups, most), np.float32)
    centres = np.empty((groups, columns), np.float32)
    for g in range(groups):
        _renew(xs, members, sizes, low, high, cost, cost_without, g)
        for j in range(columns):
            centres[g, j] = low[g, j] + high[g, j]
    near = nearest_groups(centres)
    fars, gone_to = np.empty((groups, most), np.float32), np.empty(most, np.int64)
    # when a group last changed, and when a pair was last looked at
    changed, looked = np.empty(groups, np.int64), np.empty((groups, groups), np.int64)
    for a in range(groups):
        changed[a] = 1
        for b in range(groups):
            looked[a, b] = 0
    clock, made = 1, 0
    for _ in range(_SWEEPS):
        before = made
        for a in range(groups):
            if sizes[a] > 0 and _dissolved(xs, members, sizes, low, high, cost, cost_without, a, near, gone_to):
                made += 1
                clock += 1
                for nth in range(near.shape[1]):
                    changed[near[a, nth]] = clock
            for nth in range(near.shape[1]):
                b = near[a, nth]
                if sizes[a] == 0 or sizes[b] == 0:
                    continue
                first, second = min(a, b), max(a, b)
                while changed[a] > looked[first, second] or changed[b] > looked[first, second]:
                    looked[first, second] = clock
                    out_a, out_b = _best_of_pair(xs, members, sizes, low, high, cost, cost_without, a, b, k, fars)
                    if out_a < 0 and out_b < 0:
                        break
                    trade(members, sizes, a, b, out_a, out_b)
                    made += 1
                    clock += 1
                    changed[a] = changed[b] = clock
                    _renew(xs, members, sizes, low, high, cost, cost_without, a)
                    _renew(xs, members, sizes, low, high, cost, cost_without, b)
        if made == before:
            break
    return made


@compiled
def exchange_boxes(xs: Array, members: Array, sizes: Array, edges: Array, first_record: Array, k: int) -> int:
    """Exchange records within each of some blocks; members are numbered from their block's first record on.

    How many exchanges were made.
    """
    made = 0
    for block in range(len(edges) - 1):
        a, b = edges[block], edges[block + 1]
        if b - a > 1:
            records = xs[first_record[block] : first_record[block + 1]]
            made += _exchange(records, members[a:b], sizes[a:b], k)
    return made
