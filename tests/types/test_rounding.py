"""Numbers that are read as the nearest multiple of a step, in the original too when a release is verified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.threads import processors

POLICY: dict[str, Any] = {
    "columns": {"age": "quasi-identifier", "charge": "sensitive"},
    "types": {"charge": {"type": "number", "round_to": 100}},
    "models": [{"model": "k-anonymity", "k": 3}],
}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_rounded_release_verifies_and_a_changed_cell_does_not(tmp_path: Path, ending: str) -> None:
    draw = np.random.default_rng(2)
    frame = pl.DataFrame({"age": draw.integers(20, 30, 90), "charge": draw.integers(100, 9_000, 90)})
    source, target = tmp_path / f"a.{ending}", tmp_path / f"safe.{ending}"
    frame.write_csv(source) if ending == "csv" else frame.write_parquet(source)
    result = shoal.anonymize(source, POLICY)
    assert any("charge is rounded to multiples of 100: a value moves by" in str(part) for part in result.sections())
    shoal.release(result, target)
    read = pl.read_csv(target) if ending == "csv" else pl.read_parquet(target)
    nearest = (np.rint(frame["charge"].to_numpy() / 100) * 100).astype(int)
    assert read["charge"].to_list() == nearest.tolist()
    assert shoal.verify(target, POLICY, original=source).verdict == "holds"
    changed = read.with_columns(pl.when(pl.int_range(pl.len()) == 4).then(99_900).otherwise("charge").alias("charge"))
    changed.write_csv(target) if ending == "csv" else changed.write_parquet(target)
    assert shoal.verify(target, POLICY, original=source).verdict == "refused"


def test_a_file_with_semicolons_is_published_with_semicolons(tmp_path: Path) -> None:
    source = tmp_path / "a.csv"
    source.write_text("age;ill\n" + "".join(f"{20 + row % 4};{'ab'[row % 2]}\n" for row in range(40)))
    policy = {"columns": {"age": "quasi-identifier", "ill": "other"}, "models": POLICY["models"]}
    made = shoal.publish(source, policy, output=tmp_path / "pub", pdf=False)
    assert made.verdict == "holds"
    assert (tmp_path / "pub" / "data.csv").read_text().startswith("age;ill\n")
    assert shoal.verify(tmp_path / "pub", original=source).verdict == "holds"


def test_a_weight_of_a_column_that_is_no_quasi_identifier_is_refused_before_reading() -> None:
    with pytest.raises(InputError, match="has no column 'foo'"):
        shoal.anonymize("there-is-no-such-file.csv", quasi_identifiers=["age"], k=2, importance={"foo": 2.0})


@pytest.mark.parametrize("asked", ["abc", "0", "-1", "1e3", "9999999", "٣"])
def test_a_number_of_threads_that_is_none_is_said(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    monkeypatch.setenv("SHOAL_THREADS", asked)
    with pytest.raises(InputError, match="SHOAL_THREADS is not a whole number"):
        processors()
    monkeypatch.setenv("SHOAL_THREADS", "3")
    assert processors() == 3
