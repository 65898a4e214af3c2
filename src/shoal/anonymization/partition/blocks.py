"""Groups within a block of neighbours: identical records first, then greedily from the outside in."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.compiled import compiled, compiled_loosely
from shoal.table import Array


@compiled
def _hashes(bits: Array, start: int, stop: int) -> Array:
    """A number per record, equal for identical records."""
    found = np.empty(stop - start, np.uint64)
    for i in range(start, stop):
        h = np.uint64(1469598103934665603)
        for j in range(bits.shape[1]):
            h = (h ^ np.uint64(bits[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            h ^= h >> np.uint64(29)
        found[i - start] = h
    return found


@compiled
def _same(bits: Array, a: int, b: int) -> bool:
    for j in range(bits.shape[1]):  # noqa: SIM110 (machine code knows no generators)
        if bits[a, j] != bits[b, j]:
            return False
    return True


@compiled
def identical_first(bits: Array, start: int, stop: int, k: int, group: Array) -> int:
    """Give records that at least k share groups of their own: group[i] = 0, 1, …, the others -1. How many groups."""
    size = stop - start
    for i in range(size):
        group[i] = -1
    hashes = _hashes(bits, start, stop)
    ranked = np.argsort(hashes)
    groups = 0
    at = 0
    while at < size:
        end = at + 1
        while end < size and hashes[ranked[end]] == hashes[ranked[at]]:
            end += 1
        if end - at >= k:
            # two different records may share a hash: what differs from the first is left to the others
            alike = 0
            for i in range(at, end):
                if _same(bits, start + ranked[at], start + ranked[i]):
                    alike += 1
            if alike >= k:
                for i in range(at, end):
                    if _same(bits, start + ranked[at], start + ranked[i]):
                        group[ranked[i]] = groups
                groups += 1
        at = end
    return groups


@compiled_loosely
def _widen(columns: Array, live: int, low: Array, high: Array, wide: Array) -> None:
    """The squared diagonal of the box, were it to hold each of the records too."""
    for i in range(live):
        wide[i] = 0
    for j in range(columns.shape[0]):
        a, b = low[j], high[j]
        row = columns[j]
        for i in range(live):
            x = row[i]
            top = x if x > b else b
            bottom = x if x < a else a
            side = top - bottom
            wide[i] += side * side


@compiled
def _take(columns: Array, names: Array, far: Array, live: int, at: int) -> int:
    """Remove a record from those that are free: the last takes its place."""
    last = live - 1
    for j in range(columns.shape[0]):
        columns[j, at] = columns[j, last]
    names[at] = names[last]
    far[at] = far[last]
    return last


@compiled
def _smallest(values: Array, count: int) -> int:
    best = 0
    for i in range(1, count):
        if values[i] < values[best]:
            best = i
    return best


@compiled
def _largest(values: Array, count: int) -> int:
    best = 0
    for i in range(1, count):
        if values[i] > values[best]:
            best = i
    return best


@compiled
def _join(rows: Array, start: int, name: int, low: Array, high: Array, sizes: Array, groups: int) -> int:
    """The group whose members' boxes grow least if the record joins."""
    best, best_cost = 0, np.inf
    for g in range(groups):
        cost = box.growth(rows, start + name, low, high, g, sizes[g])
        if cost < best_cost:
            best, best_cost = g, cost
    return best


@compiled
def greedy(rows: Array, start: int, stop: int, k: int, group: Array, groups: int) -> int:
    """Put the records with group -1 into groups of k: the one farthest from the middle, and k-1 times the record that
    widens the box least; fewer than k at the end join the groups that they widen least. How many groups there are."""
    size = stop - start
    wide_columns = rows.shape[1]
    columns = np.empty((wide_columns, size), rows.dtype)
    names = np.empty(size, np.int32)
    live = 0
    for i in range(size):
        if group[i] < 0:
            for j in range(wide_columns):
                columns[j, live] = rows[start + i, j]
            names[live] = i
            live += 1
    if live == 0:
        return groups
    low = np.empty((groups + live // k + 1, wide_columns), rows.dtype)
    high = np.empty_like(low)
    sizes = np.zeros(len(low), np.int64)
    for i in range(size):
        g = group[i]
        if g >= 0:
            sizes[g] += 1
            for j in range(wide_columns):
                low[g, j] = high[g, j] = rows[start + i, j]
    far = np.zeros(live, np.float32)
    for j in range(wide_columns):
        middle = np.float32(0)
        for i in range(live):
            middle += columns[j, i]
        middle /= live
        for i in range(live):
            far[i] += (columns[j, i] - middle) ** 2
    wide = np.empty(live, np.float32)
    while live >= k:
        at = _largest(far, live)
        for j in range(wide_columns):
            low[groups, j] = high[groups, j] = columns[j, at]
        group[names[at]] = groups
        live = _take(columns, names, far, live, at)
        for _ in range(k - 1):
            _widen(columns, live, low[groups], high[groups], wide)
            at = _smallest(wide, live)
            for j in range(wide_columns):
                x = columns[j, at]
                low[groups, j] = x if x < low[groups, j] else low[groups, j]
                high[groups, j] = x if x > high[groups, j] else high[groups, j]
            group[names[at]] = groups
            live = _take(columns, names, far, live, at)
        sizes[groups] = k
        groups += 1
    for i in range(live):
        name = names[i]
        g = _join(rows, start, name, low, high, sizes, groups)
        sizes[g] += 1
        box.widen(low, high, g, rows, start + name)
        group[name] = g
    return groups


@compiled
def arrange(rows: Array, order: Array, start: int, stop: int, group: Array, groups: int, first: Array) -> None:
    """Reorder the records of a block group by group, and mark where groups start."""
    size = stop - start
    ends = np.zeros(groups + 1, np.int64)
    for i in range(size):
        ends[group[i] + 1] += 1
    for g in range(groups):
        first[start + ends[g]] = True
        ends[g + 1] += ends[g]
    old_rows, old_order = np.empty((size, rows.shape[1]), rows.dtype), np.empty(size, order.dtype)
    for i in range(size):
        for j in range(rows.shape[1]):
            old_rows[i, j] = rows[start + i, j]
        old_order[i] = order[start + i]
    for i in range(size):
        to = start + ends[group[i]]
        ends[group[i]] += 1
        for j in range(rows.shape[1]):
            rows[to, j] = old_rows[i, j]
        order[to] = old_order[i]


@compiled
def group_blocks(rows: Array, bits: Array, order: Array, starts: Array, stop: int, k: int, first: Array) -> None:
    """Groups within each of some blocks that follow each other; `bits` is `rows` seen as integers."""
    for block in range(len(starts)):
        a = starts[block]
        b = starts[block + 1] if block + 1 < len(starts) else stop
        group = np.empty(b - a, np.int32)
        groups = identical_first(bits, a, b, k, group)
        groups = greedy(rows, a, b, k, group, groups)
        arrange(rows, order, a, b, group, groups, first)
