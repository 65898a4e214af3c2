"""A k-d tree whose records can be taken out, and what looks for near and far records: MDAV, t-closeness first, bounds.

The tree is a heap: node i has the children 2i+1 and 2i+2, its records lie in one piece, halved by the median of the
column that varies most. A record that leaves goes to the end of its leaf, and the boxes above are tightened: without
that, searches would visit empty space.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
float32 = cython.typedef(cython.float)
float64 = cython.typedef(cython.double)
Real = cython.fused_type(cython.float, cython.double)

_INFINITY = cython.declare(cython.double, float("inf"))
# of many records so many tell which column varies most
_SAMPLE = cython.declare(cython.longlong, 128)
# more than numbers of 32 bits round, as a share of a squared distance or of a cosine; and where squares vanish
_ROUNDED = cython.declare(cython.double, 1e-6)
_LEAST = cython.declare(cython.double, 1e-60)


# --- the tree


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _swap(rows: Real[:, ::1], names: int64[::1], a: int64, b: int64) -> cython.void:
    cython.declare(j=int64)
    x: Real
    name: int64 = names[a]
    for j in range(rows.shape[1]):
        x = rows[a, j]
        rows[a, j] = rows[b, j]
        rows[b, j] = x
    names[a] = names[b]
    names[b] = name


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _select(rows: Real[:, ::1], names: int64[::1], start: int64, stop: int64, column: int64, nth: int64) -> cython.void:
    """Order records so that the nth by a column (ties by name) is in its place, smaller ones before it."""
    cython.declare(i=int64, j=int64, middle=int64)
    pivot: Real
    left: int64 = start
    right: int64 = stop - 1
    while left < right:
        middle = (left + right) // 2
        # the median of three as pivot
        if rows[middle, column] < rows[left, column]:
            _swap(rows, names, left, middle)
        if rows[right, column] < rows[left, column]:
            _swap(rows, names, left, right)
        if rows[right, column] < rows[middle, column]:
            _swap(rows, names, middle, right)
        pivot = rows[middle, column]
        i = left
        j = right
        while i <= j:
            while rows[i, column] < pivot:
                i += 1
            while pivot < rows[j, column]:
                j -= 1
            if i <= j:
                _swap(rows, names, i, j)
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            break


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _widest(rows: Real[:, ::1], start: int64, stop: int64) -> int64:
    """The column that varies most; of many records a sample tells."""
    cython.declare(i=int64, j=int64, count=int64, total=float64, squares=float64, mean=float64, varies=float64)
    x: Real
    step: int64 = max(1, (stop - start) // _SAMPLE)
    best: float64 = -1
    best_column: int64 = 0
    for j in range(rows.shape[1]):
        total = squares = 0
        count = 0
        i = start
        while i < stop:
            x = rows[i, j] - rows[start, j]
            total += cython.cast(float64, x)
            squares += cython.cast(float64, x * x)
            count += 1
            i += step
        mean = total / count
        varies = squares / count - mean * mean
        if varies > best:
            best = varies
            best_column = j
    return best_column


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _tighten(
    rows: Real[:, ::1], start: int64, stop: int64, low: Real[:, ::1], high: Real[:, ::1], node: int64
) -> cython.void:
    """The smallest box that holds some records; of none, one that is nowhere."""
    cython.declare(i=int64, j=int64)
    x: Real
    for j in range(low.shape[1]):
        low[node, j] = _INFINITY
        high[node, j] = -_INFINITY
    for i in range(start, stop):
        for j in range(rows.shape[1]):
            x = rows[i, j]
            low[node, j] = x if x < low[node, j] else low[node, j]
            high[node, j] = x if x > high[node, j] else high[node, j]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _join(low: Real[:, ::1], high: Real[:, ::1], node: int64) -> cython.bint:
    """The box around those of the children of a node; whether it differs from what it was."""
    cython.declare(j=int64)
    bottom: Real
    top: Real
    differs: int64 = 0
    one: int64 = 2 * node + 1
    two: int64 = 2 * node + 2
    for j in range(low.shape[1]):
        bottom = low[two, j] if low[two, j] < low[one, j] else low[one, j]
        top = high[two, j] if high[two, j] > high[one, j] else high[one, j]
        differs += (bottom != low[node, j]) | (top != high[node, j])
        low[node, j] = bottom
        high[node, j] = top
    return differs > 0


def build_tree(
    rows: Real[:, ::1], names: int64[::1], starts: int64[::1], live: int64[::1], low: Real[:, ::1], high: Real[:, ::1],
    where: int64[::1], stops: int64[::1],
) -> None:  # fmt: skip
    """Order the records as a tree; `names` are 0 .. n-1 and where[name] becomes the place of a record."""
    cython.declare(node=int64, a=int64, b=int64, middle=int64, i=int64)
    size: int64 = rows.shape[0]
    nodes: int64 = live.shape[0]
    inner: int64 = nodes // 2
    with cython.nogil:
        starts[0] = 0
        stops[0] = size
        for node in range(inner):
            a = starts[node]
            b = stops[node]
            middle = (a + b) // 2
            if b - a > 1:
                _select(rows, names, a, b, _widest(rows, a, b), middle)
            starts[2 * node + 1] = a
            stops[2 * node + 1] = middle
            starts[2 * node + 2] = middle
            stops[2 * node + 2] = b
        for node in range(nodes):
            live[node] = stops[node] - starts[node]
        for node in range(nodes - 1, -1, -1):
            if node < inner:
                _join(low, high, node)
            else:
                _tighten(rows, starts[node], stops[node], low, high, node)
        for i in range(size):
            where[names[i]] = i


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf_near(low: Real[:, ::1], high: Real[:, ::1], live: int64[::1], row: Real[::1]) -> int64:
    """The leaf that a point would lie in, or near."""
    cython.declare(one=int64, two=int64)
    inner: int64 = live.shape[0] // 2
    node: int64 = 0
    while node < inner:
        one = 2 * node + 1
        two = 2 * node + 2
        if live[one] == 0:
            node = two
        elif live[two] == 0 or _box_distance(row, low, high, one) <= _box_distance(row, low, high, two):
            node = one
        else:
            node = two
    return node


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _leaf_at(starts: int64[::1], place: int64) -> int64:
    """The leaf that holds a place."""
    inner: int64 = starts.shape[0] // 2
    node: int64 = 0
    while node < inner:
        node = 2 * node + 2 if place >= starts[2 * node + 2] else 2 * node + 1
    return node


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _take_out(
    rows: Real[:, ::1], names: int64[::1], starts: int64[::1], live: int64[::1], low: Real[:, ::1], high: Real[:, ::1],
    where: int64[::1], name: int64,
) -> int64:  # fmt: skip
    """Take a record out of the tree; its leaf."""
    cython.declare(j=int64, node=int64)
    place: int64 = where[name]
    leaf: int64 = _leaf_at(starts, place)
    last: int64 = starts[leaf] + live[leaf] - 1
    if place != last:
        _swap(rows, names, place, last)
        where[names[place]] = place
        where[name] = last
    live[leaf] -= 1
    # does the box of the leaf shrink, and of those above?
    shrinks: cython.bint = live[leaf] == 0
    if not shrinks:
        for j in range(rows.shape[1]):
            if rows[last, j] == low[leaf, j] or rows[last, j] == high[leaf, j]:
                shrinks = True
                break
    if shrinks:
        _tighten(rows, starts[leaf], last, low, high, leaf)
    node = leaf
    while node > 0:
        node = (node - 1) // 2
        live[node] -= 1
        if shrinks:
            shrinks = _join(low, high, node)
    return leaf


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _box_distance(row: Real[::1], low: Real[:, ::1], high: Real[:, ::1], node: int64) -> Real:
    """The squared distance of a record to a box; rounded, it is still no more than to any record inside."""
    cython.declare(j=int64)
    under: Real
    over: Real
    side: Real
    total: Real = 0
    for j in range(row.shape[0]):
        under = low[node, j] - row[j]
        over = row[j] - high[node, j]
        side = under if under > over else over
        side = side if side > 0 else 0
        total += side * side
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _distance(rows: Real[:, ::1], i: int64, row: Real[::1]) -> Real:
    """The squared distance of a record to a point."""
    cython.declare(j=int64)
    side: Real
    total: Real = 0
    for j in range(row.shape[0]):
        side = rows[i, j] - row[j]
        total += side * side
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _scan(
    rows: Real[:, ::1], names: int64[::1], start: int64, stop: int64, row: Real[::1], wanted: int64, held: int64,
    found: int64[::1], far: Real[::1],
) -> int64:  # fmt: skip
    """Hold the records of a leaf against the nearest so far."""
    cython.declare(i=int64, at=int64)
    d: Real
    for i in range(start, stop):
        d = _distance(rows, i, row)
        if held < wanted:
            at = held
            held += 1
        elif d < far[wanted - 1] or (d == far[wanted - 1] and names[i] < found[wanted - 1]):
            at = wanted - 1
        else:
            continue
        while at > 0 and (far[at - 1] > d or (far[at - 1] == d and found[at - 1] > names[i])):
            far[at] = far[at - 1]
            found[at] = found[at - 1]
            at -= 1
        far[at] = d
        found[at] = names[i]
    return held


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _nearest(
    rows: Real[:, ::1], names: int64[::1], starts: int64[::1], live: int64[::1], low: Real[:, ::1], high: Real[:, ::1],
    row: Real[::1], leaf: int64, wanted: int64, found: int64[::1], far: Real[::1], stack: int64[::1], apart: Real[::1],
) -> int64:  # fmt: skip
    """The nearest records to a point, sorted by distance, ties by name, from its leaf upwards; how many there are.

    `stack` and `apart` (64 each, more than a tree is deep) are for its own use.
    """
    cython.declare(sibling=int64, depth=int64, at=int64, one=int64, two=int64)
    d_one: Real
    d_two: Real
    inner: int64 = live.shape[0] // 2
    held: int64 = _scan(rows, names, starts[leaf], starts[leaf] + live[leaf], row, wanted, 0, found, far)
    node: int64 = leaf
    while node > 0:
        sibling = node + 1 if node % 2 else node - 1
        node = (node - 1) // 2
        if live[sibling] == 0:
            continue
        stack[0] = sibling
        apart[0] = _box_distance(row, low, high, sibling)
        depth = 1
        while depth > 0:
            depth -= 1
            at = stack[depth]
            if held == wanted and apart[depth] > far[wanted - 1]:
                continue
            while at < inner:
                one = 2 * at + 1
                two = 2 * at + 2
                if live[two] == 0:
                    at = one
                    continue
                if live[one] == 0:
                    at = two
                    continue
                d_one = _box_distance(row, low, high, one)
                d_two = _box_distance(row, low, high, two)
                at = one
                if d_two < d_one:
                    # the nearer child first, the other waits
                    at = two
                    two = one
                    apart[depth] = d_one
                    d_one = d_two
                else:
                    apart[depth] = d_two
                if held < wanted or apart[depth] <= far[wanted - 1]:
                    stack[depth] = two
                    depth += 1
                if held == wanted and d_one > far[wanted - 1]:
                    at = -1
                    break
            if at >= 0:
                held = _scan(rows, names, starts[at], starts[at] + live[at], row, wanted, held, found, far)
    return held


# --- t-closeness first


def take_nearest_of_stretches(
    points: float64[:, ::1], outermost: cython.const[int64][::1], rows: float64[:, ::1], names: int64[::1],
    node_starts: int64[::1], live: int64[::1], low: float64[:, ::1], high: float64[:, ::1], where: int64[::1],
    starts: cython.const[int64][::1], first_node: cython.const[int64][::1], group: int64[::1], centres: float64[:, ::1],
) -> None:  # fmt: skip
    """Groups of one record, the nearest, of each stretch; each stretch has a tree of its own in the same arrays.

    From the outside in, the outermost record takes the nearest of every stretch. What is left over joins the nearest
    groups, each at most as often as it must.
    """
    cython.declare(i=int64, s=int64, j=int64, name=int64, taken=int64, leaf=int64, a=int64, b=int64, c=int64, d=int64)
    found: int64[::1] = np.empty(1, np.int64)
    far: float64[::1] = np.empty(1)
    stack: int64[::1] = np.empty(64, np.int64)
    apart: float64[::1] = np.empty(64)
    row: float64[::1] = np.empty(points.shape[1])
    extra: int64[::1] = np.zeros(centres.shape[0], np.int64)
    stretches: int64 = starts.shape[0] - 1
    groups: int64 = 0
    with cython.nogil:
        for i in range(outermost.shape[0]):
            name = outermost[i]
            if groups == centres.shape[0]:
                break
            if group[name] >= 0:
                continue
            for j in range(points.shape[1]):
                row[j] = points[name, j]
            for s in range(stretches):
                a = starts[s]
                b = starts[s + 1]
                c = first_node[s]
                d = first_node[s + 1]
                if a <= name < b:
                    taken = name - a
                else:
                    leaf = _leaf_near(low[c:d], high[c:d], live[c:d], row)
                    _nearest(
                        rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], row, leaf, 1, found,
                        far, stack, apart,
                    )  # fmt: skip
                    taken = found[0]
                _take_out(rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], where[a:b], taken)
                group[a + taken] = groups
                for j in range(points.shape[1]):
                    centres[groups, j] += points[a + taken, j] / stretches
            groups += 1
        _join_nearest_centres(points, group, centres, extra)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _join_nearest_centres(
    points: float64[:, ::1], group: int64[::1], centres: float64[:, ::1], extra: int64[::1]
) -> cython.void:
    cython.declare(i=int64, g=int64, j=int64, best=int64, best_far=float64, total=float64, side=float64)
    least: int64 = 0  # no group takes another while one has taken fewer
    at_least: int64 = centres.shape[0]
    for i in range(points.shape[0]):
        if group[i] >= 0:
            continue
        best = -1
        best_far = _INFINITY
        for g in range(centres.shape[0]):
            if extra[g] == least:
                total = 0
                for j in range(points.shape[1]):
                    side = points[i, j] - centres[g, j]
                    total += side * side
                if total < best_far:
                    best = g
                    best_far = total
        group[i] = best
        extra[best] += 1
        at_least -= 1
        if at_least == 0:
            least += 1
            at_least = centres.shape[0]


# --- sectors around an anchor


def cones_of_sectors(
    directions: cython.const[float32][:, ::1], starts: cython.const[int64][::1], stops: cython.const[int64][::1],
    axes: float64[:, ::1], cosines: float64[::1],
) -> None:  # fmt: skip
    """Fill in the axis of each sector, and the cosine of its widest angle."""
    cython.declare(s=int64, i=int64, j=int64, length=float64, least=float64, cosine=float64)
    axis: float64[::1] = np.empty(directions.shape[1])
    with cython.nogil:
        for s in range(starts.shape[0]):
            for j in range(axis.shape[0]):
                axis[j] = 0
            for i in range(starts[s], stops[s]):
                for j in range(axis.shape[0]):
                    axis[j] += directions[i, j]
            length = 0
            for j in range(axis.shape[0]):
                length += axis[j] * axis[j]
            length = sqrt(length)
            for j in range(axis.shape[0]):
                axis[j] = axis[j] / length if length > 0 else 0
                axes[j, s] = axis[j]
            least = 1 if length > 0 else -1
            for i in range(starts[s], stops[s]):
                cosine = 0
                for j in range(axis.shape[0]):
                    cosine += directions[i, j] * axis[j]
                least = cosine if cosine < least else least
            cosines[s] = max(least - _ROUNDED, -1.0)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _nearest_to_the_way_back(
    offset: float64[::1], length: float64, axes: float64[:, ::1], cosines: float64[::1], near: float64[::1]
) -> cython.void:
    """The cosine of each sector's least angle to the way from a point to the anchor and on; 0 past a right angle."""
    cython.declare(s=int64, j=int64, back=float64, axis=float64, edge=float64, sines=float64, beside=float64)
    for s in range(near.shape[0]):
        near[s] = 0
    for j in range(axes.shape[0]):
        back = -offset[j] / length if length > 0 else 0
        for s in range(near.shape[0]):
            near[s] += axes[j, s] * back
    for s in range(near.shape[0]):
        axis = near[s]
        edge = cosines[s]
        # the cosine of a difference of angles
        sines = sqrt(max(1 - axis * axis, 0.0) + 4 * _ROUNDED) * sqrt(max(1 - edge * edge, 0.0))
        beside = max(axis * edge + sines, 0.0)
        near[s] = 1 if axis + _ROUNDED >= edge else beside


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bound(far: float64, length: float64, near: float64) -> float64:
    """No record of a sector that is so far from the anchor or less has a larger squared distance to the point."""
    return (far * far + length * length + 2 * far * length * near) * (1 + _ROUNDED) + _LEAST


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _square_of_offset(offsets: cython.const[float32][:, ::1], i: int64, offset: float64[::1]) -> float64:
    """As `_distance`, of a record in 32 bits."""
    cython.declare(j=int64, side=float64)
    total: float64 = 0
    for j in range(offset.shape[0]):
        side = cython.cast(float64, offsets[i, j]) - offset[j]
        total += side * side
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _farthest(
    points: float64[:, ::1], offsets: cython.const[float32][:, ::1], names: int32[::1],
    away: cython.const[float32][::1], at: int64[::1], stops: cython.const[int64][::1], axes: float64[:, ::1],
    cosines: float64[::1], anchor: cython.const[float64][::1], row: float64[::1], offset: float64[::1],
    near: float64[::1], bounds: float64[::1],
) -> int64:  # fmt: skip
    """The record farthest from a point, of equally far ones that with the smallest name.

    `offset` (a number for each column), `near` and `bounds` (for each sector) are for its own use.
    """
    cython.declare(j=int64, s=int64, i=int64, turn=int64, bound=float64, d=float64)
    length: float64 = 0
    first: int64 = 0
    best: float64 = -1
    best_name: int64 = -1
    for j in range(anchor.shape[0]):
        offset[j] = row[j] - anchor[j]
        length += offset[j] * offset[j]
    length = sqrt(length)
    _nearest_to_the_way_back(offset, length, axes, cosines, near)
    for s in range(at.shape[0]):
        bounds[s] = _bound(cython.cast(float64, away[at[s]]), length, near[s]) if at[s] < stops[s] else -1
        first = s if bounds[s] > bounds[first] else first
    for turn in range(at.shape[0] + 1):
        # the most promising sector before all others
        s = turn - 1 if turn else first
        if bounds[s] < best:
            continue
        bounds[s] = -2
        while at[s] < stops[s] and names[at[s]] < 0:
            at[s] += 1
        for i in range(at[s], stops[s]):
            bound = _bound(cython.cast(float64, away[i]), length, near[s])
            if bound < best:
                break
            if names[i] < 0 or _square_of_offset(offsets, i, offset) + _ROUNDED * bound < best:
                continue
            d = _distance(points, names[i], row)
            if d > best or (d == best and names[i] < best_name):
                best = d
                best_name = names[i]
    return best_name


# --- MDAV


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add(total: float64[::1], rest: float64[::1], points: float64[:, ::1], i: int64, sign: float64) -> cython.void:
    """Add to running sums, with the rounding kept apart: the mean is that of exact sums."""
    cython.declare(j=int64, x=float64, new=float64, back=float64)
    for j in range(total.shape[0]):
        x = sign * points[i, j]
        new = total[j] + x
        back = new - total[j]
        rest[j] += (total[j] - (new - back)) + (x - back)
        total[j] = new


def sum_of_rows(points: float64[:, ::1], total: float64[::1], rest: float64[::1]) -> None:
    """The sum of all records, and its rounding."""
    cython.declare(i=int64)
    with cython.nogil:
        for i in range(points.shape[0]):
            _add(total, rest, points, i, 1)


def mdav_groups(
    points: float64[:, ::1], group: int64[::1], total: float64[::1], rest: float64[::1], left: int64, groups: int64,
    k: int64, least: int64, rows: float64[:, ::1], names: int64[::1], starts: int64[::1], live: int64[::1],
    low: float64[:, ::1], high: float64[:, ::1], where: int64[::1], offsets: cython.const[float32][:, ::1],
    outer: int32[::1], away: cython.const[float32][::1], place: cython.const[int32][::1], at: int64[::1],
    stops: cython.const[int64][::1], axes: float64[:, ::1], cosines: float64[::1], anchor: cython.const[float64][::1],
) -> int64:  # fmt: skip
    """Groups while at least so many records are left: fills `group`; how many groups there are.

    From `rows` to `where` it is the tree, the others are the sectors.
    """
    cython.declare(j=int64, _turn=int64, turns=int64, centre=int64, leaf=int64, i=int64)
    stack: int64[::1] = np.empty(64, np.int64)
    apart: float64[::1] = np.empty(64)
    row: float64[::1] = np.empty(anchor.shape[0])
    offset: float64[::1] = np.empty(anchor.shape[0])
    near: float64[::1] = np.empty(at.shape[0])
    bounds: float64[::1] = np.empty(at.shape[0])
    found: int64[::1] = np.empty(k - 1, np.int64)
    far: float64[::1] = np.empty(k - 1)
    with cython.nogil:
        while left >= least:
            for j in range(row.shape[0]):
                row[j] = (total[j] + rest[j]) / left
            # a second group, around the record farthest from the first, if at least 3k are left
            turns = 2 if left >= 3 * k else 1
            for _turn in range(turns):
                centre = _farthest(
                    points, offsets, outer, away, at, stops, axes, cosines, anchor, row, offset, near, bounds
                )
                for j in range(row.shape[0]):
                    row[j] = points[centre, j]
                leaf = _take_out(rows, names, starts, live, low, high, where, centre)
                _nearest(rows, names, starts, live, low, high, row, leaf, k - 1, found, far, stack, apart)
                group[centre] = groups
                outer[place[centre]] = -1
                _add(total, rest, points, centre, -1)
                for i in range(k - 1):
                    _take_out(rows, names, starts, live, low, high, where, found[i])
                    group[found[i]] = groups
                    outer[place[found[i]]] = -1
                    _add(total, rest, points, found[i], -1)
                groups += 1
                left -= k
    return groups
