"""Honest releases that were refused once: the file gives its values back, in whatever way its format writes them."""

from __future__ import annotations

import hashlib
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import ShoalError
from shoal.policy.manifest import manifest_path
from shoal.storage.reading import read

ROWS = 24
POLICY = {
    "columns": {"a": "quasi-identifier", "b": "quasi-identifier", "s": "other", "z": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
}
METHODS = ["mondrian", "lattice", "suppress", "sorted-clusters", "microaggregate"]


def table(values: list[Any], dtype: Any = None, z: list[float] | None = None) -> pl.DataFrame:
    columns = {"a": pl.Series(values, dtype=dtype), "b": [row % 2 for row in range(ROWS)]}
    return pl.DataFrame({**columns, "s": ["xyz"[row % 3] for row in range(ROWS)], "z": z or [1.5] * ROWS})


def released(frame: pl.DataFrame, path: Path, method: str) -> Path:
    shoal.release(shoal.anonymize(frame, POLICY, method=method), path, force=True)
    assert shoal.verify(path, POLICY, original=frame).verdict == "holds"
    return path


def changed(path: Path, old: str, new: str) -> Path:
    """The file with one text for another, once, and the hash of that."""
    before, text = path.read_bytes(), path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    manifest = manifest_path(path)
    hashes = [hashlib.sha256(content).hexdigest() for content in (before, path.read_bytes())]
    manifest.write_text(manifest.read_text().replace(*hashes))
    for part in ("private.json", "plan.json"):
        path.with_name(path.stem + "." + part).unlink(missing_ok=True)
    return path


def verdict(path: Path, original: pl.DataFrame | None = None) -> str:
    try:
        return shoal.verify(path, POLICY, original=original).verdict
    except ShoalError:
        return "refused"


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("numbers", ["halves", "whole", "negative"])
def test_decimals_keep_their_zeros(numbers: str, method: str, ending: str, tmp_path: Path) -> None:
    steps = {"halves": Decimal("0.5"), "whole": Decimal(1), "negative": Decimal("-0.25")}[numbers]
    frame = table([steps * (row % 4) for row in range(ROWS)], pl.Decimal(10, 2))
    path = released(frame, tmp_path / f"safe.{ending}", method)
    if ending == "csv" and method != "sorted-clusters":
        assert {line.split(",")[0] for line in path.read_text().splitlines()[1:]} == {
            f"{steps * place + 0:.2f}" for place in range(4)
        }


@pytest.mark.parametrize("missing", [False, True])
def test_a_decimal_has_one_text(missing: bool, tmp_path: Path) -> None:
    """Another number of zeros would mark a record."""
    values = [None if missing and row < 4 else Decimal("0.5") * (row % 4) for row in range(ROWS)]
    frame = table(values, pl.Decimal(10, 2))
    for old, new in (("1.50", "1.5"), ("1.00", "1"), ("0.50", ".50"), ("0.50", "0.500"), ("1.00", "01.00")):
        path = released(frame, tmp_path / "safe.csv", "suppress")
        assert verdict(changed(path, old, new)) == "refused", (old, new)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize(
    "values",
    [
        [date(2020, 1, 1) + timedelta(5 * row) for row in range(ROWS)],
        [datetime(2020, 1, 1, 3) + timedelta(hours=31 * row) for row in range(ROWS)],
        [datetime(2020, 1, 1, 3) + timedelta(microseconds=7_000_001 * row) for row in range(ROWS)],
    ],
)
def test_means_of_dates(values: list[Any], ending: str, tmp_path: Path) -> None:
    released(table(values), tmp_path / f"safe.{ending}", "microaggregate")


def test_a_mean_of_dates_has_one_text_and_is_that_of_its_class(tmp_path: Path) -> None:
    frame = table([date(2020, 1, 1) + timedelta(5 * row) for row in range(ROWS)])
    for new in ("2020-1-", "2020-01- ", "2021-01-"):
        path = released(frame, tmp_path / "safe.jsonl", "microaggregate")
        assert "2020-01-" in path.read_text()
        assert verdict(changed(path, "2020-01-", new), frame) == "refused", new


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("method", METHODS[:3] + METHODS[4:])
def test_both_zeros(method: str, ending: str, tmp_path: Path) -> None:
    """A quasi-identifier has one zero, so that no sign marks a record; another column keeps the sign of each."""
    zeros = [0.0, -0.0, 1.5, -2.5] * (ROWS // 4)
    path = released(table([0.0, -0.0] * (ROWS // 2), z=zeros), tmp_path / f"safe.{ending}", method)
    shown = read(path)
    assert str(shown["a"].decode().unique().to_list()) in ("[0.0]", "['0.0']")
    texts = [line.split(",")[-1] for line in path.read_text().splitlines()[1:]] if ending == "csv" else None
    assert texts is None or texts == [str(value) for value in zeros]


def test_a_sign_that_was_changed_is_noticed(tmp_path: Path) -> None:
    frame = table([0.0] * ROWS, z=[0.0, -0.0] * (ROWS // 2))
    path = released(frame, tmp_path / "safe.csv", "suppress")
    assert verdict(changed(path, "x,-0.0" if "x,-0.0" in path.read_text() else "y,-0.0", "y,0.0"), frame) == "refused"
    path = released(frame, tmp_path / "safe.csv", "suppress")
    assert verdict(changed(path, "\n0.0,", "\n-0.0,")) == "refused"


def test_a_policy_with_half_a_character_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text('columns:\n  a: quasi-identifier\n  "b\\ud800": other\nmodels: [{model: k-anonymity, k: 3}]\n')
    with pytest.raises(ShoalError, match="line 3: half of a character") as error:
        shoal.anonymize(table([1] * ROWS), path)
    str(error.value).encode()
