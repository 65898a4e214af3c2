"""One dictionary of several: values of different types are brought into one in which none is taken for another."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from shoal.storage.numbers import NUMPY_INTEGERS, integer_series
from shoal.storage.table import Array
from shoal.storage.texts import few_texts

Unit = Literal["ms", "us", "ns"]
_UNITS: tuple[Unit, ...] = ("ms", "us", "ns")


def unite(dictionaries: list[pl.Series]) -> tuple[pl.Series, Array]:
    """One sorted dictionary of several, and the code in it of every entry of each (in their order).

    >>> values, codes = unite([pl.Series([2, 1]), pl.Series([2.0, 2.5])])
    >>> values.to_list(), codes.tolist()
    ([1.0, 2.0, 2.5], [1, 0, 1, 2])
    """
    held = [dictionary for dictionary in dictionaries if dictionary.dtype != pl.Null]
    if not held:
        return pl.Series([], dtype=pl.Null), np.zeros(0, np.int64)
    if len({dictionary.dtype for dictionary in held}) > 1:
        held = _common_type(held)
    together = pl.concat(held) if len(held) > 1 else held[0]
    if together.dtype in NUMPY_INTEGERS and not together.null_count():
        distinct, codes = np.unique(together.to_numpy(), return_inverse=True)
        return integer_series(distinct), codes
    return rank(together)


def rank(series: pl.Series) -> tuple[pl.Series, Array]:
    """The distinct values in order, and each entry's place among them; null comes after them all.

    >>> values, codes = rank(pl.Series(["b", None, "a", "b"]))
    >>> values.to_list(), codes.tolist()
    (['a', 'b'], [1, 2, 0, 1])
    """
    if (few := few_texts(series)) is not None:
        distinct = sorted({text for text in few if text is not None})
        places = {text: place for place, text in enumerate(distinct)}
        ranks = [len(distinct) if text is None else places[text] for text in few]
        return pl.Series(series.name, distinct, pl.String), np.array(ranks, np.int64)
    order = series.arg_sort(nulls_last=True)
    ordered = series.gather(order).drop_nulls()
    new = (ordered != ordered.shift(1)).fill_null(True)
    codes = np.full(len(series), int(new.sum()), np.int64)
    codes[order.to_numpy()[: len(ordered)]] = np.cumsum(new.to_numpy()) - 1
    return ordered.filter(new), codes


def exact_texts(values: pl.Series) -> pl.Series:
    """Values as texts that tell all of them apart: polars leaves fractions of a second out of times of day.

    >>> exact_texts(pl.Series([500_000_000]).cast(pl.Time)).to_list()
    ['00:00:00.500']
    """
    if values.dtype == pl.Time or values.dtype == pl.Duration:
        return values.dt.to_string("iso")
    return values.cast(pl.String)


def _common_type(dictionaries: list[pl.Series]) -> list[pl.Series]:
    """The same values in one type: numbers as numbers, moments as moments, anything else mixed as text."""
    wide = _widest(dictionaries)
    if wide is not None:
        cast = [dictionary.cast(wide, strict=False) for dictionary in dictionaries]
        # integers past 2^53 would merge as floats, nanoseconds as microseconds
        back = (new.cast(old.dtype, strict=False) for new, old in zip(cast, dictionaries, strict=True))
        if all(new.eq_missing(old).all() for new, old in zip(back, dictionaries, strict=True)):
            return cast
    return [exact_texts(dictionary) for dictionary in dictionaries]


def _widest(dictionaries: list[pl.Series]) -> pl.DataType | None:
    """The type that holds them all, if there is one."""
    types = [dictionary.dtype for dictionary in dictionaries]
    if all(dtype.is_numeric() for dtype in types):
        frames = [dictionary.alias("value").to_frame().head(0) for dictionary in dictionaries]
        return pl.concat(frames, how="vertical_relaxed").schema["value"]
    units = [dtype.time_unit for dtype in types if isinstance(dtype, (pl.Datetime, pl.Duration))]
    finest: Unit = _UNITS[max(map(_UNITS.index, units), default=1)]
    if all(dtype == pl.Duration for dtype in types):
        return pl.Duration(finest)
    if all(dtype == pl.Date or dtype == pl.Datetime for dtype in types):
        zones = {dtype.time_zone if isinstance(dtype, pl.Datetime) else None for dtype in types}
        if None not in zones:  # the same moments, whatever the clocks
            return pl.Datetime(finest, zones.pop() if len(zones) == 1 else "UTC")
        return pl.Datetime(finest) if len(zones) == 1 else None
    return None
