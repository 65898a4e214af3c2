"""MDAV (Domingo-Ferrer, Mateo-Sanz; Domingo-Ferrer, Torra), exactly, with a k-d tree.

While at least 3k records are left: the record farthest from their mean and its k-1 nearest are a group, then the record
farthest from that one and its k-1 nearest. With 2k left, one more group around the farthest; the rest is a group. Ties
go to the smaller row number. Nothing is approximated: the farthest records come from sectors around an earlier mean,
which bound how far a record can be; the nearest from a tree with deletion.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.kernels.cuts import sort_stretches
from shoal.kernels.trees import (
    cones_of_sectors,
    mdav_groups,
    sum_of_rows,
)
from shoal.methods.partition.peel import tree_of
from shoal.storage import Array

# The record farthest from a point, exactly: records in sectors around an anchor, in each the farthest from it first.
#
# A sector is a cone of directions: its axis and the widest angle of a record to it. A record at distance r from the
# anchor, seen from there at least at the angle t to the way to a point at distance v, is at most sqrt(r^2 + v^2 - 2 r v
# cos t) from that point: most sectors are ruled out by their outermost record, and the search in the others ends a few
# records on. Sectors are kept in 32 bits and bounds widened by more than that rounds; what they do not rule out is
# measured in 64.


class Sectors(NamedTuple):
    """Records sector by sector; `names` is -1 where a record was taken out, `at` is the first that may be left."""

    offsets: Array
    names: Array
    away: Array
    where: Array
    at: Array
    stops: Array
    axes: Array
    cosines: Array
    anchor: Array


def sectors_of(points: Array, left: Array, anchor: Array) -> Sectors:
    """Put the records that are left (their numbers) into sectors: about as many as a sector has records, but no more
    than directions in a few columns need."""
    columns = points.shape[1]
    offsets = points[left] - anchor
    away = np.sqrt(np.einsum("ij,ij->i", offsets, offsets))
    offsets /= np.where(away > 0, away, 1.0)[:, None]
    rows = offsets.astype(np.float32)
    del offsets
    tree = tree_of(rows)
    # the nodes of one level of the tree are the sectors
    level = min(len(left).bit_length() // 2, 3 * columns, len(tree.live).bit_length() - 1)
    nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
    starts, stops = tree.starts[nodes].copy(), tree.starts[nodes] + tree.live[nodes]
    axes, cosines = np.empty((columns, len(starts))), np.empty(len(starts))
    cones_of_sectors(rows, starts, stops, axes, cosines)
    names, inward = left[tree.names].astype(np.int32), -away[tree.names]
    del tree
    sort_stretches(inward, names, starts, stops)
    where = np.empty(len(points), np.int32)
    where[names] = np.arange(len(names), dtype=np.int32)
    rows = (points[names] - anchor).astype(np.float32)
    return Sectors(rows, names, -inward.astype(np.float32), where, starts, stops, axes, cosines, anchor)


# sectors are made anew, around the mean of what is left, when this share of their records is left
_ANEW = 0.4
# how often it is told how far it is
_REPORTS = 100


def mdav(points: Array, k: int) -> tuple[Array, int]:
    """The group of each record, and how many groups there are."""
    size, columns = points.shape
    total, rest = np.zeros(columns), np.zeros(columns)
    sum_of_rows(points, total, rest)
    sectors = sectors_of(points, np.arange(size), (total + rest) / size)
    # the tree after the sectors, which take more memory while they are made than afterwards
    rows, group = points.copy(), np.full(size, -1, np.int64)
    tree, left, groups = tree_of(rows), size, 0
    while left >= 2 * k:
        least = max(2 * k, ceil(_ANEW * left))
        while left >= least:  # in parts, so that it can be told how far it is
            progress.report("grouping", size - left, size)
            until, before = max(least, left - max(size // _REPORTS, 2 * k)), groups
            groups = mdav_groups(points, group, total, rest, left, groups, k, until, rows, *tree, *sectors)
            left -= k * (groups - before)
        del sectors
        remaining = np.flatnonzero(group < 0)
        left = len(remaining)
        sectors = sectors_of(points, remaining, (total + rest) / left)
    group[group < 0] = groups
    return group, groups + 1
