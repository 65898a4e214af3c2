"""Lines that many rows share are written out once, and the file is the one that is written row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.releases import csv_lines, in_blocks

ROWS = 3_000


def _people(ward: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + row % 7 for row in range(ROWS)],
            "job": [["clerk", "monk", "*"][row % 3] for row in range(ROWS)],
            "ward": pl.Series([ward[row % len(ward)] for row in range(ROWS)], dtype=pl.String),
            "pay": pl.Series([[1.5, 0.25, 3.0, None][row % 4] for row in range(ROWS)]),
            "seen": pl.Series([row % 5 for row in range(ROWS)]).cast(pl.Datetime("us", "Europe/Vienna")),
        }
    )


ORDINARY = ["north", "a, b", 'say "so"', None, "", " blank "]


@pytest.mark.parametrize(
    ("ward", "ending", "shuffle", "by_line", "by_loop"),
    [
        (ORDINARY, "csv", True, True, True),
        (ORDINARY, "csv", True, True, False),
        (ORDINARY, "tsv", False, True, True),
        (["two\nlines", "one"], "csv", True, False, True),
        ([f"ward {row}" for row in range(ROWS)], "csv", True, False, True),
    ],
    ids=["csv", "csv without the loop", "tsv", "line ends", "all differ"],
)
def test_lines_are_written_as_rows_are(
    ward: list[Any],
    ending: str,
    shuffle: bool,
    by_line: bool,
    by_loop: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(csv_lines, "at_hand", lambda loop: by_loop)
    people = _people(ward)
    result = shoal.anonymize(
        people,
        quasi_identifiers=["age", "job"],
        k=5,
        method="lattice",
        suppression=0.2,
        decide=dict.fromkeys(["ward", "pay", "seen"], "other"),
    )
    whole, lines = tmp_path / f"whole.{ending}", tmp_path / f"lines.{ending}"
    shoal.release(result, whole, shuffle=shuffle, seed=8)
    monkeypatch.setattr(in_blocks, "MANY_ROWS", 100)
    monkeypatch.setattr(csv_lines, "_ROWS", 64)
    true_write, written = csv_lines.write_lines, list[bool]()

    def noted(*given: Any) -> bool:
        written.append(true_write(*given))
        return written[-1]

    monkeypatch.setattr("shoal.releases.on_disk.write_lines", noted)
    shoal.release(result, lines, shuffle=shuffle, seed=8)
    assert written == [by_line]
    assert lines.read_bytes() == whole.read_bytes()
    assert shoal.verify(lines, original=people).holds
