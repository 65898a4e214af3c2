"""Downcoding: the probability of an end against all tables, planted classes, releases that shoal writes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks.downcoding import Downcoding, end_probability
from shoal.attacks.opening import subject_of
from shoal.attacks.subject import Subject


@pytest.mark.parametrize(("members", "width"), [(2, 2), (2, 5), (3, 2), (3, 4), (4, 3), (5, 4), (3, 6)])
def test_the_probability_of_an_end_against_all_tables(members: int, width: int) -> None:
    tables = [one for one in product(range(width), repeat=members) if min(one) == 0 and max(one) == width - 1]
    share = np.mean([one[0] == 0 for one in tables])
    assert end_probability(np.array([members]), np.array([width]))[0] == pytest.approx(share)


def test_wide_ranges_and_large_classes() -> None:
    found = end_probability(np.array([2, 2, 50]), np.array([10**6, 10**9, 10**6]))
    assert found == pytest.approx([0.5, 0.5, 1 / 50], rel=0.02)


def released(folder: Path, table: pl.DataFrame, method: str, k: int) -> Subject:
    made = shoal.anonymize(table, quasi_identifiers=table.columns, k=k, method=method)
    shoal.release(made, folder / "safe.parquet", force=True)
    return subject_of(folder / "safe.parquet", table, None, None, None, None, 10**6, 0)


def test_classes_of_two_are_their_ends(tmp_path: Path) -> None:
    """Every cell of each pair is an end, guessed right half of the time; who does not know guesses among 2 or 4."""
    table = pl.DataFrame({"age": [10, 20, 50, 60, 11, 19, 51, 59], "x": [0, 0, 0, 0, 90, 90, 90, 90]})
    subject = released(tmp_path, table, "mondrian", 2)
    found = Downcoding().run(subject)
    assert found.targets == 8
    assert found.rate == 0.5
    assert found.baseline == pytest.approx(np.mean([1 / 4, 1 / 2]))


def people(rows: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame({"age": draw.integers(0, 1_000, rows), "income": draw.integers(0, 5_000, rows)})


@pytest.mark.parametrize("method", ["mondrian", "sorted-clusters"])
def test_our_own_releases_tell_more_than_their_boxes(tmp_path: Path, method: str) -> None:
    rates = []
    for k in (2, 5, 10):
        found = Downcoding().run(released(tmp_path, people(400, 1), method, k))
        assert found.rate is not None
        assert found.baseline is not None
        assert found.rate > 1.5 * found.baseline
        assert found.rate >= 1 / (2 * k)  # of up to 2k - 1 members two have the ends, guessed half of the time
        rates.append(found.rate)
    assert rates == sorted(rates, reverse=True)


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    table = people(200, 2)
    outcomes: list[Any] = []
    for one in (table, table.sample(fraction=1, shuffle=True, seed=4)):
        found = Downcoding().run(released(tmp_path, one, "sorted-clusters", 3))
        outcomes.append((found.targets, found.successes, found.baseline))
    assert outcomes[0] == pytest.approx(outcomes[1])


def test_levels_of_a_lattice_need_not_be_attained(tmp_path: Path) -> None:
    subject = released(tmp_path, people(200, 3), "lattice", 3)
    assert "narrow" in (Downcoding().skips(subject) or "")
