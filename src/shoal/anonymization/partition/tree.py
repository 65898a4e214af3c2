"""A k-d tree whose records can be taken out: the nearest records of those that are left.

The tree is a heap: node i has the children 2i+1 and 2i+2, its records lie in one piece, halved by the median of the
column that varies most. A record that leaves goes to the end of its leaf, and the boxes above are tightened: without
that, searches would visit empty space.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.anonymization.partition import box
from shoal.compiled import Number, compiled, compiled_inside, compiled_once, compiled_part
from shoal.table import Array

LEAF = 32
_SAMPLE = 128


@compiled_once
def _select(rows: Array, names: Array, start: int, stop: int, column: int, nth: int) -> None:
    """Order records so that the nth by a column (ties by name) is in its place, smaller ones before it."""
    left, right = start, stop - 1
    while left < right:
        middle = (left + right) // 2
        # the median of three as pivot
        for a, b in ((left, middle), (left, right), (middle, right)):
            if rows[b, column] < rows[a, column]:
                _swap(rows, names, a, b)
        pivot = rows[middle, column]
        i, j = left, right
        while i <= j:
            while rows[i, column] < pivot:
                i += 1
            while pivot < rows[j, column]:
                j -= 1
            if i <= j:
                _swap(rows, names, i, j)
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            return


@compiled_inside
def _swap(rows: Array, names: Array, a: int, b: int) -> None:
    for j in range(rows.shape[1]):
        rows[a, j], rows[b, j] = rows[b, j], rows[a, j]
    names[a], names[b] = names[b], names[a]


@compiled_once
def _widest(rows: Array, start: int, stop: int) -> int:
    """The column that varies most; of many records a sample tells."""
    step = max(1, (stop - start) // _SAMPLE)
    best, best_column = -1.0, 0
    for j in range(rows.shape[1]):
        base = rows[start, j]
        total = squares = 0.0
        count = 0
        for i in range(start, stop, step):
            x = rows[i, j] - base
            total += x
            squares += x * x
            count += 1
        mean = total / count
        varies = squares / count - mean * mean
        if varies > best:
            best, best_column = varies, j
    return best_column


def depth_of(size: int) -> int:
    """How many times records are halved until leaves are small."""
    return (size // (LEAF + 1)).bit_length()


@compiled_part
def _tighten(rows: Array, start: int, stop: int, low: Array, high: Array, node: int) -> None:
    """The smallest box that holds some records; of none, one that is nowhere."""
    box.start_empty(low, high, node)
    for i in range(start, stop):
        box.widen(low, high, node, rows, i)


class Tree(NamedTuple):
    """The arrays of a tree: the names of the records in their order, its nodes, and the place of each record."""

    names: Array
    starts: Array
    live: Array
    low: Array
    high: Array
    where: Array


def tree_of(rows: Array, depth: int | None = None) -> Tree:
    """Order the records as a tree, in place; its depth is that of small leaves, where it is not given."""
    size, columns = rows.shape
    nodes = 2 ** ((depth_of(size) if depth is None else depth) + 1) - 1
    starts, live, stops = np.empty(nodes, np.int64), np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    low, high = np.empty((nodes, columns), rows.dtype), np.empty((nodes, columns), rows.dtype)
    tree = Tree(np.arange(size), starts, live, low, high, np.empty(size, np.int64))
    build(rows, *tree, stops)
    return tree


@compiled
def build(
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, where: Array, stops: Array
) -> None:
    """Order the records as a tree; `names` are 0 .. n-1 and where[name] becomes the place of a record."""
    size, nodes = len(rows), len(live)
    inner = nodes // 2
    starts[0], stops[0] = 0, size
    for node in range(inner):
        a, b = starts[node], stops[node]
        middle = (a + b) // 2
        if b - a > 1:
            _select(rows, names, a, b, _widest(rows, a, b), middle)
        starts[2 * node + 1], stops[2 * node + 1] = a, middle
        starts[2 * node + 2], stops[2 * node + 2] = middle, b
    for node in range(nodes):
        live[node] = stops[node] - starts[node]
    for node in range(nodes - 1, -1, -1):
        one, two = 2 * node + 1, 2 * node + 2
        if node < inner:
            box.join(low, high, node, one, two)
        else:
            _tighten(rows, starts[node], stops[node], low, high, node)
    for i in range(size):
        where[names[i]] = i


@compiled_part
def leaf_near(low: Array, high: Array, live: Array, row: Array) -> int:
    """The leaf that a point would lie in, or near."""
    inner = len(live) // 2
    node = 0
    while node < inner:
        one, two = 2 * node + 1, 2 * node + 2
        if live[one] == 0:
            node = two
        elif live[two] == 0:
            node = one
        else:
            node = one if box_distance(row, low, high, one) <= box_distance(row, low, high, two) else two
    return node


@compiled_part
def leaf_at(starts: Array, place: int) -> int:
    """The leaf that holds a place."""
    inner = len(starts) // 2
    node = 0
    while node < inner:
        node = 2 * node + 2 if place >= starts[2 * node + 2] else 2 * node + 1
    return node


@compiled_part
def take_out(
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, where: Array, name: Number
) -> int:
    """Take a record out of the tree; its leaf."""
    place: Number = where[name]
    leaf = leaf_at(starts, place)
    last = starts[leaf] + live[leaf] - 1
    columns = rows.shape[1]
    if place != last:
        _swap(rows, names, place, last)
        where[names[place]] = place
        where[name] = last
    live[leaf] -= 1
    # does the box of the leaf shrink, and of those above?
    shrinks = live[leaf] == 0
    if not shrinks:
        for j in range(columns):
            if rows[last, j] == low[leaf, j] or rows[last, j] == high[leaf, j]:
                shrinks = True
                break
    if shrinks:
        _tighten(rows, starts[leaf], last, low, high, leaf)
    node = leaf
    while node > 0:
        node = (node - 1) // 2
        live[node] -= 1
        if shrinks:
            shrinks = box.join(low, high, node, 2 * node + 1, 2 * node + 2)
    return leaf


@compiled_inside
def box_distance(row: Array, low: Array, high: Array, node: Number) -> Number:
    """The squared distance of a record to a box; rounded, it is still no more than to any record inside."""
    total = row.dtype.type(0)
    for j in range(len(row)):
        under, over = low[node, j] - row[j], row[j] - high[node, j]
        side = under if under > over else over
        side = side if side > 0 else row.dtype.type(0)
        total += side * side
    return total


@compiled_inside
def distance(rows: Array, i: Number, row: Array) -> Number:
    """The squared distance of a record to a point."""
    total = row.dtype.type(0)
    for j in range(len(row)):
        side = rows[i, j] - row[j]
        total += side * side
    return total


@compiled_part
def _scan(
    rows: Array, names: Array, start: int, stop: int, row: Array, wanted: int, held: Number, found: Array, far: Array
) -> Number:
    """Hold the records of a leaf against the nearest so far."""
    for i in range(start, stop):
        d = distance(rows, i, row)
        if held < wanted:
            at = held
            held += 1
        elif d < far[wanted - 1] or (d == far[wanted - 1] and names[i] < found[wanted - 1]):
            at = wanted - 1
        else:
            continue
        while at > 0 and (far[at - 1] > d or (far[at - 1] == d and found[at - 1] > names[i])):
            far[at], found[at] = far[at - 1], found[at - 1]
            at -= 1
        far[at], found[at] = d, names[i]
    return held


@compiled_once
def nearest(
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array,
    row: Array, leaf: int, wanted: int, found: Array, far: Array, stack: Array, apart: Array,
) -> Number:  # fmt: skip
    """The nearest records to a point, sorted by distance, ties by name, from its leaf upwards; how many there are.

    `stack` and `apart` (64 each, more than a tree is deep) are for its own use.
    """
    inner = len(live) // 2
    held = _scan(rows, names, starts[leaf], starts[leaf] + live[leaf], row, wanted, np.int64(0), found, far)
    node = leaf
    while node > 0:
        sibling = node + 1 if node % 2 else node - 1
        node = (node - 1) // 2
        if live[sibling] == 0:
            continue
        stack[0], apart[0] = sibling, box_distance(row, low, high, sibling)
        depth = 1
        while depth > 0:
            depth -= 1
            at = stack[depth]
            if held == wanted and apart[depth] > far[wanted - 1]:
                continue
            while at < inner:
                one, two = 2 * at + 1, 2 * at + 2
                if live[two] == 0:
                    at = one
                    continue
                if live[one] == 0:
                    at = two
                    continue
                d_one = box_distance(row, low, high, one)
                d_two = box_distance(row, low, high, two)
                if d_two < d_one:
                    one, two, d_one, d_two = two, one, d_two, d_one
                if held < wanted or d_two <= far[wanted - 1]:
                    stack[depth], apart[depth] = two, d_two
                    depth += 1
                if held == wanted and d_one > far[wanted - 1]:
                    at = -1
                    break
                at = one
            if at >= 0:
                held = _scan(rows, names, starts[at], starts[at] + live[at], row, wanted, held, found, far)
    return held
