"""Numbers at the edge of what can be computed with: an error or no estimate, never a figure that is none."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.errors import InputError
from shoal.exposure.journalist import attacker_risk
from shoal.models import Evidence, HighestRisk
from shoal.policy import as_policy
from shoal.policy.thresholds import Threshold
from shoal.population.base import SampleClasses, estimate
from shoal.population.choice import estimate_population
from shoal.population.estimators import Dis, Zayatz
from shoal.population.log_linear import LogLinear
from shoal.storage.classes import CountTable
from shoal.storage.encode import encode

KEYS = {"k": ["a", "b", "b", "c", "c"], "s": list("fmfmf")}


def test_a_figure_that_is_not_a_number_is_over_every_limit() -> None:
    found = attacker_risk(np.array([1, 4]), np.array([math.nan, 0.01]), Threshold(0.05))
    assert found.share_over_threshold == 0.2
    model = HighestRisk(threshold=0.05)

    class Broken(HighestRisk):
        def measure(self, evidence: Evidence) -> Any:
            return np.array([math.nan, 0.01])

    verdict = Broken(threshold=model.threshold).judge(Evidence(np.array([1, 4])))
    assert (verdict.holds, verdict.status, verdict.worst["risk"]) == (False, "no estimate", None)


@pytest.mark.parametrize("weight", [1e308, 2.0**53 * 2])
def test_weights_of_more_people_than_there_are(weight: float) -> None:
    frame = pl.DataFrame({**KEYS, "w": [weight] * 5})
    with pytest.raises(InputError, match="weights above 9,007,199,254,740,992"):
        shoal.risk(frame, quasi_identifiers=["k", "s"], weight="w")


def test_weights_in_unsigned_integers_of_64_bits() -> None:
    series = pl.Series("w", [2**64 - 1, 2**64 - 3, None, 2**64 - 1], dtype=pl.UInt64)
    assert encode(series).decode().to_list() == series.to_list()
    frame = pl.DataFrame({**KEYS, "w": pl.Series([2**64 - 1] * 5, dtype=pl.UInt64)})
    with pytest.raises(InputError, match="weights above"):
        shoal.risk(frame, quasi_identifiers=["k", "s"], weight="w")


@pytest.mark.parametrize(
    ("said", "setting"),
    [
        ({"population_size": 10**400}, "population_size"),
        ({"sampling": 1e-320}, "sampling"),
        ({"sampling": 0}, "sampling"),
    ],
)
def test_a_population_beyond_all_bounds(said: dict[str, Any], setting: str) -> None:
    with pytest.raises(InputError, match=setting):
        shoal.risk(pl.DataFrame(KEYS), quasi_identifiers=["k", "s"], **said)
    with pytest.raises(InputError, match=setting):
        as_policy({"columns": {"k": "quasi-identifier"}, **said})


@pytest.mark.parametrize("share", ["1e-12", "0.0001%", "100%"])
def test_no_json_has_a_number_that_is_none(share: str, tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": range(50), "b": [row % 7 for row in range(50)]}).write_csv(path)
    asked = ["risk", str(path), "--qi", "a,b", "--estimate", "all", "--suda", "--sampling", share, "--json"]
    found = CliRunner().invoke(app, asked)
    assert found.exit_code == 0, found.output

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    json.loads(found.stdout, parse_constant=refuse)


def test_suppressed_records_do_not_change_the_share() -> None:
    """Records and the people they stand for are of the same rows."""
    frame = pl.DataFrame({"a": [*"xxxxxu"], "b": [*"yyyyyv"], "w": [2.0] * 6})
    stars = pl.DataFrame({"a": ["*"] * 4, "b": ["*"] * 4, "w": [1000.0] * 4})
    asked: dict[str, Any] = {"quasi_identifiers": ["a", "b"], "weight": "w", "estimate": "zayatz"}
    alone, beside = shoal.risk(frame, **asked), shoal.risk(pl.concat([frame, stars]), **asked)
    assert alone.population is not None
    assert beside.population is not None
    assert beside.population[0].match_correct == pytest.approx(alone.population[0].match_correct)
    assert beside.population[0].uniques == pytest.approx(alone.population[0].uniques)


def test_margins_smaller_than_the_sample() -> None:
    by = [{"k": ["a", "b", "c"], "n": [1, 1, 1]}, {"s": ["f", "m"], "n": [2, 1]}]
    with pytest.raises(InputError, match="5 records, its margins 3 people") as caught:
        shoal.risk(pl.DataFrame(KEYS), quasi_identifiers=["k", "s"], margins=by)
    assert "(margins)" in str(caught.value.cure)


def test_without_a_pair_there_is_no_interval() -> None:
    """Only uniques: the chance is 1, the safe figure, and nothing says how sure that is."""
    for estimator in (Zayatz(), Dis()):
        found, _ = estimate(estimator, SampleClasses(np.array([1]), np.array([50]), 5000))
        assert (found.status, found.match_correct, found.low, found.high) == ("ok", 1.0, None, None)
        assert "no pair" in str(found.reason)


def test_a_tail_of_the_model_is_not_an_estimate() -> None:
    draw = np.random.default_rng(5)
    frame = pl.DataFrame({name: draw.integers(0, 12, 300) for name in "abc"})
    counted = CountTable.of({name: encode(frame[name]) for name in frame.columns})
    histogram = np.bincount(counted.counts)
    sizes = np.flatnonzero(histogram)
    tuples = list(counted.tuples.values())
    found = [
        estimate(LogLinear(), SampleClasses(sizes, histogram[sizes], people, tuples, counted.counts))[0]
        for people in (3000, 3e8)
    ]
    assert [entry.status for entry in found] == ["ok", "no estimate"]
    assert "far tail" in str(found[1].reason)


def test_a_whole_population_is_counted() -> None:
    found = estimate_population(SampleClasses(np.array([1, 2]), np.array([5, 3]), 11))
    assert "counted" in str(found.reason)


def test_a_log_linear_test_that_is_not_a_number_accepts_nothing() -> None:
    draw = np.random.default_rng(2)
    frame = pl.DataFrame({"a": range(300), "b": draw.integers(0, 3, 300), "c": draw.integers(0, 4, 300)})
    columns = {name: encode(frame[name]) for name in frame.columns}
    counted = CountTable.of(columns)
    tuples = list(counted.tuples.values())
    for people in (3e8, 3e14):
        sample = SampleClasses(np.array([1]), np.array([300]), people, tuples, counted.counts)
        found, _ = estimate(LogLinear(), sample)
        assert found.status == "no estimate"
