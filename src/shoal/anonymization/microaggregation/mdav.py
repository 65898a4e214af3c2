"""MDAV (Domingo-Ferrer, Mateo-Sanz; Domingo-Ferrer, Torra), exactly, with a k-d tree.

While at least 3k records are left: the record farthest from their mean and its k-1 nearest are a group, then the record
farthest from that one and its k-1 nearest. With 2k left, one more group around the farthest; the rest is a group. Ties
go to the smaller row number. Nothing is approximated: the farthest records come from sectors around an earlier mean,
which bound how far a record can be; the nearest from a tree with deletion.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from shoal import progress
from shoal.anonymization.microaggregation.sectors import farthest, sectors_of
from shoal.anonymization.partition.tree import nearest, take_out, tree_of
from shoal.compiled import Number, compiled, compiled_part
from shoal.table import Array

# sectors are made anew, around the mean of what is left, when this share of their records is left
_ANEW = 0.4
# how often it is told how far it is
_REPORTS = 100


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


def mdav(points: Array, k: int) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    size, columns = points.shape
    total, rest = np.zeros(columns), np.zeros(columns)
    _sum(points, total, rest)
    sectors = sectors_of(points, np.arange(size), (total + rest) / size)
    # the tree after the sectors, which take more memory while they are made than afterwards
    rows, group = points.copy(), np.full(size, -1, np.int64)
    tree, left, groups = tree_of(rows), size, 0
    while left >= 2 * k:
        least = max(2 * k, ceil(_ANEW * left))
        while left >= least:  # in parts, so that it can be told how far it is
            progress.report("grouping", size - left, size)
            until, before = max(least, left - max(size // _REPORTS, 2 * k)), groups
            groups = _mdav(points, group, total, rest, left, groups, k, until, rows, *tree, *sectors)
            left -= k * (groups - before)
        del sectors
        remaining = np.flatnonzero(group < 0)
        left = len(remaining)
        sectors = sectors_of(points, remaining, (total + rest) / left)
    group[group < 0] = groups
    return group, groups + 1


@compiled
def _sum(points: Array, total: Array, rest: Array) -> None:
    """The sum of all records, and its rounding."""
    for i in range(len(points)):
        _add(total, rest, points, i, 1.0)


@compiled
def _mdav(
    points: Array, group: Array, total: Array, rest: Array, left: int, groups: int, k: int, least: int,
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, where: Array,
    offsets: Array, outer: Array, away: Array, place: Array, at: Array, stops: Array, axes: Array, cosines: Array,
    anchor: Array,
) -> int:  # fmt: skip
    """Groups while at least so many records are left: fills `group`; how many groups there are."""
    stack, apart = np.empty(64, np.int64), np.empty(64, points.dtype)
    offset, near, bounds = np.empty(len(anchor)), np.empty(len(at)), np.empty(len(at))
    found, far = np.empty(k - 1, np.int64), np.empty(k - 1, points.dtype)
    while left >= least:
        row = _mean(total, rest, left)
        # a second group, around the record farthest from the first, if at least 3k are left
        for _ in range(2 if left >= 3 * k else 1):
            centre = farthest(points, offsets, outer, away, at, stops, axes, cosines, anchor, row, offset, near, bounds)
            row = points[centre]
            leaf = take_out(rows, names, starts, live, low, high, where, centre)
            nearest(rows, names, starts, live, low, high, row, leaf, k - 1, found, far, stack, apart)
            group[centre] = groups
            outer[place[centre]] = -1
            _add(total, rest, points, centre, -1.0)
            for name in found:
                take_out(rows, names, starts, live, low, high, where, name)
                group[name] = groups
                outer[place[name]] = -1
                _add(total, rest, points, name, -1.0)
            groups += 1
            left -= k
    return groups
