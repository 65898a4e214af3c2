"""Limits on risk that are held against an estimate for the population, and k-map by estimate and by margins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.models import AverageRisk, Evidence, HighestRisk, KMap
from shoal.models.base import PeopleEstimate
from shoal.policy import Policy, as_policy
from shoal.policy.judgement.evidence import evidence_of
from shoal.policy.judgement.population import population_of_margins, proportional_fit
from shoal.population.base import SampleClasses
from shoal.population.choice import estimate_population
from shoal.population.individual import expected_risk, sampled_risk
from shoal.storage.reading import read

SURVEY = pl.DataFrame({"age": [30, 30, 41, 52, 52], "sex": list("ffmmm"), "w": [10.0, 20.0, 50.0, 4.0, 4.0]})
ROLES = {"age": "quasi-identifier", "sex": "quasi-identifier"}


def policy_of(**said: Any) -> Policy:
    """A policy on age and sex."""
    return as_policy({"columns": ROLES, **said})


def judged(policy: Policy, frame: pl.DataFrame = SURVEY) -> list[tuple[bool, dict[str, Any]]]:
    table = read(frame)
    evidence, _ = evidence_of(table, ["age", "sex"], policy)
    return [(verdict.holds, verdict.worst) for verdict in (model.judge(evidence) for model in policy.models)]


def test_the_highest_risk_over_the_population_by_hand() -> None:
    """A unique of weight 50: p/(1-p) ln(1/p), p = 1/50. A pair that stands for 8: q - q^2 ln(1/p), p = 1/4. The safe
    end is that of the unique, of which nobody knows more than itself."""
    single = 1 / 49 * math.log(50)
    q = 1 / 3
    pair = q - q * q * math.log(4)
    policy = policy_of(weight="w", risk_over="population", models=[{"model": "highest-risk", "threshold": 0.2}])
    ((holds, worst),) = judged(policy)
    assert holds is False
    assert worst["estimate"] == pytest.approx(max(single, pair)) == pytest.approx(pair)
    assert worst["risk"] == 1
    assert (worst["risk_over"], worst["estimated_by"]) == ("population", "weights")
    sample = judged(policy.model_copy(update={"risk_over": "sample"}))
    assert sample[0] == (False, {"risk": 1, "size": 1, "failing_classes": 3})


def test_by_the_size_of_the_population() -> None:
    """Of five records with one unique nothing is known: at the upper end its match is right for sure, and the average
    is held against that."""
    models = [{"model": "highest-risk", "threshold": 0.1}, {"model": "average-risk", "threshold": 0.1}]
    for said, by in (({"population_size": 100}, "population_size"), ({"sampling": "5%"}, "sampling")):
        (highest, average) = judged(policy_of(risk_over="population", models=models, **said))
        sampled = sampled_risk(np.array([1, 2]), np.array([1, 2]), 0.05)
        assert sampled.risks is not None
        assert sampled.upper is not None
        single, most = float(sampled.risks[0]), float(sampled.upper[0])
        assert (most, single < 0.5) == (1.0, True)
        pair = 1 / 19 - 1 / 19**2 * math.log(20)
        assert highest[1]["estimate"] == pytest.approx(single)
        assert (highest[1]["estimated_by"], highest[1]["estimator"]) == (by, "poisson-mixture")
        mean = (single + 4 * pair) / 5
        spread = most * (1 - most) + 2 * 4 * pair * (0.5 - pair)
        assert average[1]["estimate"] == pytest.approx(mean)
        upper = (most + 4 * pair) / 5
        assert average[1]["risk"] == pytest.approx(min(upper + 1.645 * math.sqrt(spread) / 5, 1))


IDENTIFYING = [
    # every record has a number of its own
    pl.DataFrame({"age": [1000 + 37 * row for row in range(500)], "sex": ["f", "m"] * 250}),
    # the same, each twice
    pl.DataFrame({"age": [1000 + 37 * (row // 2) for row in range(500)], "sex": ["f"] * 500}),
]


@pytest.mark.parametrize("frame", IDENTIFYING)
def test_columns_that_tell_everybody_apart_keep_no_limit(frame: pl.DataFrame) -> None:
    """The share that was drawn says nothing of how much columns tell: the class sizes do."""
    models = [
        {"model": "highest-risk", "threshold": 0.05},
        {"model": "average-risk", "threshold": 0.05},
        {"model": "k-map", "k": 20},
    ]
    policy = policy_of(sampling="1%", risk_over="population", models=models, threshold=0.05)
    for holds, worst in judged(policy, frame):
        assert not holds
        assert worst["estimator"] in ("poisson-mixture", "dis")
    found = shoal.risk(frame, policy=policy)
    assert found.over_threshold
    assert found.journalist is not None
    assert found.journalist.highest == pytest.approx(1 / found.k)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(st.integers(1, 12), st.integers(1, 300), min_size=1),
    st.floats(1e-6, 1.0),
)
def test_the_risk_of_a_sample_lies_between_its_bounds(histogram: dict[int, int], share: float) -> None:
    """Never under E[1/F] with F = f / p, never over 1 / f, and for uniques never under the chosen estimator."""
    sizes = np.array(sorted(histogram))
    classes = np.array([histogram[size] for size in sizes])
    found = sampled_risk(sizes, classes, share)
    assert found.risks is not None
    assert (found.risks <= 1 / sizes + 1e-12).all()
    assert (found.risks >= expected_risk(sizes, sizes / share) - 1e-12).all()
    chosen = estimate_population(SampleClasses(sizes, classes, float(sizes @ classes) / share))
    for entry in chosen.estimates:
        if entry.estimator == chosen.name and sizes[0] == 1:
            assert found.risks[0] >= min(entry.match_correct or 0, 1) - 1e-12


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({}, "neither weight, population_size nor sampling"),
        ({"weight": "v"}, "weight column v is not in the table"),
        ({"weight": "w", "person": "who"}, "persons with several rows"),
    ],
)
def test_without_an_estimate_nothing_holds(said: dict[str, Any], reason: str) -> None:
    models = [{"model": "highest-risk", "threshold": 1.0}, {"model": "average-risk", "threshold": 1.0}]
    frame = SURVEY.with_columns(who=pl.int_range(5))
    for holds, worst in judged(policy_of(risk_over="population", models=models, **said), frame):
        assert holds is False
        assert worst["status"] == "no estimate"
        assert reason in worst["reason"]
        assert worst["risk"] is None


def test_a_size_does_not_take_the_place_of_weights_that_were_dropped() -> None:
    models = [{"model": "highest-risk", "threshold": 0.9}]
    policy = policy_of(weight="w", population_size=20_000, risk_over="population", models=models, threshold=0.9)
    ((holds, worst),) = judged(policy, SURVEY.drop("w"))
    assert (holds, worst["status"]) == (False, "no estimate")
    assert "weight column w is not in the table" in worst["reason"]
    found = shoal.risk(SURVEY.drop("w"), policy=policy)
    assert found.over_threshold
    assert not found.holds


def test_rows_that_are_left_out_do_not_make_a_release_pass(tmp_path: Path) -> None:
    """n of N / n is that of the original: what the manifest says; without one there is no estimate."""
    draw = np.random.default_rng(8)
    frame = pl.DataFrame({"age": draw.integers(20, 24, 400), "sex": draw.choice(["f", "m"], 400)})
    policy = policy_of(
        population_size=4000, risk_over="population", models=[{"model": "highest-risk", "threshold": 0.5}]
    )
    frame.head(60).write_csv(tmp_path / "few.csv")
    few = shoal.verify(tmp_path / "few.csv", policy=policy)
    assert few.models[0].worst["status"] == "no estimate"
    assert "without a manifest" in few.models[0].worst["reason"]
    shoal.release(shoal.anonymize(frame, policy, method="lattice"), tmp_path / "release.csv")
    assert shoal.verify(tmp_path / "release.csv", policy=policy).verdict == "holds"
    # of the same classes, 400 drawn are one in 10, 60 drawn one in 67
    table = read(frame.head(60))
    for drawn, each in ((400, 10), (60, 4000 / 60)):
        evidence, _ = evidence_of(table, ["age", "sex"], policy, drawn=drawn)
        assert evidence.estimate is not None
        assert evidence.estimate.people == pytest.approx(evidence.sizes * each)


@pytest.mark.parametrize(
    ("times", "status"), [(1e6, "no estimate"), (1.0, "holds by estimate"), (0.5, "holds by estimate")]
)
def test_weights_are_held_against_the_size_of_the_population(times: float, status: str) -> None:
    models = [{"model": "highest-risk", "threshold": 1.0}]
    policy = policy_of(weight="w", population_size=88, risk_over="population", models=models)
    frame = SURVEY.with_columns(pl.col("w") * times)
    (verdict,) = shoal.verify(frame, policy=policy).models
    assert verdict.status == status
    assert ("population_size says 88" in str(verdict.worst)) == (times != 1.0)


def test_verify_names_what_was_estimated(tmp_path: Path) -> None:
    path = tmp_path / "survey.csv"
    SURVEY.write_csv(path)
    policy = policy_of(weight="w", risk_over="population", models=[{"model": "highest-risk", "threshold": 1.0}])
    found = shoal.verify(path, policy=policy)
    assert found.verdict == "holds"
    assert found.models[0].status == "holds by estimate"
    assert found.to_dict()["models"][0]["worst"]["estimated_by"] == "weights"
    with pytest.raises(InputError, match="no larger than its population"):
        shoal.verify(path, policy=policy_of(population_size=3, risk_over="population", models=policy.models))
    refused = shoal.verify(path, policy=policy_of(risk_over="population", models=policy.models))
    assert refused.verdict == "refused"
    assert "neither weight" in refused.reasons()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0, 1e5)), min_size=2, max_size=2))
def test_joined_classes_are_never_at_higher_risk(classes: list[tuple[int, float]]) -> None:
    """`highest-risk` may say of itself that a good class stays good whatever joins it, over the population too."""
    sizes = np.array([f for f, _ in classes])
    people = sizes + np.array([more for _, more in classes])
    apart = expected_risk(sizes, people)
    joined = expected_risk(np.array([sizes.sum()]), np.array([people.sum()]))
    assert joined[0] <= apart.min() * (1 + 1e-9)
    assert (apart <= 1 / sizes + 1e-12).all()


def test_anonymize_is_judged_over_the_population() -> None:
    """What the sample refuses the population may allow, and the release says which it was."""
    policy = policy_of(
        weight="w", risk_over="population", models=[{"model": "highest-risk", "threshold": 0.5}], suppression=0.5
    )
    result = shoal.anonymize(SURVEY, policy, method="lattice")
    assert result.verdict == "holds"
    assert result.models[0].worst["risk_over"] == "population"
    assert result.frame.columns == ["age", "sex", "w"]


@pytest.mark.parametrize("said", [{"weight": "w"}, {"sampling": "5%"}, {"population_size": 12_000}])
@pytest.mark.parametrize("model", [{"model": "highest-risk", "threshold": 0.02}, {"model": "k-map", "k": 50}])
def test_the_search_uses_the_estimate(said: dict[str, Any], model: dict[str, Any], tmp_path: Path) -> None:
    """A limit on the population is kept with less loss than on the sample, and every kept class keeps it."""
    draw = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": draw.integers(18, 60, 600),
            "sex": draw.choice(["f", "m"], 600),
            "w": draw.choice([10.0, 20.0, 40.0], 600),
        }
    )
    over = policy_of(models=[model], risk_over="population", **said)
    result = shoal.anonymize(frame, over, method="lattice")
    sizes = {"model": "k-anonymity", "k": 50}
    coarse = shoal.anonymize(frame, policy_of(models=[sizes]), method="lattice")
    assert result.verdict == coarse.verdict == "holds"
    assert (result.findings.loss or 0) < (coarse.findings.loss or 0)
    assert result.models[0].worst["estimated_by"] == next(iter(said)).replace("weight", "weights")
    # the same release judged anew, by its written values; a size needs the manifest, which says what was removed
    written = tmp_path / "release.csv"
    shoal.release(result, written)
    again = written if "population_size" in said else result.frame
    assert shoal.verify(again, policy=over).verdict == "holds"


def test_suppressed_rows_are_judged_as_the_classes_are(tmp_path: Path) -> None:
    """Eight suppressed rows that stand for 8,000 people keep a limit of 0.05; those that stand for 16 do not."""
    for weight, verdict in ((1000.0, "holds"), (2.0, "refused")):
        frame = pl.DataFrame(
            {
                "age": ["*"] * 8 + ["[30;39]"] * 9,
                "sex": ["*"] * 8 + ["f"] * 9,
                "pay": list(range(17)),
                "w": [weight] * 8 + [500.0] * 9,
            }
        )
        policy = policy_of(
            columns={**ROLES, "pay": "sensitive"},
            weight="w",
            risk_over="population",
            models=[{"model": "highest-risk", "threshold": 0.05}],
        )
        assert shoal.verify(frame, policy=policy).verdict == verdict


def test_the_average_over_the_population_in_a_search() -> None:
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({"age": draw.integers(18, 60, 300), "sex": draw.choice(["f", "m"], 300), "w": [25.0] * 300})
    models = [{"model": "average-risk", "threshold": 0.02}]
    result = shoal.anonymize(frame, policy_of(models=models, risk_over="population", weight="w"), method="lattice")
    assert result.verdict == "holds"
    assert result.models[0].worst["risk"] <= 0.02


def test_k_map_by_the_estimate_of_the_policy() -> None:
    model = {"model": "k-map", "k": 10}
    ((holds, worst),) = judged(policy_of(weight="w", models=[model]))
    q = 1 / 3
    assert holds is False
    assert worst["estimate"] == pytest.approx(1 / (q - q * q * math.log(4)))
    assert worst["people"] == 1
    assert worst["estimated_by"] == "weights"
    with pytest.raises(InputError, match="k-map needs a population"):
        policy_of(models=[model])
    verdict = KMap(k=2).judge(Evidence(np.array([5])))
    assert (verdict.holds, verdict.status) == (False, "no estimate")


def test_k_map_by_margins_is_never_more_than_estimated(tmp_path: Path) -> None:
    pl.DataFrame({"age": [30, 41, 52], "n": [60, 20, 20]}).write_csv(tmp_path / "age.csv")
    pl.DataFrame({"sex": ["f", "m"], "n": [50, 50]}).write_csv(tmp_path / "sex.csv")
    margins = [str(tmp_path / "age.csv"), str(tmp_path / "sex.csv")]
    for k, status in ((10, "estimated"), (11, "does not hold")):
        policy = policy_of(models=[{"model": "k-map", "k": k, "margins": margins}])
        evidence, _ = evidence_of(read(SURVEY), ["age", "sex"], policy)
        verdict = policy.models[0].judge(evidence)
        assert (verdict.holds, verdict.status, verdict.worst["people"]) == (False, status, 10)
        assert verdict.worst["estimated_by"] == "margins"
    generalised = pl.DataFrame({"age": ["[30;41]", "[30;41]", "[30;41]", "52", "52"], "sex": ["*"] * 5})
    policy = policy_of(models=[{"model": "k-map", "k": 20, "margins": margins}])
    verdict = policy.models[0].judge(evidence_of(read(generalised), ["age", "sex"], policy)[0])
    assert (verdict.status, verdict.worst["people"]) == ("estimated", pytest.approx(20))


def test_who_is_in_the_table_is_in_the_population(tmp_path: Path) -> None:
    """Margins that leave out a class do not make it smaller than it is."""
    pl.DataFrame({"age": [30], "n": [60]}).write_csv(tmp_path / "age.csv")
    pl.DataFrame({"sex": ["f", "m"], "n": [50, 10]}).write_csv(tmp_path / "sex.csv")
    margins = [str(tmp_path / "age.csv"), str(tmp_path / "sex.csv")]
    policy = policy_of(models=[{"model": "k-map", "k": 2, "margins": margins}])
    verdict = policy.models[0].judge(evidence_of(read(SURVEY), ["age", "sex"], policy)[0])
    assert verdict.worst["people"] == 1


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3)).flatmap(
        lambda shape: st.tuples(
            st.just(shape), st.lists(st.integers(0, 9), min_size=math.prod(shape), max_size=math.prod(shape))
        )
    )
)
def test_margins_are_reproduced(case: tuple[tuple[int, int, int], list[int]]) -> None:
    """Whatever table the margins come from, the fitted one has them too."""
    shape, cells = case
    truth = np.array(cells, float).reshape(shape)
    if truth.sum() == 0:
        truth[0, 0, 0] = 1
    axes = [(0, 1), (1, 2), (2,)]
    margins = [(kept, truth.sum(axis=tuple(axis for axis in range(3) if axis not in kept))) for kept in axes]
    fitted, _ = proportional_fit(shape, margins)
    assert (fitted >= 0).all()
    for kept, wanted in margins:
        found = fitted.sum(axis=tuple(axis for axis in range(3) if axis not in kept))
        assert found == pytest.approx(wanted, abs=1e-6 * truth.sum())
    # decomposable margins have a closed form: n(a,b) n(b,c) / n(b)
    middle = truth.sum(axis=(0, 2))
    closed = margins[0][1][:, :, None] * margins[1][1][None] / np.maximum(middle, 1e-300)[None, :, None]
    assert fitted == pytest.approx(closed, abs=1e-6 * truth.sum())


@pytest.mark.parametrize(
    ("margins", "said"),
    [
        ([{"age": [30], "n": [5]}], "No margin of the population has the column 'sex'"),
        ([{"x": [1], "n": [5]}], "no quasi-identifier"),
        ([{"age": [30], "n": [5], "m": [5]}, {"sex": ["f"], "n": [5]}], "2 columns that are not quasi-identifiers"),
        ([{"age": [30], "n": ["a"]}, {"sex": ["f"], "n": [5]}], "does not hold a number"),
        ([{"age": [30], "n": [-5]}, {"sex": ["f"], "n": [5]}], "does not hold numbers of people"),
        ([{"age": [30], "n": [0]}, {"sex": ["f"], "n": [5]}], "does not hold numbers of people"),
        ([{"age": [30], "n": [500]}, {"sex": ["f"], "n": [900]}], "500 people"),
        (
            [{"age": [1, 2], "sex": ["f", "m"], "n": [5, 5]}, {"age": [1, 2], "sex": ["m", "f"], "n": [5, 5]}],
            "contradict each other",
        ),
    ],
)
def test_margins_that_cannot_be_fitted(margins: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        population_of_margins(margins, ["age", "sex"])


def test_too_many_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.policy.judgement.population.MOST_CELLS", 3)
    with pytest.raises(InputError, match="4 combinations of values, too many"):
        population_of_margins([{"age": [1, 2], "n": [5, 5]}, {"sex": ["m", "f"], "n": [5, 5]}], ["age", "sex"])


def test_models_take_the_sample_where_nobody_says_otherwise() -> None:
    sizes = np.array([2, 5])
    estimate = PeopleEstimate(np.array([20.0, 50.0]), "weights")
    evidence = Evidence(sizes, estimate=estimate)
    assert HighestRisk(threshold=0.5).judge(evidence).worst == {"risk": 0.5, "size": 2, "failing_classes": 0}
    assert AverageRisk(threshold=0.5).measure(evidence).tolist() == [pytest.approx(2 / 7)]


def test_a_survey_with_known_figures(data: Path) -> None:
    """sdcMicro's testdata: 10.7755251 expected re-identifications, by `verify`, by `risk` and in the search."""
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    source = data / "sdcmicro" / "testdata.csv"
    policy = as_policy(
        {
            "columns": dict.fromkeys(keys, "quasi-identifier"),
            "weight": "sampling_weight",
            "risk_over": "population",
            "models": [{"model": "average-risk", "threshold": 0.04}, {"model": "highest-risk", "threshold": 0.01}],
        }
    )
    table = read(source)
    evidence, _ = evidence_of(table, keys, policy)
    average, highest = (model.judge(evidence) for model in policy.models)
    # by its weights alone the estimate is below .004; what the class sizes say of the uniques is not
    assert AverageRisk(threshold=0.004).judge(evidence).status == "does not hold"
    assert average.worst["estimate"] * 4580 == pytest.approx(10.7755251, abs=5e-8)
    assert average.worst["risk"] > average.worst["estimate"]
    assert average.status == "holds by estimate"
    assert not highest.holds
    found = shoal.risk(source, policy=policy)
    assert found.journalist is not None
    assert found.journalist.average * 4580 == pytest.approx(10.7755251, abs=5e-8)
    assert [verdict.worst["risk"] for verdict in found.models] == [
        pytest.approx(average.worst["risk"]),
        pytest.approx(highest.worst["risk"]),
    ]


@pytest.mark.parametrize("method", ["mondrian", "microaggregate", None])
def test_groups_are_as_small_as_the_population_allows(method: str | None, tmp_path: Path) -> None:
    """A limit of 0.01 asks for groups of 100 of the table, and of far fewer where each stands for 100 people."""
    draw = np.random.default_rng(5)
    frame = pl.DataFrame({"age": draw.integers(18, 90, 2_000), "pay": draw.lognormal(10, 1, 2_000).round(), "w": 100.0})
    limit = {"model": "highest-risk", "threshold": 0.01}
    over = policy_of(models=[limit], risk_over="population", weight="w").model_copy(
        update={"columns": {"age": "quasi-identifier", "pay": "quasi-identifier", "w": "other"}}
    )
    result = shoal.anonymize(frame, over, **({} if method is None else {"method": method}))
    assert result.verdict == "holds"
    assert result.policy == over
    assert result.findings.k < 20
    written = tmp_path / "release.csv"
    shoal.release(result, written)
    assert shoal.verify(written, policy=over, original=frame).verdict == "holds"
    alone = shoal.anonymize(frame, over.model_copy(update={"risk_over": "sample"}), method="mondrian")
    assert alone.findings.k >= 100
