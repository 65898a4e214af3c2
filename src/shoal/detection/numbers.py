"""What a column of numbers holds by its numbers alone: numbers of things, measurements, ages, ZIP codes."""

from __future__ import annotations

from math import erf, sqrt

import numpy as np
import polars as pl

from shoal.storage import Array, Column
from shoal.storage.folding import fold

# With fewer records, all values being different says nothing.
RECORDS_THAT_TELL = 20
# so many digits are a number of a person, where four fifths of the values have as many
_LONG, _USUAL = 7, 0.8
# numbers that are all as long are no sums
_LONGEST_SUM = 10_000_000
# Kolmogorov's distance that 95 % of samples of one distribution stay below, times the root of their number
_BY_CHANCE = 1.36
_MARGIN = 0.02
# how much nearer than to even numbers measurements are to a bell, of their values or of the logarithms of these
_NEARER = 0.6
# 120/80, 12.5 mg: measured, nobody's code
_MEASURED = r"(?i)^\d{2,3}/\d{2,3}$|^\d{1,5}(?:[.,]\d+)?\s?(?:%|mg|g|kg|µg|mcg|ml|l|dl|mmol/l|mg/dl|iu|u|cm|mm|bpm)$"
# as many as show a distribution
_LOOKED_AT = 5_000


def whole_numbers(values: pl.Series) -> Array | None:
    """The values as whole numbers, texts where nearly all are some; None where they are others."""
    if values.dtype == pl.String:
        values = fold(values).str.strip_chars().cast(pl.Float64, strict=False)
        if values.null_count() > 0.02 * len(values):
            return None
    if not values.dtype.is_numeric():
        return None
    numbers = values.cast(pl.Float64).fill_null(0.0).to_numpy()
    return numbers if bool(np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all()) else None


def are_of_one_length(values: pl.Series) -> bool:
    """Whether numbers are whole, with seven digits or more, and four fifths of them of one length.

    >>> are_of_one_length(pl.Series([157212390, 262657447])), are_of_one_length(pl.Series([1200, 26265]))
    (True, False)
    """
    if values.dtype.is_float() and not bool((values == values.floor()).all()):
        return False
    lengths = values.cast(pl.Int64, strict=False).abs().cast(pl.String).str.len_bytes().drop_nulls().to_numpy()
    if not len(lengths):
        return False
    sizes, counts = np.unique(lengths, return_counts=True)
    return int(sizes[counts.argmax()]) >= _LONG and float(counts.max() / counts.sum()) >= _USUAL


def are_measured(values: pl.Series) -> bool:
    """Whether whole numbers are spread as measurements, counts and sums are: about a mean, or about its order of size;
    or texts are measurements with their units.

    Numbers of things are given out one after the other, or drawn: they are spread evenly, or in even steps. That all
    of them differ then says that they may be persons'; of sums it says nothing.

    >>> draw = np.random.default_rng(1)
    >>> are_measured(pl.Series(draw.normal(8200, 2600, 200).astype(int))), are_measured(pl.Series(range(200)))
    (True, False)
    """
    if values.dtype == pl.String and len(values):
        return bool(fold(values).str.strip_chars().str.contains(_MEASURED).all())
    numbers = whole_numbers(values)
    if numbers is None or len(numbers) < RECORDS_THAT_TELL:
        return False
    if numbers.min() >= _LONGEST_SUM and are_of_one_length(values):
        return False
    numbers = np.sort(numbers[:: max(1, len(numbers) // _LOOKED_AT)])
    low, high = numbers[0], numbers[-1]
    even = _distance((numbers - low) / max(high - low, 1.0))
    if even <= _BY_CHANCE / sqrt(len(numbers)) + _MARGIN:
        return False
    bells = [_distance(_bell(numbers))]
    if low > 0:
        bells.append(_distance(_bell(np.log(numbers))))
    return min(bells) <= _NEARER * even


def fill_their_length(values: pl.Series) -> bool:
    """Whether whole numbers of at least six digits all have one length and lie evenly among all numbers of it.

    >>> draw = np.random.default_rng(1)
    >>> [fill_their_length(pl.Series(draw.integers(low, high, 200))) for low, high in ((10**5, 10**6), (24000, 190000))]
    [True, False]
    """
    numbers = whole_numbers(values)
    if numbers is None or len(numbers) < RECORDS_THAT_TELL or numbers.min() < 100_000:
        return False
    numbers = np.sort(numbers[:: max(1, len(numbers) // _LOOKED_AT)])
    least = 10.0 ** np.floor(np.log10(numbers[0]))
    if numbers[-1] >= 10 * least:
        return False
    return _distance((numbers - least) / (9 * least)) <= _BY_CHANCE / sqrt(len(numbers)) + _MARGIN


def _bell(numbers: Array) -> Array:
    """The share of a normal distribution, of the same mean and spread, below each number."""
    middle, spread = float(np.median(numbers)), float(numbers.std()) or 1.0
    return np.array([0.5 * (1 + erf((number - middle) / (spread * sqrt(2)))) for number in numbers.tolist()])


def _distance(shares: Array) -> float:
    """Kolmogorov's distance of sorted shares from even ones."""
    steps = np.arange(len(shares) + 1) / len(shares)
    return float(max(np.abs(shares - steps[:-1]).max(), np.abs(steps[1:] - shares).max()))


def look_like_ages(column: Column, counts: Array) -> bool:
    """Many different whole numbers within a life, few of them over 89."""
    numbers = whole_numbers(column.values)
    if numbers is None or len(counts) < RECORDS_THAT_TELL:
        return False
    old = counts[(numbers >= 90)].sum()
    within = bool(((numbers >= 0) & (numbers <= 115)).all())
    return within and 0 < old <= 0.25 * counts.sum() and bool((numbers < 60).any())


def look_like_zips(column: Column, counts: Array) -> bool:
    """Many different numbers of five digits, or of four where a zero was lost, which are no measurements."""
    if len(counts) < RECORDS_THAT_TELL / 2:
        return False
    if column.values.dtype == pl.String:
        texts = fold(column.values).str.strip_chars()
        return float(texts.str.contains(r"^\d{5}(?:-?\d{4})?$").mean() or 0) >= 0.9  # type: ignore[arg-type]
    numbers = whole_numbers(column.values)
    if numbers is None or not bool(((numbers >= 501) & (numbers <= 99_950)).all()) or are_measured(column.values):
        return False
    return float((numbers >= 10_000).mean()) >= 0.7
