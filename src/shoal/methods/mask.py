"""`mask`: Sánchez et al., Table S3, by the steps that the policy names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.errors import InputError, Message
from shoal.methods.base import needs_numbers, takes_records_only
from shoal.methods.boxes import BoxesByColumn, MakeBoxes
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.classes import (
    Coded,
    class_of_each_row,
    first_row_of_each_class,
    pack,
    run_lengths,
    run_starts,
    sorted_with_order,
)


class Mask(BoxesByColumn):
    """The policy's `masking` steps, one after the other, only on records that are still unique.

    >>> Mask().interval
    'bracket'
    """

    name: ClassVar[str] = "mask"
    does: ClassVar[str] = "the policy's `masking` steps, one after the other, only on records that are still unique"
    source: ClassVar[str] = "Sánchez et al., Table S3"

    steps: Literal["policy", "table-s3"] = Field(
        default="policy",
        description="policy: its `masking`. table-s3: the ten steps of that table, on discharges with its names of "
        "columns, seven of which decide who is unique.",
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates, and steps in the policy or of a table that is known."""
        if self.steps == "policy" and not policy.masking:
            return Message("needs masking steps: `masking` in the policy, or `{steps}` table-s3")
        return takes_records_only(policy) or needs_numbers(table, policy)

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Every step is about a quasi-identifier."""
        super().check_columns(table, policy)
        names = policy.quasi_identifiers
        about = dict.fromkeys(step.column for step in self._chosen(policy)[0])
        if unknown := [name for name in about if name not in names]:
            raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers, which masking is about,")

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """What the steps leave."""
        steps, counted = self._chosen(policy)
        return lambda columns: mask(columns, steps, counted).boxed, {"steps": len(steps)}

    def _chosen(self, policy: Policy) -> tuple[Sequence[MaskStep], Sequence[str] | None]:
        """The steps, and which columns decide who is unique (None: all)."""
        if self.steps == "table-s3":
            return TABLE_S3, list(dict.fromkeys(step.column for step in TABLE_S3))
        return [MaskStep(step.column, step.groups, step.digits) for step in policy.masking], None


# Sequential masking (Sánchez et al., Table S3): what is still unique is masked one step further.
#
# The steps stand in the order of the policy, each generalises what the steps before it left. A record that is no longer
# unique stays as it is, so records are released at different levels of one chain.


# the age groups of Table S3: 0, 1-4, 5-9, …, 80-84, 85 and over; and the five coarser ones
AGE_GROUPS = [0, 1, *range(5, 90, 5)]
COARSE_AGE_GROUPS = [0, 1, 20, 35, 65]
# an odd factor: it tells keys of 64 bits apart as they were, but by their high bits
_ODD = np.uint64(0x9E3779B97F4A7C15)
# rows that stay in the cache while something is done with them
_BLOCK = 1 << 16


@dataclass(frozen=True)
class MaskStep:
    """One step: a column to groups that start at `starts`, to a code without its last `digits`, or to `*` (neither).

    `domain` are the ends of the whole column, where they are wider than the values seen.

    >>> MaskStep("age", starts=[0, 65], domain=(0, 85)).ranges(np.array([30.0, 97.0]))[1].tolist()
    [64.0, 97.0]
    """

    column: str
    starts: Sequence[int] | None = None
    digits: int | None = None
    domain: tuple[int, int] | None = None

    def ranges(self, values: Array) -> tuple[Array, Array]:
        """Low and high end of the range that each value becomes.

        >>> low, high = MaskStep("zip", digits=2).ranges(np.array([93701.0, 94110.0]))
        >>> low.tolist(), high.tolist()
        ([93700.0, 94100.0], [93799.0, 94199.0])
        """
        first, last = self.domain or (values[0], values[-1])
        first, last = min(first, values[0]), max(last, values[-1])  # a table may hold more than is known of its column
        if self.starts is not None:
            edges = np.array([*self.starts, max(last, self.starts[-1]) + 1], float)
            group = np.searchsorted(edges, values, side="right") - 1
            if (group < 0).any():
                raise InputError(f"The groups of '{self.column}' leave out its smallest values.", "Start them lower.")
            return edges[group], edges[group + 1] - 1
        if self.digits is not None:
            width = 10**self.digits
            return values // width * width, values // width * width + width - 1
        return np.full(len(values), float(first)), np.full(len(values), float(last))


# the ten steps of Table S3 in the printed order, by the column names of California's discharges of 2009
TABLE_S3 = (
    MaskStep("age_yrs", starts=AGE_GROUPS, domain=(0, 85)),
    MaskStep("ethncty", domain=(1, 3)),
    MaskStep("race", domain=(1, 6)),
    MaskStep("sex", domain=(1, 4)),
    MaskStep("age_yrs", starts=COARSE_AGE_GROUPS, domain=(0, 85)),
    MaskStep("age_yrs", domain=(0, 85)),
    MaskStep("adm_qtr", domain=(1, 4)),
    MaskStep("patzip", digits=2),
    MaskStep("patcnty"),
    MaskStep("patzip"),
)


class Masked(NamedTuple):
    """The boxes, and the step after which each row was no longer unique (0: never masked)."""

    boxed: Boxed
    level_of_row: Array


def mask(columns: Sequence[Column], steps: Sequence[MaskStep], counted: Sequence[str] | None = None) -> Masked:
    """Mask step by step the records that are still unique among the records released at their level.

    `counted` are the columns that decide uniqueness (all by default).

    >>> from shoal.storage.reading import read
    >>> table = read({"age": [31, 31, 34, 38], "sex": [1, 1, 2, 1]})
    >>> found = mask(table.select(["age", "sex"]), [MaskStep("age", starts=[30]), MaskStep("sex")])
    >>> found.level_of_row.tolist()
    [0, 0, 2, 2]
    """
    by_name = {column.name: column for column in columns}
    names = list(by_name) if counted is None else list(counted)
    unknown = [step.column for step in steps if step.column not in by_name]
    if unknown:
        raise InputError.missing_columns(unknown, by_name, "The table to mask")
    states = _states(columns, steps)
    level_of_row = np.zeros(len(columns[0].codes), smallest_unsigned(len(steps) + 1))
    for level in range(len(steps)):
        rows = np.flatnonzero(level_of_row == level)
        alone = _alone([states[name][level] for name in names], [by_name[name] for name in names], rows)
        level_of_row[rows[alone]] = level + 1
    return Masked(_boxed(columns, states, level_of_row), level_of_row)


def masked_uniques(columns: Sequence[Column], steps: Sequence[MaskStep], level_of_row: Array) -> Array:
    """Eq 1 for masked rows: which have a point in their box that lies in the box of no other row.

    A range stands for the values that occur. Every step generalises the one before, so a box is covered by an equal
    one, by one of a later level around it, or by boxes of earlier levels that fill it: two group-bys per level.

    >>> from shoal.storage.reading import read
    >>> table = read({"age": [31, 34, 38, 38]})
    >>> masked_uniques(table.select(["age"]), [MaskStep("age")], np.array([0, 0, 1, 0])).tolist()  # 31, 34, 38 fill *
    [False, False, False, False]
    >>> masked_uniques(table.select(["age"]), [MaskStep("age")], np.array([0, 1, 0, 0])).tolist()  # nobody else is 34
    [False, True, False, False]
    """
    states = _states(columns, steps)
    names = {column.name for column in columns}  # an attacker may know fewer columns than the steps mask
    unique = np.zeros(len(level_of_row), bool)
    covered = np.zeros(0, np.int64)  # a row of each cell that is covered at the level before
    for level in range(len(steps) + 1):
        if level and steps[level - 1].column in names:
            covered = covered[_fills(columns, states, steps[level - 1].column, level, covered)]
        rows = np.flatnonzero(level_of_row == level)
        both = np.concatenate([rows, covered])
        if not len(both):
            continue
        first, lengths = _runs(_cells(columns, states, level, both))
        alone = first[(lengths == 1) & (first < len(rows))]
        unique[rows[alone]] = True
        covered = both[first]
    unique[_inside_others(columns, states, level_of_row, np.flatnonzero(unique))] = False
    return unique


def _inside_others(
    columns: Sequence[Column], states: dict[str, list[_State]], level_of_row: Array, rows: Array
) -> Array:
    """Of some rows those whose box lies in the box of a row of a later level.

    Boxes are told apart by a hash, of which only the columns that a level changes are taken anew; what it lets through
    is compared cell by cell.
    """
    factors = np.random.default_rng(0).integers(1, 1 << 63, len(columns), np.uint64) * np.uint64(2) + np.uint64(1)
    codes, own = [column.codes[rows] for column in columns], level_of_row[rows]
    hashed = np.zeros(len(rows), np.uint64)
    inside = np.zeros(len(rows), bool)
    for level in range(len(states[columns[0].name])):
        for column, of_rows, factor in zip(columns, codes, factors, strict=True):
            now, before = states[column.name][level], states[column.name][max(level - 1, 0)]
            if level == 0 or now is not before:
                added = now.group.astype(np.uint64) - (before.group.astype(np.uint64) if level else np.uint64(0))
                hashed += (added * factor)[of_rows]
        outer = np.flatnonzero(level_of_row == level)
        if level == 0 or not len(outer):
            continue
        hashes, maybe = _hash(columns, states, level, outer, factors), np.flatnonzero(own < level)
        maybe = maybe[_may_be_in(hashes, hashed[maybe])]
        outer = outer[_may_be_in(hashed[maybe], hashes)]
        cells = _cells(columns, states, level, np.concatenate([outer, rows[maybe]])).codes
        inside[maybe[np.isin(cells[len(outer) :], cells[: len(outer)])]] = True
    return rows[inside]


def _hash(columns: Sequence[Column], states: dict[str, list[_State]], level: int, rows: Array, factors: Array) -> Array:
    """A number for each of some rows, equal where their boxes at a level are, and hardly ever elsewhere."""
    found = np.zeros(len(rows), np.uint64)
    for column, factor in zip(columns, factors, strict=True):
        found += (states[column.name][level].group.astype(np.uint64) * factor)[column.codes[rows]]
    return found


def _may_be_in(some: Array, hashes: Array) -> Array:
    """Which hashes share their high bits with some of others."""
    bits = max((16 * len(some)).bit_length(), 1)
    shift = np.uint64(64 - bits)
    held = np.zeros(1 << bits, bool)
    held[some >> shift] = True
    return np.asarray(held[hashes >> shift])


def _cells(columns: Sequence[Column], states: dict[str, list[_State]], level: int, rows: Array) -> Coded:
    """A key for each of some rows, equal where their boxes at a level are."""
    return pack([states[column.name][level].of(column.codes[rows]) for column in columns])


def _runs(key: Coded) -> tuple[Array, Array]:
    """A row of each class, and how many rows it has."""
    order, starts = _ordered(key)
    return order[starts], run_lengths(starts, len(order))


def _ordered(key: Coded) -> tuple[Array, Array]:
    """Rows class by class, in any order of the classes, and where classes start."""
    if key.cardinality > 1 << 32:
        key = Coded(key.codes * _ODD, 1 << 64)
    order, ordered = sorted_with_order(key)
    return order, run_starts(ordered)


def _fills(columns: Sequence[Column], states: dict[str, list[_State]], changed: str, level: int, rows: Array) -> Array:
    """Of rows that stand for the covered cells of the level before: one for each cell of this level that they fill."""
    if not len(rows):
        return rows
    column = next(column for column in columns if column.name == changed)
    before, now = (np.bincount(states[changed][at].group)[states[changed][at].group] for at in (level - 1, level))
    order, starts = _ordered(_cells(columns, states, level, rows))
    codes = column.codes[rows]
    first = order[starts]
    return np.asarray(first[np.add.reduceat(before[codes[order]], starts) == now[codes[first]]])


class _State(NamedTuple):
    """A column at one level: low and high end of each of its values, and which values have become alike."""

    low: Array
    high: Array
    group: Array
    groups: int

    def of(self, codes: Array) -> Coded:
        """The group of each of some codes; each value has its own where none was changed."""
        return Coded(codes if self.groups == len(self.low) else self.group[codes], len(self.low))


def _states(columns: Sequence[Column], steps: Sequence[MaskStep]) -> dict[str, list[_State]]:
    """Every column after each number of steps."""
    states = {}
    for column in columns:
        values = numbers(column)
        found = [_state(values, values)]
        for step in steps:
            found.append(_state(*step.ranges(values)) if step.column == column.name else found[-1])
        states[column.name] = found
    return states


def _state(low: Array, high: Array) -> _State:
    distinct, group = np.unique(low, return_inverse=True)
    return _State(low, high, group.reshape(-1).astype(smallest_unsigned(len(distinct))), len(distinct))


def _alone(states: Sequence[_State], columns: Sequence[Column], rows: Array) -> Array:
    """Which of some rows are alone with their values at a level, among these rows."""
    if not len(rows):
        return np.zeros(0, bool)
    coded = [state.of(column.codes[rows]) for state, column in zip(states, columns, strict=True)]
    first, lengths = _runs(pack(coded))
    alone = np.zeros(len(rows), bool)
    alone[first[lengths == 1]] = True
    return alone


def _boxed(columns: Sequence[Column], states: dict[str, list[_State]], level_of_row: Array) -> Boxed:
    """The box of each row at its level; rows with equal boxes share one."""
    ranges: dict[str, tuple[Array, Array]] = {}
    coded = []
    for column in columns:
        ends = np.stack([[state.low, state.high] for state in states[column.name]], axis=1).reshape(2, -1)
        # the ranges that a column takes at any level, in their order
        distinct, which = np.unique(ends, axis=1, return_inverse=True)
        narrow = which.reshape(-1).astype(smallest_unsigned(distinct.shape[1]))
        codes = np.empty(len(level_of_row), narrow.dtype)
        for start in range(0, len(codes), _BLOCK):
            here = slice(start, start + _BLOCK)
            entries = level_of_row[here] * np.int64(len(column.values))
            entries += column.codes[here]
            np.take(narrow, entries, out=codes[here], mode="clip")
        coded.append(Coded(codes, distinct.shape[1]))
        ranges[column.name] = distinct[0], distinct[1]
    box_of_row, count = class_of_each_row(pack(coded))
    first = first_row_of_each_class(box_of_row, count)
    sides = {}
    for column, (codes, _) in zip(columns, coded, strict=True):
        low, high = ranges[column.name]
        scale, which = np.unique(np.concatenate([low, high])), codes[first]
        sides[column.name] = Side(scale, np.searchsorted(scale, low)[which], np.searchsorted(scale, high)[which])
    return Boxed(box_of_row, sides)
