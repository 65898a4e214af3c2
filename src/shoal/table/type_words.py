"""The type of a column in a word that people use."""

from __future__ import annotations

import polars as pl


def type_word(dtype: pl.DataType) -> str:
    """The type of a column in a word that people use.

    >>> type_word(pl.Int32()), type_word(pl.String()), type_word(pl.Datetime("us"))
    ('integer', 'text', 'datetime')
    """
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    words = {pl.Date: "date", pl.Datetime: "datetime", pl.Time: "time", pl.Duration: "duration", pl.Boolean: "boolean"}
    return next((word for kind, word in words.items() if dtype == kind), "empty" if dtype == pl.Null else "text")
