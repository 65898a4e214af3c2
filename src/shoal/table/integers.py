"""Integers, dates, times and booleans to codes: by a table over their span that grows from batch to batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from shoal.table.table import Array, smallest_unsigned

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
