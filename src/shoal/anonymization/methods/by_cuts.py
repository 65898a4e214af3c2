"""Boxes by a plan of cuts: found once, filled with the rows of any table, and judged on that table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.anonymization.cut_plan import CategoryCells, Cells, CutPlan, NumberCells, physical_values
from shoal.anonymization.methods.base import k_of
from shoal.errors import InputError
from shoal.hierarchy.on_columns import Labelling, on_column
from shoal.policy import Policy
from shoal.ranges.boxed import ALL_MISSING, NONE_MISSING, SOME_MISSING, Boxed, Sets, Side
from shoal.ranges.columns import decimals_of
from shoal.ranges.nodes import nodes_over, with_short_sets
from shoal.table import Array, Column, Table
from shoal.table.encode import encode
from shoal.table.texts import texts_of
from shoal.table.type_words import type_word

if TYPE_CHECKING:
    from shoal.anonymization.partition.kinds import Cuts, FailsPolicy

# which groups a policy does not allow, and the smallest that it does
FailsOn = Callable[[Table, Policy], "FailsPolicy | None"]


def find_cuts(
    columns: Sequence[Column],
    k: int,
    cuts: Cuts,
    importance: Mapping[str, float],
    fails_policy: FailsPolicy | None,
    near: Mapping[str, Labelling],
) -> tuple[dict[str, Cells], dict[str, Array]]:
    """Cut a table into groups of k near records that a policy allows: the cells of its columns, and the cuts."""
    from shoal.anonymization.partition.coordinates import coordinates
    from shoal.anonymization.partition.groups import Groups
    from shoal.anonymization.partition.mondrian import CutRound, mondrian

    trees = {name: labelling.on_column for name, labelling in near.items()}
    groups, rounds = Groups.of(coordinates(columns, importance, trees)), list[CutRound]()
    mondrian(groups, k, cuts, fails_policy, rounds)
    if not rounds:
        rounds = [CutRound(*np.zeros((4, 0), np.int64))]
    start, half, stop, column = (np.concatenate(parts) for parts in zip(*rounds, strict=True))
    if empty := [one.name for one in columns if not len(one.values)]:
        raise InputError(f"Column '{empty[0]}' has no values to cut.", "Leave out `plan`, or the column.")
    places = [_places(one, near.get(one.name)) for one in columns]
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


def _places(column: Column, labelling: Labelling | None) -> Array:
    """Where each code lies: along the walk of a tree, or in the order of values; null behind them."""
    values = np.arange(len(column.values)) if labelling is None else labelling.on_column.place
    return np.append(values, len(column.values))


def _cells(column: Column, labelling: Labelling | None, last: Array) -> tuple[Cells, Array]:
    """The cells of a column that was cut behind these places, and the cell before each cut."""
    if labelling is not None:
        texts = texts_of(column.values)
        walk = texts.gather(np.argsort(labelling.on_column.place, kind="stable"))
        tree = labelling.tree if labelling.labels == "node" else None
        return CategoryCells(walk.to_list(), column.nulls > 0, tree), last
    kind = type_word(column.dtype)
    if kind not in ("integer", "number", "date", "datetime"):
        raise InputError(f"Column '{column.name}' cannot be cut by a plan.", "Leave out `plan`.")
    values = physical_values(column, kind)
    behind = np.unique(last[last < len(values) - 1])
    step = 1 if kind != "number" else _step(column)
    after = values[behind + 1] if step is None else values[behind] + step
    if kind == "number" and step is not None:
        after = np.minimum(np.round(after, decimals_of(column) or 0), values[behind + 1])
    low, high = np.concatenate([values[:1], after]), np.concatenate([values[behind], values[-1:]])
    return NumberCells(kind, low, high, column.nulls > 0), np.searchsorted(behind, last)


def _step(column: Column) -> float | None:
    """How far apart numbers of a column can lie at least; None where they have no fixed decimals."""
    decimals = decimals_of(column)
    return None if decimals is None else 10.0**-decimals


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


def fill(plan: CutPlan, table: Table, fails_on: FailsOn, largest_set: int) -> tuple[Boxed, int]:
    """Every row in the box of its region, or in one that is `*` throughout; and how many rows lie in no region.

    Classes that the plan's policy does not allow on this table are suppressed too.
    """
    columns = {name: table[name] for name in plan.columns}
    region = plan.region_of_each_row(columns)
    nowhere = int((region < 0).sum())
    k, fails_policy = k_of(plan.policy) or 1, fails_on(table, plan.policy)
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
