"""A time of day as a quasi-identifier: ranges to the fraction of a second, released and verified."""

from __future__ import annotations

from datetime import time
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.releases.jobs import release_anonymized
from shoal.storage.texts import texts_of

TIMES = [time(number % 24, number * 7 % 60, number * 11 % 60, number % 2 * 500_000) for number in range(240)]
COARSEN = {"method": "coarsen", "resolution": 4}


def test_texts_tell_fractions_apart() -> None:
    assert texts_of(pl.Series([time(1, 2, 3), time(1, 2, 3, 500_000)])).to_list() == ["01:02:03", "01:02:03.500"]


@pytest.mark.parametrize(
    "how",
    [*({"method": name} for name in ("mondrian", "sorted-clusters", "lattice", "suppress")), COARSEN],
    ids=lambda how: how["method"],
)
def test_released_verified_and_refused_when_changed(tmp_path: Path, how: dict[str, object]) -> None:
    source, output = tmp_path / "visits.parquet", tmp_path / "safe.parquet"
    ages = [20 + number % 5 for number in range(240)]
    pl.DataFrame({"seen": TIMES, "age": ages}).write_parquet(source)
    release_anonymized(source, output=output, quasi_identifiers=["seen", "age"], k=5, **how)  # type: ignore[arg-type]
    assert shoal.verify(output, original=source).verdict == "holds"
    shown = pl.read_parquet(output)
    wrong = shown.with_columns(seen=pl.lit("[00:00:00;00:00:00.250]"))
    wrong.write_parquet(output)
    assert shoal.verify(output, original=source).verdict != "holds"
