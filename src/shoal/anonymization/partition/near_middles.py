"""The groups of a region whose middles are nearest to a group's.

The middles lie leaf by leaf, near ones side by side, as `cut` leaves them. Some leaves in a row are a node, some nodes
in a row are one of the level above: what lies in a row is near each other, so boxes around it tell what to pass over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.compiled import Number, compiled, compiled_inside, compiled_loosely
from shoal.table import Array

# middles in a leaf at most, and children of a node
LEAF = 16
_FAN_BITS = 3
_FAN = 1 << _FAN_BITS
_FARTHEST = np.float32(1e35)


class Levels(NamedTuple):
    """Boxes: leaves first, then level by level the nodes around them; those of level n start at starts[n]."""

    low: Array
    high: Array
    starts: Array


def near_middles(middle: Array, leaves: Array, asked: Array, count: int) -> Array:
    """The `count` nearest others of the middles asked for, nearest first; leaves[n] is where a leaf starts.

    >>> near_middles(np.array([[0.0], [1.0], [3.0], [7.0]], np.float32), np.array([0, 2]), np.array([0, 2]), 2).tolist()
    [[1, 2], [1, 0]]
    """
    found = np.zeros((len(asked), min(count, len(middle) - 1)), np.int32)
    levels = _levels(middle, leaves)
    leaf_of = np.repeat(np.arange(len(leaves)), np.diff(leaves, append=len(middle)))
    depth = _FAN * len(levels.starts)
    stack, apart = np.empty((2, depth), np.int64), np.empty(depth, np.float32)
    far = np.empty(found.shape[1], np.float32)
    look_up(middle, np.append(leaves, len(middle)), leaf_of, asked, *levels, found, far, stack, apart)
    return found


def _levels(middle: Array, leaves: Array) -> Levels:
    low, high = [np.minimum.reduceat(middle, leaves)], [np.maximum.reduceat(middle, leaves)]
    while len(low[-1]) > 1:
        starts = np.arange(0, len(low[-1]), _FAN)
        low.append(np.minimum.reduceat(low[-1], starts))
        high.append(np.maximum.reduceat(high[-1], starts))
    return Levels(np.concatenate(low), np.concatenate(high), np.cumsum([0, *map(len, low)]))


@compiled
def look_up(
    middle: Array, edges: Array, leaf_of: Array, asked: Array, low: Array, high: Array, starts: Array,
    found: Array, far: Array, stack: Array, apart: Array,
) -> None:  # fmt: skip
    """The loop of `near_middles`: from the leaf of a middle upwards; the last arguments are for its own use."""
    wanted = found.shape[1]
    for nth in range(len(asked)):
        g = asked[nth]
        for i in range(wanted):
            far[i] = _FARTHEST
        came_from = np.int64(leaf_of[g])
        _look(middle, edges, came_from, g, found, nth, far)
        for level in range(len(starts) - 2):
            parent = came_from >> _FAN_BITS
            depth = _push(middle, g, low, high, starts, level, parent, came_from, far[wanted - 1], stack, apart, 0)
            while depth > 0:
                depth -= 1
                if apart[depth] >= far[wanted - 1]:
                    continue
                node, own = stack[0, depth], stack[1, depth]
                if own == 0:
                    _look(middle, edges, node, g, found, nth, far)
                else:
                    bound = far[wanted - 1]
                    depth = _push(middle, g, low, high, starts, own - 1, node, np.int64(-1), bound, stack, apart, depth)
            came_from = parent


@compiled_loosely
def _apart(middle: Array, g: Number, other: Number) -> Number:
    """The squared distance of two middles."""
    total = np.float32(0)
    for j in range(middle.shape[1]):
        side = middle[g, j] - middle[other, j]
        total += side * side
    return total


@compiled_loosely
def _apart_from_box(middle: Array, g: Number, low: Array, high: Array, b: Number) -> Number:
    """The squared distance of a middle to a box."""
    total = np.float32(0)
    for j in range(middle.shape[1]):
        under, over = low[b, j] - middle[g, j], middle[g, j] - high[b, j]
        side = under if under > over else over
        side = side if side > 0 else np.float32(0)
        total += side * side
    return total


@compiled_inside
def _look(middle: Array, edges: Array, leaf: Number, g: Number, found: Array, nth: Number, far: Array) -> None:
    """Hold the middles of a leaf against the nearest so far."""
    last = len(far) - 1
    for other in range(edges[leaf], edges[leaf + 1]):
        d = _apart(middle, g, other)
        if d >= far[last] or other == g:
            continue
        at = last
        while at > 0 and far[at - 1] > d:
            far[at], found[nth, at] = far[at - 1], found[nth, at - 1]
            at -= 1
        far[at], found[nth, at] = d, other


@compiled_inside
def _push(
    middle: Array, g: Number, low: Array, high: Array, starts: Array, level: Number, node: Number, but: Number,
    bound: Number, stack: Array, apart: Array, depth: Number,
) -> Number:  # fmt: skip
    """Put the children of a node that may hold something near on the stack; how many lie there."""
    first, last = starts[level] + node * _FAN, min(starts[level] + node * _FAN + _FAN, starts[level + 1])
    for b in range(first, last):
        d = _apart_from_box(middle, g, low, high, b)
        if d < bound and b - starts[level] != but:
            stack[0, depth], stack[1, depth], apart[depth] = b - starts[level], level, d
            depth += 1
    return depth
