"""A table is encoded once on its way in, and its release once on its way back; nothing between reads it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.methods import METHODS, chooser
from shoal.policy import as_policy
from shoal.releases.write import release
from shoal.storage.encode import counted_encodings
from shoal.storage.reading import read
from shoal.utility.quality import quality

ROWS, COLUMNS, NAMES = 2_000, 10, ["age", "height", "zip"]
MASKING = {"masking": [{"column": "age", "groups": [0, 30, 60]}]}
HOW: dict[str, dict[str, Any]] = {
    "mondrian": {"k": 5},
    "lattice": {"k": 5, "suppression": 0.3},
    "sorted-clusters": {"k": 5},
    "microaggregate": {"k": 5},
    "coarsen": {"resolution": 2},
    "mask": {"policy": as_policy(MASKING)},
    "recode": {"k": 2, "generalize": {"age": "runs:40", "height": "*", "zip": "chunks:2"}},
    "suppress": {"k": 5},
}
# anatomy changes no value and releases two tables: tests/test_anatomy.py
RECODING = [name for name, kind in METHODS.items() if not kind.keeps_values]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    draw = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "age": draw.integers(18, 90, ROWS),
            "height": draw.integers(150, 200, ROWS),
            "zip": draw.integers(10_000, 10_060, ROWS),
            **{f"answer_{place}": draw.integers(0, 50, ROWS) for place in range(6)},
            "illness": draw.choice(["flu", "cold", "gout", "burn"], ROWS),
        }
    )
    path = tmp_path_factory.mktemp("people") / "people.csv"
    frame.write_csv(path)
    return path


def changed(people: Path, method: str | None, **how: Any) -> shoal.Anonymized:
    return shoal.anonymize(people, quasi_identifiers=NAMES, sensitive="illness", method=method, **how)


@pytest.mark.parametrize("method", [None, *RECODING])
def test_every_column_is_encoded_once_in_and_once_back(people: Path, tmp_path: Path, method: str | None) -> None:
    with counted_encodings() as rows:
        result = changed(people, method, **HOW[method] if method else {"k": 5})
        release(result, tmp_path / "safe.csv", shuffle=True, no_guarantee=True)
    assert sum(count == ROWS for count in rows) == 2 * COLUMNS
    # labels, of which there are fewer than rows, once for each quasi-identifier and method
    assert sum(rows) <= (2 * COLUMNS + len(NAMES)) * ROWS


def test_methods_are_tried_on_rows_that_are_encoded_already(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chooser, "SAMPLE", 500)
    with counted_encodings() as rows:
        result = changed(people, None, k=5)
    assert result.findings.choice is not None
    assert min(entry.rows for entry in result.findings.choice.candidates if entry.rows) == 500
    assert sum(count == ROWS for count in rows) == COLUMNS
    assert sum(count >= 500 for count in rows) == COLUMNS


@pytest.mark.parametrize("method", RECODING)
def test_released_codes_are_those_of_what_is_written(people: Path, method: str) -> None:
    result = changed(people, method, **HOW[method])
    again = read(result.polars.select(result.quasi_identifiers))
    for name, column in result.shown.columns.items():
        assert column.values.equals(again[name].values), name
        assert column.codes.tolist() == again[name].codes.tolist(), name
        assert (column.nulls, column.dtype) == (again[name].nulls, again[name].dtype), name


@pytest.mark.parametrize("method", ["mondrian", "lattice", "suppress", "microaggregate"])
def test_released_codes_with_missing_values_and_texts(method: str) -> None:
    draw = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "age": [None if number % 17 == 0 else int(age) for number, age in enumerate(draw.integers(18, 40, 300))],
            "town": [
                None if number % 23 == 0 else str(town) for number, town in enumerate(draw.choice([*"abc*"], 300))
            ],
        }
    )
    how = {"suppression": 0.5} if method == "lattice" else {}
    result = shoal.anonymize(frame, quasi_identifiers=["age", "town"], k=3, method=method, **how)
    again = read(result.polars.select(result.quasi_identifiers))
    for name, column in result.shown.columns.items():
        assert column.values.equals(again[name].values), name
        assert column.codes.tolist() == again[name].codes.tolist(), name
        assert column.nulls == again[name].nulls, name


def test_quality_of_codes_is_that_of_frames_and_reads_what_it_needs(people: Path) -> None:
    result = changed(people, "mondrian", k=5)
    by_frames = quality(pl.read_csv(people), result.polars, NAMES)
    assert quality(result.table, result.shown, NAMES) == by_frames
    with counted_encodings() as rows:
        quality(people, result.polars, NAMES, target="illness")
    assert rows.count(ROWS) == 2 * len(NAMES) + 1
