"""Rows released as boxes: each row lies in a box, each box spans a range in every column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.classes import Coded, class_of_each_row, pack
from shoal.errors import InputError
from shoal.generalized import Domain, RangeColumn, Spacing, spaced
from shoal.table import Array, Column


@dataclass(frozen=True, slots=True)
class Side:
    """One column of boxes: box b spans scale[low[b]] .. scale[high[b]]; the scale is sorted."""

    scale: Array
    low: Array
    high: Array


@dataclass(frozen=True)
class Boxed:
    """`box_of_row[r]` is the box of row r; two boxes may be equal, and then their rows are one class."""

    box_of_row: Array
    sides: Mapping[str, Side]

    @property
    def boxes(self) -> int:
        return len(next(iter(self.sides.values())).low)

    def class_of_each_box(self) -> tuple[Array, int]:
        """Equal boxes are one class: the class of each box, and how many classes there are."""
        codes = [Coded(end, len(side.scale)) for side in self.sides.values() for end in (side.low, side.high)]
        return class_of_each_row(pack(codes))

    def ranges(self, column: Column, domain: Domain = "range") -> RangeColumn:
        """One column as ranges of atoms, for Eq 1.

        By `range` every value between the ends counts, observed or not; by `observed` a range stands for those of the
        original column's values that lie in it.
        """
        side = self.sides[column.name]
        if domain == "observed":
            values = numbers(column)
            low = np.searchsorted(values, side.scale[side.low])
            high = np.searchsorted(values, side.scale[side.high], side="right") - 1
            atoms = len(values)
        else:
            whole = column.dtype.is_integer() or column.dtype == pl.Date
            atom = spaced(side.scale, Spacing.WHOLE if whole else Spacing.REAL, "range")
            low, high, atoms = atom[side.low], atom[side.high], int(atom[-1]) + 1
        ends, codes = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        row_codes = codes.reshape(-1)[self.box_of_row]
        nothing = np.zeros(len(row_codes), bool)
        return RangeColumn(column.name, row_codes, ends[:, 0], ends[:, 1], atoms, {}, nothing, ())

    def class_of_each_row(self) -> tuple[Array, int]:
        """The class of each row, and how many classes there are."""
        classes, count = self.class_of_each_box()
        return classes[self.box_of_row], count


def numbers(column: Column) -> Array:
    """The values of a column as numbers in value order: numbers as they are, dates as days.

    >>> from shoal.table import Table
    >>> numbers(Table.of({"age": [41, 30]})["age"]).tolist()
    [30.0, 41.0]
    """
    values = column.values
    if column.nulls:
        raise InputError(
            f"Column '{column.name}' has {column.nulls:,} missing values: they have no distance.",
            "Fill them or remove those rows first.",
        )
    if not (values.dtype.is_numeric() or values.dtype.is_temporal()):
        raise InputError(
            f"Column '{column.name}' holds text, and this method needs numbers.",
            "Replace the texts by numbers in a meaningful order first.",
        )
    return values.to_physical().cast(pl.Float64).to_numpy()


def spread(column: Column) -> float:
    """The sample standard deviation (n - 1) of a column, from its dictionary and counts.

    >>> from shoal.table import Table
    >>> spread(Table.of({"x": [1, 3]})["x"])
    1.4142135623730951
    """
    values = numbers(column)
    counts = np.bincount(column.codes, minlength=len(values))
    total = counts.sum()
    if total < 2:
        return 0.0
    mean = (counts * values).sum() / total
    return float(np.sqrt((counts * (values - mean) ** 2).sum() / (total - 1)))


def distance_to_zero(columns: Sequence[Column], spreads: Mapping[str, float] | None = None) -> Array:
    """Eq 2 from each row to the record of zeros: the root of the sum of (value / spread) squared.

    A column that does not vary contributes nothing. `spreads` are those of the original columns, if these are a part.
    """
    total = np.zeros(len(columns[0].codes))
    for column in columns:
        sigma = spread(column) if spreads is None else spreads[column.name]
        if sigma > 0:
            total += ((numbers(column) / sigma) ** 2)[column.codes]
    return np.sqrt(total, out=total)


def box_clusters(columns: Sequence[Column], order: Array, starts: Array) -> Boxed:
    """Boxes around clusters: rows in `order`, a new cluster at each of `starts`; the smallest box that holds all."""
    lengths = np.diff(starts, append=len(order))
    box_of_row = np.empty(len(order), np.int64)
    box_of_row[order] = np.repeat(np.arange(len(starts)), lengths)
    sides = {}
    for column in columns:
        codes = column.codes[order]
        low, high = np.minimum.reduceat(codes, starts), np.maximum.reduceat(codes, starts)
        sides[column.name] = Side(numbers(column), low, high)
    return Boxed(box_of_row, sides)
