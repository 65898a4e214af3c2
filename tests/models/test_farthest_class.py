"""The farthest class that `anonymize` shows is the one by which t-closeness was judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.models import KAnonymity, TCloseness
from shoal.models.distances import farthest_class
from shoal.storage.reading import read

LATTICE: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "method": "lattice", "suppression": 0.2}


def visits(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, charge = rng.integers(20, 80, 400), rng.integers(1, 50, 400)
    charge[age > 75] = 500  # who is suppressed is far from the rest
    return pl.DataFrame({"age": age, "zip": rng.integers(1, 5, 400), "charge": charge})


@pytest.mark.parametrize("seed", [0, 2])
def test_it_is_the_class_that_decided_and_suppressed_records_are_in_none(seed: int) -> None:
    result = shoal.anonymize(visits(seed), sensitive="charge", k=4, t=0.25, **LATTICE)
    found, verdict = result.findings, result.models[-1]
    assert verdict.holds
    assert found.suppressed_rows > 0
    assert found.closeness is not None
    assert found.closeness["values"] == pytest.approx(verdict.worst["distance"], abs=1e-12)
    said = " ".join(str(section) for section in result.sections())
    assert f"{found.suppressed_rows} suppressed records apart" in said


@pytest.mark.parametrize("distance", ["equal", "auto"])
def test_by_the_order_of_values_it_is_not_told_where_another_distance_is_judged(distance: Any) -> None:
    table = visits(0)
    tree = [[str(value), "low" if value < 50 else "high", "*"] for value in sorted(set(table["charge"]))]
    trees = {"hierarchies": {"charge": tree}} if distance == "auto" else {}
    models = [KAnonymity(k=4), TCloseness(t=0.9, sensitive="charge", distance=distance)]
    result = shoal.anonymize(table, models=models, **LATTICE, **trees)
    assert result.verdict == "holds"
    assert result.findings.closeness is None


def test_where_all_records_are_suppressed_there_is_none() -> None:
    assert farthest_class(np.array([-1, -1]), 0, read({"charge": [1, 2]})["charge"]) is None
