"""How little any grouping could lose: a record is as far from its box's farthest corner as from any of its group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.anonymization.partition.coordinates import coordinates
from shoal.anonymization.partition.tree import leaf_at, nearest, tree_of
from shoal.compiled import compiled
from shoal.dataclasses import dataclass
from shoal.ranges.boxed import check_k
from shoal.table import Array, Column
from shoal.threads import in_threads

_PARTS = 64


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of the information loss; from a sample it lies within `margin` with 95% confidence."""

    loss: float
    margin: float
    sampled: int


def nearest_neighbour_bound(columns: Sequence[Column], k: int, sample: int | None = None, seed: int = 0) -> LowerBound:
    """The mean distance of records to their (k-1)-th nearest, / columns: no grouping of k loses less (Eqs 3-4).

    With a `sample` only so many records look for their nearest, among all.

    >>> from shoal.reading import read
    >>> columns = read({"age": [30, 31, 60, 61]}).select(["age"])
    >>> round(nearest_neighbour_bound(columns, 2).loss, 4)
    0.0577
    """
    rows = coordinates(columns)
    size = len(rows)
    check_k(k, size)
    tree = tree_of(rows)
    asked = where = tree.where
    if sample is not None and sample < size:
        asked = where[np.random.default_rng(seed).choice(size, sample, replace=False)]
    parts = in_threads(lambda some: _kth(rows, *tree[:5], some, k), np.array_split(asked, _PARTS), "lower bound")
    found = np.concatenate(parts) / rows.shape[1]
    margin = 0.0 if len(found) == size else 1.96 * float(found.std(ddof=1)) / float(np.sqrt(len(found)))
    return LowerBound(float(found.mean()), margin, len(found))


@compiled
def _kth(
    rows: Array, names: Array, starts: Array, live: Array, low: Array, high: Array, places: Array, k: int
) -> Array:
    """The distance of the records at some places to their (k-1)-th nearest; each is its own nearest."""
    found, far = np.empty(k, np.int64), np.empty(k, np.float32)
    stack, apart = np.empty(64, np.int64), np.empty(64, np.float32)
    answer = np.empty(len(places), np.float64)
    for i in range(len(places)):
        place = places[i]
        leaf = leaf_at(starts, place)
        nearest(rows, names, starts, live, low, high, rows[place], leaf, k, found, far, stack, apart)
        answer[i] = np.sqrt(far[k - 1])
    return answer
