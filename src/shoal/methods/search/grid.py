"""The search space laid out for the kernels: distinct tuples, the nodes of every level, what each costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.kernels import lattice_bounds
from shoal.kernels.lattice_counts import NodeKeys, look_up
from shoal.methods.base import relative_importance
from shoal.ranges.hierarchy.fit import Fitted
from shoal.storage import Array
from shoal.storage.classes import CountTable

# What a generalisation costs, as the search counts it: a cost per column, level and value, and how columns add up.


class Costs(NamedTuple):
    """One column's costs: `levels[l][code]` of a record with that code kept at level l, `suppressed[code]` of one not
    kept. The column's part in the score is x = (sum of costs - base) / scale, at least 0."""

    levels: list[Array]
    suppressed: Array
    base: float
    scale: float


class ColumnMeasure(NamedTuple):
    """A measure that sums over cells; `geometric`: score = (product of (1 + x)^w)^(1 / sum w) - 1, else the mean."""

    name: str
    costs: Callable[[Fitted, Array], Costs]
    geometric: bool

    def score(self, product: float, importance: float) -> float:
        """The score of a product of factors."""
        if not np.isfinite(product):
            return float("inf")
        return float(product ** (1 / importance) - 1 if self.geometric else np.log(product) / importance)


def _loss(fitted: Fitted, records: Array) -> Costs:
    """The share of the hierarchy's leaves that a value stands for (ARX's Loss)."""
    levels = [shares[codes] for shares, codes in zip(fitted.shares, fitted.codes, strict=True)]
    total = float(records.sum())
    base = total / fitted.leaves
    return Costs(levels, np.ones(len(records)), base, total - base)


def _precision(fitted: Fitted, records: Array) -> Costs:
    """The height to which a value was raised (Sweeney): 1 - Prec."""
    top = len(fitted.codes) - 1
    levels = [np.full(len(records), level / max(top, 1)) for level in range(top + 1)]
    return Costs(levels, np.ones(len(records)), 0.0, float(records.sum()))


def _entropy(fitted: Fitted, records: Array) -> Costs:
    """How many bits are missing to tell the value from those it was joined with (Gionis and Tassa)."""
    levels = []
    for codes in fitted.codes:
        joined = np.bincount(codes, records)[codes]
        with np.errstate(divide="ignore", invalid="ignore"):
            levels.append(np.where(records > 0, np.log2(joined / records), 0.0))
    total = float(records.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        suppressed = np.where(records > 0, np.log2(total / records), 0.0)
    return Costs(levels, suppressed, 0.0, float((suppressed * records).sum()))


# measures with a bound from marginals; the others need every node to be looked at
COLUMN_MEASURES = {
    "loss": ColumnMeasure("loss", _loss, True),
    "precision": ColumnMeasure("precision", _precision, False),
    "entropy": ColumnMeasure("entropy", _entropy, False),
}


# measures of the sizes of classes
CLASS_MEASURES = ("discernibility", "average-class-size")


def least_possible(minimize: str, k: int, records: int) -> float:
    """What no table with classes of at least k can go below.

    A record shares its class with k - 1 others at least; at most (records - 1) // k classes stand beside one of
    suppressed records, which counts as a class.

    >>> least_possible("discernibility", 5, 11), least_possible("average-class-size", 5, 11)
    (0.45454545454545453, 0.3333333333333333)
    """
    return k / records if minimize == "discernibility" else 1 / ((records - 1) // k + 1)


# compound columns stay small: their look-up tables are filled anew for each node
_COMPOUND = 1 << 10
# codes that 16 bits hold
_NARROW = 1 << 16


@dataclass(frozen=True)
class LatticeAxis:
    """One quasi-identifier in the lattice: its levels, from `low` to `high`, their costs, the records of each code."""

    name: str
    fitted: Fitted
    costs: Costs
    records: Array = field(repr=False)
    weight: float
    low: int
    high: int


class Compounds(NamedTuple):
    """Columns packed into compound ones: their codes tuple by tuple, where the table of each starts, its columns, and
    the codes that a compound code packs."""

    codes: Array
    starts: Array
    members: Array
    unpacked: Array


@dataclass(frozen=True)
class LatticeGrid:
    """The count table and the axes of the lattice, as flat arrays."""

    tuples: CountTable
    axes: Sequence[LatticeAxis]
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
    def compounds(self) -> Compounds:
        """Columns packed together."""
        return _compounds(self.axes, self.tuples, _groups([len(axis.fitted.codes[0]) for axis in self.axes]))

    @property
    def codes(self) -> Array:
        return self.compounds.codes

    @property
    def starts(self) -> Array:
        return self.compounds.starts

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
        return prod(axis.high - axis.low + 1 for axis in self.axes)

    @property
    def importance(self) -> float:
        return sum(axis.weight for axis in self.axes)

    def factors(self, gains: Array) -> Array:
        """The factors of the score by column and level, where these cost `gains` more than if all were kept."""
        return np.asarray(lattice_bounds.factors_of(self._column_scales, gains))

    def below_factors(self, gains: Array | None) -> Array:
        """The same where finer nodes cost `gains` more at least; infinite where none is feasible."""
        return np.full(self.sums.shape, np.inf) if gains is None else self.factors(gains)

    @cached_property
    def free_factors(self) -> Array:
        """The factors with nothing suppressed."""
        return self.factors(np.zeros(self.sums.shape))

    def product(self, levels: Array, gains: Array) -> float:
        """The product of a node's factors, where columns cost `gains` more than if all were kept."""
        return float(lattice_bounds.product_of(self._column_scales, levels, gains))

    def rules_out(
        self, levels: Array, gains: Array, share: float, bounds: Array, strides: Array, target: float
    ) -> bool:
        """Whether a node one level finer that is open would reach the target, if its columns cost a share of `gains`
        more."""
        given = (self._column_scales, levels, gains, share)
        return bool(lattice_bounds.rules_out(*given, bounds, strides, self.low, target))

    def gains(self, lost: Array, levels: Array) -> Array:
        """What lost records, by compound code, cost more than if they had been kept at these levels: by column."""
        return np.asarray(lattice_bounds.gains(self._losses, lost, levels))

    def add_gains_below(self, below: Array, lost: Array, at: Array, levels: Array) -> None:
        """Add what lost records cost more at least than if they had been kept, by column and level up to these; they,
        or others instead that are the same at the levels `at`."""
        lattice_bounds.gains_below(self._losses, lost, at, levels, below)

    @cached_property
    def _column_scales(self) -> lattice_bounds.ColumnScales:
        return lattice_bounds.ColumnScales(self.sums, self.scales, self.measure.geometric)

    @cached_property
    def _losses(self) -> lattice_bounds.Losses:
        costs = (self.costs, self.suppressed, self.first)
        return lattice_bounds.Losses(self.compounds[1:], (self.nodes, self.offsets), costs, self.least_gains)

    @cached_property
    def _keys(self) -> NodeKeys:
        return NodeKeys(self.compounds[1:], (self.nodes, self.offsets, self.cards))

    @cached_property
    def least_gains(self) -> tuple[Array, Array]:
        """What a record loses at least that is suppressed instead of kept at level l, by its node at a level h above:
        one after the other, and where those of column j, h and l start."""
        at = np.zeros((*self.sums.shape, self.sums.shape[1]), np.int64)
        gains: list[Array] = [np.zeros(1)]
        length = 1
        for j, axis in enumerate(self.axes):
            for high, nodes in enumerate(axis.fitted.codes[: axis.high + 1]):
                order = np.argsort(nodes, kind="stable")
                starts = np.flatnonzero(np.diff(nodes[order], prepend=-1))
                for low in range(high):
                    gain = axis.costs.suppressed - axis.costs.levels[low]
                    at[j, high, low] = length
                    gains.append(np.minimum.reduceat(gain[order], starts))
                    length += len(gains[-1])
        return np.concatenate(gains), at

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
        """Fill the table that gives each compound code its part of a node's key; how many keys there can be."""
        return int(look_up(self._keys, levels, table))

    def score(self, product: float) -> float:
        """The score that a product of factors stands for."""
        return self.measure.score(product, self.importance)

    def cells(self, levels: Array) -> int:
        """How many classes there could be at a node."""
        return prod(cards[level] for cards, level in zip(self._cards, levels.tolist(), strict=True))

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
) -> LatticeGrid:
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
        axes.append(LatticeAxis(name, fitted, chosen.costs(fitted, records), records, weights[name], low, high))
    return LatticeGrid(tuples, axes, chosen, *_flat(axes))


def code_type(codes: int) -> type:
    """What codes are kept in, below a number: what a look costs is mostly reading them."""
    return np.uint16 if codes <= _NARROW else np.int32


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


def _compounds(axes: Sequence[LatticeAxis], tuples: CountTable, groups: list[list[int]]) -> Compounds:
    width = max(len(group) for group in groups)
    members = np.full((len(groups), width), -1, np.int64)
    most = max(int(np.prod([len(axes[j].fitted.codes[0]) for j in group])) for group in groups)
    narrow = code_type(most)
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
    return Compounds(codes, starts, members, unpacked)


def _flat(axes: Sequence[LatticeAxis]) -> tuple[Array, ...]:
    height = max(len(axis.fitted.codes) for axis in axes)
    offsets = np.zeros((len(axes), height), np.int64)
    cards = np.ones((len(axes), height), np.int64)
    sums = np.zeros((len(axes), height))
    first = np.zeros(len(axes), np.int64)
    nodes, costs, suppressed = list[Array](), list[Array](), list[Array]()
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
    return (np.concatenate(nodes), np.concatenate(costs), np.concatenate(suppressed), offsets, first, cards, sums)
