"""Sorting and cutting kernels: laws, and results that are checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.kernels.cuts import BEST, cut_nodes, rank, sort_stretches
from shoal.methods.partition.peel import outermost_first

NUMBERS = st.integers(0, 60).flatmap(lambda size: arrays(np.float64, size, elements=st.integers(-9, 9)))


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_ranks_are_sorted_and_every_number_is_there(keys: np.ndarray) -> None:  # type: ignore[type-arg]
    ranked = np.arange(len(keys))
    rank(keys, ranked)
    assert (keys[ranked] == np.sort(keys)).all()
    assert sorted(ranked.tolist()) == list(range(len(keys)))


@pytest.mark.parametrize("shape", ["sorted", "reversed", "equal", "random", "organ pipe"])
def test_ranks_of_many(shape: str) -> None:
    size = 5000
    keys = {
        "sorted": np.arange(size, dtype=float),
        "reversed": np.arange(size, 0, -1, dtype=float),
        "equal": np.ones(size),
        "random": np.random.default_rng(0).random(size),
        "organ pipe": np.minimum(np.arange(size), size - np.arange(size)).astype(float),
    }[shape]
    ranked = np.arange(size)
    rank(keys, ranked)
    assert (keys[ranked] == np.sort(keys)).all()
    assert len(np.unique(ranked)) == size


def test_outermost_by_hand() -> None:
    assert outermost_first(np.array([[1.0], [2.0], [9.0], [4.0]], np.float32)).tolist() == [2, 0, 1, 3]


def test_stretches_are_sorted_each_by_itself() -> None:
    keys, names = np.array([3.0, 1.0, 2.0, 9.0, 8.0]), np.arange(5, dtype=np.int32)
    sort_stretches(keys, names, np.array([0, 3]), np.array([3, 5]))
    assert (keys.tolist(), names.tolist()) == ([1.0, 2.0, 3.0, 8.0, 9.0], [1, 2, 0, 4, 3])


def test_the_best_cut_by_hand() -> None:
    """1 2 | 8 9 9: the exact cut, because histograms of so few leave too few on one side."""
    rows, order = np.array([[9], [1], [8], [2], [9]], np.float32), np.arange(5, dtype=np.int32)
    middle, column = np.empty(1, np.int64), np.empty(1, np.int64)
    cut_nodes(rows, order, np.array([[0, 5]]), np.zeros((1, 1), bool), 2, BEST, middle, column)
    assert (middle.tolist(), column.tolist(), sorted(order[:2].tolist())) == ([2], [0], [1, 3])
