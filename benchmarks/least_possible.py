"""How little any grouping could lose: a record is as far from its box's farthest corner as from any of its group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from shoal.methods.partition.coordinates import coordinates
from shoal.ranges.boxed import check_k
from shoal.storage import Column
from shoal.threads import processors


@dataclass(frozen=True)
class LowerBound:
    """A lower bound of the information loss; from a sample it lies within `margin` with 95% confidence."""

    loss: float
    margin: float
    sampled: int


def nearest_neighbour_bound(columns: Sequence[Column], k: int, sample: int | None = None, seed: int = 0) -> LowerBound:
    """The mean distance of records to their (k-1)-th nearest, / columns: no grouping of k loses less (Eqs 3-4).

    With a `sample` only so many records look for their nearest, among all.

    >>> from shoal.storage.reading import read
    >>> columns = read({"age": [30, 31, 60, 61]}).select(["age"])
    >>> round(nearest_neighbour_bound(columns, 2).loss, 4)
    0.0577
    """
    rows = coordinates(columns)
    size = len(rows)
    check_k(k, size)
    asked = rows
    if sample is not None and sample < size:
        asked = rows[np.random.default_rng(seed).choice(size, sample, replace=False)]
    # each record is its own nearest
    distances, _ = cKDTree(rows).query(asked, k=[k], workers=processors())
    nearest = distances[:, 0] / rows.shape[1]
    margin = 0.0 if len(nearest) == size else 1.96 * float(nearest.std(ddof=1)) / float(np.sqrt(len(nearest)))
    return LowerBound(float(nearest.mean()), margin, len(nearest))
