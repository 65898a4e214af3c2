"""Poisson log-linear models: the fit, the test that selects, and populations that are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.population import log_linear
from shoal.population.base import NoEstimate, SampleClasses, estimate
from shoal.population.log_linear import (
    Counts,
    LogLinear,
    _all_cells,
    _coefficients,
    _judge,
    _right,
    _slopes,
    association,
    with_pair,
)
from shoal.storage.classes import Coded, CountTable


def sample_of(columns: list[np.ndarray], people: float) -> SampleClasses:
    coded = {str(place): Coded(values, int(values.max()) + 1) for place, values in enumerate(columns)}
    counted = CountTable.of(coded)
    histogram = np.bincount(counted.counts)
    sizes = np.flatnonzero(histogram)
    return SampleClasses(sizes, histogram[sizes], people, list(counted.tuples.values()), counted.counts)


def test_two_columns_without_a_pair_are_independent() -> None:
    sample = sample_of([np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])], 40)
    counts = Counts.of(sample.tuples, sample.counts)
    judged = _judge(counts.independent(), counts, sample)
    # tuples (0,0), (0,1), (1,1): 40 * 3/4 * 1/2, 40 * 3/4 * 1/2, 40 * 1/4 * 1/2; the last two are unique
    assert judged.expected == pytest.approx([15, 15, 5])
    assert judged.unique == pytest.approx(np.exp(-0.9 * 15) + np.exp(-0.9 * 5))
    assert judged.right == pytest.approx((1 - np.exp(-13.5)) / 13.5 + (1 - np.exp(-4.5)) / 4.5)


@given(st.integers(0, 1000), st.integers(3, 5))
def test_every_fitted_pair_has_the_margin_that_was_seen(seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, card, 200) for card in rng.integers(2, 5, width)]
    columns[1] = np.where(rng.random(200) < 0.6, columns[0] % 2, columns[1])
    sample = sample_of(columns, 2000)
    counts = Counts.of(sample.tuples, sample.counts)
    model = counts.independent()
    for pair in counts.pairs():
        model = with_pair(model, pair, counts)
    whole = model[0]
    for pair in counts.pairs():
        seen = counts.margin(pair)
        assert np.bincount(whole.places(pair, counts.cards), whole.chances, len(seen)) == pytest.approx(seen, abs=1e-4)
        assert association(model, pair, counts) < 0.5
    assert whole.chances.sum() == pytest.approx(1)


def test_derivatives_of_the_chance_that_a_match_is_right() -> None:
    expected = np.array([1e-4, 0.01, 0.02, 0.05, 0.7, 3.0, 40.0])
    step = 1e-4 * expected
    first, second = _slopes(expected, 0.9)
    by_difference = (_right(expected + step, 0.9) - _right(expected - step, 0.9)) / (2 * step)
    assert first == pytest.approx(by_difference, rel=1e-4)
    beside = (_slopes(expected + step, 0.9)[0] - _slopes(expected - step, 0.9)[0]) / (2 * step)
    assert second == pytest.approx(beside, rel=1e-4)


def test_the_error_has_mean_zero_and_the_variance_that_is_said_where_the_model_is_true() -> None:
    rng = np.random.default_rng(1)
    expected, share = rng.gamma(0.5, 4, 3000), 0.1
    a, b = _coefficients(expected, share)
    mean = share * expected
    f = rng.poisson(mean, (3000, len(mean)))
    errors = (a * (f - mean) + b * ((f - mean) ** 2 - f)).sum(axis=1)
    variance = float((a**2 * mean + 2 * b**2 * mean**2).sum())
    assert abs(errors.mean()) < 4 * np.sqrt(variance / 3000)
    assert errors.var() == pytest.approx(variance, rel=0.1)


def test_cells_on_a_grid_are_nearly_those_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    sample = sample_of([rng.integers(0, card, 3000) for card in (7, 11, 13)], 30_000)
    counts = Counts.of(sample.tuples, sample.counts)
    model = with_pair(counts.independent(), (0, 1), counts)
    values, cells = _all_cells(model)
    monkeypatch.setattr(log_linear, "_LISTED", 10)
    gridded, amounts = _all_cells(model)
    assert amounts.sum() == pytest.approx(cells.sum())
    assert (amounts * gridded).sum() == pytest.approx(1, rel=1e-4)
    listed = (cells * values * np.exp(-3000 * values)).sum()
    assert (amounts * gridded * np.exp(-3000 * gridded)).sum() == pytest.approx(listed, rel=1e-4)


def people(seed: int, count: int = 60_000) -> list[np.ndarray]:
    """Six columns of which some go together."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(count)
    columns = []
    for card, tied in ((2, 0.2), (3, 0.4), (5, 0.5), (12, 0.3), (30, 0.4), (60, 0.2)):
        free = (rng.beta(1, 2, count) * card).astype(int)
        columns.append(np.where(rng.random(count) < tied, (hidden * card).astype(int), free))
    return columns


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_finds_the_uniques_of_a_population_that_is_known(share: float) -> None:
    columns = people(4)
    drawn = np.random.default_rng(1).random(len(columns[0])) < share
    whole = CountTable.of({str(place): Coded(values, 60) for place, values in enumerate(columns)})
    sample = sample_of([values[drawn] for values in columns], float(len(drawn)))
    found, chances = estimate(LogLinear(), sample)
    truth = (whole.counts == 1).sum() / whole.records
    assert found.uniqueness == pytest.approx(truth, rel=0.1)
    assert found.low is not None
    assert found.low <= found.uniqueness <= found.high
    assert chances is not None
    assert np.nanmean(chances) == pytest.approx(found.match_correct)
    # without the pairs the risk is too high, and the test says so
    counts = Counts.of(sample.tuples, sample.counts)
    alone = _judge(counts.independent(), counts, sample)
    assert alone.test > 3
    assert alone.right / sample.uniques > found.match_correct


def test_reasons_why_there_is_none() -> None:
    one = SampleClasses(np.array([1, 2]), np.array([3, 2]), 70, [Coded(np.arange(5), 5)], np.array([1, 1, 1, 2, 2]))
    with pytest.raises(NoEstimate, match="two columns"):
        LogLinear().find(one)
    visits = pl.DataFrame({"a": [1, 1, 2, 3], "b": [1, 2, 2, 2], "p": [1, 1, 2, 3]})
    found = shoal.risk(visits, quasi_identifiers=["a", "b"], person="p", sampling="10%", estimate="log-linear")
    assert found.population is not None
    assert found.population[0].status == "no estimate"
    assert "no persons" in str(found.population[0].reason)


def test_a_rejected_model_gives_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = people(5, 60_000)
    sample = sample_of([values[:20_000] for values in columns], 60_000)
    # no pair may be fitted: only main effects are left, which these columns do not have alone
    monkeypatch.setattr(log_linear, "MOST_CELLS", 1)
    with pytest.raises(NoEstimate, match=r"rejects every model .*underfit.*15 pairs"):
        LogLinear().find(sample)


def test_the_chance_of_each_unique_stands_beside_its_row() -> None:
    columns = people(6, 20_000)
    table = pl.DataFrame({f"c{place}": values[:2000] for place, values in enumerate(columns)})
    found = shoal.risk(table, quasi_identifiers=table.columns, sampling="10%", estimate="log-linear")
    assert found.population is not None
    chances = found.per_record["match_correct"]
    assert chances.is_not_null().sum() == found.uniques
    assert chances.mean() == pytest.approx(found.population[0].match_correct)
    assert chances.n_unique() > 100
    alone = table.with_columns(chances).filter(pl.len().over(table.columns) == 1)
    assert alone["match_correct"].null_count() == 0
