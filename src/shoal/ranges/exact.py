"""Whether released ranges hold original values, in exact arithmetic."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.ranges.forms import as_type
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column
from shoal.storage.column_type import type_word
from shoal.storage.numbers import exact_series
from shoal.storage.texts import texts_of

# rows compared at once: what is looked up for them stays in the cache
_BLOCK = 1 << 16
_ENDS = (r"^\[\s*([^;\[\]]+?)\s*;\s*([^;\[\]]+?)\s*\]$", r"^\[?([0-9.]+)-([0-9.]+)\]?$")


def exact_ends(values: pl.Series, dtype: pl.DataType) -> tuple[pl.Series, pl.Series]:
    """Low and high end of each released value in the exact type of the original's; null where it is no range.

    >>> low, high = exact_ends(pl.Series(["[9007199254740993;9007199254740995]", "7"]), pl.Int64())
    >>> low.to_list(), high.to_list()
    ([9007199254740993, 7], [9007199254740995, 7])
    """
    if values.dtype == dtype or (values.dtype != pl.String and values.dtype.is_temporal() == dtype.is_temporal()):
        if dtype.is_integer() and values.dtype.is_float():
            return values, values
        own = exact_series(values)
        return own, own
    texts = texts_of(values)
    low, high = texts, texts
    dashed = texts.str.contains("-", literal=True).any()
    for shape in _ENDS if dashed else _ENDS[:1]:
        first, last = texts.str.extract_groups(shape).struct.unnest().get_columns()
        low, high = first.fill_null(low), last.fill_null(high)
    return _typed(low, dtype), _typed(high, dtype)


def _typed(texts: pl.Series, dtype: pl.DataType) -> pl.Series:
    if isinstance(dtype, pl.Decimal):
        return texts.cast(dtype, strict=False)
    return exact_series(as_type(texts, type_word(dtype)))


def holds_value(released: Column, original: Column) -> Array:
    """Per row: whether the range that is shown holds the value that was there; `*` holds all, null null.

    >>> from shoal.storage.reading import read
    >>> holds_value(read({"a": ["[1;3]", "4", "*"]})["a"], read({"a": [2, 5, 9]})["a"]).tolist()
    [True, False, True]
    """
    low, high = exact_ends(released.values, original.dtype)
    held = _between(low, high, released.codes, released.codes, original)
    if released.values.dtype == pl.String and STAR in released.values:
        held |= released.codes == released.values.index_of(STAR)
    return held


def lies_between(low: Column, high: Column, original: Column) -> Array:
    """Per row: whether the value that was there lies between two columns of ends.

    >>> from shoal.storage.reading import read
    >>> table = read({"low": [1, 1], "high": [3, 3], "was": [2, 4]})
    >>> lies_between(table["low"], table["high"], table["was"]).tolist()
    [True, False]
    """
    first, last = (exact_ends(side.values, original.dtype)[0] for side in (low, high))
    return _between(first, last, low.codes, high.codes, original)


def _between(low: pl.Series, high: pl.Series, low_codes: Array, high_codes: Array, original: Column) -> Array:
    """By ranks among all ends and values: order is kept, nothing is rounded."""
    values = exact_series(original.values)
    if low.dtype.is_float() != values.dtype.is_float() and not isinstance(values.dtype, pl.Decimal):
        values, low, high = _common(values, low, high)
    both = pl.concat([side.alias("") for side in (low, high, values.cast(low.dtype))])
    ranks = both.rank("dense").fill_null(0).cast(pl.Int64 if len(both) >= 1 << 31 else pl.Int32).to_numpy()
    first, last, own = np.split(ranks, [len(low), len(low) + len(high)])
    first, last, own = (np.append(side, 0) for side in (first, last, own))  # null
    held = np.empty(len(original.codes), bool)
    for start in range(0, len(held), _BLOCK):
        rows = slice(start, start + _BLOCK)
        below = low_codes[rows].astype(np.intp, copy=False)
        above = below if high_codes is low_codes else high_codes[rows].astype(np.intp, copy=False)
        pairs = ((first, below), (last, above), (own, original.codes[rows]))
        a, b, v = (ranks_of.take(codes, mode="clip") for ranks_of, codes in pairs)
        np.logical_and(a <= v, v <= b, out=held[rows])
        held[rows] &= a > 0
        if original.nulls:
            null = original.codes[rows] == len(original.values)
            held[rows] = np.where(null, (a == 0) & (b == 0), held[rows])
    return held


def _common(values: pl.Series, low: pl.Series, high: pl.Series) -> tuple[pl.Series, pl.Series, pl.Series]:
    """Floats beside integers: as integers where the floats are whole, else as floats that hold the integers exactly."""
    sides = []
    for side in (values, low, high):
        whole = side.is_float() if hasattr(side, "is_float") else side.dtype.is_float()
        if whole:
            cast = side.cast(pl.Int128, strict=False)
            if bool((cast.cast(pl.Float64) == side).fill_null(True).all()):
                side = cast
        sides.append(side)
    if len({side.dtype for side in sides}) > 1:
        sides = [side.cast(pl.Float64) for side in sides]
    return sides[0], sides[1], sides[2]
