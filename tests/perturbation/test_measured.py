"""What is measured after a perturbation: by hand, by laws, against slow and plain code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.methods.perturbation import utility as scores
from shoal.methods.perturbation.utility import il1s, interval_disclosure, linkage, nearest, propensity, utility_of
from shoal.storage import Array


def linked_slowly(old: Array, new: Array) -> float:
    """Every distance; ties share."""
    total = 0.0
    for row, point in enumerate(new):
        distances = np.sqrt(((old - point) ** 2).sum(axis=1))
        nearest = distances <= distances.min() * (1 + 1e-9) + 1e-9
        total += nearest[row] / nearest.sum()
    return total


points = st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=60)


@given(points, points, st.sampled_from([1.0, 0.1, 0.5]))
def test_nearest_points_and_all_ties(held: list[tuple[int, int]], asked: list[tuple[int, int]], scale: float) -> None:
    old, new = np.array(held, float) * scale, np.array(asked, float) / 2
    distance, ties = nearest(old, new)
    every = np.sqrt(((old[None] - new[:, None]) ** 2).sum(axis=2))
    assert distance == pytest.approx(every.min(axis=1), abs=1e-12)
    assert ties.tolist() == (every <= every.min(axis=1)[:, None] + 1e-9).sum(axis=1).tolist()


@given(st.integers(2, 80), st.integers(1, 4), st.integers(0, 1000), st.booleans())
def test_linkage_is_what_all_distances_say(rows: int, width: int, seed: int, rounded: bool) -> None:
    rng = np.random.default_rng(seed)
    old = rng.standard_normal((rows, width))
    new = old + 0.7 * rng.standard_normal((rows, width))
    if rounded:  # many ties
        old, new = np.round(old), np.round(new)
    spread = old.std(axis=0, ddof=1)
    old, new = old[:, spread > 0], new[:, spread > 0]
    if not old.shape[1]:
        return
    spread = spread[spread > 0]
    names = [f"c{place}" for place in range(old.shape[1])]
    found = linkage(dict(zip(names, old.T, strict=True)), dict(zip(names, new.T, strict=True)), 0)
    assert found is not None
    assert found.linked == pytest.approx(linked_slowly(old / spread, new / spread), abs=1e-6)


def test_ties_are_shared_and_never_counted_whole() -> None:
    """All originals alike: whoever links has one chance in n, not n right links."""
    same = {"x": np.array([5.0] * 9 + [6.0]), "y": np.array([1.0] * 9 + [2.0])}
    found = linkage(same, same, 0)
    assert found is not None
    assert found.linked == pytest.approx(9 * (1 / 9) + 1)
    assert found.share == pytest.approx(0.2)
    untouched = linkage({"x": np.arange(20.0)}, {"x": np.arange(20.0)}, 0)
    assert untouched is not None
    assert (untouched.share, untouched.by_chance) == (1.0, 0.05)


def test_linkage_falls_to_chance_with_noise() -> None:
    rng = np.random.default_rng(1)
    old = {name: rng.standard_normal(3000) for name in "ab"}
    shares = []
    for noise in (0.01, 0.1, 1.0, 30.0):
        new = {name: values + noise * rng.standard_normal(3000) for name, values in old.items()}
        found = linkage(old, new, 0)
        assert found is not None
        shares.append(found.share)
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.8
    assert shares[-1] < 10 * found.by_chance


def test_missing_values_link_and_disclose_nothing() -> None:
    old = {"x": np.array([1.0, np.nan, 3.0])}
    found = linkage(old, old, 0)
    assert found is not None
    assert found.records == 2
    intervals = interval_disclosure(old, {"x": np.array([1.0, np.nan, 9.0])}, 0.1)
    assert intervals is not None
    assert intervals.by_column == {"x": 0.5}


def test_interval_disclosure_by_hand() -> None:
    # s = 10 for both; widths 0.1 s = 1
    before = {"x": np.array([0.0, 10.0, 20.0]), "y": np.array([0.0, 10.0, 20.0])}
    after = {"x": np.array([1.0, 12.0, 20.0]), "y": np.array([0.5, 10.0, 30.0])}
    found = interval_disclosure(before, after, 0.1)
    assert found is not None
    assert found.by_column == pytest.approx({"x": 2 / 3, "y": 2 / 3})
    assert found.all == pytest.approx(1 / 3)
    # noise of a tenth: within 0.05 s with the probability that |ε| < 0.5
    rng = np.random.default_rng(0)
    values = rng.standard_normal(50_000)
    noisy = interval_disclosure({"x": values}, {"x": values + 0.1 * rng.standard_normal(50_000)}, 0.05)
    assert noisy is not None
    assert noisy.all == pytest.approx(0.3829, abs=0.01)


def test_il1s_is_a_mean_and_does_not_grow_with_the_table() -> None:
    """sdcMicro sums it: twice the records, twice the loss."""
    rng = np.random.default_rng(0)
    old = rng.standard_normal(4000)
    new = old + 0.1 * rng.standard_normal(4000)
    once, often = il1s(old, new), il1s(np.tile(old, 10), np.tile(new, 10))
    assert often == pytest.approx(once, rel=1e-3)
    # E|0.1 ε| / √2 = 0.1 √(2/π) / √2
    assert once == pytest.approx(0.1 / np.sqrt(np.pi), rel=0.05)
    assert il1s(old, old) == 0
    # and of units: metres or millimetres
    assert il1s(1000 * old, 1000 * new) == pytest.approx(once)
    both = utility_of({"a": old, "b": old}, {"a": new, "b": old}, {}, {}, 0)
    assert both.il1s == pytest.approx(once / 2)


def test_eigenvalues_by_hand() -> None:
    old = {"a": np.array([1.0, -1.0, 1.0, -1.0]), "b": np.array([1.0, 1.0, -1.0, -1.0])}
    # uncorrelated: the eigenvalues are the variances, in units of the original's 1 and 1; b is doubled
    new = {"a": old["a"], "b": 2 * old["b"]}
    assert utility_of(old, new, {}, {}, 0).eigenvalues == pytest.approx((0 + 3) / 2)
    assert utility_of(old, old, {}, {}, 0).eigenvalues == pytest.approx(0)


def test_marginals_and_correlations_by_hand() -> None:
    old = {"x": np.array([1.0, 2.0, 3.0, 4.0])}
    new = {"x": np.array([2.0, 3.0, 4.0, 5.0])}
    categories = {"c": (np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]))}
    found = utility_of(old, new, categories, {"other": np.array([1.0, 2.0, 3.0, 4.0])}, 0)
    s = np.std([1, 2, 3, 4], ddof=1)
    assert found.marginals["x"].mean == pytest.approx(1 / s)
    assert found.marginals["x"].spread == pytest.approx(0)
    assert found.marginals["x"].distance == 0.25
    assert found.marginals["c"].distance == 0.25
    assert found.correlations == pytest.approx(0)
    turned = utility_of(old, {"x": old["x"][::-1]}, {}, {"other": np.arange(4.0)}, 0)
    assert turned.correlations == pytest.approx(2)


def test_the_propensity_score_by_hand() -> None:
    # one category: the fitted chance of each value is its share among the released, but for the little penalty
    old, new = np.repeat([0, 1], [3000, 1000]), np.repeat([0, 1], [2000, 2000])
    found = propensity({}, {}, {"c": (old, new)}, 0)
    assert found is not None
    assert found.pmse == pytest.approx((5000 * (0.4 - 0.5) ** 2 + 3000 * (2 / 3 - 0.5) ** 2) / 8000, rel=1e-4)
    assert found.ratio == pytest.approx(found.pmse * 4 * 8000)


def test_fewer_records_than_features() -> None:
    rng = np.random.default_rng(0)
    old = {name: rng.standard_normal(3) for name in "abcde"}
    found = propensity(old, {name: values + 1 for name, values in old.items()}, {}, 0)
    assert found is not None
    assert found.settled
    assert found.pmse == pytest.approx(0.25, abs=0.01)


def test_an_estimator_that_fails_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It never returns 0, "no difference" (SPEC 5)."""
    with monkeypatch.context() as patched:
        patched.setattr(scores, "_ROUNDS", 1)
        old = {"x": np.random.default_rng(0).standard_normal(100)}
        short = propensity(old, {"x": old["x"] * 2}, {}, 0)
        assert short is not None
        assert (short.pmse, short.ratio, short.settled) == (None, None, False)
    empty = propensity({"x": np.full(5, np.nan)}, {"x": np.full(5, np.nan)}, {}, 0)
    assert empty is not None
    assert (empty.pmse, empty.ratio, empty.settled) == (None, None, False)


def test_what_can_be_told_apart_completely() -> None:
    old = {"x": np.arange(30.0)}
    found = propensity(old, {"x": np.arange(30.0) + 1000}, {}, 0)
    assert found is not None
    assert found.pmse == pytest.approx(0.25, abs=0.01)


def test_the_propensity_score_grows_with_the_change() -> None:
    rng = np.random.default_rng(2)
    old = {"x": rng.standard_normal(4000), "y": rng.standard_normal(4000)}
    scores = []
    for share in (0.0, 0.3, 1.0, 3.0):
        new = {name: values + share * rng.standard_normal(4000) for name, values in old.items()}
        found = propensity(old, new, {}, 0)
        assert found is not None
        assert found.pmse is not None
        scores.append(found.pmse)
    assert scores[0] == pytest.approx(0, abs=1e-9)
    assert scores == sorted(scores)
    # two independent tables of one source: the ratio is near 1
    ratios = []
    for _ in range(60):
        found = propensity(
            {name: rng.standard_normal(500) for name in "ab"}, {name: rng.standard_normal(500) for name in "ab"}, {}, 0
        )
        assert found is not None
        assert found.ratio is not None
        ratios.append(found.ratio)
    assert 0.8 < np.mean(ratios) < 1.25


def test_a_shift_of_categories_is_seen() -> None:
    codes = np.repeat([0, 1, 2], 400)
    same = propensity({}, {}, {"c": (codes, codes)}, 0)
    other = propensity({}, {}, {"c": (codes, np.repeat([0, 0, 2], 400))}, 0)
    assert same is not None
    assert other is not None
    assert same.pmse == pytest.approx(0, abs=1e-9)
    assert other.pmse is not None
    assert other.pmse > 0.02


def test_on_tarragona(data: Path) -> None:
    frame = pl.read_csv(data / "sdcmicro" / "Tarragona.csv")
    names = [name for name in frame.columns if frame[name].dtype.is_numeric()][:5]
    noisy = shoal.perturb(frame, noise=dict.fromkeys(names, 0.1), seed=1).findings
    swapped = shoal.perturb(frame, swap=dict.fromkeys(names, "10%"), seed=1).findings
    for found in (noisy, swapped):
        assert found.risk.linkage is not None
        assert 0 < found.risk.linkage.share < 1
        assert found.utility.il1s is not None
    assert swapped.utility.marginals[names[0]].distance == 0
    assert noisy.utility.il1s == pytest.approx(0.1 / np.sqrt(np.pi), rel=0.1)
