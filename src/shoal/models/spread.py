"""A sensitive column in the whole table, and how it is spread over the cells of classes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from shoal.storage import Array


@dataclass(frozen=True)
class Whole:
    """A sensitive column in the whole table, suppressed rows included: `counts[code]` members have the code.

    With `missing` the last code stands for a missing value, which is not a value. A member is a record; where members
    are persons, who may have several values, `members` of them have a known one and `unknown` have none. `tree` is the
    node of each code level by level, numbered densely, where there is a hierarchy.
    """

    counts: Array
    ordered: bool = True
    tree: tuple[Array, ...] = ()
    missing: bool = False
    members: int | None = None
    unknown: int | None = None
    cache: dict[str, float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def values(self) -> int:
        """How many codes stand for values."""
        return len(self.counts) - self.missing

    @cached_property
    def valued(self) -> Array:
        """The counts of values: 0 where the code stands for a missing one."""
        return np.where(np.arange(len(self.counts)) < self.values, self.counts, 0)

    @cached_property
    def known_members(self) -> int:
        """Members with a known value."""
        return int(self.valued.sum()) if self.members is None else self.members

    @cached_property
    def unknown_members(self) -> int:
        """Members without one."""
        return int(self.counts.sum() - self.valued.sum()) if self.unknown is None else self.unknown

    @cached_property
    def shares(self) -> Array:
        """The share of every value among the known ones; they sum up to 1."""
        return _over(self.valued, self.valued.sum())

    @cached_property
    def prevalence(self) -> Array:
        """The share of members who have the value, among those of whom a value is known."""
        return _over(self.valued, self.known_members)

    @cached_property
    def unknown_share(self) -> float:
        """The share of members without a known value."""
        return self.unknown_members / max(self.known_members + self.unknown_members, 1)

    @cached_property
    def shares_by_level(self) -> list[Array]:
        """The share of every node of the tree, level by level."""
        return [np.bincount(nodes, self.shares) for nodes in self.tree]


@dataclass(frozen=True)
class Spread:
    """How a sensitive column is spread over cells: `counts[i]` members in cell `cells[i]` have the code `codes[i]`,
    sorted by cell, then by code; every cell occurs.

    Without persons a cell is a class. With persons the cells of a class lie side by side from `first_cell` on, the
    class as a whole first; `members[c]` persons of cell c have a known value, `unknown[c]` have none.

    >>> spread = Spread(*np.array([[0, 0, 1], [0, 1, 1], [3, 1, 2]]), Whole(np.array([3, 3])))
    >>> spread.shares.tolist(), spread.distinct.tolist()
    ([0.75, 0.25, 1.0], [2, 1])
    """

    cells: Array
    codes: Array
    counts: Array
    whole: Whole
    first_cell: Array | None = None
    members: Array | None = None
    unknown: Array | None = None

    @cached_property
    def starts(self) -> Array:
        """Where each cell starts."""
        return np.flatnonzero(np.append(True, self.cells[1:] != self.cells[:-1]))

    @cached_property
    def entries(self) -> Array:
        """How many entries each cell has."""
        return np.diff(self.starts, append=len(self.cells))

    @cached_property
    def is_value(self) -> Array:
        """Which entries are of a value; the others count what is missing."""
        return np.asarray(self.codes < self.whole.values)

    @cached_property
    def valued(self) -> Array:
        """The members that have each value; 0 where it is missing."""
        return np.where(self.is_value, self.counts, 0)

    @cached_property
    def values(self) -> Array:
        """How many different values each cell has."""
        return self.total(self.is_value.astype(np.int64))

    @cached_property
    def known(self) -> Array:
        """Members of each cell with a known value."""
        return self.total(self.valued) if self.members is None else self.members

    @cached_property
    def unknown_shares(self) -> Array:
        """The share of each cell's members without a known value."""
        unknown = self.total(self.counts - self.valued) if self.unknown is None else self.unknown
        return np.asarray(unknown / np.maximum(self.known + unknown, 1))

    @cached_property
    def disclosed(self) -> Array:
        """Which cells have a value that every member has of whom one is known."""
        return np.asarray(self.largest(self.valued) == np.maximum(self.known, 1))

    @cached_property
    def distinct(self) -> Array:
        """The different values of each cell; one where a value is disclosed, whatever others there are."""
        return np.where(self.disclosed, 1, self.values)

    @cached_property
    def shares(self) -> Array:
        """The share of each value in its cell; they sum up to 1."""
        return _over(self.valued, np.repeat(self.total(self.valued), self.entries))

    @cached_property
    def prevalence(self) -> Array:
        """The share of the cell's members who have each value, among those of whom one is known."""
        return _over(self.valued, np.repeat(self.known, self.entries))

    @cached_property
    def known_share(self) -> Array:
        """The share of each class's members of whom a value is known."""
        shares = 1 - self.unknown_shares
        return shares if self.first_cell is None else shares[self.first_cell]

    def total(self, figures: Array) -> Array:
        """The sum per cell of a figure per entry."""
        return np.add.reduceat(figures, self.starts)

    def largest(self, figures: Array) -> Array:
        """The largest per cell of a figure per entry."""
        return np.maximum.reduceat(figures, self.starts)

    def worst(self, figures: Array, at_most: bool) -> Array:
        """The worst per class of a figure per cell."""
        if self.first_cell is None:
            return figures
        return (np.maximum if at_most else np.minimum).reduceat(figures, self.first_cell)


def _over(counts: Array, totals: Array | int) -> Array:
    """Shares; 0 of nothing is 0."""
    return np.asarray(counts / np.maximum(totals, 1))
