"""Values as they are written."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from shoal.errors import InputError
from shoal.table.table import Column


def check_have_texts(columns: Iterable[Column]) -> None:
    """Refuse spans of time and bytes: their values have no text by which people know them.

    >>> from datetime import timedelta
    >>> from shoal.table.encode import encode
    >>> check_have_texts([encode(pl.Series("stay", [timedelta(hours=3)]))])
    Traceback (most recent call last):
    shoal.errors.InputError: Column 'stay' holds spans of time or bytes. ...
    """
    for column in columns:
        if column.values.dtype in (pl.Duration, pl.Binary):
            raise InputError(
                f"Column '{column.name}' holds spans of time or bytes.", "Turn it into numbers or text first."
            )


# the years from -262000 to 262000, in days from 1970: polars writes 142 years more, for decades around a date
_FIRST_DAY, _LAST_DAY = -96_413_063, 94_974_372
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def check_dates(columns: Iterable[Column]) -> None:
    """Refuse dates that have no text: of years far from ours, as a wrong unit of time or a filler makes them.

    >>> from shoal.table.encode import encode
    >>> check_dates([encode(pl.Series("born", [94_974_373]).cast(pl.Date))])
    Traceback (most recent call last):
    shoal.errors.InputError: Column 'born' holds dates past the year 262000, or before -262000. ...
    """
    for column in columns:
        kind = column.values.dtype
        if not (kind == pl.Date or isinstance(kind, pl.Datetime)) or not len(column.values):
            continue
        per_day = 1 if kind == pl.Date else _PER_DAY[kind.time_unit]  # type: ignore[attr-defined]
        days = column.values.to_physical() // per_day
        if not days.is_between(_FIRST_DAY, _LAST_DAY).all():
            raise InputError(
                f"Column '{column.name}' holds dates past the year 262000, or before -262000.",
                "Correct them (is the unit of time right?), leave them empty, or give the column as text or numbers.",
            )


def texts_of(values: pl.Series) -> pl.Series:
    """Values as they are written; 5.0 is written 5, for other libraries keep whole numbers beside nulls as floats."""
    if values.dtype == pl.Duration or values.dtype == pl.Time:  # the cast leaves out fractions of a second
        return values.dt.to_string("iso")
    if values.dtype == pl.Binary:
        return values.bin.encode("hex")
    texts = values.cast(pl.String)
    return texts.str.strip_suffix(".0") if values.dtype.is_float() else texts


def with_null(labels: pl.Series, null: str | None) -> pl.Series:
    """Labels of the values, and behind them the label of null."""
    return pl.concat([labels.cast(pl.String).alias("label"), pl.Series("label", [null], dtype=pl.String)])
