"""Classes by a hash table: the same as by sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.storage import classes as numbered
from shoal.storage.classes import Coded, class_of_each_row, pack


@pytest.fixture(autouse=True)
def few_rows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numbered, "_FROM_ROWS", 1)
    monkeypatch.setattr(numbered, "_BITS", 2)


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
