"""Groups of near records: made greedily within blocks or along one column, joined, measured, and written out.

A box is the lowest and the highest value of some records in each column. Comparisons of them are written out, because
the processor takes many of those at once, unlike `min` and `max`.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

if cython.compiled:
    from cython.cimports.shoal.kernels import _lanes as lanes
else:
    from shoal.kernels import _lanes as lanes

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint8 = cython.typedef(cython.uchar)
float32 = cython.typedef(cython.float)
float64 = cython.typedef(cython.double)
# the number of a record
Name = cython.fused_type(cython.int, cython.longlong)

_INFINITY = cython.declare(cython.double, float("inf"))
# groups before and behind in the order of the cuts, to which rows may move; larger groups stay as they are
_WINDOW = cython.declare(cython.longlong, 12)
_MOST_ROWS = cython.declare(cython.longlong, 256)
# a gain must be larger than the rounding of the sums
_SURE = cython.declare(cython.double, 1e-6)

if cython.compiled:

    def take_avx2(wanted: cython.bint) -> cython.bint:
        """Run the code for AVX2 if it is wanted and the processor has it; whether it does."""
        return lanes.take_avx2(wanted)

    take_avx2(True)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _single(x: float64) -> float32:
    """A number rounded to 32 bits, in Python as in C."""
    return cython.cast(float32, x) if cython.compiled else np.float32(x)


# --- boxes


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _widen(
    low: float32[:, ::1], high: float32[:, ::1], b: int64, rows: cython.const[float32][:, ::1], i: int64
) -> cython.void:
    """Let a box hold one more record."""
    cython.declare(j=int64, x=float32)
    for j in range(rows.shape[1]):
        x = rows[i, j]
        low[b, j] = x if x < low[b, j] else low[b, j]
        high[b, j] = x if x > high[b, j] else high[b, j]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _box_of(
    low: float32[:, ::1],
    high: float32[:, ::1],
    b: int64,
    rows: cython.const[float32][:, ::1],
    start: int64,
    stop: int64,
) -> cython.void:
    """The box of some records, at least one."""
    cython.declare(i=int64, j=int64)
    for j in range(rows.shape[1]):
        low[b, j] = high[b, j] = rows[start, j]
    for i in range(start + 1, stop):
        _widen(low, high, b, rows, i)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _far_corner(
    rows: cython.const[float32][:, ::1], i: int64, low: float32[:, ::1], high: float32[:, ::1], b: int64
) -> float64:
    """The distance of a record to the farthest corner of a box that holds it, in double precision."""
    cython.declare(j=int64, under=float32, over=float32, side=float32)
    total: float64 = 0
    for j in range(rows.shape[1]):
        over = high[b, j] - rows[i, j]
        under = rows[i, j] - low[b, j]
        side = under if under > over else over
        total += cython.cast(float64, side * side)
    return sqrt(total)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _growth(
    rows: cython.const[float32][:, ::1], i: int64, low: float32[:, ::1], high: float32[:, ::1], b: int64, members: int64
) -> float64:
    """What a group's box of so many members would cost more, at most, with one more record."""
    cython.declare(j=int64, x=float32, bottom=float32, top=float32)
    before: float32 = 0
    after: float32 = 0
    for j in range(rows.shape[1]):
        x = rows[i, j]
        bottom = low[b, j]
        top = high[b, j]
        before += (top - bottom) * (top - bottom)
        bottom = x if x < bottom else bottom
        top = x if x > top else top
        after += (top - bottom) * (top - bottom)
    return (members + 1) * cython.cast(float64, _single(sqrt(after))) - members * cython.cast(
        float64, _single(sqrt(before))
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _least_grown(
    rows: cython.const[float32][:, ::1], i: int64, low: float32[:, ::1], high: float32[:, ::1],
    sizes: cython.const[int64][::1], groups: int64,
) -> int64:  # fmt: skip
    """The group whose members' boxes grow least if the record joins."""
    cython.declare(g=int64, cost=float64)
    best: int64 = 0
    best_cost: float64 = _INFINITY
    for g in range(groups):
        cost = _growth(rows, i, low, high, g, sizes[g])
        if cost < best_cost:
            best = g
            best_cost = cost
    return best


# --- groups within blocks


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _narrowest(
    records: float32[:, :, ::1], live: int64, low: float32[:, ::1], high: float32[:, ::1], b: int64
) -> int64:
    """The record with which the diagonal of a box is shortest, the first of equal ones."""
    if cython.compiled:
        return lanes.narrowest(
            cython.address(records[0, 0, 0]),
            records.shape[1],
            live,
            cython.address(low[0, 0]),
            cython.address(high[0, 0]),
            b,
        )
    else:
        return lanes.narrowest(records, records.shape[1], live, low, high, b)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take(records: float32[:, :, ::1], names: int64[::1], far: float32[::1], live: int64, at: int64) -> int64:
    """Remove a record from those that are free: the last takes its place."""
    cython.declare(j=int64)
    last: int64 = live - 1
    for j in range(records.shape[1]):
        records[at >> 3, j, at & 7] = records[last >> 3, j, last & 7]
    names[at] = names[last]
    far[at] = far[last]
    return last


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _largest(values: float32[::1], count: int64) -> int64:
    """Where the largest value is, the first of equal ones."""
    cython.declare(i=int64)
    best: int64 = 0
    for i in range(1, count):
        if values[i] > values[best]:
            best = i
    return best


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _greedy(
    rows: cython.const[float32][:, ::1], start: int64, stop: int64, k: int64, group: int32[::1], groups: int64,
    records: float32[:, :, ::1], names: int64[::1], far: float32[::1], low: float32[:, ::1], high: float32[:, ::1],
    sizes: int64[::1],
) -> int64:  # fmt: skip
    """Put the records with group -1 into groups of k: the one farthest from the middle, and k-1 times the record that
    widens the box least; fewer than k at the end join the groups that they widen least. How many groups there are."""
    cython.declare(i=int64, j=int64, g=int64, at=int64, _turn=int64, x=float32, total=float32, middle=float64)
    cython.declare(side=float64)
    live: int64 = 0
    for i in range(start, stop):
        if group[i] < 0:
            for j in range(rows.shape[1]):
                records[live >> 3, j, live & 7] = rows[i, j]
            names[live] = i
            live += 1
    if live == 0:
        return groups
    for g in range(sizes.shape[0]):
        sizes[g] = 0
    for i in range(start, stop):
        g = group[i]
        if g >= 0:
            sizes[g] += 1
            for j in range(rows.shape[1]):
                low[g, j] = high[g, j] = rows[i, j]
    for i in range(live):
        far[i] = 0
    for j in range(rows.shape[1]):
        total = 0
        for i in range(live):
            total += records[i >> 3, j, i & 7]
        middle = cython.cast(float64, total) / live
        for i in range(live):
            side = cython.cast(float64, records[i >> 3, j, i & 7]) - middle
            far[i] = cython.cast(float64, far[i]) + side * side
    while live >= k:
        at = _largest(far, live)
        for j in range(rows.shape[1]):
            low[groups, j] = high[groups, j] = records[at >> 3, j, at & 7]
        group[names[at]] = groups
        live = _take(records, names, far, live, at)
        for _turn in range(k - 1):
            at = _narrowest(records, live, low, high, groups)
            for j in range(rows.shape[1]):
                x = records[at >> 3, j, at & 7]
                low[groups, j] = x if x < low[groups, j] else low[groups, j]
                high[groups, j] = x if x > high[groups, j] else high[groups, j]
            group[names[at]] = groups
            live = _take(records, names, far, live, at)
        sizes[groups] = k
        groups += 1
    for i in range(live):
        g = _least_grown(rows, names[i], low, high, sizes, groups)
        sizes[g] += 1
        _widen(low, high, g, rows, names[i])
        group[names[i]] = g
    return groups


def greedy_blocks(
    rows: cython.const[float32][:, ::1], edges: cython.const[int64][::1], k: int64, group: int32[::1],
    groups: int64[::1],
) -> None:  # fmt: skip
    """Groups of k within blocks that follow each other, from the outside in; groups[b] are those that block b has.

    Block b are the records edges[b] .. edges[b+1]. Those with group -1 are put into groups, which are numbered from
    groups[b] on; the others have one already.
    """
    cython.declare(block=int64)
    largest: int64 = np.diff(edges).max(initial=0)
    most: int64 = np.asarray(groups).max(initial=0) + largest // k + 1
    records: float32[:, :, ::1] = np.zeros((largest // 8 + 1, rows.shape[1], 8), np.float32)
    names: int64[::1] = np.empty(largest, np.int64)
    far: float32[::1] = np.empty(largest, np.float32)
    low: float32[:, ::1] = np.empty((most, rows.shape[1]), np.float32)
    high: float32[:, ::1] = np.empty((most, rows.shape[1]), np.float32)
    sizes: int64[::1] = np.empty(most, np.int64)
    with cython.nogil:
        for block in range(groups.shape[0]):
            groups[block] = _greedy(
                rows, edges[block], edges[block + 1], k, group, groups[block], records, names, far, low, high, sizes
            )


def join_left_over(
    rows: cython.const[float32][:, ::1], left: cython.const[int64][::1], group: int32[::1], sizes: int64[::1],
    low: float32[:, ::1], high: float32[:, ::1],
) -> None:  # fmt: skip
    """Records without a group (`left`) join the one whose box they widen least; the boxes are filled here."""
    cython.declare(g=int64, i=int64, j=int64, best=int64)
    with cython.nogil:
        for g in range(sizes.shape[0]):
            for j in range(low.shape[1]):
                low[g, j] = _INFINITY
                high[g, j] = -_INFINITY
        for i in range(rows.shape[0]):
            if group[i] >= 0:
                _widen(low, high, group[i], rows, i)
        for i in range(left.shape[0]):
            best = _least_grown(rows, left[i], low, high, sizes, sizes.shape[0])
            group[left[i]] = best
            sizes[best] += 1
            _widen(low, high, best, rows, left[i])


# --- groups that lie one after the other


def middles(
    rows: cython.const[float32][:, ::1], starts: cython.const[int64][::1], stop: int64, found: float32[:, ::1],
    lengths: int64[::1], cost: float32[::1],
) -> None:  # fmt: skip
    """The middle of each group's box (doubled), its size, and its cost: 0 if its records do not differ."""
    cython.declare(g=int64, i=int64, j=int64, end=int64)
    low: float32[:, ::1] = np.empty((1, rows.shape[1]), np.float32)
    high: float32[:, ::1] = np.empty((1, rows.shape[1]), np.float32)
    with cython.nogil:
        for g in range(starts.shape[0]):
            end = starts[g + 1] if g + 1 < starts.shape[0] else stop
            lengths[g] = end - starts[g]
            cost[g] = 0
            _box_of(low, high, 0, rows, starts[g], end)
            for j in range(rows.shape[1]):
                found[g, j] = low[0, j] + high[0, j]
            for i in range(starts[g], end):
                cost[g] = cython.cast(float64, cost[g]) + _far_corner(rows, i, low, high, 0)


def total_cost(
    rows: cython.const[float32][:, ::1], first: cython.const[uint8][::1], start: int64, stop: int64
) -> float64:
    """The sum of the distances of records to the farthest corner of their group's box, in double precision."""
    cython.declare(end=int64, i=int64)
    low: float32[:, ::1] = np.empty((1, rows.shape[1]), np.float32)
    high: float32[:, ::1] = np.empty((1, rows.shape[1]), np.float32)
    total: float64 = 0.0
    with cython.nogil:
        while start < stop:
            end = start + 1
            while end < stop and not first[end]:
                end += 1
            _box_of(low, high, 0, rows, start, end)
            for i in range(start, end):
                total += _far_corner(rows, i, low, high, 0)
            start = end
    return total


def write_groups(
    members: cython.const[int64][:, ::1], sizes: cython.const[int64][::1], xs: cython.const[float32][:, ::1],
    place: cython.const[int64][::1], order: cython.const[Name][::1], new_rows: float32[:, ::1], new_order: Name[::1],
    new_first: uint8[::1], at: int64,
) -> None:  # fmt: skip
    """Write groups out from `at` on; members are numbers of `xs`, place[number] is where each record lay."""
    cython.declare(g=int64, s=int64, j=int64, one=int64)
    with cython.nogil:
        for g in range(sizes.shape[0]):
            if sizes[g] > 0:
                new_first[at] = True
            for s in range(sizes[g]):
                one = members[g, s]
                for j in range(new_rows.shape[1]):
                    new_rows[at, j] = xs[one, j]
                new_order[at] = order[place[one]]
                at += 1


# --- one column alone, and groups joined


def first_of_cheapest_runs(values: cython.const[float64][::1], k: int64, squares: cython.bint) -> np.ndarray:
    """Where the groups of some sorted values start, by the cheapest way through them (Hansen, Mukherjee).

    Groups are runs of k to 2k-1 sorted records, so the least cost of the first i records is

        best(i) = min over k <= s < 2k of best(i - s) + cost of the records i - s .. i
    """
    cython.declare(i=int64, start=int64, half=int64, under=int64, end=int64, x=float64, total=float64, cost=float64)
    cython.declare(low=float64, high=float64, left=float64)
    size: int64 = values.shape[0]
    sums: float64[::1] = np.zeros(size + 1)
    products: float64[::1] = np.zeros(size + 1)
    best: float64[::1] = np.full(size + 1, np.inf)
    back: int64[::1] = np.zeros(size + 1, np.int64)
    found = np.zeros(size, bool)
    first: uint8[::1] = found.view(np.uint8)
    middle: float64 = 0
    with cython.nogil:
        for i in range(size):
            middle += values[i]
        middle /= size
        for i in range(size):
            x = values[i] - middle
            sums[i + 1] = sums[i] + x
            products[i + 1] = products[i] + x * x
        best[0] = 0
        for i in range(k, size + 1):
            half = i - 1
            for start in range(i - k, max(-1, i - 2 * k), -1):
                if best[start] == _INFINITY:
                    continue
                total = sums[i] - sums[start]
                if squares:
                    cost = products[i] - products[start] - total * total / (i - start)
                else:
                    low = values[start] - middle
                    high = values[i - 1] - middle
                    # the records up to the middle of the range are nearer to its low end; it moves down with the start
                    while half >= start and values[half] - middle > (low + high) / 2:
                        half -= 1
                    under = half + 1 - start
                    left = sums[half + 1] - sums[start]
                    cost = under * high - left + (total - left) - (i - start - under) * low
                if best[start] + cost < best[i]:
                    best[i] = best[start] + cost
                    back[i] = start
        end = size
        while end > 0:
            end = back[end]
            first[end] = True
    return found


def join_nearest(
    middle: cython.const[float32][:, ::1], numbers: cython.const[Name][::1], blocks: cython.const[int64][::1],
    refused: cython.const[uint8][::1],
) -> np.ndarray:  # fmt: skip
    """A new number for each group: those that are refused share that of the nearest group of their block.

    A group that was refused and joined in this round waits for the next, so that groups grow evenly.
    """
    cython.declare(block=int64, a=int64, b=int64, i=int64, j=int64, column=int64, best=int64, group=int64)
    cython.declare(side=float32, total=float64, best_distance=float64)
    result = np.full(numbers.shape[0], -1, np.int64)
    found: int64[::1] = result
    count: int64 = 0
    with cython.nogil:
        for block in range(blocks.shape[0] - 1):
            a = blocks[block]
            b = blocks[block + 1]
            for i in range(a, b):
                if not refused[numbers[i]] or found[numbers[i]] >= 0:
                    continue
                best = -1
                best_distance = _INFINITY
                for j in range(a, b):
                    if j != i:
                        total = 0
                        for column in range(middle.shape[1]):
                            side = middle[i, column] - middle[j, column]
                            total += cython.cast(float64, side * side)
                        if total < best_distance:
                            best = j
                            best_distance = total
                if best < 0:
                    continue
                if found[numbers[best]] < 0:
                    found[numbers[best]] = count
                    count += 1
                found[numbers[i]] = found[numbers[best]]
        for group in range(found.shape[0]):
            if found[group] < 0:
                found[group] = count
                count += 1
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _cost_of_people(
    rows: cython.const[float64][:, ::1], people: cython.const[float64][::1], head: int64[::1], after: int64[::1],
    group: int64, without: int64, beside: int64, squares: cython.bint, work: float64[:, ::1],
) -> float64:  # fmt: skip
    """What a group loses by people, without one of its rows or with another beside them (-1: none).

    `work` has four numbers for each column.
    """
    cython.declare(j=int64, x=float64)
    size: int64 = 0
    held: float64 = 0
    total: float64 = 0
    at: int64 = beside if beside >= 0 else head[group]
    for j in range(rows.shape[1]):
        work[0, j] = _INFINITY
        work[1, j] = -_INFINITY
        work[2, j] = work[3, j] = 0
    while at >= 0:
        if at != without:
            size += 1
            held += people[at]
            for j in range(rows.shape[1]):
                x = rows[at, j]
                work[0, j] = min(work[0, j], x)
                work[1, j] = max(work[1, j], x)
                work[2, j] += people[at] * x
                work[3, j] += people[at] * x * x
        at = head[group] if at == beside else after[at]
    if size == 0:
        return 0
    for j in range(rows.shape[1]):
        if squares:
            total += work[3, j] - work[2, j] * work[2, j] / held
        else:
            total += held * (work[1, j] - work[0, j])
    return total


def move_counted_rows(
    rows: cython.const[float64][:, ::1], people: cython.const[float64][::1], group_of: int64[::1], groups: int64,
    k: int64, squares: cython.bint,
) -> int64:  # fmt: skip
    """Try every row in the groups around its own, and make each move that gains; how many were made."""
    cython.declare(i=int64, g=int64, own=int64, other=int64, best_group=int64, at=int64)
    cython.declare(before=float64, left=float64, best=float64, gain=float64)
    head: int64[::1] = np.full(groups, -1, np.int64)
    after: int64[::1] = np.full(rows.shape[0], -1, np.int64)
    held: float64[::1] = np.zeros(groups)
    sizes: int64[::1] = np.zeros(groups, np.int64)
    work: float64[:, ::1] = np.empty((4, rows.shape[1]))
    made: int64 = 0
    with cython.nogil:
        for i in range(rows.shape[0] - 1, -1, -1):
            g = group_of[i]
            after[i] = head[g]
            head[g] = i
            held[g] += people[i]
            sizes[g] += 1
        for i in range(rows.shape[0]):
            own = group_of[i]
            if held[own] - people[i] < k or sizes[own] > _MOST_ROWS:
                continue
            before = _cost_of_people(rows, people, head, after, own, -1, -1, squares, work)
            left = before - _cost_of_people(rows, people, head, after, own, i, -1, squares, work)
            best = _SURE * (1.0 + before)
            if left <= best:
                continue
            best_group = -1
            for other in range(max(0, own - _WINDOW), min(groups, own + _WINDOW + 1)):
                if other == own or sizes[other] > _MOST_ROWS:
                    continue
                gain = left - _cost_of_people(rows, people, head, after, other, -1, i, squares, work)
                gain += _cost_of_people(rows, people, head, after, other, -1, -1, squares, work)
                if gain > best:
                    best = gain
                    best_group = other
            if best_group < 0:
                continue
            at = head[own]
            if at == i:
                head[own] = after[i]
            else:
                while after[at] != i:
                    at = after[at]
                after[at] = after[i]
            after[i] = head[best_group]
            head[best_group] = i
            held[own] -= people[i]
            held[best_group] += people[i]
            sizes[own] -= 1
            sizes[best_group] += 1
            group_of[i] = best_group
            made += 1
    return made
