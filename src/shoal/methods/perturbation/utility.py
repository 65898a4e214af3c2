"""What a perturbation cost: IL1s, eigenvalues, marginals, correlations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.utility.analysis import logistic_regression
from shoal.utility.loss import compared

# points in a leaf of the tree
_LEAF = 32
# distances that differ by less are equal: sums in another order differ in their last digits
TOLERANCE = 1e-9


def nearest(points: Array, queries: Array) -> tuple[Array, Array]:
    """For each query the distance to its nearest point, and how many points are that near.

    >>> nearest(np.array([[0.0], [2.0], [9.0]]), np.array([[1.0], [8.0]]))
    (array([1., 1.]), array([2, 1]))
    """
    from scipy.spatial import cKDTree

    # points that coincide are held once: else a leaf of the tree could be as large as the table
    point_of_row, held = _distinct(points)
    query_of_row, asked = _distinct(queries)
    tree, records = cKDTree(held, _LEAF), np.bincount(point_of_row)
    distances, places = tree.query(asked)
    reach = np.hypot(distances * (1 + TOLERANCE), TOLERANCE)
    ties = records[places]
    tied = np.flatnonzero(tree.query_ball_point(asked, reach, return_length=True) > 1)
    if len(tied):
        near = tree.query_ball_point(asked[tied], reach[tied])
        sizes = np.fromiter(map(len, near), np.int64, len(near))
        of_all = np.fromiter(chain.from_iterable(near), np.int64, int(sizes.sum()))
        ties[tied] = np.add.reduceat(records[of_all], np.cumsum(sizes) - sizes)
    return distances[query_of_row], ties[query_of_row]


def _distinct(points: Array) -> tuple[Array, Array]:
    """Which distinct point each row is, and the distinct points."""
    codes = [np.unique(column, return_inverse=True) for column in points.T]
    which, count = class_of_each_row(pack([Coded(code, len(values)) for values, code in codes]))
    return which, points[first_row_of_each_class(which, count)]


# records that are linked, against all; more would change the third digit of a share
MOST_LINKED = 100_000


@dataclass(frozen=True)
class IntervalDisclosure:
    """The share of records whose original value lies within `width` standard deviations of the released one.

    `all` is the share in which that is so for every column at once.
    """

    width: float
    by_column: dict[str, float]
    all: float


def interval_disclosure(
    before: Mapping[str, Array], after: Mapping[str, Array], width: float
) -> IntervalDisclosure | None:
    """How often an interval around the released value gives the original away (Mateo-Sanz et al. 2004).

    |x - x'| <= width · s, with the sample standard deviation s of the original column; missing values disclose nothing
    and are left out.

    >>> found = interval_disclosure({"pay": np.array([0.0, 10.0])}, {"pay": np.array([0.1, 19.0])}, 0.1)
    >>> found.by_column
    {'pay': 0.5}
    """
    if not before:
        return None
    inside = {}
    for name, values in before.items():
        spread = float(np.nanstd(values, ddof=1)) if np.isfinite(values).sum() > 1 else 0.0
        inside[name] = np.abs(values - after[name]) <= width * spread * (1 + TOLERANCE)
    known = {name: np.isfinite(values) for name, values in before.items()}
    whole = np.logical_and.reduce(list(known.values()))
    together = np.logical_and.reduce(list(inside.values()))
    return IntervalDisclosure(
        width, {name: _share(inside[name], known[name]) for name in before}, _share(together, whole)
    )


def _share(hit: Array, known: Array) -> float:
    return float(hit[known].mean()) if known.any() else 0.0


@dataclass(frozen=True)
class NearestLinkage:
    """Released records linked to the nearest original: `linked` are the expected right links, of `records` tried.

    `share` is linked / records. Where several originals are equally near, each gets its part: a record that is one of
    t counts 1 / t. `by_chance` is the share for who guesses.
    """

    records: int
    linked: float
    share: float
    by_chance: float


def linkage(before: Mapping[str, Array], after: Mapping[str, Array], seed: int) -> NearestLinkage | None:
    """Distance-based record linkage (Domingo-Ferrer and Torra 2001), in units of the original standard deviations.

    Exact, by a k-d tree over all originals; more than MOST_LINKED released records are sampled. Rows with a missing
    value are left out.

    >>> before, after = {"x": np.array([1.0, 1.0, 5.0])}, {"x": np.array([1.1, 1.1, 4.0])}
    >>> linkage(before, after, 0).linked
    2.0
    """
    if not before:
        return None
    old, new = (np.stack(list(columns.values()), axis=1) for columns in (before, after))
    spread = np.array([spread_of(column) for column in old.T])
    whole = np.isfinite(old).all(axis=1) & np.isfinite(new).all(axis=1)
    old, new = old[whole][:, spread > 0] / spread[spread > 0], new[whole][:, spread > 0] / spread[spread > 0]
    if not len(old) or not old.shape[1]:
        return None
    rows = np.arange(len(old))
    if len(rows) > MOST_LINKED:
        rows = np.random.default_rng(seed).choice(len(rows), MOST_LINKED, replace=False)
    distances, ties = nearest(old, new[rows])
    own = np.sqrt(((old[rows] - new[rows]) ** 2).sum(axis=1))
    right = own <= distances * (1 + TOLERANCE) + TOLERANCE
    linked = float((right / ties).sum())
    return NearestLinkage(len(rows), linked, linked / len(rows), 1 / len(old))


def spread_of(values: Array) -> float:
    """The standard deviation of the sample; 0 where fewer than two values are known."""
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0


MOST_ROWS = 100_000
MOST_CATEGORIES = 50
_SMALL = 1e-8
# the fit comes as near to the minimum as rounding lets it: tables that can nearly be told apart take many rounds
_FLAT, _ROUNDS = 1e-10, 3000
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
    released = np.repeat([0, 1], len(rows))
    # the weights of two classes are minus and plus half of one: penalised by twice as much, they cost the same
    fitted = logistic_regression(features, released, 2, ridge=2 * _RIDGE, flat=_FLAT, rounds=_ROUNDS)
    if not fitted.settled:
        return Propensity(None, None, False, 2 * len(rows))
    pmse = float(((fitted.chances(features)[:, 1] - 0.5) ** 2).mean())
    expected = features.shape[1] / (4 * len(released))
    pmse = 0.0 if pmse < _SMALL**2 else pmse
    return Propensity(pmse, pmse / expected if expected else None, True, len(released))


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
    before: Mapping[str, Array], after: Mapping[str, Array], categories: Mapping[str, tuple[Array, Array]], rows: Array
) -> Array:
    """Numbers in units of the original's spread, their squares and products, one column for each category."""
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
    """The columns that earlier ones do not give, without the first: the regression has a constant of its own."""
    triangle = np.linalg.qr(features, mode="r")
    own = np.abs(np.diag(triangle)) > 1e-9 * np.sqrt(len(features)) * max(float(np.abs(features).max()), 1.0)
    kept = np.flatnonzero(own)  # there are at most as many as rows
    return np.asarray(features[:, kept[kept > 0]])


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
    by_column = {name: il1s(before[name], after[name]) for name in before if spread_of(before[name]) > 0}
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
    return float(np.abs(before - after)[known].mean() / (np.sqrt(2) * spread_of(before))) if known.any() else 0.0


def _whole(columns: Mapping[str, Array], scale: Mapping[str, float]) -> Array:
    matrix = np.stack([columns[name] / scale[name] for name in scale], axis=1)
    return matrix[np.isfinite(matrix).all(axis=1)]


def _eigenvalues(before: Mapping[str, Array], after: Mapping[str, Array]) -> float | None:
    scale = {name: spread for name in before if (spread := spread_of(before[name])) > 0}
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
    spread = spread_of(old)
    return Marginal(
        float(new.mean() - old.mean()) / spread if spread else None,
        spread_of(new) / spread - 1 if spread else None,
        float(np.abs(below[0] - below[1]).max()),
    )


def _of_categories(before: Array, after: Array) -> Marginal:
    count = int(max(before.max(initial=0), after.max(initial=0))) + 1
    shares = [np.bincount(codes, minlength=count) / len(codes) for codes in (before, after)]
    return Marginal(None, None, float(np.abs(shares[0] - shares[1]).sum() / 2))
