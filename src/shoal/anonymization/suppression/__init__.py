"""Local suppression: as few cells as needed become `*`, so that every record reaches k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from shoal.anonymization.suppression.strict import StrictMasks, masks_for_equality
from shoal.anonymization.suppression.whole_rows import WholeRows
from shoal.anonymization.suppression.wildcard import masks_for_wildcards
from shoal.dataclasses import dataclass
from shoal.errors import InputError, check_choice
from shoal.table import Array, Column
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.vocabulary import NullRule

Reading = Literal["wildcard", "strict"]
# a mask is a 64-bit number
MOST_COLUMNS = 60


@dataclass(frozen=True)
class Suppressed:
    """Which cells are suppressed: `masks[row]` has bit c set where column c is.

    `least_cells` is what no solution can go below that changes every record that stands out.
    """

    columns: Sequence[Column]
    masks: Array
    least_cells: int

    def cells(self, place: int) -> Array:
        """The rows in which a column is suppressed."""
        return np.asarray((self.masks >> place & 1) > 0)

    @property
    def cells_by_column(self) -> dict[str, int]:
        """How many cells of each column are suppressed."""
        return {column.name: int(self.cells(place).sum()) for place, column in enumerate(self.columns)}

    @property
    def throughout(self) -> Array:
        """The rows that are suppressed in every column."""
        return np.asarray(self.masks == (1 << len(self.columns)) - 1)


def suppress(
    columns: Sequence[Column],
    k: int,
    reading: Reading = "wildcard",
    importance: Mapping[str, float] | None = None,
    subset_size: int | None = None,
    null_rule: NullRule = "value",
    people: Array | None = None,
) -> Suppressed:
    """Suppress few cells so that every record reaches k.

    `wildcard`: a suppressed cell matches anything (as sdcMicro reads NA), and every record matches k. `strict`: it is a
    value of its own, and every class of equal records has k members. The cost of a cell is the `importance` of its
    column (1 where none is given). `subset_size` protects every combination of so many columns instead of all together.
    Under the null rule `wildcard` a missing value matches anything too (in the wildcard reading), and costs nothing.
    Row r stands for `people[r]`, whom k counts; a cell is suppressed for all of them.

    >>> from shoal.reading import read
    >>> columns = read({"sex": ["f", "f", "f", "m"], "town": ["A", "A", "B", "A"]}).select(["sex", "town"])
    >>> suppress(columns, 2).cells_by_column
    {'sex': 1, 'town': 1}
    """
    check_choice("reading", reading, get_args(Reading))
    costs = _costs(columns, importance or {})
    people = np.ones(len(columns[0].codes), np.int64) if people is None else people
    _check(columns, int(people.sum()), k, reading, subset_size)
    tuple_of_row, count = class_of_each_row(pack(columns))
    first = first_row_of_each_class(tuple_of_row, count)
    sizes, counts = np.bincount(tuple_of_row, minlength=count), _sums(tuple_of_row, people, count)
    codes = [Coded(column.codes[first], column.cardinality) for column in columns]
    if reading == "strict":
        rows = WholeRows.of(tuple_of_row, count, people)
        found = masks_for_equality(codes, rows, k, costs)
        return Suppressed(columns, _masks_of_rows(found, tuple_of_row, rows), int(sizes[counts < k].sum()))
    free = np.zeros(count, np.int64)
    if null_rule == "wildcard":
        for place, column in enumerate(columns):
            free |= column.is_null()[first].astype(np.int64) << place
    masks, standing_out = masks_for_wildcards(codes, counts, k, costs, subset_size, free)
    least = int(sizes[standing_out].sum()) if subset_size is None else int(np.count_nonzero(masks[tuple_of_row]))
    return Suppressed(columns, masks[tuple_of_row], least)


def _sums(group: Array, people: Array, count: int) -> Array:
    return np.bincount(group, people, minlength=count).astype(np.int64)


def _masks_of_rows(found: StrictMasks, tuple_of_row: Array, rows: WholeRows) -> Array:
    """The masks row by row; of a large class that helps, the first rows that are not taken yet."""
    masks = found.masks[tuple_of_row]
    free = np.concatenate([[0], rows.stop[:-1]])
    for tuples, mask, some in found.helpers:
        ends = np.cumsum(some)
        places = np.arange(ends[-1]) - np.repeat(ends - some, some)
        masks[rows.order[np.repeat(free[tuples], some) + places]] = mask
        free[tuples] += some
    return masks


def _costs(columns: Sequence[Column], importance: Mapping[str, float]) -> list[float]:
    names = [column.name for column in columns]
    if unknown := [name for name in importance if name not in names]:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")
    if not all(np.isfinite(cost) and cost > 0 for cost in importance.values()):
        raise InputError("An importance is not a number above 0.", "Use 1 for most columns, 5 for an important one.")
    return [float(importance.get(name, 1.0)) for name in names]


def _check(columns: Sequence[Column], rows: int, k: int, reading: Reading, subset_size: int | None) -> None:
    if k < 2:
        raise InputError(f"k = {k} protects nobody.", "Use 2 or more.")
    if rows < k:
        raise InputError(f"{rows:,} records cannot be {k} alike.", "Use a smaller k.")
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{len(columns)} quasi-identifiers are too many.", f"Use at most {MOST_COLUMNS}.")
    if subset_size is None:
        return
    if not 1 <= subset_size <= len(columns):
        raise InputError(
            f"There are no combinations of {subset_size} out of {len(columns)} columns.", "Use 2 or 3, for example."
        )
    if reading == "strict":
        raise InputError(
            "Combinations of columns (`subset_size`) are protected in the wildcard reading only.",
            "Leave out `subset_size`, or the reading strict.",
        )
