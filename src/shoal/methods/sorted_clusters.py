"""`sorted-clusters`: Sánchez et al., Algorithm S2, with t-closeness S4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import Field

from shoal.engine import engine_of
from shoal.engine.base import OrderParts, RecordRuns
from shoal.errors import InputError, Message
from shoal.methods.base import IN_PARTS, can_be_parted, k_of, needs_k, needs_numbers, t_closeness_of
from shoal.methods.boxes import BoxesOnDisk, MakeBoxes, groups_persons
from shoal.methods.results import Anonymized
from shoal.methods.units import boxes_of_units, dense, groups_in_strata, refuses_households, units_of
from shoal.models import KAnonymity, TCloseness
from shoal.policy import Policy
from shoal.ranges.boxed import (
    Boxed,
    BoxedByColumn,
    Side,
    box_clusters,
    check_k,
    distance_to_zero,
    numbers,
    places,
    spread,
)
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.classes import (
    Coded,
    class_of_each_row,
    first_row_of_each_class,
    order_of_words,
    pack,
    sorted_with_order,
)
from shoal.storage.external import DiskOrder, Keys, buckets_for
from shoal.storage.rows import occurrences
from shoal.storage.spill import Spill, forget, remove
from shoal.storage.table import blocks_of

# Sánchez et al., Algorithms S2 and S4: records sorted by distance, cut into clusters of k, boxed.
#
# S2 makes the table k-anonymous. S4 makes it k-anonymous and near in the confidential attribute: each cluster takes one
# record of every stretch of its order. The published bound on its t-closeness is not a guarantee: measure it.


Remainder = Literal["top", "middle"]


def by_distance(columns: Sequence[Column], spreads: Mapping[str, float] | None = None) -> Array:
    """Records by their distance to the record of zeros, equally far ones by row.

    >>> from shoal.storage.reading import read
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

    >>> from shoal.storage.reading import read
    >>> boxed = sorted_clusters(read({"age": [30, 34, 51, 60, 70]}).select(["age"]), 2)
    >>> boxed.box_of_row.tolist(), boxed.sides["age"].scale[boxed.sides["age"].high].tolist()
    ([0, 0, 1, 1, 1], [34.0, 70.0])
    """
    rows = len(columns[0].codes)
    check_k(k, rows)
    order = by_distance(columns, spreads) if order is None else order
    return box_clusters(columns, order, np.arange(Stretches.of_rows(rows, k).count) * k)


class Stretches(OrderParts):
    """The clusters of S2: k neighbours in an order of records, the last with the rest."""

    @classmethod
    def of_rows(cls, rows: int, k: int) -> Stretches:
        """Of so many records.

        >>> Stretches.of_rows(5, 2).of(np.arange(5)).tolist()
        [0, 0, 1, 1, 1]
        """
        return cls(k, max(1, rows // k))

    def ends(self, ordered: Array) -> tuple[Array, Array]:
        """The smallest and the largest code of each cluster, of codes in the order; block by block.

        >>> [ends.tolist() for ends in Stretches(2, 2).ends(np.array([3, 1, 5, 7, 6]))]
        [[1, 5], [3, 7]]
        """
        low, high = (np.empty(self.count, ordered.dtype) for _ in range(2))
        step = max(1, blocks_of(len(ordered))[0].stop // self.step)
        for first in range(0, self.count, step):
            last = min(first + step, self.count)
            stop = len(ordered) if last == self.count else last * self.step
            part, starts = np.asarray(ordered[first * self.step : stop]), np.arange(last - first) * self.step
            low[first:last], high[first:last] = np.minimum.reduceat(part, starts), np.maximum.reduceat(part, starts)
        return low, high


class Cut(NamedTuple):
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
        raise InputError(f"t = {t} is not above 0 and up to 1.", Message("Use `{t}` 0.1, for example."))
    # without t, the one that k gives: Eq 6
    least = k if t is None else max(k, ceil(rows / (2 * (rows - 1) * t + 1) - 1e-9))
    clusters = rows // least
    size = least + (rows % least) // clusters
    return Cut(size, clusters, rows % size)


class OnePerStretch(NamedTuple):
    """The clusters of S4: the j-th record of every stretch of an order; those left over stand last, and join the first.

    >>> clusters = OnePerStretch(Cut(2, 3, 1))
    >>> clusters.of(np.arange(7)).tolist(), [ends.tolist() for ends in clusters.ends(np.array([1, 2, 3, 9, 8, 7, 0]))]
    ([0, 1, 2, 0, 1, 2, 0], [[0, 2, 3], [9, 8, 7]])
    """

    sizes: Cut

    def of(self, positions: Array) -> Array:
        """The cluster at positions of the order."""
        return np.asarray(positions % self.sizes.clusters)

    def ends(self, ordered: Array) -> tuple[Array, Array]:
        """The smallest and the largest code of each cluster, of codes in the order; block by block."""
        clusters, size = self.sizes.clusters, self.sizes.size
        low, high = (np.empty(clusters, ordered.dtype) for _ in range(2))
        rest = np.asarray(ordered[size * clusters :])
        for block in blocks_of(clusters):
            parts = [np.asarray(ordered[s * clusters + block.start : s * clusters + block.stop]) for s in range(size)]
            low[block], high[block] = np.minimum.reduce(parts), np.maximum.reduce(parts)
        low[: len(rest)] = np.minimum(low[: len(rest)], rest)
        high[: len(rest)] = np.maximum(high[: len(rest)], rest)
        return low, high


Clusters: TypeAlias = Stretches | OnePerStretch


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
    order, clusters = np.concatenate([main.ravel(), rest]), OnePerStretch(sizes)
    box_of_row = np.empty(rows, np.int64)
    box_of_row[order] = clusters.of(np.arange(rows))
    sides = {one.name: Side(places(one), *clusters.ends(one.codes[order]), None, one.values) for one in columns}
    return Boxed(box_of_row, sides)


def _rest_last(ordered: Array, sizes: Cut) -> Array:
    """The middle stretches are one record longer; those records, one of each stretch, go to the end."""
    lengths = sizes.stretches()
    extra = (np.cumsum(lengths) - 1)[lengths > sizes.clusters]
    return np.concatenate([np.delete(ordered, extra), ordered[extra]])


# records from which on a t-closeness by their ranks, which are told apart one by one, is not measured
_RANKED = 20_000_000


class SortedClusters(BoxesOnDisk):
    """Records sorted by distance, cut into clusters of k; with t-closeness one record of every stretch of its order.

    >>> SortedClusters(remainder="middle").remainder
    'middle'
    """

    name: ClassVar[str] = "sorted-clusters"
    does: ClassVar[str] = (
        "records sorted by distance and cut into clusters of k, each value becomes its cluster's range"
    )
    source: ClassVar[str] = "Sánchez et al., Algorithms S2 and (with t) S4"
    by_default: ClassVar[bool] = True

    remainder: Remainder = Field(default="top", description="With t: from where in the order records are left over.")
    untouched_if_safe: bool = Field(
        default=False, description="Leave records as they are whose class has k members already (k alone)."
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates, k-anonymity and the t-closeness of one column."""
        if policy.count is not None:
            return "sorts records, and does not take tables of counts (`count`): use mondrian or the lattice"
        reason = needs_k(policy) or refuses_households(policy, "cuts households apart") or groups_persons(policy, table)
        if reason is not None:
            return reason
        if policy.person is not None and t_closeness_of(policy) is not None:
            return "keeps the t-closeness of records, not of persons (`person`): use mondrian or the lattice"
        others = [model.model for model in policy.models if not isinstance(model, (KAnonymity, TCloseness))]
        if others or sum(isinstance(model, TCloseness) for model in policy.models) > 1:
            return "keeps k-anonymity and the t-closeness of one column only"
        if self.untouched_if_safe and t_closeness_of(policy) is not None:
            return Message("has the option `{untouched_if_safe}` with k alone, without t-closeness")
        return needs_numbers(table, policy)

    def boxed(self, table: Table, policy: Policy) -> tuple[Boxed, dict[str, Any]]:
        """The clusters, of all records or of those that are not safe yet."""

        make, parameters = self.boxes(table, policy)
        columns, units, k = table.select(policy.quasi_identifiers), units_of(table, policy), k_of(policy) or 0
        parameters = {**parameters, "untouched_if_safe": self.untouched_if_safe}

        def boxes_around(some: Sequence[Column]) -> Boxed:
            return untouched_if_safe(some, k, make) if self.untouched_if_safe else make(some)

        if units.plain:
            return boxes_around(columns), parameters
        own = units.columns(columns)
        groups = groups_in_strata(
            units, k, None, policy.suppression, lambda some, _: boxes_around([c.take(some) for c in own]).box_of_row
        )
        return boxes_of_units(columns, units, groups), parameters

    def parameters_of(self, policy: Policy) -> dict[str, Any]:
        """k, and with t-closeness what is left over."""
        close = t_closeness_of(policy)
        more = {} if close is None else {"t": close.t, "remainder": self.remainder}
        return {"k": k_of(policy) or 0, **more, "untouched_if_safe": self.untouched_if_safe}

    def refused_on_disk(self, policy: Policy) -> str | None:
        """Records that are safe already are told by all records."""
        return (
            Message("`{untouched_if_safe}` is not supported")
            if self.untouched_if_safe
            else super().refused_on_disk(policy)
        )

    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """Clusters of k by an external sort."""

        k, close, columns = k_of(policy) or 0, t_closeness_of(policy), table.select(policy.quasi_identifiers)
        if close is None:
            return sorted_clusters_on_disk(columns, k, spill)
        return close_clusters_on_disk(columns, table[close.sensitive], k, close.t, self.remainder, spill)

    def by_tuple(self, policy: Policy) -> int | None:
        """Records that are equal are parted by their number alone."""
        if self.untouched_if_safe:
            return None
        return 0 if t_closeness_of(policy) is None else _RANKED

    def parted(self, table: Table, policy: Policy) -> tuple[Table, Boxed, dict[str, Any]]:
        """A table of tuples is cut by how often they occur."""
        if table.records is None:
            return super().parted(table, policy)

        names, k, close = policy.quasi_identifiers, k_of(policy) or 0, t_closeness_of(policy)
        parameters = self.parameters_of(policy)
        if close is None:
            spreads = {column.name: spread(column) for column in table.select(names)}
            return *sorted_tuples(table, names, k, spreads), parameters
        return *close_tuples(table, names, close.sensitive, k, close.t, self.remainder), parameters

    def by_part(self, policy: Policy) -> int | None:
        """Ranges of distance of large tables, where k-anonymity is all that is asked for."""
        plain = not self.untouched_if_safe and self.interval in ("bracket", "dash")
        return IN_PARTS if plain and can_be_parted(policy) else None

    def change_in_parts(self, table: Table, policy: Policy) -> Anonymized:
        """Algorithm S2, range after range of distances: the same clusters, by exact ranks."""
        from shoal.methods.in_parts import Labelled, changed_in_parts, ranges_of, side_as_it_is
        from shoal.methods.partition import in_parts

        ranges = ranges_of(table, policy.quasi_identifiers, k_of(policy) or 0, in_parts.PART)
        how = Labelled(ranges[0].group, self.interval, side_as_it_is)
        return changed_in_parts(self.name, table, policy, how, ranges, self.parameters_of(policy))

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """Clusters of k."""
        k, close = k_of(policy) or 0, t_closeness_of(policy)
        if close is None:
            # distances are in units of the whole table's spread, also where only a part of the rows is changed
            spreads = {column.name: spread(column) for column in table.select(policy.quasi_identifiers)}
            return lambda columns: sorted_clusters(columns, k, spreads), {"k": k}
        confidential, t = table[close.sensitive], close.t
        parameters = {"k": k, "t": t, "remainder": self.remainder}
        return lambda columns: close_clusters(columns, confidential, k, t, self.remainder), parameters


# Keep what is already safe: records whose class has k members stay as they are, the rest is anonymised.


def untouched_if_safe(columns: Sequence[Column], k: int, way: Callable[[Sequence[Column]], Boxed]) -> Boxed:
    """Apply a way of anonymising only to records in classes under k.

    Fewer than k such records cannot protect each other: then the smallest safe classes join them.

    >>> from shoal.storage.reading import read
    >>> from shoal.methods.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 30, 41, 55]}).select(["age"])
    >>> boxed = untouched_if_safe(columns, 2, lambda some: sorted_clusters(some, 2))
    >>> boxed.sides["age"].scale[boxed.sides["age"].high][boxed.box_of_row].tolist()
    [30.0, 30.0, 55.0, 55.0]
    """
    classes, count = class_of_each_row(pack(columns))
    sizes = np.bincount(classes, minlength=count)
    safe = _safe_classes(sizes, k)
    changed = np.flatnonzero(~safe[classes])
    if not len(changed):
        return _points(columns, classes, count)
    points = _points(columns, classes, count)
    some = way([column.take(changed) for column in columns])
    box_of_row = points.box_of_row.copy()
    box_of_row[changed] = some.box_of_row + count
    # the points of changed records are boxes of nobody now
    used, box_of_row = np.unique(box_of_row, return_inverse=True)
    sides = {name: _joined(points.sides[name], some.sides[name]) for name in points.sides}
    return Boxed(box_of_row, {name: Side(s.scale, s.low[used], s.high[used]) for name, s in sides.items()})


def _safe_classes(sizes: Array, k: int) -> Array:
    safe = sizes >= k
    for smallest in np.argsort(sizes, kind="stable"):
        left = sizes[~safe].sum()
        if left == 0 or left >= k:
            break
        safe[smallest] = False
    return np.asarray(safe)


def _points(columns: Sequence[Column], classes: Array, count: int) -> Boxed:
    """Every row as it is; rows of a class share a box."""
    first = first_row_of_each_class(classes, count)
    sides = {column.name: Side(numbers(column), column.codes[first], column.codes[first]) for column in columns}
    return Boxed(classes, sides)


def _joined(one: Side, two: Side) -> Side:
    """Two lists of ranges on one scale."""
    scale = np.union1d(one.scale, two.scale)
    place_one, place_two = np.searchsorted(scale, one.scale), np.searchsorted(scale, two.scale)
    low = np.concatenate([place_one[one.low], place_two[two.low]])
    return Side(scale, low, np.concatenate([place_one[one.high], place_two[two.high]]))


# Sánchez et al., Algorithms S2 and S4 on a count table: the same clusters, from tuples and how often they occur.
#
# Records are never written out. A tuple is parted where a cluster ends inside it; clusters that hold records of one
# tuple only are alike and stay together. Which of different records at equal distances comes first is their order in
# the source, which the engine knows (`Engine.cut`).


def sorted_tuples(table: Table, names: Sequence[str], k: int, spreads: Mapping[str, float]) -> tuple[Table, Boxed]:
    """Algorithm S2: the table with a row for each part of a tuple that is released alike, and the boxes.

    >>> from shoal.storage.reading import read
    >>> counted = read({"age": [30, 51]}).counting(np.arange(2), np.array([5, 3]))
    >>> parts, boxed = sorted_tuples(counted, ["age"], 2, {"age": 1.0})
    >>> parts.records.tolist(), boxed.box_of_row.tolist()
    ([2, 2, 1, 1, 2], [0, 1, 2, 2, 3])
    """
    check_k(k, table.total)
    parts = Stretches.of_rows(table.total, k)
    runs = engine_of(table).cut(table, dense(distance_to_zero(table.select(names), spreads)).codes, parts)
    first, last = parts.of(runs.position), parts.of(runs.position + runs.records - 1)
    # a run has a head, a tail, and between them clusters of its own
    inner = last > first + 1
    row = np.concatenate([runs.row, runs.row[inner], runs.row[last > first]])
    start = np.concatenate([runs.position, parts.start(first + 1)[inner], parts.start(last)[last > first]])
    order = np.argsort(start, kind="stable")
    row, start = row[order], start[order]
    return boxes_of_runs(table, names, RecordRuns(row, start, np.diff(start, append=table.total)), parts.of(start))


def close_tuples(
    table: Table, names: Sequence[str], sensitive: str, k: int, t: float | None, remainder: Remainder
) -> tuple[Table, Boxed]:
    """Algorithm S4: first tuples parted into stretches of the confidential order, then those by distance."""
    sizes = cut(table.total, k, t)
    distance = dense(distance_to_zero(table.select(names)))
    stretches, of_part = _stretches(sizes, remainder)
    runs = _parted(engine_of(table).cut(table, table[sensitive].codes.astype(np.int64), stretches), stretches)
    order = np.lexsort((runs.position, runs.row))
    runs = RecordRuns(*(array[order] for array in runs))
    stretch, parted = of_part[stretches.of(runs.position)], table.counting(runs.row, runs.records)
    confidential = parted[sensitive]
    by = [
        Coded(stretch, sizes.size + 1),
        Coded(distance.codes[runs.row], distance.cardinality),
        Coded(confidential.codes, confidential.cardinality),
    ]
    sorted_runs = engine_of(table).cut(parted, class_of_each_row(pack(by))[0], OrderParts(1, table.total))
    # the j-th record of every stretch is in cluster j: clusters between two ends of runs are alike
    first = OnePerStretch(sizes).of(sorted_runs.position)
    ends = np.unique(np.concatenate([first, first + sorted_runs.records]))
    low, high = np.searchsorted(ends, first), np.searchsorted(ends, first + sorted_runs.records)
    which = np.repeat(np.arange(len(first)), high - low)
    cluster = np.arange(len(which)) - np.repeat(np.cumsum(high - low) - high, high - low)
    position = sorted_runs.position[which] + ends[cluster] - first[which]
    return boxes_of_runs(parted, names, RecordRuns(sorted_runs.row[which], position, np.diff(ends)[cluster]), cluster)


def _stretches(sizes: Cut, remainder: Remainder) -> tuple[OrderParts, Array]:
    """Where the confidential order is cut, and the stretch of each part; the records left over are one more."""
    if remainder == "top" or not sizes.rest:
        return OrderParts(sizes.clusters, sizes.size + (sizes.rest > 0)), np.arange(sizes.size + 1)
    lengths = sizes.stretches()
    starts = np.cumsum(lengths) - lengths
    longer = np.flatnonzero(lengths > sizes.clusters)
    number = np.concatenate([np.arange(sizes.size), np.full(len(longer), sizes.size)])
    starts = np.concatenate([starts, starts[longer] + sizes.clusters])
    order = np.argsort(starts)
    return OrderParts(0, len(starts), starts[order]), number[order]


def _parted(runs: RecordRuns, parts: OrderParts) -> RecordRuns:
    """The same runs, each within one part."""
    ends = runs.position + runs.records
    first, last = parts.of(runs.position), parts.of(ends - 1)
    which = np.repeat(np.arange(len(first)), last - first + 1)
    part = np.arange(len(which)) - np.repeat(np.cumsum(last - first + 1) - 1 - last, last - first + 1)
    start = np.maximum(runs.position[which], parts.start(part))
    later = np.append(part[1:] > part[:-1], False) & np.append(which[1:] == which[:-1], False)
    return RecordRuns(runs.row[which], start, np.where(later, np.append(start[1:], 0), ends[which]) - start)


def boxes_of_runs(table: Table, names: Sequence[str], runs: RecordRuns, box: Array) -> tuple[Table, Boxed]:
    """The table of the runs, those of a row in the order of its records, and the boxes around those of one number."""
    order = np.lexsort((runs.position, runs.row))
    parted, box = table.counting(runs.row[order], runs.records[order]), box[order]
    by_box = np.argsort(box, kind="stable")
    starts = np.flatnonzero(np.diff(box[by_box], prepend=-1))
    return parted, box_clusters(parted.select(names), by_box, starts)


# Sánchez et al., Algorithms S2 and S4, for rows on disk: an external sort by distance, clusters cut from it.
#
# Rows are sorted by distance bucket by bucket. A cluster is a stretch of that order (S2), or one row of each stretch
# (S4), so its ranges are found by reading the sorted codes of one column after the other; what a cluster shows goes
# back to its rows by the same order, turned round. The result is that of rows in memory, row by row.


_STRETCHES, _STRETCH = 1 << 10, 1 << 10


class Distances:
    """Eq 2 from each row to the record of zeros, block by block."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns, self.rows = columns, len(columns[0].codes)
        self._spreads = {column.name: spread(column) for column in columns}

    def of(self, rows: slice) -> Array:
        """The distances of some rows."""
        return distance_to_zero([replace(one, codes=one.codes[rows]) for one in self._columns], self._spreads)

    def bounds(self, parts: int) -> Array:
        """Distances that cut the rows into so many parts, of about as many rows each."""
        starts = np.unique(np.linspace(0, max(self.rows - _STRETCH, 0), _STRETCHES).astype(np.int64)).tolist()
        sample = np.sort(np.concatenate([self.of(slice(at, min(at + _STRETCH, self.rows))) for at in starts]))
        return np.unique(sample[np.arange(1, parts) * len(sample) // parts])

    def order(self, buckets: int, keys: Keys, spill: Spill) -> DiskOrder:
        """The order of the rows by keys that look at distances; codes that were read need not stay in memory."""
        order = DiskOrder.by(self.rows, buckets, keys, spill)
        for column in self._columns:
            forget(column.codes)
        return order


def sorted_clusters_on_disk(columns: Sequence[Column], k: int, spill: Spill) -> BoxedByColumn:
    """Algorithm S2."""
    distances, rows = Distances(columns), len(columns[0].codes)
    check_k(k, rows)
    bounds = distances.bounds(buckets_for(rows, spill))

    def keys(block: slice) -> tuple[Array, list[Array]]:
        found = distances.of(block)
        return np.searchsorted(bounds, found, side="right"), [found]

    return _boxed(columns, distances.order(len(bounds) + 1, keys, spill), Stretches.of_rows(rows, k))


def close_clusters_on_disk(
    columns: Sequence[Column],
    confidential: Column,
    k: int,
    t: float | None,
    remainder: Remainder,
    spill: Spill,
) -> BoxedByColumn:
    """Algorithm S4."""
    distances, rows = Distances(columns), len(columns[0].codes)
    sizes = cut(rows, k, t)
    ranges = max(1, buckets_for(rows, spill) // (sizes.size + 1))
    bounds = distances.bounds(ranges)
    placed = _Places(confidential, sizes, remainder)

    def keys(block: slice) -> tuple[Array, list[Array]]:
        (stretch, place), found = placed.of(block), distances.of(block)
        return stretch * (len(bounds) + 1) + np.searchsorted(bounds, found, side="right"), [found, place]

    order = distances.order((sizes.size + 1) * (len(bounds) + 1), keys, spill)
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
