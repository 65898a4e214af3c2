"""What every operator is: columns that it changes, and how, from a stream of random numbers of its own."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.kernels.rows import swap_partners
from shoal.ranges.columns import Nature
from shoal.storage import Array


@dataclass(frozen=True)
class Operator(ABC):
    """One change of one column (or of several at once): `change` gets and gives whole columns, nulls kept.

    `word` is its name on the command line and in the manifest.
    """

    word: ClassVar[str]
    nature: ClassVar[Nature] = "perturbed"
    # types that it works on, in words; text has no ranks and no sums
    for_text: ClassVar[bool] = False

    columns: tuple[str, ...]

    @property
    @abstractmethod
    def setting(self) -> str:
        """What was asked, for the manifest: settings, never values of the data."""

    @abstractmethod
    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """The columns after the change; `original` are they as they came in."""

    def given(self) -> tuple[str, ...]:
        """Other columns that it looks at."""
        return ()

    def check(self, columns: Sequence[pl.Series]) -> None:
        """Refuse columns that it cannot change."""
        for series in columns:
            if not self.for_text and not (series.dtype.is_numeric() or series.dtype.is_temporal()):
                raise InputError(
                    f"Column '{series.name}' holds text: {self.word} needs numbers or dates.",
                    "Use pram for categories.",
                )
            if series.null_count() == len(series):
                raise InputError(f"Column '{series.name}' has no values.", "Leave it out.")


def random_for(seed: int, operator: Operator) -> np.random.Generator:
    """A stream of its own for each operator and column, so that the order of the options changes nothing.

    >>> from shoal.methods.perturbation.operator import Round
    >>> a, b = (random_for(7, Round((name,), 10.0)).random() for name in ("age", "income"))
    >>> a != b
    True
    """
    name = zlib.crc32("\0".join([operator.word, *operator.columns]).encode())
    return np.random.default_rng(np.random.SeedSequence([seed, name]))


def as_numbers(series: pl.Series) -> Array:
    """A column as numbers, null as NaN; dates as days or microseconds.

    >>> as_numbers(pl.Series([1, None])).tolist()
    [1.0, nan]
    """
    physical = series if series.dtype.is_numeric() else series.to_physical()
    return physical.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def like(series: pl.Series, numbers: Array) -> pl.Series:
    """Numbers in the type of a column: whole numbers and dates are rounded; NaN is null.

    >>> like(pl.Series("age", [30, 40]), np.array([30.4, float("nan")])).to_list()
    [30, None]
    """
    found = pl.Series(series.name, numbers).fill_nan(None)
    if series.dtype.is_float():
        return found.cast(series.dtype)
    if series.dtype.is_integer() or series.dtype.is_temporal():
        whole = found.round(0).cast(pl.Int64)
        return whole if _too_wide(whole, series.dtype) else whole.cast(series.to_physical().dtype).cast(series.dtype)
    return found


def _too_wide(whole: pl.Series, dtype: pl.DataType) -> bool:
    """Noise can leave a narrow or unsigned type."""
    if not dtype.is_integer():
        return False
    return whole.cast(dtype, strict=False).null_count() > whole.null_count()


# Additive noise: alone, or for several columns together so that means and covariances are kept.


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


# Rounding to multiples of a base.


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


# Rank swapping: values change places with others whose rank is near.


@dataclass(frozen=True)
class Swap(Operator):
    """Each value changes places with one at most `share` of the ranks away (Moore 1996).

    The values of the column stay exactly those that were there. Equal values have ranks in random order. Nothing else
    is done to the column: no rare value is averaged away.
    """

    word: ClassVar[str] = "swap"

    share: float

    @property
    def setting(self) -> str:
        """The share of ranks."""
        return f"{100 * self.share:g}%"

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column with its values in other rows."""
        series = columns[0]
        there = np.flatnonzero(series.is_not_null().to_numpy())
        window = int(self.share * len(there) + 1e-9)
        if window < 1:
            raise InputError(
                f"{self.setting} of the {len(there):,} values of '{series.name}' is less than one rank.",
                "Use a larger share.",
            )
        order = there[np.lexsort((random.random(len(there)), as_numbers(series)[there]))]
        partner = swap_partners(window, random.random(len(order)))
        rows = np.arange(len(series))
        rows[order] = order[partner]
        return [series.gather(rows)]


# PRAM: categories change at random, by probabilities that keep their expected frequencies.


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
