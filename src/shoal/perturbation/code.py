"""Top and bottom coding: what lies beyond a limit is written as the limit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.perturbation.operator import Operator, as_numbers, like
from shoal.ranges.columns import Nature
from shoal.table import Array


@dataclass(frozen=True)
class _Code(Operator):
    """The limit is a number, or the smallest (largest) value that this share of the records does not exceed."""

    nature: ClassVar[Nature] = "representative"

    limit: float
    is_share: bool

    @property
    def setting(self) -> str:
        """The limit as it was given."""
        return f"{100 * self.limit:g}%" if self.is_share else f"{self.limit:g}"

    def check(self, columns: Sequence[pl.Series]) -> None:
        """Numbers only: a limit of dates is not read."""
        super().check(columns)
        if not columns[0].dtype.is_numeric():
            raise InputError(f"Column '{columns[0].name}' does not hold numbers.", "Code numbers only.")

    def _limit(self, original: pl.Series) -> float:
        """From the values as they came in, whatever was done to them since."""
        if not self.is_share:
            return self.limit
        values = as_numbers(original)
        return float(np.quantile(values[np.isfinite(values)], self.limit, method="inverted_cdf"))

    @abstractmethod
    def _coded(self, values: Array, limit: float) -> Array:
        """The values with the limit in place of what lies beyond it."""

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column without what lies beyond the limit."""
        limit = self._limit(original[0])
        if columns[0].dtype.is_integer() and limit != int(limit):
            raise InputError(
                f"Column '{columns[0].name}' holds whole numbers: the limit of {self.word} is not one.",
                "Give a whole one.",
            )
        return [like(columns[0], self._coded(as_numbers(columns[0]), limit))]


@dataclass(frozen=True)
class TopCode(_Code):
    """Values above the limit are written as the limit.

    >>> pay = pl.Series("pay", [1, 2, 3, 90])
    >>> TopCode(("pay",), 0.75, True).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [1, 2, 3, 3]
    """

    word: ClassVar[str] = "top-code"

    def _coded(self, values: Array, limit: float) -> Array:
        return np.minimum(values, limit)


@dataclass(frozen=True)
class BottomCode(_Code):
    """Values below the limit are written as the limit.

    >>> pay = pl.Series("pay", [-5, 2, 3, 4])
    >>> BottomCode(("pay",), 0.0, False).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [0, 2, 3, 4]
    """

    word: ClassVar[str] = "bottom-code"

    def _coded(self, values: Array, limit: float) -> Array:
        return np.maximum(values, limit)
