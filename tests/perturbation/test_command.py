"""`shoal perturb` through the one door: what is written, what stays secret, what verify says."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.group import app
from shoal.errors import InputError

DECIDED = "id=identifier,age=quasi-identifier,education=other"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "id": range(400),
            "income": np.round(3000 + 500 * rng.standard_normal(400), 2),
            "hours": rng.integers(10, 60, 400),
            "age": rng.integers(18, 90, 400),
            "education": rng.choice(["none", "school", "degree"], 400),
        }
    ).with_columns(hours=pl.when(pl.col("id") % 17 == 0).then(None).otherwise("hours"))
    path = tmp_path / "survey.csv"
    frame.write_csv(path)
    return path


def run(*arguments: str) -> Any:
    found = CliRunner().invoke(app, ["perturb", *arguments, "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_the_command_of_the_issue(survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "safe.csv"
    options = ["--noise", "income=0.1", "--swap", "age=5%", "--pram", "education=0.9", "--top-code", "income=99%"]
    found = run(str(survey), "-o", str(target), *options, "--decide", "id=other")
    assert (found["written"], found["records"], found["guarantee"], found["verdict"]) == (
        400,
        400,
        False,
        "no guarantee",
    )
    assert set(found) == {
        "schema_version", "records", "modified_rows", "columns", "risk", "utility", "notes", "written", "guarantee",
        "verdict", "output", "manifest", "undecided_columns",
    }  # fmt: skip
    assert set(found["risk"]) == {"interval_disclosure", "linkage", "kept"}
    assert set(found["utility"]) == {
        "il1s", "il1s_by_column", "eigenvalues", "propensity", "marginals", "correlations",
        "correlation_of_correlations",
    }  # fmt: skip
    assert [column["operators"] for column in found["columns"]] == [
        ["noise 0.1", "top-code 99%"],
        ["swap 5%"],
        ["pram 0.9"],
    ]
    manifest = json.loads((tmp_path / "safe.manifest.json").read_text())
    natures = {column["name"]: column["nature"] for column in manifest["columns"]}
    assert natures == {
        "id": "unchanged", "income": "perturbed", "hours": "unchanged", "age": "perturbed", "education": "perturbed",
    }  # fmt: skip
    assert manifest["no_guarantee"] is True
    assert "no guarantee" in manifest["warning"]
    assert shoal.verify(target, original=survey).verdict == "holds"


def test_the_seed_is_in_the_private_record_and_nowhere_else(survey: Path, tmp_path: Path) -> None:
    target = tmp_path / "safe.parquet"
    options = ["--noise", "income=0.1", "--correlated-noise", "hours,age=0.3", "--seed", "918273645"]
    run(str(survey), "-o", str(target), *options, "--decide", "id=other,education=other")
    private = tmp_path / "safe.private.json"
    assert json.loads(private.read_text())["perturbation_seed"] == 918273645
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    for name in ("safe.manifest.json", "safe.dictionary.json", "safe.parquet"):
        assert b"918273645" not in (tmp_path / name).read_bytes()
    # with it the owner can make the release again
    again = shoal.perturb(survey, noise={"income": 0.1, ("hours", "age"): 0.3}, seed=918273645)
    released = pl.read_parquet(target).sort("id")
    assert released.equals(again.polars)


def test_rounding_alone_is_representative_not_perturbed(survey: Path, tmp_path: Path) -> None:
    options = ["--round", "income=100,hours=5", "--bottom-code", "age=21", "--decide", "id=identifier,education=other"]
    found = run(str(survey), "-o", str(tmp_path / "safe.csv"), *options)
    assert {column["name"]: column["nature"] for column in found["columns"]} == dict.fromkeys(
        ("income", "hours", "age"), "representative"
    )


def test_missing_values_stay_where_they_are_and_verify_looks(survey: Path, tmp_path: Path) -> None:
    result = shoal.perturb(survey, noise={"hours": 0.2}, seed=3)
    before = pl.read_csv(survey)
    assert result.polars["hours"].is_null().equals(before["hours"].is_null())
    with pytest.raises(InputError, match="nothing would be guaranteed"):
        shoal.release(result, tmp_path / "safe.csv")
    decide: Any = dict.fromkeys(["id", "age", "education"], "other")
    shoal.release(result, tmp_path / "safe.csv", no_guarantee=True, shuffle=True, decide=decide)
    assert shoal.verify(tmp_path / "safe.csv", original=survey).verdict == "holds"
    # another column was changed behind its back
    frame = pl.read_csv(tmp_path / "safe.csv")
    frame.with_columns(age=pl.col("age") + 1).write_csv(tmp_path / "safe.csv")
    checks = {check.name: check.holds for check in shoal.verify(tmp_path / "safe.csv", original=survey).checks}
    assert checks["column age"] is False
    assert checks["column hours"] is False  # no rule ties noise to its original, and the data is not what was released
    frame.with_columns(hours=pl.col("hours").fill_null(1)).write_csv(tmp_path / "safe.csv")
    checks = {check.name: check.holds for check in shoal.verify(tmp_path / "safe.csv", original=survey).checks}
    assert checks["column hours"] is False


def test_models_on_untouched_columns_are_still_judged(survey: Path, tmp_path: Path) -> None:
    policy = shoal.Policy(
        columns={"id": "identifier", "education": "quasi-identifier", "age": "other"},
        models=[{"model": "k-anonymity", "k": 50}],
    )
    result = shoal.perturb(survey, policy=policy, noise={"income": 0.1}, seed=3)
    shoal.release(result, tmp_path / "safe.csv")
    manifest = json.loads((tmp_path / "safe.manifest.json").read_text())
    assert (manifest["verdict"], manifest["quasi_identifiers"]) == ("holds", ["education"])
    harder = shoal.Policy(columns=policy.columns, models=[{"model": "k-anonymity", "k": 300}])
    with pytest.raises(shoal.Refused):
        shoal.release(shoal.perturb(survey, policy=harder, noise={"income": 0.1}), tmp_path / "none.csv")
    assert not (tmp_path / "none.csv").exists()


def test_people_see_a_table(survey: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(
        app,
        ["perturb", str(survey), "-o", str(tmp_path / "safe.csv"), "--shuffle", "income=hours+age"],
        catch_exceptions=True,
    )
    assert isinstance(found.exception, InputError)  # hours has gaps
    found = CliRunner().invoke(
        app,
        ["perturb", str(survey), "-o", str(tmp_path / "safe.csv"), "--shuffle", "income=age", "--decide", DECIDED],
        catch_exceptions=False,
    )
    assert found.exit_code == 0
    for word in ("Perturbed, not anonymous", "shuffle age", "linked by distance", "IL1s", "propensity"):
        assert word in found.stdout


@pytest.mark.parametrize(
    "option",
    [
        ["--noise", "income"],
        ["--noise", "income=0.1,income=0.2"],
        ["--shuffle", "income="],
        ["--correlated-noise", "0.5"],
        ["--correlated-noise", "age,age=0.5"],
        [],
    ],
)
def test_bad_options_write_nothing(survey: Path, tmp_path: Path, option: list[str]) -> None:
    target = tmp_path / "safe.csv"
    found = CliRunner().invoke(app, ["perturb", str(survey), "-o", str(target), *option], catch_exceptions=True)
    assert isinstance(found.exception, InputError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["survey.csv"]
