"""Compiled loops over a tree of released boxes: who holds a point, and who is nearest to it.

Boxes are split at the middle of their widest column until few are left. A node knows the least and the greatest low end
and high end of its boxes in every column: a point outside the greatest span is in none of them, a point inside the
least span is in all.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled
from shoal.table import Array

# a coordinate of a person of whom it is not known: every box holds it
UNKNOWN = -1_000_000_007
LEAF = 8
_DEPTH = 256
_SAMPLE = 33


@compiled
def build(low: Array, high: Array, weight: Array, order: Array, roots: Array, capacity: int) -> tuple[Array, ...]:
    """Trees over the boxes of each pattern: `order[roots[p]:roots[p+1]]` are its boxes, which are sorted in place.

    Gives the first node of each pattern and, node by node: first and last box, right child (0: a leaf; the left one
    follows the node), total weight, and the least and greatest ends per column.
    """
    columns = low.shape[1]
    span = np.zeros((capacity, 2), np.int64)
    right = np.zeros(capacity, np.int64)
    total = np.zeros(capacity, np.float64)
    bounds = np.zeros((capacity, columns, 4), low.dtype)
    first_node = np.zeros(len(roots), np.int64)
    stack = np.zeros((_DEPTH, 3), np.int64)
    sample = np.zeros(_SAMPLE, np.float64)
    nodes = 0
    for pattern in range(len(roots) - 1):
        first_node[pattern] = nodes
        stack[0, 0], stack[0, 1], stack[0, 2] = roots[pattern], roots[pattern + 1], -1
        depth = 1
        while depth:
            depth -= 1
            start, end, parent = stack[depth]
            node = nodes
            nodes += 1
            if parent >= 0:
                right[parent] = node
            span[node, 0], span[node, 1] = start, end
            widest, column = 0.0, -1
            for c in range(columns):
                box = order[start]
                a, b, e, f = low[box, c], low[box, c], high[box, c], high[box, c]
                least = greatest = float(low[box, c]) + float(high[box, c])
                for at in range(start + 1, end):
                    box = order[at]
                    start_of, end_of = low[box, c], high[box, c]
                    a, b, e, f = min(a, start_of), max(b, start_of), min(e, end_of), max(f, end_of)
                    middle = float(start_of) + float(end_of)
                    least, greatest = min(least, middle), max(greatest, middle)
                bounds[node, c, 0], bounds[node, c, 1], bounds[node, c, 2], bounds[node, c, 3] = a, b, e, f
                whole = float(bounds[first_node[pattern], c, 3]) - float(bounds[first_node[pattern], c, 0])
                spread = (greatest - least) / (whole + 1.0)
                if greatest > least and spread > widest:
                    widest, column = spread, c
            summed = 0.0
            for at in range(start, end):
                summed += weight[order[at]]
            total[node] = summed
            if column < 0 or end - start <= LEAF or depth + 2 > _DEPTH:
                continue
            taken = min(_SAMPLE, end - start)
            for number in range(taken):
                box = order[start + number * (end - start) // taken]
                sample[number] = float(low[box, column]) + float(high[box, column])
            pivot = np.sort(sample[:taken])[taken // 2]
            cut = _partition(low, high, order, start, end, column, pivot, False)
            if cut == end:
                cut = _partition(low, high, order, start, end, column, pivot, True)
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = cut, end, node
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = start, cut, -1
            depth += 2
    first_node[len(roots) - 1] = nodes
    return first_node, span[:nodes], right[:nodes], total[:nodes], bounds[:nodes]


@compiled
def _partition(
    low: Array, high: Array, order: Array, start: int, end: int, column: int, pivot: float, below: bool
) -> int:
    """Boxes whose middle is at most (or below) the pivot come first; where the others start."""
    left, last = start, end - 1
    while left <= last:
        box = order[left]
        middle = float(low[box, column]) + float(high[box, column])
        if middle < pivot or (middle == pivot and not below):
            left += 1
        else:
            order[left], order[last] = order[last], order[left]
            last -= 1
    return left


@compiled
def _holds(low: Array, high: Array, mask_at: Array, masks: Array, box: int, point: Array) -> bool:
    """Whether a box holds a point: ends first, then the masks of its sets."""
    for c in range(len(point)):
        if point[c] != UNKNOWN and (point[c] < low[box, c] or point[c] > high[box, c]):
            return False
    if len(mask_at):
        for c in range(len(point)):
            if point[c] != UNKNOWN and mask_at[box, c] >= 0 and masks[mask_at[box, c] + point[c]] == 0:
                return False
    return True


@compiled
def _relation(bounds: Array, node: int, point: Array) -> int:
    """0: no box of the node holds the point; 2: all do, as far as ends tell; 1: some may."""
    found = 2
    for c in range(len(point)):
        if point[c] == UNKNOWN:
            continue
        if point[c] < bounds[node, c, 0] or point[c] > bounds[node, c, 3]:
            return 0
        if point[c] < bounds[node, c, 1] or point[c] > bounds[node, c, 2]:
            found = 1
    return found


@compiled
def count(
    points: Array, boxes: tuple[Array, ...], tree: tuple[Array, ...], first: int, last: int, records: Array
) -> None:
    """The records of all boxes that hold each of the points `first` .. `last` - 1."""
    low, high, weight, mask_at, masks, order = boxes
    roots, span, right, total, bounds, masked = tree
    stack = np.zeros(_DEPTH, np.int64)
    for target in range(first, last):
        point, summed = points[target], 0.0
        for root in roots[:-1]:
            stack[0], depth = root, 1
            while depth:
                depth -= 1
                node = stack[depth]
                related = _relation(bounds, node, point)
                if related == 0:
                    continue
                if related == 2 and not masked[node]:
                    summed += total[node]
                elif right[node]:
                    stack[depth], stack[depth + 1] = right[node], node + 1
                    depth += 2
                else:
                    for at in range(span[node, 0], span[node, 1]):
                        if _holds(low, high, mask_at, masks, order[at], point):
                            summed += weight[order[at]]
        records[target] = summed


@compiled
def listed(
    points: Array, boxes: tuple[Array, ...], tree: tuple[Array, ...], first: int, last: int, starts: Array, out: Array
) -> None:
    """How many boxes hold each point (into `starts`), or, where `out` has room, which: from `starts[point]` on."""
    low, high, _, mask_at, masks, order = boxes
    roots, span, right, _, bounds, masked = tree
    stack = np.zeros(_DEPTH, np.int64)
    for target in range(first, last):
        point, found = points[target], 0
        for root in roots[:-1]:
            stack[0], depth = root, 1
            while depth:
                depth -= 1
                node = stack[depth]
                related = _relation(bounds, node, point)
                if related == 0:
                    continue
                sure = related == 2 and not masked[node]
                if right[node] and not (sure and not len(out)):
                    stack[depth], stack[depth + 1] = right[node], node + 1
                    depth += 2
                elif sure and not len(out):
                    found += span[node, 1] - span[node, 0]
                else:
                    for at in range(span[node, 0], span[node, 1]):
                        if sure or _holds(low, high, mask_at, masks, order[at], point):
                            if len(out):
                                out[starts[target] + found] = order[at]
                            found += 1
        if not len(out):
            starts[target] = found


@compiled
def nearest(
    points: Array, kinds: Array, boxes: tuple[Array, ...], tree: tuple[Array, ...], first: int, last: int, limit: int
) -> tuple[Array, Array, Array, Array]:
    """The boxes at the least distance from each point: how many records they have, and their numbers one by one.

    `kinds`: 0 a column that the box must hold, 1 one in which the squared difference counts, 2 one in which it counts
    whether they differ. Distances that differ by less than a billionth are equal. At most `limit` are listed.
    """
    low, high, weight, mask_at, masks, order = boxes
    roots, span, right, _, bounds, _ = tree
    stack, ahead = np.zeros(_DEPTH, np.int64), np.zeros(_DEPTH, np.float64)
    records, counts = np.zeros(last - first, np.float64), np.zeros(last - first, np.int64)
    distances = np.full(last - first, np.inf)
    ties = np.zeros((last - first, limit), np.int64)
    for target in range(first, last):
        point, best, summed, found = points[target], np.inf, 0.0, 0
        for root in roots[:-1]:
            stack[0], ahead[0], depth = root, 0.0, 1
            while depth:
                depth -= 1
                node = stack[depth]
                if ahead[depth] > best + 1e-9 * (1 + best) or _least(bounds, kinds, node, point) > best + 1e-9 * (
                    1 + best
                ):
                    continue
                if right[node]:
                    one, other = node + 1, right[node]
                    to_one, to_other = _least(bounds, kinds, one, point), _least(bounds, kinds, other, point)
                    if to_one < to_other:
                        one, other, to_one, to_other = other, one, to_other, to_one
                    stack[depth], ahead[depth] = one, to_one
                    stack[depth + 1], ahead[depth + 1] = other, to_other
                    depth += 2
                    continue
                for at in range(span[node, 0], span[node, 1]):
                    box = order[at]
                    distance = _distance(low, high, mask_at, masks, kinds, box, point)
                    if distance == np.inf or distance > best + 1e-9 * (1 + best):
                        continue
                    if best == np.inf or distance < best - 1e-9 * (1 + best):
                        best, summed, found = distance, 0.0, 0
                    summed += weight[box]
                    if found < limit:
                        ties[target - first, found] = box
                    found += 1
        records[target - first], counts[target - first], distances[target - first] = summed, found, best
    return records, counts, distances, ties


@compiled
def _least(bounds: Array, kinds: Array, node: int, point: Array) -> float:
    """No box of the node is nearer to the point than this."""
    distance = 0.0
    for c in range(len(point)):
        if point[c] == UNKNOWN:
            continue
        under, over = bounds[node, c, 0] - point[c], point[c] - bounds[node, c, 3]
        if under > 0 or over > 0:
            if kinds[c] == 0:
                return np.inf
            distance += 1.0 if kinds[c] == 2 else max(under, over) ** 2
    return distance


@compiled
def _distance(low: Array, high: Array, mask_at: Array, masks: Array, kinds: Array, box: int, point: Array) -> float:
    distance = 0.0
    for c in range(len(point)):
        if point[c] == UNKNOWN:
            continue
        if kinds[c] == 0:
            if point[c] < low[box, c] or point[c] > high[box, c]:
                return np.inf
            if len(mask_at) and mask_at[box, c] >= 0 and masks[mask_at[box, c] + int(point[c])] == 0:
                return np.inf
        elif kinds[c] == 1:
            distance += (low[box, c] - point[c]) ** 2
        elif low[box, c] != point[c]:
            distance += 1.0
    return distance
