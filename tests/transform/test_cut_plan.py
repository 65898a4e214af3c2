"""A plan of cuts: found once by `mondrian`, applied to new tables, and judged on each of them."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli.group import app
from shoal.errors import InputError
from shoal.methods.mondrian import CutPlan
from shoal.methods.search.generalize import read_plan

TOWNS = [["Lyon", "FR", "*"], ["Nice", "FR", "*"], ["Rome", "IT", "*"], ["Pisa", "IT", "*"]]


def people(rows: int, seed: int = 0, holes: bool = True) -> pl.DataFrame:
    """Numbers, decimals, dates, categories with and without a tree, some missing."""
    random = np.random.default_rng(seed)
    town = random.choice([row[0] for row in TOWNS], rows)
    job = random.choice(["clerk", "monk", "poet", "smith"], rows)
    days = random.integers(0, 900, rows)
    frame = pl.DataFrame(
        {
            "age": random.integers(18, 90, rows),
            "height": np.round(random.normal(1.7, 0.1, rows), 2),
            "born": [date(1960, 1, 1) + timedelta(days=int(day)) for day in days],
            "town": town,
            "job": job,
            "illness": random.choice(["flu", "cold", "gout"], rows),
        }
    )
    return frame.with_columns(job=pl.Series([None if holes and i % 11 == 0 else j for i, j in enumerate(job)]))


NAMES = ["age", "height", "born", "town", "job"]
POLICY: dict[str, Any] = {
    "columns": {**dict.fromkeys(NAMES, "quasi-identifier"), "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 4}],
    "hierarchies": {"town": TOWNS},
}


def fitted(frame: pl.DataFrame, **policy: Any) -> shoal.Anonymized:
    return shoal.anonymize(frame, {**POLICY, **policy}, method="mondrian", plan=True)


def test_by_hand() -> None:
    """Two cuts by eye: ages part between 34 and 50, each region reaches to the next cut."""
    ages = pl.DataFrame({"age": [30, 34, 50, 52]})
    made = shoal.anonymize(ages, quasi_identifiers=["age"], k=2, method="mondrian", plan=True)
    assert made.frame["age"].to_list() == ["[30;34]", "[30;34]", "[35;52]", "[35;52]"]
    new = pl.DataFrame({"age": [31, 33, 40, 52, 53]})
    applied = shoal.apply_plan(new, plan=made.plan, unseen="suppress")
    assert applied.frame["age"].to_list() == ["[30;34]", "[30;34]", "[35;52]", "[35;52]", "*"]
    assert (applied.findings.unseen_rows, applied.findings.suppressed_rows, applied.findings.k) == (1, 1, 2)
    with pytest.raises(InputError, match="1 of them because they lie in none of its boxes"):
        shoal.apply_plan(new, plan=made.plan)


def test_decimals_have_no_gap_and_reals_do() -> None:
    decimals = shoal.anonymize({"x": [1.5, 1.6, 2.5, 2.6]}, quasi_identifiers=["x"], k=2, method="mondrian", plan=True)
    assert decimals.polars["x"].to_list()[2] == "[1.7;2.6]"
    reals = [np.pi, np.e, np.pi * 3, np.e * 3]
    made = shoal.anonymize({"x": reals}, quasi_identifiers=["x"], k=2, method="mondrian", plan=True)
    applied = shoal.apply_plan({"x": [3.0, 3.1, 5.0, 8.5, 9.0]}, plan=made.plan, unseen="suppress")
    assert applied.polars["x"].eq("*").to_list() == [False, False, True, False, False]


def test_the_same_table_gets_the_same_release() -> None:
    frame = people(400)
    made = fitted(frame)
    assert made.verdict in ("holds", "undecided")
    assert made.findings.k >= 4
    assert made.findings.unseen_rows == made.findings.suppressed_rows == 0
    again = shoal.apply_plan(frame, plan=made.plan)
    assert again.polars.equals(made.polars)
    assert set(made.polars["town"].unique()) <= {"FR", "IT", "*", "Lyon", "Nice", "Rome", "Pisa"}


def test_a_plan_on_disk_is_applied_and_verified_again(tmp_path: Path) -> None:
    old, new = people(400), people(300, seed=1)
    new = new.with_columns(town=pl.Series(["Bonn", *new["town"].to_list()[1:]]))
    models = [{"model": "k-anonymity", "k": 4}, {"model": "l-diversity", "l": 2, "sensitive": "illness"}]
    shoal.release(fitted(old, models=models), tmp_path / "safe.csv")
    assert (tmp_path / "safe.plan.json").stat().st_mode & 0o077 == 0
    assert shoal.verify(tmp_path / "safe.csv", original=old).verdict == "holds"
    applied = shoal.apply_plan(new, plan=tmp_path / "safe.plan.json", unseen="suppress")
    assert applied.findings.k >= 4
    assert (applied.findings.unseen_rows or 0) >= 1
    assert applied.findings.suppressed_rows >= (applied.findings.unseen_rows or 0)
    shoal.release(applied, tmp_path / "next.csv")
    found = shoal.verify(tmp_path / "next.csv", original=new)
    assert found.verdict == "holds", found.reasons()
    # what is released is the box of a region: the labels of both years are those of one plan
    ages = [set(frame["age"].unique()) - {"*"} for frame in (fitted(old, models=models).polars, applied.polars)]
    assert ages[1] <= ages[0]


def test_a_class_that_breaks_the_policy_is_suppressed() -> None:
    made = shoal.anonymize({"age": [1, 2, 3, 8, 9, 9]}, quasi_identifiers=["age"], k=3, method="mondrian", plan=True)
    applied = shoal.apply_plan({"age": [1, 1, 2, 9, 9]}, plan=made.plan, unseen="suppress")
    assert applied.polars["age"].to_list() == ["[1;3]", "[1;3]", "[1;3]", "*", "*"]
    assert (applied.findings.unseen_rows, applied.findings.suppressed_rows) == (0, 2)
    assert applied.findings.k == 3
    assert applied.models[0].holds


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(6, 60), st.integers(2, 5), st.sampled_from(["best", "strict"]))
def test_every_box_holds_its_record_and_every_class_its_policy(seed: int, rows: int, k: int, cuts: str) -> None:
    """On any new table: a record is in a box that holds it, or suppressed; verify finds the same by itself."""
    old, new = people(60, seed), people(rows, seed + 1)
    policy = {**POLICY, "models": [{"model": "k-anonymity", "k": k}]}
    plan = shoal.anonymize(old, policy, method="mondrian", plan=True, cuts=cuts).plan
    made = shoal.apply_plan(new, plan=plan, unseen="suppress")
    assert made.findings.k >= k or made.findings.classes == 0
    ages = made.polars["age"].str.extract_groups(r"^\[?(?<low>\d+)(?:;(?<high>\d+)\])?$").struct.unnest()
    low, high = ages["low"].cast(pl.Int64), ages["high"].fill_null(ages["low"]).cast(pl.Int64)
    inside = (low <= new["age"]) & (new["age"] <= high)
    assert (inside.fill_null(False) | made.polars["age"].eq("*")).all()
    kept = made.polars.filter(~pl.all_horizontal(pl.col(NAMES).eq_missing("*")))
    if len(kept):
        assert kept.group_by(NAMES).len()["len"].min() >= k


def test_a_plan_that_was_tampered_with_is_one_error(tmp_path: Path) -> None:
    made = fitted(people(80))
    assert isinstance(made.plan, CutPlan)
    good = made.plan.to_dict()
    file = tmp_path / "p.json"

    def read(**change: Any) -> Any:
        file.write_text(json.dumps({**good, **change}))
        return read_plan(file)

    assert read().to_dict() == good
    cuts = good["cuts"]
    for bad in (
        {"cuts": {**cuts, "left": [0] * len(cuts["left"])}},
        {"cuts": {**cuts, "column": [99] * len(cuts["column"])}},
        {"cuts": {**cuts, "cell": cuts["cell"][:-1]}},
        {"columns": {}},
        {"columns": {"age": good["columns"]["age"]}},
        {"columns": {**good["columns"], "age": {**good["columns"]["age"], "low": [5, 1]}}},
        {"columns": {**good["columns"], "age": {**good["columns"]["age"], "low": [2**63]}}},
        {"columns": {**good["columns"], "age": {**good["columns"]["age"], "type": "number", "low": [10**400]}}},
        {"columns": {**good["columns"], "age": {**good["columns"]["age"], "type": "date", "high": [2**31]}}},
        {"cuts": {**cuts, "cell": [2**70] * len(cuts["cell"])}},
        {"cuts": {**cuts, "left": [-(2**64)] * len(cuts["left"])}},
        {"policy": "/etc/passwd"},
    ):
        with pytest.raises(InputError):
            read(**bad)


def test_other_types_and_means_are_refused() -> None:
    made = fitted(people(80))
    with pytest.raises(InputError, match="'age' is not integer as in the plan"):
        shoal.apply_plan(people(50).with_columns(age=pl.lit("x")), plan=made.plan)
    with pytest.raises(InputError, match="no column 'age'"):
        shoal.apply_plan(people(50).drop("age"), plan=made.plan)
    for options in ({"cuts": "relaxed"}, {"interval": "mean"}):
        with pytest.raises(InputError, match="no plan"):
            shoal.anonymize(people(50), POLICY, method="mondrian", plan=True, **options)  # type: ignore[arg-type]


def test_the_command_line(tmp_path: Path) -> None:
    people(200).write_csv(tmp_path / "old.csv")
    people(150, 3).write_csv(tmp_path / "new.csv")
    words = (
        f"anonymize {tmp_path}/old.csv -o {tmp_path}/safe.csv --qi age,town --sensitive illness -k 4 --method mondrian"
    )
    words += " --plan --decide height=other,born=other,job=other"
    answer = CliRunner().invoke(app, words.split())
    assert answer.exit_code == 0, answer.output
    answer = CliRunner().invoke(
        app, f"apply {tmp_path}/safe.plan.json {tmp_path}/new.csv -o {tmp_path}/next.csv --unseen suppress".split()
    )
    assert answer.exit_code == 0, answer.output
    answer = CliRunner().invoke(app, f"verify {tmp_path}/next.csv --original {tmp_path}/new.csv".split())
    assert answer.exit_code == 0, answer.output


def test_what_a_plan_costs_is_told() -> None:
    ages = pl.DataFrame({"age": [30, 34, 50, 52]})
    given: dict[str, Any] = {"quasi_identifiers": ["age"], "k": 2, "method": "mondrian"}
    said = [str(shoal.anonymize(ages, **given, plan=plan).sections()[-1]) for plan in (True, False)]
    assert ["leave `plan` out" in notes for notes in said] == [True, False]
