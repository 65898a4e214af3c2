"""Numbers that stay exact: integers as integers, dates as days, never through floats."""

from __future__ import annotations

import polars as pl


def exact_series(values: pl.Series) -> pl.Series:
    """Values in a type in which they can be compared and subtracted exactly: integers and dates as 128-bit integers,
    floats and decimals as they are.

    >>> exact_series(pl.Series([2**63 - 1, -(2**63)])).diff().to_list()
    [None, -18446744073709551615]
    """
    if isinstance(values.dtype, pl.Datetime):
        values = values.cast(pl.Datetime("us"))
    if values.dtype.is_temporal():
        values = values.to_physical()
    return values.cast(pl.Int128) if values.dtype.is_integer() else values
