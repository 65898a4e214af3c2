"""The verb: what was planted never survives, in the output, the manifest, a log, an error or a repr."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.cli.group import app
from shoal.releases.jobs import release_scrubbed
from shoal.text.tags import TAG

KEY = bytes(range(32))
VISITS = {
    "patient": ["p-0001", "p-0001", "p-0002", "p-0003"],
    "name": ["Rose Quindlen", "Rose Quindlen", "Jürgen Müller", "Ann Okonkwo"],
    "mrn": ["00123456", "00123456", "00777123", "00999888"],
    "dob": ["1954-03-17", "1954-03-17", "1961-11-02", "1980-01-05"],
    "phone": ["(559) 555-0182", "(559) 555-0182", "+49 30 1234567", None],
    "age": [70, 70, 63, 44],
    "note": [
        "Mrs QUINDLEN, R. born 17 March 1954 (MRN 001-23456) called from 559.555.0182; brown sputum.",
        "Rose's cough is better. R.Q. and Rose Quindlens mother agree.",
        "Herr Mueller, geb. am 2. November 1961, Tel. 030/1234567. Müllers Tochter rief an.",
        None,
    ],
}
KNOWN = ["name", "mrn", "dob", "phone"]
SECRETS = [
    "QUINDLEN",
    "Quindlen",
    "Rose",
    "R.Q.",
    "March 1954",
    "23456",
    "0182",
    "Mueller",
    "Müller",
    "1961",
    "1234567",
]


def scrubbed(**settings: Any) -> shoal.ScrubResult:
    return shoal.scrub(pl.DataFrame(VISITS), text="note", known=KNOWN, person="patient", **settings)


def test_known_values_are_gone_and_the_rest_stays() -> None:
    done = scrubbed()
    assert done.frame["note"].to_list() == [
        "Mrs [NAME] born [DATE] (MRN [RECORD_NUMBER]) called from [PHONE]; brown sputum.",
        "[NAME]'s cough is better. [NAME] and [NAME] mother agree.",
        "Herr [NAME], geb. am [DATE], Tel. [PHONE]. [NAME] Tochter rief an.",
        None,
    ]
    assert done.frame.columns == ["age", "note"]
    assert (done.notes, done.changed, done.known_found) == (3, 3, 11)
    assert done.spans == {"name": 6, "date": 2, "phone": 2, "record_number": 1}
    assert "rules and lists" in done.cannot_find


def test_rows_of_a_person_share_what_is_known() -> None:
    frame = pl.DataFrame({"who": [1, 1], "name": ["Ann Quindlen", None], "note": ["fine", "quindlen called"]})
    assert shoal.scrub(frame, text="note", known="name", person="who").frame["note"][1] == "[NAME] called"
    assert shoal.scrub(frame, text="note", known="name").frame["note"][1] == "quindlen called"


def test_masks_tell_neither_kind_nor_length() -> None:
    notes = scrubbed(replace="mask").frame["note"].to_list()
    assert notes[1] == "***'s cough is better. *** and *** mother agree."


def test_scrubbing_twice_changes_nothing() -> None:
    once = scrubbed().frame
    again = shoal.scrub(once, text="note")
    assert (again.changed, again.spans) == (0, {})
    assert again.frame.equals(once)


def test_the_release_is_verified_and_a_changed_file_is_refused(tmp_path: Path) -> None:
    source, out, places = tmp_path / "visits.parquet", tmp_path / "clean.parquet", tmp_path / "places.csv"
    pl.DataFrame(VISITS).write_parquet(source)
    result = release_scrubbed(source, text="note", known=KNOWN, person="patient", output=out, spans_out=places)
    assert result.output == str(out)
    written = "".join(path.read_text(errors="replace") for path in tmp_path.glob("clean*") if path != out)
    assert not any(secret in written for secret in SECRETS)
    assert shoal.verify(out).verdict == "holds"
    against = shoal.verify(out, original=source)
    assert against.verdict == "holds"
    assert {check.name for check in against.checks} >= {"known values", "column note", "scrubbed text note"}
    changed = pl.read_parquet(out).with_columns(pl.lit("Ann Okonkwo called a.b@c.org").alias("note"))
    changed.write_parquet(out)
    verdict = shoal.verify(out, original=source)
    assert verdict.verdict == "refused"
    failed = {check.name for check in verdict.checks if not check.holds}
    assert {"data hash", "scrubbed text note", "known values", "column note"} <= failed
    assert "Okonkwo" not in str(verdict.to_dict())


def test_verify_finds_what_the_search_of_scrubbing_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tmp_path / "visits.csv", tmp_path / "clean.csv"
    notes = ["saw emma stone", "maria de la cruz called", "all well"]
    pl.DataFrame({"name": ["Emma Stone", "Maria de la Cruz", "Ann Okonkwo"], "note": notes}).write_csv(source)
    release_scrubbed(source, text="note", known="name", output=out)
    assert pl.read_csv(out)["note"].to_list() == ["saw [NAME]", "[NAME] called", "all well"]
    assert shoal.verify(out, original=source).verdict == "holds"
    pl.DataFrame({"note": notes}).write_csv(out)
    monkeypatch.setattr("shoal.releases.scrubbed_notes.find_known", lambda text, known: [])
    checks = {check.name: check for check in shoal.verify(out, original=source).checks}
    assert not checks["known values"].holds
    assert checks["known values"].detail.startswith("2 notes")


@pytest.mark.parametrize(
    ("name", "note", "detail"),
    [
        ("Rosalind Quindlen", "Quindlen2 was seen; user quindlen7 wrote; QUINDLEN1954 too.", "all gone"),
        ("Hope, Mark", "Mark doing well", "all gone"),
        ("Will May", "Will doing well", "all gone, but 1 note starts a sentence with a word that is a name"),
    ],
)
def test_a_name_leaves_neither_with_digits_nor_as_a_word_and_a_doubt_is_told(
    tmp_path: Path, name: str, note: str, detail: str
) -> None:
    source, out = tmp_path / "visits.csv", tmp_path / "clean.csv"
    pl.DataFrame({"name": [name, "Ann Okonkwo"], "note": [note, "stable today"]}).write_csv(source)
    release_scrubbed(source, text="note", known="name", output=out)
    written = pl.read_csv(out)["note"][0].lower()
    assert not {"quindlen", "mark", "hope"} & set(re.split("[^a-z]+", written))
    check = next(check for check in shoal.verify(out, original=source).checks if check.name == "known values")
    assert check.holds
    assert check.detail.startswith(detail)
    pl.DataFrame({"note": [note, "stable today"]}).write_csv(out)
    check = next(check for check in shoal.verify(out, original=source).checks if check.name == "known values")
    assert check.holds == (name == "Will May")


def test_remarks_name_the_columns_that_leave_and_those_that_are_too_short() -> None:
    people = {
        "id": ["a", "b", "c"],
        "name": ["Ann Okonkwo", "R", "Bo Quindlen"],
        "dob": ["1954-03-17", "1961-11-02", "1980-01-05"],
        "note": ["well", "ill", "well"],
    }
    more = [{"id": "z", "known": ["Eve Example"]}, {"id": "a", "known": ["Eve Okonkwo"]}]
    done = shoal.scrub(people, text="note", known=["id", "name"], known_from=more)
    said = " ".join(done.remarks)
    assert "'dob' (date of birth) is written as it is" in said
    assert "some values of id and name are too short" in said
    assert "1 of the ids of known_from belongs to no row" in said
    assert "dob" not in " ".join(shoal.scrub(people, text="note", known=["name", "id"], keep="dob").remarks)
    assert "1954" not in said


def test_small_counts_are_not_in_the_manifest(tmp_path: Path) -> None:
    out = tmp_path / "clean.csv"
    shoal.release(scrubbed(), out, no_guarantee=True)
    found = json.loads((tmp_path / "clean.manifest.json").read_text())["findings"]["scrubbed"]["columns"]["note"]
    assert found["spans"] == {"name": "1-10", "date": "1-10", "phone": "1-10", "record_number": "1-10"}


def test_places_slice_to_what_was_replaced_and_hold_no_text(tmp_path: Path) -> None:
    source, places = tmp_path / "visits.parquet", tmp_path / "places.csv"
    pl.DataFrame(VISITS).write_parquet(source)
    release_scrubbed(
        source, text="note", known=KNOWN, person="patient", output=tmp_path / "clean.csv", spans_out=places
    )
    assert stat.S_IMODE(places.stat().st_mode) == 0o600
    frame = pl.read_csv(places)
    assert frame.columns == ["row", "start", "end", "kind", "score"]
    notes = VISITS["note"]
    rebuilt = dict(enumerate(notes))
    for row, start, end, kind, _ in reversed(list(frame.iter_rows())):
        rebuilt[row] = rebuilt[row][:start] + f"[{kind.upper()}]" + rebuilt[row][end:]
    assert list(rebuilt.values()) == scrubbed().frame["note"].to_list()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"text": "nothing"}, "has no column 'nothing'"),
        ({"text": "age"}, "not text"),
        ({"text": []}, "No column of text"),
        ({"known": ["note"]}, "at once"),
        ({"replace": "surrogate"}, "key"),
        ({"key": KEY}, "needs no key"),
        ({"known": ["mrn"]}, "Nobody decided on 'name'"),
        ({"known_from": [{"id": 1, "known": ["x"]}]}, "'id'"),
        ({"known_from": [{"id": 1}]}, "list `known`"),
    ],
)
def test_bad_input_is_one_error_without_values(settings: dict[str, Any], words: str) -> None:
    asked = {"text": "note", "known": KNOWN, "person": "patient", **settings}
    with pytest.raises(shoal.InputError) as error:
        shoal.scrub(pl.DataFrame(VISITS), **asked)
    assert words in str(error.value)
    assert not any(secret in str(error.value) for secret in SECRETS)


def test_the_command_line_takes_json_lines(tmp_path: Path) -> None:
    notes, known, out = tmp_path / "notes.jsonl", tmp_path / "known.jsonl", tmp_path / "clean.jsonl"
    notes.write_text('{"id": "a1", "text": "Ann Okonkwo wrote."}\n{"id": "a2", "text": "call me at 030 1234567"}\n')
    known.write_text('{"id": "a1", "known": ["Okonkwo, Ann"]}\n{"id": "a2", "known": ["+49301234567", 12]}\n')
    asked = ["scrub", str(notes), "--text", "text", "--known-from", str(known), "-o", str(out), "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {"notes", "changed", "spans", "known_found", "output"} <= set(found)
    assert (found["notes"], found["changed"], found["known_found"], found["not_looked_for"]) == (2, 2, 2, 1)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines == [{"id": "a1", "text": "[NAME] wrote."}, {"id": "a2", "text": "call me at [PHONE]"}]


def test_nothing_is_written_where_the_places_cannot_be(tmp_path: Path) -> None:
    source, out = tmp_path / "visits.parquet", tmp_path / "clean.csv"
    pl.DataFrame(VISITS).write_parquet(source)
    with pytest.raises(shoal.InputError):
        release_scrubbed(
            source, text="note", known=KNOWN, person="patient", output=out, spans_out=tmp_path / "no" / "places.csv"
        )
    assert not out.exists()


names = st.text("bcdfghklmnprstvz", min_size=5, max_size=10).map(str.capitalize)
around = st.text("abc xyz.,;\n'-é[]", max_size=12)


@settings(max_examples=60, deadline=None)
@given(names, names, st.integers(10_000, 10**9), around, around, st.sampled_from(["tag", "mask", "surrogate"]))
def test_a_planted_value_never_survives(
    first: str, last: str, number: int, before: str, after: str, replace: str
) -> None:
    forms = [f"{first} {last}", f"{last}, {first}", last.upper(), f"{last}'s", first.lower(), str(number)]
    note = before + " " + f" {after} ".join(forms) + " " + after
    frame = pl.DataFrame({"name": [f"{first} {last}"], "mrn": [str(number)], "note": [note]})
    key = {"key": KEY} if replace == "surrogate" else {}
    done = shoal.scrub(frame, text="note", known=["name", "mrn"], replace=replace, **key)  # type: ignore[arg-type]
    kept = TAG.sub(" ", done.frame["note"][0]).lower()
    told = kept + repr(done) + str(done.to_dict()).lower() + done.summary()
    for secret in (first, last, str(number)):
        assert secret.lower() not in told
