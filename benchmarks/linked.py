"""Three tables about 100,000 persons published together at k = 5, and a million rows by anatomy: whole commands."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl

from common import DATA, row, shoal_command, title

PERSONS, ROWS = 100_000, 1_000_000
RELATIONS = """relations:
  person: patients
  tables:
    patients: {key: id, columns: {age: quasi-identifier, sex: quasi-identifier, region: quasi-identifier}}
    visits: {key: id, references: {patient_id: patients}, columns: {day: quasi-identifier, ward: quasi-identifier}}
    diagnoses: {references: {visit_id: visits}, columns: {code: quasi-identifier, severity: other, result: sensitive}}
models: [{model: k-anonymity, k: 5}]
"""


def clinic() -> Path:
    """Patients, about 400,000 visits and 1,000,000 diagnoses, made once; no row resembles another but by chance."""
    folder = DATA / "clinic"
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    r = np.random.default_rng(3)
    ids = np.arange(PERSONS) + 100
    ages = np.clip(r.normal(50, 20, PERSONS), 0, 99).astype(int)
    regions = r.choice([f"r{number}" for number in range(20)], PERSONS)
    patients = {"id": ids, "age": ages, "sex": r.choice(["f", "m"], PERSONS), "region": regions}
    whose = np.repeat(ids, r.negative_binomial(4, 0.5, PERSONS))
    numbers, wards = r.permutation(len(whose)), [f"w{number}" for number in range(12)]
    days = r.integers(0, 730, len(whose))
    visits = {"id": numbers, "patient_id": whose, "day": days, "ward": r.choice(wards, len(whose))}
    visit = np.repeat(numbers, r.poisson(2.5, len(numbers)))
    codes, often = [f"{letter}{n:02d}" for letter in "ABCDEFGHIJ" for n in range(20)], 1 / np.arange(1, 201)
    results = r.choice(["neg", "pos", "open", "none", "rare"], len(visit))
    code = r.choice(codes, len(visit), p=often / often.sum())
    diagnoses = {"visit_id": visit, "code": code, "severity": r.integers(1, 6, len(visit)), "result": results}
    for name, columns in {"patients": patients, "visits": visits, "diagnoses": diagnoses}.items():
        pl.DataFrame(columns).write_csv(folder / f"{name}.csv")
    (DATA / "clinic.yaml").write_text(RELATIONS, encoding="utf-8")
    return folder


def people() -> Path:
    """A million rows with a sensitive column of 50 values, made once."""
    path = DATA / "anatomy.csv"
    if not path.exists():
        r = np.random.default_rng(1)
        illness = r.choice([f"ill{number}" for number in range(50)], ROWS)
        pl.DataFrame(
            {"age": r.integers(18, 90, ROWS), "sex": r.choice(["f", "m"], ROWS),
             "zip": r.integers(10_000, 10_950, ROWS), "job": r.integers(0, 40, ROWS), "illness": illness}
        ).write_csv(path)  # fmt: skip
    return path


def main() -> None:
    """Each command once, its release removed first."""
    title("Linked tables, and anatomy")
    out, source, apart = DATA / "linked-release", clinic(), DATA / "apart"
    for folder in (out, apart):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder.with_name(f"{folder.name}.private"), ignore_errors=True)
    published = ("publish", str(source), "--policy", str(DATA / "clinic.yaml"), "-o", str(out))
    row("publish 100,000 / 400,000 / 1,000,000, k = 5", shoal_command(*published, repeat=1))
    row("verify with the original", shoal_command("verify", str(out), "--original", str(source), repeat=1))
    asked = ("anonymize", str(people()), "--method", "anatomy", "--l", "3", "--sensitive", "illness")
    row("anatomy, 1,000,000 rows", shoal_command(*asked, "-o", str(apart), repeat=1))


if __name__ == "__main__":
    main()
