"""Pseudonyms: the same person the same word; keys that never leave."""

from __future__ import annotations

import hashlib
import hmac
import json
import stat
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.cli import app
from shoal.keys import SecretKey, create_key, find_key, read_key
from shoal.methods.pseudonyms import pseudonymize as making
from shoal.methods.pseudonyms.pseudonymize import permuted, pseudonymize
from shoal.releases.jobs import Writing, release_pseudonymized

KEY = bytes(range(32))
FORCED = Writing(force=True, shuffle=False)


def made(values: list[object], **options: object) -> list[str]:
    frame = pl.DataFrame({"id": values})
    return pseudonymize(frame, column="id", key=KEY, **options).frame["id"].to_list()  # type: ignore[arg-type]


def test_a_pseudonym_is_hmac_sha_256_as_anybody_computes_it() -> None:
    secret = hmac.new(KEY, b"shoal pseudonyms ", hashlib.sha256).digest()
    assert made(["A-7"]) == [hmac.new(secret, b"A-7", hashlib.sha256).hexdigest()[:32]]
    assert made(["A-7"], method="blake2b") == [hashlib.blake2b(b"A-7", key=secret, digest_size=16).hexdigest()]


def test_forms() -> None:
    assert UUID(made(["A-7"], format="uuid")[0]).version == 8
    short = made(["A-7"], format="short")[0]
    assert len(short) == 16
    assert set(short) <= set("abcdefghijklmnopqrstuvwxyz234567")
    digits = made(["0012345678", "0012345679"], format="digits")
    assert all(len(text) == 10 and text.isdecimal() for text in digits)
    for bad in (["12345"], ["A-123456"], ["1234567890123456789"]):
        with pytest.raises(shoal.InputError, match="digits"):
            made(bad, format="digits")  # type: ignore[arg-type]


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=30), st.sampled_from(["hex", "short", "uuid"]))
def test_equal_persons_have_equal_pseudonyms_and_others_do_not(values: list[str], form: str) -> None:
    values = [value for value in values if value.strip()] or ["a"]
    words = made(values, format=form)
    frame = pl.DataFrame({"value": values, "word": words})
    plain = frame["value"].str.strip_chars().str.normalize("NFC")
    assert frame.with_columns(value=plain).n_unique() == plain.n_unique() == frame["word"].n_unique()


def test_persons_are_the_same_in_every_file_type_and_run() -> None:
    expected = made(["7", "8"])
    assert made([7, 8]) == made([7.0, 8.0]) == made([" 7", "8 "]) == expected
    assert made(["7.0", "8.00"]) == made([Decimal("7.0"), Decimal("8.0")]) == expected
    assert made(["07"]) != expected[:1]
    frame = pd.DataFrame({"pid": [8, 7], "x": [1.5, 2.5]}, index=[3, 4])
    out = pseudonymize(frame, column="pid", key=KEY).frame
    assert isinstance(out, pd.DataFrame)
    assert out["pid"].tolist() == expected[::-1]
    assert out.index.tolist() == [3, 4]
    code = "import shoal, polars as pl; frame = pl.DataFrame({'id': ['7']})"
    code += f"; made = shoal.pseudonymize(frame, column='id', key={KEY!r})"
    code += "; print(made.frame['id'][0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected[0]


def test_other_keys_and_domains_give_other_pseudonyms() -> None:
    other = pseudonymize(pl.DataFrame({"id": ["7"]}), column="id", key=KEY[::-1]).frame["id"].to_list()
    assert len({made(["7"])[0], other[0], made(["7"], domain="trial 2")[0]}) == 3


def test_missing_persons_stay_missing() -> None:
    result = pseudonymize(pl.DataFrame({"id": ["7", None, "", "7"]}), column="id", key=KEY)
    words = result.frame["id"].to_list()
    assert words[1] is None
    assert words[2] is None
    assert words[0] == words[3]
    assert result.distinct == 1


def test_digits_are_a_permutation() -> None:
    # all numbers of six digits, each once again
    out = permuted(np.arange(10**6), 6, KEY, "blake2b")
    assert np.array_equal(np.sort(out), np.arange(10**6))
    assert (out != np.arange(10**6)).mean() > 0.99
    odd = permuted(np.arange(10**5), 7, KEY, "blake2b")
    assert len(np.unique(odd)) == 10**5
    assert odd.max() < 10**7
    # neighbours end up anywhere: the correlation of a random permutation of 10^6 is within 0.005
    assert abs(np.corrcoef(np.arange(10**6), out)[0, 1]) < 0.005


def test_collisions_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(making._BYTES, "hex", 1)
    with pytest.raises(shoal.ShoalError, match="stand for two persons"):
        made([str(number) for number in range(300)])


def test_unkeyed_hashes_are_refused_with_the_reason() -> None:
    for method in ("sha256", "SHA-256", "md5", "sha1"):
        with pytest.raises(shoal.InputError, match="1,000,000,000 social security numbers"):
            made(["7"], method=method)
    with pytest.raises(shoal.InputError, match="without a key"):
        pseudonymize(pl.DataFrame({"id": ["7"]}), column="id")


def test_the_dictionary_attack_on_an_unkeyed_hash_and_on_ours() -> None:
    persons = [f"{number:06d}" for number in range(0, 100_000, 97)]
    book = {hashlib.sha256(f"{number:06d}".encode()).hexdigest(): number for number in range(100_000)}
    unkeyed = [hashlib.sha256(person.encode()).hexdigest() for person in persons]
    assert sum(word in book for word in unkeyed) == len(persons)  # all of them
    ours = {word[:32]: number for word, number in book.items()}
    assert sum(word in ours for word in made(list(persons))) == 0


# keys


def test_a_key_file_is_for_its_owner_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "key.bin"
    assert find_key(path)[1]
    secret = path.read_bytes()
    assert len(secret) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not find_key(path)[1]
    with pytest.raises(shoal.InputError, match="never overwritten"):
        create_key(path)
    assert path.read_bytes() == secret
    path.chmod(0o644)
    with pytest.raises(shoal.InputError, match="read by others"):
        read_key(path)
    (tmp_path / "short").write_bytes(b"secret")
    (tmp_path / "short").chmod(0o600)
    with pytest.raises(shoal.InputError, match="not a key"):
        read_key(tmp_path / "short")
    with pytest.raises(shoal.InputError, match="no key file"):
        read_key(tmp_path / "nothing")


def test_a_key_is_never_shown() -> None:
    assert repr(SecretKey(KEY)) == str(SecretKey(KEY)) == "SecretKey(secret)"


# the command


def write(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("patient_id,charge\nP1,10\nP2,20\nP1,30\n")
    return path


def test_the_command(tmp_path: Path) -> None:
    path, out, key = write(tmp_path), tmp_path / "out.csv", tmp_path / "key.bin"
    arguments = ["pseudonymize", path, "--column", "patient_id", "--key-file", key, "-o", out, "--json"]
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["column"], found["distinct"], found["collisions"]) == ("patient_id", 2, 0)
    assert found["output"] == str(out)
    assert found["key_file_created"]
    secret = key.read_bytes()
    assert secret.hex() not in done.stdout
    first = pl.read_csv(out)
    assert first["patient_id"].n_unique() == 2
    assert first["charge"].to_list() == [10, 20, 30]
    again = CliRunner().invoke(app, [*map(str, arguments), "--force"])
    assert not json.loads(again.stdout)["key_file_created"]
    assert pl.read_csv(out).equals(first)
    assert key.read_bytes() == secret


def test_rotation_writes_old_and_new_apart(tmp_path: Path) -> None:
    path, key, new, mapping = write(tmp_path), tmp_path / "key.bin", tmp_path / "new.bin", tmp_path / "map.csv"
    base = ["pseudonymize", str(path), "--column", "patient_id", "--key-file", str(key)]
    assert CliRunner().invoke(app, [*base, "-o", str(tmp_path / "old.csv")]).exit_code == 0
    rotate = [*base, "--rotate-to", str(new), "--mapping", str(mapping), "-o", str(tmp_path / "new.csv")]
    done = CliRunner().invoke(app, rotate)
    assert done.exit_code == 0, done.output
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    book = dict(pl.read_csv(mapping).iter_rows())
    old, fresh = (pl.read_csv(tmp_path / name)["patient_id"].to_list() for name in ("old.csv", "new.csv"))
    assert [book[word] for word in old] == fresh
    assert "P1" not in mapping.read_text()
    again = CliRunner().invoke(app, [*rotate, "--force"])
    assert isinstance(again.exception, shoal.InputError)  # the mapping is there already


def test_surrogates_grow_and_stay(tmp_path: Path) -> None:
    table = tmp_path / "surrogates.csv"
    first = pseudonymize(pl.DataFrame({"id": ["a", "b"]}), column="id", surrogates=table).frame["id"].to_list()
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    second = pseudonymize(pl.DataFrame({"id": ["c", "b", "a"]}), column="id", surrogates=table).frame["id"].to_list()
    assert second[1:] == first[::-1]
    assert len({*first, *second}) == 3
    table.chmod(0o644)
    with pytest.raises(shoal.InputError, match="read by others"):
        pseudonymize(pl.DataFrame({"id": ["c"]}), column="id", surrogates=table)
    table.chmod(0o600)
    table.write_text("x,y\n")
    with pytest.raises(shoal.InputError, match="no surrogate table"):
        pseudonymize(pl.DataFrame({"id": ["c"]}), column="id", surrogates=table)


def test_bad_input_makes_no_key(tmp_path: Path) -> None:
    path, key = write(tmp_path), tmp_path / "key.bin"
    for arguments in (
        ["--column", "nobody", "--key-file", str(key), "-o", str(tmp_path / "o.csv")],
        ["--column", "patient_id", "--key-file", str(key), "-o", str(tmp_path / "o.xyz")],
        ["--column", "patient_id", "-o", str(tmp_path / "o.csv")],
        ["--column", "patient_id", "--key-file", str(key), "--method", "sha256", "-o", str(tmp_path / "o.csv")],
        ["--column", "patient_id", "--key-file", str(key), "--rotate-to", "x.bin", "-o", str(tmp_path / "o.csv")],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "shoal", "pseudonymize", str(path), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "P1" not in done.stderr
        assert sorted(found.name for found in tmp_path.iterdir()) == ["visits.csv"]


def same_file(tmp_path: Path, how: str, target: Path) -> Path:
    """Another name for a file."""
    if how == "itself":
        return target
    other = tmp_path / f"{how}{target.suffix}"
    other.symlink_to(target) if how == "symbolic" else other.hardlink_to(target)
    return other


@pytest.mark.parametrize("how", ["itself", "symbolic", "hard"])
@pytest.mark.parametrize("victim", ["key.csv", "visits.csv", "surrogates.csv", "map.csv"])
def test_force_destroys_no_key_map_table_or_input(tmp_path: Path, how: str, victim: str) -> None:
    path = write(tmp_path)
    key, table, mapping = tmp_path / "key.csv", tmp_path / "surrogates.csv", tmp_path / "map.csv"
    pseudonymize(path, column="patient_id", key=key)
    pseudonymize(path, column="patient_id", surrogates=table)
    pseudonymize(path, column="patient_id", key=key, rotate_to=tmp_path / "new.bin", mapping=mapping)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    output = same_file(tmp_path, how, tmp_path / victim)
    for source in ({"key": key}, {"surrogates": table}, {"key": tmp_path / "fresh.bin"}):
        with pytest.raises(shoal.InputError, match=r"at once|never replaced"):
            release_pseudonymized(path, column="patient_id", output=output, writing=FORCED, **source)
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file != output or how == "itself"}
    assert after == before


def test_the_files_of_a_rotation_are_apart(tmp_path: Path) -> None:
    path, key = write(tmp_path), tmp_path / "key.bin"
    pseudonymize(path, column="patient_id", key=key)
    for files in (
        {"rotate_to": key, "mapping": tmp_path / "map.csv"},
        {"rotate_to": tmp_path / "new.csv", "mapping": tmp_path / "new.csv"},
        {"rotate_to": tmp_path / "new.bin", "mapping": tmp_path / "out.csv", "output": tmp_path / "out.csv"},
    ):
        with pytest.raises(shoal.InputError, match="at once"):
            release_pseudonymized(path, **{"output": tmp_path / "o.csv", "column": "patient_id", "key": key, **files})
    assert sorted(file.name for file in tmp_path.iterdir()) == ["key.bin", "visits.csv"]


def test_an_input_folder_or_pattern_is_not_written_into(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    path = write(folder)
    for source in (str(folder), str(folder / "*.csv"), [str(path)]):
        with pytest.raises(shoal.InputError, match="at once"):
            release_pseudonymized(source, column="patient_id", key=KEY, output=path, writing=FORCED)


def test_the_json_and_the_words(tmp_path: Path) -> None:
    made_ = release_pseudonymized(write(tmp_path), column="patient_id", key=KEY, output=tmp_path / "out.csv")
    assert made_.to_dict() == {
        "schema_version": 1, "column": "patient_id", "distinct": 2, "collisions": 0, "method": "hmac-sha-256",
        "format": "hex", "records": 3, "key_file_created": False, "mapping": None, "identifiers_beside": [],
        "output": str(tmp_path / "out.csv"),
        "manifest": str(tmp_path / "out.manifest.json"),
    }  # fmt: skip
    assert made_.summary() == "2 persons in patient_id now have a pseudonym; no two share one."
    assert "P1" not in repr(made_) + made_._repr_html_()


def test_names_and_numbers_beside_a_pseudonym_are_named_first(tmp_path: Path) -> None:
    rows = range(60)
    frame = pl.DataFrame({
        "patient": [f"P{row:04d}" for row in rows],
        "name": [f"{('Ann', 'Ben', 'Eva')[row % 3]} {('Smith', 'Jones', 'Miller', 'Brown')[row % 4]}" for row in rows],
        "dosage": [f"{200 + row}-45-{6000 + row}" for row in rows],
        "visit": [f"2020-01-{1 + row % 28:02d}" for row in rows],
        "ward": ["north", "south"] * 30,
    })  # fmt: skip
    made = shoal.pseudonymize(frame, column="patient", key=bytes(32))
    assert made.identifiers_beside == ["name", "dosage"]
    assert "name and dosage were not changed, and say who people are." in str(made.sections())
    moved = shoal.shift_dates(frame.drop("name", "dosage"), person="patient", columns=["visit"], key=bytes(32))
    assert moved.identifiers_beside == []
