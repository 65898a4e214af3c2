"""Additive noise: alone, or for several columns together so that means and covariances are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.perturbation.operator import Operator, as_numbers, like
from shoal.table import Array


@dataclass(frozen=True)
class Noise(Operator):
    """value + share · s · ε, where s is the sample standard deviation of the column and ε is standard normal.

    Means are kept on average; the variance grows to (1 + share²) of what it was.

    >>> ages = pl.Series("age", [20.0, 30.0, 40.0])
    >>> [after] = Noise(("age",), 0.5).change([ages], [ages], np.random.default_rng(1))
    >>> after.round(2).to_list()
    [21.73, 34.11, 41.65]
    """

    word: ClassVar[str] = "noise"

    share: float

    @property
    def setting(self) -> str:
        """The share of the standard deviation."""
        return f"{self.share:g}"

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column with noise."""
        values = as_numbers(columns[0])
        spread = float(np.nanstd(as_numbers(original[0]), ddof=1)) if np.isfinite(values).sum() > 1 else 0.0
        _must_vary(columns[0].name, spread)
        return [like(columns[0], values + self.share * spread * random.standard_normal(len(values)))]


@dataclass(frozen=True)
class CorrelatedNoise(Operator):
    """mean + √(1 − share²) · (value − mean) + share · e, where e is normal with the covariance of the columns.

    Means and covariances, and so correlations, stay what they were on average (after Kim 1986; Tendick 1991). The
    covariance is that of the rows in which none of the columns is missing.
    """

    word: ClassVar[str] = "correlated-noise"

    share: float

    @property
    def setting(self) -> str:
        """The share, and the columns that it keeps together."""
        return f"{self.share:g} with {', '.join(self.columns)}"

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """All columns with noise."""
        values = np.stack([as_numbers(series) for series in columns], axis=1)
        whole = values[np.isfinite(values).all(axis=1)]
        if len(whole) < 2:
            raise InputError(
                "The columns of correlated noise are never there together.", "Leave out the one that is missing most."
            )
        mean, covariance = whole.mean(axis=0), np.atleast_2d(np.cov(whole, rowvar=False))
        for series, variance in zip(columns, np.diag(covariance), strict=True):
            _must_vary(series.name, float(variance))
        noise = random.standard_normal(values.shape) @ _root(covariance).T
        after = mean + np.sqrt(1 - self.share**2) * (values - mean) + self.share * noise
        return [like(series, after[:, place]) for place, series in enumerate(columns)]


def _root(covariance: Array) -> Array:
    """A matrix whose square is the covariance, also where columns depend on each other."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.clip(values, 0, None)))


def _must_vary(name: str, spread: float) -> None:
    if not spread > 0:
        raise InputError(f"Column '{name}' does not vary: noise has no measure.", "Leave it out.")
