"""The record farthest from a point, exactly: records in sectors around an anchor, in each the farthest from it first.

A sector is a cone of directions: its axis and the widest angle of a record to it. A record at distance r from the
anchor, seen from there at least at the angle t to the way to a point at distance v, is at most
sqrt(r^2 + v^2 - 2 r v cos t) from that point: most sectors are ruled out by their outermost record, and the search in
the others ends a few records on. Sectors are kept in 32 bits and bounds widened by more than that rounds; what they do
not rule out is measured in 64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.anonymization.partition.sorting import rank
from shoal.anonymization.partition.tree import distance, tree_of
from shoal.compiled import Number, compiled, compiled_inside, compiled_part
from shoal.table import Array

# more than numbers of 32 bits round, as a share of a squared distance or of a cosine; and where squares vanish
_ROUNDED, _LEAST = 1e-6, 1e-60


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
    rows = np.empty((len(left), columns), np.float32)
    _directions(points, left, anchor, rows)
    tree = tree_of(rows)
    # the nodes of one level of the tree are the sectors
    level = min(len(left).bit_length() // 2, 3 * columns, len(tree.live).bit_length() - 1)
    nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
    starts, stops = tree.starts[nodes].copy(), tree.starts[nodes] + tree.live[nodes]
    axes, cosines = np.empty((columns, len(starts))), np.empty(len(starts))
    _cones(rows, starts, stops, axes, cosines)
    names = left[tree.names].astype(np.int32)
    del tree
    away, where = np.empty(len(left), np.float32), np.empty(len(points), np.int32)
    _outermost_first(points, anchor, starts, stops, names, away, where, rows)
    return Sectors(rows, names, away, where, starts, stops, axes, cosines, anchor)


@compiled
def _directions(points: Array, left: Array, anchor: Array, rows: Array) -> None:
    """Fill in the directions in which records lie from the anchor."""
    for i in range(len(left)):
        length = np.sqrt(distance(points, left[i], anchor))
        for j in range(len(anchor)):
            rows[i, j] = (points[left[i], j] - anchor[j]) / length if length > 0 else 0.0


@compiled
def _cones(directions: Array, starts: Array, stops: Array, axes: Array, cosines: Array) -> None:
    """Fill in the axis of each sector, and the cosine of its widest angle."""
    columns = directions.shape[1]
    axis = np.empty(columns)
    for s in range(len(starts)):
        axis[:] = 0.0
        for i in range(starts[s], stops[s]):
            for j in range(columns):
                axis[j] += directions[i, j]
        length = 0.0
        for j in range(columns):
            length += axis[j] * axis[j]
        length = np.sqrt(length)
        for j in range(columns):
            axis[j] = axis[j] / length if length > 0 else 0.0
            axes[j, s] = axis[j]
        least = 1.0 if length > 0 else -1.0
        for i in range(starts[s], stops[s]):
            cosine = 0.0
            for j in range(columns):
                cosine += directions[i, j] * axis[j]
            least = cosine if cosine < least else least
        cosines[s] = max(least - _ROUNDED, -1.0)


@compiled
def _outermost_first(
    points: Array, anchor: Array, starts: Array, stops: Array, names: Array, away: Array, where: Array, offsets: Array
) -> None:
    """Order the records of each sector, fill `away`, `where` and `offsets`."""
    for s in range(len(starts)):
        a, size = starts[s], stops[s] - starts[s]
        inward, ranked, some = np.empty(size), np.arange(size), np.empty(size, np.int64)
        for i in range(size):
            some[i] = names[a + i]
            inward[i] = -np.sqrt(distance(points, some[i], anchor))
        rank(inward, ranked)
        for i in range(size):
            name = some[ranked[i]]
            names[a + i], away[a + i], where[name] = name, -inward[ranked[i]], a + i
            for j in range(len(anchor)):
                offsets[a + i, j] = points[name, j] - anchor[j]


@compiled_part
def _nearest_to_the_way_back(offset: Array, length: float, axes: Array, cosines: Array, near: Array) -> None:
    """The cosine of each sector's least angle to the way from a point to the anchor and on; 0 past a right angle."""
    columns, sectors = axes.shape
    near[:] = 0.0
    for j in range(columns):
        back = -offset[j] / length if length > 0 else 0.0
        for s in range(sectors):
            near[s] += axes[j, s] * back
    for s in range(sectors):
        axis, edge = near[s], cosines[s]
        # the cosine of a difference of angles
        sines = np.sqrt(max(1 - axis * axis, 0.0) + 4 * _ROUNDED) * np.sqrt(max(1 - edge * edge, 0.0))
        beside = max(axis * edge + sines, 0.0)
        near[s] = 1.0 if axis + _ROUNDED >= edge else beside


@compiled_inside
def _bound(away: Number, length: Number, near: Number) -> Number:
    """No record of a sector that is so far from the anchor or less has a larger squared distance to the point."""
    far = np.float64(away)
    return (far * far + length * length + 2 * far * length * near) * (1 + _ROUNDED) + _LEAST


@compiled_part
def farthest(
    points: Array, offsets: Array, names: Array, away: Array, at: Array, stops: Array, axes: Array, cosines: Array,
    anchor: Array, row: Array, offset: Array, near: Array, bounds: Array,
) -> Number:  # fmt: skip
    """The record farthest from a point, of equally far ones that with the smallest name.

    `offset` (a number for each column), `near` and `bounds` (for each sector) are for its own use.
    """
    length = 0.0
    for j in range(len(anchor)):
        offset[j] = row[j] - anchor[j]
        length += offset[j] * offset[j]
    length = np.sqrt(length)
    _nearest_to_the_way_back(offset, length, axes, cosines, near)
    first = 0
    for s in range(len(at)):
        bounds[s] = _bound(away[at[s]], length, near[s]) if at[s] < stops[s] else -1.0
        first = s if bounds[s] > bounds[first] else first
    best, best_name = -1.0, np.int64(-1)
    for turn in range(len(at) + 1):
        # the most promising sector before all others
        s = turn - 1 if turn else first
        if bounds[s] < best:
            continue
        bounds[s] = -2.0
        while at[s] < stops[s] and names[at[s]] < 0:
            at[s] += 1
        for i in range(at[s], stops[s]):
            bound = _bound(away[i], length, near[s])
            if bound < best:
                break
            if names[i] < 0 or distance(offsets, i, offset) + _ROUNDED * bound < best:
                continue
            d = distance(points, names[i], row)
            if d > best or (d == best and names[i] < best_name):
                best, best_name = d, np.int64(names[i])
    return best_name
