"""Each operator: its laws, cases by hand, and what it must leave alone."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.kernels.rows import swap_partners
from shoal.methods.perturbation.operator import like, normal_scores

N = 20_000


@pytest.fixture(scope="module")
def survey() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    skill = rng.standard_normal(N)
    return pl.DataFrame(
        {
            "income": 3000 + 800 * skill + 300 * rng.standard_normal(N),
            "savings": 10_000 + 5000 * skill + 4000 * rng.standard_normal(N),
            "hours": np.clip(np.round(38 + 6 * skill + 5 * rng.standard_normal(N)), 1, 80).astype(np.int64),
            "age": rng.integers(18, 90, N),
            "education": rng.choice(["none", "school", "degree"], N, p=[0.1, 0.6, 0.3]),
        }
    )


def perturbed(frame: pl.DataFrame, **how: Any) -> pl.DataFrame:
    found = shoal.perturb(frame, seed=5, **how).polars
    assert isinstance(found, pl.DataFrame)
    return found


def test_noise_has_the_share_of_the_spread_that_was_asked_for(survey: pl.DataFrame) -> None:
    after = perturbed(survey, noise={"income": 0.25})
    noise = (after["income"] - survey["income"]).to_numpy()
    spread = survey["income"].std()
    assert isinstance(spread, float)
    assert abs(noise.mean()) < 4 * 0.25 * spread / np.sqrt(N)
    assert noise.std() == pytest.approx(0.25 * spread, rel=0.03)
    assert after["income"].var() == pytest.approx((1 + 0.25**2) * spread**2, rel=0.03)  # type: ignore[arg-type]
    # noise is independent of the value
    assert abs(np.corrcoef(noise, survey["income"].to_numpy())[0, 1]) < 4 / np.sqrt(N)
    assert after.drop("income").equals(survey.drop("income"))


def test_correlated_noise_keeps_means_and_covariances(survey: pl.DataFrame) -> None:
    names = ["income", "savings", "hours"]
    after = perturbed(survey, noise={tuple(names): 0.5})
    old, new = survey.select(names).to_numpy(), after.select(names).to_numpy()
    spread = old.std(axis=0)
    assert np.abs((new.mean(axis=0) - old.mean(axis=0)) / spread).max() < 0.03
    assert np.abs((np.cov(new.T) - np.cov(old.T)) / np.outer(spread, spread)).max() < 0.04
    # and it is noise: what is left of the value is √(1 - share²)
    assert np.corrcoef(old[:, 0], new[:, 0])[0, 1] == pytest.approx(np.sqrt(1 - 0.25), abs=0.02)
    # noise that is not correlated wears correlations down
    alone = perturbed(survey, noise=dict.fromkeys(names, 0.5)).select(names).to_numpy()
    assert abs(np.corrcoef(alone.T)[0, 1]) < abs(np.corrcoef(new.T)[0, 1]) - 0.1


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 5))
def test_swap_partners_are_mutual_and_near(count: int, window: int, seed: int) -> None:
    partner = swap_partners(window, np.random.default_rng(seed).random(count))
    ranks = np.arange(count)
    assert (partner[partner] == ranks).all()
    assert np.abs(partner - ranks).max() <= window
    alone = np.flatnonzero(partner == ranks)
    # nobody is left alone who had a free neighbour
    assert all(abs(int(a) - int(b)) > window for a in alone for b in alone if a != b)


def test_swapping_keeps_every_value_and_moves_it_within_the_window(survey: pl.DataFrame) -> None:
    after = perturbed(survey, swap={"income": "5%"})
    assert after["income"].sort().equals(survey["income"].sort())
    ranks = [series.rank("ordinal").to_numpy().astype(int) for series in (survey["income"], after["income"])]
    moved = np.abs(ranks[0] - ranks[1])
    assert moved.max() <= 0.05 * N
    assert moved.mean() > 0.01 * N
    # extremes are values of the table still: nothing was averaged away
    assert after["income"].max() == survey["income"].max()


def test_pram_keeps_expected_frequencies(survey: pl.DataFrame) -> None:
    after = perturbed(survey, pram={"education": 0.7})
    kept = (after["education"] == survey["education"]).mean()
    shares = survey["education"].value_counts(normalize=True).sort("education")["proportion"].to_numpy()
    assert kept == pytest.approx(0.7 + 0.3 * (shares**2).sum(), abs=4 * np.sqrt(0.2 / N))
    found = after["education"].value_counts(normalize=True).sort("education")["proportion"].to_numpy()
    assert np.abs(found - shares).max() < 4 * np.sqrt(0.3 * 0.25 * 2 / N)
    # where it changes, it is drawn from the column's own shares
    transition = [
        after.filter(survey["education"] == value)["education"].value_counts(normalize=True).sort("education")
        for value in ("degree", "none", "school")
    ]
    for place, row in enumerate(transition):
        expected = 0.3 * shares + 0.7 * (np.arange(3) == place)
        assert np.abs(row["proportion"].to_numpy() - expected).max() < 0.04


def test_pram_at_its_ends(survey: pl.DataFrame) -> None:
    result = shoal.perturb(survey, pram={"education": 1.0}, seed=1)
    assert result.polars.equals(survey)
    own = "leaves as it is, and nearly every record has a value of its own there"
    assert result.findings.notes == ["no value of 'education' changed", f"income {own}", f"savings {own}"]
    free = shoal.perturb(survey, pram={"education": 0}, seed=1).findings.risk.kept["education"]
    shares = survey["education"].value_counts(normalize=True)["proportion"].to_numpy()
    assert free == pytest.approx((shares**2).sum(), abs=0.02)


def test_coding_and_rounding_by_hand() -> None:
    frame = pl.DataFrame({"pay": [10, 20, 30, 40, 50, 60, 70, 80, 90, 1000], "debt": [-7.5, -2.5, 2.5] + [0.0] * 7})
    assert perturbed(frame, top_code={"pay": "90%"})["pay"].to_list() == [10, 20, 30, 40, 50, 60, 70, 80, 90, 90]
    assert perturbed(frame, top_code={"pay": 45})["pay"].to_list() == [10, 20, 30, 40] + [45] * 6
    assert perturbed(frame, bottom_code={"pay": "20%"})["pay"].to_list()[:3] == [20, 20, 30]
    assert perturbed(frame, round={"pay": 100})["pay"].to_list() == [0, 0, 0, 0, 100, 100, 100, 100, 100, 1000]
    # halves go up, below zero too
    assert perturbed(frame, round={"debt": 5})["debt"].to_list()[:3] == [-5.0, 0.0, 5.0]
    assert perturbed(frame, top_code={"debt": 0}, bottom_code={"debt": -3})["debt"].to_list()[:3] == [-3.0, -2.5, 0.0]


def test_a_limit_holds_whatever_noise_is_added(survey: pl.DataFrame) -> None:
    after = perturbed(survey, noise={"income": 1}, top_code={"income": "99%"}, bottom_code={"income": "1%"})
    limits = [survey["income"].quantile(share, interpolation="nearest") for share in (0.01, 0.99)]
    assert after["income"].min() == pytest.approx(limits[0], rel=1e-3)
    assert after["income"].max() == pytest.approx(limits[1], rel=1e-3)


def test_shuffling_keeps_values_and_rank_correlations(survey: pl.DataFrame) -> None:
    after = perturbed(survey, shuffle={"income": ["savings", "hours"]})
    assert after["income"].sort().equals(survey["income"].sort())
    for name in ("savings", "hours"):
        old, new = (frame.select(pl.corr("income", name, method="spearman")).item() for frame in (survey, after))
        assert new == pytest.approx(old, abs=0.04)
        assert abs(old) > 0.3
    # the order among those alike in what is kept is drawn anew: most of the rank is gone
    own = np.corrcoef(survey["income"].to_numpy(), after["income"].to_numpy())[0, 1]
    assert 0.3 < own < 0.8
    loose = perturbed(survey, shuffle="income")
    assert loose["income"].sort().equals(survey["income"].sort())
    assert abs(loose.select(pl.corr("income", "savings")).item()) < 0.05


def test_normal_scores_are_normal_and_alike_for_equal_values() -> None:
    scores = normal_scores(np.random.default_rng(0).random(10_001))
    assert scores.mean() == pytest.approx(0, abs=1e-9)
    assert scores.std() == pytest.approx(1, abs=0.01)
    assert np.quantile(scores, 0.975) == pytest.approx(1.96, abs=0.01)
    tied = normal_scores(np.array([1.0, 1.0, 2.0, 3.0]))
    assert tied[0] == tied[1] < tied[2] < tied[3]


columns = st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=8, max_size=40).filter(
    lambda values: len({value for value in values if value is not None}) > 2 and values.count(None) < len(values) - 5
)
ways: list[dict[str, Any]] = [
    {"noise": {"x": 0.3}},
    {"swap": {"x": "50%"}},
    {"shuffle": "x"},
    {"pram": {"x": 0.5}},
    {"top_code": {"x": "80%"}},
    {"bottom_code": {"x": 3}},
    {"round": {"x": 7}},
]


@pytest.mark.parametrize("how", ways, ids=lambda how: next(iter(how)))
@given(values=columns, seed=st.integers(0, 2**63 - 1))
def test_every_operator_keeps_rows_nulls_and_types_and_depends_on_its_seed_alone(
    how: dict[str, Any], values: list[int | None], seed: int
) -> None:
    frame = pl.DataFrame({"x": values, "y": list(range(len(values)))}, schema={"x": pl.Int32, "y": pl.Int64})
    one, two = (shoal.perturb(frame, seed=seed, **how).polars for _ in range(2))
    assert one.equals(two)
    assert one.schema == frame.schema
    assert one["x"].is_null().equals(frame["x"].is_null())
    assert one["y"].equals(frame["y"])


def test_without_a_seed_every_run_differs(survey: pl.DataFrame) -> None:
    one, two = (shoal.perturb(survey, noise={"income": 0.1}) for _ in range(2))
    assert one.private["perturbation_seed"] != two.private["perturbation_seed"]
    assert not one.polars.equals(two.polars)


def test_the_order_of_options_changes_nothing(survey: pl.DataFrame) -> None:
    one = perturbed(survey, noise={"income": 0.1, "savings": 0.1}, swap={"age": "5%"})
    two = perturbed(survey, swap={"age": "5%"}, noise={"savings": 0.1, "income": 0.1})
    assert one.equals(two)
    # columns have streams of their own
    noise = [(one[name] - survey[name]).to_numpy() for name in ("income", "savings")]
    assert abs(np.corrcoef(noise[0], noise[1])[0, 1]) < 4 / np.sqrt(N)


def test_row_labels_are_not_positions() -> None:
    """Shuffled and doubled labels of a pandas frame change nothing (SPEC 5)."""
    values = {"pay": np.arange(50.0), "town": ["A", "B"] * 25}
    plain = pd.DataFrame(values)
    odd = pd.DataFrame(values, index=np.random.default_rng(0).permutation(np.repeat(np.arange(25), 2)))
    how: dict[str, Any] = {"noise": {"pay": 0.1}, "pram": {"town": 0.5}, "seed": 3}
    one, two = (shoal.perturb(frame, **how).frame for frame in (plain, odd))
    assert isinstance(two, pd.DataFrame)
    assert (two.index == odd.index).all()
    assert (one.reset_index(drop=True) == two.reset_index(drop=True)).all().all()


def test_dates_and_narrow_types() -> None:
    frame = pl.DataFrame(
        {"born": [date(1990, 1, day) for day in range(1, 29)], "small": pl.Series(range(-14, 14), dtype=pl.Int8)}
    )
    after = perturbed(frame, noise={"born": 0.2, "small": 20}, swap={"born": "20%"})
    assert after["born"].dtype == pl.Date
    # noise that does not fit the type is not cut off
    assert after["small"].dtype == pl.Int64
    assert after["small"].min() < -128  # type: ignore[operator]
    assert like(pl.Series("x", [1, 2], dtype=pl.UInt8), np.array([3.0, 4.0])).dtype == pl.UInt8


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "Nothing is to be perturbed"),
        ({"noise": {"pay": 0}}, "not above 0"),
        ({"noise": {"pay": "much"}}, "not a number"),
        ({"noise": {"pay": float("nan")}}, "not a finite number"),
        ({"noise": {"pay": 1e308}}, "too large a number"),
        ({"noise": {"town": 0.1}}, "holds text"),
        ({"noise": {"same": 0.1}}, "does not vary"),
        ({"noise": {"nothing": 0.1}}, "nothing"),
        ({"noise": {"empty": 0.1}}, "no values"),
        ({"noise": {"pay": 0.1, ("pay", "hours"): 0.1}}, "twice"),
        ({"noise": {("pay", "hours"): 1}}, "not below 1"),
        ({"noise": {("pay", "same"): 0.1}}, "does not vary"),
        ({"swap": {"pay": "0%"}}, "not a share above 0"),
        ({"swap": {"pay": "200%"}}, "between 0 and 1"),
        ({"swap": {"pay": "1%"}}, "less than one rank"),
        ({"swap": {"town": "5%"}}, "holds text"),
        ({"shuffle": {"pay": ["pay"]}}, "by itself"),
        ({"shuffle": {"pay": ["gap"]}}, "missing values"),
        ({"shuffle": {"pay": ["same"]}}, "does not vary"),
        ({"pram": {"town": 1.5}}, "between 0 and 1"),
        ({"top_code": {"pay": "100%"}}, "between 0 and 100"),
        ({"top_code": {"hours": 2.5}}, "whole numbers"),
        ({"top_code": {"born": "90%"}}, "does not hold numbers"),
        ({"round": {"hours": 0.5}}, "whole base"),
        ({"round": {"pay": -1}}, "not above 0"),
        ({"round": {"born": 7}}, "does not hold numbers"),
        ({"noise": {"pay": 0.1}, "interval": 0}, "standard deviations"),
    ],
)
def test_bad_input(how: dict[str, Any], message: str) -> None:
    frame = pl.DataFrame(
        {
            "pay": [1.5, 2.5, 3.5, 9.5],
            "hours": [1, 2, 3, 5],
            "same": [7.0] * 4,
            "town": ["A", "B", "C", "D"],
            "gap": [1, None, 3, 4],
            "born": [date(1990, 1, day) for day in range(1, 5)],
            "empty": pl.Series([None] * 4, dtype=pl.Float64),
        }
    )
    with pytest.raises(InputError, match=message) as caught:
        shoal.perturb(frame, **how)
    assert caught.value.cure


def test_a_policy_with_models_does_not_mix_with_perturbed_quasi_identifiers() -> None:
    frame = pl.DataFrame({"age": [30, 30, 31, 31], "pay": [1.0, 2.0, 3.0, 4.0], "name": ["a", "b", "c", "d"]})
    policy = shoal.Policy(
        columns={"age": "quasi-identifier", "name": "identifier"}, models=[{"model": "k-anonymity", "k": 2}]
    )
    with pytest.raises(InputError, match="make no class"):
        shoal.perturb(frame, policy=policy, noise={"age": 0.1})
    with pytest.raises(InputError, match="identifies"):
        shoal.perturb(frame, policy=policy, pram={"name": 0.1})
    assert shoal.perturb(frame, policy=policy, noise={"pay": 0.1}).polars.columns == ["age", "pay"]
