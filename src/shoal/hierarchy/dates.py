"""Dates: day, month, quarter, year, decade; each a range of days that reads back as one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.hierarchy.steps import Step
from shoal.table import Column

_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}


def date_steps(column: Column) -> Iterator[Step]:
    """`[2020-01-01;2020-01-31]` and so on; datetimes start with their day.

    >>> from datetime import date
    >>> from shoal.reading import read
    >>> column = read({"born": [date(1990, 1, 31), date(1990, 2, 1), date(2001, 5, 5)]})["born"]
    >>> [labels.to_list()[0] for _, labels in date_steps(column)]
    ['[1990-01-01;1990-01-31]', '[1990-01-01;1990-03-31]', '[1990-01-01;1990-12-31]', '[1990-01-01;1999-12-31]']
    """
    values = column.values
    if values.is_empty():
        return
    if not isinstance(values.dtype, (pl.Date, pl.Datetime)):
        raise InputError(
            f"Column '{column.name}' does not hold dates.", "Write them as 2020-01-31, or use another kind."
        )
    moments = isinstance(values.dtype, pl.Datetime)
    days = values.dt.replace_time_zone(None).cast(pl.Date) if moments else values
    if moments:
        yield _step(days, days, True)
    month = days.dt.year().cast(pl.Int64) * 12 + days.dt.month().cast(pl.Int64) - 1
    for size in _MONTHS.values():
        first = month // size * size
        yield _step(_first_day(first), _first_day(first + size).dt.offset_by("-1d"), moments)


def _first_day(months: pl.Series) -> pl.Series:
    """The first day of a month counted from the year 0."""
    frame = pl.DataFrame({"month": months})
    return frame.select(pl.date(pl.col("month") // 12, pl.col("month") % 12 + 1, 1)).to_series()


def _step(first: pl.Series, last: pl.Series, moments: bool) -> Step:
    _, where, codes = np.unique(first.to_physical().to_numpy(), return_index=True, return_inverse=True)
    low, high = (side.gather(where).dt.to_string("%Y-%m-%d") for side in (first, last))
    if moments:
        low, high = low + " 00:00:00", high + " 23:59:59.999999"
    return codes, "[" + low + ";" + high + "]"
