"""What can still be learnt after a perturbation: values within an interval, and records linked by distance."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.dataclasses import dataclass
from shoal.perturbation.nearest import TOLERANCE, Tree
from shoal.table import Array

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
class Linkage:
    """Released records linked to the nearest original: `linked` are the expected right links, of `records` tried.

    `share` is linked / records. Where several originals are equally near, each gets its part: a record that is one of
    t counts 1 / t. `by_chance` is the share for who guesses.
    """

    records: int
    linked: float
    share: float
    by_chance: float


def linkage(before: Mapping[str, Array], after: Mapping[str, Array], seed: int) -> Linkage | None:
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
    spread = np.array([_spread(column) for column in old.T])
    whole = np.isfinite(old).all(axis=1) & np.isfinite(new).all(axis=1)
    old, new = old[whole][:, spread > 0] / spread[spread > 0], new[whole][:, spread > 0] / spread[spread > 0]
    if not len(old) or not old.shape[1]:
        return None
    rows = np.arange(len(old))
    if len(rows) > MOST_LINKED:
        rows = np.random.default_rng(seed).choice(len(rows), MOST_LINKED, replace=False)
    nearest, ties = Tree(old).nearest(new[rows])
    own = np.sqrt(((old[rows] - new[rows]) ** 2).sum(axis=1))
    right = own <= nearest * (1 + TOLERANCE) + TOLERANCE
    linked = float((right / ties).sum())
    return Linkage(len(rows), linked, linked / len(rows), 1 / len(old))


def _spread(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.std(ddof=1)) if len(known) > 1 else 0.0
