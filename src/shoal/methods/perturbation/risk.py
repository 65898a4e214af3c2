"""What can still be learnt after a perturbation: values within an interval, and records linked by distance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack

# Nearest points, exactly: distances and how many points are as near.


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
        width,
        {name: _share(inside[name], known[name]) for name in before},
        _share(together, whole),
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
