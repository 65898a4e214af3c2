"""Boxes and released columns of rows on disk: every column has its ranges, and on disk which of them each row has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import Form, ReleasedColumns, released_columns, spread_over
from shoal.ranges.forms import ColumnForm
from shoal.storage import Array, Column
from shoal.storage.column_type import type_word
from shoal.storage.spill import blocks_of


@dataclass(frozen=True)
class BoxedByColumn(Boxed):
    """Boxes by their sides alone: the ranges of each column in their order, and which of them each row has.

    Nobody numbers the boxes: rows are in one box where they have the same ranges.
    """

    by_column: Mapping[str, Boxed]

    @classmethod
    def of(cls, by_column: Mapping[str, Boxed]) -> BoxedByColumn:
        """From the boxes along each column."""
        sides = {name: boxed.sides[name] for name, boxed in by_column.items()}
        return cls(np.zeros(0, np.int64), sides, by_column)

    def along(self, name: str) -> Boxed:
        """The ranges of one column."""
        return self.by_column[name]

    def modified_rows(self) -> int:
        """How many rows have a range of more than one value."""
        wide = [(boxed.box_of_row, boxed.sides[name].wide) for name, boxed in self.by_column.items()]
        found = 0
        for block in blocks_of(len(wide[0][0])):
            changed = np.zeros(block.stop - block.start, bool)
            for codes, is_wide in wide:
                changed |= is_wide[codes[block]]
            found += int(np.count_nonzero(changed))
        return found


@dataclass(frozen=True)
class ReleasedOnDisk(ReleasedColumns):
    """What one quasi-identifier became where rows are on disk: in codes alone."""

    @property
    def suppressed(self) -> Array:
        """No row is brought into memory to look at it."""
        raise NotImplementedError("rows on disk are looked at block by block")


def unchanged_on_disk(column: Column) -> ReleasedOnDisk:
    """A quasi-identifier in which nothing was changed."""
    form = ColumnForm(kind="as-it-was", type=type_word(column.dtype))
    series = [pl.Series(column.name, [], dtype=column.dtype)]
    return ReleasedOnDisk(series, "unchanged", np.zeros(0, bool), form, None, column, (column,))


def released_on_disk(column: Column, boxed: Boxed, form: Form) -> ReleasedOnDisk:
    """One quasi-identifier as it is written, from the ranges of its column: each range is written once.

    >>> from shoal.ranges.boxed import Side
    >>> from shoal.storage.reading import read
    >>> ages, scale = read({"age": [30, 34, 51]})["age"], np.array([30.0, 34, 51])
    >>> boxes = {"age": Side(scale, np.array([0, 2]), np.array([1, 2]))}
    >>> released_on_disk(ages, Boxed(np.array([0, 0, 1]), boxes), "bracket").encoded[0].decode().to_list()
    ['[30;34]', '[30;34]', '51']
    """
    side = boxed.sides[column.name]
    if not side.wide.any():
        return unchanged_on_disk(column)
    made = released_columns(column, Boxed(np.arange(len(side.low)), boxed.sides), form)
    held = [spread_over(ranges, boxed.box_of_row) for ranges in made.held]
    series = [entry.clear() for entry in made.series]
    return ReleasedOnDisk(series, made.nature, np.zeros(0, bool), made.form, None, None, tuple(held))
