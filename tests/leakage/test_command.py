"""`shoal leak` and `shoal.leak`: tables by person, policies that verify enforces, what is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import brute
import shoal
from shoal.errors import InputError
from shoal.exposure.leakage import ClassSizes, equation_5, several_persons
from shoal.policy import Policy, PolicyError
from shoal.policy.amounts import parse_leaks, parse_targets
from shoal.releases.write import Refused

KEYS = {"persons", "leaked", "class_sizes", "targets", "probability", "method", "error"}


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "shoal", "leak", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def as_json(*arguments: str | Path) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def one(**asked: Any) -> shoal.LeakRisk:
    found = shoal.leak(**asked)
    assert isinstance(found, shoal.LeakRisk)
    return found


# by numbers


def test_one_object_as_json() -> None:
    found = as_json("--persons", "10000", "--leaked", "4000", "--class-size", "5", "--simulate", "500", "--seed", "1")
    assert set(found) >= KEYS
    assert "smallest_k" not in found
    assert found["class_sizes"] == {"5": 2000}
    assert found["probability"] == equation_5(10_000, 4_000, 5)
    assert (found["method"], found["targets"], found["leaked"]) == ("exact", 1, 4000)
    assert 0 <= found["error"] < 1e-12
    assert set(found["simulated"]) == {"mean", "low", "high", "runs"}
    assert found["simulated"]["runs"] == 500
    assert found["standard_deviation"] == pytest.approx(0.0010153202983456508)


def test_lists_as_json() -> None:
    found = as_json("--sizes", "3:2,4:1", "--leaked", "3,60%", "--targets", "1,2", "--threshold", "0.2")["answers"]
    assert [(entry["leaked"], entry["targets"]) for entry in found] == [(3, 1), (3, 2), (6, 1), (6, 2)]
    for entry in found:
        wanted = brute.leak_probability([3, 3, 4], entry["leaked"], entry["targets"])
        assert entry["probability"] == pytest.approx(float(wanted), rel=1e-13)
        assert entry["holds"] == (wanted <= Fraction(1, 5))
        assert set(entry) >= KEYS | {"smallest_k", "largest_leak", "threshold"}


def test_the_smallest_k_per_leak(tmp_path: Path) -> None:
    chart = tmp_path / "k.svg"
    asked = ["--persons", "10000", "--leaked", "1000..10000", "--threshold", "0.09", "--chart", chart]
    found = as_json(*asked)["answers"]
    assert [entry["leaked"] for entry in found] == list(range(1000, 10_001, 1000))
    assert [entry["smallest_k"] for entry in found][:4] == [4, 10, 11, 12]
    assert all(entry["probability"] <= 0.09 for entry in found)
    assert chart.read_text().startswith("<svg")
    refused = run(*asked)
    assert refused.returncode == 2
    assert "--force" in refused.stderr


def test_what_people_see() -> None:
    shown = run("--persons", "10000", "--leaked", "4000", "--class-size", "5", "--threshold", "ema").stdout
    assert "0.1845 (18.4%)" in shown
    assert "over the threshold 0.09 (ema)" in shown
    assert "1,126" in shown
    table = run("--persons", "10000", "--leaked", "1000..10000", "--threshold", "trusted,public").stdout
    assert "smallest k" in table
    assert "trusted" in table
    assert "1000..10000" in run("--help").stdout


def test_over_the_threshold_fails_where_asked() -> None:
    asked = ["--persons", "100", "--leaked", "50%", "--class-size", "5", "--threshold", "0.1"]
    assert run(*asked).returncode == 0
    assert run(*asked, "--fail-above-threshold").returncode == 1
    assert run(*asked[:-1], "0.2", "--fail-above-threshold").returncode == 0


def test_a_class_size_that_does_not_divide() -> None:
    found = one(persons=10_000, leaked=4_000, class_size=15)
    assert found.probability == equation_5(10_000, 4_000, 15)
    assert found.class_sizes == {15: 666, 10: 1}
    assert "does not divide" in found.notes[0]
    three = one(persons=10_000, leaked=4_000, class_size=15, targets=3)
    assert three.probability == several_persons(ClassSizes.of({15: 666, 10: 1}), 4_000, 3).probability


def test_a_share_may_be_a_number() -> None:
    assert one(persons=10_000, leaked=0.1, class_size=5) == one(persons=10_000, leaked="10%", class_size=5)


def test_more_targets_than_leaked_is_zero_and_said() -> None:
    found = one(persons=10, leaked=2, class_size=5, targets=3)
    assert found.probability == 0
    assert "more targets than leaked" in found.notes[0]


def test_the_recursion_states_its_difference() -> None:
    found = one(sizes={2: 2}, leaked=3, targets=2, method="recursion")
    assert found.probability == pytest.approx(5 / 18)
    assert found.exact == pytest.approx(1 / 4)
    assert found.difference == pytest.approx(1 / 36)
    assert found.error == pytest.approx(1 / 9)
    printed = one(sizes={2: 2}, leaked=3, targets=2, method="recursion-class-weights")
    assert printed.probability == pytest.approx(7 / 24)
    entry = as_json("--sizes", "2:2", "--leaked", "3", "--targets", "2", "--method", "recursion")
    assert (entry["method"], entry["difference"]) == ("recursion", pytest.approx(1 / 36))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"leaked": 10_001}, "larger than"),
        ({"leaked": "101%"}, "more than all"),
        ({"leaked": "-1"}, "not a whole number"),
        ({"leaked": 1.5}, "not a whole number"),
        ({"leaked": None}, "size of the leak is not given"),
        ({"leaked": "900..100"}, "nowhere"),
        ({"leaked": "1..2..3..4"}, "cannot be read"),
        ({"leaked": ""}, "not a whole number"),
        ({"leaked": []}, "No leak"),
        ({"targets": 0}, "no targets"),
        ({"targets": "10%"}, "not a whole number"),
        ({"class_size": 10_001}, "do not fit"),
        ({"class_size": 0}, "do not fit"),
        ({"class_size": 2.5}, "whole numbers"),
        ({"class_size": None}, "Nothing is said"),
        ({"persons": 0}, "not one or more"),
        ({"persons": None}, "No table or class sizes given"),
        ({"class_size": None, "sizes": {3: 2}}, "sum to 6"),
        ({"sizes": {3: 2}}, "both given"),
        ({"class_size": None, "persons": None, "sizes": "3:x"}, "cannot be read"),
        ({"threshold": 1.5}, "Threshold"),
        ({"threshold": "emma"}, "Threshold"),
        ({"method": "guess"}, "method"),
        ({"simulate": 1}, "runs"),
        ({"simulate": 10, "draw": "hat"}, "draw"),
        ({"unit": "records"}, "no formula"),
        ({"simulate": 10, "history": "50%"}, "no formula"),
        ({"history": "0%"}, "not a share"),
        ({"quasi_identifiers": ["age"], "source": "x"}, "its own persons"),
    ],
)
def test_bad_input_is_one_clear_error(asked: dict[str, Any], words: str) -> None:
    given = {"persons": 10_000, "leaked": 4_000, "class_size": 5, **asked}
    with pytest.raises(InputError, match=words) as error:
        shoal.leak(**given)
    assert error.value.cure


def test_bad_input_on_the_command_line() -> None:
    for wrong in (["--leaked", "20000"], ["--leaked", "150%"], ["--leaked", "10", "--targets", "0"]):
        done = run("--persons", "10000", "--class-size", "5", *wrong)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")


def test_amounts() -> None:
    assert parse_leaks("10%", 10_003) == [1001]  # rounded up, the safe side
    assert parse_leaks("0.5%", 1000) == [5]
    assert parse_leaks("100..1000..300,7", 1000) == [100, 400, 700, 1000, 7]
    assert parse_leaks("10%..100%", 1000) == list(range(100, 1001, 100))
    assert parse_targets("1..4") == [1, 2, 3, 4]
    with pytest.raises(InputError, match="too many"):
        parse_leaks("0..10000..1", 10_000)


# by table


@pytest.fixture
def visits() -> pl.DataFrame:
    # persons 1 and 2 have the same two visits, person 3 only one of them, person 4 another
    return pl.DataFrame(
        {
            "who": [1, 1, 2, 2, 3, 4],
            "age": ["[30;39]", "40", "40", "[30;39]", "40", "50"],
            "town": ["A", "B", "B", "A", "B", "C"],
        }
    )


def test_persons_not_rows(visits: pl.DataFrame) -> None:
    found = one(source=visits, quasi_identifiers=["age", "town"], person="who", leaked="50%")
    assert (found.persons, found.leaked, found.class_sizes) == (4, 2, {1: 2, 2: 1})
    assert found.probability == pytest.approx(float(brute.leak_probability([1, 1, 2], 2, 1)))
    rows = one(source=visits, quasi_identifiers=["age", "town"], leaked=3)
    assert (rows.persons, rows.class_sizes) == (6, {1: 1, 2: 1, 3: 1})
    assert any("every record counts as a person" in remark for remark in rows.notes)


def test_an_attacker_who_knows_less(visits: pl.DataFrame) -> None:
    more = one(source=visits, quasi_identifiers=["age", "town"], person="who", leaked=4)
    less = one(source=visits.with_columns(age=pl.lit("x")), quasi_identifiers=["age"], person="who", leaked=4)
    assert less.class_sizes == {2: 2}  # who has one visit, who has two
    assert less.probability < more.probability


def test_pandas_and_counts(visits: pl.DataFrame) -> None:
    frame = pd.DataFrame({"age": [30, 31], "n": [3, 4]})
    found = one(source=frame, quasi_identifiers=["age"], count="n", leaked=3)
    assert found.class_sizes == {3: 1, 4: 1}
    with pytest.raises(InputError, match="no histories"):
        shoal.leak(frame, quasi_identifiers=["age"], count="n", leaked=3, simulate=10, unit="records")


def test_suppressed_persons_and_nulls_are_counted_apart() -> None:
    table = pl.DataFrame({"age": ["*", "30", "30", None], "sex": ["*", "f", "f", "m"]})
    found = one(source=table, quasi_identifiers=["age", "sex"], leaked="100%")
    assert (found.persons, found.class_sizes, found.suppressed_rows) == (3, {1: 1, 2: 1}, 1)
    dropped = one(source=table, quasi_identifiers=["age", "sex"], leaked="100%", null_rule="drop")
    assert dropped.class_sizes == {2: 1}
    wild = one(source=table, quasi_identifiers=["age", "sex"], leaked="100%", null_rule="wildcard")
    assert wild.class_sizes == {1: 1, 2: 1}
    with pytest.raises(InputError, match="no class"):
        shoal.leak(pl.DataFrame({"age": ["*", "*"]}), quasi_identifiers=["age"], leaked=1, generalized="yes")


def test_records_and_parts_of_histories_are_played_out(visits: pl.DataFrame) -> None:
    asked: dict[str, Any] = {"source": visits, "quasi_identifiers": ["age", "town"], "person": "who"}
    found = one(**asked, leaked=3, simulate=4000, seed=1, unit="records", threshold=0.9)
    wanted = brute.leaked_records_probability([["a", "b"], ["a", "b"], ["b"], ["c"]], 3)
    assert found.method == "simulation"
    assert found.simulated is not None
    assert abs(found.probability - float(wanted)) < 4 * found.simulated.standard_error
    assert found.holds is True
    assert found.to_dict()["unit"] == "records"
    part = one(**asked, leaked=4, simulate=200, seed=1, history="50%")
    assert part.history == 0.5
    assert "50.0% of their records" in part.summary()


def test_missing_columns_and_roles(visits: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="no column"):
        shoal.leak(visits, quasi_identifiers=["agee"], leaked=1)
    with pytest.raises(InputError, match="No quasi-identifiers"):
        shoal.leak(visits, leaked=1)
    with pytest.raises(InputError, match="counted and compared"):
        shoal.leak(visits, quasi_identifiers=["who"], person="who", leaked=1)
    with pytest.raises(InputError, match="exclude"):
        shoal.leak(visits, quasi_identifiers=["age"], person="who", count="town", leaked=1)


# by policy


POLICY = {
    "columns": {"age_yrs": "quasi-identifier", "sex": "quasi-identifier", "charge": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 5}],
}


def policy(**leak: Any) -> Policy:
    return Policy.model_validate({**POLICY, "leak": leak})


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return shoal.sample_data("discharges", 500).select(["age_yrs", "sex", "charge"])


def test_a_release_keeps_its_leak_limit_or_does_not_leave(people: pl.DataFrame, tmp_path: Path) -> None:
    good = policy(leaked="10%", targets=1, threshold="ema")
    path = shoal.release(shoal.anonymize(people, good), tmp_path / "safe.csv", shuffle=True).output
    found = shoal.verify(path, good)
    assert found.verdict == "holds"
    check = next(check for check in found.checks if check.name == "leak")
    assert check.holds
    assert "50 of 500 persons leaked, 1 target" in check.detail
    # the file alone, by its manifest
    assert shoal.verify(path).verdict == "holds"
    # the same classes as the command measures, under the names of the release
    measured = one(source=path, policy=good)
    assert measured.holds is True
    assert measured.leaked == 50
    strict = policy(leaked="10%", targets=1, threshold=0.01)
    assert shoal.verify(path, strict).verdict == "refused"
    with pytest.raises(Refused, match="leak: 50 of 500"):
        shoal.release(shoal.anonymize(people, strict), tmp_path / "never.csv")
    assert not (tmp_path / "never.csv").exists()


def test_columns_released_under_other_names(people: pl.DataFrame, tmp_path: Path) -> None:
    given = policy(leaked=100, threshold=0.2)
    result = shoal.anonymize(people, given, interval="columns")
    path = shoal.release(result, tmp_path / "safe.parquet").output
    found = one(source=path, policy=given)
    assert found.class_sizes == one(source=result.polars, quasi_identifiers=["age_yrs_low", "age_yrs_high", "sex_low", "sex_high"], leaked=1).class_sizes  # fmt: skip  # noqa: E501


def test_verify_by_person(tmp_path: Path) -> None:
    table = pl.DataFrame({"who": [1, 1, 2, 2, 3, 4], "age": [30, 40, 30, 40, 50, 50]})
    rules: dict[str, Any] = {"columns": {"age": "quasi-identifier", "who": "other"}, "person": "who"}
    kept = Policy.model_validate({**rules, "leak": {"leaked": "100%", "threshold": 0.5}})
    assert shoal.verify(table, kept).verdict == "holds"
    assert "4 of 4 persons" in shoal.verify(table, kept).checks[0].detail
    broken = Policy.model_validate({**rules, "leak": {"leaked": "100%", "threshold": 0.49}})
    assert shoal.verify(table, broken).verdict == "refused"
    # without the person column nothing can be shown, and what is not shown does not hold
    blind = shoal.verify(table.drop("who"), kept)
    assert blind.verdict == "refused"
    assert "cannot be measured" in blind.checks[0].detail
    large = Policy.model_validate({**rules, "leak": {"leaked": 400, "threshold": 0.5}})
    assert shoal.verify(table, large).verdict == "refused"


def test_problems_of_the_section_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text("leak:\n  leaked: 110%\n  targets: 0\n  threshold: emma\n  extra: 1\n")
    with pytest.raises(PolicyError) as error:
        shoal.load_policy(path)
    assert [line for line, _ in error.value.problems] == [2, 3, 4, 5]
    for wrong in ({"leaked": "1,2", "threshold": 0.1}, {"leaked": 0.1, "threshold": 0.1}, {"leaked": 5}):
        with pytest.raises(PolicyError):
            shoal.leak(persons=10, class_size=2, policy={"leak": wrong})
    path.write_text("leak: {leaked: 10%, targets: 3, threshold: 0.09}\n")
    found = one(persons=1000, class_size=5, policy=path)
    assert (found.leaked, found.targets, found.threshold) == (100, 3, 0.09)
