"""A plan of cuts: where `mondrian` cut a table, so that new records fall into the same boxes. For its owner only.

Every column is divided into cells: runs of numbers or dates between two cuts, single categories in the order of their
tree, and one cell for a missing value where there was one. A cut sends the cells up to one to the left, the others to
the right; a path of cuts ends in a region, which is released as its box. A value in no cell (beyond the ends, between
two cells, a category that was never seen) lies in no region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from shoal import __version__
from shoal.errors import InputError
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import as_shape
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of
from shoal.storage import Array, Column
from shoal.storage.texts import texts_of

KIND = "plan of cuts"
# how ends are kept: whole numbers, days and microseconds as integers
_TYPES: dict[str, pl.DataType] = {
    "integer": pl.Int64(),
    "number": pl.Float64(),
    "date": pl.Date(),
    "datetime": pl.Datetime("us"),
}


@dataclass(frozen=True)
class NumberCells:
    """A column of numbers or dates: cell c holds what lies from low[c] to high[c]."""

    type: str
    low: Array
    high: Array
    missing: bool

    @property
    def count(self) -> int:
        return len(self.low) + self.missing

    def exact(self, ends: Array) -> pl.Series:
        """Ends in the type of the column."""
        physical = pl.Series(ends, dtype=pl.Float64 if self.type == "number" else pl.Int64)
        return physical.cast(pl.Int32).cast(pl.Date) if self.type == "date" else physical.cast(_TYPES[self.type])

    def of_each_code(self, column: Column) -> Array:
        """The cell of each value of a column, and of null; -1 in none."""
        values = physical_values(column, self.type)
        place = np.searchsorted(self.low, values, side="right") - 1
        inside = (place >= 0) & (values <= self.high[np.maximum(place, 0)])
        return np.append(np.where(inside, place, -1), len(self.low) if self.missing else -1)


@dataclass(frozen=True)
class CategoryCells:
    """A column of categories, each a cell, in the order of a tree; `tree` is there where its nodes are released."""

    categories: list[str]
    missing: bool
    tree: Hierarchy | None = None

    @property
    def count(self) -> int:
        return len(self.categories) + self.missing

    def of_each_code(self, column: Column) -> Array:
        """The cell of each value of a column, and of null; -1 in none."""
        known = pl.DataFrame({"text": pl.Series(self.categories, dtype=pl.String)}).with_row_index("cell")
        asked = pl.DataFrame({"text": texts_of(column.values).alias("text")})
        found = asked.join(known, on="text", how="left", maintain_order="left")["cell"].cast(pl.Int64).fill_null(-1)
        return np.append(found.to_numpy(), len(self.categories) if self.missing else -1)


Cells = NumberCells | CategoryCells


@dataclass(frozen=True)
class CutPlan:
    """The cells of every column, and the cuts: cut i is by `column[i]`, cells up to `cell[i]` go to `left[i]`.

    A side that is a cut is its number, a side that is region r is -1 - r. `options` are those of writing boxes.
    """

    policy: Policy
    columns: Mapping[str, Cells]
    column: Array
    cell: Array
    left: Array
    right: Array
    options: Mapping[str, Any]

    @property
    def trees(self) -> dict[str, Hierarchy]:
        """The trees whose nodes are released."""
        cells = self.columns.items()
        return {name: one.tree for name, one in cells if isinstance(one, CategoryCells) and one.tree is not None}

    @property
    def rounds(self) -> int:
        """It can be applied to new data."""
        return 1

    @cached_property
    def regions(self) -> tuple[Array, Array]:
        """The first and the last cell of every region in every column."""
        counts = np.array([cells.count for cells in self.columns.values()])
        regions = len(self.column) + 1
        low, high = np.zeros((regions, len(counts)), np.int64), np.zeros((regions, len(counts)), np.int64)
        cuts = np.arange(0 if not len(self.column) else 1)
        first, last = np.zeros((1, len(counts)), np.int64), (counts - 1)[None, :]
        if not len(cuts):
            return first, last
        while len(cuts):
            which = np.arange(len(cuts))
            below, above = last.copy(), first.copy()
            below[which, self.column[cuts]] = self.cell[cuts]
            above[which, self.column[cuts]] = self.cell[cuts] + 1
            sides = np.concatenate([self.left[cuts], self.right[cuts]])
            first, last = np.concatenate([first, above]), np.concatenate([below, last])
            done = sides < 0
            low[-1 - sides[done]], high[-1 - sides[done]] = first[done], last[done]
            cuts, first, last = sides[~done], first[~done], last[~done]
        return low, high

    def region_of_each_row(self, columns: Mapping[str, Column]) -> Array:
        """The region in which each row lies; -1 in none."""
        cells = [one.of_each_code(columns[name])[columns[name].codes] for name, one in self.columns.items()]
        found = np.where(np.logical_and.reduce([cell >= 0 for cell in cells]), 0, -1).astype(np.int64)
        if not len(self.column):
            return found
        rows = np.flatnonzero(found == 0)
        at, table = np.zeros(len(rows), np.int64), np.stack(cells, axis=1)
        while len(rows):
            side = np.where(table[rows, self.column[at]] <= self.cell[at], self.left[at], self.right[at])
            done = side < 0
            found[rows[done]] = -1 - side[done]
            rows, at = rows[~done], side[~done]
        return found

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "kind": KIND,
            "shoal": __version__,
            "policy": self.policy.model_dump(mode="json"),
            "options": dict(self.options),
            "columns": {name: _as_json(cells) for name, cells in self.columns.items()},
            "cuts": {name: getattr(self, name).tolist() for name in ("column", "cell", "left", "right")},
        }


def physical_values(column: Column, type_word: str) -> Array:
    """The values of a column as the numbers by which a plan keeps its ends.

    >>> from shoal.storage.reading import read
    >>> physical_values(read({"age": [30, 34]})["age"], "integer").tolist()
    [30, 34]
    """
    values = column.values
    fits = values.dtype.is_numeric() if type_word in ("integer", "number") else values.dtype.is_temporal()
    if len(values) and not fits:
        raise InputError(f"Column '{column.name}' is not {type_word} as in the plan.", "Give data of the same types.")
    if type_word in ("date", "datetime"):
        return values.cast(_TYPES[type_word]).to_physical().cast(pl.Int64).to_numpy()
    exact = values.cast(_TYPES[type_word], strict=False)
    # a number that is not whole lies between two integers: in no cell
    if type_word == "integer" and (exact.null_count() or (exact.cast(values.dtype) != values).any()):
        return values.cast(pl.Float64).to_numpy()
    return exact.to_numpy()


def _as_json(cells: Cells) -> dict[str, Any]:
    if isinstance(cells, NumberCells):
        return {
            "type": cells.type,
            "low": cells.low.tolist(),
            "high": cells.high.tolist(),
            "missing": cells.missing,
        }
    found: dict[str, Any] = {"categories": cells.categories, "missing": cells.missing}
    return found if cells.tree is None else {**found, "hierarchy": rows_of(cells.tree)}


class _NumberColumn(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    type: Literal["integer", "number", "date", "datetime"]
    low: Annotated[list[Annotated[float, Field(allow_inf_nan=False)] | int], Field()]
    high: Annotated[list[Annotated[float, Field(allow_inf_nan=False)] | int], Field()]
    missing: bool


class _CategoryColumn(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    categories: list[str]
    missing: bool
    hierarchy: list[Annotated[list[str], Field(min_length=1)]] | None = None


class _Cuts(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)

    column: list[Annotated[int, Field(ge=0)]]
    cell: list[Annotated[int, Field(ge=0)]]
    left: list[int]
    right: list[int]


class _CutPlanFile(BaseModel):
    """A plan of cuts as it is written; a tree stands there itself, never a path."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    kind: Literal["plan of cuts"]
    shoal: str
    policy: dict[str, Any]
    options: dict[str, Any]
    columns: Annotated[dict[str, _NumberColumn | _CategoryColumn], Field(min_length=1)]
    cuts: _Cuts


def cuts_of(content: dict[str, Any], path: Path) -> CutPlan:
    """A plan of cuts from its JSON; damage is one error."""
    found = as_shape(_CutPlanFile, content, path, "plan")
    policy = as_policy(found.policy)
    try:
        arrays = {name: np.array(getattr(found.cuts, name), np.int64) for name in ("column", "cell", "left", "right")}
        columns = {name: _cells(name, column) for name, column in found.columns.items()}
    except OverflowError:
        raise InputError(f"{path} has numbers that are too large.", "Take it as it was written.") from None
    if policy.quasi_identifiers != list(columns):
        raise InputError(f"{path} names other columns than its policy.", "Take it as it was written.")
    if not _sound(arrays, columns):
        raise InputError(f"{path} has cuts that lead nowhere.", "Take it as it was written.")
    return CutPlan(policy, columns, **arrays, options=found.options)


def _cells(name: str, column: _NumberColumn | _CategoryColumn) -> Cells:
    if isinstance(column, _CategoryColumn):
        tree = None if column.hierarchy is None else given_hierarchies({name: column.hierarchy}, [name])[name]
        return CategoryCells(column.categories, column.missing, tree)
    kind = {"number": np.float64, "date": np.int32}.get(column.type, np.int64)
    low, high = (np.array(ends, kind).astype(np.promote_types(kind, np.int64)) for ends in (column.low, column.high))
    return NumberCells(column.type, low, high, column.missing)


def _sound(arrays: Mapping[str, Array], columns: Mapping[str, Cells]) -> bool:
    """Whether the cuts are one tree, in which a side comes after its cut, and cells are in order."""
    cuts = len(arrays["column"])
    if any(len(array) != cuts for array in arrays.values()) or (arrays["column"] >= len(columns)).any():
        return False
    sides = np.concatenate([arrays["left"], arrays["right"]])
    after = sides[sides >= 0] > np.tile(np.arange(cuts), 2)[sides >= 0]
    once = np.array_equal(np.sort(sides), np.arange(-1 - cuts, cuts)[np.arange(-1 - cuts, cuts) != 0] if cuts else [])
    ends = [one for one in columns.values() if isinstance(one, NumberCells)]
    ordered = all(
        len(one.low) == len(one.high) and (one.low <= one.high).all() and (one.high[:-1] < one.low[1:]).all()
        for one in ends
    )
    return bool(after.all()) and once and ordered
