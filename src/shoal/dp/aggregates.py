"""The exact whole numbers before the noise, and why one person changes them by no more than declared.

**Who is protected.** Two tables are neighbours if one holds exactly one more person, with all rows of that person.
The desk holds at most m rows of each person (m = 1 and a person is a row without a person column). Which of a
person's rows those are was drawn when the desk opened, from that person's rows alone, so a person's coming or going
leaves everybody else's rows as they are. That is the whole link between persons and rows; all below is about rows.

**Selection.** The filter, the rule for missing values and the choice of the group (cell) look at one row at a time: a
row is in one cell or in none, whatever the other rows are. So one person has at most m rows among all selected rows,
and at most m cells contain any of them.

**Counts of rows.** Each row adds 1 to one cell. A person changes the counts by at most m in total (L1), by at most m
in Euclidean distance (L2, reached when all m rows share a cell), by at most m in one cell, in at most m cells.

**Counts of persons.** A person adds 1 to each cell that holds one of the rows: at most c = min(m, cells) cells, so
L1 <= c, L2 <= √c, at most 1 in one cell.

**Sums.** A value is moved into its bounds (clamped), shifted by a public offset, and rounded to a whole number of
steps of a public size: a function of this value alone, and what comes out lies between two public whole numbers. With
`reach` the larger of their absolute values, each row adds at most reach to one cell: L1 and L2 <= m · reach. The sum
is taken in 64-bit integers: |sum| <= rows · 2^31 < 2^63, so that no order of rows and no overflow can show in it.

**Squares.** The same with the square of the shifted value, itself rounded and shifted.

**Scores of a quantile.** For the quantile p/d and a candidate c the score is |(d-p)·#{x < c} − p·#{x > c}|, zero
where c is the quantile. One row moves one of the two counts by 1, or none, so a score by at most max(p, d-p); a
person by at most m · max(p, d-p). With groups, the m rows are spread over the cells, and the losses of the choices
add up to no more than that of one cell with m rows (epsilon is linear in the rows, rho grows with their square).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from shoal.dp.queries import Query, cells_of
from shoal.policy.conditions import Value, as_polars
from shoal.storage import Array, Column
from shoal.storage.classes import class_of_each_row, first_row_of_each_class, pack
from shoal.storage.encode import ColumnEncoder

# values are rounded to this many steps at most; 2^31 rows of them stay within 64 bits
BITS = 30
PERSON = "\0person"
_CELL, _VALUE = "\0cell", "\0value"
# powers of two between which a private estimate of bounds can choose
_LOWEST_POWER, _HIGHEST_POWER = -10, 60


@dataclass(frozen=True)
class ValueSteps:
    """Values as whole numbers of steps: (value − offset) / size, rounded, between `low` and `high`.

    >>> steps = ValueSteps.around(Decimal(0), Decimal(100), whole=True)
    >>> steps.of(pl.Series([-7, 20, 1000])).to_list(), steps.reach
    ([-50, -30, 50], 50)
    """

    size: float
    offset: float
    low: int
    high: int
    whole: bool

    @classmethod
    def from_zero(cls, low: Decimal, high: Decimal, whole: bool) -> ValueSteps:
        """For sums: the offset is zero."""
        return cls._made(low, high, Decimal(0), whole)

    @classmethod
    def around(cls, low: Decimal, high: Decimal, whole: bool) -> ValueSteps:
        """For means and variances: the offset is the middle of the bounds, which halves what a person can change."""
        middle = (low + high) / 2
        return cls._made(low, high, middle.to_integral_value() if whole else middle, whole)

    @classmethod
    def _made(cls, low: Decimal, high: Decimal, offset: Decimal, whole: bool) -> ValueSteps:
        lowest, highest = low - offset, high - offset
        largest = float(max(abs(lowest), abs(highest)))
        if _is_whole(low) and _is_whole(high) and whole and largest <= 2**BITS and abs(offset) < 2**62:
            return cls(1.0, float(offset), int(lowest), int(highest), True)
        size = 2.0 ** (math.frexp(largest)[1] - BITS)
        return cls(size, float(offset), round(float(lowest) / size), round(float(highest) / size), False)

    @property
    def reach(self) -> int:
        """The largest absolute value of one row."""
        return max(abs(self.low), abs(self.high), 1)

    def of(self, values: pl.Series) -> pl.Series:
        """Each value as a whole number of steps within the bounds; infinite values come to lie on them."""
        if self.whole:
            shifted = values.cast(pl.Int64).clip(int(self.offset) + self.low, int(self.offset) + self.high)
            return shifted - int(self.offset)
        scaled = (values.cast(pl.Float64) - self.offset) / self.size
        return scaled.clip(self.low, self.high).round().cast(pl.Int64)


@dataclass(frozen=True)
class Squares:
    """Squares of shifted values as whole numbers between −reach and reach: (value² >> shift) − middle."""

    shift: int
    middle: int
    reach: int

    @classmethod
    def of_steps(cls, steps: ValueSteps) -> Squares:
        """For the values of `steps`."""
        shift = max(2 * steps.reach.bit_length() - BITS, 0)
        top = _rounded_shift(steps.reach**2, shift)
        return cls(shift, top // 2, max(top - top // 2, 1))

    def of(self, steps: pl.Series) -> pl.Series:
        """Each square."""
        squares = steps.to_numpy() ** 2
        return pl.Series(_rounded_shift(squares, self.shift) - self.middle)


def _rounded_shift(number: Any, shift: int) -> Any:
    return number if shift == 0 else (number + (1 << (shift - 1))) >> shift


def _is_whole(number: Decimal) -> bool:
    return number == number.to_integral_value()


@dataclass(frozen=True)
class Selected:
    """The rows that a query is about: the cell of each, its value, its person; and the key of each cell."""

    keys: list[Any]
    frame: pl.DataFrame

    def counts(self) -> Array:
        """Rows in each cell."""
        return np.bincount(self.frame[_CELL].to_numpy(), minlength=len(self.keys))

    def persons(self) -> Array:
        """Persons with at least one row in each cell."""
        if PERSON not in self.frame.columns:
            return self.counts()
        pairs = self.frame.select(_CELL, PERSON).unique()
        return np.bincount(pairs[_CELL].to_numpy(), minlength=len(self.keys))

    def sums(self, steps: ValueSteps) -> Array:
        """The sum of steps in each cell."""
        return self._sum(steps.of(self.frame[_VALUE]))

    def sums_of_squares(self, steps: ValueSteps, squares: Squares) -> Array:
        """The sum of shifted squares in each cell."""
        return self._sum(squares.of(steps.of(self.frame[_VALUE])))

    def _sum(self, numbers: pl.Series) -> Array:
        cells = self.frame[_CELL]
        sums = np.zeros(len(self.keys), np.int64)
        if len(self.keys) == 1:
            sums[0] = numbers.sum() or 0
            return sums
        found = pl.DataFrame({"cell": cells, "number": numbers}).group_by("cell").agg(pl.col("number").sum())
        sums[found["cell"].to_numpy()] = found["number"].to_numpy()
        return sums

    def scores(self, candidates: Array, quantiles: list[tuple[int, int]]) -> Iterator[list[Array]]:
        """Cell by cell, for each quantile p/d, the score of each candidate."""
        values, cells = self.frame[_VALUE].cast(pl.Float64).to_numpy(), self.frame[_CELL].to_numpy()
        if len(self.keys) > 1:
            order = np.argsort(cells, kind="stable")
            values, cells = values[order], cells[order]
        ends = np.searchsorted(cells, np.arange(len(self.keys)), side="right")
        for start, end in zip([0, *ends[:-1]], ends, strict=True):
            below, above = _around(values[start:end], candidates)
            yield [np.abs((d - p) * below - p * above) for p, d in quantiles]

    def keep(self, cells: list[int]) -> Selected:
        """Only some cells, renumbered in the order given: those whose keys were released."""
        place = pl.DataFrame({_CELL: cells, "place": range(len(cells))}, schema={_CELL: pl.Int64, "place": pl.Int64})
        frame = self.frame.join(place, on=_CELL).drop(_CELL).rename({"place": _CELL})
        return Selected([self.keys[cell] for cell in cells], frame)


def _around(values: Array, candidates: Array) -> tuple[Array, Array]:
    """How many values lie below and above each of the rising candidates."""
    size = len(candidates)
    # the place of a value is the first candidate that is not below it; beyond the bounds is on the bounds
    place = np.minimum(np.searchsorted(candidates, values), size - 1)
    equal = (candidates[place] <= values) | (place == 0)
    # a value lies above the candidates before its place, and below those from its place on (but not its equal)
    above = len(values) - np.cumsum(np.bincount(place, minlength=size))
    below = len(values) - above - np.bincount(place[equal], minlength=size)
    return below.astype(np.int64), above.astype(np.int64)


def select(frame: pl.DataFrame, query: Query) -> Selected:
    """The rows that meet the filter and have a value and a group; the cell of each."""
    needed = [*query.by, *([query.column] if query.column else [])]
    present = [pl.col(name).is_not_null() for name in needed if frame[name].null_count()]
    conditions = [*present, *([] if query.where is None else [as_polars(query.where)])]
    rows = frame.filter(pl.all_horizontal(conditions)) if conditions else frame
    if query.kind == "bounds":
        keys, cells = _powers(), _power_cells(rows[needed[-1]])
    elif query.bins:
        keys, cells = _bins(query), _bin_cells(rows[needed[-1]], query)
    elif not query.by:
        keys, cells = [None], pl.zeros(len(rows), pl.Int64, eager=True)
    elif query.keys is None:
        keys, cells = _private_cells(rows, query)
    else:
        keys, cells = _public_cells(rows, query)
    columns = [cells.alias(_CELL)]
    if query.column is not None:
        columns.append(rows[query.column].alias(_VALUE))
    if PERSON in rows.columns:
        columns.append(rows[PERSON])
    chosen = pl.DataFrame(columns)
    return Selected(keys, chosen.filter(pl.col(_CELL).is_not_null()) if cells.null_count() else chosen)


def _public_cells(rows: pl.DataFrame, query: Query) -> tuple[list[Any], pl.Series]:
    """The place of each row's keys among those given; null for a row of any other group."""
    assert query.keys is not None
    cells = pl.zeros(len(rows), pl.Int64, eager=True)
    for name, keys in zip(query.by, query.keys, strict=True):
        cells = cells * len(keys) + _places(rows[name], keys)
    return cells_of(query.keys), cells


def _places(values: pl.Series, keys: tuple[Value, ...]) -> pl.Series:
    """The position of each value among the keys, null for any other."""
    if values.dtype.is_integer():
        values, known = values.cast(pl.Int64), pl.Series([int(key) for key in keys], dtype=pl.Int64)  # type: ignore[arg-type]
    else:
        known = pl.Series(keys, dtype=values.dtype)
    return values.replace_strict(known, pl.int_range(len(keys), eager=True), default=None, return_dtype=pl.Int64)


def _private_cells(rows: pl.DataFrame, query: Query) -> tuple[list[Any], pl.Series]:
    """The groups that occur. Their numbers are handles only: what leaves is a key above its threshold, or nothing."""
    if rows.is_empty():
        return [], pl.Series([], dtype=pl.Int64)
    cells, count = class_of_each_row(pack([_encoded(rows[name]) for name in query.by]))
    groups = rows.select(query.by)[first_row_of_each_class(cells, count)]
    return _listed(groups), pl.Series(cells.astype(np.int64))


def _encoded(values: pl.Series) -> Column:
    encoder = ColumnEncoder(values.name)
    encoder.add(values)
    return encoder.finish()


def _listed(groups: pl.DataFrame) -> list[Any]:
    rows = [[value.isoformat() if hasattr(value, "isoformat") else value for value in row] for row in groups.rows()]
    return [row[0] for row in rows] if groups.width == 1 else rows


def _bins(query: Query) -> list[Any]:
    """Names of bins: the lower edge belongs to the bin, the upper one only to the last."""
    edges = [_short(edge) for edge in query.bins]
    ends = [")"] * (len(edges) - 2) + ["]"]
    return [f"[{low};{high}{end}" for low, high, end in zip(edges, edges[1:], ends, strict=False)]


def _short(edge: Decimal) -> str:
    return f"{float(edge):.12g}"


def _bin_cells(values: pl.Series, query: Query) -> pl.Series:
    inner = np.array([float(edge) for edge in query.bins[1:-1]])
    return pl.Series(np.searchsorted(inner, values.cast(pl.Float64).to_numpy(), side="right").astype(np.int64))


def _powers() -> list[Any]:
    """Public bins for an estimate of bounds: 0 and ± powers of two, from the lowest to the highest."""
    rising = [(2.0**power, 2.0 ** (power + 1)) for power in range(_LOWEST_POWER, _HIGHEST_POWER + 1)]
    tiny = 2.0**_LOWEST_POWER
    return [(-high, -low) for low, high in reversed(rising)] + [(-tiny, tiny)] + rising


def _power_cells(values: pl.Series) -> pl.Series:
    edges = np.array([low for low, _ in _powers()][1:])
    return pl.Series(np.searchsorted(edges, values.cast(pl.Float64).to_numpy(), side="right").astype(np.int64))
