"""What every operator is: columns that it changes, and how, from a stream of random numbers of its own."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.ranges.columns import Nature
from shoal.table import Array


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

    >>> from shoal.perturbation.round import Round
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
