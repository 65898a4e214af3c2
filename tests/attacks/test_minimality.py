"""Minimality: the deals that remain against all deals, the example of the paper, releases that shoal writes."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks.minimality import Minimality, likeliest, median_half
from shoal.attacks.opening import subject_of


def test_the_deals_that_remain_against_all_deals() -> None:
    """Of all ways to give 3 x HIV and 3 others to parts of four and two, in which one has fewer than 2 values."""
    values, half = np.array([0, 0, 0, 1, 1, 2]), np.array([True] * 4 + [False] * 2)
    left = [one for one in permutations(values.tolist()) if len(set(one[:4])) < 2 or len(set(one[4:])) < 2]
    found = likeliest(values, [half], 2, seed=1)
    assert found is not None
    for member in (0, 5):
        shares = [np.mean([one[member] == value for one in left]) for value in range(3)]
        assert found[1][member] == pytest.approx(max(shares), abs=0.05)
        assert found[0][member] == (np.argmax(shares) == values[member])


def test_what_is_said_does_not_depend_on_the_order_of_rows() -> None:
    draw = np.random.default_rng(3)
    values, half = draw.integers(0, 3, 14), draw.random(14) < 0.5
    found = likeliest(values, [half], 3, seed=2)
    order = draw.permutation(14)
    again = likeliest(values[order], [half[order]], 3, seed=2)
    assert found is not None
    assert again is not None
    assert np.array_equal(found[0][order], again[0])
    assert found[1][order] == pytest.approx(again[1])


def test_where_no_cut_could_be_made_nothing_is_said() -> None:
    assert likeliest(np.array([1, 2]), [], 2, seed=0) is None
    assert median_half(np.array([5.0, 5.0, 5.0, 5.0]), 2) is None
    assert median_half(np.array([1.0, 2.0, 3.0, np.nan]), 2) is None
    lower = median_half(np.array([1.0, 1.0, 1.0, 2.0, 3.0]), 2)
    assert lower is not None
    assert lower.tolist() == [True, True, True, False, False]


def planted(together: bool) -> pl.DataFrame:
    """64 towns of nine: where the four youngest have the same illness, their town cannot be cut."""
    ills = ["HIV", "HIV", "HIV", "HIV", "flu", "flu", "cold", "cold", "ache"]
    mixed = ["HIV", "flu", "HIV", "cold", "HIV", "flu", "HIV", "cold", "ache"]
    rows = [
        (town * 1_000 + number, ill) for town in range(64) for number, ill in enumerate(ills if together else mixed)
    ]
    return pl.DataFrame(rows, schema=["age", "ill"], orient="row")


@pytest.mark.parametrize("together", [True, False])
def test_classes_that_could_not_be_cut_give_their_values_away(tmp_path: Path, together: bool) -> None:
    table = planted(together)
    made = shoal.anonymize(
        table, quasi_identifiers=["age"], sensitive="ill", k=4, l=2, method=shoal.Mondrian(cuts="strict")
    )
    shoal.release(made, tmp_path / "safe.parquet")
    subject = subject_of(tmp_path / "safe.parquet", table, None, None, None, None, 10**6, 0)
    attack = Minimality()
    assert attack.skips(subject) is None
    found = attack.run(subject)
    assert found.rate is not None
    assert found.baseline is not None
    if together:
        assert found.baseline == pytest.approx(4 / 9)  # the most frequent value of a town
        assert found.rate == pytest.approx(6 / 9)  # all of the four, and two of the other five
        assert "576 records in classes that could have been cut; of 256 a value is clearly" in found.notes[0]
    else:
        assert found.rate == found.baseline


def test_methods_that_do_not_look_at_what_is_sensitive_say_nothing_of_it(tmp_path: Path) -> None:
    table = planted(True)
    for method in ("sorted-clusters", "mondrian"):
        made = shoal.anonymize(table, quasi_identifiers=["age"], sensitive="ill", k=4, method=method)
        shoal.release(made, tmp_path / f"{method}.parquet")
        subject = subject_of(tmp_path / f"{method}.parquet", table, None, None, None, None, 100, 0)
        assert Minimality().skips(subject) is not None
