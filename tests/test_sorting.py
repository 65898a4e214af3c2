"""Keys sorted in ranges that threads share, against numpy; runs of equal keys, against counting them one by one."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.table import sorting

WIDTHS = {np.uint32: 2**32 - 1, np.uint64: 2**64 - 1, np.int64: 2**63 - 1}


@given(
    st.sampled_from(list(WIDTHS)),
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=300),
    st.integers(1, 20),
    st.integers(1, 40),
    st.sampled_from(["1", "2", "3", "9"]),
)
def test_keys_are_in_the_order_of_numpy_however_they_are_shared(
    dtype: type[np.integer], drawn: list[int], few: int, stretch: int, threads: str
) -> None:
    """Few distinct keys too, whose ranges may be empty or hold nearly all."""
    keys = np.array([key % (WIDTHS[dtype] if few > 10 else few) for key in drawn], dtype)
    before = keys.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_THREADS", threads)
        for name, value in (("_FEW_KEYS", 0), ("_MANY_KEYS", 5), ("_LONG_RANGE", 20), ("_SAMPLE", 16)):
            patch.setattr(sorting, name, value)
        patch.setattr(sorting, "STRETCH", stretch)
        found = sorting.sorted_keys(keys)
    assert found.dtype == keys.dtype
    assert (found == np.sort(keys)).all()
    assert (keys == before).all()


@pytest.mark.parametrize("threads", ["1", "2", "5"])
def test_many_keys_as_they_are_sorted_in_use(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOAL_THREADS", threads)
    draw = np.random.default_rng(0)
    for highest in (1, 50, 2**49):
        keys = draw.integers(0, highest, (1 << 20) + 1, np.uint64)
        assert (sorting.sorted_keys(keys) == np.sort(keys)).all()


@given(
    st.lists(st.integers(1, 25), max_size=30),
    st.integers(1, 12),
    st.sampled_from(["1", "2", "7"]),
    st.sampled_from([np.uint32, np.uint64]),
)
def test_runs_are_as_long_however_the_keys_are_shared(
    lengths: list[int], stretch: int, threads: str, dtype: type[np.unsignedinteger]
) -> None:
    ordered = np.repeat(np.arange(len(lengths), dtype=dtype) * 3, lengths)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_THREADS", threads)
        patch.setattr(sorting, "STRETCH", stretch)
        found, starts = sorting.lengths_of_runs(ordered), sorting.run_starts(ordered)
    assert found.tolist() == [len(list(run)) for _, run in groupby(ordered.tolist())]
    assert found.dtype == np.int64
    assert sorting.run_lengths(starts, len(ordered)).tolist() == found.tolist()
