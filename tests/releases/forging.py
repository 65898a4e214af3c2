"""Forged releases: what a tamperer changes in the data, and what they then write about it. All hashes are made anew and
the data dictionary follows the manifest, so that nothing but the content can give them away.
"""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import shoal
from shoal.errors import ShoalError
from shoal.policy import Policy
from shoal.policy.manifest import Manifest, dictionary_path, manifest_path
from shoal.releases.documents import dictionary_of
from shoal.results.result import as_json

ROWS = 24
PEOPLE = pl.DataFrame(
    {
        "age": [20 + (row * 7) % 41 for row in range(ROWS)],
        "job": [["clerk", "monk", "nurse"][row % 3] for row in range(ROWS)],
        "ill": [["flu", "cold", "hiv"][row // 2 % 3] for row in range(ROWS)],
    }
)
QUASI = ("age", "job")
POLICY = Policy.model_validate(
    {
        "columns": {"age": "quasi-identifier", "job": "quasi-identifier", "ill": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "sensitive": "ill"}],
    }
)
Rows = list[list[str]]
Json = dict[str, Any]


@cache
def _made(method: str) -> Path:
    folder = Path(tempfile.mkdtemp())
    shoal.release(shoal.anonymize(PEOPLE, POLICY, method=method), folder / "safe.csv")
    return folder


def genuine(folder: Path, method: str = "mondrian") -> Path:
    """A release as who receives it has it: without the private record, the plan and the policy."""
    shutil.copytree(_made(method), folder, dirs_exist_ok=True)
    for ending in ("private.json", "plan.json", "policy.yaml"):
        (folder / f"safe.{ending}").unlink(missing_ok=True)
    return folder / "safe.csv"


def rows_of(path: Path) -> Rows:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def write(path: Path, rows: Rows) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def rehash(path: Path, manifest: Json) -> None:
    """Manifest and dictionary that are about the file as it is, as far as their shape allows."""
    manifest = {**manifest, "data_sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "written": ROWS}
    try:
        manifest["policy_sha256"] = Policy.model_validate(manifest["policy"]).digest()
        dictionary = json.dumps(dictionary_of(Manifest.model_validate(manifest)), ensure_ascii=False, indent=2)
        dictionary_path(path).write_text(dictionary)
        manifest["parts"] = {"dictionary": hashlib.sha256(dictionary.encode()).hexdigest()}
    except ValueError:
        pass
    manifest_path(path).write_text(json.dumps(manifest))


# what is wrong with the data: each shows what the policy does not allow, or says of people what is false


def _with_column(name: str, value: Callable[[int], str]) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        return [[*row, name if place == 0 else value(place - 1)] for place, row in enumerate(rows)]

    return change


def _cells(name: str, value: Callable[[int, str], str]) -> Callable[[Rows], Rows]:
    def change(rows: Rows) -> Rows:
        place = rows[0].index(name)
        return [rows[0]] + [
            [value(number, cell) if at == place else cell for at, cell in enumerate(row)]
            for number, row in enumerate(rows[1:])
        ]

    return change


def _true(name: str) -> Callable[[int, str], str]:
    return lambda row, _: str(PEOPLE[name][row])


def _both_ages(rows: Rows) -> Rows:
    """The raw age under its name, and a range that hides nothing of it beside it."""
    rows = _cells("age", _true("age"))(rows)
    rows = _cells("job", lambda row, cell: "*")(rows)
    return _with_column("age_high", lambda row: "60")(_with_column("age_low", lambda row: "20")(rows))


SHOWS: dict[str, Callable[[Rows], Rows]] = {
    "the true ages": _cells("age", _true("age")),
    "one true age": _cells("age", lambda row, cell: "77" if row == 5 else cell),
    "an age spelled in its own way": _cells("age", lambda row, cell: cell.replace("[", "[0") if row == 5 else cell),
    "a job of one's own": _cells("job", lambda row, cell: "pope" if row == 3 else cell),
    "a job emptied": _cells("job", lambda row, cell: "" if row == 3 else cell),
    "a job behind an apostrophe": _cells("job", lambda row, cell: "'=" + cell if row == 3 else cell),
    "the ages twice": _both_ages,
    "numbers of social security": _with_column("code", lambda row: f"123-45-{1000 + row}"),
    "addresses of mail": _with_column("contact", lambda row: f"person{row}@example.org"),
    "exact ages in another column": _with_column("age_exact", lambda row: str(PEOPLE["age"][row])),
}
SAYS_FALSELY: dict[str, Callable[[Rows], Rows]] = {
    "ages that nobody has": _cells("age", lambda row, cell: "[1;2]"),
    "a job that nobody has": _cells("job", lambda row, cell: "pope"),
    "one illness for all but two": _cells("ill", lambda row, cell: ("flu", "cold")[row % 2]),
    "one illness changed": _cells("ill", lambda row, cell: "hiv" if row == 0 else cell),
    "illnesses turned round": lambda rows: [
        rows[0],
        *([*row[:-1], other[-1]] for row, other in zip(rows[1:], rows[:0:-1], strict=True)),
    ],
    "records turned round": lambda rows: [rows[0], *rows[:0:-1]],
}


def smallest_class(path: Path) -> int:
    """What a plain reader counts: rows that are equal text by text in the columns of the policy's quasi-identifiers."""
    rows = rows_of(path)
    places = [rows[0].index(name) for name in QUASI]
    return min(Counter(tuple(row[place] for place in places) for row in rows[1:]).values())


# what is written about it


def _each(manifest: Json, **changes: Any) -> Json:
    return {**manifest, "columns": [{**entry, **changes} for entry in manifest["columns"]]}


def _as_recoded(manifest: Json) -> Json:
    plan = [{"column": entry["name"], "action": "kept", "decided": True} for entry in manifest["columns"]]
    section = {
        "standard": "hipaa-safe-harbor", "source": "x", "records": ROWS, "clauses": [], "details": [], "notes": [],
        "year_of_data": 2020, "year_of_data_from": "x", "to_confirm": [], "plan": plan,
        "zip_populations": {"source": "x", "vintage": "2010"},
    }  # fmt: skip
    form = {"kind": "recoded", "type": "text"}
    return _each(
        {**manifest, "sections": {"safe_harbor": section}}, form=form, nature="recoded", technique="recoded", types=[]
    )


def _as_columns(manifest: Json) -> Json:
    """`age` is said to be in two columns; the column of its name, if there is one, is said to be something else."""
    columns = []
    for entry in manifest["columns"]:
        if entry["name"] == "age":
            form = {"kind": "columns", "type": "integer"}
            names = ["age_low", "age_high"]
            columns.append({**entry, "form": form, "released_as": names, "types": ["integer"] * 2})
            columns.append({**entry, "name": "years", "role": "other", "form": {"kind": "as-it-was", "type": "integer"},
                            "nature": "unchanged", "released_as": ["age"], "types": ["integer"]})  # fmt: skip
        elif entry["name"] not in ("age_low", "age_high"):
            columns.append(entry)
    policy = {**manifest["policy"], "columns": {**manifest["policy"]["columns"], "years": "other"}}
    return {**manifest, "columns": columns, "policy": policy}


def _with_policy(manifest: Json, **changes: Any) -> Json:
    return {**manifest, "policy": {**manifest["policy"], **changes}}


def _roles(manifest: Json) -> Json:
    roles = {entry["name"]: "other" for entry in manifest["columns"]}
    return _each(_with_policy({**manifest, "quasi_identifiers": []}, columns=roles), role="other")


def _formed(kind: str, nature: str, **more: Any) -> Callable[[Json], Json]:
    return lambda manifest: _each({**manifest, **more}, form={"kind": kind, "type": "text"}, nature=nature, types=[])


CLAIMS: dict[str, Callable[[Json], Json]] = {
    "nothing else": lambda manifest: manifest,
    "safe for spreadsheets": lambda manifest: {**manifest, "excel_safe": True},
    "recoded by safe harbor": _as_recoded,
    "in two columns": _as_columns,
    "safe for spreadsheets, in two columns": lambda manifest: _as_columns({**manifest, "excel_safe": True}),
    "pseudonyms": _formed("pseudonym", "pseudonym", method="pseudonymize"),
    "perturbed": _formed("perturbed", "perturbed", method="perturb"),
    "scrubbed": _formed("scrubbed", "scrubbed", method="scrub"),
    "as it was": _formed("as-it-was", "unchanged"),
    "labels": _formed("label", "truthful"),
    "names of nodes": lambda manifest: _with_policy(
        _each(manifest, form={"kind": "node", "labels_are_names": True}, nature="named", types=[]),
        labels_are_names=True,
    ),
    "removed": lambda manifest: _each(manifest, form={"kind": "removed"}, nature="removed"),
    "no quasi-identifiers": _roles,
    "no promise": lambda manifest: _with_policy(
        {**manifest, "no_guarantee": True, "models": [], "verdict": "no guarantee"}, models=[]
    ),
    "personal data": lambda manifest: _with_policy(
        {**manifest, "method": "pseudonymize", "no_guarantee": True, "models": [], "verdict": "no guarantee"}, models=[]
    ),
    "k of 2": lambda manifest: _with_policy(manifest, models=[{"model": "k-anonymity", "k": 2}]),
    "null rule wildcard": lambda manifest: _with_policy(manifest, null_rule="wildcard"),
    "types with words for missing": lambda manifest: _with_policy(
        manifest, types={"job": {"type": "nominal", "missing": ["pope"]}, "age": {"type": "nominal", "missing": ["77"]}}
    ),
    "types that join": lambda manifest: _with_policy(
        manifest, types={"job": {"type": "nominal", "map": {"pope": "clerk"}}, "age": {"type": "ordered"}}
    ),
    "stars written otherwise": lambda manifest: {**manifest, "output": {"suppressed_as": "pope"}},
    "emptied cells": lambda manifest: _each(
        manifest, form={"kind": "as-it-was", "type": "text", "blanked": 9}, nature="unchanged"
    ),
    "not in this order": lambda manifest: {**manifest, "shuffled": True},
    "rows removed": lambda manifest: {**manifest, "removed_rows": 1, "shuffled": False},
}


def forge(path: Path, data: Callable[[Rows], Rows], claim: Callable[[Json], Json]) -> None:
    """Change a release in place: its data, then what is said of it."""
    write(path, data(rows_of(path)))
    manifest = json.loads(manifest_path(path).read_text())
    said = {entry["name"]: entry for entry in manifest["columns"]}
    header = rows_of(path)[0]
    new = {"role": "other", "decided_by": "policy", "nature": "unchanged", "technique": "none",
           "form": {"kind": "as-it-was", "type": "text"}, "types": []}  # fmt: skip
    columns = [{**said.get(name, {**new, "name": name}), "released_as": [name], "types": []} for name in header]
    roles = {**dict.fromkeys(header, "other"), **manifest["policy"]["columns"]}
    manifest |= {"columns": columns, "policy": {**manifest["policy"], "columns": roles}}
    manifest = claim(manifest)
    rehash(path, manifest)
    try:  # who forges measures too, and writes no figure that is found out
        found = shoal.verify(path, Policy.model_validate(manifest["policy"]) if manifest["policy"]["models"] else None)
    except (ShoalError, ValueError):
        return
    manifest["findings"] |= {"k": found.k, "classes": found.classes, "uniques": found.uniques}
    manifest |= {"models": as_json([one.to_dict() for one in found.models]), "suppressed_rows": found.suppressed_rows}
    rehash(path, manifest)
