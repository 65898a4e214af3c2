"""Numbers as people write them, with thousands apart or a decimal comma: read without guessing, and written back."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.storage.table import Array, smallest_unsigned
from shoal.storage.texts import texts_of

_GAPS = " '’\u00a0\u202f"


def plain_numbers(texts: pl.Series, decimal: str, thousands: str | None) -> pl.Series:
    """Texts as numbers are written plainly (`-1234.5`); null where a text is not a number in this writing.

    >>> plain_numbers(pl.Series(["1.234,50", "7", "1,2.3"]), ",", ".").to_list()
    ['1234.5', '7', None]
    """
    point, gap = re.escape(decimal), None if thousands is None else re.escape(thousands)
    whole = r"[0-9]+" if gap is None else rf"(?:[0-9]+|[0-9]{{1,3}}(?:{gap}[0-9]{{3}})+)"
    shape = rf"^[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)$"
    plain = texts.str.strip_chars()
    found = plain if thousands is None else plain.str.replace_all(thousands, "", literal=True)
    found = found.str.replace(decimal, ".", literal=True).str.strip_prefix("+")
    # one number has one plain text
    found = found.str.replace(r"^(-?)0+([0-9])", "${1}${2}").str.replace(r"^(-?)\.", "${1}0.")
    found = found.str.replace(r"(\.[0-9]*?)0+$", "${1}").str.strip_suffix(".")
    found = found.str.replace(r"^-0$", "0")
    return found.set(~plain.str.contains(shape).fill_null(False), None)


def spelled_numbers(texts: pl.Series, decimal: str, thousands: str | None, places: int | None) -> pl.Series:
    """Plain numbers as they were written; null where a text is not a plain number.

    >>> spelled_numbers(pl.Series(["1234567.5", "-7", "[1;2]"]), ",", ".", 2).to_list()
    ['1.234.567,50', '-7,00', None]
    """
    texts = without_exponent(texts)
    parts = texts.str.extract_groups(r"^(?<sign>-?)(?<whole>[0-9]+)(?:\.(?<part>[0-9]+))?$").struct.unnest()
    whole, part = parts["whole"], parts["part"].fill_null("")
    if thousands is not None:
        turned = whole.str.reverse().str.replace_all(r"([0-9]{3})", "${1}" + thousands).str.reverse()
        whole = turned.str.strip_prefix(thousands)
    # 5.0 is 5 unless the column has digits there
    part = part.str.strip_chars_end("0").str.pad_end(places or 0, "0")
    behind = (decimal + part).zip_with(part.str.len_chars() > 0, part)
    return (parts["sign"] + whole + behind).set(parts["whole"].is_null(), None)


def without_exponent(texts: pl.Series) -> pl.Series:
    """Numbers such as `1e-8` with all their digits; other texts as they are.

    >>> without_exponent(pl.Series(["1e-8", "2.5e3", "x"])).to_list()
    ['0.00000001', '2500', 'x']
    """
    short = texts.str.contains(r"^-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]{1,3}$").fill_null(False)
    if not short.any():
        return texts
    whole = {text: f"{Decimal(text):f}" for text in texts.filter(short).unique().to_list()}
    return texts.replace(whole)


def exact_numbers(plain: pl.Series) -> pl.Series:
    """Plain numbers as integers if all are, else as floats; null where a float is another number than the text.

    >>> exact_numbers(pl.Series(["0.1", "9007199254740993.5"])).to_list()
    [0.1, None]
    """
    if not plain.str.contains(".", literal=True).any():
        whole = plain.cast(pl.Int64, strict=False)
        if whole.null_count() == plain.null_count():
            return whole
    numbers = plain.cast(pl.Float64, strict=False)
    exact = without_exponent(texts_of(numbers)) == plain
    return numbers.set(~exact.fill_null(False), None)


def inferred_writing(texts: pl.Series, name: str) -> dict[str, Any]:
    """The signs by which all texts of a column are numbers; a column that can be read in two ways is an error.

    >>> inferred_writing(pl.Series(["1.234,50", "7,00"]), "income")
    {'decimal': ',', 'thousands': '.', 'places': 2}
    """
    ways = [(".", None), (",", None), (".", ","), (",", ".")]
    ways += [(decimal, gap) for gap in _GAPS for decimal in ".," if texts.str.contains(gap, literal=True).any()]
    read = {way: found for way in ways if not (found := plain_numbers(texts, *way)).null_count()}
    meanings = [found for number, found in enumerate(read.values()) if number == 0 or not _same(found, read)]
    if not read:
        raise InputError(
            f"Column '{name}' is declared as a number, and some of its values are not.",
            "Name those under `missing` or `map` in its type, or declare it nominal or text.",
        )
    if len(meanings) > 1:
        raise InputError(
            f"Column '{name}' has numbers such as 1.234 or 1,234: is that a thousand or a little more than one?",
            f'Say it in its type: {name}: {{type: number, decimal: ",", thousands: "."}} or the other way round.',
        )
    decimal, thousands = next(iter(read))
    return {"decimal": decimal, "thousands": thousands, "places": places_of(texts, decimal)}


def _same(found: pl.Series, read: dict[tuple[str, str | None], pl.Series]) -> bool:
    return found.equals(next(iter(read.values())))


def places_of(texts: pl.Series, decimal: str) -> int | None:
    """The digits behind the decimal sign, where all numbers have as many and at least one.

    >>> places_of(pl.Series(["7,50", "8,25"]), ",")
    2
    """
    behind = texts.str.extract(re.escape(decimal) + r"([0-9]*)\s*$", 1).fill_null("").str.len_chars().unique()
    return int(behind[0]) if len(behind) == 1 and behind[0] else None


# Integers, dates, times and booleans to codes: by a table over their span that grows from batch to batch.


# A table over the span beats sorting while it fits the cache, or while it has so few places for each row that came,
# up to a size; past this span of integers, sort.
WIDEST_TABLE, PLACES_PER_ROW, LARGEST_TABLE = 1 << 21, 40, 1 << 24
NUMPY_INTEGERS = (
    pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64,
)  # fmt: skip
_NUMPY_NAMES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FEW = 1_000
# rows looked up at once, so that what is between stays in the cache
_BLOCK = 1 << 15


class Integers:
    """A dictionary of integers that grows: each value has the code with which it came first.

    The widest code of its type is null.

    >>> ages = Integers(pl.Int32())
    >>> ages.codes_of(pl.Series([51, 34, None], dtype=pl.Int32)).tolist(), ages.values.to_list()
    ([1, 0, 255], [34, 51])
    >>> ages.codes_of(pl.Series([40, 34], dtype=pl.Int32)).tolist(), ages.values.to_list()
    ([2, 0], [34, 51, 40])
    """

    def __init__(self, dtype: pl.DataType) -> None:
        self.dtype = dtype
        self._low = 0
        # from the value above the least to its code; the widest code of the type: not seen yet
        self._code_of = np.zeros(0, np.uint8)
        self._seen: list[Array] = []
        self._count = self._rows = 0
        self._values: pl.Series | None = None

    @property
    def values(self) -> pl.Series:
        """The values so far, in the order of their codes; the same series until there are more."""
        if self._values is None:
            self._values = self._series()
        return self._values

    def _series(self) -> pl.Series:
        seen = np.concatenate([np.zeros(0, np.int64), *self._seen])
        return integer_series(seen).cast(physical_integers(pl.Series([], dtype=self.dtype)).dtype).cast(self.dtype)

    def codes_of(self, series: pl.Series) -> Array | None:
        """The codes of one more batch; None where the span is too wide for a table."""
        physical = physical_integers(series)
        low, high = physical.min(), physical.max()
        self._rows += len(series)
        if low is None or high is None:
            return np.full(len(series), _unseen(self._code_of.dtype), self._code_of.dtype)
        assert isinstance(low, int)
        assert isinstance(high, int)
        if not self._reach(low, high):
            return None
        missing = physical.null_count()
        array = (physical.fill_null(low) if missing else physical).to_numpy()
        codes = self._look_up(array)
        while (unseen := _unseen(codes.dtype)) == codes.max():
            self._learn(array[codes == unseen])
            codes = self._look_up(array)
        if missing:
            codes[physical.is_null().to_numpy()] = _unseen(codes.dtype)
        return codes

    def _reach(self, low: int, high: int) -> bool:
        """Make the table as wide as a batch asks for, unless that is too wide."""
        if len(self._code_of):
            low, high = min(low, self._low), max(high, self._low + len(self._code_of) - 1)
        if high - low >= max(WIDEST_TABLE, min(PLACES_PER_ROW * self._rows, LARGEST_TABLE)) or high >= 2**63:
            return False
        if high - low + 1 > len(self._code_of):
            wider = np.full(high - low + 1, _unseen(self._code_of.dtype), self._code_of.dtype)
            wider[self._low - low :][: len(self._code_of)] = self._code_of
            self._low, self._code_of = low, wider
        return True

    def _look_up(self, array: Array) -> Array:
        codes = np.empty(len(array), self._code_of.dtype)
        above = np.empty(min(_BLOCK, len(array)), np.int64)
        for start in range(0, len(array), _BLOCK):
            block = array[start : start + _BLOCK]
            np.subtract(block, self._low, out=above[: len(block)], dtype=np.int64)
            self._code_of.take(above[: len(block)], out=codes[start : start + _BLOCK], mode="clip")
        return codes

    def _learn(self, array: Array) -> None:
        """Give values that were not seen yet their codes, in the order of the values."""
        present = np.zeros(len(self._code_of), bool)
        present[np.subtract(array, self._low, dtype=np.int64)] = True
        new = np.flatnonzero(present)
        total = self._count + len(new)
        wide = smallest_unsigned(total + 1)
        if wide != self._code_of.dtype:
            wider = self._code_of.astype(wide)
            wider[self._code_of == _unseen(self._code_of.dtype)] = _unseen(wide)
            self._code_of = wider
        self._code_of[new] = np.arange(self._count, total)
        self._seen.append(new + self._low)
        self._count, self._values = total, None


def _unseen(dtype: np.dtype[Any]) -> int:
    return int(np.iinfo(dtype).max)


def physical_integers(series: pl.Series) -> pl.Series:
    """The integers that stand for the values of a series; polars takes 0.3 ms to say that integers are integers.

    >>> physical_integers(pl.Series([True, None])).to_list()
    [1, None]
    """
    if series.dtype in NUMPY_INTEGERS:
        return series
    return series.cast(pl.UInt8) if series.dtype == pl.Boolean else series.to_physical()


def integer_series(array: Array) -> pl.Series:
    """Integers as a series; few of them through Python, because polars loads `numpy.ma` (0.01 s) to take an array."""
    if len(array) > _FEW:
        return pl.Series(array)
    return pl.Series(array.tolist(), dtype=NUMPY_INTEGERS[_NUMPY_NAMES.index(array.dtype.name)])


# Numbers that stay exact: integers as integers, dates as days, never through floats.


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
