"""Weighted means, totals and quantiles with their standard errors, before and after."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.storage.classes import Coded
from shoal.storage.reading import read
from shoal.utility.analysis import Design

VALUES = st.lists(st.tuples(st.floats(-100, 100), st.floats(1, 50)), min_size=2, max_size=30)


@settings(max_examples=50, deadline=None)
@given(VALUES)
def test_equal_weights_give_the_textbook_errors(drawn: list[tuple[float, float]]) -> None:
    values = np.array([value for value, _ in drawn])
    design = Design(np.full(len(values), 7.0))
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    assert design.mean(values) == (pytest.approx(values.mean(), abs=1e-9), pytest.approx(error, abs=1e-9))
    people = 7.0 * len(values)
    assert design.total(values) == (
        pytest.approx(people * values.mean(), abs=1e-6),
        pytest.approx(people * error, abs=1e-6),
    )


@settings(max_examples=50, deadline=None)
@given(VALUES, st.sampled_from([0.1, 0.25, 0.5, 0.9]))
def test_quantiles_and_means_by_repeating_records(drawn: list[tuple[float, float]], share: float) -> None:
    """A weight of 3 is a record three times, for the figure itself."""
    values, weights = np.array([value for value, _ in drawn]), np.array([int(weight) for _, weight in drawn])
    repeated = np.sort(np.repeat(values, weights))
    design = Design(weights.astype(float))
    place = max(int(np.ceil(share * len(repeated) - 1e-9)) - 1, 0)
    assert design.quantile(values, share)[0] == repeated[place]
    assert design.mean(values)[0] == pytest.approx(repeated.mean(), abs=1e-9)


def test_households_are_the_units_that_were_drawn() -> None:
    """Two people of one household are one draw: z = (1 + 3, 5) around 4.5, sqrt(2 * 0.5) = 1."""
    household = Coded(np.array([0, 0, 1]), 2)
    assert Design(np.ones(3), household).total(np.array([1.0, 3.0, 5.0])) == (9.0, pytest.approx(1.0))
    assert Design(np.ones(2), Coded(np.array([0, 0]), 1)).total(np.array([1.0, 3.0])) == (4.0, None)


def test_the_error_covers_the_truth() -> None:
    """Of 400 samples drawn with unequal chances about 95% have the true mean within 1.96 standard errors."""
    draw = np.random.default_rng(0)
    people = draw.gamma(2.0, 10.0, 20_000)
    chance = 0.01 + 0.03 * (people > 20)
    covered = {"mean": 0, "median": 0}
    for _ in range(400):
        there = draw.random(len(people)) < chance
        design = Design(1 / chance[there])
        mean, error = design.mean(people[there])
        middle, spread = design.quantile(people[there], 0.5)
        covered["mean"] += abs(mean - people.mean()) <= 1.96 * (error or 0)
        covered["median"] += abs(middle - np.median(people)) <= 1.96 * (spread or 0)
    assert 0.91 <= covered["mean"] / 400 <= 0.99
    assert 0.90 <= covered["median"] / 400 <= 0.99


ORIGINAL = pl.DataFrame({"age": [20, 30, 40, 50], "job": list("abab"), "w": [10.0, 10.0, 20.0, 60.0]})
RELEASED = pl.DataFrame({"age": ["[20;30]", "[20;30]", "[40;50]", "[40;50]"], "job": ["[a, b]"] * 4})


def test_quality_by_weight() -> None:
    found = shoal.quality(ORIGINAL, RELEASED, ["age", "job"], weight="w")
    figures = {(entry.column, entry.statistic): entry for entry in found.weighted or []}
    mean = figures["age", "mean"]
    assert (mean.original, mean.released) == (pytest.approx(43.0), pytest.approx(41.0))
    assert figures["age", "quantile 0.5"].original == 50
    assert figures["age", "total"].original == pytest.approx(4300)
    job = figures["job", "largest change of a total"]
    assert (job.original, job.released) == (pytest.approx(30.0), pytest.approx(50.0))
    assert mean.in_errors == pytest.approx(2.0 / (mean.original_error or 0))
    assert "weighted" in found.to_dict()
    assert "weighted" not in shoal.quality(ORIGINAL, RELEASED, ["age", "job"]).to_dict()
    with pytest.raises(InputError, match="negative"):
        shoal.quality(ORIGINAL.with_columns(w=-pl.col("w")), RELEASED, ["age"], weight="w")
    halved = RELEASED.with_columns(w=pl.Series([20.0, 20.0, 20.0, 20.0]))
    again = shoal.quality(ORIGINAL, halved, ["age"], weight="w").weighted or []
    assert again[0].released == pytest.approx(35.0)


def survey(rows: int = 400) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": draw.integers(18, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "hid": np.arange(rows) // 2,
            "w": draw.integers(5, 60, rows).astype(float),
            "income": draw.gamma(2, 1000, rows).round(),
        }
    )


def test_anonymize_says_what_the_estimates_become() -> None:
    policy = {
        "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "income": "sensitive"},
        "weight": "w",
        "household": "hid",
        "models": [{"model": "k-anonymity", "k": 5}],
    }
    result = shoal.anonymize(survey(), policy, method="mondrian")  # type: ignore[arg-type]
    figures = {(entry.column, entry.statistic): entry for entry in result.weighted or []}
    table = read(survey())
    expected = Design(table["w"].decode().to_numpy(), table["hid"]).mean(table["age"].decode().to_numpy())
    assert (figures["age", "mean"].original, figures["age", "mean"].original_error) == pytest.approx(expected)
    assert result.to_dict()["weighted"]
    # the household's number is removed, the weight stays, and neither is undecided
    assert result.frame.columns == ["age", "sex", "w", "income"]
    assert [entry.column for entry in result.decisions.undecided_columns] == []
    assert any("vary within" in note for note in result.decisions.notes)


def test_what_a_weight_and_a_household_tell_is_said() -> None:
    frame = survey().with_columns(w=pl.when(pl.col("hid") == 0).then(pl.lit(777.5) + pl.int_range(400)).otherwise(10.0))
    columns = {"age": "quasi-identifier", "sex": "quasi-identifier", "income": "sensitive", "hid": "other"}
    policy = {"columns": columns, "weight": "w", "household": "hid", "models": [{"model": "k-anonymity", "k": 5}]}
    notes = shoal.anonymize(frame, policy, method="mondrian").decisions.notes  # type: ignore[arg-type]
    assert any("w leaves as it is, and singles out 2 records" in note for note in notes)
    assert any("hid leaves as it is and says who lives together" in note for note in notes)


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"weight": "v"}, "no column 'v'"),
        ({"household": "h"}, "no column 'h'"),
        ({"weight": "sex"}, "not hold numbers"),
    ],
)
def test_bad_columns_of_a_survey_are_refused_at_once(said: dict[str, str], what: str) -> None:
    policy = {"columns": {"age": "quasi-identifier"}, "models": [{"model": "k-anonymity", "k": 5}], **said}
    with pytest.raises(InputError, match=what):
        shoal.anonymize(survey(), policy)  # type: ignore[arg-type]


def test_records_without_a_value_are_left_out() -> None:
    """(10 * 20 + 10 * 30 + 60 * 50) / 80 = 43.75; z of the missing one is 0, m = 4 draws."""
    frame = ORIGINAL.with_columns(age=pl.Series([20, 30, None, 50]))
    mean, total, *quantiles = shoal.quality(frame, frame, ["age"], weight="w").weighted or []
    parts = np.array([10 * (20 - 43.75), 10 * (30 - 43.75), 0.0, 60 * (50 - 43.75)]) / 80
    assert (mean.original, mean.released) == (pytest.approx(43.75), pytest.approx(43.75))
    assert mean.original_error == pytest.approx(np.sqrt(4 / 3 * (parts**2).sum()))
    assert (mean.original_unknown, mean.reason) == (pytest.approx(0.2), None)
    assert total.original == pytest.approx(3500)
    assert [entry.original for entry in quantiles] == [30, 50, 50]


def test_what_is_not_known_is_not_0() -> None:
    hidden = pl.DataFrame({"age": ["*"] * 4, "job": ["*"] * 4})
    found = shoal.quality(ORIGINAL, hidden, ["age", "job"], weight="w")
    for entry in found.weighted or []:
        assert (entry.released, entry.released_error, entry.in_errors) == (None, None, None)
        assert (entry.released_unknown, entry.reason) == (1.0, "no record of the release has a value")
    assert found.analysis is not None
    assert (found.analysis.means[0].released, found.analysis.means[0].in_spreads) == (None, None)


@settings(max_examples=50, deadline=None)
@given(VALUES, st.data())
def test_suppressed_cells_do_not_lend_certainty(drawn: list[tuple[float, float]], data: st.DataObject) -> None:
    """Figures are those of the records left; the error is theirs too, up to the factor of all draws."""
    values, weights = np.array([value for value, _ in drawn]), np.array([weight for _, weight in drawn])
    told = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    design = Design(weights).of(told)
    mean, error = design.mean(values)
    if not told.any():
        assert (mean, error) == (None, None)
        return
    alone = Design(weights[told])
    assert mean == pytest.approx(alone.mean(values[told])[0], abs=1e-9)
    assert design.quantile(values, 0.5)[0] == alone.quantile(values[told], 0.5)[0]
    assert design.unknown == pytest.approx(weights[~told].sum() / weights.sum())
    if told.sum() < 2:
        assert error is None
    else:
        # n/(n-1) of all draws instead of those left: up to that factor the error is that of the records left
        left, n = int(told.sum()), len(values)
        factor = np.sqrt(n / (n - 1) * (left - 1) / left)
        assert error == pytest.approx((alone.mean(values[told])[1] or 0) * factor, abs=1e-9)
