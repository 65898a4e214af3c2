"""The papers' information loss of many rows, straight from their boxes: the ends of a box lie side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.compiled import at_hand, compiled
from shoal.ranges.boxed import Boxed, places, spread
from shoal.ranges.exponents import exponent_of
from shoal.table import Array, Column

# rows whose roots are summed up together, as everywhere
BLOCK = 1 << 16
# boxes whose ends are laid side by side together
_BOXES = 1 << 13
# rows from which on this is quicker than going column by column
_MANY = 1 << 18
_NARROW = np.uint16
# rows whose boxes stay in the cache while one column after the other is looked at
_NEAR = 1 << 11


@compiled
def squares_of_rows(
    boxes: Array, codes: Array, ends: Array, scales: Array, values: Array, starts: Array, spreads: Array, squares: Array
) -> None:
    """The squared distance of each row to the farthest corner of its box, in spreads.

    `ends[box]` are the low and the high end of each column, `starts[column]` where its scale and its values begin.
    """
    squares[:] = 0.0
    for first in range(0, len(squares), _NEAR):
        last = min(first + _NEAR, len(squares))
        for column in range(len(spreads)):
            scale, own, unit = scales[starts[column, 0] :], values[starts[column, 1] :], spreads[column]
            for row in range(first, last):
                value = own[codes[column, row]]
                below = value - scale[ends[boxes[row], 2 * column]]
                above = scale[ends[boxes[row], 2 * column + 1]] - value
                farthest = (above if above > below else below) / unit
                squares[row] += farthest * farthest


def total_of_many(columns: Sequence[Column], boxed: Boxed, spreads: Mapping[str, float] | None = None) -> float | None:
    """Eqs 3-4 of all columns together, to the last digit as `information_loss` has it; None where that has to do it:
    few rows, missing values, long scales, or a loop that is not at hand. `spreads` are those of the columns."""
    rows = len(columns[0].codes)
    sides = [boxed.sides[column.name] for column in columns]
    longest = max(max(len(side.scale), len(column.values)) for side, column in zip(sides, columns, strict=True))
    if rows < _MANY or longest > np.iinfo(_NARROW).max or any(side.missing is not None for side in sides):
        return None
    if any(column.nulls or exponent_of(places(column)) for column in columns) or not at_hand(squares_of_rows):
        return None
    spreads = {column.name: spread(column) for column in columns} if spreads is None else spreads
    moving = [column for column in columns if spreads[column.name] > 0]
    total = _sum_of_roots(moving, boxed, np.array([spreads[column.name] for column in moving]))
    return total / (rows * len(columns))


def _sum_of_roots(columns: Sequence[Column], boxed: Boxed, spreads: Array) -> float:
    sides = [boxed.sides[column.name] for column in columns]
    if not sides:
        return 0.0
    scales, values = [side.scale.astype(float) for side in sides], [places(column) for column in columns]
    starts = np.array([np.cumsum([0, *map(len, parts[:-1])]) for parts in (scales, values)]).T.copy()
    looked_up = _side_by_side(boxed, columns), np.concatenate(scales), np.concatenate(values), starts, spreads
    codes, boxes, squares = np.empty((len(columns), BLOCK), _NARROW), np.empty(BLOCK, np.uint32), np.empty(BLOCK)
    total, rows = 0.0, len(boxed.box_of_row)
    for start in range(0, rows, BLOCK):
        here = slice(start, min(start + BLOCK, rows))
        count = here.stop - start
        boxes[:count] = boxed.box_of_row[here]
        for of_block, column in zip(codes, columns, strict=True):
            of_block[:count] = column.codes[here]
        squares_of_rows(boxes, codes, *looked_up, squares[:count])
        total += float(np.sqrt(squares[:count]).sum())
    return total


def _side_by_side(boxed: Boxed, columns: Sequence[Column]) -> Array:
    """The ends of every box: low and high of the first column, of the second, and so on."""
    found = np.empty((boxed.boxes, 2 * len(columns)), _NARROW)
    sides = [boxed.sides[column.name] for column in columns]
    for start in range(0, len(found), _BOXES):
        here = slice(start, start + _BOXES)
        for place, side in enumerate(sides):
            found[here, 2 * place], found[here, 2 * place + 1] = side.low[here], side.high[here]
    return found


def rehearse() -> None:
    """Run the loop, so that it is compiled."""
    codes, ends = np.zeros((1, 1), _NARROW), np.zeros((1, 2), _NARROW)
    one, none = np.ones(1), np.zeros(1, np.uint32)
    squares_of_rows(none, codes, ends, one, one.copy(), np.zeros((1, 2), np.int64), one.copy(), np.empty(1))
