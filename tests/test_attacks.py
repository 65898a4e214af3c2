"""Attacks on a release."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.attacks import AttackOutcome, Homogeneity, Subject, excess_of, koopman, wilson
from shoal.attacks.common import rate_interval
from shoal.attacks.homogeneity import certain
from shoal.releases.readable import readable
from shoal.storage.reading import read


def attacked(tmp_path: Path, illness: list[str | None]) -> AttackOutcome:
    ages = [30, 30, 51, 51, 70, 70]
    frame = pl.DataFrame({"age": ages, "illness": illness})
    made = shoal.anonymize(frame, quasi_identifiers=["age"], sensitive="illness", k=2, method="sorted-clusters")
    shoal.release(made, tmp_path / "safe.parquet")
    return shoal.attack(tmp_path / "safe.parquet").attacks[0]


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
    released = readable(tmp_path / "safe.parquet")
    with pytest.raises(shoal.InputError, match="no sensitive column"):
        Homogeneity().run(Subject(released, released.source.policy))  # type: ignore[union-attr]


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


def test_koopman_as_published() -> None:
    """Koopman 1984, his example: 36 of 40 over 16 of 80 gives 2.94 to 7.15."""
    assert koopman(36, 40, 16, 80) == pytest.approx((2.940, 7.152), abs=5e-3)


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_ratio_lies_in_its_interval(first: int, second: int) -> None:
    low, high = koopman(first, 40, second, 40)
    assert 0 <= low <= high
    if second:
        assert low - 1e-9 <= first / second <= high + 1e-9


def test_an_excess_where_the_control_always_succeeds_is_not_defined() -> None:
    assert excess_of(np.ones(50), np.ones(50)) is None


@pytest.mark.parametrize("targets", [40, 400])
def test_a_larger_score_never_lowers_an_end(targets: int) -> None:
    nobody, ends = np.zeros(targets), []
    for first in (0.0, 0.01, 0.5, 1.0):
        scores = np.append(first, nobody[1:])
        ends.append((*rate_interval(scores), *(excess_of(scores, nobody) or ())))
    assert (np.diff(np.array(ends), axis=0) >= 0).all()
    assert ends[1][1] < ends[2][1] < ends[3][1]


@pytest.mark.parametrize(("often", "share"), [(0.02, 0.5), (0.05, 0.1), (0.3, 0.25)])
def test_rare_shares_are_covered(often: float, share: float) -> None:
    """A bootstrap's upper end lies below the truth in up to 30% of such samples."""
    draw, above = np.random.default_rng(0), 0
    for _ in range(1000):
        scores = np.where(draw.random(60) < often, share, 0.0)
        found = excess_of(scores, np.zeros(60))
        assert found is not None
        low, high = rate_interval(scores)
        above += high >= often * share <= found[2]
        assert low <= scores.mean() <= high
    assert above >= 975


def test_an_excess_lies_between_minus_one_and_one() -> None:
    always = np.ones(60)
    always[0] = 0.5
    for scores in (np.ones(60), always, np.zeros(60), np.full(60, 0.5)):
        assert all(-1 <= end <= 1 for end in excess_of(scores, always) or (2,))
