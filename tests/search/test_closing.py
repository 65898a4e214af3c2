"""The list of open nodes: what is listed, closed and bounded is what the definitions say, node by node."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from shoal.kernels.lattice_order import close_open, list_open, place_of
from shoal.methods.search.closing import OpenNodes
from shoal.methods.search.evaluate import NodeOutcome


def _first_changes(levels: list[tuple[int, ...]]) -> list[int]:
    pairs = pairwise(levels)
    return [0, *(next(j for j, (a, b) in enumerate(zip(one, other, strict=True)) if a != b) for one, other in pairs)]


@pytest.mark.parametrize("seed", range(12))
def test_nodes_are_listed_and_closed_as_the_definitions_say(seed: int) -> None:
    chance = np.random.default_rng(seed)
    columns = int(chance.integers(1, 5))
    high = chance.integers(0, 5, columns)
    low = np.minimum(chance.integers(0, 2, columns), high)
    factors = 1 + np.cumsum(chance.random((columns, 6)) * 0.2, axis=1)
    target = float(np.exp(chance.random() * 1.5))

    def cost(node: tuple[int, ...], of: np.ndarray) -> float:
        total = 1.0
        for column, level in enumerate(node):
            total *= of[column, level]
        return total

    every = product(*(range(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True)))
    expected = {node: cost(node, factors) for node in every if cost(node, factors) < target}
    levels, bounds, changes = np.zeros((4000, columns), np.uint16), np.zeros(4000), np.zeros(4000, np.uint16)
    count = list_open(factors, low, high, target, levels, bounds, changes)
    assert [tuple(row) for row in levels[:count].tolist()] == list(expected)
    levels, bounds, changes = levels[:count], bounds[:count], changes[:count]
    for step in range(6):
        at = chance.integers(low, high + 1).astype(np.uint16)
        told, lost = factors * (1 + chance.random((columns, 1)) * 0.1), bool(chance.random() < 0.3)
        target *= 1 - 0.02 * step
        closed = {}
        for node, bound in expected.items():
            if all(level <= limit for level, limit in zip(node, at.tolist(), strict=True)):
                if lost or node == tuple(at.tolist()):
                    continue
                bound = max(bound, cost(node, told))
            if bound < target:
                closed[node] = bound
        expected = closed
        left = close_open(levels, bounds, changes, at, told, lost, target)
        levels, bounds, changes = levels[:left], bounds[:left], changes[:left]
        assert [tuple(row) for row in levels.tolist()] == list(expected)
        assert bounds.tolist() == list(expected.values())
        assert not left or changes.tolist() == _first_changes(list(expected))


class _Grid:
    """As much of a grid as closing looks at: what is lost multiplies every factor."""

    def __init__(self, chance: np.random.Generator, columns: int) -> None:
        self.axes, self.low, self.high = range(columns), np.zeros(columns, np.int64), np.full(columns, 3)
        self.free_factors = 1 + np.cumsum(chance.random((columns, 4)) * 0.2, axis=1)

    def factors(self, gains: np.ndarray) -> np.ndarray:
        return self.free_factors * (1 + gains)


@pytest.mark.parametrize("seed", range(8))
def test_several_nodes_close_what_each_closes_by_itself(seed: int) -> None:
    chance = np.random.default_rng(seed)
    grid = _Grid(chance, 4)
    told = [None, np.zeros((4, 4)), np.zeros((4, 4)), chance.random((4, 4)) * 0.1]
    outcomes = [
        NodeOutcome(tuple(chance.integers(0, 4, 4).tolist()), 0, True, 1.0, 0, told[int(chance.integers(seed > 3, 4))])
        for _ in range(9)
    ]
    together, alone = (OpenNodes.under(grid, 2.0, 300) for _ in range(2))  # type: ignore[arg-type]
    assert together is not None
    assert alone is not None
    together.close_several(outcomes, grid, 1.9)  # type: ignore[arg-type]
    for outcome in outcomes:
        alone.close(outcome, grid, 1.9)  # type: ignore[arg-type]
    assert together.levels.tolist() == alone.levels.tolist()
    assert together.bounds.tolist() == alone.bounds.tolist()
    assert together.changes.tolist() == alone.changes.tolist()
    places = [place_of(alone.levels, node) for node in alone.levels]
    assert places == list(range(len(alone)))
    assert place_of(alone.levels, np.full(4, 9, np.uint16)) == -1
