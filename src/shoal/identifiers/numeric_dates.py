"""Dates written as numbers: seconds since 1970 and their thousandths, YYYYMMDD, days as spreadsheets count them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from shoal.storage import Array

NumericDate = Literal["seconds", "milliseconds", "microseconds", "nanoseconds", "compact", "serial-days"]
_DAY_SECONDS = 86_400
# From 2000 to 2034, in seconds: random numbers as long seldom all fall between.
EPOCH = (946_684_800, 2_051_222_400)
UNITS: dict[NumericDate, int] = {
    "seconds": _DAY_SECONDS,
    "milliseconds": _DAY_SECONDS * 10**3,
    "microseconds": _DAY_SECONDS * 10**6,
    "nanoseconds": _DAY_SECONDS * 10**9,
    "serial-days": 1,
}
# Day 0 of a spreadsheet is 30 December 1899, so many days before 1970.
SERIAL_START = 25_569
SERIAL_LIMITS = (10_000, 60_000)
_COMPACT = (18_000_101, 21_991_231)


def numeric_date(values: pl.Series) -> NumericDate | None:
    """How all of a column's numbers can be read as dates, or None; a serial day is only ever a guess.

    >>> numeric_date(pl.Series([1330819200, 1336262400])), numeric_date(pl.Series([20120304, 20120506]))
    ('seconds', 'compact')
    """
    known = values.drop_nulls()
    if not values.dtype.is_numeric() or not len(known):
        return None
    if values.dtype.is_float():
        known = known.filter(known.is_finite())
    numbers = known.cast(pl.Float64).to_numpy()
    if not len(numbers):
        return None
    for unit in ("seconds", "milliseconds", "microseconds", "nanoseconds"):
        scale = UNITS[unit] / _DAY_SECONDS
        if ((numbers >= EPOCH[0] * scale) & (numbers < EPOCH[1] * scale)).all():
            return unit
    if (numbers == np.floor(numbers)).all() and compact_days(known).is_not_null().all():
        return "compact"
    low, high = SERIAL_LIMITS
    return "serial-days" if ((numbers >= low) & (numbers <= high)).all() else None


def compact_days(values: pl.Series) -> pl.Series:
    """The days that numbers such as 20120304 mean; null where the calendar has none.

    >>> compact_days(pl.Series([20120304, 20121399])).to_list()
    [datetime.date(2012, 3, 4), None]
    """
    whole = values.cast(pl.Int64, strict=False)
    whole = whole.zip_with(((whole >= _COMPACT[0]) & (whole <= _COMPACT[1])).fill_null(False), whole * 0)
    return whole.cast(pl.String).str.strptime(pl.Date, "%Y%m%d", strict=False)


def days_of_numbers(values: pl.Series, how: NumericDate) -> Array:
    """Days since 1970 of numbers that are dates (fractions of a day dropped); -10^9 where there is none."""
    if how == "compact":
        days = compact_days(values).to_physical().cast(pl.Int64)
    else:
        shift = SERIAL_START if how == "serial-days" else 0
        days = (values.cast(pl.Float64) / UNITS[how]).floor().fill_nan(None).cast(pl.Int64, strict=False) - shift
    return np.asarray(days.fill_null(-(10**9)).to_numpy())
