"""Every column is decided before it leaves: by the policy or by options; detection alone decides only `other`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.group import app
from shoal.detection.undecided import Decisions, UndecidedColumn, look_at
from shoal.errors import InputError
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.manifest import manifest_path
from shoal.storage.reading import read

ROWS = 120
POINTING = {"ssn": "identifier", "mail": "identifier", "remark": "identifier", "born": "quasi-identifier"}
HARMLESS = ["ward", "points"]


def people(rows: int = ROWS) -> pl.DataFrame:
    """Columns that point at people, whatever detection calls them, and some that do not."""
    draw = np.random.default_rng(5)
    words = ["came back", "was seen at home", "asked for help", "felt better today", "slept badly again"]
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "sex": draw.choice(["f", "m"], rows),
            "ssn": [f"{area}-{10 + row % 89}-{1000 + row}" for row, area in enumerate(draw.integers(100, 600, rows))],
            "mail": [f"person{row}@example.org" for row in range(rows)],
            "remark": [f"patient {row} {' and '.join(draw.choice(words, 3))}" for row in range(rows)],
            "born": [f"19{50 + row % 40}-0{1 + row % 9}-1{row % 9}" for row in range(rows)],
            "ward": draw.choice(["A", "B", "C"], rows),
            "points": draw.integers(0, 9, rows),
            "charge": draw.integers(100, 140, rows),
        }
    )


def anonymized(frame: pl.DataFrame, **more: Any) -> Any:
    how = {"quasi_identifiers": ["age", "sex"], "sensitive": "charge", "k": 3, "method": "mondrian"}
    return shoal.anonymize(frame, **{**how, **more})


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments), catch_exceptions=True)


@pytest.mark.parametrize("column", list(POINTING))
def test_a_column_that_points_at_people_stops_the_release(tmp_path: Path, column: str) -> None:
    frame = people().select("age", "sex", "charge", "ward", "points", column)
    result = anonymized(frame)
    assert result.verdict == "undecided"
    assert f"cannot be released until {column} is decided" in result.summary()
    assert {entry.column: entry.looks_like for entry in result.decisions.stopping} == {column: POINTING[column]}
    with pytest.raises(shoal.Refused, match=f"--decide {column}={POINTING[column]}") as refused:
        shoal.release(result, tmp_path / "safe.csv")
    assert refused.value.exit_code == 1
    assert not list(tmp_path.iterdir())
    assert frame[column][3] not in str(refused.value)
    for role in ("identifier", "other", "sensitive"):
        made = shoal.release(result, tmp_path / f"{role}.csv", decide={column: role})
        assert (column in pl.read_csv(made.output).columns) == (role != "identifier")
        assert shoal.verify(made.output, original=frame).verdict == "holds"


def test_harmless_columns_leave_and_are_named(tmp_path: Path) -> None:
    frame = people().select("age", "sex", "charge", *HARMLESS)
    result = anonymized(frame)
    assert (result.verdict, result.decisions.stopping) == ("holds", [])
    made = shoal.release(result, tmp_path / "safe.csv")
    assert made.undecided == HARMLESS
    manifest = shoal.Release.open(made.output).manifest
    assert manifest.undecided == HARMLESS
    assert {column.role for column in manifest.columns if column.name in HARMLESS} == {"other"}
    assert any("nobody decided on ward and points" in str(section) for section in result.sections())


def test_decide_is_a_role_like_any_other(tmp_path: Path) -> None:
    decide = {"ssn": "identifier", "mail": "identifier", "remark": "identifier", "born": "quasi-identifier"}
    result = anonymized(people(), decide=decide)
    assert result.verdict == "holds"
    assert sorted(result.policy.quasi_identifiers) == ["age", "born", "sex"]
    made = shoal.release(result, tmp_path / "safe.csv")
    assert pl.read_csv(made.output).columns == ["age", "sex", "born", "ward", "points", "charge"]
    assert shoal.verify(made.output, original=people()).k >= 3
    again = anonymized(people(), policy=Policy(columns=decide))  # type: ignore[arg-type]
    assert again.decisions.stopping[0].column == "born"  # quasi_identifiers beside a policy replace its own


@pytest.mark.parametrize(
    ("decide", "message"),
    [
        ({"age": "other"}, "stands in `quasi_identifiers` and is decided as other"),
        ({"charge": "identifier"}, "stands in `sensitive`"),
        ({"nothing": "other"}, "nothing"),
        ({"ssn": "secret"}, "not known"),
    ],
)
def test_decisions_that_make_no_sense(decide: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        anonymized(people(), decide=decide)


def test_a_quasi_identifier_is_decided_before_not_after(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="when you anonymise"):
        shoal.release(anonymized(people()), tmp_path / "x.csv", decide={"born": "quasi-identifier"})
    with pytest.raises(InputError, match="when you anonymise"):
        shoal.release(anonymized(people()), tmp_path / "x.csv", decide={"age": "other"})


def test_the_command(tmp_path: Path) -> None:
    source, target = tmp_path / "people.csv", tmp_path / "safe.csv"
    people().write_csv(source)
    ask = ["anonymize", str(source), "-o", str(target), "--qi", "age,sex", "-k", "3", "--method", "mondrian"]
    ask += ["--sensitive", "charge"]
    refused = run(*ask, "--json")
    assert refused.exit_code == 1
    found = json.loads(refused.stdout)
    assert (found["verdict"], found["written"]) == ("refused", 0)
    assert [entry["column"] for entry in found["undecided_columns"] if entry["stops"]] == list(POINTING)
    assert not target.exists()
    done = run(*ask, "--decide", "ssn=identifier,mail=identifier", "--decide", "remark=identifier,born=other", "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["verdict"] == "holds"
    assert run(*ask, "--decide", "ssn=secret").exit_code != 0


def test_a_plan_meets_a_column_that_it_does_not_know(tmp_path: Path) -> None:
    frame = people().select("age", "sex", "charge")
    plan = anonymized(frame, method="lattice").plan
    new = people().select("age", "sex", "charge", "mail")
    result = shoal.apply_plan(new, plan=plan)
    assert result.verdict == "undecided"
    with pytest.raises(shoal.Refused, match="mail"):
        shoal.release(result, tmp_path / "x.csv")
    assert shoal.apply_plan(new, plan=plan, decide={"mail": "identifier"}).verdict == "holds"
    with pytest.raises(InputError, match="quasi-identifiers are fixed"):
        shoal.apply_plan(new, plan=plan, decide={"mail": "quasi-identifier"})


def test_perturbation_decides_on_what_it_changes(tmp_path: Path) -> None:
    frame = people().select("age", "charge", "mail")
    result = shoal.perturb(frame, noise={"age": 0.1}, seed=1)
    assert [entry.column for entry in result.undecided_columns if entry.stops] == ["mail"]
    assert "cannot be released until mail is decided" in result.summary()
    with pytest.raises(shoal.Refused, match="mail"):
        shoal.release(result, tmp_path / "x.csv", no_guarantee=True)
    made = shoal.release(result, tmp_path / "x.csv", no_guarantee=True, decide={"mail": "identifier"})
    assert shoal.verify(made.output, original=frame).verdict == "holds"


def test_verify_looks_again(tmp_path: Path) -> None:
    frame = people().select("age", "sex", "charge", "ward")
    path = shoal.release(anonymized(frame), tmp_path / "safe.csv").output
    roles: Any = {"age": "quasi-identifier", "sex": "quasi-identifier", "charge": "sensitive"}
    policy = Policy(columns=roles, models=[KAnonymity(k=3)])
    assert shoal.verify(path, policy).verdict == "holds"
    released = pl.read_csv(path)
    more = released.with_columns(people()["mail"])
    checks = {check.name: check for check in shoal.verify(more, policy).checks}
    assert not checks["undecided columns"].holds
    assert "mail looks like an identifier (email)" in checks["undecided columns"].detail
    # the manifest's hash, counts and columns made to fit
    changed = released.with_columns(people()["mail"].alias("ward"))
    changed.write_csv(path)
    manifest = json.loads(manifest_path(path).read_text())
    manifest["data_sha256"] = __import__("hashlib").sha256(path.read_bytes()).hexdigest()
    manifest_path(path).write_text(json.dumps(manifest))
    checks = {check.name: check for check in shoal.verify(path).checks}
    assert not checks["undecided columns"].holds


def test_a_manifest_that_claims_a_decision_contradicts_itself(tmp_path: Path) -> None:
    path = shoal.release(anonymized(people().select("age", "sex", "charge", "ward")), tmp_path / "safe.csv").output
    manifest = json.loads(manifest_path(path).read_text())
    next(entry for entry in manifest["columns"] if entry["name"] == "ward")["decided_by"] = "policy"
    manifest_path(path).write_text(json.dumps(manifest))
    assert not next(check for check in shoal.verify(path).checks if check.name == "manifest").holds


def test_what_leaves_by_decision_is_warned_about(tmp_path: Path) -> None:
    frame = (
        people()
        .select("age", "sex", "charge")
        .with_columns(
            decade=pl.col("age").cast(pl.String) + "y",  # tells the age
            number=pl.Series(np.arange(ROWS) * 1.5),  # a value of one's own
        )
    )
    result = anonymized(frame, decide={"decade": "other", "number": "other"})
    assert result.verdict == "holds"
    notes = [
        "decade leaves as it is, and whoever knows it knows age",
        "number leaves as it is, and nearly every record has a value of its own there",
    ]
    assert result.decisions.notes == notes
    made = shoal.release(result, tmp_path / "safe.csv")
    assert made.notes == shoal.Release.open(made.output).manifest.notes == notes
    assert all(note in str(result.sections()) for note in notes)


def test_safe_harbor_decides_by_itself(tmp_path: Path) -> None:
    from shoal.releases.jobs import release_safe_harbor

    source = tmp_path / "people.csv"
    people().select("age", "sex", "ssn", "ward").write_csv(source)
    found = release_safe_harbor(source, output=tmp_path / "safe.csv")
    assert found.verdict == "holds"
    assert shoal.verify(tmp_path / "safe.csv").verdict == "holds"


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_sample_of_many_values_says_the_same(share: float) -> None:
    rows = 60_000
    cells = [f"p{row}@example.org" if row < share * rows else "x@example.org" for row in range(rows)]
    found = look_at(read({"c": cells})["c"], rows)
    assert (found.kind, found.stops) == ("email", True)


def test_names_with_commas_stand_in_quotes() -> None:
    entry = UndecidedColumn("a,b", "identifier", None, 0.8, "Every record has a value of its own.", True)
    assert "--decide '\"a,b=identifier\"'" in Decisions([entry]).refusal()


@pytest.mark.parametrize(
    "text", ["call 617-555-0172", "ann@example.org", "seen on 1/4/2012", "SSN 536-90-4399", "see http://a.org/x"]
)
def test_an_identifier_in_one_cell_among_many_stops_a_column(text: str, tmp_path: Path) -> None:
    """A stranger let 59 notes with names and phones out: the column was not mostly prose."""
    frame = pl.DataFrame({"age": [30] * 100 + [40] * 100, "note": ["stable", "better"] * 99 + [text, "worse"]})
    made = shoal.anonymize(frame, quasi_identifiers=["age"], k=2, method="sorted-clusters")
    assert made.verdict == "undecided"
    with pytest.raises(shoal.Refused, match="note"):
        shoal.release(made, tmp_path / "safe.csv")
    decided = shoal.anonymize(frame, quasi_identifiers=["age"], k=2, method="sorted-clusters", decide={"note": "other"})
    assert decided.verdict == "holds"


def test_identifiers_that_repeat_are_pointed_out() -> None:
    frame = pl.DataFrame({"age": [30] * 30, "mrn": [f"M{number % 12:05}" for number in range(30)]})
    made = shoal.anonymize(
        frame, quasi_identifiers=["age"], k=2, method="sorted-clusters", decide={"mrn": "identifier"}
    )
    assert any("mrn repeat" in note and "`person`" in note for note in made.to_dict()["notes"])


def notes_of(columns: dict[str, Any], roles: dict[str, str], **more: Any) -> list[str]:
    rules = {"columns": roles, "models": [{"model": "k-anonymity", "k": 2}], **more}
    return list(shoal.anonymize(pl.DataFrame(columns), rules, method="mondrian").to_dict()["notes"])


def test_texts_that_are_something_else_are_pointed_out() -> None:
    columns = {
        "admitted": ["03/14/2021", "12/01/2020"] * 20,
        "age": ["under 5", "5-9", "10+", "5-9"] * 10,
        "sex": ["F", "female", "M", "male"] * 10,
        "job": ["clerk", "monk"] * 20,
    }
    roles = dict.fromkeys(columns, "quasi-identifier")
    notes = notes_of(columns, roles)
    assert [note.split(":")[0] for note in notes] == [
        "admitted looks like dates written %m/%d/%Y",
        "age looks like bands that can be joined",
        "sex has values that are spelled in several ways, which `map` joins",
    ]
    types = {"admitted": "date", "age": "band", "sex": {"type": "nominal", "map": {"F": "female", "M": "male"}}}
    assert notes_of(columns, roles, types=types) == []


def test_weights_households_and_dates_are_told_apart() -> None:
    columns = {
        "sex": ["f", "m"] * 20,
        "fnlwgt": [1000 + n % 7 for n in range(40)],
        "ori_hid": [n // 4 for n in range(40)],
        "born": ["1950-02-01", "1960-07-09"] * 20,
        "pay": [1000.5 + n for n in range(40)],
    }
    roles = {"sex": "quasi-identifier", "fnlwgt": "other", "ori_hid": "identifier", "born": "identifier"}
    notes = notes_of(columns, {**roles, "pay": "sensitive"})
    assert any(note.startswith("fnlwgt looks like sampling weights") for note in notes)
    assert any(note.startswith("ori_hid repeats") and "`household`" in note for note in notes)
    assert any(note.startswith("pay leaves as it is, and nearly every record") for note in notes)
    assert not any("born" in note or "`person`" in note for note in notes)
    assert not any("fnlwgt looks" in note for note in notes_of(columns, {**roles, "pay": "other"}, weight="fnlwgt"))
