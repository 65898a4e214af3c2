"""`coarsen`: Sánchez et al., Algorithm S3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from shoal.errors import InputError, Message
from shoal.methods.base import IN_PARTS, can_be_parted, needs_numbers
from shoal.methods.boxes import BoxesOnDisk, MakeBoxes
from shoal.methods.results import Anonymized
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, BoxedByColumn, Side, numbers
from shoal.ranges.columns import LARGEST_EXACT
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.encode import look_up
from shoal.storage.spill import Spill

CutOver = Literal["range", "labels"]


def intervals(values: Array, resolution: int, cut_over: CutOver = "range") -> tuple[Array, Array]:
    """The ends of the intervals: of N ordered labels, interval i holds floor((i-1) N / r) .. floor(i N / r) - 1.

    Labels are every integer from smallest to largest (`range`) or the values that occur (`labels`). Empty intervals are
    left out.

    >>> low, high = intervals(np.arange(86), 4)
    >>> low.tolist(), high.tolist()
    ([0, 21, 43, 64], [20, 42, 63, 85])
    """
    if resolution < 1:
        raise InputError(f"A resolution of {resolution} leaves nothing.", "Use 1 or more.")
    if cut_over == "range":
        first, last = _whole(values[0]), _whole(values[-1])
        cuts = _cuts(last - first + 1, resolution)
        cuts = cuts.astype(object) if values.dtype == object else cuts
        return first + cuts[:-1], first + cuts[1:] - 1
    cuts = _cuts(len(values), resolution)
    return values[cuts[:-1]], values[cuts[1:] - 1]


def _whole(value: float) -> int:
    if value != int(value):
        raise InputError(
            "Every integer from smallest to largest: a column with fractions has none.",
            Message("Set {cut_over='labels'}."),
        )
    return int(value)


def _cuts(count: int, resolution: int) -> Array:
    """Where intervals start, and the end; exact integers, empty intervals dropped."""
    if resolution >= count:  # every label is an interval of its own
        return np.arange(count + 1)
    found = [i * count // resolution for i in range(resolution + 1)]
    return np.array(found, object if count >= LARGEST_EXACT else np.int64)


def coarsen(columns: Sequence[Column], resolution: int | Mapping[str, int], cut_over: CutOver = "range") -> Boxed:
    """Algorithm S3: every value becomes the interval that holds it."""
    by_column = coarsen_by_column(columns, resolution, cut_over).by_column
    box_of_row, count = class_of_each_row(pack([Coded(one.box_of_row, one.boxes) for one in by_column.values()]))
    first = first_row_of_each_class(box_of_row, count)
    return Boxed(box_of_row, {name: one.sides[name].picked(one.box_of_row[first]) for name, one in by_column.items()})


def coarsen_by_column(
    columns: Sequence[Column], resolution: int | Mapping[str, int], cut_over: CutOver = "range"
) -> BoxedByColumn:
    """The same column by column, also for rows on disk: nobody numbers the boxes."""
    wanted = {one.name: resolution if isinstance(resolution, int) else resolution.get(one.name) for one in columns}
    return BoxedByColumn.of({column.name: _along(column, wanted[column.name], cut_over) for column in columns})


def _along(column: Column, wanted: int | None, cut_over: CutOver) -> Boxed:
    """The intervals of one column, from its dictionary, and which of them each row has."""
    values = _exact(column)
    low, high = (values, values) if wanted is None else intervals(values, wanted, cut_over)
    held, which = np.unique(np.searchsorted(low, values, side="right") - 1, return_inverse=True)
    of_row = look_up(column.codes, which.astype(smallest_unsigned(len(held))), 0)
    return Boxed(of_row, {column.name: _side(column, low, high, held)})


def _exact(column: Column) -> Array:
    """The values of a column; integers past 2^53 as integers, which floats would round."""
    values = numbers(column)
    if not column.dtype.is_integer() or max(-values[0], values[-1], 0) < LARGEST_EXACT:
        return values
    return np.array(column.values.to_list(), object)


def _side(column: Column, low: Array, high: Array, which: Array) -> Side:
    scale = np.unique(np.concatenate([low, high]))
    ends = np.searchsorted(scale, low)[which], np.searchsorted(scale, high)[which]
    exact = pl.Series(scale.tolist(), dtype=pl.Int128).cast(column.dtype) if scale.dtype == object else None
    return Side(scale.astype(np.float64), *ends, None, exact)


class Coarsen(BoxesOnDisk):
    """Every quasi-identifier cut into the same number of intervals.

    >>> Coarsen(resolution=16).resolution
    16
    """

    name: ClassVar[str] = "coarsen"
    does: ClassVar[str] = "each quasi-identifier cut into the same number of intervals, whatever k comes out"
    source: ClassVar[str] = "Sánchez et al., Algorithm S3"

    resolution: int | None = Field(default=None, ge=1, description="Into how many intervals; it must be given.")
    cut_over: CutOver = Field(default="range", description="Cut the whole range, or the values (labels) that occur.")

    def lacks(self) -> str | None:
        """A resolution."""
        return Message("needs a resolution: set `{resolution}` to 16, for example") if self.resolution is None else None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates."""
        return self.lacks() or needs_numbers(table, policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """Equal records lie in the same intervals."""
        return 0

    def by_part(self, policy: Policy) -> int | None:
        """Rows of large tables one part after the other, where k-anonymity is all that is asked for."""
        return IN_PARTS if self.interval in ("bracket", "dash") and can_be_parted(policy) else None

    def change_in_parts(self, table: Table, policy: Policy) -> Anonymized:
        """The intervals follow from the values of a column in the whole table, whatever part a row is in."""
        from shoal.methods.in_parts import Labelled, changed_in_parts, side_as_it_is
        from shoal.methods.partition.in_parts import PART, Dealt

        count = -(-table.rows // PART)
        how = Labelled(self._group, self.interval, side_as_it_is)
        return changed_in_parts(
            self.name, table, policy, how, (Dealt(0, count), count, False), self.parameters_of(policy)
        )

    def _group(self, number: int, columns: Sequence[Column]) -> tuple[Boxed, None]:
        return coarsen(columns, self.resolution or 1, self.cut_over), None

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """Intervals of every column."""
        return lambda columns: coarsen(columns, self.resolution or 1, self.cut_over), self.parameters_of(policy)

    def parameters_of(self, policy: Policy) -> dict[str, Any]:
        """Resolution, and what is cut."""
        return {"resolution": self.resolution, "cut_over": self.cut_over}

    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """The interval of each value, looked up for every row."""
        return coarsen_by_column(table.select(policy.quasi_identifiers), self.resolution or 1, self.cut_over)
