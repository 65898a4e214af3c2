"""Known values of a file beside the table: a release says that they were looked for, and verify looks again."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.group import app
from shoal.releases.jobs import release_scrubbed
from shoal.releases.results import Verification

NOTES = {"a1": "adeyemi wrote.", "a2": "all is well"}
KNOWN = [{"id": "a1", "known": ["Adeyemi"]}]


@pytest.fixture
def release(tmp_path: Path) -> tuple[Path, Path, Path]:
    notes, known, out = tmp_path / "notes.jsonl", tmp_path / "known.jsonl", tmp_path / "clean.jsonl"
    notes.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in NOTES.items()))
    known.write_text("".join(json.dumps(entry) + "\n" for entry in KNOWN))
    release_scrubbed(notes, text="text", known_from=known, output=out)
    assert "adeyemi" not in out.read_text()
    return notes, known, out


def put_back(out: Path) -> None:
    """The release with its value back, and a manifest that has the hash of it."""
    manifest = out.with_name("clean.manifest.json")
    old = hashlib.sha256(out.read_bytes()).hexdigest()
    out.write_text(out.read_text().replace("[NAME]", "adeyemi"))
    said = manifest.read_text()
    assert old in said
    manifest.write_text(said.replace(old, hashlib.sha256(out.read_bytes()).hexdigest()))


def known_check(found: Verification) -> tuple[bool, str]:
    return next((check.holds, check.detail) for check in found.checks if check.name == "known values")


def test_the_manifest_says_that_a_file_was_looked_for_and_nothing_of_it(release: tuple[Path, Path, Path]) -> None:
    said = release[2].with_name("clean.manifest.json").read_text()
    assert json.loads(said)["findings"]["scrubbed"]["known_from"] is True
    assert "adeyemi" not in said.lower()
    assert str(release[1]) not in said


def test_values_that_were_put_back_are_found_again(release: tuple[Path, Path, Path]) -> None:
    notes, known, out = release
    assert shoal.verify(out, original=notes, known_from=known).holds
    put_back(out)
    found = shoal.verify(out, original=notes, known_from=known)
    assert not found.holds
    assert known_check(found) == (False, "1 note still holds a value that is known of the person")


def test_without_the_file_nothing_is_vouched_for(release: tuple[Path, Path, Path]) -> None:
    notes, _, out = release
    found = shoal.verify(out, original=notes)
    assert not found.holds
    holds, detail = known_check(found)
    assert not holds
    assert detail.startswith("NOT checked")
    assert "known_from" in detail
    with pytest.raises(shoal.InputError, match="without the original"):
        shoal.verify(out, known_from=KNOWN)


def test_other_rows_are_not_skipped_silently(release: tuple[Path, Path, Path]) -> None:
    notes, known, out = release
    notes.write_text(notes.read_text() + '{"id": "a3", "text": "more"}\n')
    assert known_check(shoal.verify(out, original=notes, known_from=known))[1].startswith("NOT checked")


def test_the_command_line_takes_the_file(release: tuple[Path, Path, Path]) -> None:
    notes, known, out = release
    asked = ["verify", str(out), "--original", str(notes)]
    done = CliRunner().invoke(app, asked)
    assert (done.exit_code, "NOT checked" in done.stdout) == (1, True)
    assert CliRunner().invoke(app, [*asked, "--known-from", str(known)]).exit_code == 0
    put_back(out)
    assert CliRunner().invoke(app, [*asked, "--known-from", str(known)]).exit_code == 1


def test_ids_that_belong_to_no_row_at_all_are_refused(release: tuple[Path, Path, Path]) -> None:
    with pytest.raises(shoal.InputError, match="None of the ids") as error:
        shoal.scrub(release[0], text="text", known_from=[{"id": "A1", "known": ["Adeyemi"]}])
    assert "Adeyemi" not in str(error.value)
    some = shoal.scrub(release[0], text="text", known_from=[*KNOWN, {"id": "a9", "known": ["Adeyemi"]}])
    assert "1 of the ids of known_from belongs to no row" in some.remarks
