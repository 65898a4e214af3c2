"""Forgeries of every format and method: one thing of the data changed, everything that is said of it made anew, with
the owner's private record, without one, and with one that the forger wrote. None is accepted beside the original."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.policy import Policy
from shoal.policy.manifest import Manifest, PrivateRecord, dictionary_path, manifest_path, private_path
from shoal.releases.documents import dictionary_of
from shoal.storage.formats import format_of

ROWS = 30
PEOPLE = pl.DataFrame(
    {
        "age": [20 + (row * 7) % 41 for row in range(ROWS)],
        "job": [["clerk", "monk", "nurse"][row % 3] for row in range(ROWS)],
        "ill": [["flu", "cold", "hiv"][row // 2 % 3] for row in range(ROWS)],
        "pay": [1000.5 + 37 * row for row in range(ROWS)],
        "seen": [date(2020, 1, 1) + timedelta(11 * row) for row in range(ROWS)],
    }
)
ROLES = {"age": "quasi-identifier", "job": "quasi-identifier", "ill": "sensitive", "pay": "other", "seen": "other"}
POLICY = Policy.model_validate({"columns": ROLES, "models": [{"model": "k-anonymity", "k": 3}]})
METHODS = ("mondrian", "lattice", "suppress", "microaggregate")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "avro", "xlsx")
Json = dict[str, Any]


@cache
def _made(method: str, ending: str) -> Path:
    folder = Path(tempfile.mkdtemp())
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method=method), folder / f"safe.{ending}")
    return folder


def genuine(folder: Path, method: str, ending: str) -> Path:
    shutil.copytree(_made(method, ending), folder, dirs_exist_ok=True)
    return folder / f"safe.{ending}"


def frame_of(path: Path) -> pl.DataFrame:
    """The released table, as a plain reader has it."""
    match path.suffix:
        case ".csv" | ".tsv":
            return pl.read_csv(path, separator="\t" if path.suffix == ".tsv" else ",", try_parse_dates=True)
        case ".jsonl":
            return pl.read_ndjson(path)
        case ".parquet":
            return pl.read_parquet(path)
        case ".arrow":
            return pl.read_ipc(path.read_bytes())
        case ".avro":
            return pl.read_avro(path)
    return pl.read_excel(path)


def write(path: Path, frame: pl.DataFrame) -> None:
    form = format_of(path)
    assert form is not None
    assert form.write is not None
    form.write(frame, path, {})


def _cell(name: str, value: Any, row: int = 4) -> Callable[[pl.DataFrame], pl.DataFrame]:
    def change(frame: pl.DataFrame) -> pl.DataFrame:
        cells = frame[name].to_list()
        cells[row] = value(cells[row]) if callable(value) else value
        return frame.with_columns(pl.Series(name, cells, dtype=frame[name].dtype, strict=False))

    return change


def _row_twice(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame[:-1], frame[:1]])


def _other(cell: str) -> str:
    return "cold" if cell != "cold" else "flu"


DATA: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "another illness": _cell("ill", _other),
    "an illness with a blank": _cell("ill", lambda cell: f"{cell} "),
    "an illness in capitals": _cell("ill", str.upper),
    "an illness emptied": _cell("ill", None),
    "two letters that look alike": _cell("ill", lambda cell: cell.replace("o", "\N{CYRILLIC SMALL LETTER O}") + "x"),
    "a sign without width": _cell("ill", lambda cell: cell + "\u200b"),
    "a little more pay": _cell("pay", lambda cell: cell + 1e-9),
    "less pay": _cell("pay", lambda cell: cell - 1000),
    "no pay": _cell("pay", None),
    "a day later": _cell("seen", lambda cell: cell + timedelta(1) if isinstance(cell, date) else "2020-02-15"),
    "two pays exchanged": lambda frame: frame.with_columns(frame["pay"].gather([1, 0, *range(2, ROWS)])),
    "two records exchanged": lambda frame: frame[[1, 0, *range(2, ROWS)]],
    "all records turned round": lambda frame: frame.reverse(),
    "a record twice and one gone": _row_twice,
    "a record less": lambda frame: frame[:-1],
    "a record more": lambda frame: pl.concat([frame, frame[:1]]),
    "a column gone": lambda frame: frame.drop("pay"),
    "a column more": lambda frame: frame.with_columns(born=PEOPLE["age"]),
    "two columns exchanged": lambda frame: frame.rename({"job": "ill", "ill": "job"}).select(frame.columns),
    "pay as text": lambda frame: frame.with_columns(pl.col("pay").cast(pl.String) + " "),
    "the true ages": lambda frame: frame.with_columns(PEOPLE["age"]),
    "a false age for all": lambda frame: frame.with_columns(age=pl.lit("[1;2]")),
    "a false job for all": lambda frame: frame.with_columns(job=pl.lit("pope")),
}


def _formed(name: str, kind: str, nature: str, **more: Any) -> Callable[[Json], Json]:
    def claim(manifest: Json) -> Json:
        form = {"kind": kind, "type": "text"}
        columns = [
            {**entry, "form": form, "nature": nature, "types": []} if entry["name"] == name else entry
            for entry in manifest["columns"]
        ]
        return {**manifest, "columns": columns, **more}

    return claim


PERTURB = {"operators": [{"column": "pay", "operator": "noise", "setting": "0.1"}]}
CLAIMS: dict[str, Callable[[Json], Json]] = {
    "nothing else": lambda manifest: manifest,
    "shuffled": lambda manifest: {**manifest, "shuffled": True},
    "pay is perturbed": _formed("pay", "perturbed", "perturbed", method="perturb", parameters=PERTURB),
    "pay is perturbed somehow": _formed("pay", "perturbed", "perturbed", method="perturb", parameters={}),
    "illnesses are pseudonyms": _formed("ill", "pseudonym", "pseudonym", method="pseudonymize"),
    "dates are shifted": _formed(
        "seen",
        "shifted",
        "shifted",
        method="shift-dates",
        parameters={"person": "pay", "range": 365, "keep": "nothing"},
    ),
    "illnesses have labels": _formed("ill", "label", "representative"),
    "pay is a mean": _formed("pay", "mean", "representative"),
    "pay is a middle": _formed("pay", "midpoint", "representative"),
    "notes with surrogates": lambda manifest: _formed("ill", "scrubbed", "scrubbed", method="scrub")(
        {**manifest, "findings": {**manifest["findings"], "scrubbed": {"columns": {}}}}
    ),
}


def _forge(path: Path, claim: Callable[[Json], Json], record: str) -> None:
    """Everything that is said of the data, made anew for it."""
    manifest = claim(json.loads(manifest_path(path).read_text()))
    manifest["data_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    frame = frame_of(path)
    known = {name: entry for entry in manifest["columns"] for name in entry["released_as"]}
    new = {"role": "other", "decided_by": "policy", "nature": "unchanged", "technique": "none", "types": [],
           "form": {"kind": "as-it-was", "type": "text"}}  # fmt: skip
    columns = [known.get(name, {**new, "name": name, "released_as": [name]}) for name in frame.columns]
    manifest |= {"written": len(frame), "columns": [{**entry, "types": []} for entry in columns]}
    roles = {**dict.fromkeys(frame.columns, "other"), **manifest["policy"]["columns"]}
    manifest["policy"] = {**manifest["policy"], "columns": roles}
    manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()
    private = json.loads(private_path(path).read_text())
    private |= {"data_sha256": manifest["data_sha256"], "records": len(frame), "labels": {
        "ill": [[old, sorted({*frame["ill"].cast(pl.String).drop_nulls()})] for old in ("flu", "cold", "hiv")]
    }}  # fmt: skip
    private |= {"shuffled": manifest["shuffled"], "perturbation_seed": 7}

    def write_all() -> None:
        dictionary = json.dumps(dictionary_of(Manifest.model_validate(manifest)), ensure_ascii=False, indent=2)
        dictionary_path(path).write_text(dictionary)
        manifest["parts"]["dictionary"] = hashlib.sha256(dictionary.encode()).hexdigest()
        if record == "forged":
            manifest["parts"]["private"] = PrivateRecord.model_validate(private).digest()
        manifest_path(path).write_text(json.dumps(manifest))
        if record == "forged":
            private["manifest_sha256"] = Manifest.model_validate(manifest).digest()
            private_path(path).write_text(json.dumps(private))

    if record == "none":
        private_path(path).unlink()
        path.with_name("safe.plan.json").unlink(missing_ok=True)
    write_all()
    try:
        found = shoal.verify(path, POLICY)
    except ShoalError:
        return
    manifest["findings"] |= {"k": found.k, "classes": found.classes, "uniques": found.uniques}
    manifest |= {"models": json.loads(json.dumps([one.to_dict() for one in found.models])),
                 "suppressed_rows": found.suppressed_rows}  # fmt: skip
    write_all()


def accepted(path: Path) -> bool:
    try:
        return shoal.verify(path, POLICY, original=PEOPLE).verdict == "holds"
    except ShoalError:
        return False


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("method", METHODS)
def test_what_was_not_changed_is_accepted(method: str, ending: str, tmp_path: Path) -> None:
    assert accepted(genuine(tmp_path, method, ending))


@pytest.mark.parametrize("record", ["owner's", "none", "forged"])
@pytest.mark.parametrize("data", DATA)
def test_changed_data_is_refused(data: str, record: str, tmp_path: Path) -> None:
    """Of each format and method."""
    for number, (method, ending) in enumerate(pairs(data, record)):
        path = genuine(tmp_path / str(number), method, ending)
        before = frame_of(path)
        write(path, DATA[data](before))
        _forge(path, CLAIMS["nothing else"], record)
        assert not accepted(path), (method, ending)


@pytest.mark.parametrize("record", ["owner's", "none", "forged"])
@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if claim != "nothing else"])
def test_no_claim_lets_changed_data_pass(claim: str, record: str, tmp_path: Path) -> None:
    for number, data in enumerate(DATA):
        path = genuine(tmp_path / str(number), METHODS[number % 4], "csv")
        write(path, DATA[data](frame_of(path)))
        _forge(path, CLAIMS[claim], record)
        assert not accepted(path), data


def pairs(data: str, record: str) -> list[tuple[str, str]]:
    """Every format, each with another method."""
    shift = [*DATA].index(data) + ["owner's", "none", "forged"].index(record)
    return [(METHODS[(number + shift) % len(METHODS)], ending) for number, ending in enumerate(FORMATS)]


TEXT: dict[str, Callable[[bytes], bytes]] = {
    "sep= above the header": lambda body: b"sep=,\n" + body,
    "a blank line above": lambda body: b"\n" + body,
    "a blank line in it": lambda body: body.replace(b"\n", b"\n\n", 3),
    "a blank line below": lambda body: body + b"\n",
    "a mark at its start": lambda body: b"\xef\xbb\xbf" + body,
    "another line end in one record": lambda body: body[: body.rfind(b"\n")] + b"\r\n",
    "other line ends": lambda body: body.replace(b"\n", b"\r\n"),
    "no end of the last line": lambda body: body.removesuffix(b"\n"),
    "quotes around a cell": lambda body: body.replace(b"flu", b'"flu"', 1),
    "quotes around a name": lambda body: body.replace(b"ill", b'"ill"', 1),
    "a blank before a name": lambda body: body.replace(b"age", b" age", 1),
    "a zero byte": lambda body: body + b"\0",
    "a sign for the end of the file": lambda body: body + b"\x1a",
}
LINES: dict[str, Callable[[bytes], bytes]] = {
    "a blank in one record": lambda body: body.replace(b",", b", ", 1),
    "a key twice": lambda body: body.replace(b"{", b'{"ill":"flu",', 1),
    "a key in another place": lambda body: b"{" + body[1:].split(b",", 1)[1].split(b"}", 1)[0]
    + b"," + body[1:].split(b",", 1)[0] + b"}" + body.split(b"}", 1)[1],
    "a letter by its number": lambda body: body.replace(b"flu", b"\\u0066lu", 1),
    "a slash before a slash": lambda body: body.replace(b"flu", b"fl\\/u", 1),
    "a number with a zero": lambda body: body.replace(b"1000.5", b"1000.50", 1),
    "a number with an exponent": lambda body: body.replace(b"1000.5", b"1.0005e3", 1),
    "a blank line": lambda body: b"\n" + body,
    "another line end": lambda body: body.replace(b"\n", b"\r\n", 1),
    "a mark at its start": lambda body: b"\xef\xbb\xbf" + body,
    "a record that is empty": lambda body: body + b"{}\n",
    "a key that nobody named": lambda body: body.replace(b"}", b',"note":"x"}', 1),
}  # fmt: skip


@pytest.mark.parametrize("record", ["none", "forged"])
@pytest.mark.parametrize(("ending", "name"), [*(("csv", name) for name in TEXT), *(("jsonl", name) for name in LINES)])
def test_a_file_that_is_written_in_another_way_is_refused(ending: str, name: str, record: str, tmp_path: Path) -> None:
    """Also without the original: a spelling of its own marks a record, and the policy says nothing of it."""
    for number, method in enumerate(METHODS):
        path = genuine(tmp_path / str(number), method, ending)
        before = path.read_bytes()
        path.write_bytes((TEXT if ending == "csv" else LINES)[name](before))
        assert path.read_bytes() != before
        try:
            _forge(path, CLAIMS["nothing else"], record)
        except (pl.exceptions.PolarsError, KeyError, ValueError):
            continue  # a plain reader does not read it
        with contextlib.suppress(ShoalError):
            assert shoal.verify(path, POLICY).verdict != "holds", method


@pytest.mark.parametrize("key", list(PrivateRecord.model_fields))
@pytest.mark.parametrize("change", ["gone", "renamed", "another"])
def test_a_private_record_that_was_changed_is_refused(key: str, change: str, tmp_path: Path) -> None:
    path = genuine(tmp_path, "mondrian", "csv")
    record = json.loads(private_path(path).read_text())
    value = record.pop(key)
    others: dict[type, Any] = {bool: value is False, str: "0" * 64, list: [1], dict: {"ill": []}, type(None): 7}
    other = value + 1 if type(value) is int else others[type(value)]
    if change != "gone":
        record[f"{key}_" if change == "renamed" else key] = value if change == "renamed" else other
    private_path(path).write_text(json.dumps(record))
    assert not accepted(path)


def test_so_many_forgeries() -> None:
    of_data = len(DATA) * 3 * len(FORMATS) + (len(CLAIMS) - 1) * 3 * len(DATA)
    assert of_data + (len(TEXT) + len(LINES)) * 2 * len(METHODS) > 1_000
