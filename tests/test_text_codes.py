"""Codes of texts: each text has one, whichever way it was found."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.storage import encode
from shoal.storage.encode import Texts

BATCHES = st.lists(st.lists(st.none() | st.sampled_from([*"abcdefgh", "", "a" * 20, "b" * 20, "é", "07"]), max_size=30))


def _decoded(texts: Texts, codes: np.ndarray) -> list[str | None]:
    known = texts.values_from(0).to_list()
    assert len(set(known)) == len(known) == texts.count
    null = np.iinfo(codes.dtype).max
    return [None if code == null else known[code] for code in codes.tolist()]


@settings(max_examples=200, deadline=None)
@given(batches=BATCHES, slot_bits=st.sampled_from([0, 1, 2, 18]))
def test_texts_come_back(batches: list[list[str | None]], slot_bits: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode, "_FROM_ROWS", 1)
        patch.setattr(encode, "_BLOCK", 4)
        patch.setattr(encode, "_SLOT_BITS", max(slot_bits, 1))
        # several texts in each slot; with no bits, all of them
        patch.setattr(encode, "_SHIFT", np.uint64(64 - slot_bits) if slot_bits else np.uint64(63))
        texts = Texts()
        for batch in batches:
            assert _decoded(texts, texts.codes_of(pl.Series(batch, dtype=pl.String))) == batch


@pytest.mark.parametrize("distinct", [10, 300, 70_000])
def test_codes_are_as_narrow_as_they_can_be(distinct: int) -> None:
    texts = Texts()
    names = [f"{'a rather long ' * (number % 3)}text {number}" for number in range(distinct)]
    rows = pl.Series(names * (400_000 // distinct))
    for start in range(0, len(rows), 1 << 17):
        batch = rows[start : start + (1 << 17)]
        codes = texts.codes_of(batch)
        assert codes.dtype == (np.uint8 if texts.count < 256 else np.uint16 if texts.count < 65_536 else np.uint32)
        assert texts.values_from(0)[pl.Series(codes.astype(np.uint32))].equals(batch)
    assert texts.count == distinct


def test_texts_that_are_all_there_at_first_have_codes_in_their_order() -> None:
    texts, rows = Texts(), pl.Series([f"{row * 7 % 100:02}" for row in range(1 << 14)])
    assert texts.codes_of(rows).tolist() == rows.cast(pl.Int64).to_list()
    assert texts.values_from(0).is_sorted()


def test_a_column_without_texts_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, nothing = Texts(), pl.Series([None] * 10_000, dtype=pl.String)
    assert set(texts.codes_of(nothing).tolist()) == {255}
    assert texts.codes_of(pl.Series(["a", None])).tolist() == [0, 255]
    assert set(texts.codes_of(nothing).tolist()) == {255}


def test_ever_new_texts_are_not_looked_up() -> None:
    texts = Texts()
    for start in range(0, 100_000, 10_000):
        batch = pl.Series([str(number // 8) for number in range(start, start + 10_000)])
        assert _decoded(texts, texts.codes_of(batch)) == batch.to_list()
    assert texts._known is None
