"""Rounding to multiples of a base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.perturbation.operator import Operator, as_numbers, like
from shoal.ranges.columns import Nature


@dataclass(frozen=True)
class Round(Operator):
    """The nearest multiple of a base, halves upwards.

    >>> pay = pl.Series("pay", [149, 150, -150])
    >>> Round(("pay",), 100.0).change([pay], [pay], np.random.default_rng(0))[0].to_list()
    [100, 200, -100]
    """

    word: ClassVar[str] = "round"
    nature: ClassVar[Nature] = "representative"

    base: float

    @property
    def setting(self) -> str:
        """The base."""
        return f"{self.base:g}"

    def check(self, columns: Sequence[pl.Series]) -> None:
        """Numbers only, and whole ones to a whole base."""
        super().check(columns)
        if not columns[0].dtype.is_numeric():
            raise InputError(f"Column '{columns[0].name}' does not hold numbers.", "Round numbers only.")
        if columns[0].dtype.is_integer() and self.base != int(self.base):
            raise InputError(
                f"Column '{columns[0].name}' holds whole numbers: they are not rounded to parts.", "Use a whole base."
            )

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column, rounded."""
        return [like(columns[0], np.floor(as_numbers(columns[0]) / self.base + 0.5) * self.base)]
