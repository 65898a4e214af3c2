"""Groups from the outside in: the record farthest from the middle of all, with its nearest, again and again.

One front moves inwards, where blocks would have a border each: what is left over is less.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition import box
from shoal.anonymization.partition.blocks import arrange, greedy_blocks, identical_first
from shoal.anonymization.partition.sorting import rank
from shoal.anonymization.partition.tree import nearest, take_out, tree_of
from shoal.compiled import compiled, compiled_once
from shoal.table import Array


def outermost_first(rows: Array) -> Array:
    """Records by their distance from the middle, farthest first."""
    far = np.zeros(len(rows))
    for j in range(rows.shape[1]):
        # added up one after the other: whatever the processor, the same sum
        middle = np.cumsum(rows[:, j], dtype=np.float64)[-1] / len(rows)
        far -= (rows[:, j] - middle) ** 2
    ranked = np.arange(len(rows))
    rank(far, ranked)
    return ranked


def peel(rows: Array, k: int, wanted: int, group: Array, groups: int) -> int:
    """Put records into groups of k from the outside in: of the `wanted` nearest, those that widen the box least.

    `rows` are reordered; group[name] is the group of the record that came as number `name`, and what is left over
    (fewer than k) is -1. How many groups there are.
    """
    outermost = outermost_first(rows)
    tree = tree_of(rows)
    found, far = np.empty(max(wanted, k), np.int64), np.empty(max(wanted, k), rows.dtype)
    scratch = np.empty((3, rows.shape[1]), rows.dtype)
    group[:] = -1
    peel_loop(rows, *tree, outermost, k, wanted, group, groups, found, far, scratch, np.empty(64, np.int64),
          np.empty(64, rows.dtype))  # fmt: skip
    return groups + len(rows) // k


@compiled
def peel_loop(
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, where: Array, outermost: Array,
    k: int, wanted: int, group: Array, groups: int, found: Array, far: Array, scratch: Array,
    stack: Array, apart: Array,
) -> None:  # fmt: skip
    """The loop of `peel`; the first two rows of `scratch` are the box of a group, the third its first record."""
    row, left = scratch[2], len(rows)
    for name in outermost:
        if group[name] >= 0:
            continue
        if left < k:
            break
        place = where[name]
        for j in range(len(row)):
            row[j] = rows[place, j]
        leaf = take_out(rows, names, starts, live, low, high, where, name)
        group[name] = groups
        asked = min(wanted, left - 1)
        held = nearest(rows, names, starts, live, low, high, row, leaf, asked, found, far, stack, apart)
        if held > k - 1:
            _keep_narrow(rows, where, row, found, held, k, scratch)
        for i in range(k - 1):
            take_out(rows, names, starts, live, low, high, where, found[i])
            group[found[i]] = groups
        groups += 1
        left -= k


@compiled_once
def _keep_narrow(rows: Array, where: Array, row: Array, found: Array, held: int, k: int, scratch: Array) -> None:
    """Bring to the front those of the nearest that widen the box least, one after the other."""
    for j in range(len(row)):
        scratch[0, j] = scratch[1, j] = row[j]
    for n in range(k - 1):
        best, best_wide = n, np.inf
        for i in range(n, held):
            wide = 0.0
            other = where[found[i]]
            for j in range(len(row)):
                x, bottom, top = rows[other, j], scratch[0, j], scratch[1, j]
                bottom = x if x < bottom else bottom
                top = x if x > top else top
                wide += (top - bottom) * (top - bottom)
                if wide >= best_wide:
                    break
            if wide < best_wide:
                best, best_wide = i, wide
        found[n], found[best] = found[best], found[n]
        other = where[found[n]]
        for j in range(len(row)):
            x = rows[other, j]
            scratch[0, j] = x if x < scratch[0, j] else scratch[0, j]
            scratch[1, j] = x if x > scratch[1, j] else scratch[1, j]


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
