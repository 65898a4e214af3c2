"""Safe harbor on coded tables: areas and identifiers that only the other headers explain."""

from __future__ import annotations

from pathlib import Path

import polars as pl

import shoal

ROWS = range(80)
PUMS = pl.DataFrame(
    {
        "SERIALNO": [f"2019HU{row:07d}" for row in ROWS],
        "PUMA": [100 + row % 20 for row in ROWS],
        "AGEP": [row % 90 for row in ROWS],
        "RAC1P": [row % 9 + 1 for row in ROWS],
        "SCHL": [row % 24 + 1 for row in ROWS],
        "DREM": [1, 2] * 40,
        "PWGTP": [row * 37 % 300 + 1 for row in ROWS],
    }
)


def test_an_area_of_a_census_is_removed_by_the_other_headers() -> None:
    found = shoal.safe_harbor(PUMS)
    assert "PUMA" not in found.polars.columns
    assert {"RAC1P", "SCHL", "DREM"} <= set(found.polars.columns)
    alone = shoal.safe_harbor(PUMS.select("PUMA", pl.col("DREM").alias("colour")))
    assert "PUMA" in alone.polars.columns


def test_a_release_of_it_is_accepted(tmp_path: Path) -> None:
    shoal.release(shoal.safe_harbor(PUMS), tmp_path / "safe.csv")
    assert shoal.verify(tmp_path / "safe.csv").verdict == "holds"
