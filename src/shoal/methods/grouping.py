"""From units to boxes: persons, rows of several people, or households and then their members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.methods.households import Nested, households_of, nested, of_households
from shoal.methods.partition.groups import FailsPolicy
from shoal.methods.units import GroupUnits, Units, boxes_of_units, groups_in_strata, units_of
from shoal.models import AnyModel, Evidence, KAnonymity
from shoal.models.evidence import spread_of_persons, whole_of, whole_of_persons
from shoal.models.spread import Spread, Whole
from shoal.policy import Policy
from shoal.policy.judgement.evidence import trees_of
from shoal.ranges.boxed import Boxed
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, sensitive_counts
from shoal.utility.loss import loss_of_boxes

# Which groups break a model other than k-anonymity, which the groups keep by themselves.


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
        models = [model for model in policy.models if not isinstance(model, KAnonymity)]
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
