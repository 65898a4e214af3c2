"""Groups from the outside in: the record farthest from the middle of all, with its nearest, again and again.

One front moves inwards, where blocks would have a border each: what is left over is less.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.blocks import arrange, greedy, identical_first
from shoal.anonymization.partition.tree import build, depth_of, nearest, take_out
from shoal.compiled import Number, compiled
from shoal.table import Array


@compiled
def outermost_first(rows: Array) -> Array:
    """Records by their distance from the middle, farthest first."""
    far = np.zeros(len(rows), np.float64)
    for j in range(rows.shape[1]):
        middle = 0.0
        for i in range(len(rows)):
            middle += rows[i, j]
        middle /= len(rows)
        for i in range(len(rows)):
            far[i] -= (rows[i, j] - middle) ** 2
    return np.argsort(far)


@compiled
def peel(rows: Array, k: int, wanted: int, group: Array, groups: int) -> int:
    """Put records into groups of k from the outside in: of the `wanted` nearest, those that widen the box least.

    `rows` are reordered; group[name] is the group of the record that came as number `name`, and what is left over
    (fewer than k) is -1. How many groups there are.
    """
    size, columns = rows.shape
    outermost = outermost_first(rows)
    nodes = 2 ** (depth_of(size) + 1) - 1
    starts, live = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    low, high = np.empty((nodes, columns), rows.dtype), np.empty((nodes, columns), rows.dtype)
    names, where = np.arange(size), np.empty(size, np.int64)
    build(rows, names, starts, live, low, high, where)
    found, far = np.empty(wanted, np.int64), np.empty(wanted, rows.dtype)
    box_low, box_high = np.empty((1, columns), rows.dtype), np.empty((1, columns), rows.dtype)
    row = np.empty(columns, rows.dtype)
    left = size
    for i in range(size):
        group[i] = -1
    for name in outermost:
        if group[name] >= 0:
            continue
        if left < k:
            break
        place = where[name]
        for j in range(columns):
            row[j] = rows[place, j]
        leaf = take_out(rows, names, starts, live, low, high, where, name)
        group[name] = groups
        held = nearest(rows, names, starts, live, low, high, row, leaf, min(wanted, left - 1), found, far)
        if held > k - 1:
            _keep_narrow(rows, where, row, found, held, k, box_low, box_high)
        for i in range(k - 1):
            take_out(rows, names, starts, live, low, high, where, found[i])
            group[found[i]] = groups
        groups += 1
        left -= k
    return groups


@compiled
def _keep_narrow(
    rows: Array, where: Array, row: Array, found: Array, held: int, k: int, low: Array, high: Array
) -> None:
    """Bring to the front those of the nearest that widen the box least, one after the other."""
    for j in range(len(row)):
        low[0, j] = high[0, j] = row[j]
    for n in range(k - 1):
        best, best_wide = n, np.inf
        for i in range(n, held):
            wide = 0.0
            other = where[found[i]]
            for j in range(len(row)):
                x, bottom, top = rows[other, j], low[0, j], high[0, j]
                bottom = x if x < bottom else bottom
                top = x if x > top else top
                wide += (top - bottom) * (top - bottom)
                if wide >= best_wide:
                    break
            if wide < best_wide:
                best, best_wide = i, wide
        found[n], found[best] = found[best], found[n]
        box.widen(low, high, 0, rows, where[found[n]])


@compiled
def _join_left_over(rows: Array, start: int, size: int, group: Array, groups: int) -> None:
    """Records without a group join the one whose box they widen least."""
    columns = rows.shape[1]
    low, high = np.full((groups, columns), np.inf, np.float32), np.full((groups, columns), -np.inf, np.float32)
    sizes = np.zeros(groups, np.int64)
    for i in range(size):
        g = group[i]
        if g >= 0:
            sizes[g] += 1
            box.widen(low, high, g, rows, start + i)
    for i in range(size):
        if group[i] >= 0:
            continue
        best, best_cost = 0, np.inf
        for g in range(groups):
            cost = box.growth(rows, start + i, low, high, g, sizes[g])
            if cost < best_cost:
                best, best_cost = g, cost
        group[i] = best
        sizes[best] += 1
        box.widen(low, high, best, rows, start + i)


@compiled
def _chopped(group: Array, groups: int, k: int) -> Number:
    """Cut groups of identical records into groups of k to 2k-1, which can spare some for others later."""
    sizes = np.zeros(groups, np.int64)
    for i in range(len(group)):
        if group[i] >= 0:
            sizes[group[i]] += 1
    offset = np.zeros(groups + 1, np.int64)
    for g in range(groups):
        offset[g + 1] = offset[g] + sizes[g] // k
    dealt = np.zeros(groups, np.int64)
    for i in range(len(group)):
        g = group[i]
        if g >= 0:
            group[i] = offset[g] + min(dealt[g] // k, sizes[g] // k - 1)
            dealt[g] += 1
    return offset[groups]


@compiled
def _split_large(rows: Array, start: int, size: int, k: int, group: Array, groups: int) -> int:
    """Split groups of 2k and more, to which left-over records came: that raises nobody's loss."""
    sizes = np.zeros(groups, np.int64)
    for i in range(size):
        sizes[group[i]] += 1
    for g in range(len(sizes)):
        if sizes[g] < 2 * k:
            continue
        names, some = np.empty(sizes[g], np.int64), np.empty((sizes[g], rows.shape[1]), rows.dtype)
        held = 0
        for i in range(size):
            if group[i] == g:
                names[held] = i
                for j in range(rows.shape[1]):
                    some[held, j] = rows[start + i, j]
                held += 1
        parts = np.full(held, -1, np.int32)
        more = greedy(some, 0, held, k, parts, 0)
        for i in range(held):
            if parts[i] > 0:
                group[names[i]] = groups + parts[i] - 1
        groups += more - 1
    return groups


@compiled
def peel_segment(
    rows: Array, bits: Array, order: Array, start: int, stop: int, k: int, wanted: int, first: Array
) -> None:
    """Groups within a segment of neighbours: identical records first, the others peeled."""
    size = stop - start
    group = np.empty(size, np.int32)
    groups = _chopped(group, identical_first(bits, start, stop, k, group), k)
    count = 0
    for i in range(size):
        if group[i] < 0:
            count += 1
    if count > 0:
        free, some = np.empty(count, np.int64), np.empty((count, rows.shape[1]), rows.dtype)
        count = 0
        for i in range(size):
            if group[i] < 0:
                free[count] = i
                for j in range(rows.shape[1]):
                    some[count, j] = rows[start + i, j]
                count += 1
        found = np.empty(count, np.int32)
        groups = peel(some, k, wanted, found, groups)
        for i in range(count):
            group[free[i]] = found[i]
        _join_left_over(rows, start, size, group, groups)
        groups = _split_large(rows, start, size, k, group, groups)
    arrange(rows, order, start, stop, group, groups, first)
