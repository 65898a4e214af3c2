"""Groups within a block of neighbours: identical records first, then greedily from the outside in."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.compiled import compiled, compiled_inside, compiled_part
from shoal.table import Array


def _hashes(bits: Array) -> Array:
    """A number per record, equal for identical records."""
    found = np.full(len(bits), 1469598103934665603, np.uint64)
    for j in range(bits.shape[1]):
        found = (found ^ bits[:, j]) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found


def identical_first(bits: Array, k: int) -> Array:
    """Give records that at least k share groups of their own: 0, 1, … by their hashes, the others -1."""
    group = np.full(len(bits), -1, np.int32)
    hashes = _hashes(bits)
    ranked = np.argsort(hashes)
    ordered = hashes[ranked]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(starts, append=len(ranked))
    # two different records may share a hash: what differs from the first is left to the others
    many = np.flatnonzero(lengths >= k)
    if not len(many):
        return group
    run = np.repeat(np.arange(len(many)), lengths[many])
    place = np.arange(len(run)) + np.repeat(starts[many] - np.cumsum(lengths[many]) + lengths[many], lengths[many])
    alike = (bits[ranked[place]] == bits[ranked[starts[many]]][run]).all(axis=1)
    enough = np.bincount(run[alike], minlength=len(many)) >= k
    taken = alike & enough[run]
    group[ranked[place[taken]]] = (np.cumsum(enough) - 1)[run[taken]]
    return group


@compiled_inside
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


@compiled_part
def _take(columns: Array, names: Array, far: Array, live: int, at: int) -> int:
    """Remove a record from those that are free: the last takes its place."""
    last = live - 1
    for j in range(columns.shape[0]):
        columns[j, at] = columns[j, last]
    names[at] = names[last]
    far[at] = far[last]
    return last


@compiled_part
def _smallest(values: Array, count: int) -> int:
    best = 0
    for i in range(1, count):
        if values[i] < values[best]:
            best = i
    return best


@compiled_part
def _largest(values: Array, count: int) -> int:
    best = 0
    for i in range(1, count):
        if values[i] > values[best]:
            best = i
    return best


@compiled_part
def _join(rows: Array, start: int, name: int, low: Array, high: Array, sizes: Array, groups: int) -> int:
    """The group whose members' boxes grow least if the record joins."""
    best, best_cost = 0, np.inf
    for g in range(groups):
        cost = box.growth(rows, start + name, low, high, g, sizes[g])
        if cost < best_cost:
            best, best_cost = g, cost
    return best


@compiled_part
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
            side = columns[j, i] - middle
            far[i] += side * side
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
def greedy_blocks(rows: Array, edges: Array, k: int, group: Array, groups: Array) -> None:
    """The same for blocks that follow each other, block b from edges[b] to edges[b+1]: groups[b] are those it has."""
    for block in range(len(groups)):
        a, b = edges[block], edges[block + 1]
        groups[block] = greedy(rows, a, b, k, group[a:b], groups[block])


def arrange(rows: Array, order: Array, start: int, stop: int, group: Array, first: Array) -> None:
    """Reorder the records start .. stop group by group, and mark where groups start."""
    sizes = np.bincount(group)
    # numbers of 16 bits are sorted by counting
    ranked = np.argsort(group.astype(np.min_scalar_type(len(sizes))), kind="stable")
    rows[start:stop], order[start:stop] = rows[start:stop][ranked], order[start:stop][ranked]
    first[start : start + 1] = True
    first[start + np.cumsum(sizes)[:-1]] = True


def group_blocks(rows: Array, bits: Array, order: Array, starts: Array, stop: int, k: int, first: Array) -> None:
    """Groups within each of some blocks that follow each other; `bits` is `rows` seen as integers."""
    start = int(starts[0])
    group = identical_first(bits[start:stop], k)
    edges = np.append(starts, stop) - start
    groups = _number_by_block(group, edges)
    greedy_blocks(rows[start:stop], edges, k, group, groups)
    group += np.repeat(np.cumsum(groups) - groups, np.diff(edges)).astype(group.dtype)
    arrange(rows, order, start, stop, group, first)


def _number_by_block(group: Array, edges: Array) -> Array:
    """Number the groups of each block from 0 on, in place; how many each has. No group is in two blocks."""
    count = int(group.max(initial=-1)) + 1
    block_of_group = np.empty(count, np.int64)
    taken = np.flatnonzero(group >= 0)
    block_of_group[group[taken]] = np.searchsorted(edges, taken, "right") - 1
    groups = np.bincount(block_of_group, minlength=len(edges) - 1)
    ranked = np.argsort(block_of_group, kind="stable")
    number = np.empty(count, np.int32)
    number[ranked] = np.arange(count) - np.repeat(np.cumsum(groups) - groups, groups)
    group[taken] = number[group[taken]]
    return groups
