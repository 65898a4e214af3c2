"""Nearest points, exactly, by a k-d tree: distances and how many points are as near. Compiled by numba."""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled, compiled_inside
from shoal.table import Array
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack

# points in a leaf
_LEAF = 8
# distances that differ by less are equal: sums in another order differ in their last digits
TOLERANCE = 1e-9


class Tree:
    """Points in a k-d tree: nodes are ranges of the ordered points, each with the box around them.

    >>> tree = Tree(np.array([[0.0], [2.0], [9.0]]))
    >>> tree.nearest(np.array([[1.0], [8.0]]))
    (array([1., 1.]), array([2, 1]))
    """

    def __init__(self, points: Array) -> None:
        # points that coincide are held once: else a leaf could be as large as the table
        codes = [np.unique(column, return_inverse=True) for column in points.T]
        which, count = class_of_each_row(pack([Coded(code, len(values)) for values, code in codes]))
        distinct = np.ascontiguousarray(points[first_row_of_each_class(which, count)], np.float64)
        order = np.arange(count)
        self._nodes, self._low, self._high = _build(distinct, order)
        self._points, self._records = distinct[order], np.bincount(which, minlength=count)[order]

    def nearest(self, queries: Array) -> tuple[Array, Array]:
        """For each query the distance to its nearest point, and how many points are that near."""
        queries = np.ascontiguousarray(queries, np.float64)
        squares = _nearest(self._points, self._nodes, self._low, self._high, queries)
        reach = squares * (1 + TOLERANCE) ** 2 + TOLERANCE**2
        ties = _within(self._points, self._records, self._nodes, self._low, self._high, queries, reach)
        return np.sqrt(squares), ties


@compiled
def _build(points: Array, order: Array) -> tuple[Array, Array, Array]:
    """Nodes (start, stop, left, right; -1: a leaf) and their boxes; `order` is brought into the order of the leaves."""
    count, width = points.shape
    most = max(4 * (count // _LEAF + 1), 1)
    nodes = np.empty((most, 4), np.int64)
    low, high = np.empty((most, width)), np.empty((most, width))
    nodes[0, 0], nodes[0, 1] = 0, count
    made, done = 1, 0
    while done < made:
        start, stop = nodes[done, 0], nodes[done, 1]
        for axis in range(width):
            smallest, largest = np.inf, -np.inf
            for place in range(start, stop):
                value = points[order[place], axis]
                smallest, largest = min(smallest, value), max(largest, value)
            low[done, axis], high[done, axis] = smallest, largest
        widest = 0
        for axis in range(1, width):
            if high[done, axis] - low[done, axis] > high[done, widest] - low[done, widest]:
                widest = axis
        nodes[done, 2] = nodes[done, 3] = -1
        if stop - start > _LEAF and high[done, widest] > low[done, widest]:
            part = order[start:stop].copy()
            order[start:stop] = part[np.argsort(points[part, widest])]
            middle = (start + stop) // 2
            nodes[made, 0], nodes[made, 1] = start, middle
            nodes[made + 1, 0], nodes[made + 1, 1] = middle, stop
            nodes[done, 2], nodes[done, 3] = made, made + 1
            made += 2
        done += 1
    return nodes[:made], low[:made], high[:made]


@compiled_inside
def _to_box(query: Array, low: Array, high: Array, node: int) -> float:
    square = 0.0
    for axis in range(len(query)):
        gap = max(low[node, axis] - query[axis], query[axis] - high[node, axis], 0.0)
        square += gap * gap
    return square


@compiled
def _nearest(points: Array, nodes: Array, low: Array, high: Array, queries: Array) -> Array:
    found = np.empty(len(queries))
    stack = np.empty(256, np.int64)
    for number in range(len(queries)):
        query = queries[number]
        best = np.inf
        stack[0] = 0
        depth = 1
        while depth:
            depth -= 1
            node = stack[depth]
            if _to_box(query, low, high, node) >= best:
                continue
            if nodes[node, 2] < 0:
                for place in range(nodes[node, 0], nodes[node, 1]):
                    square = 0.0
                    for axis in range(len(query)):
                        gap = points[place, axis] - query[axis]
                        square += gap * gap
                    best = min(best, square)
                continue
            left, right = nodes[node, 2], nodes[node, 3]
            if _to_box(query, low, high, left) > _to_box(query, low, high, right):
                left, right = right, left
            stack[depth], stack[depth + 1] = right, left
            depth += 2
        found[number] = best
    return found


@compiled
def _within(
    points: Array, records: Array, nodes: Array, low: Array, high: Array, queries: Array, reach: Array
) -> Array:
    found = np.zeros(len(queries), np.int64)
    stack = np.empty(256, np.int64)
    for number in range(len(queries)):
        query = queries[number]
        stack[0] = 0
        depth = 1
        while depth:
            depth -= 1
            node = stack[depth]
            if _to_box(query, low, high, node) > reach[number]:
                continue
            if nodes[node, 2] >= 0:
                stack[depth], stack[depth + 1] = nodes[node, 2], nodes[node, 3]
                depth += 2
                continue
            for place in range(nodes[node, 0], nodes[node, 1]):
                square = 0.0
                for axis in range(len(query)):
                    gap = points[place, axis] - query[axis]
                    square += gap * gap
                if square <= reach[number]:
                    found[number] += records[place]
    return found
