"""Safe harbor on a million rows of 20 columns, and four million pseudonyms, beside scripts written by hand.

The hand-written scripts know the columns and their formats; they look at nothing, check nothing and write no manifest.
"""

from __future__ import annotations

import hashlib
import hmac
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import DATA, measure, row, run_job, shoal_command, title

ROWS = 1_000_000
PERSONS = 4_000_000


def visits() -> Path:
    """Visits with identifiers of many kinds, made once."""
    path = DATA / f"visits-{ROWS}.csv"
    if path.exists():
        return path
    import numpy as np
    import polars as pl

    DATA.mkdir(exist_ok=True)
    r = np.random.default_rng(0)
    person = r.integers(0, ROWS // 3, ROWS)
    first = np.array(["Ada", "Alan", "Grace", "Linus", "Mary", "James", "Emily", "Kevin", "Rosa", "Carlos"])
    last = np.array(["Smith", "Okafor", "Johnson", "Patel", "Nguyen", "Carter", "Boyle", "King", "Stone", "Brown"])
    days = np.datetime64("2009-01-01") + r.integers(0, 1400, ROWS).astype("timedelta64[D]")
    born = np.datetime64("1915-01-01") + (person % 33_000).astype("timedelta64[D]")
    frame = pl.DataFrame(
        {
            "patient_id": person,
            "patient_name": first[person % 10] + np.array([" "]) + last[person // 10 % 10],
            "dob": born,
            "admitted": days,
            "discharged": days + r.integers(1, 30, ROWS).astype("timedelta64[D]"),
            "age": 2012 - born.astype("datetime64[Y]").astype(int) - 1970,
            "sex": np.array(["f", "m"])[person % 2],
            "race": r.integers(1, 7, ROWS),
            "zip": person % 99_999 + 1,
            "state": np.array(["NY", "CA", "TX", "MA", "IL", "WA", "OR", "FL", "GA", "OH"])[person % 10],
            "city": np.array(["Boston", "Chicago", "Houston", "Phoenix", "Dallas", "Austin", "Denver"])[person % 7],
            "ssn": person + 100_000_000,
            "mrn": person * 7 + 10_000_000,
            "phone": person * 11 + 2_000_000_000,
            "diagnosis": np.array(["E11.9", "I10", "J45", "F32.1", "N39.0"])[r.integers(0, 5, ROWS)],
            "los": r.integers(1, 30, ROWS),
            "charge": np.round(r.lognormal(8, 1, ROWS), 2),
            "insurer": np.array(["public", "private", "none", "other"])[r.integers(0, 4, ROWS)],
        }
    )
    frame = frame.with_columns(
        pl.col("admitted").dt.strftime("%m/%d/%Y"),
        pl.col("discharged").dt.strftime("%Y-%m-%dT10:15:30"),
        pl.col("zip").cast(pl.String).str.zfill(5),
        email=pl.format("user{}@example.org", "patient_id"),
        phone=pl.col("phone").cast(pl.String).str.replace(r"^(...)(...)(....).*", "($1) $2-$3"),
        ssn=pl.col("ssn").cast(pl.String).str.replace(r"^(...)(..)(....)$", "$1-$2-$3"),
        notes=pl.format("The patient {} came with pain and fever and left well.", "mrn"),
    )
    frame.write_csv(path)
    return path


def by_hand() -> Callable[[], Any]:
    """The same columns dropped and cut by a script that knows them."""
    import polars as pl

    path = visits()

    def job() -> None:
        frame = pl.read_csv(path, schema_overrides={"zip": pl.String})
        old = pl.col("age") >= 90
        frame = frame.drop("patient_id", "patient_name", "city", "ssn", "mrn", "phone", "email", "notes").with_columns(
            pl.when(old).then(pl.lit("90+")).otherwise(pl.col("age").cast(pl.String)).alias("age"),
            pl.when(old).then(pl.lit("90+")).otherwise(pl.col("dob").str.slice(0, 4)).alias("dob"),
            pl.col("admitted").str.slice(6, 4),
            pl.col("discharged").str.slice(0, 4),
            pl.col("zip").str.slice(0, 3),
        )
        frame.write_csv(DATA / "by-hand.csv")

    return job


def persons() -> Path:
    """Four million persons, made once."""
    path = DATA / f"persons-{PERSONS}.parquet"
    if not path.exists():
        import polars as pl

        DATA.mkdir(exist_ok=True)
        pl.DataFrame({"patient_id": [f"P{number:08d}" for number in range(PERSONS)]}).write_parquet(path)
    return path


def keyed_by_hand() -> Callable[[], Any]:
    """One HMAC per row with the standard library."""
    import polars as pl

    path, key = persons(), bytes(range(32))

    def job() -> None:
        values = pl.read_parquet(path)["patient_id"].to_list()
        made = [hmac.new(key, value.encode(), hashlib.sha256).hexdigest()[:32] for value in values]
        pl.DataFrame({"patient_id": made}).write_parquet(DATA / "by-hand.parquet")

    return job


JOBS = {"by_hand": by_hand, "keyed_by_hand": keyed_by_hand}


def main() -> None:
    """Print ours, the script's and the ratio."""
    path, target = visits(), str(DATA / "safe.csv")
    title(f"safe harbor, {ROWS:,} rows x 20 columns")
    hand = measure(__file__, "by_hand")
    row("a script by hand (no detection, no checks)", hand)
    row("shoal safe-harbor", shoal_command("safe-harbor", str(path), "-o", target, "--force", "--json"), hand)
    title(f"pseudonyms, {PERSONS:,} distinct persons")
    hand = measure(__file__, "keyed_by_hand")
    row("a script by hand, HMAC-SHA-256", hand)
    common = ("pseudonymize", str(persons()), "--column", "patient_id", "--key-file", str(DATA / "key.bin"), "--force")
    out = ("-o", str(DATA / "pseudonyms.parquet"), "--json")
    row("shoal pseudonymize, HMAC-SHA-256", shoal_command(*common, *out), hand)
    row("shoal pseudonymize, BLAKE2b", shoal_command(*common, *out, "--method", "blake2b"), hand)
    row("shoal pseudonymize, short", shoal_command(*common, *out, "--format", "short"), hand)
    title("dates moved")
    arguments = ("--person", "patient_id", "--columns", "dob,admitted,discharged", "--key-file", str(DATA / "key.bin"))
    row("shoal shift-dates", shoal_command("shift-dates", str(path), *arguments, "-o", target, "--force", "--json"))


if __name__ == "__main__":
    run_job(JOBS[sys.argv[1]]) if len(sys.argv) > 1 else main()
