"""Releases of several tables, and of tables under differential privacy, forged with every hash made anew."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.policy.manifest import Manifest
from shoal.releases.documents import dictionary_of, json_bytes

ANATOMY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "l-diversity", "l": 2, "sensitive": "illness"}],
}
LINKED: dict[str, Any] = {
    "relations": {
        "person": "people",
        "tables": {
            "people": {"key": "id", "columns": {"age": "quasi-identifier"}},
            "visits": {"references": {"who": "people"}, "columns": {"day": "quasi-identifier", "result": "sensitive"}},
        },
    },
    "models": [{"model": "k-anonymity", "k": 3}],
}
PRIVATE: dict[str, Any] = {
    "columns": {"sex": "quasi-identifier", "ill": "sensitive"},
    "domains": {"sex": ["F", "M"], "ill": ["a", "b", "c"]},
}
Told = dict[str, Any]
SSN = pl.format("123-45-{}", pl.int_range(1000, 1000 + pl.len()))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _people(rows: int = 60) -> pl.DataFrame:
    draw = np.random.default_rng(0)
    return pl.DataFrame(
        {"age": draw.integers(20, 60, rows), "sex": draw.choice(["f", "m"], rows),
         "illness": draw.choice(["flu", "cold", "none"], rows)}
    )  # fmt: skip


def _anatomised(folder: Path) -> Path:
    shoal.release(shoal.anonymize(_people(), ANATOMY, method="anatomy"), folder / "safe", shuffle=True)
    return folder / "safe"


def _linked(folder: Path, output: str = "safe") -> Path:
    draw = np.random.default_rng(1)
    (folder / "in").mkdir()
    pl.DataFrame({"id": range(40), "age": draw.integers(20, 60, 40)}).write_csv(folder / "in" / "people.csv")
    visits = {"who": draw.integers(0, 40, 60), "day": draw.integers(0, 90, 60), "result": draw.choice(["x", "y"], 60)}
    pl.DataFrame(visits).write_csv(folder / "in" / "visits.csv")
    address = str(folder / "safe") if output == "safe" else f"sqlite:///{folder}/safe/{output}"
    assert shoal.publish(folder / "in", LINKED, output=address).verdict == "holds"
    return folder / "safe"


MADE: dict[str, Callable[[Path], Path]] = {"anatomy": _anatomised, "linked": _linked}
POLICIES = {"anatomy": ANATOMY, "linked": LINKED}


def _put(folder: Path, told: Told) -> None:
    """The manifest with the hashes and row counts of the files as they are now, and no private record."""
    for entry in told["tables"].values():
        entry["sha256"] = _sha256(folder / entry["file"])
        entry["rows"] = pl.read_csv(folder / entry["file"], infer_schema=False).height
    told["files"] = {name: _sha256(folder / name) for name in told.get("files", {})}
    (folder / "tables.json").write_text(json.dumps(told))
    shutil.rmtree(folder.with_name("safe.private"), ignore_errors=True)


def _changed(folder: Path, table: str, **columns: pl.Expr) -> None:
    path = folder / f"{table}.csv"
    pl.read_csv(path, infer_schema=False).with_columns(**columns).write_csv(path)


def _told_of(told: Told, table: str, name: str) -> None:
    """An entry for one more column, that was decided and stayed as it was."""
    like = {**told["tables"][table]["columns"][-1], "nature": "unchanged", "technique": "none", "role": "other"}
    like |= {"name": name, "released_as": [name], "form": {**like["form"], "kind": "as-it-was", "type": "text"}}
    told["tables"][table]["columns"].append(like)


def _more(table: str, name: str, said: bool, value: pl.Expr = SSN) -> Callable[[Path, Told], None]:
    def forge(folder: Path, told: Told) -> None:
        _changed(folder, table, **{name: value})
        if said:
            _told_of(told, table, name)

    return forge


def _raw_keys(folder: Path, told: Told) -> None:
    keys = {key: str(place) for place, key in enumerate(pl.read_csv(folder / "people.csv")["id"].to_list())}
    _changed(folder, "people", id=pl.col("id").replace(keys))
    _changed(folder, "visits", who=pl.col("who").replace(keys))


def _quoted(table: str) -> Callable[[Path, Told], None]:
    def forge(folder: Path, told: Told) -> None:
        head, *rows = (folder / f"{table}.csv").read_text().splitlines()
        rows[3] = ",".join(f'"{cell}"' for cell in rows[3].split(","))
        (folder / f"{table}.csv").write_text("\n".join([head, *rows, ""]))

    return forge


def _figures(folder: Path, told: Told) -> None:
    told["models"][0]["worst"]["size"] = 50


def _coarser(table: str, name: str) -> Callable[[Path, Told], None]:
    """A sensitive column as sets, in which every value is held."""

    def forge(folder: Path, told: Told) -> None:
        _changed(folder, table, **{name: pl.lit("*")})
        entry = next(one for one in told["tables"][table]["columns"] if one["name"] == name)
        entry |= {"form": {**entry["form"], "kind": "set"}, "nature": "truthful"}

    return forge


FORGED: list[tuple[str, str, Callable[[Path, Told], None]]] = [
    ("anatomy", "a column more", _more("quasi-identifiers", "ssn", False)),
    ("anatomy", "a column more, told", _more("quasi-identifiers", "ssn", True)),
    ("anatomy", "a column more beside the values", _more("sensitive", "ssn", True)),
    ("anatomy", "the value beside exact ones", _more("quasi-identifiers", "illness", True, pl.lit("flu"))),
    ("anatomy", "counts in another spelling", lambda f, t: _changed(f, "sensitive", count=pl.col("count") + ".0")),
    ("anatomy", "other figures", _figures),
    ("anatomy", "values made coarser", _coarser("sensitive", "illness")),
    ("linked", "a column more", _more("people", "ssn", False)),
    ("linked", "a column more, told", _more("visits", "ssn", True)),
    ("linked", "the keys that were there", _raw_keys),
    ("linked", "another spelling", lambda f, t: _changed(f, "people", age=pl.col("age").str.replace(r"\[", "[0"))),
    ("linked", "quotes that mark a record", _quoted("people")),
    ("linked", "other figures", _figures),
    ("linked", "values made coarser", _coarser("visits", "result")),
]


@pytest.mark.parametrize(("kind", "what", "forge"), FORGED, ids=[f"{kind}: {what}" for kind, what, _ in FORGED])
def test_forged_tables_are_refused(tmp_path: Path, kind: str, what: str, forge: Callable[[Path, Told], None]) -> None:
    safe = MADE[kind](tmp_path)
    told = json.loads((safe / "tables.json").read_text())
    forge(safe, told)
    _put(safe, told)
    assert not shoal.verify(safe, POLICIES[kind]).holds
    assert not shoal.verify(safe).holds


@pytest.mark.parametrize("kind", list(MADE))
def test_what_was_not_forged_holds(tmp_path: Path, kind: str) -> None:
    safe = MADE[kind](tmp_path)
    assert shoal.verify(safe, POLICIES[kind]).holds
    _put(safe, json.loads((safe / "tables.json").read_text()))
    found = shoal.verify(safe, POLICIES[kind])
    assert found.holds
    assert "claimed, not checked" in next(one.detail for one in found.checks if one.name == "figures")


@pytest.mark.parametrize("more", [{"models": [{"model": "k-anonymity", "k": 3}]}, {"leak": "10%"}])
def test_anatomy_certifies_nothing_that_it_does_not_keep(tmp_path: Path, more: dict[str, Any]) -> None:
    safe = _anatomised(tmp_path)
    asked = {**ANATOMY, "models": [*ANATOMY["models"], *more.get("models", [])]}
    asked |= {"leak": {"leaked": more["leak"], "threshold": 0.05}} if "leak" in more else {}
    found = shoal.verify(safe, asked)
    assert "not k-anonymity" in found.reasons() or "not leak" in found.reasons()


def test_a_table_more_in_the_file_of_a_database_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("adbc_driver_sqlite")
    safe = _linked(tmp_path, "clinic.db")
    assert shoal.verify(safe).holds
    with sqlite3.connect(safe / "clinic.db") as connection:
        connection.execute("CREATE TABLE raw (id INTEGER, age INTEGER)")
    told = json.loads((safe / "tables.json").read_text())
    for entry in told["tables"].values():
        entry["sha256"] = _sha256(safe / "clinic.db")
    (safe / "tables.json").write_text(json.dumps(told))
    shutil.rmtree(safe.with_name("safe.private"))
    assert "table raw" in shoal.verify(safe).reasons()


# Under differential privacy: whoever writes the manifest writes the accounting; the policy and the file stay.


def _drawn(folder: Path) -> Path:
    draw = np.random.default_rng(0)
    frame = pl.DataFrame({"sex": draw.choice(["F", "M"], 400), "ill": draw.choice(["a", "b", "c"], 400)})
    shoal.dp_release(frame, PRIVATE, epsilon="1", delta="1e-6", output=folder / "made.csv")
    return folder / "made.csv"


def _forged(made: Path, **changes: Any) -> None:
    told = json.loads(made.with_suffix(".manifest.json").read_text())
    told |= {"data_sha256": _sha256(made), "written": pl.read_csv(made).height, **changes}
    dictionary = json_bytes(dictionary_of(Manifest.model_validate(told)))
    made.with_suffix(".dictionary.json").write_bytes(dictionary)
    told["parts"]["dictionary"] = hashlib.sha256(dictionary).hexdigest()
    made.with_suffix(".manifest.json").write_text(json.dumps(told))
    made.with_suffix(".private.json").unlink()


def test_a_manifest_does_not_put_noise_in_the_place_of_the_models_of_a_policy(tmp_path: Path) -> None:
    made = _drawn(tmp_path)
    assert shoal.verify(made, PRIVATE).holds
    assert shoal.verify(made, made.with_suffix(".policy.yaml")).holds
    pl.DataFrame({"sex": ["F", "M", "M"], "ill": ["a", "b", "c"]}).write_csv(made)
    _forged(made)
    asked = PRIVATE | {"models": [{"model": "k-anonymity", "k": 2}]}
    assert "not differential privacy" in shoal.verify(made, asked).reasons()
    assert "claimed, not checked" in next(c.detail for c in shoal.verify(made).checks if c.name == "noise")


@pytest.mark.parametrize(("epsilon", "delta", "holds"), [(1, 1e-6, True), (2, 1e-5, True), (0.5, 1e-6, False),
                                                         (1, 1e-9, False)])  # fmt: skip
def test_the_budget_is_the_policys(tmp_path: Path, epsilon: float, delta: float, holds: bool) -> None:
    asked = PRIVATE | {"method": {"name": "dp", "epsilon": epsilon, "delta": delta}}
    found = shoal.verify(_drawn(tmp_path), asked)
    assert found.holds is holds
    assert {one.name: one.holds for one in found.checks}["budget"] is holds


def test_dictionary_spelling_and_silent_columns_of_a_drawn_table(tmp_path: Path) -> None:
    made = _drawn(tmp_path)
    head, first, *rest = made.read_text().splitlines()
    made.write_text("\n".join([head, ",".join(f'"{cell}"' for cell in first.split(",")), *rest, ""]))
    _forged(made)
    assert "file" in shoal.verify(made).reasons()
    made.with_suffix(".dictionary.json").unlink()
    assert "dictionary is missing" in shoal.verify(made).reasons()
    more = pl.read_csv(made).with_columns(ssn=SSN)
    told = json.loads(made.with_suffix(".manifest.json").read_text())
    more.write_csv(made)
    made.with_suffix(".private.json").touch()
    _forged(made, columns=[*told["columns"], {**told["columns"][-1], "name": "ssn", "released_as": ["ssn"]}])
    assert "ssn looks like an identifier" in shoal.verify(made, PRIVATE).reasons()
