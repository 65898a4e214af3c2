"""Attacks on a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks import AttackOutcome, Homogeneity, wilson
from shoal.attacks.homogeneity import certain
from shoal.reading import read


def attacked(tmp_path: Path, illness: list[str | None]) -> AttackOutcome:
    ages = [30, 30, 51, 51, 70, 70]
    frame = pl.DataFrame({"age": ages, "illness": illness})
    made = shoal.anonymize(frame, quasi_identifiers=["age"], sensitive="illness", k=2, method="sorted-clusters")
    shoal.release(made, tmp_path / "safe.parquet")
    return Homogeneity().run(shoal.Release.open(tmp_path / "safe.parquet"))


def test_two_of_three_classes_give_their_value_away(tmp_path: Path) -> None:
    found = attacked(tmp_path, ["flu", "flu", "flu", "cold", "HIV", "HIV"])
    assert (found.targets, found.successes, found.criterion) == (6, 4, "inference")
    assert found.rate == pytest.approx(4 / 6)
    assert found.baseline == pytest.approx(3 / 6)
    assert (found.low, found.high) == pytest.approx(wilson(4, 6))


def test_a_missing_value_is_no_shield(tmp_path: Path) -> None:
    assert attacked(tmp_path, ["flu", None, "flu", "cold", "cold", "flu"]).successes == 1


def test_a_release_without_sensitive_columns_is_refused(tmp_path: Path) -> None:
    made = shoal.anonymize({"age": [1, 1]}, quasi_identifiers=["age"], k=2, method="sorted-clusters")
    shoal.release(made, tmp_path / "safe.parquet")
    with pytest.raises(shoal.InputError, match="no sensitive column"):
        Homogeneity().run(shoal.Release.open(tmp_path / "safe.parquet"))


@given(st.lists(st.tuples(st.integers(-1, 3), st.sampled_from(["a", "b", None])), min_size=1, max_size=30))
def test_certain_rows_by_hand(rows: list[tuple[int, str | None]]) -> None:
    values = pl.Series([value for _, value in rows], dtype=pl.String)
    found = certain(np.array([number for number, _ in rows]), read(pl.DataFrame({"x": values}))["x"])
    for (number, value), hit in zip(rows, found.tolist(), strict=True):
        others = {other for same, other in rows if same == number and other is not None}
        assert hit == (number >= 0 and value is not None and len(others) == 1)


def test_wilson_as_published() -> None:
    """Newcombe 1998, Table I: 81 of 263 gives .2553 to .3662; 0 of 20 gives 0 to .1611."""
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
