"""Sánchez et al., Algorithms S2 and S4 on a count table: the same clusters, from tuples and how often they occur.

Records are never written out. A tuple is parted where a cluster ends inside it; clusters that hold records of one tuple
only are alike and stay together. Which of different records at equal distances comes first is their order in the
source, which the engine knows (`Engine.cut`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.anonymization.transforms.sorted_clusters import Cut, Remainder, cut
from shoal.engine import engine_of
from shoal.engine.base import Parts, Runs
from shoal.ranges.boxed import Boxed, box_clusters, check_k, distance_to_zero
from shoal.table import Array, Table
from shoal.table.classes import Coded, class_of_each_row, pack


def sorted_tuples(table: Table, names: Sequence[str], k: int, spreads: Mapping[str, float]) -> tuple[Table, Boxed]:
    """Algorithm S2: the table with a row for each part of a tuple that is released alike, and the boxes.

    >>> from shoal.reading import read
    >>> counted = read({"age": [30, 51]}).counting(np.arange(2), np.array([5, 3]))
    >>> parts, boxed = sorted_tuples(counted, ["age"], 2, {"age": 1.0})
    >>> parts.records.tolist(), boxed.box_of_row.tolist()
    ([2, 2, 1, 1, 2], [0, 1, 2, 2, 3])
    """
    check_k(k, table.total)
    parts = Parts(k, max(1, table.total // k))
    runs = engine_of(table).cut(table, _ranks(distance_to_zero(table.select(names), spreads)).codes, parts)
    first, last = parts.of(runs.position), parts.of(runs.position + runs.records - 1)
    # a run has a head, a tail, and between them clusters of its own
    inner = last > first + 1
    row = np.concatenate([runs.row, runs.row[inner], runs.row[last > first]])
    start = np.concatenate([runs.position, parts.start(first + 1)[inner], parts.start(last)[last > first]])
    order = np.argsort(start, kind="stable")
    row, start = row[order], start[order]
    return boxes_of_runs(table, names, Runs(row, start, np.diff(start, append=table.total)), parts.of(start))


def close_tuples(
    table: Table, names: Sequence[str], sensitive: str, k: int, t: float | None, remainder: Remainder
) -> tuple[Table, Boxed]:
    """Algorithm S4: first tuples parted into stretches of the confidential order, then those by distance."""
    sizes = cut(table.total, k, t)
    distance = _ranks(distance_to_zero(table.select(names)))
    stretches, of_part = _stretches(sizes, remainder)
    runs = _parted(engine_of(table).cut(table, table[sensitive].codes.astype(np.int64), stretches), stretches)
    order = np.lexsort((runs.position, runs.row))
    runs = Runs(*(array[order] for array in runs))
    stretch, parted = of_part[stretches.of(runs.position)], table.counting(runs.row, runs.records)
    confidential = parted[sensitive]
    by = [
        Coded(stretch, sizes.size + 1),
        Coded(distance.codes[runs.row], distance.cardinality),
        Coded(confidential.codes, confidential.cardinality),
    ]
    sorted_runs = engine_of(table).cut(parted, class_of_each_row(pack(by))[0], Parts(1, table.total))
    # the j-th record of every stretch is in cluster j: clusters between two ends of runs are alike
    first = sorted_runs.position - np.minimum(sorted_runs.position // sizes.clusters, sizes.size) * sizes.clusters
    ends = np.unique(np.concatenate([first, first + sorted_runs.records]))
    low, high = np.searchsorted(ends, first), np.searchsorted(ends, first + sorted_runs.records)
    which = np.repeat(np.arange(len(first)), high - low)
    cluster = np.arange(len(which)) - np.repeat(np.cumsum(high - low) - high, high - low)
    position = sorted_runs.position[which] + ends[cluster] - first[which]
    return boxes_of_runs(parted, names, Runs(sorted_runs.row[which], position, np.diff(ends)[cluster]), cluster)


def _stretches(sizes: Cut, remainder: Remainder) -> tuple[Parts, Array]:
    """Where the confidential order is cut, and the stretch of each part; the records left over are one more."""
    if remainder == "top" or not sizes.rest:
        return Parts(sizes.clusters, sizes.size + (sizes.rest > 0)), np.arange(sizes.size + 1)
    lengths = sizes.stretches()
    starts = np.cumsum(lengths) - lengths
    longer = np.flatnonzero(lengths > sizes.clusters)
    number = np.concatenate([np.arange(sizes.size), np.full(len(longer), sizes.size)])
    starts = np.concatenate([starts, starts[longer] + sizes.clusters])
    order = np.argsort(starts)
    return Parts(0, len(starts), starts[order]), number[order]


def _parted(runs: Runs, parts: Parts) -> Runs:
    """The same runs, each within one part."""
    ends = runs.position + runs.records
    first, last = parts.of(runs.position), parts.of(ends - 1)
    which = np.repeat(np.arange(len(first)), last - first + 1)
    part = np.arange(len(which)) - np.repeat(np.cumsum(last - first + 1) - 1 - last, last - first + 1)
    start = np.maximum(runs.position[which], parts.start(part))
    later = np.append(part[1:] > part[:-1], False) & np.append(which[1:] == which[:-1], False)
    return Runs(runs.row[which], start, np.where(later, np.append(start[1:], 0), ends[which]) - start)


def boxes_of_runs(table: Table, names: Sequence[str], runs: Runs, box: Array) -> tuple[Table, Boxed]:
    """The table of the runs, those of a row in the order of its records, and the boxes around those of one number."""
    order = np.lexsort((runs.position, runs.row))
    parted, box = table.counting(runs.row[order], runs.records[order]), box[order]
    by_box = np.argsort(box, kind="stable")
    starts = np.flatnonzero(np.diff(box[by_box], prepend=-1))
    return parted, box_clusters(parted.select(names), by_box, starts)


def _ranks(numbers: Array) -> Coded:
    values, codes = np.unique(numbers, return_inverse=True)
    return Coded(codes, len(values))
