"""From units to boxes: persons, rows of several people, or households and then their members."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from shoal.anonymization.group_check import GroupCheck
from shoal.anonymization.households import Nested, households_of, nested, of_households
from shoal.anonymization.units import GroupUnits, Units, boxes_of_units, groups_in_strata, units_of
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded
from shoal.utility.box_loss import loss_of_boxes

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
