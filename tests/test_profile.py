"""The profile: proposed roles with reasons, and the policy that starts from them."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.policy import Policy


@pytest.fixture
def people() -> pl.DataFrame:
    rows = 40
    return pl.DataFrame(
        {
            "email": [f"person{row}@example.org" for row in range(rows)],
            "serial": [10_000 + 7 * row for row in range(rows)],
            "age": [20 + row % 30 for row in range(rows)],
            "diagnosis": ["asthma", "influenza"] * 20,
            "weird: column": ["x", None] * 20,
            "measure": [row * 1.37 for row in range(rows)],
        }
    )


def test_roles_are_proposed_with_reasons(people: pl.DataFrame) -> None:
    found = {column.name: column for column in shoal.profile(people).columns}
    assert {name: column.role for name, column in found.items()} == {
        "email": "identifier",
        "serial": "identifier",
        "age": "quasi-identifier",
        "diagnosis": "sensitive",
        "weird: column": "other",
        "measure": "other",
    }
    assert found["email"].kind == "email"
    assert found["email"].confidence > 0.9
    assert found["weird: column"].confidence == 0
    assert all(column.reasons for column in found.values())
    text = repr(found)
    assert "person1" not in text
    assert "asthma" not in text


def test_codes_of_persons_who_come_again_are_no_other() -> None:
    codes = [f"Q{index * 7919 % 100_000:07d}" for index in range(200)]
    for repeats, confidence in ((1, 0.8), (2, 0.4), (4, 0.4)):
        found = shoal.profile(pl.DataFrame({"zzz": codes * repeats})).columns[0]
        assert (found.role, found.confidence) == ("identifier", confidence)
    nearly = shoal.profile(pl.DataFrame({"zzz": [*codes, *codes[:4]]})).columns[0]
    assert (nearly.role, nearly.confidence) == ("identifier", 0.6)
    words = shoal.profile(pl.DataFrame({"zzz": ["alpha-one", "beta-two"] * 100})).columns[0]
    assert words.role == "other"


def test_a_policy_starts_from_a_profile(people: pl.DataFrame, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(shoal.profile(people).policy_text())
    policy = shoal.load_policy(path)
    proposed = {column.name: column.role for column in shoal.profile(people).columns}
    assert policy.columns == {**proposed, "measure": "quasi-identifier"}  # exact amounts of one column leave as ranges
    assert shoal.risk(people, policy=policy).quasi_identifiers == ["age", "measure"]


def test_a_policy_decides_over_proposals(people: pl.DataFrame) -> None:
    found = shoal.profile(people, columns=["age"], policy=Policy(columns={"age": "sensitive"})).columns[0]
    assert (found.role, found.confidence) == ("sensitive", 1.0)
    assert found.reasons[0] == "Decided in the policy."


def test_headers_cannot_break_out_of_the_policy_file(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age\nmodels: [x]": [1, 2], "#c": ["a", "b"], "yes": [1, 2], "12": [1, 1], "é: [": [0, 1]})
    path = tmp_path / "policy.yaml"
    path.write_text(shoal.profile(frame).policy_text())
    assert list(shoal.load_policy(path).columns) == frame.columns


def test_empty_and_single_columns() -> None:
    frame = pl.DataFrame({"none": pl.Series([None, None], dtype=pl.Null), "one": [1, 1]})
    found = shoal.profile(frame).columns
    assert [(column.type, column.nulls, column.distinct, column.role) for column in found] == [
        ("empty", 2, 0, "other"),
        ("integer", 0, 1, "other"),
    ]
