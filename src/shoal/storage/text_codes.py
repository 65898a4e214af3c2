"""Texts to codes: polars numbers them as categories; a text that came before is mostly found without asking it.

polars takes 14 ns to cast a text to its category, and 2 to hash it. So a table leads from some bits of the hash to the
code of one text that has them; whether a row has this very text is looked at, and the rows that have not are cast.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import polars as pl

from shoal.storage.table import Array, smallest_unsigned

# batches of fewer rows are cast
_FROM_ROWS = 1 << 13
# at first so many rows must share a text, on average, and later on so many of a batch must have one that is known
_ALIKE, _MOST_OTHERS = 4, 0.5
_SLOT_BITS = 18
_SHIFT = np.uint64(64 - _SLOT_BITS)
# rows looked up at once, so that what is between stays in the cache
_BLOCK = 1 << 14


class Texts:
    """A dictionary of texts that grows: each text keeps the code that it was given first.

    The widest code of its type is null.

    >>> cities = Texts()
    >>> cities.codes_of(pl.Series(["Rome", "Bern", None])).tolist(), cities.values_from(0).to_list()
    ([0, 1, 255], ['Rome', 'Bern'])
    >>> cities.codes_of(pl.Series(["Oslo", "Bern"])).tolist(), cities.values_from(2).to_list()
    ([2, 1], ['Oslo'])
    """

    def __init__(self) -> None:
        self.count = 0
        # polars forgets categories that no series refers to
        self._keeper: pl.Series | None = None
        self._known: _KnownTexts | None = None
        self._is_looked_up = True

    @cached_property
    def _dtype(self) -> pl.Categorical:
        return pl.Categorical(pl.Categories.random())

    def values_from(self, first: int) -> pl.Series:
        """The texts from a code on, in the order of their codes."""
        if first == self.count:
            return pl.Series([], dtype=pl.String)
        numbers = pl.int_range(first, self.count, dtype=pl.UInt32, eager=True)
        return numbers.cat.to(self._dtype).cast(pl.String)

    def codes_of(self, series: pl.Series) -> Array:
        """The codes of one more batch."""
        if self._is_looked_up and not self.count and len(series) >= _FROM_ROWS:
            self._start(series)
        looked_up = self._is_looked_up and self.count and len(series) >= _FROM_ROWS
        codes = self._looked_up(series) if looked_up else self.numbered(series)
        # one code is left over: the widest of the type, for null
        narrow = smallest_unsigned(self.count + 1)
        if series.null_count():
            codes = np.where(series.is_null().to_numpy(), np.iinfo(narrow).max, codes)
        return codes.astype(narrow)

    def numbered(self, series: pl.Series) -> Array:
        """The codes of texts in the order in which they come, as polars numbers categories; null has any code."""
        encoded = series.cast(self._dtype)
        self._keeper = encoded.clear()
        numbers = encoded.to_physical()
        # not by `to_series`, which goes through every text in Python
        highest = numbers.max()
        self.count = max(self.count, highest + 1 if isinstance(highest, int) else 0)
        return np.asarray(numbers.fill_null(0).to_numpy())

    def _start(self, series: pl.Series) -> None:
        """Give the texts of a first batch codes in their order: where no more come, these are those of the column."""
        distinct = series.unique()
        if len(distinct) * _ALIKE > len(series):
            self._is_looked_up = False
        else:
            self.numbered(distinct.sort())

    def _looked_up(self, series: pl.Series) -> Array:
        """The codes of texts most of which have come before; null has any code."""
        if self._known is None:
            self._known = _KnownTexts()
        if len(self._known.texts) < self.count:
            self._known.add(self.values_from(len(self._known.texts)))
        codes, is_other = self._known.look_up(series)
        if is_other.any():
            others = is_other.arg_true()
            codes[others.to_numpy()] = self.numbered(series[others])
            if len(others) > _MOST_OTHERS * len(series):  # ever new texts, or too many
                self._known, self._is_looked_up = None, False
        return codes


class _KnownTexts:
    """Texts by their hash: each slot has the code of one text that belongs there."""

    def __init__(self) -> None:
        self.texts = pl.Series([], dtype=pl.String)
        self._code_of_slot = np.zeros(1 << _SLOT_BITS, np.uint32)
        self._is_taken = np.zeros(1 << _SLOT_BITS, bool)
        # the same memory for every batch: the system takes longer to give new pages than the work on them
        self._codes, self._slots = np.empty(0, np.uint32), np.empty(_BLOCK, np.uint64)

    def add(self, texts: pl.Series) -> None:
        """More texts, behind those that are there."""
        slots = texts.hash().to_numpy() >> _SHIFT
        free = np.flatnonzero(~self._is_taken[slots])
        self._code_of_slot[slots[free]] = free + len(self.texts)
        self._is_taken[slots] = True
        self.texts = pl.concat([self.texts, texts], rechunk=True)

    def look_up(self, series: pl.Series) -> tuple[Array, pl.Series]:
        """The code that each row may have (until the next batch comes), and whether its text is another one."""
        hashes = series.hash().to_numpy()
        if len(hashes) > len(self._codes):
            self._codes = np.empty(len(hashes), np.uint32)
        codes = self._codes[: len(hashes)]
        for start in range(0, len(hashes), _BLOCK):
            block = hashes[start : start + _BLOCK]
            slots = np.right_shift(block, _SHIFT, out=self._slots[: len(block)])
            # numpy takes signed places without a copy
            self._code_of_slot.take(slots.view(np.int64), out=codes[start : start + _BLOCK], mode="clip")
        return codes, self.texts[pl.Series(codes)] != series
