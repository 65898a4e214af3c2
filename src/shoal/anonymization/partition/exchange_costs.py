"""What groups of records cost: the distances of their members to the farthest corner of the group's box.

A group keeps the two smallest and the two largest values of each column, so that its box without any one member is at
hand: the second smallest takes over where that member was the smallest. ends[g, 0] and ends[g, 1] are the box, ends[g,
2] and ends[g, 3] what is left of it whichever one member goes; one row more than there are groups is for the box of an
exchange that is weighed. costs[g] are those of the whole group, the least and each of those without one member.

Eight columns of a record are taken at once: `in_eights` lays records out with as many columns of zeros as are missing.
Or eight members of a group: laid[g, block, j] are their values in column j, those of the last block that there are.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled_in_lanes, compiled_inside, compiled_part
from shoal.table import Array

WHOLE, LEAST, WITHOUT = range(3)
_LOW, _HIGH, _NEXT_LOW, _NEXT_HIGH = range(4)
EIGHT = 8


def laid_out(groups: int, most: int, columns: int) -> tuple[Array, Array, Array, Array]:
    """Room for groups of at most so many members: their layout, their ends, their costs, and distances."""
    blocks = -(-most // EIGHT)
    width = -(-columns // EIGHT) * EIGHT
    return (
        np.zeros((groups, blocks, columns, EIGHT), np.float32),
        np.empty((groups + 1, 4, width), np.float32),
        np.zeros((groups, WITHOUT + blocks * EIGHT), np.float32),
        np.empty((2, blocks * EIGHT), np.float32),
    )


def in_eights(rows: Array, place: Array) -> Array:
    """The rows at some places, with columns of zeros up to a multiple of eight.

    >>> in_eights(np.ones((3, 2), np.float32), np.array([0, 2])).tolist()
    [[1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """
    columns = rows.shape[1]
    found = np.zeros((len(place), -(-columns // EIGHT) * EIGHT), np.float32)
    found[:, :columns] = rows[place]
    return found


def _sum_of_squares(side: Array) -> Number:
    """The sum of squares of what is more than 0: over blocks of eight, then of the halves, again and again."""
    return _sum_of_halves((np.maximum(side, 0) ** 2).reshape(-1, EIGHT).sum(axis=0))


def _sum_of_halves(total: Array) -> Number:
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    return total[0]


@compiled_in_lanes
def square_far(xs: Array, i: Number, ends: Array, g: Number, low: Number, high: Number) -> Number:
    """The squared distance of a record to the farthest corner of a box."""
    return _sum_of_squares(np.maximum(ends[g, high] - xs[i], xs[i] - ends[g, low]))


@compiled_in_lanes
def square_far_without(xs: Array, i: Number, ends: Array, g: Number, out: Number) -> Number:
    """The same, to a group's box without one of its members."""
    low = np.where(xs[out] > ends[g, _LOW], ends[g, _LOW], ends[g, _NEXT_LOW])
    high = np.where(xs[out] < ends[g, _HIGH], ends[g, _HIGH], ends[g, _NEXT_HIGH])
    return _sum_of_squares(np.maximum(high - xs[i], xs[i] - low))


@compiled_in_lanes
def widened(xs: Array, new: Number, ends: Array, g: Number, to: Number) -> None:
    """A group's box with one more record."""
    ends[to, _LOW], ends[to, _HIGH] = np.minimum(xs[new], ends[g, _LOW]), np.maximum(xs[new], ends[g, _HIGH])


@compiled_in_lanes
def exchanged(xs: Array, out: Number, new: Number, ends: Array, g: Number, to: Number) -> None:
    """A group's box with a record in the place of one of its members."""
    low = np.where(xs[out] > ends[g, _LOW], ends[g, _LOW], ends[g, _NEXT_LOW])
    high = np.where(xs[out] < ends[g, _HIGH], ends[g, _HIGH], ends[g, _NEXT_HIGH])
    ends[to, _LOW], ends[to, _HIGH] = np.minimum(xs[new], low), np.maximum(xs[new], high)


@compiled_in_lanes
def hold(xs: Array, i: Number, ends: Array, g: Number) -> None:
    """Let a group's ends hold one more record."""
    low, high = ends[g, _LOW].copy(), ends[g, _HIGH].copy()
    ends[g, _LOW], ends[g, _HIGH] = np.minimum(xs[i], low), np.maximum(xs[i], high)
    ends[g, _NEXT_LOW] = np.minimum(np.maximum(xs[i], low), ends[g, _NEXT_LOW])
    ends[g, _NEXT_HIGH] = np.maximum(np.minimum(xs[i], high), ends[g, _NEXT_HIGH])


@compiled_inside
def far_whole(xs: Array, i: Number, ends: Array, g: Number) -> Number:
    """The distance of a record to the farthest corner of a group's box."""
    return np.sqrt(square_far(xs, i, ends, g, _LOW, _HIGH))


@compiled_inside
def far_core(xs: Array, i: Number, ends: Array, g: Number) -> Number:
    """The same, to what is left of the box whichever one member goes; 0 in columns where that is less than a point."""
    return np.sqrt(square_far(xs, i, ends, g, _NEXT_LOW, _NEXT_HIGH))


@compiled_inside
def far_without(xs: Array, i: Number, ends: Array, g: Number, out: Number) -> Number:
    """The same, to the box without one of its members."""
    return np.sqrt(square_far_without(xs, i, ends, g, out))


def _far_from(laid: Array, low: Array, high: Array, x: Array | None = None) -> Array:
    """How far members (or x) are from the farthest corners of boxes: laid[j] are the members' values in a column."""
    total = np.zeros((2, laid.shape[1]), np.float32)
    for j, own in enumerate(laid):
        at = own if x is None else x[j]
        total[j % 2] += np.maximum(np.maximum(high[j] - at, at - low[j]), 0) ** 2
    return np.asarray(np.sqrt(total[0] + total[1]))


@compiled_in_lanes
def near_core(laid: Array, g: Number, block: Number, ends: Array, of: Number, bound: Number) -> Number:
    """Which of eight members are nearer than a bound to what is left of a box whichever one goes; as bits."""
    near = _far_from(laid[g, block], ends[of, _NEXT_LOW], ends[of, _NEXT_HIGH]) < bound
    return int((near << np.arange(EIGHT)).sum())


@compiled_in_lanes
def sum_of_far(laid: Array, g: Number, block: Number, ends: Array, of: Number, counted: Number) -> Number:
    """The distances of those of eight members that have a bit to the farthest corner of a box, in sum."""
    far = _far_from(laid[g, block], ends[of, _LOW], ends[of, _HIGH])
    return _sum_of_halves(np.where(counted >> np.arange(EIGHT) & 1, far, np.float32(0)))


@compiled_in_lanes
def keep_least_far(laid: Array, g: Number, block: Number, ends: Array, of: Number, least: Array) -> None:
    """Keep the distances of eight members to the farthest corner of a box where they are less than what is there."""
    some = slice(EIGHT * block, EIGHT * (block + 1))
    least[some] = np.minimum(least[some], _far_from(laid[g, block], ends[of, _LOW], ends[of, _HIGH]))


@compiled_in_lanes
def far_with_one_out(
    laid: Array, g: Number, block: Number, xs: Array, i: Number, ends: Array, costs: Array, limit: Number, far: Array
) -> Number:
    """How far a record is from the box of g without each of eight members; the bits of those with which it may stay.

    What the group costs without the member, and the record that far away, is then less than a limit.
    """
    gone, some = laid[g, block], slice(EIGHT * block, EIGHT * (block + 1))
    ends_of = [end[: len(gone), None] for end in ends[g]]
    low = np.where(gone > ends_of[_LOW], ends_of[_LOW], ends_of[_NEXT_LOW])
    high = np.where(gone < ends_of[_HIGH], ends_of[_HIGH], ends_of[_NEXT_HIGH])
    far[some] = _far_from(gone, low, high, xs[i])
    return int(((costs[g, WITHOUT:][some] + far[some] < limit) << np.arange(EIGHT)).sum())


@compiled_inside
def blocks_of(size: Number) -> Number:
    """How many times eight members a group has, the last ones too."""
    return (size + EIGHT - 1) // EIGHT


@compiled_inside
def in_block(size: Number, block: Number) -> Number:
    """The bits of the members of a block that there are."""
    return (1 << min(EIGHT, size - EIGHT * block)) - 1


@compiled_inside
def cost_joined(
    xs: Array, laid: Array, sizes: Array, ends: Array, g: Number, i: Number, far: Number, limit: Number
) -> Number:
    """The cost of a group with one more record i, which is so far from its box; inf once it passes a limit."""
    total, weighed = far, len(sizes)
    widened(xs, i, ends, g, weighed)
    for block in range(blocks_of(sizes[g])):
        total += sum_of_far(laid, g, block, ends, weighed, in_block(sizes[g], block))
        if total >= limit:
            return np.float32(np.inf)
    return total


@compiled_inside
def cost_replaced(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, g: Number, without: Number, i: Number,
    far: Number, limit: Number,
) -> Number:  # fmt: skip
    """The cost of a group with i in the place of one member, so far from the box without that; inf past a limit."""
    total, weighed = far, len(sizes)
    exchanged(xs, members[g, without], i, ends, g, weighed)
    for block in range(blocks_of(sizes[g])):
        counted = in_block(sizes[g], block)
        if without // EIGHT == block:
            counted &= ~(1 << without % EIGHT)
        total += sum_of_far(laid, g, block, ends, weighed, counted)
        if total >= limit:
            return np.float32(np.inf)
    return total


@compiled_part
def renew(
    xs: Array, members: Array, laid: Array, sizes: Array, ends: Array, costs: Array, far: Array, g: Number
) -> None:
    """The layout, the ends and the costs of a group, whole and without each member."""
    size = sizes[g]
    for j in range(xs.shape[1]):
        ends[g, _LOW, j] = ends[g, _NEXT_LOW, j] = np.inf
        ends[g, _HIGH, j] = ends[g, _NEXT_HIGH, j] = -np.inf
    for s in range(size):
        one = members[g, s]
        hold(xs, one, ends, g)
        for j in range(laid.shape[2]):
            laid[g, s // EIGHT, j, s % EIGHT] = xs[one, j]
    whole = np.float32(0)
    for block in range(blocks_of(size)):
        whole += sum_of_far(laid, g, block, ends, g, in_block(size, block))
    costs[g, WHOLE] = whole
    least = np.float32(np.inf)
    for out in range(size):
        costs[g, WITHOUT + out] = 0
    if whole > 0:
        for s in range(size):
            for block in range(blocks_of(size)):
                far_with_one_out(laid, g, block, xs, members[g, s], ends, costs, np.float32(0), far)
            for out in range(size):
                if out != s:
                    costs[g, WITHOUT + out] += far[out]
    for out in range(size):
        least = min(least, costs[g, WITHOUT + out])
    costs[g, LEAST] = least
