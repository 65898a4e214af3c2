"""Poisson log-linear models of a table of counts: main effects and pairs of columns, fitted component by component.

Columns that no pair joins are independent, so that each component of joined columns is a table of its own. Of a
component only the combinations are kept that its pairs allow: where a pair of values was never seen together, the
fitted mean is zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.table.classes import Coded, pack
from shoal.table.table import smallest_unsigned

# combinations that are looked at when two components are joined
MOST_CELLS = 1 << 22
_SWEEPS = 40
_NEAR = 1e-6

Pair = tuple[int, int]


@dataclass(frozen=True)
class Component:
    """Joined columns: the codes of each combination that can occur, its chance, and the pairs that the model joins."""

    codes: Mapping[int, Array]
    chances: Array
    pairs: tuple[Pair, ...] = ()

    def places(self, pair: Pair, cards: Sequence[int]) -> Array:
        """The place of each combination in the table of a pair of its columns."""
        first, second = pair
        return np.asarray(self.codes[first].astype(np.int64) * cards[second] + self.codes[second])

    def at(self, codes: Sequence[Array], cards: Sequence[int]) -> Array:
        """The chance of each tuple's combination; 0 for one that cannot occur."""
        both = [
            Coded(np.concatenate([mine, codes[column].astype(mine.dtype)]), cards[column])
            for column, mine in self.codes.items()
        ]
        keys = pack(both).codes
        own, wanted = keys[: len(self.chances)], keys[len(self.chances) :]
        order = np.argsort(own)
        place = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
        found = order[place]
        return np.asarray(np.where(own[found] == wanted, self.chances[found], 0.0))


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
        """The share of records with each combination of some columns, the last running fastest."""
        shape = [self.cards[column] for column in columns]
        place = np.ravel_multi_index([self.codes[column] for column in columns], shape)
        return np.asarray(np.bincount(place, self.records, int(np.prod(shape))) / self.records.sum())

    def independent(self) -> list[Component]:
        """The model of main effects."""
        return [
            Component({place: np.arange(card, dtype=smallest_unsigned(card))}, self.margin([place]))
            for place, card in enumerate(self.cards)
        ]

    def pairs(self) -> list[Pair]:
        """All pairs of columns."""
        return list(combinations(range(len(self.cards)), 2))


def cells_if_joined(model: Sequence[Component], pair: Pair) -> int:
    """How many combinations are looked at to join a pair."""
    touched = _touched(model, pair)
    return len(touched[0].chances) * (len(touched[1].chances) if len(touched) == 2 else 1)


def _touched(model: Sequence[Component], pair: Pair) -> list[Component]:
    return [component for component in model if set(pair) & component.codes.keys()]


def with_pair(model: Sequence[Component], pair: Pair, counts: Counts) -> list[Component]:
    """The model with one more pair, fitted."""
    touched = _touched(model, pair)
    rest = [component for component in model if not set(pair) & component.codes.keys()]
    joined = _product(*touched) if len(touched) == 2 else touched[0]
    joined = Component(joined.codes, joined.chances, (*joined.pairs, pair))
    possible = counts.margin(pair)[joined.places(pair, counts.cards)] > 0
    joined = Component(
        {column: codes[possible] for column, codes in joined.codes.items()}, joined.chances[possible], joined.pairs
    )
    return [*rest, fitted(joined, {pair: counts.margin(pair) for pair in joined.pairs}, counts.cards)]


def _product(first: Component, second: Component) -> Component:
    """Two independent components as one."""
    mine, theirs = len(first.chances), len(second.chances)
    codes = {column: np.repeat(values, theirs) for column, values in first.codes.items()}
    codes |= {column: np.tile(values, mine) for column, values in second.codes.items()}
    return Component(codes, np.multiply.outer(first.chances, second.chances).ravel(), first.pairs + second.pairs)


def fitted(
    component: Component, margins: Mapping[Pair, Array], cards: Sequence[int], sweeps: int = _SWEEPS
) -> Component:
    """Iterative proportional fitting: scaled to each pair's margin in turn until all agree."""
    chances = component.chances
    places = {pair: component.places(pair, cards) for pair in margins}
    near = _NEAR * max(float(wanted.max()) for wanted in margins.values())
    for _ in range(sweeps):
        apart = 0.0
        for pair, wanted in margins.items():
            now = np.bincount(places[pair], chances, len(wanted))
            apart = max(apart, float(np.abs(now - wanted).max()))
            chances = chances * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)[places[pair]]
        if apart < near:
            break
    return Component(component.codes, chances, component.pairs)


def association(model: Sequence[Component], pair: Pair, counts: Counts) -> float:
    """How much of a pair the model leaves unexplained: (G^2 - df) / sqrt(2 df) of its table of two columns."""
    seen = counts.margin(pair)
    holding = _touched(model, pair)
    if len(holding) == 1:
        expected = np.bincount(holding[0].places(pair, counts.cards), holding[0].chances, len(seen))
    else:
        expected = np.outer(*(counts.margin([column]) for column in pair)).ravel()
    there = (seen > 0) & (expected > 0)
    deviance = 2 * float(counts.records.sum()) * float((seen[there] * np.log(seen[there] / expected[there])).sum())
    freedom = (counts.cards[pair[0]] - 1) * (counts.cards[pair[1]] - 1)
    return float((deviance - freedom) / np.sqrt(2 * freedom))
