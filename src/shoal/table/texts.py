"""Values as they are written."""

from __future__ import annotations

import polars as pl


def texts_of(values: pl.Series) -> pl.Series:
    """Values as they are written; 5.0 is written 5, for other libraries keep whole numbers beside nulls as floats."""
    if values.dtype == pl.Duration:
        return values.dt.to_string("iso")
    if values.dtype == pl.Binary:
        return values.bin.encode("hex")
    texts = values.cast(pl.String)
    return texts.str.strip_suffix(".0") if values.dtype.is_float() else texts


def with_null(labels: pl.Series, null: str | None) -> pl.Series:
    """Labels of the values, and behind them the label of null."""
    return pl.concat([labels.cast(pl.String).alias("label"), pl.Series("label", [null], dtype=pl.String)])
