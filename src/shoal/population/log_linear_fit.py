"""Poisson log-linear models of a table of counts: main effects and pairs of columns, fitted component by component.

Columns that no pair joins are independent, so that each component of joined columns is a table of its own, and only
components must fit into memory, not the table of all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.table import Array
from shoal.table.classes import Coded

# cells of the largest component that is fitted
MOST_CELLS = 1 << 20
_SWEEPS = 40
_NEAR = 1e-6

Pair = tuple[int, int]


@dataclass(frozen=True)
class Component:
    """Some columns with the chance of each of their combinations, and the pairs that the model joins."""

    columns: tuple[int, ...]
    chances: Array
    pairs: tuple[Pair, ...] = ()

    def margin(self, pair: Pair) -> Array:
        """The chances of a pair of its columns."""
        others = tuple(axis for axis, column in enumerate(self.columns) if column not in pair)
        return np.asarray(self.chances.sum(axis=others))

    def at(self, codes: Sequence[Array]) -> Array:
        """The chance of each tuple's combination."""
        return np.asarray(self.chances[tuple(codes[column] for column in self.columns)])


@dataclass(frozen=True)
class Counts:
    """Distinct tuples as dense codes, and the records of each."""

    codes: tuple[Array, ...]
    cards: tuple[int, ...]
    records: Array

    @classmethod
    def of(cls, columns: Sequence[Coded], records: Array) -> Counts:
        """Only columns that vary, only values that occur."""
        dense = [np.unique(column.codes, return_inverse=True) for column in columns]
        kept = [(codes.reshape(-1), len(values)) for values, codes in dense if len(values) > 1]
        return cls(tuple(codes for codes, _ in kept), tuple(card for _, card in kept), records)

    def margin(self, columns: Sequence[int]) -> Array:
        """The share of records with each combination of some columns (in their order)."""
        shape = [self.cards[column] for column in columns]
        place = np.ravel_multi_index([self.codes[column] for column in columns], shape)
        found = np.bincount(place, self.records, int(np.prod(shape)))
        return np.asarray(found.reshape(shape) / self.records.sum())

    def independent(self) -> list[Component]:
        """The model of main effects."""
        return [Component((column,), self.margin([column])) for column in range(len(self.cards))]

    def pairs(self) -> list[Pair]:
        """All pairs of columns."""
        return list(combinations(range(len(self.cards)), 2))


def cells_if_joined(model: Sequence[Component], pair: Pair) -> int:
    """How many cells the component has that a pair would make."""
    touched = [component for component in model if set(pair) & set(component.columns)]
    return int(np.prod([float(component.chances.size) for component in touched]))


def with_pair(model: Sequence[Component], pair: Pair, counts: Counts) -> list[Component]:
    """The model with one more pair, fitted."""
    touched = [component for component in model if set(pair) & set(component.columns)]
    rest = [component for component in model if not set(pair) & set(component.columns)]
    if len(touched) == 2:
        first, second = touched
        columns = first.columns + second.columns
        chances = np.multiply.outer(first.chances, second.chances)
        order = np.argsort(columns)
        joined = Component(
            tuple(sorted(columns)), np.ascontiguousarray(chances.transpose(order)), first.pairs + second.pairs
        )
    else:
        joined = touched[0]
    joined = Component(joined.columns, joined.chances, (*joined.pairs, pair))
    return [*rest, fitted(joined, {pair: counts.margin(pair) for pair in joined.pairs})]


def fitted(component: Component, margins: dict[Pair, Array], sweeps: int = _SWEEPS) -> Component:
    """Iterative proportional fitting: scaled to each pair's margin in turn until all agree."""
    chances = component.chances.copy()
    for _ in range(sweeps):
        apart = 0.0
        for pair, wanted in margins.items():
            others = tuple(axis for axis, column in enumerate(component.columns) if column not in pair)
            now = chances.sum(axis=others, keepdims=True)
            target = wanted.reshape(now.shape)
            apart = max(apart, float(np.abs(now - target).max()))
            chances *= np.divide(target, now, out=np.zeros_like(now), where=now > 0)
        if apart < _NEAR * float(max(wanted.max() for wanted in margins.values())):
            break
    return Component(component.columns, chances, component.pairs)


def association(model: Sequence[Component], pair: Pair, counts: Counts) -> float:
    """How much of a pair the model leaves unexplained: (G^2 - df) / sqrt(2 df) of its table of two columns."""
    seen = counts.margin(pair)
    holding = [component for component in model if set(pair) & set(component.columns)]
    if len(holding) == 1:
        expected = holding[0].margin(pair)
    else:
        expected = np.outer(seen.sum(axis=1), seen.sum(axis=0))
    there = (seen > 0) & (expected > 0)
    deviance = 2 * float(counts.records.sum()) * float((seen[there] * np.log(seen[there] / expected[there])).sum())
    freedom = (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return float((deviance - freedom) / np.sqrt(2 * freedom))
