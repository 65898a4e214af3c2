"""Dates at the ends of the calendar: every command takes them, or refuses the column with a cure."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import shoal
from shoal.errors import InputError
from shoal.storage.reading import read

FIRST, LAST = -96_413_063, 94_974_372
METHODS: list[tuple[str, dict[str, Any]]] = [
    ("lattice", {}),
    ("mondrian", {}),
    ("coarsen", {"resolution": 2}),
    ("sorted-clusters", {}),
]


def visits(*days: int, unit: str = "") -> pl.DataFrame:
    seen = pl.Series([*days, 0] * 5, dtype=pl.Int32).cast(pl.Date)
    seen = seen.cast(pl.Datetime(unit)) if unit else seen  # type: ignore[arg-type]
    return pl.DataFrame({"seen": seen, "x": range(len(seen))})


def test_the_limits_are_the_years_that_the_message_names() -> None:
    ends = pl.select(pl.date(-262000, 1, 1).to_physical(), last=pl.date(262000, 12, 31).to_physical())
    assert ends.row(0) == (FIRST, LAST)


@pytest.mark.parametrize("unit", ["", "ms", "us"])
@pytest.mark.parametrize("day", [FIRST - 1, LAST + 1, FIRST - 100_000, 2**31 - 1])
def test_dates_that_have_no_text_are_refused_by_name(day: int, unit: str) -> None:
    if abs(day) > 2**30 and unit == "us":
        pytest.skip("such a moment does not fit in microseconds")
    with pytest.raises(InputError, match="Column 'seen' holds dates past the year 262000") as refused:
        read(visits(day, unit=unit))
    assert "unit of time" in str(refused.value)


@pytest.mark.parametrize("unit", ["", "ms", "us"])
@pytest.mark.parametrize(("method", "how"), METHODS)
def test_the_last_dates_are_anonymised(method: str, how: dict[str, Any], unit: str) -> None:
    table = visits(FIRST, LAST, unit=unit)
    result = shoal.anonymize(table, quasi_identifiers=["seen"], k=3, method=method, decide={"x": "other"}, **how)
    assert result.verdict == "holds"
    assert shoal.risk(table, quasi_identifiers=["seen"]).k == 5
