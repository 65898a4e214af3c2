"""What may not pass: copies of the data, whatever the columns, the control or the rows of a person are like."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.attacks import AttackOutcome, AttackResult

ROLES: dict[str, Any] = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}


def dense(seed: int, cells: int = 1000, rows: int = 2000) -> pl.DataFrame:
    """People of whom most share their quasi-identifiers with somebody."""
    draw = np.random.default_rng(seed)
    cell = draw.integers(0, cells, rows)
    return pl.DataFrame({"age": cell % 43, "town": cell // 43, "ill": draw.choice(list("abcd"), rows)})


def by_name(found: AttackResult) -> dict[str, AttackOutcome]:
    return {one.name: one for one in found.attacks}


@pytest.mark.parametrize("cells", [1333, 1000, 600])
def test_a_copy_with_dense_quasi_identifiers_does_not_pass(cells: int) -> None:
    """Control people fit somebody else's record as often: that is not a success."""
    policy = {"columns": ROLES, "attacks": {"linkability": 0.05}}
    people = dense(1, cells)
    found = shoal.attack(people, original=people, control=dense(2, cells), policy=policy)
    assert found.verdict["linkability"] == "fail"
    linkage = by_name(found)["linkage"]
    assert linkage.control == 1 / 2000
    assert linkage.rate == pytest.approx(people.n_unique(["age", "town"]) / 2000)
    assert linkage.excess_low is not None
    assert linkage.excess_low <= 0  # which record is whose is not known


def test_noise_passes_linkability_only_as_far_as_the_right_records_are_not_found() -> None:
    """The nearest records of two halves seldom coincide; the nearest by all columns are still the right ones."""
    draw = np.random.default_rng(3)
    people, others = (pl.DataFrame(draw.normal(50, 20, (600, 4)), schema=["a", "b", "c", "d"]) for _ in range(2))
    policy = shoal.Policy(columns=dict.fromkeys("abcd", "quasi-identifier"), attacks={"linkability": 0.05})
    made = shoal.anonymize(people, policy, k=2, method="microaggregate")
    found = shoal.attack(made, control=others, policy=policy)
    assert found.verdict["linkability"] == "fail"
    assert (by_name(found)["linkage"].excess_low or 0) > 0.05
