"""Whoever verifies reads by another reader than the one that wrote: a fault of the fast one is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.reading import binary, csv, csv_codes, parquet_pages

FRAME = pl.DataFrame({"city": ["Bern", "Oslo", "Rome"] * 4, "age": [30, 40, 50] * 4})


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are read as large ones are."""
    monkeypatch.setattr(csv, "CHUNK", 0)
    monkeypatch.setattr(csv_codes, "is_worth_it", lambda size, delimiter: True)
    monkeypatch.setattr(binary, "FROM_ROWS", 0)
    monkeypatch.setattr(parquet_pages, "has_loops", lambda: True)


def _as_pisa(texts: pl.Series) -> pl.Series:
    return texts.replace("Rome", "Pisa") if texts.dtype == pl.String else texts


def _faulty_parse(self: Any, body: memoryview) -> Any:
    found = _PARSE(self, body)
    return found and {place: replace(column, new=_as_pisa(column.new)) for place, column in found.items()}


def _faulty_codes(self: Any, column: Any, groups: range) -> Any:
    found = _CODES(self, column, groups)
    return found._replace(values=_as_pisa(found.values))


_PARSE, _CODES = csv_codes.FieldCodes.parse_padded, parquet_pages.CodedFile.codes
FAULTS = {"csv": (csv_codes.FieldCodes, "parse_padded", _faulty_parse),
          "parquet": (parquet_pages.CodedFile, "codes", _faulty_codes)}  # fmt: skip


@pytest.mark.parametrize("kind", list(FAULTS))
@pytest.mark.parametrize("fault", [False, True])
def test_a_reader_that_misreads_both_files_alike_is_found(
    tmp_path: Path, quick: None, kind: str, fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault:
        monkeypatch.setattr(*FAULTS[kind])
    original, release = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    FRAME.write_csv(original) if kind == "csv" else FRAME.write_parquet(original)
    result = shoal.anonymize(original, quasi_identifiers=["age"], k=2, method="sorted-clusters")
    shoal.release(result, release, decide={"city": "other"})
    written = pl.read_csv(release) if kind == "csv" else pl.read_parquet(release)
    assert ("Pisa" in written["city"]) == fault
    assert shoal.verify(release, original=original).verdict == ("refused" if fault else "holds")
