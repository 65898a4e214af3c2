"""The search space laid out for the kernels: distinct tuples, the nodes of every level, what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

import numpy as np

from shoal.anonymization.importance import relative_importance
from shoal.anonymization.search import kernels
from shoal.anonymization.search.measures import COLUMN_MEASURES, ColumnMeasure, Costs
from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.hierarchy.fit import Fitted
from shoal.table import Array
from shoal.table.classes import CountTable

# compound columns stay small: their look-up tables are filled anew for each node
_COMPOUND = 1 << 10


@dataclass(frozen=True)
class Axis:
    """One quasi-identifier in the lattice: its levels, from `low` to `high`, their costs, the records of each code."""

    name: str
    fitted: Fitted
    costs: Costs
    records: Array = field(repr=False)
    weight: float
    low: int
    high: int


@dataclass(frozen=True)
class Grid:
    """The count table and the axes of the lattice, as flat arrays."""

    tuples: CountTable
    axes: Sequence[Axis]
    measure: ColumnMeasure
    # nodes and costs of all columns and levels, one after the other
    nodes: Array = field(repr=False)
    costs: Array = field(repr=False)
    suppressed: Array = field(repr=False)
    offsets: Array = field(repr=False)
    first: Array = field(repr=False)
    cards: Array = field(repr=False)
    # sums of costs and factors of the score with nothing suppressed
    sums: Array = field(repr=False)

    @cached_property
    def records(self) -> int:
        return self.tuples.records

    @cached_property
    def _compounds(self) -> tuple[Array, Array, Array, Array]:
        groups = _groups([len(axis.fitted.codes[0]) for axis in self.axes])
        return _compounds(self.axes, self.tuples, groups)

    @property
    def codes(self) -> Array:
        """The codes of compound columns, tuple by tuple."""
        return self._compounds[0]

    @property
    def starts(self) -> Array:
        """Where the tables of compound columns start."""
        return self._compounds[1]

    @property
    def members(self) -> Array:
        """The columns of each compound."""
        return self._compounds[2]

    @property
    def unpacked(self) -> Array:
        """The codes that compound codes pack."""
        return self._compounds[3]

    @cached_property
    def low(self) -> Array:
        return np.array([axis.low for axis in self.axes])

    @cached_property
    def bottom(self) -> Array:
        """The values as they are, whether or not the lattice has them."""
        return np.zeros(len(self.axes), np.int64)

    @cached_property
    def high(self) -> Array:
        return np.array([axis.high for axis in self.axes])

    @property
    def size(self) -> int:
        """The nodes of the lattice."""
        size = 1
        for axis in self.axes:
            size *= axis.high - axis.low + 1
        return size

    @property
    def importance(self) -> float:
        return sum(axis.weight for axis in self.axes)

    def factors(self, gains: Array) -> Array:
        """The factors of the score by column and level, where these cost `gains` more than if all were kept."""
        base, scale, weight, height = self.scales
        return kernels.factors_of(self.sums, gains, base, scale, weight, height, self.measure.geometric)

    def below_factors(self, gains: Array | None) -> Array:
        """The same where finer nodes cost `gains` more at least; infinite where none is feasible."""
        return np.full(self.sums.shape, np.inf) if gains is None else self.factors(gains)

    @cached_property
    def free_factors(self) -> Array:
        """The factors with nothing suppressed."""
        return self.factors(np.zeros(self.sums.shape))

    def product(self, levels: Array, gains: Array) -> float:
        """The product of a node's factors, where columns cost `gains` more than if all were kept."""
        base, scale, weight, _ = self.scales
        return kernels.product_of(levels, self.sums, gains, base, scale, weight, self.measure.geometric)

    @cached_property
    def least_gains(self) -> tuple[Array, Array]:
        """What a record loses at least that is suppressed instead of kept at level l, by its node at a level h above:
        one after the other, and where those of column j, h and l start."""
        at = np.zeros((*self.sums.shape, self.sums.shape[1]), np.int64)
        found: list[Array] = [np.zeros(1)]
        length = 1
        for j, axis in enumerate(self.axes):
            for high, nodes in enumerate(axis.fitted.codes[: axis.high + 1]):
                order = np.argsort(nodes, kind="stable")
                starts = np.flatnonzero(np.diff(nodes[order], prepend=-1))
                for low in range(high):
                    gain = axis.costs.suppressed - axis.costs.levels[low]
                    at[j, high, low] = length
                    found.append(np.minimum.reduceat(gain[order], starts))
                    length += len(found[-1])
        return np.concatenate(found), at

    @cached_property
    def scales(self) -> tuple[Array, Array, Array, Array]:
        """Base, scale, weight and height of each column."""
        costs = [axis.costs for axis in self.axes]
        return (
            np.array([cost.base for cost in costs]),
            np.array([cost.scale for cost in costs]),
            np.array([axis.weight for axis in self.axes]),
            np.array([axis.fitted.height for axis in self.axes]),
        )

    @cached_property
    def entropies(self) -> Array:
        """The entropy in bits of each column at each level."""
        found = np.zeros(self.sums.shape)
        for j, axis in enumerate(self.axes):
            for level, nodes in enumerate(axis.fitted.codes):
                shares = np.bincount(nodes, axis.records) / self.records
                found[j, level] = -(shares * np.log2(np.maximum(shares, 1e-300))).sum()
        return found

    def look_up(self, levels: Array, table: Array) -> int:
        """Fill the table of a node's keys (`kernels.look_up`); how many there can be."""
        places = (self.members, self.unpacked, self.starts, self.nodes, self.offsets, self.cards)
        return kernels.look_up(levels, *places, table)

    def score(self, product: float) -> float:
        """The score that a product of factors stands for."""
        return self.measure.score(product, self.importance)

    def cells(self, levels: Array) -> int:
        """How many classes there could be at a node."""
        product = 1
        for j, level in enumerate(levels.tolist()):
            product *= self._cards[j][level]
        return product

    @cached_property
    def _cards(self) -> list[list[int]]:
        found: list[list[int]] = self.cards.tolist()
        return found


def make_grid(
    columns: Mapping[str, Fitted],
    tuples: CountTable,
    minimize: str = "loss",
    importance: Mapping[str, float] | None = None,
    levels: Mapping[str, tuple[int, int]] | None = None,
) -> Grid:
    """Lay out the search space; `levels` are the least and greatest level allowed of a column."""
    chosen = COLUMN_MEASURES[minimize]
    weights = relative_importance(importance or {}, list(columns))
    axes = []
    for name, fitted in columns.items():
        records = np.bincount(tuples.tuples[name].codes, tuples.counts, minlength=len(fitted.codes[0]))
        top = len(fitted.codes) - 1
        low, high = (levels or {}).get(name, (0, top))
        if low > high:
            raise InputError(
                f"Of the levels of column '{name}' the greatest comes before the least.", "Turn them round."
            )
        if not 0 <= low <= high <= top:
            raise InputError(
                f"Levels {low} to {high} of column '{name}' are not between 0 and {top}.", "Choose others."
            )
        axes.append(Axis(name, fitted, chosen.costs(fitted, records), records, weights[name], low, high))
    return Grid(tuples, axes, chosen, *_flat(axes))


def _groups(cardinalities: Sequence[int]) -> list[list[int]]:
    """Columns packed together, the largest first, each into the first group that still has room."""
    groups: list[tuple[list[int], int]] = []
    for j in sorted(range(len(cardinalities)), key=lambda j: -cardinalities[j]):
        for place, (members, product) in enumerate(groups):
            if product * cardinalities[j] <= _COMPOUND:
                groups[place] = ([*members, j], product * cardinalities[j])
                break
        else:
            groups.append(([j], cardinalities[j]))
    return [members for members, _ in groups]


def _compounds(axes: Sequence[Axis], tuples: CountTable, groups: list[list[int]]) -> tuple[Array, Array, Array, Array]:
    width = max(len(group) for group in groups)
    members = np.full((len(groups), width), -1, np.int64)
    # narrow codes: what a look costs is mostly reading them
    most = max(int(np.prod([len(axes[j].fitted.codes[0]) for j in group])) for group in groups)
    narrow: type = np.uint16 if most <= 1 << 16 else np.int32
    codes: Array = np.zeros((len(groups), len(tuples)), narrow)
    starts = np.zeros(len(groups) + 1, np.int64)
    for c, group in enumerate(groups):
        product = 1
        for m, j in enumerate(group):
            members[c, m] = j
            codes[c] += tuples.tuples[axes[j].name].codes.astype(narrow) * narrow(product)
            product *= len(axes[j].fitted.codes[0])
        starts[c + 1] = starts[c] + product
    unpacked = np.zeros((width, starts[-1]), np.int32)
    for c, group in enumerate(groups):
        rest = np.arange(starts[c + 1] - starts[c])
        for m, j in enumerate(group):
            rest, unpacked[m, starts[c] : starts[c + 1]] = np.divmod(rest, len(axes[j].fitted.codes[0]))
    return codes, starts, members, unpacked


def _flat(axes: Sequence[Axis]) -> tuple[Array, ...]:
    height = max(len(axis.fitted.codes) for axis in axes)
    offsets = np.zeros((len(axes), height), np.int64)
    cards = np.ones((len(axes), height), np.int64)
    sums = np.zeros((len(axes), height))
    first = np.zeros(len(axes), np.int64)
    nodes: list[Array] = []
    costs: list[Array] = []
    suppressed: list[Array] = []
    at = start = 0
    for j, axis in enumerate(axes):
        first[j] = start
        suppressed.append(axis.costs.suppressed)
        start += len(axis.costs.suppressed)
        for level, (of_code, cost) in enumerate(zip(axis.fitted.codes, axis.costs.levels, strict=True)):
            offsets[j, level] = at
            at += len(of_code)
            nodes.append(of_code.astype(np.int64))
            costs.append(cost)
            cards[j, level] = int(of_code.max(initial=0)) + 1
            sums[j, level] = float((axis.records * cost).sum())
    return (
        np.concatenate(nodes),
        np.concatenate(costs),
        np.concatenate(suppressed),
        offsets,
        first,
        cards,
        sums,
    )
