"""Safe harbor as a whole: proposals and policies, the one door, what is left, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.detection.clauses import hidden
from shoal.methods.hipaa.results import next_command, what_is_left
from shoal.methods.hipaa.zip3 import shipped

VISITS = pl.DataFrame(
    {
        "patient_id": [f"P{number:05d}" for number in range(60)],
        "zip": ["10001", "02139", "03601"] * 20,
        "admitted": ["2012-03-04", "2011-12-31"] * 30,
        "age": [34, 51, 93, 34, 51] * 12,
        "sex": ["f", "m", "f"] * 20,
        "ward": ["a", "b", "c", "d"] * 15,
        "charge": [100.25, 200.5, 300.75] * 20,
    }
)


def shoal_command(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "shoal", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_json_contract(tmp_path: Path) -> None:
    source, target = tmp_path / "visits.csv", tmp_path / "safe.csv"
    VISITS.write_csv(source)
    done = shoal_command("safe-harbor", source, "-o", target, "--year-of-data", 2012, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [clause["clause"] for clause in found["clauses"]] == list("ABCDEFGHIJKLMNOPQR")
    assert all(
        {"clause", "columns", "action", "cells_changed", "status"} <= clause.keys() for clause in found["clauses"]
    )
    statuses = {clause["clause"]: clause["status"] for clause in found["clauses"]}
    assert {clause for clause, status in statuses.items() if status == "confirm"} == {"B", "C", "R"}
    assert found["output"] == str(target)
    assert found["manifest"] == str(tmp_path / "safe.manifest.json")
    risk = json.loads(
        shoal_command("risk", target, "--qi", ",".join(found["residual"]["quasi_identifiers"]), "--json").stdout
    )
    assert {"schema_version": 1, **found["residual"]} == risk
    assert found["residual"]["quasi_identifiers"] == ["zip", "admitted", "age", "sex"]
    assert any("ward" in asked and "charge" in asked for asked in found["to_confirm"])
    assert any("face" in asked for asked in found["to_confirm"])
    assert any("Actual knowledge" in asked for asked in found["to_confirm"])
    assert shoal_command("verify", target).returncode == 0
    assert shoal_command("verify", target, "--original", source).returncode == 0


def test_the_residual_risk_and_the_way_on() -> None:
    result = shoal.safe_harbor(VISITS, year_of_data=2012)
    left = result.frame.select("zip", "admitted", "age", "sex")
    uniques = left.group_by(left.columns).len().filter(pl.col("len") == 1).height
    assert result.residual is not None
    assert result.residual.uniques == uniques
    alone = shoal.safe_harbor(VISITS.head(3), year_of_data=2012)
    assert what_is_left(alone.residual) == "Still 100% unique on zip, admitted, age and sex."
    assert alone.residual is not None
    command = next_command("my safe.csv", alone.residual.quasi_identifiers)
    assert command == "shoal anonymize 'my safe.csv' -o 'my safe.anonymous.csv' --qi zip,admitted,age,sex -k 5"
    assert shoal.safe_harbor(VISITS.select("charge")).residual is None


POLICY: dict[str, Any] = {
    "columns": {"sex": "quasi-identifier", "charge": "sensitive", "ward": "other"},
    "safe_harbor": {
        "year_of_data": 2012,
        "columns": {
            "patient_id": "R",
            "zip": "zip",
            "admitted": "date",
            "age": "age",
            "ward": "keep",
            "charge": "keep",
        },
    },
}


def test_what_the_policy_decides_is_done() -> None:
    result = shoal.safe_harbor(VISITS, policy=POLICY)
    assert {found.clause: found.status for found in result.clauses if found.columns} == {
        "B": "done",
        "C": "done",
        "R": "done",
    }
    assert result.year_of_data == 2012
    partly = {**POLICY, "safe_harbor": {"columns": {"zip": "zip"}}}
    statuses = {
        found.clause: found.status for found in shoal.safe_harbor(VISITS, policy=partly, year_of_data=2012).clauses
    }
    assert (statuses["B"], statuses["C"], statuses["R"]) == ("done", "confirm", "confirm")


def test_a_role_in_the_policy_does_not_let_an_identifier_pass() -> None:
    roles = {"columns": {"patient_id": "other", "x1": "sensitive", "ward": "identifier", "age": "other"}}
    result = shoal.safe_harbor(VISITS.with_columns(x1=pl.Series(range(60)) * 37), policy=roles, year_of_data=2012)
    assert "patient_id" not in result.frame.columns  # a role is no decision on safe harbor
    assert "x1" not in result.frame.columns
    assert result.quasi_identifiers == ["zip", "admitted", "sex"]
    assert "ward" not in result.frame.columns
    kept = shoal.safe_harbor(VISITS, policy={"safe_harbor": {"columns": {"patient_id": "keep"}}}, year_of_data=2012)
    assert "patient_id" in kept.frame.columns


def test_a_kept_column_plays_the_role_that_the_policy_names() -> None:
    policy: dict[str, Any] = {"columns": {"ward": "quasi-identifier"}, "safe_harbor": {"columns": {"ward": "keep"}}}
    assert "ward" in shoal.safe_harbor(VISITS, policy=policy, year_of_data=2012).quasi_identifiers
    policy["columns"]["ward"] = "identifier"
    with pytest.raises(shoal.InputError, match="an identifier and keeps"):
        shoal.safe_harbor(VISITS, policy=policy, year_of_data=2012)


def test_problems_of_a_policy_are_named() -> None:
    with pytest.raises(shoal.InputError, match="problem"):
        shoal.safe_harbor(VISITS, policy={"safe_harbor": {"columns": {"zip": "shorten"}}})
    result = shoal.safe_harbor(VISITS, policy={"safe_harbor": {"columns": {"zipp": "zip"}}}, year_of_data=2012)
    assert any("zipp" in note for note in result.notes)
    with pytest.raises(shoal.InputError, match="year of the data"):
        shoal.safe_harbor(VISITS, year_of_data=12)


def test_a_proposed_policy_gives_the_same_table_all_decided(tmp_path: Path) -> None:
    source, policy = tmp_path / "visits.csv", tmp_path / "policy.yaml"
    VISITS.write_csv(source)
    assert shoal_command("safe-harbor", source, "--write-policy", policy).returncode == 0
    proposed, decided = shoal.safe_harbor(source), shoal.safe_harbor(source, policy=policy)
    assert proposed.frame.equals(decided.frame)
    assert all(found.status in ("done", "nothing-found") for found in decided.clauses)
    assert shoal_command("safe-harbor", source, "--write-policy", policy).returncode == 2  # it is there


def test_models_of_the_policy_must_hold_on_the_written_file(tmp_path: Path) -> None:
    source, target = tmp_path / "visits.csv", tmp_path / "safe.csv"
    VISITS.write_csv(source)
    (tmp_path / "policy.yaml").write_text("models: [{model: k-anonymity, k: 50}]\n")
    done = shoal_command("safe-harbor", source, "-o", target, "--policy", tmp_path / "policy.yaml", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["verdict"] == "refused"
    assert not target.exists()
    assert not (tmp_path / "safe.manifest.json").exists()


def test_over_the_threshold_exits_with_1(tmp_path: Path) -> None:
    source = tmp_path / "visits.csv"
    VISITS.head(3).write_csv(source)
    assert shoal_command("safe-harbor", source, "-o", tmp_path / "safe.csv", "--fail-above-threshold").returncode == 1
    assert shoal_command("safe-harbor", source, "-o", tmp_path / "safe2.csv").returncode == 0


@pytest.mark.parametrize(
    ("column", "value"),
    [("zip", "10001"), ("admitted", "2012-03-04"), ("age", "93"), ("ward", "seen 3/4/2012"), ("ward", "a@b.org")],
)
def test_a_file_that_was_touched_does_not_hold(tmp_path: Path, column: str, value: str) -> None:
    released = shoal.release(shoal.safe_harbor(VISITS, year_of_data=2012), tmp_path / "safe.csv")
    frame = pl.read_csv(released.output, infer_schema=False)
    touched = frame.with_columns(pl.Series(column, [value, *frame[column].to_list()[1:]]))
    touched.write_csv(released.output)
    found = shoal.verify(released.output)
    assert found.verdict == "refused"
    failed = {check.name for check in found.checks if not check.holds}
    assert failed - {"data hash"}, failed
    assert value not in str(found)


def test_a_removed_column_that_comes_back_does_not_hold(tmp_path: Path) -> None:
    released = shoal.release(shoal.safe_harbor(VISITS, year_of_data=2012), tmp_path / "safe.csv")
    pl.read_csv(released.output, infer_schema=False).with_columns(patient_id=VISITS["patient_id"]).write_csv(
        released.output
    )
    assert not next(c for c in shoal.verify(released.output).checks if c.name == "removed columns").holds


def test_the_door_refuses_what_the_second_look_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Had a rule forgotten a column, the written file would be found out, and nothing would be left of it."""
    from dataclasses import replace

    result = shoal.safe_harbor(VISITS, year_of_data=2012)
    forgotten = replace(result, polars=result.polars.with_columns(zip=VISITS["zip"]))
    with pytest.raises(shoal.Refused, match="zip"):
        shoal.release(forgotten, tmp_path / "safe.csv")
    assert list(tmp_path.iterdir()) == []


def test_pandas_in_pandas_out() -> None:
    frame = VISITS.to_pandas()
    frame.index = range(100, 160)
    out = shoal.safe_harbor(frame, year_of_data=2012).frame
    assert isinstance(out, pd.DataFrame)
    assert out.index.tolist() == list(range(100, 160))
    assert out["charge"].dtype == frame["charge"].dtype
    assert out["zip"].tolist()[:3] == ["100", "021", "000"]


def test_categories_that_no_cell_holds_do_not_leave(tmp_path: Path) -> None:
    names = pl.Enum(["a", "b", "ada.lovelace@example.org"])
    frame = VISITS.with_columns(ward=pl.Series(["a", "b", "a"] * 20, dtype=names))
    released = shoal.release(shoal.safe_harbor(frame, year_of_data=2012), tmp_path / "safe.parquet")
    assert b"lovelace" not in released.output.read_bytes()


def test_headers_that_are_data_are_refused_without_showing_them(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("ada@example.org,2012-03-04,f\nalan@example.org,2012-05-06,m\n")
    done = shoal_command("safe-harbor", path, "-o", tmp_path / "safe.csv")
    assert done.returncode == 2
    assert "ada" not in done.stderr
    assert "1 and 2" in done.stderr


def test_odd_types_leave_or_are_refused_clearly(tmp_path: Path) -> None:
    stays = VISITS.select("sex").with_columns(age=pl.Series([-1, 34, 95] * 20))
    stays = stays.with_columns(stay=pl.Series([1, 2, 3] * 20).cast(pl.Duration("ms")))
    result = shoal.safe_harbor(stays, year_of_data=2012)
    assert result.frame["age"].to_list() == [None, "34", "90+"] * 20
    with pytest.raises(shoal.InputError, match="csv file cannot hold"):
        shoal.release(result, tmp_path / "safe.csv")
    assert list(tmp_path.iterdir()) == []
    assert shoal.verify(shoal.release(result, tmp_path / "safe.parquet").output).verdict == "holds"


def test_a_table_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(shoal.InputError, match="every column"):
        shoal.safe_harbor(VISITS.select("patient_id"))


def test_rows_are_shuffled_because_their_order_tells_dates(tmp_path: Path) -> None:
    source = tmp_path / "visits.csv"
    VISITS.with_columns(charge=pl.Series([number + 0.5 for number in range(60)])).write_csv(source)
    shoal_command("safe-harbor", source, "-o", tmp_path / "a.csv", "--seed", 1)
    shoal_command("safe-harbor", source, "-o", tmp_path / "b.csv", "--keep-order")
    a, b = (pl.read_csv(tmp_path / name)["charge"] for name in ("a.csv", "b.csv"))
    assert a.to_list() != b.to_list()
    assert a.sort().equals(b)
    private = tmp_path / "a.private.json"
    assert private.stat().st_mode & 0o077 == 0
    assert "seed" not in json.loads((tmp_path / "a.manifest.json").read_text())


IDENTIFIERS = st.one_of(
    st.emails(),
    st.dates().map(lambda day: day.isoformat()),
    st.dates().map(lambda day: f"{day.month}/{day.day}/{day.year:04d}"),
    st.dates().map(lambda day: f"{day.day} {day:%b} 19{day.year % 100:02d}"),
    st.ip_addresses(v=4).map(str),
    st.uuids().map(str),
    st.from_regex(r"[2-9][0-9]{2}-[0-9]{3}-[0-9]{4}", fullmatch=True).filter(str.isascii),
    st.from_regex(r"[0-8][0-9]{2}-[0-9]{2}-[0-9]{4}", fullmatch=True).filter(str.isascii),
    st.from_regex(r"https://[a-z]{3,9}\.org/[a-z]{1,9}", fullmatch=True),
)


@given(IDENTIFIERS, st.sampled_from(["{}", "see {}", "{} (moved)", "call {}, please", "on {}: stable"]))
def test_hidden_identifiers_are_seen_wherever_they_stand(identifier: str, sentence: str) -> None:
    assert hidden(pl.Series([sentence.format(identifier)]))


@given(
    st.lists(
        st.sampled_from(["E11.9", "I10", "250.10", "99213", "[20;29]", "30-39", "120/80", "0002-1433-80", "stage II",
                         "A-7", "May", "2012", "1.2.3", "Black or African American", "12-lead ECG", "3.5 mg", "90+"]),
        min_size=1,
    )
)  # fmt: skip
def test_codes_and_words_are_left_alone(values: list[str]) -> None:
    assert hidden(pl.Series(values)) == {}


@given(st.data())
def test_no_date_zip_or_age_survives(data: st.DataObject) -> None:
    """Whatever is in the columns, what leaves is a year, a kept prefix or an age up to 89."""
    rows = data.draw(st.integers(20, 40))
    days = st.dates(date(1900, 1, 1))
    forms = ["%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%d %b %Y", "%Y%m%d"]
    form = data.draw(st.sampled_from(forms))
    dates = data.draw(st.lists(days, min_size=rows, max_size=rows))
    frame = pl.DataFrame(
        {
            "admission_date": [day.strftime(form) for day in dates],
            "zip": data.draw(st.lists(st.integers(0, 99_999), min_size=rows, max_size=rows)),
            "age": data.draw(st.lists(st.integers(0, 130), min_size=rows, max_size=rows)),
        }
    )
    result = shoal.safe_harbor(frame, year_of_data=2012, date_order="dmy", century_from=1930)
    out = result.frame
    if "admission_date" in out.columns:
        years = {str(value) for value in out["admission_date"].to_list()}
        assert years <= {"90+"} | {str(year) for year in range(1923, 10_000)}
    if "zip" in out.columns:
        assert set(out["zip"].to_list()) <= shipped().kept | {"000"}
    if "age" in out.columns:
        assert all(value is None or value == "90+" or int(value) <= 89 for value in out["age"].to_list())
