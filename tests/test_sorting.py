"""Runs of equal keys, in stretches that threads share, against counting them one by one."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.storage import classes


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
        patch.setattr(classes, "STRETCH", stretch)
        found, starts = classes.lengths_of_runs(ordered), classes.run_starts(ordered)
    assert found.tolist() == [len(list(run)) for _, run in groupby(ordered.tolist())]
    assert found.dtype == np.int64
    assert classes.run_lengths(starts, len(ordered)).tolist() == found.tolist()
