"""A column with the role `text` is scrubbed by every verb that releases a table; otherwise free text does not leave."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.releases.jobs import release_safe_harbor
from shoal.text.tags import only_replaced

PEOPLE = ["Ann Okonkwo", "Rose Quindlen", "Bob Zanetti"]
NOTES = ["okonkwo came with a cough, see b.c@d.org", "Quindlen's cough is better today", "ZANETTI, B. has fever again"]
TABLE = {
    "name": PEOPLE * 20,
    "age": [30, 31, 32, 40, 41, 42] * 10,
    "sex": ["f", "m"] * 30,
    "note": [f"{note} ({number})" for number, note in enumerate(NOTES * 20)],
}
ROLES = {"name": "identifier", "age": "quasi-identifier", "sex": "other", "note": "text"}
RULES = {"columns": ROLES, "models": [{"model": "k-anonymity", "k": 5}]}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pl.DataFrame(TABLE).write_parquet(path)
    return path


def left(texts: list[str]) -> list[str]:
    return [word for word in ("okonkwo", "quindlen", "zanetti", "b.c@d") if any(word in text.lower() for text in texts)]


def test_anonymize_scrubs_what_the_policy_calls_text(people: Path, tmp_path: Path) -> None:
    result = shoal.anonymize(people, shoal.Policy.model_validate(RULES))
    assert result.verdict == "holds"
    assert left(result.frame["note"].to_list()) == []
    assert result.frame["note"][1].startswith("[NAME]'s cough")
    out = tmp_path / "safe.csv"
    shoal.release(result, out, shuffle=True)
    verdict = shoal.verify(out, original=people)
    assert verdict.verdict == "holds", verdict.checks
    manifest = json.loads((tmp_path / "safe.manifest.json").read_text())
    assert manifest["findings"]["scrubbed"]["columns"]["note"]["spans"] == {"name": 60, "email": 20}
    entry = next(column for column in manifest["columns"] if column["name"] == "note")
    assert (entry["role"], entry["form"]["kind"], entry["technique"]) == ("text", "scrubbed", "scrub by tag")
    assert left([path.read_text() for path in tmp_path.glob("safe*")]) == []


def test_text_that_nobody_decided_on_does_not_leave(people: Path) -> None:
    without = {name: role for name, role in ROLES.items() if name != "note"}
    assert shoal.anonymize(people, shoal.Policy.model_validate({**RULES, "columns": without})).verdict == "undecided"


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_notes_that_hold_identifiers_and_leave_are_warned_about(people: Path, role: str) -> None:
    columns = {**ROLES, "note": role}
    result = shoal.anonymize(people, shoal.Policy.model_validate({**RULES, "columns": columns}))
    said = "note leaves as it is, and holds values of name in 60 of 60 records looked at: with the role text"
    assert any(note.startswith(said) for note in result.decisions.notes), result.decisions.notes
    assert not left(result.decisions.notes)
    scrubbed = shoal.anonymize(people, shoal.Policy.model_validate(RULES))
    assert not any("holds values of" in note for note in scrubbed.decisions.notes)


def test_the_section_says_how(people: Path) -> None:
    kin = {**TABLE, "mother": ["Ife Adeyemi"] * 60, "note": [f"adeyemi asks; {note}" for note in TABLE["note"]]}
    columns = {**ROLES, "mother": "other"}
    policy = shoal.Policy.model_validate(
        {**RULES, "columns": columns, "text": {"replace": "mask", "known": ["mother"]}}
    )
    notes = shoal.anonymize(kin, policy).frame["note"].to_list()
    assert "***" in notes[0]
    assert left(notes) == []  # identifiers are looked for whatever the section names
    assert not any("adeyemi" in note for note in notes)
    nothing = shoal.Policy.model_validate({**RULES, "text": {"known": []}})
    assert left(shoal.anonymize(people, nothing).frame["note"].to_list()) == []
    with pytest.raises(shoal.InputError, match="has no column"):
        shoal.anonymize(people, shoal.Policy.model_validate({**RULES, "text": {"known": ["nobody"]}}))
    with pytest.raises(ValueError, match="replace"):
        shoal.Policy.model_validate({"text": {"replace": "surrogate"}})


def test_safe_harbor_scrubs_what_the_policy_calls_text(people: Path, tmp_path: Path) -> None:
    out = tmp_path / "harbor.csv"
    result = release_safe_harbor(
        people, policy=shoal.Policy(columns={"name": "identifier", "note": "text"}), output=out
    )
    assert result.verdict == "holds", result.reason
    written = pl.read_csv(out)
    assert "note" in written.columns
    assert left(written["note"].to_list()) == []
    assert {clause.clause for clause in result.clauses if "note" in clause.columns} >= {"A", "F"}
    assert shoal.verify(out, original=people).verdict == "holds"
    assert "note" not in shoal.safe_harbor(people).frame.columns


def test_profile_says_what_is_inside(people: Path) -> None:
    found = {column.name: column for column in shoal.profile(people).columns}
    assert found["note"].kinds_inside is not None
    assert found["note"].kinds_inside["email"] == 20
    assert found["note"].records_searched == 60
    assert found["sex"].kinds_inside is None


@pytest.mark.parametrize(
    ("shown", "original", "mark", "good"),
    [
        ("a [NAME] b", "a Rose b", "tag", True),
        ("a [NAME] b [DATE]", "a Rose b 3 May", "tag", True),
        ("a [NAME] c", "a Rose b", "tag", False),
        ("b [NAME]", "a b Rose", "tag", False),
        ("a *** b", "a Rose b", "mask", True),
        ("a *** b ***", "a Rose", "mask", False),
        (None, "a", "tag", True),
        ("a", None, "tag", False),
        ("[NAME][NAME]", "R", "tag", True),
    ],
)
def test_what_stands_between_tags_is_the_original(
    shown: str | None, original: str | None, mark: str, good: bool
) -> None:
    assert only_replaced(shown, original, mark) is good


def test_the_report_says_what_was_replaced() -> None:
    from shoal.methods.scrubbing.scrub import scrubbed_text
    from shoal.reports.chapters.change import scrubbed_sections

    table = shoal.read(pl.DataFrame(TABLE))
    made = scrubbed_text(table, shoal.Policy.model_validate(RULES))
    assert made is not None
    grid, notes = scrubbed_sections(made.in_public())
    assert ("note", "email", "20", "20") in [tuple(row) for row in grid.rows]  # type: ignore[union-attr]
    assert "rules and lists" in notes.notes[0]  # type: ignore[union-attr]
