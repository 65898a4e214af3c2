"""What a survey statistician would publish, before and after: means, totals and quantiles by weight, with their errors.

Standard errors are those of sampling with replacement, by linearisation: the first-stage units are the households where
they are known, otherwise the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.results import Grid
from shoal.table import Array
from shoal.table.classes import Codes
from shoal.utility.analysis import Features

QUANTILES = (0.25, 0.5, 0.75)
# of the normal law: Woodruff's interval covers 95%
_COVERED = 1.959963984540054


@dataclass(frozen=True, slots=True)
class WeightedEstimate:
    """A weighted figure of a column with its standard error, from the original and from the release.

    `statistic`: mean, total, quantile 0.25, 0.5 or 0.75; for categories the people of the category whose total changed
    most. `in_errors`: the change in standard errors of the original; below 1 it drowns in the error of sampling.
    """

    column: str
    statistic: str
    original: float
    original_error: float | None
    released: float
    released_error: float | None
    in_errors: float | None


@dataclass(frozen=True)
class Design:
    """The weights of records, and the units that were drawn: households, or the records themselves."""

    weights: Array
    household: Codes | None = None

    def error_of(self, parts: Array) -> float | None:
        """The standard error of a total, of which each record contributes a part: sqrt(m / (m-1) sum (z - mean z)^2).

        >>> Design(np.array([2.0, 2.0])).error_of(np.array([2.0, 6.0]))
        4.0
        """
        sums = parts
        if self.household is not None:
            sums = np.bincount(self.household.codes, parts, self.household.cardinality)
            sums = sums[np.bincount(self.household.codes, minlength=len(sums)) > 0]
        units = len(sums)
        if units < 2:
            return None
        return float(np.sqrt(units / (units - 1) * ((sums - sums.mean()) ** 2).sum()))

    def total(self, values: Array) -> tuple[float, float | None]:
        """Sum of w y."""
        parts = self.weights * values
        return float(parts.sum()), self.error_of(parts)

    def mean(self, values: Array) -> tuple[float, float | None]:
        """Sum of w y over sum of w, its parts w (y - mean) / sum of w."""
        people = self.weights.sum()
        mean = float((self.weights * values).sum() / people)
        return mean, self.error_of(self.weights * (values - mean) / people)

    def quantile(self, values: Array, share: float) -> tuple[float, float | None]:
        """The least value that a share of the people do not exceed; its error from Woodruff's interval.

        >>> Design(np.array([1.0, 1.0, 2.0])).quantile(np.array([10.0, 20.0, 30.0]), 0.5)[0]
        20.0
        """
        order = np.argsort(values, kind="stable")
        reached = np.cumsum(self.weights[order]) / self.weights.sum()
        at = _value_at(values[order], reached, share)
        error = self.mean((values <= at).astype(float))[1]
        if error is None:
            return at, None
        low, high = (_value_at(values[order], reached, share + side * _COVERED * error) for side in (-1, 1))
        return at, (high - low) / (2 * _COVERED)


def _value_at(ordered: Array, reached: Array, share: float) -> float:
    place = int(np.searchsorted(reached, min(max(share, 0.0), 1.0) - 1e-12))
    return float(ordered[min(place, len(ordered) - 1)])


def weighted_estimates(features: Sequence[Features], before: Design, after: Design) -> list[WeightedEstimate]:
    """Weighted figures of every column on the original and on the release.

    Numbers and dates (in days since 1970) have a mean and quantiles, numbers also a total; of categories the total that
    changed most is given. A released range counts as its middle, a set as equal shares of its members.
    """
    found = []
    for feature in features:
        old, new = feature.before[feature.old.codes], feature.after[feature.new.codes]
        if feature.ordered:
            entries = _of_numbers(feature.old.name, old[:, 0], new[:, 0], before, after)
            # a sum of dates means nothing
            found += [entry for entry in entries if entry.statistic != "total" or feature.old.dtype.is_numeric()]
        elif old.shape[1]:
            changed = np.abs(after.weights @ new - before.weights @ old)
            place = int(np.argmax(changed))
            word = "largest change of a total"
            figures = before.total(old[:, place]), after.total(new[:, place])
            found.append(_entry(feature.old.name, word, *figures))
    return found


def _of_numbers(name: str, old: Array, new: Array, before: Design, after: Design) -> list[WeightedEstimate]:
    quantiles = [
        _entry(name, f"quantile {share}", before.quantile(old, share), after.quantile(new, share))
        for share in QUANTILES
    ]
    return [
        _entry(name, "mean", before.mean(old), after.mean(new)),
        _entry(name, "total", before.total(old), after.total(new)),
        *quantiles,
    ]


def _entry(
    name: str, statistic: str, old: tuple[float, float | None], new: tuple[float, float | None]
) -> WeightedEstimate:
    change = abs(new[0] - old[0]) / old[1] if old[1] else (0.0 if new[0] == old[0] else None)
    return WeightedEstimate(name, statistic, *old, *new, change)


def weighted_grid(entries: Sequence[WeightedEstimate]) -> Grid:
    """The figures as a table."""
    rows = [
        (
            entry.column,
            entry.statistic,
            _with_error(entry.original, entry.original_error),
            _with_error(entry.released, entry.released_error),
            "–" if entry.in_errors is None else f"{entry.in_errors:.2f}",
        )
        for entry in entries
    ]
    heads = ("column", "by weight", "original (error)", "released (error)", "change in errors")
    return Grid(heads, rows, 2)


def _with_error(value: float, error: float | None) -> str:
    return f"{value:.6g}" if error is None else f"{value:.6g} ({error:.3g})"
