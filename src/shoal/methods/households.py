"""Households: what is the same for all members is released the same for all, so that none tells what another hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.methods.units import Units
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side
from shoal.storage import Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class


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
