"""Partitioning a count table: exact cuts down to parts that one worker holds, then the groups of each part by itself.

The upper cuts are those that leave the least sum of squares, over the counts of all values. What is equal and more than
a few times k makes groups of its own that lose nothing, so that a part stays small whatever a tuple counts. Groups of
different parts never exchange records, which costs little: parts are thousands of groups large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from shoal.engine import engine_of
from shoal.engine.base import RecordRuns
from shoal.kernels.cuts import cut_counted_nodes
from shoal.kernels.groups import move_counted_rows
from shoal.methods.partition import Effort, coordinates_of, grouped
from shoal.methods.partition.groups import FailsPolicy, Groups
from shoal.methods.partition.repair import merged_until_allowed
from shoal.methods.sorted_clusters import boxes_of_runs
from shoal.ranges.boxed import Boxed, check_k
from shoal.ranges.forms import ColumnTree
from shoal.storage import Array, Table
from shoal.threads import in_threads

# records of a part at most, where cuts can tell them apart
PART = 1 << 20
# of equal records so many times k stay with the others, so that groups beside them find members
_SPARE = 4


def partition_tuples(
    table: Table,
    names: Sequence[str],
    k: int,
    effort: Effort = "default",
    importance: Mapping[str, float] | None = None,
    trees: Mapping[str, ColumnTree] | None = None,
) -> tuple[Table, Boxed]:
    """Groups of at least k near records of a table of tuples: a row for each part of a tuple in a group, and the boxes.

    >>> from shoal.storage.reading import read
    >>> counted = read({"age": [30, 31, 70]}).counting(np.arange(3), np.array([2, 1, 40]))
    >>> parted, boxed = partition_tuples(counted, ["age"], 2)
    >>> parted.total, np.bincount(boxed.box_of_row, parted.records).min().item() >= 2
    (43, True)
    """
    assert table.records is not None
    check_k(k, table.total)
    points = coordinates_of(table.select(names), importance, trees)
    alike = np.maximum(table.records // k - _SPARE, 0) * k
    left = table.records - alike
    parts = upper_cuts(points, left, max(PART, 2 * k), k)
    frame = pl.DataFrame({"part": parts, "row": np.arange(table.rows), "records": left}).hstack(
        [pl.Series(f"x{place}", points[:, place]) for place in range(points.shape[1])]
    )
    schema = {"part": pl.Int64, "row": pl.Int64, "group": pl.Int64, "records": pl.Int64}
    group_rows = engine_of(table).side_by_side(table, frame, "part", partial(_groups, k=k, effort=effort), schema)
    group_rows = group_rows.sort("part", "group", "row")
    row, records = group_rows["row"].to_numpy(), group_rows["records"].to_numpy()
    box = group_rows.select(pl.struct("part", "group").rle_id()).to_series().cast(pl.Int64).to_numpy()
    own = np.flatnonzero(alike)
    row, records = np.append(row, own), np.append(records, alike[own])
    box = np.append(box, int(box.max(initial=-1)) + 1 + np.arange(len(own)))
    return boxes_of_runs(table, names, RecordRuns(row, np.arange(len(row)), records), box)


def upper_cuts(points: Array, records: Array, most: int, least: int) -> Array:
    """The part of each point: cut in two where the sum of squares falls most, until a part has at most `most` records.

    gain = n_left n_right / n (mean_left - mean_right)^2, over every cut between two values that leaves `least` on
    either side. Points that no cut can tell apart stay together.

    >>> upper_cuts(np.array([[1.0], [9.0], [2.0]]), np.array([2, 2, 2]), 4, 2).tolist()
    [0, 1, 0]
    """
    part_of_point, parts = np.zeros(len(points), np.int64), 0
    waiting = [np.arange(len(points))]
    while waiting:
        some = waiting.pop()
        side = _best_side(points[some], records[some], least) if records[some].sum() > most else None
        if side is None:
            part_of_point[some] = parts
            parts += 1
        else:
            waiting += [some[~side], some[side]]
    return part_of_point


def _best_side(points: Array, records: Array, least: int) -> Array | None:
    """Which points lie below the best cut; None where there is none."""
    total, best, found = int(records.sum()), 0.0, None
    for column in points.T:
        values, code = np.unique(column, return_inverse=True)
        counts = np.bincount(code, records, len(values))
        below, summed = np.cumsum(counts)[:-1], np.cumsum(counts * values)
        above = total - below
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = summed[:-1] / below - (summed[-1] - summed[:-1]) / above
            gain = np.where((below >= least) & (above >= least), below * above / total * apart**2, -1.0)
        if len(gain) and gain.max() > best:
            best, found = float(gain.max()), code <= int(gain.argmax())
    return found


def _groups(part: pl.DataFrame, k: int, effort: Effort) -> pl.DataFrame:
    """How many records of each tuple of a part are in each of its groups."""
    part = part.sort("row")  # a cluster brings them in any order
    records = part["records"].to_numpy()
    points = part.select(pl.selectors.starts_with("x")).to_numpy().astype(np.float32)
    every = np.repeat(np.arange(len(part)), records)
    group, _ = grouped(np.ascontiguousarray(points[every]), k, effort, "best", 0, None).group_of_each_row()
    pairs = pl.DataFrame({"row": part["row"].gather(every), "group": group})
    counted = pairs.group_by("row", "group").len("records")
    return counted.select(
        part=pl.lit(part["part"][0], pl.Int64), row="row", group="group", records=pl.col("records").cast(pl.Int64)
    )


# Groups of rows that stand for several people each: a row is never split, and k counts people.
#
# From the top down, each cut is the one that leaves the least spread among people, with k of them on either side. Then
# single rows move to near groups while that lowers the loss and leaves k people behind.


_NODES_A_TASK = 64


def counted(
    rows: Array, people: Array, k: int, passes: int, fails_policy: FailsPolicy | None = None, squares: bool = False
) -> Array:
    """The group of each row; every group has k people, of whom row r stands for `people[r]`. `rows` is taken over.

    >>> points = np.array([[1], [2], [3], [8], [9]], np.float32)
    >>> counted(points, np.array([5, 1, 1, 1, 1]), 2, 0).tolist()
    [0, 1, 1, 2, 2]
    """
    people = people.astype(np.float64)
    grouping = _improved(_cut(rows.copy(), people, k, None), people, k, passes, squares)
    if fails_policy is not None:
        # up from small groups, or down from all rows; neither always wins
        merged = merged_until_allowed(grouping, fails_policy)
        cut = _cut(rows, people, k, fails_policy)
        grouping = min(merged, cut, key=lambda groups: _total(groups, people, squares))
    return grouping.group_of_each_row()[0]


def _cut(rows: Array, people: Array, k: int, fails_policy: FailsPolicy | None) -> Groups:
    """Cut all rows until no side of a further cut has k people and is allowed."""
    groups = Groups.of(rows)
    nodes, tried = np.array([[0, len(rows)]]), np.zeros((1, rows.shape[1]), bool)
    while len(nodes):
        middle, column = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)

        def work(at: int, nodes: Array = nodes, tried: Array = tried, m: Array = middle, c: Array = column) -> None:
            to = at + _NODES_A_TASK
            cut_counted_nodes(groups.rows, people, groups.order, nodes[at:to], tried[at:to], k, m[at:to], c[at:to])

        in_threads(work, range(0, len(nodes), _NODES_A_TASK))
        cut = column >= 0
        nodes, tried, middle, column = nodes[cut], tried[cut], middle[cut], column[cut]
        refused = _refused(groups, nodes, middle, fails_policy)
        groups.first[middle[~refused]] = True
        tried[refused, column[refused]] = True
        starts, halves, stops = nodes[~refused, 0], middle[~refused], nodes[~refused, 1]
        nodes = np.concatenate([nodes[refused], np.stack([starts, halves], 1), np.stack([halves, stops], 1)])
        tried = np.concatenate([tried[refused], np.zeros((2 * len(halves), rows.shape[1]), bool)])
    return groups


def _refused(groups: Groups, nodes: Array, middle: Array, fails_policy: FailsPolicy | None) -> Array:
    """Which cuts leave a side that is not allowed; rows of other nodes are in no group."""
    if fails_policy is None or not len(nodes):
        return np.zeros(len(nodes), bool)
    number = np.zeros(len(groups.order) + 1, np.int64)
    number[nodes[:, 0]] += 2 * np.arange(len(nodes)) + 1
    number[nodes[:, 1]] -= 2 * np.arange(len(nodes)) + 2
    number[middle] += 1
    found = np.empty(len(groups.order), np.int64)
    found[groups.order] = np.cumsum(number)[:-1] - 1
    return np.asarray(fails_policy(found, 2 * len(nodes)).reshape(-1, 2).any(axis=1))


def _improved(groups: Groups, people: Array, k: int, passes: int, squares: bool) -> Groups:
    """Rows moved to near groups, pass by pass, while something is gained."""
    of_place, count = np.cumsum(groups.first) - 1, int(groups.first.sum())
    if count < 2:
        return groups
    own = people[groups.order]
    for _ in range(passes):
        if not move_counted_rows(groups.rows.astype(np.float64), own, of_place, count, k, squares):
            break
    order = np.argsort(of_place, kind="stable")
    first = np.diff(of_place[order], prepend=-1) != 0
    return Groups(groups.rows[order], groups.order[order], first)


def _total(groups: Groups, people: Array, squares: bool) -> float:
    """What groups lose, by people."""
    group = np.cumsum(groups.first) - 1
    own, starts = people[groups.order], groups.starts
    if not squares:
        width = np.maximum.reduceat(groups.rows, starts) - np.minimum.reduceat(groups.rows, starts)
        return float(np.bincount(group, own) @ width.sum(axis=1))
    weights, total = np.bincount(group, own), 0.0
    for column in groups.rows.T.astype(np.float64):
        means = np.bincount(group, own * column) / weights
        total += float((own * (column - means[group]) ** 2).sum())
    return total
