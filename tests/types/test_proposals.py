"""What `profile` takes a column for, with its reason, and the policy that it writes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import shoal
from shoal.detection.profile import profile
from shoal.storage.reading import Options

CHANCE = random.Random(5)


def drawn(values: list[Any], rows: int = 200) -> list[Any]:
    return [*values, *(CHANCE.choice(values) for _ in range(rows - len(values)))]


def proposed(name: str, values: list[Any]) -> Any:
    return profile(pl.DataFrame({name: values})).columns[0]


@pytest.mark.parametrize(
    ("name", "values", "word", "settings"),
    [
        ("seen", ["03/14/2021", "12/01/2020"], "date", {"format": ("%m/%d/%Y",)}),
        ("seen", ["14.03.2021", "NA", "01.12.2020"], "date", {"format": ("%d.%m.%Y",)}),
        ("paid", ["1.234,50", "12,75"], "number", {"decimal": ",", "thousands": ".", "places": 2}),
        ("paid", ["1,234,567", "12"], "number", {"thousands": ","}),
        ("roof", [1, 2, 4, 9], "nominal", {}),
        ("race", [1, 2, 3], "nominal", {}),
        ("children", [0, 1, 2, 3], "number", {}),
        ("age", [18, 19, 20, 21], "number", {}),
        ("hours_per_week", [10, 20, 40], "number", {}),
        ("smoker", ["yes", "no"], "boolean", {}),
        ("flag_x", [0, 1], "boolean", {}),
        ("pain", ["mild", "none", "severe", "moderate"], "ordered", {"order": ("none", "mild", "moderate", "severe")}),
        ("answer", ["Often", "never", "Always"], "ordered", {"order": ("never", "Often", "Always")}),
        ("age", ["20-29", "90+", "under 20", "30-89"], "band", {"order": ("under 20", "20-29", "30-89", "90+")}),
        ("age", ["0-17", "16-24", "25+"], "nominal", {}),
        ("sex", ["F", "M", "female", "male"], "nominal", {"map": {"F": "female", "M": "male"}}),
        ("town", ["Rome", "rome", "Lyon"], "nominal", {"map": None}),
        ("zip", ["00501", "10001", "93701"], "code", {"digits": 5}),
        ("job", ["clerk", "monk", "poet"], "nominal", {}),
    ],
)
def test_a_type_is_proposed_with_its_reason(name: str, values: list[Any], word: str, settings: dict[str, Any]) -> None:
    column = proposed(name, drawn(values))
    assert column.proposed_type == word
    assert column.declaration is not None
    for setting, value in settings.items():
        found = getattr(column.declaration, setting)
        assert (bool(found) and len(found) == 1) if value is None else found == value
    assert column.type_reason or word == "number"
    shown = str({key: value for key, value in column.__class__.__dict__.items() if key == "type_reason"})
    assert not any(str(value) in shown for value in values if len(str(value)) > 2)


def test_what_only_the_owner_knows_is_a_question() -> None:
    dates = proposed("seen", drawn(["03/04/2021", "05/06/2021"]))
    assert dates.proposed_type is None
    assert "which number is the month" in dates.type_reason
    assert "format" in dates.type_reason
    numbers = proposed("paid", drawn(["1.234", "5.678", "12.345", "99.100"] * 3))
    assert numbers.type == "number" or "a thousand" in numbers.type_reason


def test_codes_with_points_are_no_numbers() -> None:
    assert proposed("diagnosis", drawn(["250.1", "250.10", "401.9"])).proposed_type == "nominal"


def test_amounts_that_happen_to_be_unique_are_no_identifiers() -> None:
    amounts = [1_000 + 37 * n for n in range(300)]
    for name in ("income", "expend_total", "charge", "savings"):
        assert proposed(name, amounts).role != "identifier"
    assert proposed("patient_no", amounts).role == "identifier"
    options = Options(types={"x": "number"})
    assert profile(pl.DataFrame({"x": amounts}), options=options).columns[0].role != "identifier"
    assert profile(pl.DataFrame({"x": amounts})).columns[0].role == "identifier"


@pytest.mark.parametrize(
    ("name", "values", "weights"),
    [
        ("sampling_weight", [100.0, 250.5, 3.2], True),
        ("household_weights", [16.7, 25.0, 33.3], True),
        ("fnlwgt", [77516, 83311, 215646], True),
        ("weight", [61.5, 80.2, 110.0], False),
        ("weight", [610.5, 8020.2, 1100.0], True),
        ("birth_weight", [2800, 3500, 4100], False),
        ("pweight", [-1.0, 4.0], False),
    ],
)
def test_weights_are_recognised_as_weights(name: str, values: list[float], weights: bool) -> None:
    found = profile(pl.DataFrame({name: drawn(values)}))
    assert found.columns[0].weights is weights
    assert (f"weight: {name}" in found.policy_text()) is weights
    if weights:
        assert found.columns[0].role == "other"
        assert f"name them in the policy (weight: {name})" in str(found.sections())


def test_the_written_policy_is_read_again_and_runs(tmp_path: Path) -> None:
    people = pl.DataFrame(
        {
            "age": drawn(["20-29", "30-39", "40-64", "65+"]),
            "admitted": drawn(["03/14/2021", "12/01/2020", "07/30/2021"]),
            "sex": drawn(["F", "M", "female", "male"]),
            "roof": drawn([1, 2, 4, 9]),
            "education": drawn(["primary", "secondary", "tertiary"]),
            "paid": drawn(["1.234,50", "12,75"]),
        }
    )
    source, rules = tmp_path / "in.csv", tmp_path / "policy.yaml"
    people.write_csv(source)
    found = profile(source, write_policy=rules)
    policy = shoal.load_policy(rules)
    assert {name: kind.type for name, kind in policy.types.items()} == {
        "age": "band",
        "admitted": "date",
        "sex": "nominal",
        "roof": "nominal",
        "education": "ordered",
        "paid": "number",
    }
    assert yaml.safe_load(rules.read_text())["types"]["paid"] == {
        "type": "number",
        "decimal": ",",
        "thousands": ".",
        "places": 2,
    }
    text = str(found.to_dict())
    assert "20-29" not in text
    assert "1.234,50" not in text
    result = shoal.anonymize(source, rules, k=3)
    assert result.verdict == "holds"
    assert set(result.frame["sex"].to_list()) <= {"female", "male", "*", "[female, male]"}


def test_what_is_declared_is_not_proposed_anew() -> None:
    frame = pl.DataFrame({"roof": drawn([1, 2, 4, 9])})
    found = profile(frame, options=Options(types={"roof": "number"})).columns[0]
    assert (found.proposed_type, found.type_reason) == ("number", "Declared.")


def test_two_answers_beside_na_are_boolean_with_na_missing(tmp_path: Path) -> None:
    frame = pl.DataFrame({"smoker": ["yes", "no", "NA"] * 20, "sex": ["f", "m"] * 30})
    path = tmp_path / "policy.yaml"
    found = shoal.profile(frame, write_policy=path)
    assert found.columns[0].declaration is not None
    assert found.columns[0].declaration.to_short() == {"type": "boolean", "missing": ["NA"]}
    assert shoal.anonymize(frame, path, method="mondrian").verdict == "holds"


def test_sums_are_not_identifiers_because_all_differ() -> None:
    odd = [17 * n * n + 3 for n in range(1, 61)]
    frame = pl.DataFrame({"ROADTAX": odd, "QTOTVAL": odd[::-1], "zzz": odd, "taxval": range(1000, 1060)})
    roles = {column.name: column.role for column in shoal.profile(frame).columns}
    assert roles == {"ROADTAX": "other", "QTOTVAL": "other", "zzz": "identifier", "taxval": "identifier"}
    survey = shoal.profile(frame.rename({"ROADTAX": "FEDTAX", "QTOTVAL": "PTOTVAL"}))  # its own names for incomes
    assert {column.role for column in survey.columns if column.name in {"FEDTAX", "PTOTVAL"}} == {"sensitive"}


def test_a_policy_without_a_quasi_identifier_says_so_when_it_is_written(tmp_path: Path) -> None:
    frame = pl.DataFrame({"FEDTAX": [17 * n * n for n in range(60)]})
    assert "quasi-identifier" in shoal.profile(frame, write_policy=tmp_path / "p.yaml").notes[-1]
    assert not shoal.profile(frame).notes


def test_dates_are_not_offered_as_persons() -> None:
    frame = pl.DataFrame({"mrn": [f"A{n // 3:05d}X" for n in range(60)], "born": ["1950-02-01", "1960-07-09"] * 30})
    rules = {"columns": {"mrn": "other", "born": "identifier"}}
    text = shoal.profile(frame.with_columns(pl.col("born").str.to_date()), policy=rules).policy_text()  # type: ignore[arg-type]
    assert "person: born" not in text
