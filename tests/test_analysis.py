"""What an analyst would get: by hand, against an independent solver, and on releases with sets."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.utility.analysis import linear_weights, logistic_regression


def test_means_and_shares_by_hand() -> None:
    old = pl.DataFrame({"age": [30, 34, 51, 55], "job": ["a", "b", "b", "b"]})
    new = pl.DataFrame({"age": ["[30;36]", "[30;36]", "51", "55"], "job": ["[a, b]", "[a, b]", "b", "b"]})
    found = shoal.quality(old, new, ["age", "job"]).analysis
    assert found is not None
    assert (found.means[0].original, found.means[0].released) == (42.5, 43.0)
    assert found.means[0].in_spreads == pytest.approx(0.5 / np.std([30, 34, 51, 55]))
    # equal shares: a 1/4 before, (1/2 + 1/2) / 4 after
    assert (found.shares[0].largest, found.shares[0].total_variation) == (0.0, 0.0)
    assert found.regression is None


def test_what_is_suppressed_is_what_the_column_holds() -> None:
    old = pl.DataFrame({"age": [10, 20, 30], "job": ["a", "b", "b"]})
    new = pl.DataFrame({"age": ["10", "20", "*"], "job": ["a", "*", "b"]})
    found = shoal.quality(old, new, ["age", "job"]).analysis
    assert found is not None
    assert found.means[0].released == 15.0
    assert found.shares[0].largest == pytest.approx(0.5 - 1 / 3)


def test_an_unchanged_table_gives_the_same_everything() -> None:
    table = shoal.sample_data("discharges", rows=400)
    found = shoal.quality(table, table, ["age_yrs", "sex", "race"], target="ethncty")
    assert found.analysis is not None
    assert found.analysis.largest_correlation_change == pytest.approx(0, abs=1e-12)
    assert found.analysis.coefficients_alike == pytest.approx(1.0)
    assert found.accuracy is not None
    assert found.accuracy.original == found.accuracy.released


def test_the_learner_is_at_the_minimum_that_newton_finds() -> None:
    rng = np.random.default_rng(3)
    features = np.column_stack([rng.normal(size=300), rng.integers(0, 2, 300)])
    wanted = (features @ [1.5, -1.0] + rng.logistic(size=300) > 0).astype(int)
    design = np.column_stack([features, np.ones(300)])
    # two weights per feature of half the size: |w|²/2 of log odds w is penalised half as much
    penalty, weights = np.diag([0.5, 0.5, 0.0]), np.zeros(3)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (chance - wanted) + penalty @ weights
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + penalty
        weights -= np.linalg.solve(curvature, slope)
    ours = logistic_regression(features, wanted, 2, flat=1e-10)
    assert ours.settled
    assert ours.weights[:, 1] - ours.weights[:, 0] == pytest.approx(weights, abs=1e-6)
    assert ours.chances(features)[:, 1] == pytest.approx(1 / (1 + np.exp(-design @ weights)), abs=1e-6)
    assert (ours.predicted(features) == (design @ weights > 0)).all()


def test_classes_are_told_apart_as_by_scikit_learn() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model", reason="the extra `sklearn` is not installed")
    rng = np.random.default_rng(5)
    features = np.column_stack([rng.normal(size=(2000, 3)), rng.integers(0, 2, (2000, 4)), np.zeros(2000)])
    wanted = (features[:, :5] @ rng.normal(size=(5, 6)) + rng.gumbel(size=(2000, 6))).argmax(axis=1)
    wanted[wanted == 5] = 4
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(features, wanted)
    ours = logistic_regression(features, wanted, 5, flat=1e-10)
    assert ours.weights[:-1] == pytest.approx(theirs.coef_.T, abs=1e-5)
    assert ours.predicted(features).tolist() == theirs.predict(features).tolist()
    # a class without records, and one that a feature gives away
    alone = logistic_regression(np.eye(3)[wanted % 3], wanted % 3, 4)
    assert alone.predicted(np.eye(3)).tolist() == [0, 1, 2]


def test_a_fit_that_ends_too_early_says_so() -> None:
    rng = np.random.default_rng(6)
    features = rng.normal(size=(200, 3))
    wanted = (features[:, 0] + rng.normal(size=200) > 0).astype(int)
    assert not logistic_regression(features, wanted, 2, rounds=1).settled
    assert logistic_regression(features, wanted, 2).settled


def test_least_squares_is_that_of_numpy() -> None:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(5000, 3))
    wanted = features @ [1.0, -2.0, 0.5] + 7 + rng.normal(size=5000)
    expected = np.linalg.lstsq(np.column_stack([features, np.ones(5000)]), wanted, rcond=None)[0]
    assert linear_weights(features, wanted) == pytest.approx(expected, abs=1e-3)


def test_sets_are_not_words_of_their_own() -> None:
    """What a set tells of its members is learnt: a learner on the release is nearly as good as on the original."""
    rng = np.random.default_rng(0)
    job, age = rng.integers(0, 8, 4000), rng.integers(20, 80, 4000)
    target = np.where(job + (age > 50) + rng.normal(size=4000) > 4, "rich", "poor")
    old = pl.DataFrame({"job": [f"j{number}" for number in job], "age": age, "target": target})
    released = shoal.anonymize(old, quasi_identifiers=["job", "age"], k=20, method="mondrian").frame
    found = shoal.quality(old, released, ["job", "age"], target="target")
    assert found.accuracy is not None
    assert found.accuracy.measure == "accuracy"
    assert found.accuracy.original - found.accuracy.released < 0.02
    assert found.accuracy.released > found.accuracy.baseline + 0.15


def test_a_quantity_is_explained_not_guessed() -> None:
    rng = np.random.default_rng(1)
    age = rng.integers(20, 80, 500)
    old = pl.DataFrame({"age": age, "charge": age * 10.0 + rng.normal(size=500)})
    found = shoal.quality(old, old.with_columns(age=pl.lit("*")), ["age"], target="charge").accuracy
    assert found is not None
    assert found.measure == "r2"
    assert found.original > 0.99
    assert abs(found.released) < 0.05
