"""A verdict of t-closeness names the distance that was used, from the release to its verification."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal

ILLS = ["flu", "cold", "ulcer", "gastritis"]
TREE = [["flu", "lung", "*"], ["cold", "lung", "*"], ["ulcer", "stomach", "*"], ["gastritis", "stomach", "*"]]


def people() -> pl.DataFrame:
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": rng.integers(20, 60, 400),
            "ill": rng.choice(ILLS, 400),
            "charge": rng.integers(100, 130, 400),
        }
    )


@pytest.mark.parametrize(
    ("sensitive", "hierarchies", "used"),
    [("ill", {}, "equal"), ("ill", {"ill": TREE}, "hierarchical"), ("charge", {}, "ordered")],
)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_what_was_released_and_verified_names_the_distance(
    tmp_path: Path, sensitive: str, hierarchies: dict[str, Any], used: str, suffix: str
) -> None:
    columns = {"age": "quasi-identifier", "ill": "other", "charge": "other"} | {sensitive: "sensitive"}
    model = {"model": "t-closeness", "t": 0.3, "sensitive": sensitive}
    policy = shoal.Policy(columns=columns, models=[model], hierarchies=hierarchies)
    made = shoal.anonymize(people(), policy, k=3, method="mondrian")
    safe = tmp_path / f"safe.{suffix}"
    shoal.release(made, safe)
    found = shoal.verify(safe)
    assert found.holds, found.reasons()
    for verdicts in (made.models, found.models):
        assert [verdict.parameters["distance"] for verdict in verdicts if verdict.name == "t-closeness"] == [used]
    assert f"distance={used}" in str(found.sections())
    written = json.loads((tmp_path / "safe.manifest.json").read_text())
    assert used in [one["parameters"].get("distance") for one in written["models"]]


def test_a_table_without_classes_names_what_the_policy_says() -> None:
    from shoal.models import Evidence, TCloseness

    verdict = TCloseness(t=0.2, sensitive="ill").judge(Evidence(np.zeros(0, np.int64)))
    assert not verdict.holds
    assert verdict.parameters["distance"] == "auto"
