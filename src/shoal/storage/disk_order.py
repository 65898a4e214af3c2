"""Another order of rows on disk: rows go to buckets, each bucket is put in order alone, and all arrays follow.

A bucket is a range of what rows are sorted by, and fits in memory. So an array is brought into the order (`apply`), or
back to the rows (`undo`), by reading and writing it in long stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.storage.order import key_of, siphash
from shoal.storage.spill import Spill, blocks_of, forget, remove
from shoal.storage.table import Array, Column, smallest_unsigned

# bytes of memory for each row of a bucket while it is put in order
_BYTES_PER_ORDERED_ROW = 64
_MOST_BUCKETS = 1 << 14

# of a block of rows: the bucket of each, and what they are sorted by within it, the first key first
Keys = Callable[[slice], tuple[Array, Sequence[Array]]]


class DiskOrder(NamedTuple):
    """`starts[b]` is where bucket b begins, `local[p]` which of its rows, as they came, stands at position p."""

    bucket_of_row: Array
    starts: Array
    local: Array
    spill: Spill

    @classmethod
    def by(cls, rows: int, buckets: int, keys: Keys, spill: Spill) -> DiskOrder:
        """The order by keys; rows that are equal in all keys stay in their order.

        >>> ages = np.array([51, 34, 60, 34])
        >>> with Spill(memory=1000) as spill:
        ...     spill.start(1000)
        ...     order = DiskOrder.by(4, 2, lambda block: (ages[block] // 50, [ages[block]]), spill)
        ...     order.apply(ages).tolist(), order.undo(np.arange(4)).tolist()
        ([34, 34, 51, 60], [2, 0, 3, 1])
        """
        bucket_of_row = spill.array("buckets", smallest_unsigned(buckets), rows)
        counts, kinds = np.zeros(buckets, np.int64), []
        for block in blocks_of(rows):
            bucket, found = keys(block)
            bucket_of_row[block] = bucket
            counts += np.bincount(bucket, minlength=buckets)
            kinds = [key.dtype for key in found]
        starts = np.concatenate([[0], np.cumsum(counts)])
        order = cls(bucket_of_row, starts, spill.array("local", smallest_unsigned(int(counts.max()) + 1), rows), spill)
        held = [spill.array("keys", kind, rows) for kind in kinds]
        for block, sort, places in order._blocks():
            for array, key in zip(held, keys(block)[1], strict=True):
                array[places] = key[sort]
        for number, rows_of in enumerate(order._buckets()):
            arrays = [np.asarray(array[rows_of]) for array in held]
            order.local[rows_of] = np.lexsort(arrays[::-1]) if len(arrays) > 1 else np.argsort(arrays[0], kind="stable")
            progress.report("sorting", number + 1, buckets)
        for array in held:
            remove(array)
        return order

    def _buckets(self) -> list[slice]:
        ends = self.starts.tolist()
        return [slice(low, high) for low, high in pairwise(ends) if low < high]

    def _blocks(self) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of rows: their order by bucket, and where in the buckets they come to stand."""
        places = self.starts[:-1].copy()
        for block in blocks_of(len(self.bucket_of_row)):
            bucket = np.asarray(self.bucket_of_row[block])
            sort = np.argsort(bucket, kind="stable")
            counts = np.bincount(bucket, minlength=len(places))
            first = np.repeat(places - (np.cumsum(counts) - counts), counts)
            yield block, sort, first + np.arange(len(sort))
            places += counts

    def apply(self, array: Array) -> Array:
        """An array of the rows in this order."""
        out = self.spill.array("ordered", array.dtype, len(array))
        for block, sort, places in self._blocks():
            out[places] = np.asarray(array[block])[sort]
        for bucket in self._buckets():
            out[bucket] = np.asarray(out[bucket])[self.local[bucket]]
        self._forget(array, out)
        return out

    def undo(self, ordered: Array) -> Array:
        """An array in this order, as the rows are."""
        came = self.spill.array("came", ordered.dtype, len(ordered))
        for bucket in self._buckets():
            part = np.empty(bucket.stop - bucket.start, ordered.dtype)
            part[self.local[bucket]] = ordered[bucket]
            came[bucket] = part
        out = self.spill.array("rows", ordered.dtype, len(ordered))
        for block, sort, places in self._blocks():
            part = np.empty(len(sort), ordered.dtype)
            part[sort] = came[places]
            out[block] = part
        remove(came)
        self._forget(ordered, out)
        return out

    def _forget(self, *arrays: Array) -> None:
        for array in (self.bucket_of_row, self.local, *arrays):
            forget(array)

    def remove(self) -> None:
        """Give its disk free."""
        remove(self.bucket_of_row)
        remove(self.local)


def buckets_for(rows: int, spill: Spill) -> int:
    """Into how many buckets rows go, so that each fits in memory."""
    most = max(1_000, spill.budget // (2 * _BYTES_PER_ORDERED_ROW))
    return max(1, min(_MOST_BUCKETS, -(-rows // most)))


def shuffled_on_disk(rows: int, seed: int, spill: Spill) -> DiskOrder:
    """The order that `shuffled_order` gives for so many rows.

    >>> with Spill(memory=1000) as spill:
    ...     spill.start(1000)
    ...     shuffled_on_disk(8, 7, spill).apply(np.arange(8)).tolist()
    [7, 1, 2, 0, 6, 4, 5, 3]
    """
    bits = (buckets_for(rows, spill) - 1).bit_length()
    key = key_of(seed)

    def keys(block: slice) -> tuple[Array, list[Array]]:
        hashes = siphash(np.arange(block.start, block.stop, dtype=np.uint64), key)
        bucket = (hashes >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(hashes), np.int64)
        return bucket, [hashes]

    return DiskOrder.by(rows, 1 << bits, keys, spill)


def in_order(column: Column, order: DiskOrder) -> Column:
    """A column with its rows in an order."""
    written = None if column.written is None else (order.apply(column.written[0]), column.written[1])
    return replace(column, codes=order.apply(column.codes), written=written)


def only_rows(column: Column, kept: Array, spill: Spill) -> Column:
    """A column without the rows that a mask leaves out; its dictionary stays whole."""

    def cut(array: Array) -> Array:
        file = spill.new_file("kept")
        for block in blocks_of(len(array)):
            file.append(np.asarray(array[block])[kept[block]])
        return file.mapped(array.dtype)

    codes = cut(column.codes)
    nulls = sum(int(np.count_nonzero(codes[block] == len(column.values))) for block in blocks_of(len(codes)))
    written = None if column.written is None else (cut(column.written[0]), column.written[1])
    return replace(column, codes=codes, nulls=nulls if column.nulls else 0, written=written)
