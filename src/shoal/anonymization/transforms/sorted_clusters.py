"""Sánchez et al., Algorithms S2 and S4: records sorted by distance, cut into clusters of k, boxed.

S2 makes the table k-anonymous. S4 makes it k-anonymous and near in the confidential attribute: each cluster takes one
record of every stretch of its order. The published bound on its t-closeness is not a guarantee: measure it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Literal

import numpy as np

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.ranges.boxed import Boxed, box_clusters, check_k, distance_to_zero
from shoal.table import Array, Column
from shoal.table.classes import Coded, order_of_words, sorted_with_order

Remainder = Literal["top", "middle"]


def by_distance(columns: Sequence[Column], spreads: Mapping[str, float] | None = None) -> Array:
    """Records by their distance to the record of zeros, equally far ones by row.

    >>> from shoal.reading import read
    >>> by_distance(read({"age": [51, 30, 34]}).select(["age"])).tolist()
    [1, 2, 0]
    """
    return order_of_distances(distance_to_zero(columns, spreads))


def order_of_distances(distances: Array) -> Array:
    """The stable order of numbers that are not negative: that of their bits.

    >>> order_of_distances(np.array([2.5, 0.0, 2.5])).tolist()
    [1, 0, 2]
    """
    return order_of_words(distances.view(np.uint64))


def sorted_clusters(
    columns: Sequence[Column], k: int, spreads: Mapping[str, float] | None = None, order: Array | None = None
) -> Boxed:
    """Algorithm S2: sort by distance to the record of zeros, cut into clusters of k, the last takes the rest.

    `order` is that of `by_distance`, where it is known.

    >>> from shoal.reading import read
    >>> boxed = sorted_clusters(read({"age": [30, 34, 51, 60, 70]}).select(["age"]), 2)
    >>> boxed.box_of_row.tolist(), boxed.sides["age"].scale[boxed.sides["age"].high].tolist()
    ([0, 0, 1, 1, 1], [34.0, 70.0])
    """
    rows = len(columns[0].codes)
    check_k(k, rows)
    order = by_distance(columns, spreads) if order is None else order
    return box_clusters(columns, order, np.arange(max(1, rows // k)) * k)


@dataclass(frozen=True)
class Cut:
    """How S4 cuts n records: `size` subsets of `clusters` records, and `rest` records left over."""

    size: int
    clusters: int
    rest: int

    def stretches(self) -> Array:
        """How long the stretches are if the middle ones take the records left over, one each.

        >>> Cut(3, 2, 1).stretches().tolist()
        [2, 3, 2]
        """
        lengths = np.full(self.size, self.clusters)
        first = (self.size - self.rest) // 2
        lengths[first : first + self.rest] += 1
        return lengths


def cut(rows: int, k: int, t: float | None = None) -> Cut:
    """Eq 8 and the sizes of S4: clusters of at least k records, more where t asks for it.

    k1 = max(k, ceil(n / (2 (n - 1) t + 1))), q = n // k1, K = k1 + (n mod k1) // q

    >>> cut(7, 3), cut(3_985_166, 10)
    (Cut(size=3, clusters=2, rest=1), Cut(size=10, clusters=398516, rest=6))
    """
    check_k(k, rows)
    if t is not None and not 0 < t <= 1:
        raise InputError(f"t = {t} is not above 0 and up to 1.", "Use --t 0.1, for example.")
    # without t, the one that k gives: Eq 6
    least = k if t is None else max(k, ceil(rows / (2 * (rows - 1) * t + 1) - 1e-9))
    clusters = rows // least
    size = least + (rows % least) // clusters
    return Cut(size, clusters, rows % size)


def closeness_bound(rows: int, k: int) -> float:
    """Eq 6: t(n, k) = (n - k) / (2 (n - 1) k); it holds where k divides n and all values differ.

    >>> closeness_bound(10, 2)
    0.2222222222222222
    """
    return (rows - k) / (2 * (rows - 1) * k) if rows > 1 else 0.0


def close_clusters(
    columns: Sequence[Column],
    confidential: Column,
    k: int,
    t: float | None = None,
    remainder: Remainder = "top",
    ordered: Array | None = None,
    distance: Array | None = None,
) -> Boxed:
    """Algorithm S4: cluster j takes the j-th record, by distance, of every stretch of the confidential order.

    The records left over are the largest (`top`, as published) or from the middle of the order, which breaks the bound
    less often. `ordered`, the rows in the confidential order, and `distance`, that of each to the record of zeros, are
    worked out where they are not known.
    """
    rows = len(columns[0].codes)
    sizes = cut(rows, k, t)
    if ordered is None:
        ordered, _ = sorted_with_order(Coded(confidential.codes, confidential.cardinality))
    if remainder == "middle" and sizes.rest:
        ordered = _rest_last(ordered, sizes)
    distance = distance_to_zero(columns) if distance is None else distance
    main = ordered[: sizes.size * sizes.clusters].reshape(sizes.size, sizes.clusters)
    main = np.stack([stretch[order_of_distances(distance[stretch])] for stretch in main])
    rest = ordered[sizes.size * sizes.clusters :]
    rest = rest[order_of_distances(distance[rest])]
    return box_clusters(columns, *_interleave(main.T, rest))


def _rest_last(ordered: Array, sizes: Cut) -> Array:
    """The middle stretches are one record longer; those records, one of each stretch, go to the end."""
    lengths = sizes.stretches()
    extra = (np.cumsum(lengths) - 1)[lengths > sizes.clusters]
    return np.concatenate([np.delete(ordered, extra), ordered[extra]])


def _interleave(clusters: Array, rest: Array) -> tuple[Array, Array]:
    """Rows cluster by cluster, the first clusters with one of the rest each; and where clusters start."""
    count, size = clusters.shape
    lengths = np.full(count, size)
    lengths[: len(rest)] += 1
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    order = np.empty(clusters.size + len(rest), clusters.dtype)
    order[starts[: len(rest)] + size] = rest
    order[(starts[:, None] + np.arange(size)).ravel()] = clusters.ravel()
    return order, starts
