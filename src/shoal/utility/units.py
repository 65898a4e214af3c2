"""The unit in which the width of a column's values is told: years of ages, days of dates, nothing otherwise."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.table import Array, Column

_PER_DAY = {"ms": 86_400e3, "us": 86_400e6, "ns": 86_400e9}
# kinds of numbers that count time, by the rule that recognised them
_UNITS = {"years": "year", "year": "year", "months": "month", "days": "day"}


def in_days(widths: Array, dtype: pl.DataType | type[pl.DataType]) -> Array:
    """Widths of points in time as days; all others as they are.

    >>> in_days(np.array([86_400e6]), pl.Datetime("us")).tolist()
    [1.0]
    """
    unit = getattr(dtype, "time_unit", "ns" if dtype == pl.Time else None)
    return widths if unit is None else np.asarray(widths / _PER_DAY[unit])


def unit_of(column: Column, amount: float) -> str:
    """The unit of a column's widths with a blank before it; empty where there is none.

    >>> from shoal.reading import read
    >>> unit_of(read({"age": [30, 41]})["age"], 13.0), unit_of(read({"charge": [30, 41]})["charge"], 13.0)
    (' years', '')
    """
    dtype = column.values.dtype
    shown_as_one = f"{amount:.2g}" == "1"
    if column.declared is not None and column.declared.has_order:
        return " step" if shown_as_one else " steps"
    word = "day" if dtype.is_temporal() else _of_numbers(column) if dtype.is_numeric() else ""
    return "" if not word else f" {word}" if shown_as_one else f" {word}s"


def _of_numbers(column: Column) -> str:
    """What a column of ages or years counts."""
    from shoal.kinds import age, date_of_birth, event_date
    from shoal.kinds.base import DECIDED, ColumnView
    from shoal.kinds.column import Column as Recognised

    counts = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    view = Recognised(ColumnView(column.name, column.values, counts, len(column.codes)))
    for recognise in (age.recognise, date_of_birth.recognise, event_date.recognise):
        for found in recognise(view):
            if found.confidence >= DECIDED and found.rule in _UNITS:
                return _UNITS[found.rule]
    return ""
