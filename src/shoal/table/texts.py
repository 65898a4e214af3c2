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
