"""Values as they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.storage.table import Column


def check_have_texts(columns: Iterable[Column]) -> None:
    """Refuse spans of time and bytes: their values have no text by which people know them.

    >>> from datetime import timedelta
    >>> from shoal.storage.encode import encode
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

    >>> from shoal.storage.encode import encode
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


def key_texts(values: pl.Series) -> pl.Series:
    """Keys as they are compared: whole numbers alike, whatever type they came in."""
    if values.dtype.is_float() and bool((values == values.floor()).all()):
        values = values.cast(pl.Int64, strict=False)
    return texts_of(values)


def with_null(labels: pl.Series, null: str | None) -> pl.Series:
    """Labels of the values, and behind them the label of null."""
    return pl.concat([labels.cast(pl.String).alias("label"), pl.Series("label", [null], dtype=pl.String)])


# The type of a text file's column, from all its distinct values.


# Words for "missing" that count only where every other value is a number or a date: `NA` among names is Namibia.
MISSING_WORDS = frozenset(["NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "none", "-", ".", "?"])
# What may stand in a table for "no value", in small letters, where nothing is decided by it but what a column is about.
WORDS_FOR_MISSING = [
    "", *sorted({word.lower() for word in MISSING_WORDS}), "--", "n.a.", "nil", "unknown", "missing", "not available",
    "sconosciuto", "unbekannt", "k.a.", "inconnu", "desconocido", "onbekend", "nd", "n.d.",
]  # fmt: skip

# A leading zero (`00501`) or a plus sign says that it is a code, not a number; so does `12e4`.
_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_FLOAT = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-][0-9]+)?$"
_DECIMAL_COMMA = r"^-?(0|[1-9][0-9]*)(,[0-9]+)?$"
_POINT = r"\.0*$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6}0*)?)?$"


# with which a text of any of these shapes starts
_FIRST_SIGNS = "-.0123456789"
_SHAPES: tuple[tuple[str, Any], ...] = (
    (_INTEGER, pl.Int64()),
    (_FLOAT, pl.Float64()),
    (_DATE, pl.Date()),
    (_MOMENT, pl.Datetime("us")),
)


# to go through so few texts one by one takes less than a call of polars (0.1 ms), of which a release makes hundreds
_FEW = 200


def few_texts(values: pl.Series) -> list[str | None] | None:
    """The texts of a short dictionary; None where there are many, or other values than texts.

    >>> few_texts(pl.Series(["a", None])), few_texts(pl.Series([1, 2]))
    (['a', None], None)
    """
    return values.to_list() if len(values) <= _FEW and values.dtype == pl.String else None


def _all_but(texts: pl.Series, words: Collection[str]) -> pl.Series:
    """The texts, null where one is among the words."""
    few = few_texts(texts)
    if few is not None and frozenset(words).isdisjoint(few):
        return texts
    return texts.set(texts.is_in(list(words)), None)


def has_missing_words(values: pl.Series) -> bool:
    """Whether a text dictionary holds words that elsewhere mean missing.

    >>> has_missing_words(pl.Series(["IT", "NA"]))
    True
    """
    words = ["NA", "N/A", "NaN", "NULL"]
    if (few := few_texts(values)) is not None:
        return not frozenset(words).isdisjoint(few)
    return values.dtype == pl.String and bool(values.is_in(words).any())


def has_decimal_commas(values: pl.Series) -> bool:
    """Whether a text dictionary holds nothing but numbers, some of them with a decimal comma.

    >>> has_decimal_commas(pl.Series(["1,75", "2"])), has_decimal_commas(pl.Series(["1,75", "x"]))
    (True, False)
    """
    if values.dtype != pl.String or values.is_empty() or not values[0][-1:].isdigit():
        return False
    return bool(values.str.contains(_DECIMAL_COMMA).all()) and bool(values.str.contains(",", literal=True).any())


def typed_dictionary(texts: pl.Series, missing: frozenset[str] = frozenset()) -> pl.Series:
    """Distinct texts as integers, floats, dates or moments if all of them are; else as the texts they are.

    Empty text and the words in `missing` become null; the usual words for missing (`NA`, …) only beside numbers
    and dates.

    >>> typed_dictionary(pl.Series(["7", "12", "NA"])).to_list()
    [7, 12, None]
    >>> typed_dictionary(pl.Series(["00501", "10001"])).to_list()
    ['00501', '10001']
    >>> [typed_dictionary(pl.Series(texts)).to_list() for texts in (["1", "1.0", "2.5"], ["2.5", "2.50"])]
    [[1.0, 1.0, 2.5], ['2.5', '2.50']]
    >>> typed_dictionary(pl.Series(["IT", "NA"])).to_list()
    ['IT', 'NA']
    """
    texts = _all_but(texts, ["", *missing])
    values = _all_but(texts, MISSING_WORDS)
    known = values.drop_nulls() if values.null_count() else values
    if known.is_empty() or known[0][0] not in _FIRST_SIGNS:
        return texts
    for shape, dtype in _SHAPES:
        if known.str.contains(shape).all():
            found = (
                values.str.strptime(dtype, strict=False) if dtype.is_temporal() else values.cast(dtype, strict=False)
            )
            # Two texts for one number (250.1 and 250.10 are two diagnoses), a date that is none, more digits
            # than a machine integer holds: then they are codes, and telling them apart is the safe side. But a whole
            # number may stand there with and without its point: 1 and 1.0 are one number, as are 0.0 and -0.0.
            apart = known.str.replace(_POINT, "").str.replace(r"^-0$", "0") if dtype.is_float() else known
            lost = found.null_count() > values.null_count()
            if dtype.is_float() and (zero := found == 0).any():
                found = found.set(zero, 0.0)
            return found if not lost and found.drop_nulls().n_unique() == apart.n_unique() else texts
    return texts
