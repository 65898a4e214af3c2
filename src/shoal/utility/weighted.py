"""What a survey statistician would publish, before and after: means, totals and quantiles by weight, with their errors.

Standard errors are those of sampling with replacement, by linearisation: the first-stage units are the households where
they are known, otherwise the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.results import Grid
from shoal.storage import Array
from shoal.storage.classes import Codes
from shoal.wording import percent

if TYPE_CHECKING:
    from shoal.utility.analysis import Features


QUANTILES = (0.25, 0.5, 0.75)
# of the normal law: Woodruff's interval covers 95%
_COVERED = 1.959963984540054


@dataclass(frozen=True)
class WeightedEstimate:
    """A weighted figure of a column with its standard error, from the original and from the release.

    `statistic`: mean, total, quantile 0.25, 0.5 or 0.75; for categories the people of the category whose total changed
    most. `in_errors`: the change in standard errors of the original; below 1 it drowns in the error of sampling.

    Figures are over the records that say something; `original_unknown` and `released_unknown` are the shares of the
    weight of all others. Where none does there is no figure, and `reason` says so.
    """

    column: str
    statistic: str
    original: float | None
    original_error: float | None
    released: float | None
    released_error: float | None
    in_errors: float | None
    original_unknown: float
    released_unknown: float
    reason: str | None


# a figure and its standard error; none where nothing is known
Estimated = tuple[float | None, float | None]


@dataclass(frozen=True)
class Design:
    """The weights of records, and the units that were drawn: households, or the records themselves.

    `told`: the records that say something (all, where it is not given). The others are part of the draw but not of the
    domain, so that their parts of an error are 0 and the errors of what is left do not shrink.
    """

    weights: Array
    household: Codes | None = None
    told: Array | None = None

    def of(self, told: Array) -> Design:
        """The same draw, of which only some records say something."""
        return self if told.all() else replace(self, told=told)

    @property
    def inside(self) -> Array:
        """The weights of the records that say something; 0 for the others."""
        return self.weights if self.told is None else np.where(self.told, self.weights, 0.0)

    @property
    def unknown(self) -> float:
        """The share of the weight that says nothing."""
        people = float(self.weights.sum())
        return 0.0 if self.told is None or not people else float(self.weights[~self.told].sum()) / people

    def error_of(self, parts: Array) -> float | None:
        """The standard error of a total, of which each record contributes a part: sqrt(m / (m-1) sum (z - mean z)^2).

        >>> Design(np.array([2.0, 2.0])).error_of(np.array([2.0, 6.0]))
        4.0
        """
        sums, speaking = parts, self.inside > 0
        if self.household is not None:
            sums = np.bincount(self.household.codes, parts, self.household.cardinality)
            speaking = np.bincount(self.household.codes, speaking, len(sums)) > 0
            sums = sums[np.bincount(self.household.codes, minlength=len(sums)) > 0]
        units = len(sums)
        if units < 2 or np.count_nonzero(speaking) < 2:  # one unit says nothing of how units differ
            return None
        return float(np.sqrt(units / (units - 1) * ((sums - sums.mean()) ** 2).sum()))

    def total(self, values: Array) -> Estimated:
        """Sum of w y."""
        inside = self.inside
        if not inside.any():
            return None, None
        parts = inside * values
        return float(parts.sum()), self.error_of(parts)

    def mean(self, values: Array) -> Estimated:
        """Sum of w y over sum of w, its parts w (y - mean) / sum of w.

        >>> Design(np.array([10.0, 10.0, 20.0, 60.0])).of(np.array([True, True, False, True])).mean(
        ...     np.array([20.0, 30.0, 0.0, 50.0])
        ... )[0]
        43.75
        """
        inside = self.inside
        people = inside.sum()
        if not people:
            return None, None
        mean = float((inside * values).sum() / people)
        return mean, self.error_of(inside * (values - mean) / people)

    def quantile(self, values: Array, share: float) -> Estimated:
        """The least value that a share of the people do not exceed; its error from Woodruff's interval.

        >>> Design(np.array([1.0, 1.0, 2.0])).quantile(np.array([10.0, 20.0, 30.0]), 0.5)[0]
        20.0
        """
        inside = self.inside
        if not inside.any():
            return None, None
        there = np.arange(len(values)) if self.told is None else np.flatnonzero(self.told)
        ordered = there[np.argsort(values[there], kind="stable")]
        reached = np.cumsum(inside[ordered]) / inside.sum()
        at = _value_at(values[ordered], reached, share)
        error = self.mean((values <= at).astype(float))[1]
        if error is None:
            return at, None
        low, high = (_value_at(values[ordered], reached, share + side * _COVERED * error) for side in (-1, 1))
        return at, (high - low) / (2 * _COVERED)


def _value_at(ordered: Array, reached: Array, share: float) -> float:
    place = int(np.searchsorted(reached, min(max(share, 0.0), 1.0) - 1e-12))
    return float(ordered[min(place, len(ordered) - 1)])


def weighted_estimates(features: Sequence[Features], before: Design, after: Design) -> list[WeightedEstimate]:
    """Weighted figures of every column on the original and on the release.

    Numbers and dates (in days since 1970) have a mean and quantiles, numbers also a total; of categories the total that
    changed most is given. A released range counts as its middle, a set as equal shares of its members; what is missing
    or `*` is left out.
    """
    found = []
    for feature in features:
        old, new = feature.before[feature.old.codes], feature.after[feature.new.codes]
        first = before.of(feature.told_before[feature.old.codes])
        then = after.of(feature.told_after[feature.new.codes])
        if feature.ordered:
            entries = _of_numbers(feature.old.name, old[:, 0], new[:, 0], first, then)
            # a sum of dates means nothing
            found += [entry for entry in entries if entry.statistic != "total" or feature.old.dtype.is_numeric()]
        elif old.shape[1]:
            changed = np.abs(then.inside @ new - first.inside @ old)
            place = int(np.argmax(changed))
            word = "largest change of a total"
            figures = first.total(old[:, place]), then.total(new[:, place])
            found.append(_entry(feature.old.name, word, *figures, first, then))
    return found


def _of_numbers(name: str, old: Array, new: Array, before: Design, after: Design) -> list[WeightedEstimate]:
    figures = {"mean": (before.mean(old), after.mean(new)), "total": (before.total(old), after.total(new))}
    for share in QUANTILES:
        figures[f"quantile {share}"] = before.quantile(old, share), after.quantile(new, share)
    return [_entry(name, statistic, *both, before, after) for statistic, both in figures.items()]


def _entry(
    name: str, statistic: str, old: Estimated, new: Estimated, before: Design, after: Design
) -> WeightedEstimate:
    change = None
    if old[0] is not None and new[0] is not None:
        change = abs(new[0] - old[0]) / old[1] if old[1] else (0.0 if new[0] == old[0] else None)
    reason = None
    if old[0] is None or new[0] is None:
        reason = f"no record of the {'original' if old[0] is None else 'release'} has a value"
    return WeightedEstimate(name, statistic, *old, *new, change, before.unknown, after.unknown, reason)


def weighted_grid(entries: Sequence[WeightedEstimate]) -> Grid:
    """The figures as a table."""
    rows = [
        (
            entry.column,
            entry.statistic,
            _with_error(entry.original, entry.original_error),
            _with_error(entry.released, entry.released_error),
            "–" if entry.in_errors is None else f"{entry.in_errors:.2f}",
            percent(entry.released_unknown),
        )
        for entry in entries
    ]
    heads = ("column", "by weight", "original (error)", "released (error)", "change in errors", "released unknown")
    return Grid(heads, rows, 2)


def _with_error(value: float | None, error: float | None) -> str:
    if value is None:
        return "unknown"
    return _plain(value, 6) if error is None else f"{_plain(value, 6)} ({_plain(error, 3)})"


def _plain(value: float, digits: int) -> str:
    """A number in so many digits at most, large ones whole, with commas and without powers of ten.

    >>> _plain(1234567.8, 6), _plain(31.25, 6), _plain(0.00123456, 3), _plain(45678.9, 3)
    ('1,234,568', '31.25', '0.00123', '45,679')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
