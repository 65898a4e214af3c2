"""t-closeness first (Soria-Comas, Domingo-Ferrer, Sánchez, Martínez): each group looks like the whole table.

It takes one record, the nearest, of every stretch of the confidential attribute's order.

Algorithm S4 of Sánchez et al. takes the j-th of each stretch instead. The bound on the closeness of such groups holds
where all values differ and the size divides the records: measure it.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.peel import outermost_first
from shoal.anonymization.partition.tree import build, depth_of, leaf_near, nearest, take_out
from shoal.compiled import compiled
from shoal.table import Array


@compiled
def close_groups(points: Array, starts: Array, clusters: int) -> Array:
    """The group of each record. Stretch s holds the records starts[s] .. starts[s+1], `clusters` or one more.

    From the outside in, the outermost record takes the nearest of every stretch. What is left over joins the nearest
    groups, each at most as often as it must.
    """
    size, columns = points.shape
    stretches = len(starts) - 1
    # one tree per stretch, all in the same arrays
    first_node = np.zeros(stretches + 1, np.int64)
    for s in range(stretches):
        first_node[s + 1] = first_node[s] + 2 ** (depth_of(starts[s + 1] - starts[s]) + 1) - 1
    nodes = first_node[stretches]
    rows, names, where = points.copy(), np.empty(size, np.int64), np.empty(size, np.int64)
    node_starts, live = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    low, high = np.empty((nodes, columns), points.dtype), np.empty((nodes, columns), points.dtype)
    for s in range(stretches):
        a, b, c, d = starts[s], starts[s + 1], first_node[s], first_node[s + 1]
        names[a:b] = np.arange(b - a)
        build(rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], where[a:b])
    group = np.full(size, -1, np.int64)
    centres = np.zeros((clusters, columns))
    found, far = np.empty(1, np.int64), np.empty(1, points.dtype)
    groups = 0
    for name in outermost_first(points):
        if groups == clusters:
            break
        if group[name] >= 0:
            continue
        row = points[name].copy()
        for s in range(stretches):
            a, b, c, d = starts[s], starts[s + 1], first_node[s], first_node[s + 1]
            if a <= name < b:
                taken = name - a
            else:
                leaf = leaf_near(low[c:d], high[c:d], live[c:d], row)
                nearest(
                    rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], row, leaf, 1, found, far
                )
                taken = found[0]
            take_out(rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], where[a:b], taken)
            group[a + taken] = groups
            for j in range(columns):
                centres[groups, j] += points[a + taken, j] / stretches
        groups += 1
    _join_left_over(points, group, centres)
    return group


@compiled
def _join_left_over(points: Array, group: Array, centres: Array) -> None:
    extra = np.zeros(len(centres), np.int64)
    least, at_least = 0, len(centres)  # no group takes another while one has taken fewer
    for i in range(len(points)):
        if group[i] >= 0:
            continue
        best, best_far = -1, np.inf
        for g in range(len(centres)):
            if extra[g] == least:
                total = 0.0
                for j in range(points.shape[1]):
                    total += (points[i, j] - centres[g, j]) ** 2
                if total < best_far:
                    best, best_far = g, total
        group[i] = best
        extra[best] += 1
        at_least -= 1
        if at_least == 0:
            least, at_least = least + 1, len(centres)
