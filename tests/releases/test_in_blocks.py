"""Many rows are written block by block, and nothing tells that from the file: byte by byte it is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import shoal
from shoal.releases import in_blocks

PEOPLE = shoal.sample_data("discharges", 700, 3).with_columns(
    name=pl.Series([f"person {row}" for row in range(700)]),
    ward=pl.Series([None if row % 9 == 0 else "ab*"[row % 3] for row in range(700)]),
)
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age_yrs", "sex", "race", "los"],
    "sensitive": "charge",
    "decide": {"name": "identifier", **dict.fromkeys(["oshpd_id", "ethncty", "patzip", "patcnty", "ward"], "other")}
    | {"adm_qtr": "other"},
}


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 64 rows, from 100 on."""
    monkeypatch.setattr(in_blocks, "MANY_ROWS", 100)
    monkeypatch.setattr(in_blocks, "_ROWS", 64)


METHODS: list[dict[str, Any]] = [
    {"method": "sorted-clusters", "k": 3},
    {"method": "sorted-clusters", "k": 3, "interval": "columns"},
    {"method": "mondrian", "k": 5, "effort": "fast"},
    {"method": "lattice", "k": 5, "suppression": 0.2},
    {"method": "suppress", "k": 2},
]


@pytest.mark.parametrize(
    ("settings", "ending", "shuffle"),
    [
        *((settings, "parquet", shuffle) for settings in METHODS for shuffle in (True, False)),
        *((METHODS[3], ending, True) for ending in ("csv", "arrow", "jsonl")),
    ],
    ids=str,
)
def test_blocks_are_written_as_the_whole_is(
    settings: dict[str, Any], ending: str, shuffle: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    result = shoal.anonymize(PEOPLE, **ROLES, **settings)
    whole, blocks = tmp_path / f"whole.{ending}", tmp_path / f"blocks.{ending}"
    first = shoal.release(result, whole, shuffle=shuffle, seed=8)
    request.getfixturevalue("few_are_many")
    second = shoal.release(result, blocks, shuffle=shuffle, seed=8)
    assert blocks.read_bytes() == whole.read_bytes()
    figures = ("k", "written", "suppressed_rows", "blanked_cells", "removed_rows", "respelled_cells")
    assert [getattr(second, name) for name in figures] == [getattr(first, name) for name in figures]
    assert [(check.name, check.holds) for check in second.checks] == [
        (check.name, check.holds) for check in first.checks
    ]
    assert shoal.verify(blocks, original=PEOPLE).holds


def test_what_is_released_in_blocks_is_read_back_and_refused(
    few_are_many: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that changes one cell: the draft is measured, not what was meant."""
    result = shoal.anonymize(PEOPLE, **ROLES, **METHODS[0])
    true_frame = in_blocks.frame_of

    def wrong(block: Any, path: Path) -> pl.DataFrame:
        frame = true_frame(block, path)
        return frame.with_columns(
            pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("[0;1]")).otherwise("age_yrs").alias("age_yrs")
        )

    monkeypatch.setattr(in_blocks, "frame_of", wrong)
    with pytest.raises(shoal.ShoalError, match="age_yrs"):
        shoal.release(result, tmp_path / "safe.parquet", shuffle=True, seed=8)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_lines_of_a_text_file_are_the_same_in_blocks(
    ending: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wards = ["north", "a, b", "a\tb", 'say "so"', None, "", " blank ", "two\nlines"]
    people = pl.DataFrame(
        {
            "age": [20 + row % 7 for row in range(700)],
            "job": [["clerk", "monk", "*"][row % 3] for row in range(700)],
            "ward": pl.Series([wards[row % len(wards)] for row in range(700)], dtype=pl.String),
            "pay": pl.Series([[1.5, 0.25, 3.0, None][row % 4] for row in range(700)]),
            "seen": pl.Series([row % 5 for row in range(700)]).cast(pl.Datetime("us", "Europe/Vienna")),
        }
    )
    decide = dict.fromkeys(["ward", "pay", "seen"], "other")
    result = shoal.anonymize(
        people, quasi_identifiers=["age", "job"], k=5, method="lattice", suppression=0.2, decide=decide
    )
    whole, blocks = tmp_path / f"whole.{ending}", tmp_path / f"blocks.{ending}"
    shoal.release(result, whole, shuffle=True, seed=8)
    request.getfixturevalue("few_are_many")
    shoal.release(result, blocks, shuffle=True, seed=8)
    assert blocks.read_bytes() == whole.read_bytes()
    assert shoal.verify(blocks, original=people).holds
