"""What is chosen by prediction: its pieces by hand, and figures held against populations that are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import gammaln

import shoal
from shoal.population.base import SampleClasses, around, estimate, log_crowding, variance_of
from shoal.population.choice import estimate_population
from shoal.population.mixture import PoissonMixture
from shoal.population.network import Network, Sharing, _right, fitted_sharing
from shoal.population.prediction import error_of, model_variance, predictions
from shoal.population.results import Prediction
from shoal.storage.classes import Coded, CountTable

PEOPLE = 60_000


def population(seed: int = 0, columns: int = 5) -> np.ndarray:
    """People with columns that go together: age, and others that hang on it in part."""
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 70, PEOPLE)
    job = np.where(rng.random(PEOPLE) < 0.5, age // 10, rng.zipf(1.7, PEOPLE) % 60)
    others = [rng.binomial(3, 0.2, PEOPLE), np.where(rng.random(PEOPLE) < 0.8, job % 7, 0), rng.geometric(0.4, PEOPLE)]
    return np.stack([age, job, *others], axis=1)[:, :columns]


def uniqueness(codes: np.ndarray) -> float:
    _, counts = np.unique(codes, axis=0, return_counts=True)
    return float((counts == 1).sum() / len(codes))


def sample_of(rows: np.ndarray, people: float = PEOPLE) -> SampleClasses:
    counted = CountTable.of({str(j): Coded(column, int(column.max()) + 1) for j, column in enumerate(rows.T)})
    histogram = np.bincount(counted.counts)
    sizes = np.flatnonzero(histogram)
    return SampleClasses(sizes, histogram[sizes], people, list(counted.tuples.values()), counted.counts)


def test_intervals_on_the_scale_of_crowding_by_hand() -> None:
    # -ln u is multiplied and divided by exp(1.96 * 0.5)
    low, high = around(0.2, 0.25)
    assert np.log(low) == pytest.approx(np.log(0.2) * np.exp(0.98))
    assert np.log(high) == pytest.approx(np.log(0.2) / np.exp(0.98))
    assert variance_of(0.2, low) == pytest.approx(0.25)
    assert around(0.2, 0.25, 0.21)[1] == 0.21
    assert around(0.2, 0.0) == pytest.approx((0.2, 0.2))
    assert log_crowding(np.exp(-1)) == pytest.approx(0)


def test_the_law_of_sharing_is_recovered() -> None:
    """Others are drawn by a negative binomial with a known mean and shape; the fit finds both."""
    rng = np.random.default_rng(1)
    logs = rng.normal(-0.5, 1.5, 60_000)
    law = Sharing(0.4, 1.0, np.log(6.0), 0.0)
    mean, shape = law.mean_and_shape(logs)
    others = rng.poisson(rng.gamma(shape, mean / shape))
    found = fitted_sharing(logs, others, np.ones(len(logs)))
    assert found.scale == pytest.approx(law.scale, abs=0.05)
    assert found.power == pytest.approx(1.0, abs=0.05)
    assert found.shape == pytest.approx(law.shape, abs=0.5)


@pytest.mark.parametrize(("mean", "shape"), [(0.3, 0.7), (4.0, 1.0), (9.0, 30.0)])
def test_the_chance_that_a_match_is_right_by_its_sum(mean: float, shape: float) -> None:
    """E[1 / (1 + X)] term by term."""
    x = np.arange(5000)
    none = shape / (shape + mean)
    logs = gammaln(x + shape) - gammaln(shape) - gammaln(x + 1.0) + shape * np.log(none) + x * np.log1p(-none)
    assert _right(np.array([none]), np.array([shape]))[0] == pytest.approx((np.exp(logs) / (1 + x)).sum(), rel=1e-6)


def test_errors_of_predictions_by_hand() -> None:
    exact = Prediction("a", 0.5, 500, 0.4, 0.4)
    crowded = Prediction("a", 0.5, 500, 0.4, 0.4**2)  # ln(-ln u) is higher by ln 2
    silent = Prediction("b", 0.5, 500, 0.4, None)
    assert error_of([exact, crowded], "a") == pytest.approx(np.log(2) / np.sqrt(2))
    assert error_of([silent], "b") == 1
    assert error_of([], "c") == np.inf
    # a thousand records in all, of which 600 share: two over 600 is chance, and a hair more by the logarithm; the
    # step to 1/16 is four times as long
    assert model_variance([crowded], "a", 1 / 16) == pytest.approx((np.log(2) ** 2 - 2 / 600 - (4 / 600) ** 2) * 16)
    # two records of 1,000 share where a half of them let expect twelve: so few may do so by chance
    assert model_variance([Prediction("a", 0.5, 500, 0.998, 0.988)], "a", 1 / 16) == 0
    # no record shares: nearer to one than a record nothing is told apart
    assert error_of([Prediction("a", 0.5, 500, 1.0, 0.99999)], "a") == 0


def test_predictions_are_of_the_sample_and_the_same_each_time() -> None:
    sample = sample_of(population()[:3000])
    made = predictions(sample, {"network": Network(), "poisson-mixture": PoissonMixture()})
    assert {one.known for one in made} == {sample.uniques / sample.records}
    assert all(one.records == round(one.share * sample.records) for one in made)
    assert made == predictions(sample, {"network": Network(), "poisson-mixture": PoissonMixture()})
    assert estimate_population(sample).estimates == estimate_population(sample).estimates


def test_intervals_hold_the_truth_where_it_is_known() -> None:
    held, near = [], []
    for columns in (3, 5):
        people = population(3, columns)
        truth = uniqueness(people)
        for share in (0.02, 0.05, 0.1, 0.2, 0.4):
            sample = sample_of(people[np.random.default_rng(4).random(PEOPLE) < share])
            (best,) = estimate_population(sample).estimates
            alone, _ = estimate(PoissonMixture(), sample)
            held += [found.low <= truth <= found.high for found in (best, alone)]
            near.append(abs(best.uniqueness / truth - 1))
            assert best.estimator == "network"
    assert np.mean(held) >= 0.9
    assert np.median(near) < 0.1
    assert max(near) < 0.35


def test_a_column_more_never_lowers_the_estimate_by_more_than_its_interval() -> None:
    drawn = population(5)[::20]
    before = None
    for columns in range(2, drawn.shape[1] + 1):  # one column alone has no uniques
        (found,) = estimate_population(sample_of(drawn[:, :columns])).estimates
        assert before is None or found.high >= before
        before = found.low


def test_the_whole_population_gives_the_count() -> None:
    people = population(6)[:5000]
    found = estimate_population(sample_of(people, len(people)))
    (best,) = found.estimates
    assert (best.low, best.uniqueness, best.high) == (uniqueness(people),) * 3
    assert found.predictions == []


def test_weights_of_a_known_design_recover_the_truth() -> None:
    """The young are drawn five times as often: by its weights the sample says what is true, without them less."""
    people = population(7)
    truth = uniqueness(people)
    chance = np.where(people[:, 0] < 30, 0.15, 0.03)
    drawn = np.flatnonzero(np.random.default_rng(8).random(PEOPLE) < chance)
    frame = pl.DataFrame({name: people[drawn, j] for j, name in enumerate("abcde")}).with_columns(
        w=pl.Series(1 / chance[drawn])
    )
    found = shoal.risk(frame, quasi_identifiers=list("abcde"), weight="w", population_size=PEOPLE)
    best = next(entry for entry in found.population if entry.estimator == found.chosen)
    assert best.low <= truth <= best.high
    assert best.uniqueness == pytest.approx(truth, rel=0.25)


def homes(seed: int = 0) -> pl.DataFrame:
    """Households of one to five in towns, whose members often are alike."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 6, 20_000)
    home = np.repeat(np.arange(len(size)), size)
    first = np.repeat(np.concatenate([[0], np.cumsum(size)[:-1]]), size)
    age = rng.integers(0, 9, len(home))
    return pl.DataFrame(
        {
            "home": home,
            "town": np.repeat(rng.zipf(1.4, len(size)) % 80, size),
            "income": np.repeat(rng.integers(0, 12, len(size)), size),
            "age": np.where(rng.random(len(home)) < 0.35, age[first], age),
        }
    )


def test_members_of_a_household_say_nothing_of_how_often_others_are_alike() -> None:
    people, keys = homes(), ["town", "income", "age"]
    truth = float((people.group_by(keys).len()["len"] == 1).sum() / people.height)
    drawn = people.filter(pl.Series(np.random.default_rng(1).random(20_000) < 0.1)[people["home"].to_list()])
    asked = {"quasi_identifiers": keys, "population_size": people.height}
    (apart,) = shoal.risk(drawn, **asked).population  # type: ignore[misc]
    found = shoal.risk(drawn, household="home", **asked)
    (whole,) = found.population  # type: ignore[misc]
    assert apart.high < truth  # as if persons were drawn apart
    assert whole.low <= truth <= whole.high
    assert whole.uniqueness == pytest.approx(truth, rel=0.2)
    alone = drawn.with_columns(n=pl.len().over(keys))["n"] == 1
    assert ((found.per_record["match_correct"].is_not_null()) == alone).all()


def test_a_household_of_its_own_for_everybody_changes_nothing() -> None:
    frame = pl.DataFrame(population(9)[:1500], schema=list("abcde")).with_row_index("home")
    asked = {"quasi_identifiers": list("abcde"), "population_size": PEOPLE}
    (apart,) = shoal.risk(frame, **asked).population  # type: ignore[misc]
    (whole,) = shoal.risk(frame, household="home", **asked).population  # type: ignore[misc]
    assert (whole.low, whole.uniqueness, whole.high) == pytest.approx((apart.low, apart.uniqueness, apart.high))


def test_a_column_in_which_nothing_repeats_gives_no_figure() -> None:
    frame = pl.DataFrame({"number": range(400), "sex": [0, 1] * 200})
    for names in (["number"], ["number", "sex"]):
        found = shoal.risk(frame, quasi_identifiers=names, population_size=40_000)
        assert found.chosen is None
        assert [entry.status for entry in found.population] == ["no estimate"]
        assert "another value in every record" in found.population[0].reason


@pytest.mark.parametrize("seed", range(3))
def test_a_design_with_unequal_chances_is_covered(seed: int) -> None:
    """The chance to be drawn hangs on a column; samples of a few hundred to thousands."""
    people = population(20 + seed)
    truth = uniqueness(people)
    rng = np.random.default_rng(seed)
    for level in (0.02, 0.08):
        chance = level * np.where(people[:, 2] > 0, 3.0, 0.5)
        drawn = np.flatnonzero(rng.random(PEOPLE) < chance)
        frame = pl.DataFrame({name: people[drawn, j] for j, name in enumerate("abcde")})
        frame = frame.with_columns(w=pl.Series(1 / chance[drawn]))
        found = shoal.risk(frame, quasi_identifiers=list("abcde"), weight="w", population_size=PEOPLE)
        (best,) = found.population  # type: ignore[misc]
        assert best.low <= truth <= best.high
        assert best.uniqueness == pytest.approx(truth, rel=0.4)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"population_size": 99}, "no larger than its population"),
        ({"weight": "low"}, "sum"),
        ({"weight": "low", "population_size": 1000}, "sum"),
    ],
)
def test_a_population_smaller_than_its_sample_is_refused(said: dict[str, object], what: str) -> None:
    frame = pl.DataFrame({"a": list(range(100)), "low": [0.5] * 100})
    with pytest.raises(shoal.InputError, match=what):
        shoal.risk(frame, quasi_identifiers=["a"], estimate="all", **said)  # type: ignore[arg-type]


def test_where_nothing_is_chosen_the_page_says_so() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2]})
    found = shoal.risk(frame, quasi_identifiers=["a"], sampling="10%")
    assert found.chosen is None
    assert "No estimator gives" in str(found.sections())


def test_the_page_shows_how_well_the_sample_is_predicted() -> None:
    frame = pl.DataFrame(population(9)[:2000], schema=list("abcde"))
    found = shoal.risk(frame, quasi_identifiers=list("abcde"), population_size=PEOPLE)
    assert "How well network predicts the sample" in str(found.sections())
    assert {"estimator", "share", "records", "known", "predicted", "low", "high"} == set(
        found.to_dict()["predictions"][0]
    )
