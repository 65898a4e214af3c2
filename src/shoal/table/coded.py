"""Cells as they come from a reader that codes them itself: of a text file, of dictionary pages, by categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.table.table import Array, smallest_unsigned


@dataclass(frozen=True)
class CodedTexts:
    """Consecutive rows of a column: codes into the texts so far (the widest of their type is null).

    `new` are the texts that came with these rows, behind the `known` ones of the rows before.
    """

    codes: Array
    new: pl.Series
    known: int

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class CodedBatch:
    """Rows of a table, some columns of which are codes."""

    by_name: Mapping[str, CodedTexts | pl.Series]

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.by_name)

    @property
    def uncoded(self) -> int:
        """How many columns are left to encode."""
        return sum(isinstance(column, pl.Series) for column in self.by_name.values())

    def __getitem__(self, name: str) -> CodedTexts | pl.Series:
        return self.by_name[name]

    def __len__(self) -> int:
        return len(next(iter(self.by_name.values()), ()))


class InCodes(NamedTuple):
    """Cells as places among values that are sorted, all different, and each that of a cell; past them: null."""

    codes: Array
    values: pl.Series


class FileTexts:
    """The texts of a file that was read by its dictionaries: the numbers of its categories are codes as they are.

    >>> from shoal.table.encode import text_categories
    >>> found = FileTexts(pl.Series(["m", "f", "x"]).cast(text_categories()))
    >>> found.codes_of(pl.Series(["f", None], dtype=found.dtype)).tolist(), found.values.to_list()
    ([1, 255], ['f'])
    """

    def __init__(self, series: pl.Series) -> None:
        self.dtype = series.dtype
        # polars forgets categories that no series refers to
        self._keeper = series.clear()
        self._seen = np.zeros(0, bool)

    def codes_of(self, series: pl.Series) -> Array:
        """The codes of one more batch; the widest of the type is null."""
        null = series.is_null().to_numpy() if series.null_count() else None
        numbers = series.to_physical().fill_null(0).to_numpy()
        highest = int(numbers.max(initial=0))
        if highest >= len(self._seen):  # grown by a half at least, so that the whole is linear
            more = max(highest + 1 - len(self._seen), len(self._seen) // 2)
            self._seen = np.concatenate([self._seen, np.zeros(more, bool)])
        self._seen[numbers if null is None else numbers[~null]] = True
        codes = numbers.astype(smallest_unsigned(len(self._seen) + 1))
        if null is not None:
            codes[null] = np.iinfo(codes.dtype).max
        return codes

    @property
    def values(self) -> pl.Series:
        """The texts that rows have, in the order of their codes."""
        numbers = pl.Series(np.flatnonzero(self._seen).astype(np.uint32))
        return numbers.cat.to(self.dtype).cast(pl.String)

    def by_code(self, found: Array) -> Array:
        """What was found for each of those texts, by code; codes that no row has have nothing."""
        table = np.zeros(len(self._seen), found.dtype)
        table[self._seen] = found
        return table
