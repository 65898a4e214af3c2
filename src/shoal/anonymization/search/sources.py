"""Counted nodes that coarser ones are rolled up from, instead of from every distinct tuple."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np

from shoal.anonymization.search import kernels
from shoal.anonymization.search.grid import Grid
from shoal.models.spread import Whole
from shoal.table import Array
from shoal.table.classes import Coded, CountTable

# nodes whose levels are multiples of these are kept
_STEPS = (4, 2)
# a node with nearly as many classes as its source is not worth keeping
_FEWER = 0.7
# keys of a node are whole numbers of 64 bits
_KEYS = 1 << 62
# classes of all nodes that are kept: as many as distinct tuples, and this many always
_ROOM = 1 << 20
# entries of a dense (class, sensitive code) table; past it pairs are sorted instead
DENSE_SPREAD = 1 << 22
# classes from which on those of a node are estimated before they are counted
_SAMPLED = 100_000
# tuples below which rolling up gains nothing, and past which what is kept takes more memory than it is worth
_FEW, _MANY = 1_000, 2_000_000


@dataclass(frozen=True)
class SensitiveEntries:
    """A sensitive column beside the distinct tuples: `count` records of tuple `of_tuple` have the code `code`."""

    of_tuple: Array
    code: Array
    count: Array
    whole: Whole


@dataclass(frozen=True)
class Source:
    """Classes at some levels: a tuple of each (`first`) in compound codes, their records, their sensitive values."""

    levels: Array
    first: Array | None
    codes: Array
    counts: Array
    sensitive: Mapping[str, Any]

    def __len__(self) -> int:
        return len(self.counts)


class Sources:
    """The distinct tuples, and nodes rolled up from them where nodes are looked at. Several threads may ask."""

    def __init__(self, grid: Grid, sensitive: Mapping[str, Any], rolls_up: bool) -> None:
        self.grid = grid
        counts = grid.tuples.counts.astype(np.int64)
        self.bottom = Source(grid.bottom, None, grid.codes, counts, sensitive)
        self._rolls_up = rolls_up and _FEW <= len(counts) <= _MANY
        # by their levels, the least used first; and nodes with nearly as many classes as their source
        self._kept: OrderedDict[tuple[int, ...], Source] = OrderedDict()
        self._not_worth: set[tuple[int, ...]] = set()
        self._lock = Lock()
        self._table = np.zeros(grid.starts[-1], np.int64)
        self._stamp = np.full(slots(len(counts)), -1, np.int32) if self._rolls_up else np.zeros(0, np.int32)

    def below(self, levels: Array) -> Source:
        """Classes that a node can be rolled up from: as few as there are."""
        if not self._rolls_up:
            return self.bottom
        with self._lock:
            nearest = tuple((levels - (levels - self.grid.low) % _STEPS[-1]).tolist())
            if nearest in self._kept:
                self._kept.move_to_end(nearest)
                return self._kept[nearest]
            for step in _STEPS:
                self._keep(levels - (levels - self.grid.low) % step)
            return self._nearest(levels)

    def _nearest(self, levels: Array) -> Source:
        finer = [source for source in self._kept.values() if (source.levels <= levels).all()]
        found = min(finer, key=len, default=self.bottom)
        if found is not self.bottom:
            self._kept.move_to_end(tuple(found.levels.tolist()))
        return found

    def _keep(self, levels: Array) -> None:
        key = tuple(levels.tolist())
        if key in self._kept or key in self._not_worth or not levels.any():
            return
        found = self._roll_up(levels, self._nearest(levels))
        if found is None:
            self._not_worth.add(key)
            return
        self._kept[key] = found
        while self._held > max(_ROOM, len(self.bottom)) and len(self._kept) > 1:
            self._kept.popitem(last=False)

    @property
    def _held(self) -> int:
        return sum(len(source) for source in self._kept.values())

    def _roll_up(self, levels: Array, source: Source) -> Source | None:
        grid, size = self.grid, len(source)
        if grid.cells(levels) >= _KEYS:
            return None
        total = grid.look_up(levels, self._table)
        given = (source.codes, grid.starts, self._table)
        if size > _SAMPLED and kernels.classes_by_sample(*given, self._stamp) > _FEWER * size:
            return None
        place, keys = np.zeros(size, np.int32), np.zeros(max(size, 1), np.int64)
        count = kernels.class_of_each_tuple(*given, total, place, self._stamp, keys)
        if count > _FEWER * size:
            return None
        first = np.zeros(count, np.int32)
        first[place[::-1]] = np.arange(size - 1, -1, -1, dtype=np.int32)
        sensitive = {name: _joined(entries, place, count) for name, entries in source.sensitive.items()}
        sizes = kernels.sizes_of(place, source.counts, count)
        chosen = first if source.first is None else source.first[first]
        return Source(levels, chosen, source.codes.take(first, axis=1), sizes, sensitive)


def _joined(entries: SensitiveEntries, place: Array, classes: int) -> SensitiveEntries:
    """The sensitive values of classes, from those of the tuples in them."""
    labels = len(entries.whole.counts)
    if classes * labels <= DENSE_SPREAD:
        every = np.arange(classes)
        pairs = (place, every, entries.of_tuple, entries.code, entries.count)
        of_class, codes, counts = kernels.spread_over_classes(*pairs, labels, classes)
        return SensitiveEntries(of_class, codes, counts, entries.whole)
    columns = {"class": Coded(place[entries.of_tuple], classes), "code": Coded(entries.code, labels)}
    table = CountTable.of(columns, entries.count)
    of_class, codes = (table.tuples[name].codes.astype(np.int64) for name in ("class", "code"))
    return SensitiveEntries(of_class, codes, table.counts.astype(np.int64), entries.whole)


def slots(tuples: int) -> int:
    """The slots of a hash table for this many classes."""
    return max(kernels.DENSE, 1 << (2 * tuples - 1).bit_length())
