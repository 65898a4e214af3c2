"""What an analyst would get: means, shares, correlations, a regression and a learner, on the original and the release.

A released range counts as its middle, a set or node as equal shares over its members, `*` as what the column holds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.policy.judgement.population import labels_hold
from shoal.ranges.boxed import has_order
from shoal.ranges.hierarchy import Hierarchy
from shoal.ranges.parsing import STAR, as_numbers, ends_of
from shoal.results import Figure, Figures, Grid, Section
from shoal.storage import Array, Column
from shoal.storage.classes import Codes, pack
from shoal.wording import percent

# features of which fewer than this share are not 0 (those of categories) are kept without their zeros
_SPARSE = 0.3
# steps that L-BFGS remembers, and the slope of the mean loss below which a fit has settled
_MEMORY, _SETTLED = 40, 1e-6


class Logistic(NamedTuple):
    """A fitted logistic regression: `weights` has a row for each feature and a last one for the constant, a column for
    each class. `settled` is false where the fit ended before it reached the minimum."""

    weights: Array
    settled: bool

    def scores(self, features: Array) -> Array:
        """The logarithm of the chance of each class, but for a constant of the row."""
        return np.asarray(features @ self.weights[:-1] + self.weights[-1])

    def chances(self, features: Array) -> Array:
        """The chance of each class, row by row."""
        from scipy.special import softmax

        return np.asarray(softmax(self.scores(features), axis=1))

    def predicted(self, features: Array) -> Array:
        """The most probable class of each row."""
        return np.asarray(self.scores(features).argmax(axis=1))


def logistic_regression(
    features: Array, wanted: Array, classes: int, ridge: float = 1.0, flat: float = _SETTLED, rounds: int = 200
) -> Logistic:
    """Minimise the sum of the log losses + ridge |weights|² / 2, where the constants are not penalised.

    The weights of a feature add up to 0 over the classes; ridge = 1 is scikit-learn's default (C = 1). It ends where no
    slope of the mean loss is steeper than `flat`, or after so many rounds.

    >>> found = logistic_regression(np.array([[0.0], [1.0], [0.0], [1.0]]), np.array([0, 1, 0, 1]), 2)
    >>> found.predicted(np.array([[0.0], [1.0]])).tolist(), found.settled
    ([0, 1], True)
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    rows, at = len(features), np.arange(len(features))
    design: Any = np.vstack([features.T, np.ones(rows)])
    penalty = np.append(np.full(features.shape[1], ridge / rows), 0.0)[:, None]
    frequency = np.maximum(np.bincount(wanted, minlength=classes), 1) / rows
    scales = _scales(design, frequency, penalty[:, 0])
    if np.count_nonzero(design) < _SPARSE * design.size:
        design = csr_array(design)

    def weights_of(point: Array) -> Array:
        weights = np.einsum("cij,cj->ic", scales, point.reshape(classes, -1))
        return np.asarray(weights - weights.mean(axis=1, keepdims=True))

    def loss(point: Array) -> tuple[float, Array]:
        weights = weights_of(point)
        chances = weights.T @ design
        chances -= chances.max(axis=0)
        own = chances[wanted, at]
        np.exp(chances, out=chances)
        total = chances.sum(axis=0)
        chances /= total
        chances[wanted, at] -= 1
        value = float((np.log(total) - own).mean() + (penalty * weights**2).sum() / 2)
        slope = design @ chances.T / rows + penalty * weights
        slope -= slope.mean(axis=1, keepdims=True)
        return value, np.einsum("cij,ic->cj", scales, slope).ravel()

    # where no feature tells anything, the constants are the logarithms of the frequencies
    start = np.zeros((len(penalty), classes))
    start[-1] = np.log(frequency)
    point = np.stack([np.linalg.solve(scale, column) for scale, column in zip(scales, start.T, strict=True)])
    options = {"gtol": flat, "ftol": 0.0, "maxiter": rounds, "maxfun": 2 * rounds, "maxcor": _MEMORY}
    found = minimize(loss, point.ravel(), jac=True, method="L-BFGS-B", options=options)
    return Logistic(weights_of(found.x), bool(np.abs(found.jac).max() <= _SETTLED))


def _scales(design: Array, frequency: Array, penalty: Array) -> Array:
    """A matrix for each class that takes coordinates in which the loss curves alike in all directions to weights.

    It is the inverse root of the curvature where each class has its frequency as chance: in such coordinates few
    rounds are enough.
    """
    square = design @ design.T / design.shape[1]
    spread = np.maximum(frequency * (1 - frequency), 1e-9)
    curvature = spread[:, None, None] * square + np.diag(np.maximum(penalty, 1e-9))
    return np.linalg.inv(np.linalg.cholesky(curvature)).swapaxes(1, 2)


def linear_weights(features: Array, wanted: Array) -> Array:
    """The weights (features + 1) of ridge regression with a penalty of |weights|², without the constant.

    >>> linear_weights(np.array([[0.0], [1.0], [2.0]]) * 1e6, np.array([1.0, 3.0, 5.0])).round(6).tolist()
    [2e-06, 1.0]
    """
    middle, mean = features.mean(axis=0), wanted.mean()
    centred = features - middle
    weights = np.linalg.solve(centred.T @ centred + np.eye(features.shape[1]), centred.T @ (wanted - mean))
    return np.append(weights, mean - middle @ weights)


_FOLDS = 5
# records that correlations and learners look at, and categories of a column that are features
_MOST_ROWS, _MOST_FEATURES = 50_000, 100
# a number with more values than this is a quantity, not a class
_MOST_CLASSES = 20


@dataclass(frozen=True)
class Accuracy:
    """How well a column can be predicted: by a learner trained on the original, by one trained on the release, both
    tried on original records that they did not see, and by always saying the same.

    `accuracy`: the share of records predicted rightly; `r2`: the share of the variance explained, for quantities.
    """

    target: str
    original: float
    released: float
    baseline: float
    measure: Literal["accuracy", "r2"]


@dataclass(frozen=True)
class MeanChange:
    """The mean of a number or date (days since 1970), and its change in units of the original spread."""

    column: str
    # null where no record has a value
    original: float | None
    released: float | None
    in_spreads: float | None
    kind: Literal["number", "date"] = "number"


@dataclass(frozen=True)
class ShareChange:
    """The shares of categories: the largest change of one, and half the sum of all changes."""

    column: str
    largest: float
    total_variation: float


@dataclass(frozen=True)
class CoefficientChange:
    """The coefficients of one column in a regression on the target: how many, and the largest change.

    Numbers are in spreads; a single coefficient is given as it was and is.
    """

    column: str
    coefficients: int
    largest_change: float
    original: float | None
    released: float | None


@dataclass(frozen=True)
class Analysis:
    """Means, shares, correlations (largest and mean change of a pair of features of different columns), and, with a
    target, a regression's coefficients with their correlation before and after."""

    means: list[MeanChange]
    shares: list[ShareChange]
    largest_correlation_change: float | None
    mean_correlation_change: float | None
    regression: list[CoefficientChange] | None
    coefficients_alike: float | None


class Features(NamedTuple):
    """One column as features: a row of `before` for each original code, one of `after` for each released one.

    What is missing or `*` is filled with what the rest of the column holds; `told_before` and `told_after` say which
    codes say something themselves.
    """

    old: Column
    new: Column
    before: Array
    after: Array
    ordered: bool
    told_before: Array
    told_after: Array
    # of categories: which of the column's values the features are
    kept: Array | None = None


def features_of(old: Column, new: Column, tree: Hierarchy | None = None) -> Features:
    """A column before and after as the same features.

    >>> from shoal.storage.reading import read
    >>> found = features_of(read({"job": ["a", "b"]})["job"], read({"job": ["[a, b]", "b"]})["job"])
    >>> found.after[found.new.codes].tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    return _ordered(old, new, tree) if has_order(old) else _categories(old, new, tree)


def _ordered(old: Column, new: Column, tree: Hierarchy | None) -> Features:
    before = as_numbers(old.values)
    low, high = ends_of(new)
    middle = (low + high) / 2 if new.values.dtype != pl.String else _middles(low, high)
    if tree is not None and np.isnan(middle[: len(new.values)]).any():
        held = labels_hold(new, old, tree)[:, : len(before)].astype(float)
        sizes = held.sum(axis=1)
        middle = np.where(np.isnan(middle) & (sizes > 0), held @ before / np.maximum(sizes, 1), middle)
    if old.nulls:
        before = np.append(before, np.nan)
    filled = _filled(before, old)[:, None], _filled(middle, new)[:, None]
    return Features(old, new, *filled, True, ~np.isnan(before), ~np.isnan(middle))


def _middles(low: Array, high: Array) -> Array:
    known = np.isfinite(low) & np.isfinite(high)
    return np.where(known, (np.where(known, low, 0) + np.where(known, high, 0)) / 2, np.nan)


def _filled(values: Array, column: Column) -> Array:
    """What is not known is the mean of what is."""
    records = np.bincount(column.codes, minlength=len(values))
    known = ~np.isnan(values)
    total = records[known].sum()
    mean = float((values[known] * records[known]).sum() / total) if total else 0.0
    return np.where(known, values, mean)


def _categories(old: Column, new: Column, tree: Hierarchy | None) -> Features:
    count = len(old.values)
    holds = labels_hold(new, old, tree)[:, :count].astype(float)
    star = np.zeros(len(holds), bool)
    star[: len(new.values)] = (new.values.cast(pl.String) == STAR).to_numpy()
    sizes = holds.sum(axis=1, keepdims=True)
    shares = np.divide(holds, sizes, out=np.zeros_like(holds), where=sizes > 0)
    records = np.bincount(new.codes, minlength=len(shares))
    told = (shares * records[:, None])[~star].sum(axis=0)
    # `*`, and a word that is none of the column's: what the rest of the column holds
    unread = star | ((sizes[:, 0] == 0) & (np.arange(len(shares)) < len(new.values)))
    shares[unread] = told / max(told.sum(), 1e-300)
    own = np.eye(count) if not old.nulls else np.vstack([np.eye(count), np.zeros(count)])
    kept = np.arange(count)
    if count > _MOST_FEATURES:  # the most frequent
        often = np.argsort(-np.bincount(old.codes, minlength=count)[:count], kind="stable")[:_MOST_FEATURES]
        kept = np.sort(often)
        shares, own = shares[:, kept], own[:, kept]
    told_after = ~unread & (sizes[:, 0] > 0)
    return Features(old, new, own, shares, False, np.arange(len(own)) < count, told_after, kept)


def features_of_all(pairs: Sequence[tuple[Column, Column]], trees: Mapping[str, Hierarchy]) -> list[Features]:
    """Every column before and after as the same features."""
    return [features_of(old, new, trees.get(old.name)) for old, new in pairs]


def analysed(features: Sequence[Features], target: Column | None) -> Analysis:
    """Means, shares, correlations, and the coefficients of a regression on the target."""
    means, shares = [], []
    for found in features:
        old, new = (
            np.bincount(codes, minlength=len(matrix)) @ matrix / len(codes)
            for codes, matrix in ((found.old.codes, found.before), (found.new.codes, found.after))
        )
        if found.ordered:
            spread = float(found.before[found.old.codes, 0].std())
            first = float(old[0]) if found.told_before[found.old.codes].any() else None
            then = float(new[0]) if found.told_after[found.new.codes].any() else None
            shift = (then - first) / spread if spread and first is not None and then is not None else None
            dtype = found.old.values.dtype
            if dtype.is_temporal():  # in days; points in time are numbered in microseconds
                per_day = 86_400e6 if isinstance(dtype, pl.Datetime) else 1.0
                first, then = (None if value is None else value / per_day for value in (first, then))
            means.append(MeanChange(found.old.name, first, then, shift, "date" if dtype.is_temporal() else "number"))
        else:
            change = np.abs(new - old)
            shares.append(ShareChange(found.old.name, float(change.max(initial=0.0)), float(change.sum() / 2)))
    rows = looked_at(features, target)
    before, after = _matrices(features, rows)
    largest, mean = _correlations(features, before, after)
    regression, alike = (None, None) if target is None else _regression(features, before, after, target, rows)
    return Analysis(means, shares, largest, mean, regression, alike)


def accuracy_of(features: Sequence[Features], target: Column) -> Accuracy:
    """How well a learner predicts the target, learnt on four fifths of the records and tried on the last, in turn.

    Which fifth a record is in depends on its values only, not on the order of rows.
    """
    features = [found for found in features if found.old.name != target.name]
    if not features:
        raise InputError("There is no column to predict from.", "Name quasi-identifiers besides the target.")
    rows = looked_at(features, target)
    before, after = _matrices(features, rows)
    fold = np.arange(len(rows)) % _FOLDS
    quantity = _is_quantity(target)
    wanted = as_numbers(target.values)[target.codes[rows]] if quantity else target.codes[rows].astype(np.int64)
    right = np.zeros(2)
    for number in range(_FOLDS):
        learn, tried = fold != number, fold == number
        if not learn.any() or not tried.any():
            continue
        for place, learnt_on in enumerate((before, after)):
            if quantity:
                weights = linear_weights(learnt_on[learn], wanted[learn])
                right[place] += ((before[tried] @ weights[:-1] + weights[-1] - wanted[tried]) ** 2).sum()
            else:
                learnt = logistic_regression(learnt_on[learn], wanted[learn], target.cardinality)
                right[place] += (learnt.predicted(before[tried]) == wanted[tried]).sum()
    if quantity:
        explained = 1 - right / max(float(((wanted - wanted.mean()) ** 2).sum()), 1e-300)
        return Accuracy(target.name, float(explained[0]), float(explained[1]), 0.0, "r2")
    frequent = np.bincount(target.codes).max() / len(target.codes)
    original, released = (right / len(rows)).tolist()
    return Accuracy(target.name, original, released, float(frequent), "accuracy")


def _is_quantity(target: Column) -> bool:
    return has_order(target) and not target.nulls and len(target.values) > _MOST_CLASSES


def looked_at(features: Sequence[Features], target: Column | None) -> Array:
    """The records to look at, in the order of their values: all, or evenly drawn ones."""
    sides = [side for found in features for side in (found.old, found.new)]
    order = np.argsort(pack([*sides, *([] if target is None else [target])]).codes, kind="stable")
    return order if len(order) <= _MOST_ROWS else order[np.linspace(0, len(order) - 1, _MOST_ROWS).astype(np.int64)]


def _matrices(features: Sequence[Features], rows: Array) -> tuple[Array, Array]:
    """All features of the records; numbers in spreads of the original, around its mean."""
    before, after = [], []
    for found in features:
        old, new = found.before[found.old.codes[rows]], found.after[found.new.codes[rows]]
        if found.ordered:
            middle, spread = float(old.mean()), float(old.std()) or 1.0
            old, new = (old - middle) / spread, (new - middle) / spread
        before.append(old)
        after.append(new)
    return np.hstack(before), np.hstack(after)


def _correlations(features: Sequence[Features], before: Array, after: Array) -> tuple[float | None, float | None]:
    """How much the correlations of features of different columns changed; one that does not vary has none."""
    owner = np.repeat(np.arange(len(features)), [found.before.shape[1] for found in features])
    vary = (before.std(axis=0) > 0) & (after.std(axis=0) > 0)
    pairs = np.triu(owner[:, None] != owner[None, :]) & vary[:, None] & vary[None, :]
    if not pairs.any():
        return None, None
    with np.errstate(invalid="ignore", divide="ignore"):
        change = np.abs(np.corrcoef(after, rowvar=False) - np.corrcoef(before, rowvar=False))[pairs]
    return float(change.max()), float(change.mean())


def _regression(
    features: Sequence[Features], before: Array, after: Array, target: Column, rows: Array
) -> tuple[list[CoefficientChange] | None, float | None]:
    """The coefficients of the target on all columns, before and after; of more than two classes those of each."""
    owner = np.repeat(np.arange(len(features)), [found.before.shape[1] for found in features])
    others = np.array([found.old.name != target.name for found in features])[owner]
    if not others.any():
        return None, None
    weights = []
    for matrix in (before[:, others], after[:, others]):
        if _is_quantity(target):
            values = as_numbers(target.values)[target.codes[rows]]
            weights.append(linear_weights(matrix, (values - values.mean()) / (values.std() or 1.0))[:-1, None])
            continue
        found = logistic_regression(matrix, target.codes[rows].astype(np.int64), target.cardinality).weights[:-1]
        weights.append(found[:, 1:2] - found[:, :1] if target.cardinality == 2 else found)
    old, new = weights
    entries = []
    for place, column in enumerate(features):
        here = owner[others] == place
        if here.any():
            single = old[here].size == 1
            entries.append(
                CoefficientChange(
                    column.old.name,
                    int(old[here].size),
                    float(np.abs(old[here] - new[here]).max()),
                    float(old[here][0, 0]) if single else None,
                    float(new[here][0, 0]) if single else None,
                )
            )
    alike = float(np.corrcoef(old.ravel(), new.ravel())[0, 1]) if old.std() and new.std() and old.size > 1 else None
    return entries, alike


def analysis_sections(found: Analysis) -> list[Section]:
    """Means, shares, correlations and coefficients, before and after.

    >>> len(analysis_sections(Analysis([], [], 0.25, 0.1, None, None)))
    1
    """
    shown: list[Section] = []
    if found.means:
        rows = [
            (
                entry.column,
                mean_name(entry.original, entry.kind),
                mean_name(entry.released, entry.kind),
                "–" if entry.in_spreads is None else f"{entry.in_spreads:+.4f}",
            )
            for entry in found.means
        ]
        shown.append(Grid(("mean of", "original", "released", "change in spreads"), rows))
    if found.shares:
        shares = [(entry.column, percent(entry.largest), percent(entry.total_variation)) for entry in found.shares]
        shown.append(Grid(("shares of", "largest change", "total variation"), shares))
    if found.regression:
        coefficients = [
            (entry.column, f"{entry.coefficients:,}", f"{entry.largest_change:.4f}") for entry in found.regression
        ]
        shown.append(Grid(("regression on", "coefficients", "largest change"), coefficients))
    figures = {
        "largest change of a correlation": found.largest_correlation_change,
        "mean change of correlations": found.mean_correlation_change,
        "correlation of coefficients, before and after": found.coefficients_alike,
    }
    known = [Figure(name, f"{value:.4f}") for name, value in figures.items() if value is not None]
    return [*shown, Figures(known)] if known else shown


def mean_name(value: float | None, kind: str) -> str:
    """A mean as people write it: a date as a day.

    >>> mean_name(1705.2, "date"), mean_name(44.55, "number"), mean_name(123456.7, "number"), mean_name(None, "date")
    ('1974-09-02', '44.55', '123,457', 'not known')
    """
    if value is None or not math.isfinite(value):
        return "not known"
    if kind == "date":
        return str(date(1970, 1, 1) + timedelta(days=math.floor(value)))
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


# What a survey statistician would publish, before and after: means, totals and quantiles by weight, with their errors.
#
# Standard errors are those of sampling with replacement, by linearisation: the first-stage units are the households
# where they are known, otherwise the records.

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
