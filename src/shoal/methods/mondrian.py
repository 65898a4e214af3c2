"""`mondrian`: groups of k near records, of any columns, under any model that is judged group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from shoal import __version__
from shoal.errors import InputError, Message
from shoal.methods.base import IN_PARTS, Importance, can_be_parted, k_of, needs_k, takes_records_only
from shoal.methods.boxes import CategoryMethod, fits_groups, groups_persons, groups_that_fail, leaves_of, sources_of
from shoal.methods.partition import Cuts, Effort, FailsPolicy, coordinates_of, counted_groups, grouped, partition
from shoal.methods.results import Anonymized
from shoal.methods.units import GroupUnits, MakeGroups, Units, about, boxes_by_unit, is_plain
from shoal.policy import Policy, as_policy
from shoal.policy.manifest import as_shape
from shoal.ranges.boxed import ALL_MISSING, NONE_MISSING, SOME_MISSING, Boxed, Sets, Side, check_k
from shoal.ranges.columns import decimals_of
from shoal.ranges.forms import ColumnTree, nodes_over, with_short_sets
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.hierarchy.given import given_hierarchies, rows_of
from shoal.ranges.hierarchy.on_columns import ColumnLabelling, on_column
from shoal.storage import Array, Column, Table
from shoal.storage.column_type import type_word
from shoal.storage.encode import encode
from shoal.storage.texts import texts_of

if TYPE_CHECKING:
    from shoal.methods.in_parts import NearRecords
    from shoal.methods.partition.groups import Cuts, FailsPolicy
    from shoal.policy.conditions import ColumnCondition
    from shoal.storage.spill import Spill


# A plan of cuts: where `mondrian` cut a table, so that new records fall into the same boxes. For its owner only.
#
# Every column is divided into cells: runs of numbers or dates between two cuts, single categories in the order of their
# tree, and one cell for a missing value where there was one. A cut sends the cells up to one to the left, the others to
# the right; a path of cuts ends in a region, which is released as its box. A value in no cell (beyond the ends, between
# two cells, a category that was never seen) lies in no region.

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
        return {"type": cells.type, "low": cells.low.tolist(), "high": cells.high.tolist(), "missing": cells.missing}
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
        columns = {name: _read_cells(name, column) for name, column in found.columns.items()}
    except OverflowError:
        raise InputError(f"{path} has numbers that are too large.", "Take it as it was written.") from None
    if policy.quasi_identifiers != list(columns):
        raise InputError(f"{path} names other columns than its policy.", "Take it as it was written.")
    if not _sound(arrays, columns):
        raise InputError(f"{path} has cuts that lead nowhere.", "Take it as it was written.")
    return CutPlan(policy, columns, **arrays, options=found.options)


def _read_cells(name: str, column: _NumberColumn | _CategoryColumn) -> Cells:
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


class _Layout(NamedTuple):
    """The policy with its trees, how columns are labelled, how near records are grouped, and the parameters."""

    policy: Policy
    labelled: dict[str, ColumnLabelling]
    group: NearRecords
    parameters: dict[str, Any]


class Mondrian(CategoryMethod):
    """Groups of k records that are near each other in all columns at once, each released as its box.

    >>> Mondrian(effort="best").effort
    'best'
    """

    name: ClassVar[str] = "mondrian"
    does: ClassVar[str] = "groups of k near records, any columns, least loss"
    page: ClassVar[str] = "least-loss.md"
    source: ClassVar[str] = "LeFevre et al., improved"
    by_default: ClassVar[bool] = True
    past_memory: ClassVar[bool] = True

    effort: Effort = Field(
        default="default",
        description="How much time to spend on less loss: no pass of exchanges, one, or several thorough ones.",
    )
    cuts: Cuts = Field(default="best", description="Cut by least loss, or at medians as published (strict, relaxed).")
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")
    plan: bool = Field(
        default=False,
        description="Boxes between cuts that are kept (private), so that new data can be released alike (`apply`).",
    )

    def lacks(self) -> str | None:
        """Published cuts, and cuts that are kept, end where no cut is left: there is no effort to spend."""
        if self.effort == "default" or (self.cuts == "best" and not self.plan):
            return None
        if self.plan:
            return Message("has no `{effort}` with a `{plan}`, whose groups are where it cuts: leave one of them out")
        return Message("has no `{effort}` with `{cuts}` as published (strict, relaxed): leave one of them out")

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, and models that are judged group by group."""
        if (reason := self.lacks()) is not None:
            return reason
        if self.plan and (self.cuts == "relaxed" or self.interval == "mean"):
            return "has no plan with relaxed cuts or means: new records have no place there"
        if self.plan and (reason := takes_records_only(policy)) is not None:
            return Message("with a `{plan}` {}", reason)
        if policy.count is not None and self.cuts != "best":
            return Message("cuts tables of counts (`count`) by least loss only: leave out `{cuts}`")
        return needs_k(policy) or fits_groups(policy) or groups_persons(policy, table)

    def grouped(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling]
    ) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of the groups."""
        k, importance = k_of(policy) or 0, self.relative_importance(policy)
        trees = {name: labelling.on_column for name, labelling in near.items()}
        if is_plain(table, policy):
            boxed = partition(
                table.select(policy.quasi_identifiers),
                k,
                self.effort,
                cuts=self.cuts,
                importance=importance,
                fails_policy=groups_that_fail(table, policy),
                trees=trees,
            )
        else:
            make: MakeGroups = partial(self._groups, policy=policy, trees=trees)
            boxed = boxes_by_unit(table, policy, k, make)
        return boxed, self._parameters(policy)

    def by_part(self, policy: Policy) -> int | None:
        """Large tables are cut into parts, where k-anonymity is all that is asked for."""
        whole = self.cuts == "best" and not self.plan and self.interval in ("bracket", "dash")
        return IN_PARTS if whole and can_be_parted(policy) else None

    def change_in_parts(self, table: Table, policy: Policy) -> Anonymized:
        """Each part is grouped by itself, where its rows are."""
        from shoal.methods.in_parts import Labelled, changed_in_parts, cut_for
        from shoal.methods.partition import in_parts

        near = self._near(table, policy)
        how = Labelled(near.group, self.interval, partial(self.side_of, near.labelled), leaves_of(near.labelled))
        parts = cut_for(table, policy.quasi_identifiers, near.group.tables, near.group.k, in_parts.PART)
        result = changed_in_parts(self.name, table, near.policy, how, parts, near.parameters)
        return self.with_nodes(result, near.policy, near.labelled)

    def _near(self, table: Table, policy: Policy) -> _Layout:
        """How a table of columns by themselves is laid out."""
        from shoal.methods.in_parts import NearRecords
        from shoal.methods.partition.coordinates import coordinate_tables

        k = k_of(policy) or 0
        policy, labelled, near = self.laid_out(table, policy)
        trees = {name: labelling.on_column for name, labelling in near.items()}
        columns = table.select(policy.quasi_identifiers)
        tables = coordinate_tables(columns, self.relative_importance(policy), trees)
        parameters = {**self._parameters(policy), "category_trees": sources_of(labelled)}
        return _Layout(policy, labelled, NearRecords(tables, k, self.effort), parameters)

    def refused_on_disk(self, policy: Policy) -> str | None:
        """Parts are grouped for k alone."""
        if self.cuts != "best" or self.plan:
            return Message("`{cuts}` and `{plan}` are not supported")
        if not can_be_parted(policy):
            return "the method mondrian keeps k-anonymity alone"
        return super().refused_on_disk(policy)

    def change_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Each part is grouped by itself, as many records of it as fit in memory."""
        from shoal.methods.in_parts import cut_for
        from shoal.methods.partition import in_parts
        from shoal.methods.past_memory import DiskRows

        names = policy.quasi_identifiers
        alone = DiskRows.of(table, names, spill)
        near = self._near(alone, policy)
        policy, labelled, parameters = near.policy, near.labelled, near.parameters
        cells, parts, _ = cut_for(alone, names, near.group.tables, near.group.k, in_parts.PART)

        def boxes(columns: Sequence[Column]) -> Boxed:
            boxed, _ = near.group(0, columns)
            sides = {column.name: self.side_of(labelled, column, boxed) for column in columns}
            return Boxed(boxed.box_of_row, sides)

        boxed = alone.elsewhere.boxed(cells, parts, boxes)
        result = self.measured_on_disk(table, policy, conditions, boxed, parameters, leaves_of(labelled))
        return self.with_nodes(result, policy, labelled)

    def _groups(
        self, columns: Sequence[Column], units: Units, k: int, *, policy: Policy, trees: Mapping[str, ColumnTree]
    ) -> GroupUnits:
        """Groups of some units by some columns."""
        points = coordinates_of(columns, about(columns, self.relative_importance(policy)), about(columns, trees))

        def group(some: Array, fails_policy: FailsPolicy | None) -> Array:
            if units.people is not None:
                return counted_groups(points[some], units.people[some], k, self.effort, fails_policy)
            return grouped(points[some], k, self.effort, self.cuts, 0, fails_policy).group_of_each_row()[0]

        return group

    def planned(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling], conditions: Sequence[ColumnCondition]
    ) -> Anonymized | None:
        """The rows in the boxes of the cuts, if these are to be kept: no records change groups afterwards."""
        if not self.plan:
            return None

        columns, fails = table.select(policy.quasi_identifiers), groups_that_fail(table, policy)
        k, importance = k_of(policy) or 0, self.relative_importance(policy)
        check_k(k, table.rows)
        cells, cuts = find_cuts(columns, k, self.cuts, importance, fails, near)
        options = self.model_dump(mode="json", exclude_defaults=True, exclude={"hierarchies", "importance", "plan"})
        return self.by_plan(table, CutPlan(policy, cells, **cuts, options=options), conditions)

    def by_plan(self, table: Table, plan: CutPlan, conditions: Sequence[ColumnCondition] = ()) -> Anonymized:
        """The rows of a table in the boxes of a plan; what fits nowhere, or breaks the policy here, is suppressed."""
        boxed, nowhere = fill(plan, table, self.largest_set)
        parameters = {"k": k_of(plan.policy), "cuts": self.cuts, "plan": True}
        result = self.measured(table, plan.policy, conditions, boxed, parameters)
        return replace(result, plan=plan, findings=replace(result.findings, unseen_rows=nowhere))

    def _parameters(self, policy: Policy) -> dict[str, Any]:
        importance = self.importance_by(policy)
        return {"k": k_of(policy) or 0, "effort": self.effort, "cuts": self.cuts, "importance": importance}


def find_cuts(
    columns: Sequence[Column],
    k: int,
    cuts: Cuts,
    importance: Mapping[str, float],
    fails_policy: FailsPolicy | None,
    near: Mapping[str, ColumnLabelling],
) -> tuple[dict[str, Cells], dict[str, Array]]:
    """Cut a table into groups of k near records that a policy allows: the cells of its columns, and the cuts."""
    from shoal.methods.partition.coordinates import coordinates
    from shoal.methods.partition.groups import Groups
    from shoal.methods.partition.mondrian import CutRound, mondrian

    trees = {name: labelling.on_column for name, labelling in near.items()}
    groups, rounds = Groups.of(coordinates(columns, importance, trees)), list[CutRound]()
    mondrian(groups, k, cuts, fails_policy, rounds)
    if not rounds:
        rounds = [CutRound(*np.zeros((4, 0), np.int64))]
    start, half, stop, column = (np.concatenate(parts) for parts in zip(*rounds, strict=True))
    if empty := [one.name for one in columns if not len(one.values)]:
        raise InputError(f"Column '{empty[0]}' has no values to cut.", Message("Leave out `{plan}`, or the column."))
    # where each code lies: along the walk of a tree, or in the order of values; null behind them
    walks = [near[one.name].on_column.place if one.name in near else np.arange(len(one.values)) for one in columns]
    places = [np.append(walk, len(one.values)) for walk, one in zip(walks, columns, strict=True)]
    last = np.zeros(len(column), np.int64)  # the last place on the left of each cut
    at = 0
    for cut_round in rounds:
        for number in np.unique(cut_round.column).tolist():
            which = np.flatnonzero(cut_round.column == number)
            which = which[np.argsort(cut_round.start[which])]
            ends = np.stack([cut_round.start[which], cut_round.half[which]], axis=1).ravel()
            shown = places[number][columns[number].codes][groups.order]
            last[at + which] = np.maximum.reduceat(shown, ends)[::2]
        at += len(cut_round.column)
    cells, cell = {}, np.zeros(len(column), np.int64)
    for number, one in enumerate(columns):
        mine = column == number
        cells[one.name], cell[mine] = _cells(one, near.get(one.name), last[mine])
    left, right = _tree(start, half, stop, len(groups.order))
    return cells, {"column": column, "cell": cell, "left": left, "right": right}


def _cells(column: Column, labelling: ColumnLabelling | None, last: Array) -> tuple[Cells, Array]:
    """The cells of a column that was cut behind these places, and the cell before each cut."""
    if labelling is not None:
        texts = texts_of(column.values)
        walk = texts.gather(np.argsort(labelling.on_column.place, kind="stable"))
        tree = labelling.tree if labelling.labels == "node" else None
        return CategoryCells(walk.to_list(), column.nulls > 0, tree), last
    kind = type_word(column.dtype)
    if kind not in ("integer", "number", "date", "datetime"):
        raise InputError(f"Column '{column.name}' cannot be cut by a plan.", Message("Leave out `{plan}`."))
    values = physical_values(column, kind)
    behind = np.unique(last[last < len(values) - 1])
    # how far apart numbers can lie at least; None where they have no fixed decimals
    decimals = decimals_of(column)
    step = 1 if kind != "number" else None if decimals is None else 10.0**-decimals
    after = values[behind + 1] if step is None else values[behind] + step
    if kind == "number" and step is not None:
        after = np.minimum(np.round(after, decimals or 0), values[behind + 1])
    low, high = np.concatenate([values[:1], after]), np.concatenate([values[behind], values[-1:]])
    return NumberCells(kind, low, high, column.nulls > 0), np.searchsorted(behind, last)


def _tree(start: Array, half: Array, stop: Array, rows: int) -> tuple[Array, Array]:
    """The sides of each cut: the number of the cut that goes on there, or -1 - region."""
    if not len(start):
        return start, start
    keys = start * (rows + 1) + stop
    order = np.argsort(keys)
    sides = np.concatenate([start * (rows + 1) + half, half * (rows + 1) + stop])
    place = np.minimum(np.searchsorted(keys[order], sides), len(keys) - 1)
    cut = keys[order][place] == sides
    found = np.where(cut, order[place], 0)
    found[~cut] = -1 - np.arange(int((~cut).sum()))
    return found[: len(start)], found[len(start) :]


def fill(plan: CutPlan, table: Table, largest_set: int) -> tuple[Boxed, int]:
    """Every row in the box of its region, or in one that is `*` throughout; and how many rows lie in no region.

    Classes that the plan's policy does not allow on this table are suppressed too.
    """
    columns = {name: table[name] for name in plan.columns}
    region = plan.region_of_each_row(columns)
    nowhere = int((region < 0).sum())
    k, fails_policy = k_of(plan.policy) or 1, groups_that_fail(table, plan.policy)
    while True:
        boxed = _boxed(plan, region, largest_set)
        kept = region >= 0
        classes, count = boxed.class_of_each_row()
        class_of_row = np.where(kept, classes, -1)
        failing = np.bincount(classes[kept], minlength=count) < k
        if fails_policy is not None and kept.any():
            shown, numbers = np.unique(class_of_row[kept], return_inverse=True)
            dense = np.full(len(region), -1, np.int64)
            dense[kept] = numbers
            failing[shown] |= fails_policy(dense, len(shown))
        lost = kept & failing[classes]
        if not lost.any():
            return boxed, nowhere
        region = np.where(lost, -1, region)


def _boxed(plan: CutPlan, region: Array, largest_set: int) -> Boxed:
    used, box_of_row = np.unique(np.where(region < 0, len(plan.column) + 1, region), return_inverse=True)
    low, high = plan.regions
    suppressed = bool((region < 0).any())
    shown = used[:-1] if suppressed else used
    sides = {}
    for number, (name, cells) in enumerate(plan.columns.items()):
        first, last = low[shown, number], high[shown, number]
        if suppressed:  # one more box, that is * throughout
            first, last = np.append(first, 0), np.append(last, cells.count - 1)
        sides[name] = _side(name, cells, first, last, suppressed, largest_set)
    return Boxed(box_of_row.ravel(), sides)


def _side(name: str, cells: Cells, first: Array, last: Array, suppressed: bool, largest_set: int) -> Side:
    """The boxes of a column from the first to the last cell of each; the last box is `*` where rows are suppressed."""
    known = len(cells.low) if isinstance(cells, NumberCells) else len(cells.categories)
    missing = np.where(first >= known, ALL_MISSING, np.where(last >= known, SOME_MISSING, NONE_MISSING))
    if suppressed:
        missing[-1] = SOME_MISSING
    starred = missing == SOME_MISSING
    first = np.where(starred | (first >= known), 0, first)
    last = np.where(starred, known - 1, np.where(missing == ALL_MISSING, 0, last))
    told = missing if missing.any() else None
    if isinstance(cells, NumberCells):
        ends = np.unique(np.concatenate([cells.low, cells.high]))
        low, high = np.searchsorted(ends, cells.low[first]), np.searchsorted(ends, cells.high[last])
        return Side(ends.astype(np.float64), low, high, told, cells.exact(ends))
    values = encode(pl.Series(name, cells.categories, dtype=pl.String))
    if cells.tree is not None:
        tree = on_column(cells.tree, values)
        places = tree.place[values.codes]
        return nodes_over(values, tree, *_ends(places, first, last), missing)
    runs, set_of_box = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
    members = [np.sort(values.codes[one : other + 1]).astype(np.int64) for one, other in runs.T.tolist()]
    starts = np.concatenate([[0], np.cumsum([len(held) for held in members])])
    low, high = (np.array([held[end] for held in members])[set_of_box.ravel()] for end in (0, -1))
    side = Sets(
        np.arange(len(values.values), dtype=np.float64), low, high, told, None,
        set_of_box.ravel(), starts, np.concatenate(members), values.values,
    )  # fmt: skip
    return with_short_sets(side, largest_set)


def _ends(places: Array, first: Array, last: Array) -> tuple[Array, Array]:
    """The lowest and the highest place of the cells first .. last of each box."""
    low, high = places[first].copy(), places[first].copy()
    runs, which = np.unique(np.stack([first, last]), axis=1, return_inverse=True)
    for number, (one, other) in enumerate(runs.T.tolist()):
        held = places[one : other + 1]
        low[which.ravel() == number], high[which.ravel() == number] = held.min(), held.max()
    return low, high
