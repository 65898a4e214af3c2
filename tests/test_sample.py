"""The generated tables: the same to the last bit, wherever they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError


def test_the_discharge_table_is_the_same_for_the_same_seed() -> None:
    one, again, other = (shoal.sample_data("discharges", 500, seed=seed) for seed in (3, 3, 4))
    assert one.equals(again)
    assert not one.equals(other)
    assert set(one.dtypes) == {pl.Int32}


def test_its_first_rows_and_sums_are_pinned() -> None:
    """Written down once, so that the format holds where the golden files are absent."""
    frame = shoal.sample_data("discharges", 1000, seed=0)
    assert frame.row(0) == (350624, 0, 2, 2, 1, 95095, 35, 1, 1, 9689)
    assert frame.cast(pl.Int64).sum().row(0) == PINNED_SUMS


PINNED_SUMS = (291080939, 46663, 1553, 1682, 1914, 92679757, 28988, 4048, 2499, 44241979)


def test_golden_csv(data: Path) -> None:
    golden = pl.read_csv(data / "golden" / "spd_like_1000.csv")
    assert shoal.sample_data("discharges", 1000, seed=0).cast(pl.Int64).equals(golden)


def test_golden_sums(golden: Any) -> None:
    known = golden["spd_like"]["100000"]
    frame = shoal.sample_data("discharges", 100_000, seed=0)
    assert frame.row(0, named=True) == known["first_row"]
    assert frame.cast(pl.Int64).sum().row(0, named=True) == known["column_sums"]
    assert frame.filter(pl.col("charge") > 100_000).height == known["charge_gt_100000"]
    assert frame.filter(pl.col("charge") == 0).height == known["charge_eq_0"]


def test_bad_requests() -> None:
    with pytest.raises(InputError, match="no sample 'x'"):
        shoal.sample_data("x")
    with pytest.raises(InputError, match="cannot be generated"):
        shoal.sample_data("discharges", 0)
