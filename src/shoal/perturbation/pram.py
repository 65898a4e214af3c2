"""PRAM: categories change at random, by probabilities that keep their expected frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.perturbation.operator import Operator


@dataclass(frozen=True)
class Pram(Operator):
    """A value is kept with probability `keep`, otherwise drawn anew from the column's own distribution.

    The matrix of transitions is keep · I + (1 − keep) · 1πᵗ with the frequencies π of the column, and
    π(keep · I + (1 − keep) · 1πᵗ) = π: the post-randomisation is invariant (Gouweleeuw et al. 1998), expected
    frequencies stay what they are. Missing values stay missing.
    """

    word: ClassVar[str] = "pram"
    for_text: ClassVar[bool] = True

    keep: float

    @property
    def setting(self) -> str:
        """The probability to keep a value."""
        return f"{self.keep:g}"

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column with some values drawn anew."""
        series = columns[0]
        there = np.flatnonzero(series.is_not_null().to_numpy())
        drawn = there[random.random(len(there)) >= self.keep]
        rows = np.arange(len(series))
        rows[drawn] = there[random.integers(0, len(there), len(drawn))]
        return [series.gather(rows)]
