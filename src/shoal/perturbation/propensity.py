"""Can a model tell the released from the original? The propensity score, by logistic regression."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array

MOST_ROWS = 100_000
MOST_CATEGORIES = 50
_ROUNDS = 60
_SMALL = 1e-8
# a category that is gone would ask for an endless coefficient
_RIDGE = 0.01


@dataclass(frozen=True)
class Propensity:
    """pMSE = mean of (p - 1/2)², p the fitted probability that a record is a released one: 0 cannot be told, 1/4 can.

    (Woo et al. 2009.) `ratio` is to what two independent tables of one source would have: (m - 1) / (4N) for m
    coefficients and N stacked records, from the law of the fitted coefficients. Both are none where the fit did not
    settle: `settled` says so.
    """

    pmse: float | None
    ratio: float | None
    settled: bool
    records: int


def propensity(
    before: Mapping[str, Array], after: Mapping[str, Array], categories: Mapping[str, tuple[Array, Array]], seed: int
) -> Propensity | None:
    """Fit released against original: numbers, their squares and products, and categories.

    >>> same = {"x": np.array([1.0, 2.0, 3.0, 4.0])}
    >>> propensity(same, same, {}, 0).pmse
    0.0
    """
    if not before and not categories:
        return None
    rows = _rows(before, after, categories, seed)
    if len(rows) < 2:
        return Propensity(None, None, False, 0)
    features = _features(before, after, categories, rows)
    labels = np.repeat([0.0, 1.0], len(rows))
    fitted = logistic(features, labels, _RIDGE)
    if fitted is None:
        return Propensity(None, None, False, 2 * len(rows))
    pmse = float(((fitted - 0.5) ** 2).mean())
    expected = (features.shape[1] - 1) / (4 * len(labels))
    pmse = 0.0 if pmse < _SMALL**2 else pmse
    return Propensity(pmse, pmse / expected if expected else None, True, len(labels))


def _rows(
    before: Mapping[str, Array], after: Mapping[str, Array], categories: Mapping[str, tuple[Array, Array]], seed: int
) -> Array:
    """Rows without a missing number; a sample of many."""
    first = next(iter(before.values())) if before else next(iter(categories.values()))[0]
    whole = np.ones(len(first), bool)
    for columns in (before, after):
        for values in columns.values():
            whole &= np.isfinite(values)
    rows = np.flatnonzero(whole)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(seed).choice(rows, MOST_ROWS, replace=False)
    return rows


def _features(
    before: Mapping[str, Array],
    after: Mapping[str, Array],
    categories: Mapping[str, tuple[Array, Array]],
    rows: Array,
) -> Array:
    """One, numbers in units of the original's spread, their squares and products, one column for each category."""
    columns: list[Array] = [np.ones(2 * len(rows))]
    numbers = []
    for name in before:
        stacked = np.concatenate([before[name][rows], after[name][rows]])
        if (spread := stacked[: len(rows)].std()) > 0:
            numbers.append((stacked - stacked[: len(rows)].mean()) / spread)
    columns += numbers
    columns += [numbers[i] * numbers[j] for i in range(len(numbers)) for j in range(i + 1)]
    for old, new in categories.values():
        stacked = np.concatenate([old[rows], new[rows]])
        common = np.argsort(-np.bincount(stacked), kind="stable")[: MOST_CATEGORIES + 1]
        columns += [(stacked == code).astype(float) for code in common[1:].tolist()]
    return _independent(np.stack(columns, axis=1))


def _independent(features: Array) -> Array:
    """The columns that earlier ones do not give."""
    _, triangle = np.linalg.qr(features)
    size = np.abs(np.diag(triangle))
    return np.asarray(features[:, size > 1e-9 * np.sqrt(len(features)) * max(float(np.abs(features).max()), 1.0)])


def logistic(features: Array, labels: Array, ridge: float = 0.0) -> Array | None:
    """Fitted probabilities of a logistic regression by Newton's method; none where it does not settle.

    The first feature is the constant; `ridge` holds the squares of the other coefficients down.

    >>> one = np.ones((4, 1))
    >>> logistic(one, np.array([0.0, 0.0, 0.0, 1.0])).round(6).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    weights = np.zeros(features.shape[1])
    penalty = np.full(len(weights), ridge)
    penalty[0] = 0.0
    best = _worth(features, labels, weights, penalty)
    for _ in range(_ROUNDS):
        chance = _chance(features @ weights)
        slope = features.T @ (labels - chance) - penalty * weights
        curve = (features * (chance * (1 - chance))[:, None]).T @ features + np.diag(penalty)
        try:
            step = np.linalg.solve(curve, slope)
        except np.linalg.LinAlgError:
            return None
        while (found := _worth(features, labels, weights + step, penalty)) < best - 1e-12 * abs(best):
            step = step / 2
            if np.abs(step).max() < 1e-12:
                return None
        best, weights = found, weights + step
        if np.abs(step).max() < 1e-6:
            return _chance(features @ weights)
    return None


def _chance(score: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(score, -500, 500))))


def _worth(features: Array, labels: Array, weights: Array, penalty: Array) -> float:
    """The log-likelihood, less the penalty."""
    score = features @ weights
    return float((labels * score - np.logaddexp(0, score)).sum() - (penalty * weights**2).sum() / 2)
