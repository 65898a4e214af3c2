"""Texts that spreadsheets would run as a formula."""

from __future__ import annotations

import polars as pl

# also behind blanks and line feeds, also in full width
_FORMULA = r"^\s*[=+\-@＝＋－＠]|^[\t\r\n]"


def defused_texts(texts: pl.Series) -> pl.Series:
    """Texts with an apostrophe before what spreadsheets run as a formula.

    >>> defused_texts(pl.Series(["=1+1", "plain", "\\n=1"])).to_list()
    ["'=1+1", 'plain', "'\\n=1"]
    """
    return texts.zip_with(~texts.str.contains(_FORMULA).fill_null(False), "'" + texts)


def undefused_texts(texts: pl.Series) -> pl.Series:
    """The same without the apostrophe.

    >>> undefused_texts(pl.Series(["'=1+1", "'tis"])).to_list()
    ['=1+1', "'tis"]
    """
    bare = texts.str.strip_prefix("'")
    return texts.zip_with(~(texts.str.starts_with("'") & bare.str.contains(_FORMULA)).fill_null(False), bare)


def defused(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose cells and column names spreadsheets do not run."""
    texts = [defused_texts(series) if series.dtype == pl.String else series for series in frame.get_columns()]
    return pl.DataFrame([series.alias(defused_name(series.name)) for series in texts])


def defused_name(name: str) -> str:
    """A column name that spreadsheets do not run.

    >>> defused_name("=cmd"), defused_name("age")
    ("'=cmd", 'age')
    """
    return str(defused_texts(pl.Series([name]))[0])
