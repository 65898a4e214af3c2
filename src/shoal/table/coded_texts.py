"""Rows of a text file as they come from a reader that codes texts itself: codes, and the texts that are new."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from shoal.dataclasses import dataclass
from shoal.table.table import Array


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
