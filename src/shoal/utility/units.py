"""The unit in which the width of a column's values is told: years of ages, days of dates, nothing otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.storage import Array, Column

if TYPE_CHECKING:
    pass


_PER_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}
_YEAR = 365.25  # days
# kinds of numbers that count time, by the rule that recognised them
_UNITS = {"years": "year", "year": "year", "months": "month", "days": "day"}


def in_days(widths: Array, dtype: pl.DataType | type[pl.DataType]) -> Array:
    """Widths of points in time as days; all others as they are.

    >>> in_days(np.array([86_400e6]), pl.Datetime("us")).tolist()
    [1.0]
    """
    unit = getattr(dtype, "time_unit", "ns" if dtype == pl.Time else None)
    return widths if unit is None else np.asarray(widths / _PER_DAY[unit])


def width_of(column: Column, width: float) -> str:
    """A width of a column's values as people say it; days as months from 60 on, as years from two years on.

    >>> from shoal.storage.reading import read
    >>> width_of(read({"age": [30, 41]})["age"], 13.0), width_of(read({"charge": [30, 41]})["charge"], 1300.0)
    ('13 years', '1,300')
    >>> from datetime import date
    >>> born = read({"born": [date(1950, 1, 1), date(1990, 1, 1)]})["born"]
    >>> width_of(born, 7.0), width_of(born, 100.0), width_of(born, 3141.0)
    ('7 days', '3.3 months', '8.6 years')
    """
    unit = _unit(column)
    if unit == "day":
        width, unit = _longer(width)
    amount = f"{width:,.0f}" if width >= 9.95 else f"{width:.2g}"
    return f"{amount} {unit}{'' if amount == '1' else 's'}" if unit else amount


def _unit(column: Column) -> str:
    """What a column's widths count; empty where they count nothing with a name."""
    dtype = column.values.dtype
    if column.declared is not None and column.declared.has_order:
        return "step"
    return "day" if dtype.is_temporal() else _number_units(column) if dtype.is_numeric() else ""


def _longer(days: float) -> tuple[float, str]:
    """Days in the unit in which people think of so many."""
    if days >= 2 * _YEAR:
        return days / _YEAR, "year"
    return (days * 12 / _YEAR, "month") if days >= 60 else (days, "day")


def _number_units(column: Column) -> str:
    """What a column of ages or years counts, which only its header can tell."""
    from shoal.identifiers import age, date_of_birth, event_date
    from shoal.identifiers.base import DECIDED, ColumnView
    from shoal.identifiers.column import ColumnEvidence
    from shoal.identifiers.header import read_header

    header = read_header(column.name)
    words = (age.AGE, date_of_birth.YEAR_OF_BIRTH, date_of_birth.BIRTH, event_date.YEAR)
    if not any(book.heard(header)[0] for book in words):
        return ""
    counts = column.frequencies()
    view = ColumnEvidence(ColumnView(column.name, column.values, counts, int(counts.sum()) + column.nulls))
    for recognise in (age.recognise, date_of_birth.recognise, event_date.recognise):
        for found in recognise(view):
            if found.confidence >= DECIDED and found.rule in _UNITS:
                return _UNITS[found.rule]
    return ""
