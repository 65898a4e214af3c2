"""What groups of records cost: the distances of their members to the farthest corner of the group's box.

A group keeps the two smallest and the two largest values of each column, so that its box without any one member is at
hand: the second smallest takes over where that member was the smallest. ends[g, 0] and ends[g, 1] are the box, ends[g,
2] and ends[g, 3] what is left of it whichever one member goes. costs[g] are those of
the whole group, the least and each of those without one member.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled_inside, compiled_loosely, compiled_part
from shoal.table import Array

WHOLE, LEAST, WITHOUT = range(3)


@compiled_loosely
def _far(xs: Array, i: Number, ends: Array, g: Number, low: Number, high: Number) -> Number:
    total = np.float32(0)
    for j in range(xs.shape[1]):
        up, down = ends[g, high, j] - xs[i, j], xs[i, j] - ends[g, low, j]
        side = up if up > down else down
        side = side if side > 0 else np.float32(0)
        total += side * side
    return np.sqrt(total)


@compiled_loosely
def far_whole(xs: Array, i: Number, ends: Array, g: Number) -> Number:
    """The distance of a record to the farthest corner of a group's box."""
    return _far(xs, i, ends, g, 0, 1)


@compiled_loosely
def far_core(xs: Array, i: Number, ends: Array, g: Number) -> Number:
    """The same, to what is left of the box whichever one member goes; 0 in columns where that is less than a point."""
    return _far(xs, i, ends, g, 2, 3)


@compiled_loosely
def far_without(xs: Array, i: Number, ends: Array, g: Number, out: Number) -> Number:
    """The same, to the box without one of its members."""
    total = np.float32(0)
    for j in range(xs.shape[1]):
        x, gone = xs[i, j], xs[out, j]
        low = ends[g, 0, j] if gone > ends[g, 0, j] else ends[g, 2, j]
        high = ends[g, 1, j] if gone < ends[g, 1, j] else ends[g, 3, j]
        up, down = high - x, x - low
        side = up if up > down else down
        side = side if side > 0 else np.float32(0)
        total += side * side
    return np.sqrt(total)


@compiled_loosely
def _far_joined(xs: Array, i: Number, ends: Array, g: Number, new: Number) -> Number:
    """The same, to the box with one more record."""
    total = np.float32(0)
    for j in range(xs.shape[1]):
        x, one, low, high = xs[i, j], xs[new, j], ends[g, 0, j], ends[g, 1, j]
        low = one if one < low else low
        high = one if one > high else high
        up, down = high - x, x - low
        side = up if up > down else down
        total += side * side
    return np.sqrt(total)


@compiled_loosely
def _far_replaced(xs: Array, i: Number, ends: Array, g: Number, out: Number, new: Number) -> Number:
    """The same, to the box with a record in the place of one of its members."""
    total = np.float32(0)
    for j in range(xs.shape[1]):
        x, gone, one = xs[i, j], xs[out, j], xs[new, j]
        low = ends[g, 0, j] if gone > ends[g, 0, j] else ends[g, 2, j]
        high = ends[g, 1, j] if gone < ends[g, 1, j] else ends[g, 3, j]
        low = one if one < low else low
        high = one if one > high else high
        up, down = high - x, x - low
        side = up if up > down else down
        total += side * side
    return np.sqrt(total)


@compiled_inside
def cost_joined(
    xs: Array, members: Array, sizes: Array, ends: Array, g: Number, i: Number, far: Number, limit: Number
) -> Number:
    """The cost of a group with one more record i, which is so far from its box; inf once it passes a limit."""
    total = far
    for s in range(sizes[g]):
        total += _far_joined(xs, members[g, s], ends, g, i)
        if total >= limit:
            return np.float32(np.inf)
    return total


@compiled_inside
def cost_replaced(
    xs: Array, members: Array, sizes: Array, ends: Array, g: Number, without: Number, i: Number, far: Number,
    limit: Number,
) -> Number:  # fmt: skip
    """The cost of a group with i in the place of one member, so far from the box without that; inf past a limit."""
    total, out = far, members[g, without]
    for s in range(sizes[g]):
        if s != without:
            total += _far_replaced(xs, members[g, s], ends, g, out, i)
            if total >= limit:
                return np.float32(np.inf)
    return total


@compiled_part
def renew(xs: Array, members: Array, sizes: Array, ends: Array, costs: Array, g: Number) -> None:
    """The ends and the costs of a group, whole and without each member."""
    for j in range(xs.shape[1]):
        ends[g, 0, j] = ends[g, 2, j] = np.inf
        ends[g, 1, j] = ends[g, 3, j] = -np.inf
    for s in range(sizes[g]):
        one = members[g, s]
        for j in range(xs.shape[1]):
            x, low, high = xs[one, j], ends[g, 0, j], ends[g, 1, j]
            larger = x if x > low else low
            smaller = x if x < high else high
            ends[g, 2, j] = larger if larger < ends[g, 2, j] else ends[g, 2, j]
            ends[g, 3, j] = smaller if smaller > ends[g, 3, j] else ends[g, 3, j]
            ends[g, 0, j] = x if x < low else low
            ends[g, 1, j] = x if x > high else high
    whole = np.float32(0)
    for s in range(sizes[g]):
        whole += far_whole(xs, members[g, s], ends, g)
    costs[g, WHOLE] = whole
    least = np.float32(np.inf)
    for out in range(sizes[g]):
        total = np.float32(0)
        if whole > 0:
            for s in range(sizes[g]):
                if s != out:
                    total += far_without(xs, members[g, s], ends, g, members[g, out])
        costs[g, WITHOUT + out] = total
        least = min(least, total)
    costs[g, LEAST] = least
