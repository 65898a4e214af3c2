"""Data shuffling: the values of a column go to other rows, in the order of a draw that knows other columns.

After Muralidhar and Sarathy (2006), with a normal copula: columns become normal scores, the column is drawn anew from
its distribution given the others, and its own values are dealt out by the ranks of that draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.perturbation.operator import Operator, as_numbers
from shoal.table import Array


@dataclass(frozen=True)
class Shuffle(Operator):
    """The column's own values in other rows; rank correlations with the columns `kept` stay what they were on average.

    Without `kept` the values are dealt out at random, and every correlation is lost. `change` gets the column first,
    then those that are kept.
    """

    word: ClassVar[str] = "shuffle"

    kept: tuple[str, ...] = ()

    @property
    def setting(self) -> str:
        """The columns whose correlation is kept."""
        return "+".join(self.kept) if self.kept else "at random"

    def given(self) -> tuple[str, ...]:
        """The columns whose correlation is kept."""
        return self.kept

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column with its values in other rows."""
        series, others = columns[0], list(columns[1:])
        for other in others:
            if other.null_count():
                raise InputError(
                    f"Column '{other.name}' has missing values: a shuffle cannot keep its correlation.",
                    "Leave it out, or fill them first.",
                )
        there = np.flatnonzero(series.is_not_null().to_numpy())
        values = as_numbers(series)[there]
        draw = random.standard_normal(len(there))
        if others:
            scores = [normal_scores(as_numbers(other)[there]) for other in others]
            draw = _given_others(normal_scores(values), np.stack(scores, axis=1), draw)
        source = there[np.lexsort((random.random(len(there)), values))]
        rows = np.arange(len(series))
        rows[there[np.argsort(draw, kind="stable")]] = source
        return [series.gather(rows)]


def normal_scores(values: Array) -> Array:
    """The normal quantile of each value's rank; equal values share the mean of theirs.

    >>> normal_scores(np.array([1.0, 9.0])).round(3).tolist()
    [-0.431, 0.431]
    """
    order = np.argsort(values, kind="stable")
    scores = _quantiles((np.arange(len(values)) + 1) / (len(values) + 1))
    starts = np.flatnonzero(np.append(True, values[order][1:] != values[order][:-1]))
    means = np.add.reduceat(scores, starts) / np.diff(starts, append=len(values))
    found = np.empty(len(values))
    found[order] = np.repeat(means, np.diff(starts, append=len(values)))
    return found


def _quantiles(shares: Array) -> Array:
    """Normal quantiles of evenly spaced shares, from the integral of the density."""
    from statistics import NormalDist

    grid = np.linspace(-9, 9, 20_001)
    density = np.exp(-(grid**2) / 2)
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    found = np.interp(shares, below / below[-1], grid)
    # the ends carry the most weight: take them exactly
    ends = np.flatnonzero((shares < 1e-4) | (shares > 1 - 1e-4))
    exact = NormalDist()
    found[ends] = [exact.inv_cdf(share) for share in shares[ends].tolist()]
    return np.asarray(found)


def _given_others(own: Array, others: Array, noise: Array) -> Array:
    """A draw of the column's scores given the others': the regression on them, and normal noise of what it leaves."""
    scale = others.std(axis=0)
    if not (scale > 0).all() or own.std() == 0:
        raise InputError("A column of shuffle does not vary.", "Leave it out.")
    others, own = others / scale, own / own.std()
    slope, *_ = np.linalg.lstsq(others, own, rcond=None)
    fitted = others @ slope
    return np.asarray(fitted + np.sqrt(max(1 - fitted.var(), 0.0)) * noise)
