"""What a perturbation cost: IL1s, eigenvalues, marginals, correlations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.dataclasses import dataclass
from shoal.perturbation.propensity import Propensity, propensity
from shoal.table import Array
from shoal.utility.loss import compared


@dataclass(frozen=True)
class Marginal:
    """How a column's distribution changed.

    Numbers: `mean` in units of the original standard deviation, `spread` relative, `distance` the largest difference of
    the cumulative shares (Kolmogorov and Smirnov). Categories: `distance` is half the sum of the differences of shares.
    """

    mean: float | None
    spread: float | None
    distance: float


@dataclass(frozen=True)
class Utility:
    """The cost of a perturbation; none where there is nothing to measure it on.

    `il1s`: the mean over records and columns of |x - x'| / (√2 s). `eigenvalues`: the mean over eigenvalues λ of the
    covariance (columns in units of s) of |λ - λ'| / λ. `correlations`: the largest change of a correlation of two
    columns of numbers, one of them perturbed; `correlation_of_correlations`: how alike both matrices are.
    """

    il1s: float | None
    il1s_by_column: dict[str, float]
    eigenvalues: float | None
    propensity: Propensity | None
    marginals: dict[str, Marginal]
    correlations: float | None
    correlation_of_correlations: float | None


def utility_of(
    before: Mapping[str, Array],
    after: Mapping[str, Array],
    categories: Mapping[str, tuple[Array, Array]],
    others: Mapping[str, Array],
    seed: int,
) -> Utility:
    """Measure perturbed numbers and categories; `others` are columns of numbers that were not touched.

    >>> before, after = {"x": np.array([0.0, 2.0])}, {"x": np.array([1.0, 2.0])}
    >>> round(utility_of(before, after, {}, {}, 0).il1s, 6)
    0.25
    """
    by_column = {name: il1s(before[name], after[name]) for name in before if _spread(before[name]) > 0}
    marginals = {name: _of_numbers(before[name], after[name]) for name in before}
    marginals |= {name: _of_categories(old, new) for name, (old, new) in categories.items()}
    correlations = compared(_correlations({**before, **others}), _correlations({**after, **others}))
    return Utility(
        float(np.mean(list(by_column.values()))) if by_column else None,
        by_column,
        _eigenvalues(before, after),
        propensity(before, after, categories, seed),
        marginals,
        *correlations,
    )


def il1s(before: Array, after: Array) -> float:
    """Mean of |x - x'| / (√2 s): as a mean it does not grow with the number of records (Yancey et al. 2002).

    >>> round(il1s(np.array([0.0, 2.0]), np.array([1.0, 2.0])), 6)
    0.25
    """
    known = np.isfinite(before) & np.isfinite(after)
    return float(np.abs(before - after)[known].mean() / (np.sqrt(2) * _spread(before))) if known.any() else 0.0


def _spread(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


def _whole(columns: Mapping[str, Array], scale: Mapping[str, float]) -> Array:
    matrix = np.stack([columns[name] / scale[name] for name in scale], axis=1)
    return matrix[np.isfinite(matrix).all(axis=1)]


def _eigenvalues(before: Mapping[str, Array], after: Mapping[str, Array]) -> float | None:
    scale = {name: spread for name in before if (spread := _spread(before[name])) > 0}
    if not scale:
        return None
    matrices = [_whole(columns, scale) for columns in (before, after)]
    if min(map(len, matrices)) < 2:
        return None
    old, new = (np.linalg.eigvalsh(np.atleast_2d(np.cov(matrix, rowvar=False))) for matrix in matrices)
    large = old > 1e-9  # what is no direction of the original has no relative change
    return float((np.abs(old - new)[large] / old[large]).mean())


def _correlations(columns: Mapping[str, Array]) -> Array:
    """Of every pair of columns, over the rows in which both are known; 0 where one does not vary."""
    names = list(columns)
    found = []
    for place, name in enumerate(names):
        for other in names[:place]:
            known = np.isfinite(columns[name]) & np.isfinite(columns[other])
            one, two = columns[name][known], columns[other][known]
            vary = len(one) > 1 and one.std() > 0 and two.std() > 0
            found.append(float(np.corrcoef(one, two)[0, 1]) if vary else 0.0)
    return np.array(found)


def _of_numbers(before: Array, after: Array) -> Marginal:
    old, new = np.sort(before[np.isfinite(before)]), np.sort(after[np.isfinite(after)])
    if not len(old) or not len(new):
        return Marginal(None, None, 0.0)
    places = np.concatenate([old, new])
    below = [np.searchsorted(values, places, side="right") / len(values) for values in (old, new)]
    spread = _spread(old)
    return Marginal(
        float(new.mean() - old.mean()) / spread if spread else None,
        _spread(new) / spread - 1 if spread else None,
        float(np.abs(below[0] - below[1]).max()),
    )


def _of_categories(before: Array, after: Array) -> Marginal:
    count = int(max(before.max(initial=0), after.max(initial=0))) + 1
    shares = [np.bincount(codes, minlength=count) / len(codes) for codes in (before, after)]
    return Marginal(None, None, float(np.abs(shares[0] - shares[1]).sum() / 2))
