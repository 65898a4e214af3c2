"""Cells that a format has no type for, as the texts that a text file has for them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from shoal.errors import InputError

# whole numbers from here on are not exact where every number is a float
EXACT = 1 << 53
# significant digits of a decimal that a float gives back, whatever they are
_DIGITS = 15


def fitting(frame: pl.DataFrame, form: str, is_text: Callable[[pl.Series], bool]) -> pl.DataFrame:
    """A frame of whole numbers, decimals, dates, moments, times and texts; `is_text`: whether a column must be text.

    >>> fitting(pl.DataFrame({"a": [True, None]}), "Excel", needs_text)["a"].to_list()
    ['true', None]
    """
    return pl.DataFrame([_fitting(series, form, is_text) for series in frame.get_columns()])


def _fitting(series: pl.Series, form: str, is_text: Callable[[pl.Series], bool]) -> pl.Series:
    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Duration):
        raise InputError(
            f"Column '{series.name}' has a type that {form} files cannot hold.", "Write .parquet, or turn it into text."
        )
    if isinstance(dtype, pl.Datetime):
        series = series.dt.cast_time_unit("us")
    if isinstance(dtype, pl.Decimal) and exact_as_floats(series):
        return series.cast(pl.String).cast(pl.Float64)  # the float nearest to its digits
    if dtype == pl.Null or isinstance(dtype, (pl.Categorical, pl.Enum, pl.Decimal)) or is_text(series):
        return series.cast(pl.String)
    if dtype.is_integer():
        return series.cast(pl.Int64)
    if dtype.is_float():
        return series.cast(pl.Float64).fill_nan(None)
    return series


def needs_text(series: pl.Series) -> bool:
    """Whether the values of a column would not be the same where numbers are floats and moments are milliseconds.

    >>> needs_text(pl.Series([2**60])), needs_text(pl.Series([7]))
    (True, False)
    """
    dtype = series.dtype
    if dtype == pl.Boolean:
        return True
    if dtype.is_integer():
        return not exact_as_floats(series)
    if dtype.is_float():
        return bool(series.is_infinite().any())
    if isinstance(dtype, pl.Datetime):
        fine = series.dt.cast_time_unit("ns").dt.timestamp("ns") % 1_000_000
        return dtype.time_zone is not None or bool((fine != 0).any())
    return False


def exact_as_floats(numbers: pl.Series) -> bool:
    """Whether floats give back every digit of whole numbers or decimals.

    >>> exact_as_floats(pl.Series(["12.50"]).cast(pl.Decimal(20, 2))), exact_as_floats(pl.Series([2**60]))
    (True, False)
    """
    if isinstance(numbers.dtype, pl.Decimal):
        digits = numbers.cast(pl.String).str.replace_all(r"[^0-9]", "").str.strip_chars("0").str.len_bytes()
        return not bool((digits > _DIGITS).any())
    return not bool((numbers.cast(pl.Float64).abs() >= EXACT).any())


# Texts that spreadsheets would run as a formula.


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


def defused_name(name: str) -> str:
    """A column name that spreadsheets do not run.

    >>> defused_name("=cmd"), defused_name("age")
    ("'=cmd", 'age')
    """
    return str(defused_texts(pl.Series([name]))[0])
