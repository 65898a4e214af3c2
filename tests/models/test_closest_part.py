"""How much of a class can stay within t, against a look at every part of it."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models.distances import DistanceTree, distance_of_cells, least_within, must_lose
from shoal.models.spread import Spread, Whole

LEAVES = 4
TREE = (np.arange(LEAVES), np.array([0, 0, 1, 1]), np.zeros(LEAVES, np.int64))


def distances(parts: np.ndarray, whole: Whole, hierarchical: bool) -> np.ndarray:
    part, code = np.nonzero(parts)
    return distance_of_cells(Spread(part, code, parts[part, code], whole), "hierarchical" if hierarchical else "equal")


@settings(max_examples=150)
@given(
    whole=st.lists(st.integers(1, 30), min_size=LEAVES, max_size=LEAVES),
    members=st.lists(st.integers(0, 6), min_size=LEAVES, max_size=LEAVES).filter(any),
    t=st.sampled_from([0.05, 0.1, 0.2, 0.35, 0.5]),
    hierarchical=st.booleans(),
)
def test_no_part_within_t_is_larger(whole: list[int], members: list[int], t: float, hierarchical: bool) -> None:
    table = Whole(np.array(whole), tree=TREE)
    own = np.array([members])
    if distances(own, table, hierarchical)[0] <= t + 1e-12:
        return
    codes = np.flatnonzero(members)
    spread = Spread(np.zeros(len(codes), np.int64), codes, own[0, codes], table)
    lost = must_lose(spread, DistanceTree(table, hierarchical), np.array([True]), t)[0]
    kept = round((1 - lost) * own.sum())
    parts = np.array([part for part in product(*[range(count + 1) for count in members]) if any(part)])
    within = parts[distances(parts, table, hierarchical) <= t + 1e-12]
    largest = int(within.sum(axis=1).max(initial=0))
    assert largest <= kept < own.sum()


@settings(max_examples=100)
@given(
    whole=st.lists(st.integers(1, 30), min_size=LEAVES, max_size=LEAVES),
    t=st.sampled_from([0.0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5]),
    hierarchical=st.booleans(),
)
def test_no_fewer_members_are_within_t(whole: list[int], t: float, hierarchical: bool) -> None:
    """Of all classes of up to six members the smallest that is within t."""
    table, most = Whole(np.array(whole), tree=TREE), 7
    parts = np.array([part for part in product(range(most), repeat=LEAVES) if 0 < sum(part) < most])
    within = parts[distances(parts, table, hierarchical) <= t + 1e-12]
    assert least_within(t, DistanceTree(table, hierarchical), most) == within.sum(axis=1).min(initial=most)


def test_by_hand() -> None:
    """Nine of one value and one of another, half and half in the table: at t = 1/4, three and one can stay."""
    whole = Whole(np.array([10, 10]))
    spread = Spread(np.array([0, 0]), np.array([0, 1]), np.array([9, 1]), whole)
    assert must_lose(spread, DistanceTree(whole, False), np.array([True]), 0.25).tolist() == [0.6]
