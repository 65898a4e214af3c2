"""The three distances of t-closeness against the cheapest transport, found exactly."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.transport import cheapest
from shoal.models import Spread, Whole
from shoal.models.distances import distance_of_cells, farthest_point


def test_transport_by_hand() -> None:
    """Three tenths go one step, one tenth goes two."""
    have, want = [Fraction(n, 10) for n in (5, 5, 0)], [Fraction(n, 10) for n in (1, 7, 2)]
    steps = [[Fraction(abs(i - j)) for j in range(3)] for i in range(3)]
    assert cheapest(have, want, steps) == Fraction(6, 10)
    same = [[Fraction(int(i != j)) for j in range(3)] for i in range(3)]
    assert cheapest(have, want, same) == Fraction(4, 10)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**9), values=st.integers(1, 5))
def test_every_distance_is_the_cheapest_transport(seed: int, values: int) -> None:
    rng = Random(seed)
    whole = [rng.randint(1, 6) for _ in range(values)]
    classes = [[rng.randint(0, 3) for _ in range(values)] for _ in range(3)]
    classes = [counts for counts in classes if any(counts)] or [whole]
    heights = rng.randint(1, 3)
    # nested: each level joins nodes of the level below
    tree = [list(range(values))]
    for _ in range(heights - 1):
        joined = [rng.randrange(max(1, values - 1)) for _ in range(values)]
        tree.append([joined[node] for node in tree[-1]])
    tree.append([0] * values)
    dense = tuple(np.array([sorted(set(level)).index(node) for node in level]) for level in tree)
    entries = [(i, code, n) for i, counts in enumerate(classes) for code, n in enumerate(counts) if n]
    spread = Spread(*(np.array(side) for side in zip(*entries, strict=True)), Whole(np.array(whole), True, dense))
    common = [
        [next(level for level, nodes in enumerate(tree) if nodes[i] == nodes[j]) for j in range(values)]
        for i in range(values)
    ]
    grounds = {
        "equal": [[Fraction(int(i != j)) for j in range(values)] for i in range(values)],
        "ordered": [[Fraction(abs(i - j), max(values - 1, 1)) for j in range(values)] for i in range(values)],
        "hierarchical": [[Fraction(common[i][j], heights) for j in range(values)] for i in range(values)],
    }
    want = [Fraction(n, sum(whole)) for n in whole]
    for way, ground in grounds.items():
        found = distance_of_cells(spread, way)  # type: ignore[arg-type]
        for counts, distance in zip(classes, found, strict=True):
            have = [Fraction(n, sum(counts)) for n in counts]
            assert distance == pytest.approx(float(cheapest(have, want, ground)), abs=1e-12)
        alone = [cheapest([Fraction(int(i == j)) for j in range(values)], want, ground) for i in range(values)]
        assert farthest_point(spread.whole, way) == pytest.approx(float(max(alone)), abs=1e-12)  # type: ignore[arg-type]
