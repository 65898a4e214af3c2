"""What a method groups: rows, rows that stand for many people, or persons with all their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from shoal.errors import InputError
from shoal.methods.partition.groups import FailsPolicy
from shoal.models import AnyModel, Evidence, HighestRisk, KAnonymity
from shoal.models.evidence import spread_of_persons, whole_of, whole_of_persons
from shoal.models.spread import Spread, Whole
from shoal.policy import Policy
from shoal.policy.judgement.evidence import trees_of
from shoal.ranges.boxed import SOME_MISSING, Boxed, Sets, Side, box_clusters
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack, sensitive_counts
from shoal.storage.rows import Rows, record_weights
from shoal.utility.loss import loss_of_boxes
from shoal.wording import counted, percent

T = TypeVar("T")
# the groups of some units, from their numbers and which groups a policy does not allow
GroupUnits = Callable[[Array, FailsPolicy | None], Array]


@dataclass(frozen=True)
class Units:
    """`first[u]` is a row of unit u and `of_row[r]` the unit of row r; unit u stands for `people[u]` (none: for one).

    Units of different strata are told apart by what no method changes: how many rows a person has. So no group crosses
    strata.
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
        return Units(first, of_row, None, dense(np.bincount(of_row, minlength=count)), True)
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


def dense(numbers: Array) -> Coded:
    """Numbers by their place among the different ones."""
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


def groups_in_strata(units: Units, k: int, check: GroupCheck | None, suppression: float, group: GroupUnits) -> Array:
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
        "rows are too few, or break a model even all together; "
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


# Households: what is the same for all members is released the same for all, so that none tells what another hides.


def households_of(table: Table, policy: Policy) -> Units | None:
    """The households as units, where the policy names a `household`; otherwise None.

    >>> from shoal.storage.reading import read
    >>> units = households_of(read({"hid": [7, 7, 9]}), Policy(household="hid"))
    >>> units.first.tolist(), units.of_row.tolist()
    ([0, 2], [0, 0, 1])
    """
    if policy.household is None:
        return None
    column = table.select([policy.household])[0]
    if column.nulls:
        raise InputError(
            f"Household column '{column.name}' is empty in {column.nulls:,} rows: who lives together?",
            "Give those who live alone a number of their own.",
        )
    of_row, count = class_of_each_row(Coded(column.codes, column.cardinality))
    return Units(first_row_of_each_class(of_row, count), of_row, joined=True)


def of_households(columns: Sequence[Column], homes: Units) -> list[Column]:
    """The columns that are the same for all members of every household.

    >>> from shoal.storage.reading import read
    >>> table = read({"hid": [1, 1, 2], "town": ["A", "A", "B"], "age": [3, 30, 40]})
    >>> homes = households_of(table, Policy(household="hid"))
    >>> [column.name for column in of_households(table.select(["town", "age"]), homes)]
    ['town']
    """
    return [column for column in columns if (column.codes == column.codes[homes.first][homes.of_row]).all()]


def refuses_households(policy: Policy, why: str) -> str | None:
    """Why a method does not take households."""
    return None if policy.household is None else f"{why} (`household`): use mondrian, the lattice or suppress"


def one_of_them(policy: Policy) -> str | None:
    """Persons and counts have no households beside them."""
    if policy.household is None or (policy.person is None and policy.count is None):
        return None
    other = "person" if policy.person is not None else "count"
    return f"takes `household` or `{other}`, not both"


@dataclass(frozen=True)
class Nested(Boxed):
    """Boxes of members within boxes of households: `outer` has the columns of households, alike for all members."""

    outer: Boxed = None  # type: ignore[assignment]

    def around(self, column: Column) -> Boxed:
        """The boxes of which a column is one side."""
        return self.outer if column.name in self.outer.sides else self

    def with_sides(self, sides: Mapping[str, Side]) -> Nested:
        """The same with sides as they are written, those of households box by household's box."""
        outer = Boxed(self.outer.box_of_row, {name: sides[name] for name in self.outer.sides})
        inner = {name: side for name, side in sides.items() if name not in outer.sides}
        return nested(outer, Boxed(self.box_of_row, inner), list(sides))


def nested(outer: Boxed, inner: Boxed, names: Sequence[str]) -> Nested:
    """Boxes of members, each within one box of households; sides in the order of the names."""
    outer_of_box = np.zeros(inner.boxes, np.int64)
    outer_of_box[inner.box_of_row] = outer.box_of_row
    sides = {
        name: inner.sides[name] if name in inner.sides else outer.sides[name].picked(outer_of_box) for name in names
    }
    return Nested(inner.box_of_row, sides, outer)


@dataclass(frozen=True)
class GroupCheck:
    """The models of a policy held against groups of units; what is sensitive is compared with the whole table."""

    models: Sequence[AnyModel]
    sensitive: Mapping[str, Column]
    wholes: Mapping[str, Whole]
    units: Units
    persons: bool

    @classmethod
    def of(cls, table: Table, policy: Policy, units: Units) -> GroupCheck | None:
        """None where the policy asks for k-anonymity only."""
        models = [model for model in policy.models if not isinstance(model, (KAnonymity, HighestRisk))]  # k implies it
        if not models:
            return None
        sensitive = {name: table.select([name])[0] for model in models for name in model.needs}
        trees = trees_of(policy, list(sensitive.values()))
        persons = policy.person is not None
        wholes = {
            name: _whole_of_persons(column, units, trees.get(name, ()))
            if persons
            else whole_of(column, units.weights_of_rows, trees.get(name, ()))
            for name, column in sensitive.items()
        }
        return cls(models, sensitive, wholes, units, persons)

    def __call__(self, group_of_unit: Array, count: int) -> Array:
        """Which groups fail, from the group of every unit (-1: in none)."""
        rows = np.arange(len(self.units.of_row))
        return self._fails(group_of_unit, self.units.ones, self.units.of_row, rows, count)

    def within(self, units: Array) -> FailsPolicy:
        """The same for groups of some units, looking at their rows only."""
        if self.units.plain and len(units) == self.units.count:
            return self
        rows, unit_of_row = self.units.rows_of(units)
        people = self.units.ones[units]
        return lambda group, count: self._fails(group, people, unit_of_row, rows, count)

    def _fails(self, group: Array, people: Array, unit_of_row: Array, rows: Array, count: int) -> Array:
        of_row = group[unit_of_row]
        kept = of_row >= 0
        if not kept.all():
            rows, of_row, unit_of_row = rows[kept], of_row[kept], unit_of_row[kept]
        there = group >= 0
        sizes = np.bincount(group[there], people[there], minlength=count).astype(np.int64)
        records = int(self.units.ones.sum())
        if self.units.joined and not self.persons:  # of households the members count
            sizes, records = np.bincount(of_row, minlength=count), len(self.units.of_row)
        spreads = {name: self._spread(name, of_row, people, unit_of_row, rows, count) for name in self.sensitive}
        evidence = Evidence(sizes, records=records, spreads=spreads)
        return np.asarray(np.logical_or.reduce([~model.good(model.measure(evidence)) for model in self.models]))

    def _spread(self, name: str, of_row: Array, people: Array, unit_of_row: Array, rows: Array, count: int) -> Spread:
        column, whole = self.sensitive[name], self.wholes[name]
        if self.persons:  # all rows of a person show the same: the box of its group
            whose, shown = Coded(unit_of_row, len(people)), Coded(of_row, count)
            return spread_of_persons(of_row, count, shown, whose, column.codes[rows], people, whole)
        own = Coded(column.codes[rows], column.cardinality)
        weights = None if self.units.people is None else people[unit_of_row]
        found = sensitive_counts(of_row, max(count, 1), own, weights)
        return Spread(found.classes.astype(np.int64), found.codes.astype(np.int64), found.counts, whole)


def _whole_of_persons(column: Column, units: Units, tree: tuple[Array, ...]) -> Whole:
    ordered = column.dtype.is_numeric() or column.dtype.is_temporal()
    person, code = Coded(units.of_row, units.count), Coded(column.codes, column.cardinality)
    return whole_of_persons(person, code, units.ones, ordered, column.nulls > 0, tree)


# how units are grouped by some columns, which have one row per unit
MakeGroups = Callable[[Sequence[Column], Units, int], GroupUnits]
# households are grouped by so many times k, so that their members find others near them
_LARGER = (1, 4, 16, 64)
# exchanges between larger groups take time that grows with their size
_LARGEST = 256


def boxes_by_unit(table: Table, policy: Policy, k: int, make: MakeGroups, strata: Sequence[Column] = ()) -> Boxed:
    """The boxes of a table whose rows are not simply one person each; groups stay within `strata`."""
    columns, units = table.select(policy.quasi_identifiers), units_of(table, policy)
    homes = households_of(table, policy)
    shared = [] if homes is None else of_households(columns, homes)
    if homes is None or not shared:
        return boxes_of_units(columns, units, _groups(table, policy, k, units.within(strata), columns, make))
    homes = homes.within(strata)
    if len(shared) == len(columns):
        return boxes_of_units(columns, homes, _groups(table, policy, k, homes, columns, make))
    sizes = [k * larger for larger in _LARGER if larger == 1 or k * larger <= min(homes.count, _LARGEST)]
    found = [_members_in_homes(table, policy, k, size, homes, shared, make) for size in sizes]
    return min(found, key=lambda boxed: loss_of_boxes(columns, boxed))


def _members_in_homes(
    table: Table, policy: Policy, k: int, size: int, homes: Units, shared: Sequence[Column], make: MakeGroups
) -> Nested:
    """Households in groups of `size` by what their members share; then members in groups of k, among those whose
    households are released alike, by what is their own."""
    names = {column.name for column in shared}
    columns, rows = table.select(policy.quasi_identifiers), units_of(table, policy)
    outer = boxes_of_units(shared, homes, _groups(table, policy, size, homes, shared, make))
    own = [column for column in columns if column.name not in names]
    alike = replace(rows, stratum=Coded(*outer.class_of_each_row()))
    inner = boxes_of_units(own, rows, _groups(table, policy, k, alike, own, make))
    return nested(outer, inner, [column.name for column in columns])


def _groups(table: Table, policy: Policy, k: int, units: Units, columns: Sequence[Column], make: MakeGroups) -> Array:
    check = GroupCheck.of(table, policy, units)
    one_each = [column.take(units.first) for column in columns]
    return groups_in_strata(units, k, check, policy.suppression, make(one_each, units, k))


def is_plain(table: Table, policy: Policy) -> bool:
    """Whether every row is one person, and no column is shared by the members of a household."""
    homes = households_of(table, policy)
    if homes is not None and of_households(table.select(policy.quasi_identifiers), homes):
        return False
    return units_of(table, policy).plain
