"""Several tables published together: by hand, in files and databases, tampered with, and with bad input."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.policy.judgement.linked_tables import LinkedTables, judge_views
from shoal.policy.loading import PolicyError
from shoal.releases.linked import packed, unpacked
from shoal.releases.table_set import TableSet

TABLES: dict[str, Any] = {
    "patients": {"key": "id", "columns": {"name": "identifier", "age": "quasi-identifier"}},
    "visits": {
        "key": "no",
        "references": {"patient_id": "patients", "ward": "wards"},
        "columns": {"day": "quasi-identifier", "note": "identifier"},
    },
    "diagnoses": {"references": {"visit": "visits"}, "columns": {"code": "quasi-identifier", "result": "sensitive"}},
    "wards": {"key": "name", "columns": {"floor": "quasi-identifier"}},
}
POLICY = {"relations": {"person": "patients", "tables": TABLES}, "models": [{"model": "k-anonymity", "k": 3}]}


def clinic(persons: int = 60, seed: int = 0) -> dict[str, pl.DataFrame]:
    draw = np.random.default_rng(seed)
    visits = np.repeat(np.arange(persons), draw.integers(0, 4, persons))
    of_visit = np.repeat(np.arange(len(visits)), draw.integers(0, 3, len(visits)))
    return {
        "patients": pl.DataFrame(
            {"id": np.arange(persons) + 7, "name": [f"person {n}" for n in range(persons)],
             "age": draw.integers(20, 60, persons)}
        ),
        "visits": pl.DataFrame(
            {"no": [f"V{n}" for n in range(len(visits))], "patient_id": visits + 7,
             "ward": draw.choice(["A", "B", "C"], len(visits)), "day": draw.integers(0, 365, len(visits)),
             "note": ["seen"] * len(visits)}
        ),
        "diagnoses": pl.DataFrame(
            {"visit": [f"V{n}" for n in of_visit], "code": draw.choice(list("KLMN"), len(of_visit)),
             "result": draw.choice(["pos", "neg", "open"], len(of_visit))}
        ),
        "wards": pl.DataFrame({"name": ["A", "B", "C", "D"], "floor": [1, 2, 2, 9]}),
    }  # fmt: skip


def written(folder: Path, tables: dict[str, pl.DataFrame]) -> Path:
    folder.mkdir()
    for name, frame in tables.items():
        frame.write_csv(folder / f"{name}.csv")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return written(tmp_path / "data", clinic())


@pytest.fixture
def safe(tmp_path: Path, data: Path) -> Path:
    found = shoal.publish(data, POLICY, output=tmp_path / "safe")
    assert found.verdict == "holds", found.refusal
    return tmp_path / "safe"


def test_by_hand() -> None:
    """Two of one age with one visit each, one of them on another day; two others without visits: classes 1, 1 and 2."""
    tables = {"patients": TABLES["patients"], "visits": {**TABLES["visits"], "references": {"patient_id": "patients"}}}
    frames = {"patients": pl.DataFrame({"id": [1, 2, 3, 4], "name": list("abcd"), "age": [30, 30, 30, 30]}),
              "visits": pl.DataFrame({"no": [1, 2], "patient_id": [1, 2], "day": [5, 6], "note": "x"})}  # fmt: skip
    policy = {"relations": {"person": "patients", "tables": tables}, "models": [{"model": "k-anonymity", "k": 2}]}
    found = shoal.risk(frames, policy=policy)
    assert (found.persons, found.k, found.uniques, found.classes) == (4, 1, 2, 3)
    assert [(one.size, one.classes) for one in found.histogram] == [(1, 2), (2, 1)]
    same = {**frames, "visits": frames["visits"].with_columns(day=pl.lit(5))}
    assert shoal.risk(same, policy=policy).k == 2  # the number of visits alone tells them apart


def test_what_is_published_joins_and_is_alike(safe: Path, data: Path) -> None:
    tables = {name: pl.read_csv(safe / f"{name}.csv") for name in TABLES}
    original = clinic()
    assert tables["patients"].height == 60
    assert [name for name, frame in tables.items() if {"name", "note"} & {*frame.columns}] == ["wards"]  # its key
    joined = tables["diagnoses"].join(tables["visits"], left_on="visit", right_on="no")
    assert joined.join(tables["patients"], left_on="patient_id", right_on="id").height == tables["diagnoses"].height
    assert not set(tables["patients"]["id"]) & set(original["patients"]["id"].cast(pl.String))
    # a ward is looked up by one visit alone, and one that nobody visited does not leave
    assert tables["wards"].height == tables["visits"]["ward"].drop_nulls().n_unique() == tables["visits"].height
    numbers = tables["patients"].join(tables["visits"], left_on="id", right_on="patient_id", how="left")
    counts = numbers.group_by("id", "age").agg(pl.col("day").count()).group_by("age", "day").len()
    assert counts["len"].min() >= 3  # type: ignore[operator]
    assert shoal.verify(safe).holds
    assert shoal.verify(safe, original=data).holds
    private = safe.with_name("safe.private") / "tables.private.json"
    assert private.stat().st_mode & 0o777 == 0o600
    assert json.loads(private.read_text())["key"] not in "".join(path.read_text() for path in safe.iterdir())
    assert {"report.html", *(f"report-{name}.html" for name in TABLES)} <= {path.name for path in safe.iterdir()}
    with pytest.raises(InputError, match="release of several tables"):
        shoal.Release.open(safe)


def test_attack_report_and_force(safe: Path, data: Path, tmp_path: Path) -> None:
    from shoal.reports.publication.compare import compare_releases
    from shoal.reports.publication.results import report_files

    found = shoal.attack(safe, original=data)
    linkage = next(one for one in found.attacks if one.name == "linkage")
    assert linkage.rate is not None
    assert linkage.rate <= 1 / 3 + 1e-9
    with pytest.raises(InputError, match="not set side by side"):
        compare_releases([safe, safe])
    assert "patients" in report_files(safe, html=tmp_path / "report.html")[0].read_text()
    with pytest.raises(InputError, match="is there already"):
        shoal.publish(data, POLICY, output=safe)
    assert shoal.publish(data, POLICY, output=safe, force=True).verdict == "holds"
    assert shoal.verify(safe).holds


def test_l_diversity_of_rows_of_persons(tmp_path: Path, data: Path) -> None:
    diverse = {"model": "l-diversity", "l": 2, "sensitive": "diagnoses.result"}
    found = shoal.publish(data, {**POLICY, "models": [*POLICY["models"], diverse]}, output=tmp_path / "safe")  # type: ignore[misc]
    assert found.verdict == "holds"
    assert found.tables["diagnoses"].suppressed_rows > 0
    assert shoal.verify(tmp_path / "safe", original=data).holds
    plain = {**POLICY, "models": [{"model": "k-anonymity", "k": 3}, {**diverse, "l": 9}]}
    told = shoal.publish(data, plain, output=tmp_path / "other")
    assert "No row of diagnoses can be released" in (told.refusal or "")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_databases_as_source_and_target(tmp_path: Path, data: Path, system: str) -> None:
    pytest.importorskip("adbc_driver_sqlite" if system == "sqlite" else "duckdb")
    source = tmp_path / f"clinic.{system}"
    if system == "sqlite":
        with sqlite3.connect(source) as connection:
            for name, frame in clinic().items():
                kinds = [f"{key} {'INTEGER' if kind.is_integer() else 'TEXT'}" for key, kind in frame.schema.items()]
                connection.execute(f"CREATE TABLE {name} ({', '.join(kinds)})")
                connection.executemany(f"INSERT INTO {name} VALUES ({','.join('?' * frame.width)})", frame.rows())
    else:
        import duckdb

        with duckdb.connect(str(source)) as connection:
            for name in TABLES:
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM '{data / name}.csv'")
    address = f"{system}:///{source}"
    assert shoal.publish(address, POLICY, output=tmp_path / "safe").verdict == "holds"
    assert (tmp_path / "safe" / source.name).is_file()
    assert shoal.verify(tmp_path / "safe", original=address).holds
    into = f"{system}:///{tmp_path}/other/out.{system}"
    assert shoal.publish(data, POLICY, output=into).verdict == "holds"
    assert shoal.verify(tmp_path / "other", original=data).holds
    release = TableSet.find(tmp_path / "other")
    assert release is not None
    assert release.tables["patients"].rows == 60


def first(column: str, value: str) -> Any:
    """The first cell of a column becomes something else."""
    at_first = pl.int_range(pl.len()) == 0
    return pl.when(at_first).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)


def elsewhere(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(patient_id=pl.Series([*rows["patient_id"][1:], rows["patient_id"][0]]))


TAMPERED: dict[str, tuple[str, Any]] = {
    "a cell": ("visits.csv", lambda rows: rows.with_columns(first("day", "[1;2]"))),
    "a row is gone": ("visits.csv", lambda rows: rows[1:]),
    "a row twice": ("diagnoses.csv", lambda rows: pl.concat([rows, rows[:1]])),
    "references to other persons": ("visits.csv", elsewhere),
    "a reference to nothing": ("diagnoses.csv", lambda rows: rows.with_columns(first("visit", "x"))),
    "results among themselves": ("diagnoses.csv", lambda rows: rows.with_columns(pl.col("result").reverse())),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_noticed(safe: Path, data: Path, what: str) -> None:
    name, change = TAMPERED[what]
    change(pl.read_csv(safe / name, infer_schema=False)).write_csv(safe / name)
    told = json.loads((safe / "tables.json").read_text())
    assert not shoal.verify(safe).holds
    # also where the hashes are made to fit, by who has the manifest alone
    from shoal.storage.writing import sha256

    told["tables"][Path(name).stem] |= {"sha256": sha256(safe / name), "rows": pl.read_csv(safe / name).height}
    (safe / "tables.json").write_text(json.dumps(told))
    assert not shoal.verify(safe, original=data).holds
    (safe.with_name("safe.private") / "tables.private.json").unlink()
    assert not shoal.verify(safe, original=data).holds


def test_orphans_and_references_within_a_person(tmp_path: Path) -> None:
    """Visits of nobody do not leave; each visit names the one before it, which stays where all in a group have one."""
    frames = {
        "patients": pl.DataFrame({"id": list(range(6)), "age": [30] * 6, "mother": [None, 0, None, None, None, 99]}),
        "visits": pl.DataFrame({
            "no": [*range(12), 50, 51], "patient_id": [*range(6), *range(6), None, 77],
            "before": [*[None] * 6, *range(6), None, 3], "day": [*[1] * 6, *[2] * 6, 3, 3],
        }),
    }  # fmt: skip
    tables = {
        "patients": {"key": "id", "references": {"mother": "patients"}, "columns": {"age": "quasi-identifier"}},
        "visits": {"key": "no", "references": {"patient_id": "patients", "before": "visits"},
                   "columns": {"day": "quasi-identifier"}},
    }  # fmt: skip
    policy = {"relations": {"person": "patients", "tables": tables}, "models": [{"model": "k-anonymity", "k": 3}]}
    found = shoal.publish(frames, policy, output=tmp_path / "safe")
    assert found.verdict == "holds"
    told = found.tables["visits"]
    assert (told.rows, told.released, told.orphans, told.emptied_references) == (14, 12, 2, 0)
    assert found.tables["patients"].emptied_references == 1  # whose child somebody is tells persons apart
    visits = pl.read_csv(tmp_path / "safe" / "visits.csv")
    assert visits.filter(pl.col("before").is_not_null()).height == 6
    assert shoal.verify(tmp_path / "safe", original=frames).holds


WRONG_KEY = {"key": "no", "references": {"patient_id": "patients", "day": "wards"}}
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a table that is not there": ({"visits": {"references": {"patient_id": "pateints"}}}, "not there"),
    "a table without a key": ({"patients": {"columns": {"age": "quasi-identifier"}}}, "needs a key"),
    "a cycle": ({"wards": {"key": "name", "references": {"floor": "visits"}}}, "cycle: leave one of them out\nFix"),
    "a role of sets": ({"patients": {"key": "id", "columns": {"age": "items"}}}, "has the role items"),
    "a table apart": ({"beds": {"key": "b"}}, "no reference leads"),
    "a key with a role": ({"patients": {"key": "id", "columns": {"id": "identifier"}}}, "is a key"),
    "a file that is not there": ({"wards": {**TABLES["wards"], "file": "wrads.csv"}}, "wrads.csv is not there"),
    "a file elsewhere": ({"wards": {**TABLES["wards"], "file": "../data2/wards.csv"}}, "is not there"),
    "keys that do not match": ({"visits": WRONG_KEY}, "No value of visits.day"),
    "a key that is doubled": ({"wards": {"key": "floor"}}, "1 row with the key of another"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_error_and_nothing_is_written(tmp_path: Path, data: Path, what: str) -> None:
    change, words = BAD[what]
    policy = {**POLICY, "relations": {"person": "patients", "tables": {**TABLES, **change}}}
    before = sorted(tmp_path.iterdir())
    with pytest.raises(InputError, match=words):
        shoal.publish(data, policy, output=tmp_path / "safe")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_an_error_of_a_database_is_two_lines(tmp_path: Path, system: str) -> None:
    """And none that tells of leaks in what the error still held."""
    (tmp_path / "policy.json").write_text(json.dumps(POLICY))
    command = [sys.executable, "-m", "shoal", "risk", f"{system}:///{tmp_path}/none.db", "--policy"]
    run = subprocess.run([*command, tmp_path / "policy.json"], capture_output=True, text=True, check=False)
    assert (run.returncode, len(run.stderr.splitlines())) == (2, 2), run.stderr


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"columns": {"age": "quasi-identifier"}}, "there is no `columns`"),
        ({"models": [{"model": "t-closeness", "t": 0.2, "sensitive": "diagnoses.result"}]}, "not by t-closeness"),
        ({"models": [{"model": "l-diversity", "l": 2, "sensitive": "result"}]}, "written table.column"),
        ({"relations": {"person": "nobody", "tables": TABLES}}, "which is not there"),
    ],
)
def test_policies_that_cannot_be(more: dict[str, Any], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        shoal.publish({}, {**POLICY, **more})


def test_who_cannot_be_hidden_and_what_nobody_decided(tmp_path: Path, data: Path) -> None:
    few = {**POLICY, "models": [{"model": "k-anonymity", "k": 61}]}
    assert "There are 60 persons" in (shoal.publish(data, few, output=tmp_path / "safe").refusal or "")
    named = clinic()
    named["visits"] = named["visits"].with_columns(email=pl.format("p{}@example.org", pl.int_range(pl.len())))
    found = shoal.publish(named, POLICY, output=tmp_path / "safe")
    assert (found.verdict, found.output) == ("refused", None)
    assert "visits.email" in (found.refusal or "")
    assert not (tmp_path / "safe").exists()
    with pytest.raises(InputError, match="about several tables"):
        shoal.anonymize(named["patients"], POLICY)


def test_types_and_hierarchies_of_single_tables(tmp_path: Path) -> None:
    frames = clinic()
    tables = {**TABLES, "diagnoses": {**TABLES["diagnoses"], "types": {"code": "nominal"}}}
    tree = [["K", "low", "*"], ["L", "low", "*"], ["M", "high", "*"], ["N", "high", "*"]]
    policy = {**POLICY, "relations": {"person": "patients", "tables": tables}, "hierarchies": {"diagnoses.code": tree}}
    assert shoal.publish(frames, policy, output=tmp_path / "safe").verdict == "holds"
    cells = set(pl.read_csv(tmp_path / "safe" / "diagnoses.csv")["code"])
    assert cells <= {"K", "L", "M", "N", "low", "high", "*"}
    assert cells & {"low", "high"}
    assert shoal.verify(tmp_path / "safe", original=frames).holds


def test_rows_are_packed_and_views_need_no_rows() -> None:
    rows = np.array([5, 1, 1, 9])
    assert unpacked(packed(rows)).tolist() == rows.tolist()
    policy = shoal.Policy.model_validate(POLICY)
    assert policy.relations is not None
    tables = {name: shoal.read(frame) for name, frame in clinic().items()}
    nothing = {name: one if name == "patients" else one.take(np.zeros(0, np.int64)) for name, one in tables.items()}
    assert judge_views(LinkedTables.of(policy.relations, nothing), policy).sizes.sum() == 60
