"""What `lanes.h` does, in Python: eight or sixteen numbers of single precision at once, added in the same order.

Arrays are given whole, as C has them; numbers say which leaf, block or row is meant. Modules that are not compiled run
this instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Number = Any

# where a record is that has left, and what is farther than any other
_AWAY, _GONE = np.float32(1e18), np.float32(1e17)


def _larger(one: Array, two: Array) -> Array:
    """As processors tell it: of two that are equal or not comparable, the second."""
    return np.where(one > two, one, two)


def _smaller(one: Array, two: Array) -> Array:
    return np.where(one < two, one, two)


def _of_halves(numbers: Array, of_two: Any) -> Array:
    """The sum, the largest or the smallest of what lies along the last axis: of the halves, again and again."""
    while numbers.shape[-1] > 1:
        half = numbers.shape[-1] // 2
        numbers = of_two(numbers[..., :half], numbers[..., half:])
    return numbers[..., 0]


def _bits(lanes: Array) -> int:
    return int((lanes.astype(np.int64) << np.arange(len(lanes))).sum())


def lowest_bit(bits: Number) -> int:
    """The place of the lowest bit that is set."""
    return int(bits & -bits).bit_length() - 1


# sixteen records of a leaf, or children of a node


def within(leaves: Array, leaf: Number, row: Array, columns: Number, bound: Number, lanes: Array) -> int:
    """The squared distances of a point to the records of a leaf; a bit for each that is within the bound."""
    lanes[:] = 0
    for j, own in enumerate(leaves.reshape(-1, columns, 16)[leaf]):
        lanes += (own - row[j]) ** 2
    return _bits(lanes <= bound)


def boxes_within(
    low: Array, high: Array, node: Number, row: Array, columns: Number, bound: Number, lanes: Array
) -> int:
    """The same for the boxes of a node's children: rounded, they are no farther than what they hold."""
    lows, highs = (ends.reshape(-1, columns, 16)[node] for ends in (low, high))
    lanes[:] = 0
    for j in range(columns):
        lanes += _larger(_larger(lows[j] - row[j], row[j] - highs[j]), np.float32(0)) ** 2
    return _bits(lanes <= bound)


def tighten(
    lows: Array, highs: Array, of: Number, low: Array, high: Array, node: Number, lane: Number, columns: Number
) -> bool:
    """Keep the box of what lies in the lanes of a leaf or a node, at the lane of its parent; whether it changed."""
    inside = highs.reshape(-1, columns, 16)[of]
    bottom = _of_halves(lows.reshape(-1, columns, 16)[of], _smaller)
    top = _of_halves(np.where(inside > _GONE, -_AWAY, inside), _larger)
    to_low, to_high = (ends.reshape(-1, columns, 16)[node, :, lane] for ends in (low, high))
    changed = bool((bottom != to_low).any() or (top != to_high).any())
    to_low[:], to_high[:] = bottom, top
    return changed


def widths(records: Array, block: Number, ends: Array, columns: Number, wide: Array) -> None:
    """The squared diagonals of a box, were it to hold each of sixteen records too."""
    low, high = ends.reshape(2, columns)
    wide[:] = 0
    for j, own in enumerate(records.reshape(-1, columns, 16)[block]):
        wide += (_larger(own, high[j]) - _smaller(own, low[j])) ** 2


def narrowest(records: Array, columns: Number, count: Number, low: Array, high: Array, row: Number) -> int:
    """Of so many records, in blocks of eight, the first of those with which the diagonal of a box is shortest."""
    wide = np.zeros(8 * len(records), np.float32)
    for j in range(columns):
        own = records[:, j].reshape(-1)
        wide += (_larger(own, high[row, j]) - _smaller(own, low[row, j])) ** 2
    return int(np.argmin(wide[:count]))


# a record, and a box: rows of low and high ends, and of what follows these where the member at the end is out


def _without(xs: Array, out: Number, ends: Array, row: Number) -> tuple[Array, Array]:
    """A box without one of its members: where that was at the end, the next takes its place."""
    low, high, next_low, next_high = ends[row : row + 4]
    return np.where(xs[out] > low, low, next_low), np.where(xs[out] < high, high, next_high)


def _squares(x: Array, low: Array, high: Array) -> Array:
    """The squared distances to the farther of two ends, column by column."""
    return _larger(_larger(high - x, x - low), np.float32(0)) ** 2


def _far(squares: Array) -> Number:
    total = np.zeros(8, np.float32)
    for eight in squares.reshape(-1, 8):
        total += eight
    return np.sqrt(_of_halves(total, np.add))


def far_from(xs: Array, width: Number, i: Number, ends: Array, row: Number) -> Number:
    """The distance of a record to the farthest corner of a box."""
    low, high = ends.reshape(-1, width)[row : row + 2]
    return _far(_squares(xs[i], low, high))


def far_from_without(xs: Array, width: Number, i: Number, out: Number, ends: Array, row: Number) -> Number:
    """The same, to a group's box without one of its members."""
    return _far(_squares(xs[i], *_without(xs, out, ends.reshape(-1, width), row)))


def widened(xs: Array, width: Number, i: Number, ends: Array, row: Number, to: Number) -> None:
    """A box with one more record."""
    ends = ends.reshape(-1, width)
    ends[to], ends[to + 1] = _smaller(xs[i], ends[row]), _larger(xs[i], ends[row + 1])


def exchanged(xs: Array, width: Number, out: Number, i: Number, ends: Array, row: Number, to: Number) -> None:
    """A box with a record in the place of one of its members."""
    ends = ends.reshape(-1, width)
    low, high = _without(xs, out, ends, row)
    ends[to], ends[to + 1] = _smaller(xs[i], low), _larger(xs[i], high)


def hold(xs: Array, width: Number, i: Number, ends: Array, row: Number) -> None:
    """Let the ends of a box hold one more record."""
    x, (low, high, next_low, next_high) = xs[i], ends.reshape(-1, width)[row : row + 4].copy()
    ends.reshape(-1, width)[row : row + 4] = (
        _smaller(x, low),
        _larger(x, high),
        _smaller(_larger(x, low), next_low),
        _larger(_smaller(x, high), next_high),
    )


# eight members of a group


def _far_of_eight(squares: Array) -> Array:
    """Distances from squared ones, column by column; even and odd columns are added for themselves."""
    total = np.zeros((2, 8), np.float32)
    for j, own in enumerate(squares):
        total[j % 2] += own
    return np.sqrt(total[0] + total[1])


def _far_of_members(laid: Array, columns: Number, block: Number, ends: Array, width: Number, row: Number) -> Array:
    low, high = ends.reshape(-1, width)[row : row + 2, :columns, None]
    return _far_of_eight(_squares(laid.reshape(-1, columns, 8)[block], low, high))


def nearer(laid: Array, columns: Number, block: Number, ends: Array, width: Number, row: Number, bound: Number) -> int:
    """Which of eight members are nearer to the farthest corner of a box than a bound; as bits."""
    return _bits(_far_of_members(laid, columns, block, ends, width, row) < bound)


def sum_of_far(
    laid: Array, columns: Number, block: Number, ends: Array, width: Number, row: Number, counted: Number
) -> Number:
    """The distances of those of eight members that have a bit to the farthest corner of a box, in sum."""
    distances = _far_of_members(laid, columns, block, ends, width, row)
    return _of_halves(np.where(counted >> np.arange(8) & 1, distances, np.float32(0)), np.add)


def keep_least_far(
    laid: Array, columns: Number, block: Number, ends: Array, width: Number, row: Number, least: Array, at: Number
) -> None:
    """Keep the distances of eight members to the farthest corner of a box where they are less than what is there."""
    distances = _far_of_members(laid, columns, block, ends, width, row)
    least[at : at + 8] = _smaller(distances, least[at : at + 8])


def far_with_one_out(
    laid: Array, columns: Number, block: Number, xs: Array, width: Number, i: Number, ends: Array, row: Number,
    costs: Array, at: Number, limit: Number, found: Array, to: Number,
) -> int:  # fmt: skip
    """How far a record is from a group's box without each of eight members; the bits of those with which it may stay.

    What the group costs without the member, and the record that far away, is then less than a limit.
    """
    members = laid.reshape(-1, columns, 8)[block]
    low, high, next_low, next_high = ends.reshape(-1, width)[row : row + 4, :columns, None]
    low, high = np.where(members > low, low, next_low), np.where(members < high, high, next_high)
    found[to : to + 8] = _far_of_eight(_squares(xs[i, :columns, None], low, high))
    return _bits(costs.reshape(-1)[at : at + 8] + found[to : to + 8] < limit)
