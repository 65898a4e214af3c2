"""MDAV (Domingo-Ferrer, Mateo-Sanz; Domingo-Ferrer, Torra), exactly, with a k-d tree.

While at least 3k records are left: the record farthest from their mean and its k-1 nearest are a group, then the record
farthest from that one and its k-1 nearest. With 2k left, one more group around the farthest; the rest is a group. Ties
go to the smaller row number. Nothing is approximated: the farthest from the mean is found in a list sorted by the
distance to an earlier mean, which bounds it; nearest and farthest records come from a tree with deletion.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.sorting import rank
from shoal.anonymization.partition.tree import distance, farthest, nearest, take_out, tree_of
from shoal.compiled import Number, compiled, compiled_part
from shoal.table import Array

# the list is sorted anew when this share of its records is left
_SORT_ANEW = 0.4


@compiled_part
def _add(total: Array, rest: Array, rows: Array, i: Number, sign: float) -> None:
    """Add to running sums, with the rounding kept apart: the mean is that of exact sums."""
    for j in range(len(total)):
        x = sign * rows[i, j]
        new = total[j] + x
        back = new - total[j]
        rest[j] += (total[j] - (new - back)) + (x - back)
        total[j] = new


@compiled_part
def _mean(total: Array, rest: Array, count: int) -> Array:
    found = np.empty(len(total), np.float64)
    for j in range(len(total)):
        found[j] = (total[j] + rest[j]) / count
    return found


@compiled_part
def _sorted_far(points: Array, group: Array, mean: Array) -> tuple[Array, Array]:
    """The records that are left, farthest from the mean first, and their distances."""
    count = 0
    for name in range(len(group)):
        if group[name] < 0:
            count += 1
    left, far = np.empty(count, np.int64), np.empty(count, np.float64)
    count = 0
    for name in range(len(group)):
        if group[name] < 0:
            left[count], far[count] = name, -np.sqrt(distance(points, name, mean))
            count += 1
    ranked = np.arange(count)
    rank(far, ranked)
    sorted_left, sorted_far = np.empty(count, np.int64), np.empty(count, np.float64)
    for i in range(count):
        sorted_left[i], sorted_far[i] = left[ranked[i]], -far[ranked[i]]
    return sorted_left, sorted_far


@compiled_part
def _farthest_from_mean(
    points: Array, group: Array, ranked: Array, ranked_far: Array, at: int, anchor: Array, mean: Array
) -> int:
    """The record that is left and farthest from the mean: none can be farther than to the anchor and from there on."""
    row = np.empty((1, len(anchor)), anchor.dtype)  # reshaping would need numba at run time
    for j in range(len(anchor)):
        row[0, j] = anchor[j]
    shift = np.sqrt(distance(row, 0, mean))
    best, best_name = -1.0, -1
    for i in range(at, len(ranked)):
        if (ranked_far[i] + shift) * (1 + 1e-9) < np.sqrt(max(best, 0.0)):
            break
        name = ranked[i]
        if group[name] >= 0:
            continue
        d = distance(points, name, mean)
        if d > best or (d == best and name < best_name):
            best, best_name = d, name
    return best_name


def mdav(points: Array, k: int) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    rows, group = points.copy(), np.full(len(points), -1, np.int64)
    return group, _mdav(points, rows, *tree_of(rows), k, group)


@compiled
def _mdav(
    points: Array, rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, where: Array,
    k: int, group: Array,
) -> int:  # fmt: skip
    """The loop of `mdav`: fills `group`; how many groups there are."""
    size, columns = points.shape
    groups = 0
    stack, apart = np.empty(64, np.int64), np.empty(64, points.dtype)
    total, rest = np.zeros(columns), np.zeros(columns)
    for i in range(size):
        _add(total, rest, points, i, 1.0)
    found, far = np.empty(k - 1, np.int64), np.empty(k - 1, points.dtype)
    anchor = _mean(total, rest, size)
    ranked, ranked_far = _sorted_far(points, group, anchor)
    at, left = 0, size
    while left >= 2 * k:
        mean = _mean(total, rest, left)
        if left < _SORT_ANEW * len(ranked):
            anchor = mean
            ranked, ranked_far = _sorted_far(points, group, anchor)
            at = 0
        while group[ranked[at]] >= 0:
            at += 1
        centre = _farthest_from_mean(points, group, ranked, ranked_far, at, anchor, mean)
        # a second group, around the record farthest from the first, if at least 3k are left
        second = left >= 3 * k
        for which in range(2 if second else 1):
            row = points[centre]
            leaf = take_out(rows, names, starts, live, low, high, where, centre)
            nearest(rows, names, starts, live, low, high, row, leaf, k - 1, found, far, stack, apart)
            group[centre] = groups
            _add(total, rest, points, centre, -1.0)
            for name in found:
                take_out(rows, names, starts, live, low, high, where, name)
                group[name] = groups
                _add(total, rest, points, name, -1.0)
            groups += 1
            left -= k
            if second and which == 0:
                centre = farthest(rows, names, starts, live, low, high, row)
    for i in range(size):
        if group[i] < 0:
            group[i] = groups
    return groups + 1 if left > 0 else groups
