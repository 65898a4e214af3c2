"""A publication is written in the format in which its source came, and its folder is accepted."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from accepted import ACCEPTED
from shoal.storage.formats import ColumnLabels, format_of
from shoal.storage.reading import read

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    "models": [{"model": "k-anonymity", "k": 3}],
    "attacks": ACCEPTED,
}
PEOPLE = pl.DataFrame({"age": [30, 34, 51, 52] * 6, "sex": [1, 2] * 12, "illness": [1, 2, 3] * 8})
LABELS = {"sex": ColumnLabels("Sex of the person", {1: "female", 2: "male"})}
NEEDS = {".sav": "pyreadstat", ".dta": "pyreadstat", ".xlsx": "xlsxwriter"}


@pytest.mark.parametrize("ending", [".sav", ".dta", ".xlsx", ".avro", ".feather", ".jsonl", ".parquet", ".tsv"])
def test_the_format_of_the_source_is_kept(tmp_path: Path, ending: str) -> None:
    if ending in NEEDS:
        pytest.importorskip(NEEDS[ending])
    source = tmp_path / f"people{ending}"
    form = format_of(source)
    assert form is not None
    assert form.write is not None
    form.write(PEOPLE, source, LABELS)
    shoal.publish(source, POLICY, output=tmp_path / "release", pdf=False)
    assert (tmp_path / "release" / f"data{ending}").exists()
    assert shoal.verify(tmp_path / "release").verdict == "holds"
    if ending in (".sav", ".dta"):
        assert read(tmp_path / "release" / f"data{ending}").labels["sex"].label == "Sex of the person"


def test_a_source_that_cannot_be_written_so_becomes_csv(tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text(PEOPLE.write_csv())
    shoal.publish(tmp_path / "people.txt", POLICY, output=tmp_path / "release", pdf=False)
    assert (tmp_path / "release" / "data.csv").exists()


@pytest.mark.parametrize("zone", [None, "Europe/Rome"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_in_json_lines_are_as_they_were(tmp_path: Path, zone: str | None, unit: Any) -> None:
    start = datetime(2020, 1, 31, 23, 59, 58)
    times = pl.Series("at", [start + timedelta(hours=7 * row, milliseconds=row) for row in range(24)])
    at = times.cast(pl.Datetime(unit)).dt.replace_time_zone(zone)
    policy = shoal.Policy.model_validate({**POLICY, "columns": {**POLICY["columns"], "at": "other"}})
    table = PEOPLE.with_columns(at)
    found = shoal.release(shoal.anonymize(table, policy), tmp_path / "safe.jsonl")
    assert found.verdict == "holds"
    first = pl.read_ndjson(tmp_path / "safe.jsonl")["at"].sort()[0]
    assert first.startswith("2020-01-31 23:59:58.000000")
    assert first.endswith("+01:00") == (zone is not None)
