"""Sánchez et al., Algorithms S2 and S4, for rows on disk: an external sort by distance, clusters cut from it.

Rows are sorted by distance bucket by bucket. A cluster is a stretch of that order (S2), or one row of each stretch
(S4), so its ranges are found by reading the sorted codes of one column after the other; what a cluster shows goes back
to its rows by the same order, turned round. The result is that of `methods/sorted_clusters.py`, row by row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.methods.sorted_clusters import Clusters, Cut, OnePerStretch, Remainder, Stretches, cut
from shoal.ranges.boxed import Boxed, BoxedByColumn, Side, check_k, numbers, places, spread
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.disk_order import DiskOrder, buckets_for
from shoal.storage.rows import occurrences
from shoal.storage.spill import Spill, forget, remove
from shoal.storage.table import blocks_of

_STRETCHES, _STRETCH = 1 << 10, 1 << 10


class Distances:
    """Eq 2 from each row to the record of zeros, as `distance_to_zero` has it, block by block."""

    def __init__(self, columns: Sequence[Column]) -> None:
        found = [(column.codes, numbers(column), spread(column)) for column in columns]
        self._tables = [(codes, (values / sigma) ** 2) for codes, values, sigma in found if sigma > 0]
        self.rows = len(columns[0].codes)

    def of(self, rows: slice) -> Array:
        """The distances of some rows."""
        total = np.zeros(rows.stop - rows.start)
        for codes, squares in self._tables:
            total += squares[codes[rows]]
        return np.sqrt(total, out=total)

    def bounds(self, parts: int) -> Array:
        """Distances that cut the rows into so many parts, of about as many rows each."""
        starts = np.unique(np.linspace(0, max(self.rows - _STRETCH, 0), _STRETCHES).astype(np.int64)).tolist()
        sample = np.sort(np.concatenate([self.of(slice(at, min(at + _STRETCH, self.rows))) for at in starts]))
        return np.unique(sample[np.arange(1, parts) * len(sample) // parts])

    def forget(self) -> None:
        """Codes that were read need not stay in memory."""
        for codes, _ in self._tables:
            forget(codes)


def sorted_clusters_on_disk(columns: Sequence[Column], k: int, spill: Spill) -> BoxedByColumn:
    """Algorithm S2."""
    distances = Distances(columns)
    rows = distances.rows
    check_k(k, rows)
    bounds = distances.bounds(buckets_for(rows, spill))

    def keys(block: slice) -> tuple[Array, list[Array]]:
        found = distances.of(block)
        return np.searchsorted(bounds, found, side="right"), [found]

    order = DiskOrder.by(rows, len(bounds) + 1, keys, spill)
    distances.forget()
    return _boxed(columns, order, Stretches.of_rows(rows, k))


def close_clusters_on_disk(
    columns: Sequence[Column],
    confidential: Column,
    k: int,
    t: float | None,
    remainder: Remainder,
    spill: Spill,
) -> BoxedByColumn:
    """Algorithm S4."""
    distances = Distances(columns)
    rows = distances.rows
    sizes = cut(rows, k, t)
    ranges = max(1, buckets_for(rows, spill) // (sizes.size + 1))
    bounds = distances.bounds(ranges)
    placed = _Places(confidential, sizes, remainder)

    def keys(block: slice) -> tuple[Array, list[Array]]:
        stretch, place = placed.of(block)
        block_distances = distances.of(block)
        return stretch * (len(bounds) + 1) + np.searchsorted(bounds, block_distances, side="right"), [
            block_distances,
            place,
        ]

    order = DiskOrder.by(rows, (sizes.size + 1) * (len(bounds) + 1), keys, spill)
    distances.forget()
    return _boxed(columns, order, OnePerStretch(sizes))


class _Places:
    """The stretch of the confidential order that each row is in, and its place in it; rows left over are the last."""

    def __init__(self, confidential: Column, sizes: Cut, remainder: Remainder) -> None:
        self.codes, self.sizes = confidential.codes, sizes
        lengths = np.full(sizes.size, sizes.clusters)
        if remainder == "middle" and sizes.rest:
            lengths = sizes.stretches()
        self.ends = np.cumsum(lengths)
        self.longer = lengths > sizes.clusters
        counts = occurrences(self.codes, confidential.cardinality)
        self._starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._next, self._row = self._starts.copy(), 0

    def of(self, block: slice) -> tuple[Array, Array]:
        """Stretch and place of the rows of a block; blocks come one after the other, and then again from the first."""
        if block.start == 0:
            self._next = self._starts.copy()
        codes = np.asarray(self.codes[block]).astype(np.int64)
        counts = np.bincount(codes, minlength=len(self._starts))
        sort = np.argsort(codes, kind="stable")
        position = np.empty(len(codes), np.int64)
        position[sort] = np.repeat(self._next - (np.cumsum(counts) - counts), counts) + np.arange(len(codes))
        self._next += counts
        stretch = np.searchsorted(self.ends, position, side="right")
        inside = np.minimum(stretch, self.sizes.size - 1)
        # of a longer stretch, the last is left over
        extra = (stretch < self.sizes.size) & self.longer[inside] & (position == self.ends[inside] - 1)
        return np.where(extra, self.sizes.size, stretch), position


def _boxed(columns: Sequence[Column], order: DiskOrder, clusters: Clusters) -> BoxedByColumn:
    """The ranges of all clusters, column by column, and back to the rows."""
    by_column = {column.name: _along(column, order, clusters) for column in columns}
    order.remove()
    return BoxedByColumn.of(by_column)


def _along(column: Column, order: DiskOrder, clusters: Clusters) -> Boxed:
    ordered = order.apply(column.codes)
    low, high = clusters.ends(ordered)
    remove(ordered)
    rows, values = len(column.codes), len(column.values)
    pairs, which = np.unique(low.astype(np.int64) * values + high, return_inverse=True)
    which = which.astype(smallest_unsigned(len(pairs)))
    shown = order.spill.array("clusters", which.dtype, rows)
    for block in blocks_of(rows):
        shown[block] = which[clusters.of(np.arange(block.start, block.stop))]
    range_of_row = order.undo(shown)
    remove(shown)
    side = Side(places(column), pairs // values, pairs % values, None, column.values)
    return Boxed(range_of_row, {column.name: side})
