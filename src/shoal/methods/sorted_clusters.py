"""`sorted-clusters`: Sánchez et al., Algorithm S2, with t-closeness S4."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.engine import engine_of
from shoal.engine.base import OrderParts, RecordRuns
from shoal.errors import InputError, Message
from shoal.methods.base import k_of, needs_k, needs_numbers, t_closeness_of
from shoal.methods.boxes import BoxesOnDisk, MakeBoxes, groups_persons
from shoal.methods.households import refuses_households
from shoal.methods.units import boxes_of_units, groups_in_strata, units_of
from shoal.models import KAnonymity, TCloseness
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side, box_clusters, check_k, distance_to_zero, numbers, spread
from shoal.ranges.on_disk import BoxedByColumn
from shoal.storage import Array, Column, Table
from shoal.storage.classes import (
    Coded,
    class_of_each_row,
    first_row_of_each_class,
    order_of_words,
    pack,
    sorted_with_order,
)
from shoal.storage.spill import Spill

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
    return box_clusters(columns, order, np.arange(max(1, rows // k)) * k)


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

    def refused_on_disk(self) -> str | None:
        """Records that are safe already are told by all records."""
        return (
            Message("`{untouched_if_safe}` is not supported") if self.untouched_if_safe else super().refused_on_disk()
        )

    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """Clusters of k by an external sort."""
        from shoal.methods.on_disk.clusters import close_clusters_on_disk, sorted_clusters_on_disk

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
    parts = OrderParts(k, max(1, table.total // k))
    runs = engine_of(table).cut(table, _ranks(distance_to_zero(table.select(names), spreads)).codes, parts)
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
    distance = _ranks(distance_to_zero(table.select(names)))
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
    first = sorted_runs.position - np.minimum(sorted_runs.position // sizes.clusters, sizes.size) * sizes.clusters
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


def _ranks(numbers: Array) -> Coded:
    values, codes = np.unique(numbers, return_inverse=True)
    return Coded(codes, len(values))
