"""Models that imply a k serve as one wherever a method asks for it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.methods.base import k_of
from shoal.models import AlphaKAnonymity, HighestRisk, KAnonymity, LDiversity
from shoal.models.base import Evidence
from shoal.policy import Policy


@pytest.mark.parametrize("threshold", [1.0, 0.5, 0.34, 1 / 3, 0.2, 0.1, 0.09, 0.05, 1 / 7, 1 / 49])
def test_the_k_of_a_limit_is_the_smallest_class_that_keeps_it(threshold: float) -> None:
    model = HighestRisk(threshold=threshold)
    least = model.least_members or 1
    assert model.judge(Evidence(np.array([least]))).holds
    assert least == 1 or not model.judge(Evidence(np.array([least - 1]))).holds


def test_the_largest_counts() -> None:
    about = AlphaKAnonymity(alpha=0.5, k=7, sensitive="x")
    assert k_of(Policy(models=[KAnonymity(k=2), HighestRisk(threshold=0.2), about])) == 7
    assert k_of(Policy(models=[LDiversity(l=3, sensitive="x")])) is None


@pytest.mark.parametrize("method", ["mondrian", "microaggregate", "suppress", "lattice", None])
def test_methods_take_it(method: str | None) -> None:
    random = np.random.default_rng(2)
    frame = pl.DataFrame({"age": random.integers(20, 60, 60), "sex": random.choice(["f", "m"], 60)})
    policy = {
        "columns": {"age": "quasi-identifier", "sex": "quasi-identifier"},
        "models": [{"model": "highest-risk", "threshold": 0.2}],
    }
    made = shoal.anonymize(frame, policy, method=method)
    assert made.models[-1].holds
    assert made.findings.k >= 5
    with pytest.raises(InputError, match="needs k"):
        shoal.anonymize(frame, {"columns": policy["columns"]}, method="mondrian")


@pytest.mark.parametrize(("threshold", "least"), [(1.0, None), (0.5, 2), (0.34, 3), (1 / 3, 3), (0.1, 10), (0.07, 15)])
def test_the_least_members_of_a_risk(threshold: float, least: int | None) -> None:
    """A class of that size is not above the threshold, a smaller one is; a threshold of 1 asks for nothing."""
    assert HighestRisk(threshold=threshold).least_members == least
