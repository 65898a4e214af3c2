"""Thousands of rows with known identifiers of every clause: nothing of them is in what is written or said."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import defaultdict
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from detection import labelled_makers as m

ROWS = 3000
PERSONS = 2000


@cache
def planted(seed: int = 11) -> tuple[pl.DataFrame, dict[str, set[str]]]:
    """A table about nobody, and everything in it that must not leave, by the column it stands in."""
    r = random.Random(seed)
    persons = [_person(r, number) for number in range(PERSONS)]
    rows = []
    for _ in range(ROWS):
        person = dict(r.choice(persons))
        stay = date(2009, 1, 1) + timedelta(days=r.randrange(4 * 365 - 40))
        person |= {
            "admitted": stay.strftime("%m/%d/%Y"),
            "discharge_ts": (stay + timedelta(days=r.randint(1, 30))).strftime("%Y-%m-%dT10:15:30"),
            "visit_month": stay.strftime("%b %Y"),
            "visit_id": f"V{r.randrange(10**9):09d}",
            "notes": f"{person['first_name']} {person['last_name']} came on {stay:%d %B %Y} with {m.word(r)}, is well.",
            "outcome": _remark(r, person, stay),
            "diagnosis": r.choice(["E11.9", "I10", "J45", "F32.1", "N39.0"]),
            "charge": round(r.uniform(100, 9999), 2),
            "sex": r.choice("fm"),
        }
        rows.append(person)
    frame = pl.DataFrame(rows)
    secret = {
        name: {str(value) for value in frame[name].drop_nulls().to_list()}
        for name in frame.columns
        if name not in ("outcome", "notes", "state", "diagnosis", "charge", "sex", "age")
    }
    secret["notes"] = {" ".join(text.split(" on ")[1].split()[:3]) for text in frame["notes"].to_list()}
    secret["outcome"] = {value for value in frame["outcome"].to_list() if value not in REMARKS}
    secret["birth"] = {row["dob"][:7] for row in persons}
    secret["name parts"] = {row["last_name"] for row in persons} | {row["first_name"] for row in persons}
    return frame, secret


REMARKS = ["none", "stable", "transferred", "follow up"]


def _person(r: random.Random, number: int) -> dict[str, object]:
    born = date(1915, 1, 1) + timedelta(days=r.randrange(90 * 365))
    return {
        "patient_id": f"P{number:07d}",
        "first_name": f"{m.given('en')(r)}{m.word(r)}",
        "last_name": f"{m.surname('en')(r)}{m.word(r)}",
        "dob": born.isoformat(),
        "age": 2012 - born.year,
        "street": m.street("en")(r),
        "city": m.city("en")(r),
        "zip": f"{r.choice(['100', '021', '036', '606', '902'])}{r.randrange(100):02d}-{r.randrange(10**4):04d}",
        "state": r.choice(["NY", "MA", "NH", "IL", "CA", "TX", "WA", "OR", "FL"]),
        "phone": f"({r.randint(201, 989)}) 555-{r.randrange(10**4):04d}",
        "fax": f"{r.choice(['212', '312'])}-{r.randint(200, 999)}-{m.digits(4)(r)}",
        "email": f"{m.word(r)}.{m.word(r)}{number}@example.org",
        "ssn": m.ssn()(r),
        "mrn": m.digits(8)(r),
        "member_id": m.pattern("AAA999999999")(r),
        "account_number": m.digits(11)(r),
        "driver_license": m.pattern("A9999999")(r),
        "vin": m.vin(r),
        "device_serial": m.pattern("AA-9999-9999")(r),
        "website": f"https://{m.word(r)}{number}.example.com/{m.word(r)}",
        "last_ip": ".".join(str(r.randint(11, 254)) for _ in range(4)),
        "fingerprint": m.pattern("hhhhhhhhhhhhhhhh")(r),
        "photo": f"face_{number:06d}.jpg",
        "badge": m.pattern("AA99AA99")(r),
    }


def _remark(r: random.Random, person: dict[str, object], stay: date) -> str:
    """Now and then an identifier in a column that is none."""
    hidden = [
        str(person["email"]), str(person["ssn"]), str(person["phone"]), str(person["website"]), str(person["last_ip"]),
        f"seen {stay.isoformat()}", f"seen {stay:%m/%d/%Y}", f"{stay:%B} {stay.day}, {stay.year}", str(person["vin"]),
        f"MRN {person['mrn']}", str(person["street"]) + " St", f"NY {person['zip']}", "aged 97",
    ]  # fmt: skip
    return r.choice(hidden) if r.random() < 0.02 else r.choice(REMARKS)


def leaks(secret: dict[str, set[str]], text: str) -> dict[str, int]:
    """How many planted texts occur anywhere in a text, by column; all substrings of each length are looked up."""
    by_length: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for name, values in secret.items():
        for value in values:
            if len(value) >= 4:
                by_length[len(value)].append((name, value))
    found: dict[str, int] = defaultdict(int)
    for length, values in by_length.items():
        there = {text[start : start + length] for start in range(len(text) - length + 1)}
        for name, value in values:
            found[name] += value in there
    return {name: count for name, count in found.items() if count}


def texts_of(path: Path) -> str:
    """Everything that can be read in a file: its bytes, and its cells where they are compressed."""
    text = path.read_bytes().decode("latin-1")
    return text + pl.read_parquet(path).write_csv() if path.suffix == ".parquet" else text


def without_hashes(path: Path) -> str:
    """A manifest without digests and its own date, whose digits may spell anything."""
    found = json.loads(path.read_text())
    return json.dumps({key: value for key, value in found.items() if not key.endswith("sha256") and key != "created"})


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nothing_planted_is_in_the_output_the_manifest_or_the_log(tmp_path: Path, ending: str) -> None:
    frame, secret = planted()
    source, target = tmp_path / f"visits.{ending}", tmp_path / f"safe.{ending}"
    frame.write_csv(source) if ending == "csv" else frame.write_parquet(source)
    assert (
        leaks(secret, frame.sample(200, seed=1).write_csv()).keys() == secret.keys()
    )  # the search finds what is there
    command = [sys.executable, "-m", "shoal", "safe-harbor", str(source), "-o", str(target), "--seed", "1"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert done.stderr == ""
    said = [done.stdout, (tmp_path / "safe.dictionary.json").read_text()]
    if ending == "csv":  # what people see, too
        shown = subprocess.run([*command, "--force"], capture_output=True, text=True, check=True)
        said += [shown.stdout, shown.stderr]
    written = [texts_of(target), without_hashes(tmp_path / "safe.manifest.json")]
    assert leaks(secret, "\n".join([*written, *said])) == {}
    assert {clause["clause"] for clause in found["clauses"] if clause["columns"]} == set("ABCDEFGHIJKLMNOPQR")
    kept = pl.read_csv(target) if ending == "csv" else pl.read_parquet(target)
    names = "dob age zip state admitted discharge_ts visit_month outcome diagnosis charge sex"
    assert " ".join(kept.columns) == names
    assert len(kept) == ROWS
    assert set(kept["outcome"].drop_nulls().to_list()) == set(REMARKS)
    assert set(kept["zip"].cast(pl.String).str.zfill(3).to_list()) == {"100", "021", "000", "606", "902"}
    assert set(kept["admitted"].to_list()) <= {2009, 2010, 2011, 2012}


def test_an_error_shows_nothing_either(tmp_path: Path) -> None:
    frame, secret = planted()
    source = tmp_path / "visits.csv"
    frame.with_columns(short=pl.lit("01/02/03")).write_csv(source)
    command = [sys.executable, "-m", "shoal", "safe-harbor", str(source), "-o", str(tmp_path / "safe.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert leaks(secret, done.stdout + done.stderr) == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv"]
