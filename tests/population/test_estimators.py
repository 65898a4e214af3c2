"""Population uniques from a sample: by hand, against ARX, against populations that are known, and where they fail."""

from __future__ import annotations

from math import log
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

import shoal
from shoal.population.base import NoEstimate, SampleClasses, estimate
from shoal.population.choice import ESTIMATORS, estimate_population
from shoal.population.estimators import Dis, Pitman, SlideNegativeBinomial, Zayatz, _a, _expected_ones, _fitted, _starts
from shoal.population.mixture import PoissonMixture

ADULT = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
]
HISTOGRAM = [Pitman, Zayatz, SlideNegativeBinomial, Dis, PoissonMixture]


def drawn(people_of_class: np.ndarray, share: float, seed: int = 0) -> tuple[SampleClasses, np.ndarray, np.ndarray]:
    """A sample of a population with classes of these sizes."""
    sizes = np.random.default_rng(seed).binomial(people_of_class, share)
    classes = np.bincount(sizes[sizes > 0])
    found = np.flatnonzero(classes)
    return SampleClasses(found, classes[found], float(people_of_class.sum())), sizes, people_of_class


def test_agrees_with_arx_on_adult(data: Path) -> None:
    adult = shoal.read(data / "adult" / "adult.csv")
    found = {
        name: shoal.risk(
            adult,
            quasi_identifiers=ADULT,
            population_size=317_238_626,
            estimate=name,
        )
        for name in ("pitman", "zayatz", "snb", "dis", None)
    }
    by_name = {name: result.population[0] for name, result in found.items() if result.population is not None}
    assert by_name["pitman"].uniqueness == pytest.approx(0.038896, abs=5e-7)
    assert by_name["zayatz"].uniqueness == pytest.approx(0.264565, abs=5e-7)
    assert by_name["dis"].uniques is None
    assert all(entry.status == "ok" for entry in by_name.values())
    assert found[None].chosen == "network"
    assert "predicts from" in str(found[None].chosen_reason)


def test_zayatz_and_dis_by_hand() -> None:
    sample = SampleClasses(np.array([1, 2]), np.array([40, 30]), 1000)
    # one of a class of two is drawn with 2 * 0.1 * 0.9; 40 / (40 + 30 * 2 * 0.9)
    assert Zayatz().find(sample).uniqueness == pytest.approx(0.4 * 40 / 94)
    assert Zayatz().find(sample).match_correct == pytest.approx((40 + 30 * 0.9) / 94)
    assert Dis().find(sample).match_correct == pytest.approx(0.1 * 40 / (0.1 * 40 + 2 * 0.9 * 30))


def likelihood(t: float, a: float, sample: SampleClasses) -> float:
    total = sum(log(t + i * a) for i in range(1, int(sample.classes.sum())))
    total -= sum(log(t + i) for i in range(1, sample.records))
    pairs = zip(sample.sizes.tolist(), sample.classes.tolist(), strict=True)
    return total + sum(count * sum(log(i - a) for i in range(1, size)) for size, count in pairs)


@given(
    st.integers(5, 60), st.integers(1, 30), st.integers(1, 20), st.integers(0, 8), st.integers(4, 40), st.integers(0, 4)
)
def test_pitman_is_the_maximum_of_its_likelihood(c1: int, c2: int, c3: int, c: int, size: int, d: int) -> None:
    sample = SampleClasses(np.array([1, 2, 3, size, 60]), np.array([c1, c2, c3, c, d]), 10_000)
    t, a = _fitted(sample.classes[None, :].astype(float), sample.sizes, _starts(sample))
    grid = [(x, y) for y in np.linspace(0.02, 0.98, 13) for x in np.exp(np.linspace(-4, 8, 13))]
    best = max(likelihood(x, y, sample) for x, y in grid)
    for place in np.flatnonzero(np.isfinite(a)):
        assert likelihood(t[place], a[place], sample) >= best - 1e-6
    if not np.isfinite(a).any():  # then the best lies at the border, not inside
        inside = [(likelihood(x, y, sample), y) for x, y in grid]
        assert max(inside)[1] < 0.15 or max(inside)[1] > 0.9


@given(st.floats(0.05, 0.95), st.floats(0.05, 5), st.floats(0.01, 0.6))
def test_snb_equations_are_those_of_its_distribution(b: float, a: float, share: float) -> None:
    # classes 1 + X, X negative binomial, each person drawn with the share
    x = np.arange(4000)
    logs = gammaln(x + a) - gammaln(x + 1.0) - gammaln(a) + a * np.log(b) + x * np.log1p(-b)
    chance, sizes = np.exp(logs), x + 1
    ones = 1000 * (chance * sizes * share * (1 - share) ** (sizes - 1)).sum()
    twos = 1000 * (chance * sizes * (sizes - 1) / 2 * share**2 * (1 - share) ** (sizes - 2.0)).sum()
    here = (np.array([b]), np.array([ones]), np.array([twos]))
    assert _a(*here, share)[0] == pytest.approx(a, rel=1e-6)
    assert _expected_ones(*here, np.array([1000.0]), share)[0] == pytest.approx(ones, rel=1e-6)


def test_pitman_finds_a_population_that_follows_it() -> None:
    rng = np.random.default_rng(3)
    classes: list[int] = []
    t, a, people = 50.0, 0.6, 20_000
    for already in range(people):  # the Chinese restaurant: a new class with (t + a u) / (t + i)
        if rng.random() < (t + a * len(classes)) / (t + already):
            classes.append(1)
        else:
            weights = np.array(classes) - a
            classes[int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))] += 1
    sizes = np.array(classes)
    sample, f, F = drawn(sizes, 0.1)
    found, _ = estimate(Pitman(), sample)
    assert found.low is not None
    assert found.low <= (sizes == 1).sum() / people <= found.high
    assert found.match_correct == pytest.approx((1 / F[f == 1]).mean(), rel=0.1)


def test_dis_needs_no_model() -> None:
    rng = np.random.default_rng(5)
    for sizes in (
        rng.geometric(0.3, 30_000),
        rng.poisson(3, 30_000),
        np.ceil(rng.lognormal(0, 1.5, 30_000)).astype(int),
    ):
        sample, f, F = drawn(sizes, 0.1)
        truth = (f == 1).sum() / F[f == 1].sum()
        found, _ = estimate(Dis(), sample)
        assert found.match_correct == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize("kind", HISTOGRAM)
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 40)), min_size=1, max_size=8), st.floats(1, 1000))
def test_an_estimate_is_a_share_or_a_reason(kind: type, rows: list[tuple[int, int]], scale: float) -> None:
    histogram = dict(rows)
    sizes = np.array(sorted(histogram))
    counts = np.array([histogram[size] for size in sizes.tolist()])
    found, _ = estimate(kind(), SampleClasses(sizes, counts, float(sizes @ counts) * scale))
    figures = (found.uniques, found.uniqueness, found.match_correct, found.expected_correct, found.low, found.high)
    if found.status == "no estimate":
        assert figures == (None,) * 6
        assert found.reason
    else:
        assert all(figure is None or (np.isfinite(figure) and figure >= 0) for figure in figures)
        assert found.match_correct is not None
        assert 0 < found.match_correct <= 1 + 1e-9
        assert found.uniqueness is None or scale == 1 or found.uniqueness > 0


def test_failures_have_reasons_and_no_zero() -> None:
    whole = pl.DataFrame({"a": [1, 1, 2, 3], "c": [7] * 4})
    constant = shoal.risk(whole, quasi_identifiers=["c"], sampling="10%", estimate="all")
    assert constant.population is not None
    assert {entry.status for entry in constant.population} == {"no estimate"}
    assert all("nothing to extrapolate" in str(entry.reason) for entry in constant.population)
    assert (constant.chosen, constant.chosen_reason) == (None, None)
    assert "No estimator" in str(constant.sections())
    with pytest.raises(NoEstimate, match="every record"):
        Pitman().find(SampleClasses(np.array([1]), np.array([9]), 90))
    with pytest.raises(NoEstimate, match="no class of two"):
        SlideNegativeBinomial().find(SampleClasses(np.array([1, 3]), np.array([9, 1]), 90))
    # the whole population: counted
    counted = shoal.risk(whole, quasi_identifiers=["a"], population_size=4, estimate="all")
    assert counted.population is not None
    assert {(entry.uniqueness, entry.low, entry.high) for entry in counted.population} == {(0.5, 0.5, 0.5)}


def test_all_are_shown_where_all_are_asked_for_and_else_the_chosen_one() -> None:
    sample = SampleClasses(np.array([1, 2, 9]), np.array([60, 12, 3]), 300)
    everybody = estimate_population(sample, "all")
    assert [entry.estimator for entry in everybody.estimates] == list(ESTIMATORS)
    chosen = estimate_population(sample)
    assert [entry.estimator for entry in chosen.estimates] == [chosen.name] == ["poisson-mixture"]


def test_one_by_name_and_none_of_that_name() -> None:
    table = pl.DataFrame({"a": [1, 1, 2, 3, 4, 4]})
    found = shoal.risk(table, quasi_identifiers=["a"], sampling=0.05, estimate="zayatz")
    assert found.population is not None
    assert ([entry.estimator for entry in found.population], found.chosen) == (["zayatz"], "zayatz")
    with pytest.raises(shoal.InputError, match="no estimator of that name"):
        shoal.risk(table, quasi_identifiers=["a"], sampling=0.05, estimate="rocher")
    with pytest.raises(shoal.InputError, match="how large the population"):
        shoal.risk(table, quasi_identifiers=["a"], estimate="all")


def test_weights_say_how_large_the_population_is() -> None:
    table = pl.DataFrame({"a": [1, 1, 2, 3, 4, 4], "w": [10.0] * 6})
    found = shoal.risk(table, quasi_identifiers=["a"], weight="w", estimate="dis")
    sized = shoal.risk(table, quasi_identifiers=["a"], population_size=60, estimate="dis")
    assert found.population == sized.population
    only = shoal.risk(table, quasi_identifiers=["a"], weight="w")
    assert only.population is None
    assert "population" not in only.to_dict()
    assert "chosen" not in only.to_dict()
