"""The journalist's risk by margins and by estimates, and what the threshold is held against."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli import app
from shoal.errors import InputError
from shoal.population.individual import sampled_risk

SURVEY = pl.DataFrame({"age": [30, 30, 41, 52, 52], "sex": list("ffmmm"), "w": [10.0, 20.0, 50.0, 4.0, 4.0]})
KEYS = ["age", "sex"]
BY_AGE = pl.DataFrame({"age": [30, 41, 52], "n": [60, 20, 20]})
BY_SEX = pl.DataFrame({"sex": ["f", "m"], "n": [50, 50]})


def test_by_margins() -> None:
    margins = [BY_AGE, BY_SEX]
    found = shoal.risk(SURVEY, quasi_identifiers=KEYS, margins=margins, threshold=0.05)
    assert found.journalist is not None
    assert found.journalist_by == "margins"
    # 30 women of 30, 10 men of 41 and 52 each
    assert found.journalist.highest == pytest.approx(0.1)
    assert found.journalist.average == pytest.approx((2 / 30 + 1 / 10 + 2 / 10) / 5)
    assert found.journalist.share_over_threshold == 0.6
    assert found.population_table is not None
    assert (found.population_table.records, found.population_table.classes_not_found) == (100, 0)
    # an estimate is not what the threshold is held against, unless somebody says so
    assert found.over_threshold
    over = shoal.risk(
        SURVEY,
        quasi_identifiers=KEYS,
        threshold=0.2,
        margins=margins,
        risk_over="population",
    )
    assert (over.over_threshold, over.prosecutor.share_over_threshold > 0) == (False, True)


def test_by_weights_and_by_size() -> None:
    single, pair = 1 / 49 * math.log(50), 1 / 3 - 1 / 9 * math.log(4)
    found = shoal.risk(SURVEY, quasi_identifiers=KEYS, weight="w")
    assert found.journalist is not None
    assert found.journalist_by == "weights"
    assert found.journalist.highest == pytest.approx(max(single, pair))
    assert found.individual is not None
    assert found.journalist.average * 5 == pytest.approx(found.individual.expected_reidentifications)
    sized = shoal.risk(SURVEY, quasi_identifiers=KEYS, sampling="5%")
    assert sized.journalist is not None
    assert sized.journalist_by == "sampling"
    assert sized.journalist.highest == pytest.approx(sampled_risk(np.array([1, 2]), np.array([1, 2]), 0.05).risks.max())


def test_the_threshold_and_the_models_over_the_population() -> None:
    policy = {
        "weight": "w",
        "risk_over": "population",
        "threshold": 0.2,
        "models": [{"model": "highest-risk", "threshold": 0.2}, {"model": "k-map", "k": 5}],
    }
    # the figure of `risk` is the estimate, a model asks for its safe end
    found = shoal.risk(SURVEY, quasi_identifiers=KEYS, policy=policy)  # type: ignore[arg-type]
    assert (found.over_threshold, found.holds, found.risk_over) == (False, False, "population")
    assert all(verdict.worst["estimate"] for verdict in found.models)
    assert [verdict.worst["estimated_by"] for verdict in found.models] == ["weights", "weights"]
    assert not shoal.risk(SURVEY, quasi_identifiers=KEYS, policy={**policy, "risk_over": "sample"}).holds  # type: ignore[arg-type]


def test_without_an_estimate_every_record_is_over_the_threshold() -> None:
    policy = {"risk_over": "population", "threshold": 1.0, "models": [{"model": "highest-risk", "threshold": 1.0}]}
    found = shoal.risk(SURVEY, quasi_identifiers=KEYS, policy=policy)  # type: ignore[arg-type]
    assert found.over_threshold
    assert found.models[0].status == "no estimate"


def test_a_release_need_not_have_the_columns_of_the_policy() -> None:
    policy = {"weight": "w", "household": "hid", "threshold": 1.0}
    found = shoal.risk(SURVEY, quasi_identifiers=KEYS, policy=policy)  # type: ignore[arg-type]
    assert found.individual is not None
    assert found.individual.household is None
    assert any("hid" in note for note in found.notes)
    without = shoal.risk(SURVEY.drop("w"), quasi_identifiers=KEYS, policy={**policy, "risk_over": "population"})  # type: ignore[arg-type]
    assert (without.journalist, without.over_threshold) == (None, True)
    assert shoal.risk(SURVEY, quasi_identifiers=KEYS, policy={"household": "age2"}).individual is None  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no column 'v'"):
        shoal.risk(SURVEY, quasi_identifiers=KEYS, weight="v")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"risk_over": "everybody"}, "risk_over"),  # type: ignore[arg-type]
        ({"margins": [BY_AGE]}, "No margin of the population has the column 'sex'"),
        ({"margins": [BY_AGE, BY_SEX], "person": "w"}, "persons with many rows"),
        ({"population_size": 4}, "no larger than its population"),
    ],
)
def test_what_cannot_be_estimated(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        shoal.risk(SURVEY, quasi_identifiers=KEYS, **settings)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path) -> None:
    for name, frame in (("survey", SURVEY), ("age", BY_AGE), ("sex", BY_SEX)):
        frame.write_csv(tmp_path / f"{name}.csv")
    survey = ["risk", str(tmp_path / "survey.csv"), "--qi", "age,sex"]
    margins = ["--margin", str(tmp_path / "age.csv"), "--margin", str(tmp_path / "sex.csv")]
    found = CliRunner().invoke(app, [*survey, *margins, "--risk-over", "population", "--threshold", "0.2", "--json"])
    assert found.exit_code == 0
    assert json.loads(found.stdout)["journalist_by"] == "margins"
    both = CliRunner().invoke(app, [*survey, *margins, "--population", str(tmp_path / "survey.csv")])
    assert isinstance(both.exception, InputError)
    wide = {"COLUMNS": "140"}
    shown = CliRunner().invoke(app, [*survey, "--weight", "w", "--risk-over", "population"], env=wide)
    assert "estimated by" in shown.stdout  # the words may stand on two lines
