"""t-closeness first (Soria-Comas, Domingo-Ferrer, Sánchez, Martínez): each group looks like the whole table.

It takes one record, the nearest, of every stretch of the confidential attribute's order.

Algorithm S4 of Sánchez et al. takes the j-th of each stretch instead. The bound on the closeness of such groups holds
where all values differ and the size divides the records: measure it.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.peel import outermost_first
from shoal.anonymization.partition.tree import Tree, leaf_near, nearest, take_out, tree_of
from shoal.compiled import compiled, compiled_part
from shoal.table import Array


def close_groups(points: Array, starts: Array, clusters: int) -> Array:
    """The group of each record. Stretch s holds the records starts[s] .. starts[s+1], `clusters` or one more.

    From the outside in, the outermost record takes the nearest of every stretch. What is left over joins the nearest
    groups, each at most as often as it must.
    """
    size, columns = points.shape
    stretches = len(starts) - 1
    # one tree per stretch, one after the other in the same arrays
    rows = points.copy()
    trees = [tree_of(rows[starts[s] : starts[s + 1]]) for s in range(stretches)]
    first_node = np.concatenate([[0], np.cumsum([len(tree.live) for tree in trees])])
    joined = Tree(*(np.concatenate(parts) for parts in zip(*trees, strict=True)))
    group, centres = np.full(size, -1, np.int64), np.zeros((clusters, columns))
    _close_groups(points, outermost_first(points), rows, *joined, starts, first_node, group, centres)
    return group


@compiled
def _close_groups(
    points: Array, outermost: Array, rows: Array, names: Array, node_starts: Array, live: Array, low: Array,
    high: Array, where: Array, starts: Array, first_node: Array, group: Array, centres: Array,
) -> None:  # fmt: skip
    """The loop of `close_groups`."""
    columns, stretches, clusters = points.shape[1], len(starts) - 1, len(centres)
    found, far = np.empty(1, np.int64), np.empty(1, points.dtype)
    stack, apart = np.empty(64, np.int64), np.empty(64, points.dtype)
    groups = 0
    for name in outermost:
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
                    rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], row, leaf, 1, found, far,
                    stack, apart,
                )  # fmt: skip
                taken = found[0]
            take_out(rows[a:b], names[a:b], node_starts[c:d], live[c:d], low[c:d], high[c:d], where[a:b], taken)
            group[a + taken] = groups
            for j in range(columns):
                centres[groups, j] += points[a + taken, j] / stretches
        groups += 1
    _join_left_over(points, group, centres)


@compiled_part
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
                    side = points[i, j] - centres[g, j]
                    total += side * side
                if total < best_far:
                    best, best_far = g, total
        group[i] = best
        extra[best] += 1
        at_least -= 1
        if at_least == 0:
            least, at_least = least + 1, len(centres)
