"""What the change cost: information loss and its kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.dataclasses import dataclass
from shoal.ranges.boxed import SOME_MISSING, Boxed, has_order, numbers, places_and_spread
from shoal.ranges.exponents import exponent_of, in_unit, middles
from shoal.table import Array, Column
from shoal.table.rows import occurrences

_BLOCK = 1 << 16


@dataclass(frozen=True)
class InformationLoss:
    """Eqs 3-4 in total and by column."""

    total: float
    by_column: dict[str, float]


def information_loss(columns: Sequence[Column], boxed: Boxed, weights: Array | None = None) -> InformationLoss:
    """Sánchez et al., Eqs 3-4: the distance of each record to the farthest corner of its box.

    loss = sum over records of the root of the sum over columns of (max(high - a, a - low) / spread) squared, / (n m)

    By column: the mean of max(high - a, a - low) / spread. Categories lie by their order; a missing value that is
    released as `*` loses the whole range. With `weights` n is their sum, and each record counts as often as it weighs;
    spreads are those of the rows.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
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

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34]}).select(["age"])
    >>> round(total_information_loss(columns, sorted_clusters(columns, 2)), 6)
    1.414214
    """
    from shoal.utility.farthest import total_of_many

    found = total_of_many(columns, boxed, spreads)
    return information_loss(columns, boxed).total if found is None else found


@dataclass(frozen=True)
class _Farthest:
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

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 55]}).select(["age"])
    >>> change_of(columns, sorted_clusters(columns, 2)).means
    {'age': 0.0}
    """
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
    after = moments(shown, weights)
    names = [column.name for column in columns]
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


@dataclass(frozen=True)
class Moments:
    """Means and covariances of columns."""

    mean: Array
    covariance: Array

    @property
    def spread(self) -> Array:
        return np.asarray(np.sqrt(np.clip(np.diag(self.covariance), 0, None)))

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
