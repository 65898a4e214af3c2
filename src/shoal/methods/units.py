"""What a method groups: rows, rows that stand for many people, or persons with all their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.groups import FailsPolicy
from shoal.policy import Policy
from shoal.policy.judgement.shown_classes import linked_classes
from shoal.ranges.boxed import SOME_MISSING, Boxed, Sets, Side, box_clusters
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.rows import Rows
from shoal.storage.weights import record_weights
from shoal.wording import counted, percent

T = TypeVar("T")
# the groups of some units, from their numbers and which groups a policy does not allow
GroupUnits = Callable[[Array, FailsPolicy | None], Array]


@dataclass(frozen=True)
class Units:
    """`first[u]` is a row of unit u and `of_row[r]` the unit of row r; unit u stands for `people[u]` (none: for one).

    Units of different strata are told apart by what no method changes: how many rows a person has, and what linked
    tables say. So no group crosses strata.
    """

    first: Array
    of_row: Array
    people: Array | None = None
    stratum: Coded | None = None
    # whether a unit has several rows
    joined: bool = False

    @property
    def count(self) -> int:
        return len(self.first)

    @property
    def plain(self) -> bool:
        """Whether each row is one person."""
        return self.people is None and not self.joined

    @cached_property
    def ones(self) -> Array:
        """The people of each unit, also where each stands for one."""
        return np.ones(self.count, np.int64) if self.people is None else self.people

    @property
    def weights_of_rows(self) -> Array | None:
        """The people that each row stands for, where that is not one."""
        return None if self.people is None else self.people[self.of_row]

    def rows_of(self, units: Array) -> tuple[Array, Array]:
        """The rows of some units, and for each its place among them."""
        order, starts = self._by_unit
        lengths = starts[units + 1] - starts[units]
        places = np.repeat(np.arange(len(units)), lengths)
        begins = np.repeat(starts[units] - (np.cumsum(lengths) - lengths), lengths)
        return order[begins + np.arange(len(begins))], places

    @cached_property
    def _by_unit(self) -> tuple[Array, Array]:
        """All rows unit by unit, and where each unit starts."""
        sizes = np.bincount(self.of_row, minlength=self.count)
        return np.argsort(self.of_row, kind="stable"), np.concatenate([[0], np.cumsum(sizes)])

    def columns(self, columns: Sequence[Column]) -> list[Column]:
        """The same columns with one row per unit."""
        return list(columns) if self.plain else [column.take(self.first) for column in columns]

    def strata(self) -> list[Array]:
        """The units of each stratum."""
        if self.stratum is None:
            return [np.arange(self.count)]
        sizes = np.bincount(self.stratum.codes, minlength=self.stratum.cardinality)
        return np.split(np.argsort(self.stratum.codes, kind="stable"), np.cumsum(sizes)[:-1])

    def within(self, columns: Sequence[Column]) -> Units:
        """The same where groups stay within columns too, which are alike in all rows of a unit."""
        if not columns:
            return self
        parts: list[Coded] = [Coded(column.codes[self.first], column.cardinality) for column in columns]
        parts += [] if self.stratum is None else [self.stratum]
        return replace(self, stratum=Coded(*class_of_each_row(pack(parts))))


def units_of(table: Table, policy: Policy) -> Units:
    """Persons where the policy names a `person`, otherwise rows, with the people of each where it names a `count`.

    >>> from shoal.storage.reading import read
    >>> stays = read({"who": ["a", "a", "b", "c"], "age": [30, 30, 41, 52]})
    >>> units = units_of(stays, Policy(columns={"age": "quasi-identifier"}, person="who"))
    >>> units.first.tolist(), units.of_row.tolist(), units.stratum.codes.tolist()
    ([0, 2, 3], [0, 0, 1, 2], [1, 0, 0])
    """
    rows = Rows.of(table, policy.quasi_identifiers, policy.count, policy.person)
    every = np.arange(table.rows)
    if rows.person is not None:
        codes = Coded(rows.person.codes, rows.person.cardinality)
        of_row, count = class_of_each_row(codes)
        first = first_row_of_each_class(of_row, count)
        parts = [_dense(np.bincount(of_row, minlength=count))]
        linked = linked_classes(rows.person, policy.linked)
        if linked is not None:
            parts.append(Coded(linked.codes[codes.codes[first]], linked.cardinality))
        return Units(first, of_row, None, Coded(*class_of_each_row(pack(parts))), True)
    if rows.weights is not None and rows.count != table.rows:
        raise InputError(f"Count column '{policy.count}' is zero in some rows: these are not records.", "Remove them.")
    return Units(every, every, rows.weights if policy.count is not None else None)


def mean_weights(table: Table, policy: Policy) -> Array | None:
    """How much each row counts in a mean: its survey weight, or the people that it stands for; None if all alike.

    A mean by weights keeps the estimated total of the population: the sum of weight times value.
    """
    if policy.weight is not None:
        return record_weights(table.select([policy.weight])[0])
    return table.records if table.records is not None else units_of(table, policy).weights_of_rows


def _dense(numbers: Array) -> Coded:
    values, codes = np.unique(numbers, return_inverse=True)
    return Coded(codes, len(values))


def about(columns: Sequence[Column], settings: Mapping[str, T]) -> dict[str, T]:
    """What settings say about some columns."""
    return {column.name: settings[column.name] for column in columns if column.name in settings}


def varies_within_persons(table: Table, policy: Policy, names: Sequence[str]) -> str | None:
    """Why persons cannot be grouped: which column is not the same in all rows of a person; None where all are.

    >>> from shoal.storage.reading import read
    >>> stays = read({"who": ["a", "a"], "age": [30, 30], "ward": ["x", "y"]})
    >>> varies_within_persons(stays, Policy(person="who"), ["age", "ward"])
    "groups persons (`person`) by what is the same in all their rows, and column 'ward' varies: use the lattice"
    """
    if policy.person is None:
        return None
    person = table.select([policy.person])[0]
    if person.nulls:
        return None  # refused with its cure when the persons are read
    first = np.zeros(person.cardinality, np.int64)
    first[person.codes[::-1]] = np.arange(table.rows)[::-1]
    for column in table.select(names):
        if (column.codes != column.codes[first][person.codes]).any():
            what = "groups persons (`person`) by what is the same in all their rows"
            return f"{what}, and column '{column.name}' varies: use the lattice"
    return None


class UnitCheck(Protocol):
    """Which groups of units a policy does not allow: of all units, or of some of them."""

    def __call__(self, group_of_unit: Array, count: int) -> Array: ...

    def within(self, units: Array) -> FailsPolicy: ...


def groups_in_strata(units: Units, k: int, check: UnitCheck | None, suppression: float, group: GroupUnits) -> Array:
    """The group of each unit, stratum by stratum; -1 in strata that cannot keep the policy even as a whole.

    Where those are more than the share that may be suppressed, that is an error.
    """
    stratum = units.stratum or Coded(np.zeros(units.count, np.int64), 1)
    fails = np.bincount(stratum.codes, units.ones, minlength=stratum.cardinality) < k
    if check is not None:
        fails |= check(stratum.codes, stratum.cardinality)
    lost = fails[stratum.codes]
    share = units.ones[lost].sum() / units.ones.sum()
    if share > suppression or lost.all():
        raise _refusal(units, lost, k, suppression)
    group_of_unit, groups = np.full(units.count, -1, np.int64), 0
    for some in units.strata():
        if lost[some[0]]:
            continue
        own = group(some, None if check is None else check.within(some))
        group_of_unit[some] = own + groups
        groups += int(own.max()) + 1
    return group_of_unit


def _refusal(units: Units, lost: Array, k: int, suppression: float) -> InputError:
    many = int(units.ones[lost].sum())
    if units.stratum is None:
        if many < k:
            return InputError(f"k = {k} is more than the {many:,} records.", "Use a smaller k.")
        return InputError(
            "No grouping keeps the policy: all records together do not.",
            "Ask for less, or look at the sensitive column.",
        )
    if units.count < k:
        return InputError(f"k = {k} is more than the {units.count:,} persons.", "Use a smaller k.")
    return InputError(
        f"{counted(many, 'person')} ({percent(many / units.count)}) cannot be hidden among others: those with as many "
        "rows (and the same in linked tables) are too few, or break a model even all together; "
        f"{percent(suppression)} may be suppressed.",
        "Allow more with `suppression` in the policy, or limit the rows per person first.",
    )


def boxes_of_units(columns: Sequence[Column], units: Units, group: Array) -> Boxed:
    """The boxes of groups on all rows of their units; units in no group (-1) are `*` in every column."""
    of_row = group[units.of_row]
    count = int(group.max()) + 1
    lost = of_row < 0
    of_row = np.where(lost, count, of_row)
    order = np.argsort(of_row, kind="stable")
    boxed = box_clusters(columns, order, np.flatnonzero(np.diff(of_row[order], prepend=-1)))
    if not lost.any():
        return boxed
    stars = np.arange(boxed.boxes) == count
    return Boxed(boxed.box_of_row, {name: _starred(side, stars) for name, side in boxed.sides.items()})


def suppressed_rows_of(boxed: Boxed) -> Array:
    """The rows that are `*` in every column."""
    return np.asarray(np.logical_and.reduce([side.starred for side in boxed.sides.values()])[boxed.box_of_row])


def _starred(side: Side, stars: Array) -> Side:
    """The same with `*` in some boxes."""
    missing = np.zeros(len(stars), np.int64) if side.missing is None else side.missing
    last = max(len(side.scale) - 1, 0)
    starred = replace(
        side,
        low=np.where(stars, 0, side.low),
        high=np.where(stars, last, side.high),
        missing=np.where(stars, SOME_MISSING, missing),
    )
    if not isinstance(starred, Sets):
        return starred
    return replace(
        starred,
        set_of_box=np.where(stars, len(starred.starts) - 1, starred.set_of_box),
        starts=np.append(starred.starts, starred.starts[-1] + len(starred.scale)),
        members=np.append(starred.members, np.arange(len(starred.scale))),
    )
