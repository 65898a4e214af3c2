"""What the change cost: information loss and its kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.kernels.rows import squares_of_rows
from shoal.ranges.boxed import (
    ALL_MISSING,
    SOME_MISSING,
    Boxed,
    Sets,
    Side,
    exponent_of,
    has_order,
    in_unit,
    middles,
    numbers,
    places,
    places_and_spread,
    spread,
)
from shoal.ranges.forms import Nodes
from shoal.storage import Array, Column
from shoal.storage.rows import occurrences

_BLOCK = 1 << 16


class InformationLoss(NamedTuple):
    """Eqs 3-4 in total and by column."""

    total: float
    by_column: dict[str, float]


def information_loss(columns: Sequence[Column], boxed: Boxed, weights: Array | None = None) -> InformationLoss:
    """Sánchez et al., Eqs 3-4: the distance of each record to the farthest corner of its box.

    loss = sum over records of the root of the sum over columns of (max(high - a, a - low) / spread) squared, / (n m)

    By column: the mean of max(high - a, a - low) / spread. Categories lie by their order; a missing value that is
    released as `*` loses the whole range. With `weights` n is their sum, and each record counts as often as it weighs;
    spreads are those of the rows.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34]}).select(["age"])
    >>> round(information_loss(columns, sorted_clusters(columns, 2)).total, 6)
    1.414214
    """
    rows, total, by_column = len(columns[0].codes), 0.0, {column.name: 0.0 for column in columns}
    moving = [found for column in columns if (found := _Farthest.of(column, boxed)) is not None]
    # block by block, so that rows on disk give the same sums to the last digit
    for start in range(0, rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, rows))
        weight = 1.0 if weights is None else weights[block]
        squares = np.zeros(block.stop - start)
        for corner in moving:
            farthest = corner.of_rows(block)
            farthest /= corner.spread
            by_column[corner.column.name] += float((farthest * weight).sum())
            farthest *= farthest
            squares += farthest
        total += float((np.sqrt(squares) * weight).sum())
    records = rows if weights is None else weights.sum()
    return InformationLoss(
        total / (records * len(columns)), {name: float(lost / records) for name, lost in by_column.items()}
    )


def total_information_loss(
    columns: Sequence[Column], boxed: Boxed, spreads: Mapping[str, float] | None = None
) -> float:
    """The same of all columns together, where nothing else is asked for: many rows straight from their boxes.

    `spreads` are those of the columns, where they are known.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34]}).select(["age"])
    >>> round(total_information_loss(columns, sorted_clusters(columns, 2)), 6)
    1.414214
    """
    found = total_of_many(columns, boxed, spreads)
    return information_loss(columns, boxed).total if found is None else found


class _Farthest(NamedTuple):
    """How far each value of a column is from the farther end of its row's range; nan among the values is a null."""

    column: Column
    values: Array
    range_of_row: Array
    low: Array
    high: Array
    whole: Array | None
    spread: float

    @classmethod
    def of(cls, column: Column, boxed: Boxed) -> _Farthest | None:
        """In the unit of the column; none of a column that does not vary."""
        values, sigma, exponent = places_and_spread(column)
        if sigma == 0:
            return None
        ranges = boxed.along(column.name)
        side, whole = ranges.sides[column.name], None
        if side.missing is not None:
            whole = np.where(side.missing == SOME_MISSING, values[-1] - values[0], 0.0)
            values = np.append(values, np.nan)
        low, high = (in_unit(side.scale[end], exponent) for end in (side.low, side.high))
        return cls(column, values, ranges.box_of_row, low, high, whole, sigma)

    def of_rows(self, rows: slice) -> Array:
        ranges = self.range_of_row[rows].astype(np.intp, copy=False)
        found, above, below = (
            np.take(values, places, mode="clip")
            for values, places in ((self.values, self.column.codes[rows]), (self.high, ranges), (self.low, ranges))
        )
        np.subtract(found, below, out=below)
        above -= found
        farthest = np.maximum(above, below, out=above)
        return farthest if self.whole is None else np.where(np.isnan(found), self.whole[ranges], farthest)


@dataclass(frozen=True)
class Change:
    """How the middles of the boxes differ from the original values, column by column and between columns.

    `means` are in units of the spread, `spreads` relative; `correlations` is the largest change of a correlation of two
    columns, and `correlation_of_correlations` how alike both matrices are (Sánchez et al., Tables S4 and S5). None
    where a column does not vary.
    """

    means: dict[str, float | None]
    spreads: dict[str, float | None]
    correlations: float | None
    correlation_of_correlations: float | None


def change_of(
    columns: Sequence[Column], boxed: Boxed, means: bool = False, weights: Array | None = None
) -> Change | None:
    """Compare the original with the middle of each box, or with the mean of its records.

    Only columns of numbers and dates without missing values are compared. `weights`: the records of each row.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 55]}).select(["age"])
    >>> change_of(columns, sorted_clusters(columns, 2)).means
    {'age': 0.0}
    """
    found = moments_of_boxes(columns, boxed, means, weights)
    return None if found is None else change_between(*found)


def moments_of_boxes(
    columns: Sequence[Column], boxed: Boxed, means: bool = False, weights: Array | None = None
) -> tuple[list[str], Moments, Moments] | None:
    """The columns that are compared, and their moments before and after."""
    columns = [column for column in columns if has_order(column) and not column.nulls]
    if not columns:
        return None
    values = [numbers(column) for column in columns]
    # changes are in units of the spread, so that each column may have a unit of its own
    units = [exponent_of(value) for value in values]
    values = [in_unit(value, unit) for value, unit in zip(values, units, strict=True)]
    if means:
        sizes, ones = np.bincount(boxed.box_of_row, weights), 1 if weights is None else weights
        shown = [
            (boxed.box_of_row, np.bincount(boxed.box_of_row, v[c.codes] * ones) / sizes)
            for c, v in zip(columns, values, strict=True)
        ]
    else:
        shown = [_middles(boxed.along(c.name), c.name, unit) for c, unit in zip(columns, units, strict=True)]
    before = moments([(column.codes, value) for column, value in zip(columns, values, strict=True)], weights)
    return [column.name for column in columns], before, moments(shown, weights)


def change_between(names: Sequence[str], before: Moments, after: Moments) -> Change:
    """The change from some moments to others."""
    spreads = [(float(old), float(new)) for old, new in zip(before.spread, after.spread, strict=True)]
    moved = (after.mean - before.mean).tolist()
    return Change(
        {name: shift / old if old else None for name, shift, (old, _) in zip(names, moved, spreads, strict=True)},
        {name: new / old - 1 if old else None for name, (old, new) in zip(names, spreads, strict=True)},
        *compared(before.correlations(), after.correlations()),
    )


def _middles(boxed: Boxed, name: str, exponent: int) -> tuple[Array, Array]:
    """The ranges of one column: which of them each row has, in their order, and the middle of each, in a unit."""
    side = boxed.sides[name]
    which, first = side.distinct()
    found = middles(in_unit(side.scale, exponent), side.low[first], side.high[first])
    same = len(first) == len(which) and bool((which == np.arange(len(which))).all())
    return boxed.box_of_row if same else which[boxed.box_of_row], found


class Moments(NamedTuple):
    """Means and covariances of columns."""

    mean: Array
    covariance: Array

    @property
    def spread(self) -> Array:
        return np.asarray(np.sqrt(np.clip(np.diag(self.covariance), 0, None)))

    @classmethod
    def pooled(cls, parts: Sequence[Moments], records: Array) -> Moments:
        """Those of several parts of a table together, from the records of each.

        >>> one, two = (moments([(np.array([0, 1]), np.array(values))]) for values in ([1.0, 3.0], [5.0, 7.0]))
        >>> Moments.pooled([one, two], np.array([2, 2])).covariance.tolist()
        [[5.0]]
        """
        shares = records / records.sum()
        mean = np.asarray(sum(share * part.mean for share, part in zip(shares, parts, strict=True)))
        apart = [part.covariance + np.outer(part.mean - mean, part.mean - mean) for part in parts]
        return cls(mean, np.asarray(sum(share * one for share, one in zip(shares, apart, strict=True))))

    def matrix(self) -> Array:
        """The correlation of every column with every other; 0 where one does not vary."""
        spread = np.where(self.spread > 0, self.spread, 1.0)
        return np.asarray(self.covariance / np.outer(spread, spread))

    def correlations(self) -> Array:
        """Of every pair of columns."""
        matrix = self.matrix()
        return np.asarray(matrix[np.tril_indices(len(matrix), -1)])


def moments(columns: Sequence[tuple[Array, Array]], weights: Array | None = None) -> Moments:
    """Means and covariances of columns given as codes and values, block by block; each row counts as it weighs.

    >>> moments([(np.array([0, 1]), np.array([1.0, 3.0])), (np.array([0, 1]), np.array([2.0, 6.0]))]).mean.tolist()
    [2.0, 4.0]
    """
    rows = len(columns[0][0])
    records = rows if weights is None else int(weights.sum())
    mean = np.array(
        [float((_records(codes, len(values), weights) * values).sum()) / records for codes, values in columns]
    )
    product = np.zeros((len(columns), len(columns)))
    apart = [values - middle for (_, values), middle in zip(columns, mean.tolist(), strict=True)]
    kept = np.empty((len(columns), min(_BLOCK, rows)))
    for start in range(0, rows, _BLOCK):
        here = slice(start, min(start + _BLOCK, rows))
        block = kept[:, : here.stop - start]
        for row, (codes, _), values in zip(block, columns, apart, strict=True):
            np.take(values, codes[here], out=row, mode="clip")
        if weights is None:
            product += block @ block.T
        else:
            of_rows = np.ascontiguousarray(block.T)
            product += of_rows.T @ (of_rows * weights[here, None])
    return Moments(mean, product / records)


def _records(codes: Array, values: int, weights: Array | None) -> Array:
    return occurrences(codes, values) if weights is None else np.bincount(codes, weights, values)


def compared(old: Array, new: Array) -> tuple[float | None, float | None]:
    """The largest difference of two lists of correlations, and how alike they are."""
    if not len(old):
        return None, None
    alike = float(np.corrcoef(old, new)[0, 1]) if len(old) > 1 and old.std() and new.std() else None
    return float(np.abs(old - new).max()), alike


def loss_of_boxes(
    columns: Sequence[Column], boxed: Boxed, leaves: Mapping[str, Array] | None = None, weights: Array | None = None
) -> float:
    """The share of a column's values that a released cell stands for: per column x = (mean share - 1/h) / (1 - 1/h).

    h is the number of the column's values, a missing one among them; of a column that is released as nodes of a tree,
    the number of the tree's leaves (ARX's measure), and likewise where the `leaves` of a tree over numbers are given.
    The loss is the product of (1 + x), root, minus 1. `weights` are the people that each row stands for.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 51]}).select(["age"])
    >>> round(loss_of_boxes(columns, sorted_clusters(columns, 2)), 4)
    0.25
    """
    return loss_of_shares(*values_held(columns, boxed, leaves, weights))


def values_held(
    columns: Sequence[Column], boxed: Boxed, leaves: Mapping[str, Array] | None = None, weights: Array | None = None
) -> tuple[list[int], list[float]]:
    """How many values each column has, and how many of them a cell stands for on average."""
    counts, held, boxes, records = [], [], None, np.zeros(0)
    for column in columns:
        along = boxed.along(column.name)
        if along is not boxes:
            boxes, records = along, along.records(weights)
        values, count = _values(column, along.sides[column.name], (leaves or {}).get(column.name))
        counts.append(count)
        held.append(float((values * records).sum() / records.sum()))
    return counts, held


def loss_of_shares(values: Sequence[int], held: Sequence[float]) -> float:
    """The loss, from how many values each column has and how many of them a cell stands for on average.

    >>> loss_of_shares([3, 1], [2.0, 1.0])
    0.22474487139158894
    """
    parts = [(mean - 1) / (count - 1) if count > 1 else 0.0 for count, mean in zip(values, held, strict=True)]
    return float(np.prod(np.maximum(parts, 0.0) + 1) ** (1 / len(parts)) - 1)


def _values(column: Column, side: Side, leaves: Array | None) -> tuple[Array, int]:
    """How many values each box stands for, and of how many; `*` stands for all, a missing value for itself."""
    if not len(side.scale):  # nothing but missing values
        return np.ones(len(side.low)), column.cardinality
    count = column.cardinality
    if isinstance(side, Nodes):
        held, count = side.leaves[side.set_of_box], side.total
    elif isinstance(side, Sets):
        held = np.diff(side.starts)[side.set_of_box]
    else:
        scale = places(column) if leaves is None else leaves
        count += len(scale) - len(column.values)
        held = np.searchsorted(scale, side.scale[side.high], side="right") - np.searchsorted(
            scale, side.scale[side.low]
        )
    if side.missing is None:
        return np.asarray(held), count
    return np.where(side.starred, count, np.where(side.missing == ALL_MISSING, 1, held)), count


# The papers' information loss of many rows, straight from their boxes: the ends of a box lie side by side.


# rows whose roots are summed up together, as everywhere
BLOCK = 1 << 16
# boxes whose ends are laid side by side together
_BOXES = 1 << 13
# rows from which on this is quicker than going column by column
_MANY = 1 << 18
_NARROW = np.uint16


def total_of_many(columns: Sequence[Column], boxed: Boxed, spreads: Mapping[str, float] | None = None) -> float | None:
    """Eqs 3-4 of all columns together, to the last digit as `information_loss` has it; None where that has to do it:
    few rows, missing values, or long scales. `spreads` are those of the columns."""
    rows = len(columns[0].codes)
    sides = [boxed.sides[column.name] for column in columns]
    longest = max(max(len(side.scale), len(column.values)) for side, column in zip(sides, columns, strict=True))
    if rows < _MANY or longest > np.iinfo(_NARROW).max or any(side.missing is not None for side in sides):
        return None
    if any(column.nulls or exponent_of(places(column)) for column in columns):
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
