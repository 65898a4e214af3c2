"""Kernels where C and Python could differ: masks of 32 bits and more, and sums of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.uncompiled import uncompiled
from shoal.kernels import lattice_counts, rows

BITS = range(31, 41)
KEYS = st.lists(st.integers(0, 50), min_size=1, max_size=40)


@pytest.mark.parametrize("kernels", [rows, uncompiled("rows")], ids=["compiled", "Python"])
@pytest.mark.parametrize("bits", BITS)
@settings(max_examples=15)
@given(keys=KEYS)
def test_rows_are_numbered_by_their_keys(keys: list[int], bits: int, kernels: Any) -> None:
    words = np.sort(np.array([key << bits | row for row, key in enumerate(keys)], np.uint64))
    numbers = np.full(len(keys), -1)
    expected = {key: number for number, key in enumerate(sorted(set(keys)))}
    assert kernels.number_in_order(words, bits, numbers) == len(expected)
    assert numbers.tolist() == [expected[key] for key in keys]


@pytest.mark.parametrize("kernels", [rows, uncompiled("rows")], ids=["compiled", "Python"])
@pytest.mark.parametrize("left_out", [3, *BITS])
@pytest.mark.parametrize("bits", [5, *BITS])
@settings(max_examples=15)
@given(keys=KEYS)
def test_rows_are_numbered_by_the_bits_that_are_left_out(
    keys: list[int], bits: int, left_out: int, kernels: Any
) -> None:
    if bits == 5:
        keys = keys[:32]
    words = np.sort(np.array([key >> left_out << bits | row for row, key in enumerate(keys)], np.uint64))
    numbers, seen = np.full(len(keys), -1), np.zeros(min(1 << left_out, 64), np.int64)
    expected = {key: number for number, key in enumerate(sorted(set(keys)))}
    found = kernels.number_in_runs(words, np.array(keys, np.uint64), bits, left_out, seen, numbers)
    assert found == len(expected)
    assert numbers.tolist() == [expected[key] for key in keys]
    assert not seen.any()


@pytest.mark.parametrize("kernels", [lattice_counts, uncompiled("lattice_counts")], ids=["compiled", "Python"])
def test_where_no_class_has_k_members_the_sum_of_squares_is_a_float_too(kernels: Any) -> None:
    numbers = kernels.ClassNumbers(np.full(64, -1, np.int32), np.zeros(64, np.int64))
    codes, counts = np.array([[0, 1, 1]], np.uint16), np.ones(3, np.int64)
    work = np.zeros(3, np.int32), np.zeros(3, np.int64)
    given = codes, np.zeros(1, np.int64), np.array([0, 1]), 2, counts
    found = kernels.sums_of_classes(numbers, *given, 3, *work)
    assert found == (0, 0.0, 0, 3)
    assert type(found[1]) is float
    assert kernels.sums_of_classes(numbers, *given, 2, *work) == (1, 4.0, 1, 1)
