"""Classes by a hash table, and the order by compiled hashes: the same as by sorting and as by numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.compiled import machine
from shoal.table import loops, numbered, order
from shoal.table.classes import Coded, class_of_each_row, pack

pytestmark = pytest.mark.skipif(not machine.is_supported(), reason="loops are loaded on Linux on x86-64 alone")


@pytest.fixture(autouse=True)
def few_rows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    loops.rehearse()
    monkeypatch.setattr(numbered, "_FROM_ROWS", 1)
    monkeypatch.setattr(numbered, "_BITS", 2)
    monkeypatch.setattr(order, "_MANY", 1)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 300), st.lists(st.integers(1, 2**31), min_size=1, max_size=7))
def test_classes_are_numbered_as_by_sorting(seed: int, rows: int, radices: list[int]) -> None:
    draw = np.random.default_rng(seed)
    some = draw.integers(0, rows, rows)  # so that tuples repeat
    columns = [Coded(draw.integers(0, radix, rows)[some], radix) for radix in radices]
    found, count = numbered.class_of_rows(columns)
    expected, classes = class_of_each_row(pack(columns))
    assert count == classes
    assert (found == expected).all()


def test_two_words_are_numbered_by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [Coded(np.arange(50) % radix, 2**bits) for radix, bits in ((7, 40), (3, 40), (50, 20))]
    monkeypatch.setattr(numbered, "class_of_each_row", None)
    assert numbered.class_of_rows(columns)[1] == 50


def test_keys_that_fall_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All keys of a crowded table are told apart, also those that begin at the same place."""
    columns = [Coded(np.arange(4000) // 4 % 10, 2**60), Coded(np.arange(4000) // 2, 2**60)]
    found, count = numbered.class_of_rows(columns)
    assert count == 2000
    assert (found == class_of_each_row(pack(columns))[0]).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**63 - 1), st.integers(1, 400))
def test_the_order_is_that_of_the_hashes(seed: int, rows: int) -> None:
    key, places = order.key_of(seed), np.arange(rows, dtype=np.uint64)
    assert (order._hashed(places.copy(), key) == order.siphash(places, key)).all()
