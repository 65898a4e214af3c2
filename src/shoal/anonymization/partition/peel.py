"""Groups from the outside in: the record farthest from the middle of all, with its nearest, again and again.

One front moves inwards, where blocks would have a border each: what is left over is less.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.blocks import arrange, greedy_blocks, identical_first
from shoal.anonymization.partition.sorting import rank
from shoal.anonymization.partition.wide_tree import LANES, leave, nearest_left, wide_tree
from shoal.compiled import compiled, compiled_in_lanes, compiled_once
from shoal.errors import InputError
from shoal.table import Array

_ALL = np.float32(1)


def outermost_first(rows: Array) -> Array:
    """Records by their distance from the middle, farthest first."""
    far = np.empty(len(rows))
    inwards(rows, far, np.empty(rows.shape[1]))
    ranked = np.arange(len(rows))
    rank(far, ranked)
    return ranked


@compiled
def inwards(rows: Array, far: Array, middle: Array) -> None:
    """Minus the squared distances from the middle; sums are taken one after the other, whatever the processor."""
    columns = rows.shape[1]
    for j in range(columns):
        middle[j] = 0
    for i in range(len(rows)):
        for j in range(columns):
            middle[j] += rows[i, j]
    for j in range(columns):
        middle[j] /= len(rows)
    for i in range(len(rows)):
        far[i] = 0
        for j in range(columns):
            side = rows[i, j] - middle[j]
            far[i] -= side * side


def peel(rows: Array, k: int, wanted: int, group: Array, groups: int) -> int:
    """Put records into groups of k from the outside in: of the `wanted` nearest, those that widen the box least.

    `rows` are reordered; group[name] is the group of the record that came as number `name`, and what is left over
    (fewer than k) is -1. How many groups there are.
    """
    outermost = outermost_first(rows)
    tree = wide_tree(rows)
    most, columns, room = max(wanted, k), rows.shape[1], LANES * len(tree.levels)
    group[:] = -1
    made = peel_loop(
        *tree, outermost, k, wanted, group, groups, np.empty(most, np.int64), np.empty(most, np.float32),
        np.empty(columns, np.float32), np.zeros((most // LANES + 1, columns, LANES), np.float32),
        np.empty((2, columns), np.float32), np.empty(LANES),
        np.empty(room, np.int64), np.empty(room, np.float32), np.empty(LANES, np.float32),
    )  # fmt: skip
    if made < groups + len(rows) // k:
        raise InputError(
            "Records could not be grouped: some have no distance from the others.",
            "Leave columns with extreme values out of the quasi-identifiers.",
        )
    return made


@compiled
def peel_loop(
    leaves: Array, low: Array, high: Array, levels: Array, slots: Array, names: Array, outermost: Array,
    k: int, wanted: int, group: Array, groups: int, found: Array, far: Array, row: Array, near: Array, ends: Array,
    wide: Array, stack: Array, apart: Array, lanes: Array,
) -> int:  # fmt: skip
    """The loop of `peel`, and how many groups there are; what comes after `groups` is for its own use."""
    left = len(outermost)
    for name in outermost:
        if group[name] >= 0:
            continue
        if left < k:
            break
        slot = np.int64(slots[name])
        for j in range(len(row)):
            row[j] = leaves[slot // LANES, j, slot % LANES]
        leave(leaves, low, high, levels, slot)
        group[name] = groups
        asked = min(wanted, left - 1)
        held = nearest_left(
            leaves, low, high, levels, names, row, slot // LANES, asked, _ALL, found, far, stack, apart, lanes
        )
        if held < k - 1:  # never where all distances are numbers
            break
        if held > k - 1:
            for j in range(len(row)):
                ends[0, j] = ends[1, j] = row[j]
                for i in range(held):
                    near[i // LANES, j, i % LANES] = leaves[found[i] // LANES, j, found[i] % LANES]
            _keep_narrow(near, found, held, k, ends, wide)
        for i in range(k - 1):
            leave(leaves, low, high, levels, found[i])
            group[names[found[i]]] = groups
        groups += 1
        left -= k
    return groups


@compiled_in_lanes
def widths(near: Array, block: int, ends: Array, wide: Array) -> None:
    """The squared diagonals of a box, were it to hold each of 16 records too."""
    wide[:] = 0
    for j in range(near.shape[1]):
        wide += (np.maximum(near[block, j], ends[1, j]) - np.minimum(near[block, j], ends[0, j])) ** 2


@compiled_once
def _keep_narrow(near: Array, found: Array, held: int, k: int, ends: Array, wide: Array) -> None:
    """Bring to the front those of the nearest that widen the box least, one after the other."""
    columns = near.shape[1]
    for n in range(k - 1):
        best, best_wide = n, np.inf
        for block in range(n // LANES, (held + LANES - 1) // LANES):
            widths(near, block, ends, wide)
            start = block * LANES
            for i in range(max(n, start), min(held, start + LANES)):
                if wide[i - start] < best_wide:
                    best, best_wide = i, wide[i - start]
        found[n], found[best] = found[best], found[n]
        for j in range(columns):
            x = near[best // LANES, j, best % LANES]
            near[best // LANES, j, best % LANES] = near[n // LANES, j, n % LANES]
            ends[0, j] = x if x < ends[0, j] else ends[0, j]
            ends[1, j] = x if x > ends[1, j] else ends[1, j]


@compiled
def _join_left_over(rows: Array, left: Array, group: Array, sizes: Array, low: Array, high: Array) -> None:
    """Records without a group (`left`) join the one whose box they widen least; the boxes are filled here."""
    groups = len(sizes)
    for g in range(groups):
        box.start_empty(low, high, g)
    for i in range(len(rows)):
        if group[i] >= 0:
            box.widen(low, high, group[i], rows, i)
    for i in left:
        best, best_cost = 0, np.inf
        for g in range(groups):
            cost = box.growth(rows, i, low, high, g, sizes[g])
            if cost < best_cost:
                best, best_cost = g, cost
        group[i] = best
        sizes[best] += 1
        box.widen(low, high, best, rows, i)


def _chopped(group: Array, k: int) -> int:
    """Cut groups of identical records into groups of k to 2k-1, which can spare some for others later; how many."""
    sizes = np.bincount(group[group >= 0])
    parts = sizes // k
    members = np.argsort(group, kind="stable")[len(group) - sizes.sum() :]
    own = np.repeat(np.arange(len(sizes)), sizes)
    nth = np.arange(len(own)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    group[members] = (np.cumsum(parts) - parts)[own] + np.minimum(nth // k, parts[own] - 1)
    return int(parts.sum())


def _split_large(rows: Array, k: int, group: Array, groups: int) -> None:
    """Split groups of 2k and more, to which left-over records came: that raises nobody's loss."""
    for large in np.flatnonzero(np.bincount(group, minlength=groups) >= 2 * k):
        members = np.flatnonzero(group == large)
        parts, count = np.full(len(members), -1, np.int32), np.zeros(1, np.int64)
        greedy_blocks(rows[members], np.array([0, len(members)]), k, parts, count)
        group[members[parts > 0]] = groups + parts[parts > 0] - 1
        groups += int(count[0]) - 1


def peel_segment(
    rows: Array, bits: Array, order: Array, start: int, stop: int, k: int, wanted: int, first: Array
) -> None:
    """Groups within a segment of neighbours: identical records first, the others peeled."""
    segment = rows[start:stop]
    group = identical_first(bits[start:stop], k)
    groups = _chopped(group, k)
    free = np.flatnonzero(group < 0)
    if len(free):
        found = np.empty(len(free), np.int32)
        groups = peel(segment[free], k, wanted, found, groups)
        group[free] = found
        left = free[found < 0]
        if len(left):
            sizes = np.bincount(group[group >= 0], minlength=groups)
            low, high = np.empty((groups, rows.shape[1]), rows.dtype), np.empty((groups, rows.shape[1]), rows.dtype)
            _join_left_over(segment, left, group, sizes, low, high)
        _split_large(segment, k, group, groups)
    arrange(rows, order, start, stop, group, first)
