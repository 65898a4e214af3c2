"""Mondrian (LeFevre, DeWitt, Ramakrishnan): cut in two, level by level, as long as both sides are allowed.

`strict` cuts at the median of the column that is widest in units of its spread: the regions are disjoint. `relaxed`
deals records that equal the median to both sides, so that halves are even. `best` takes the cut that leaves the least
spread. Where a policy allows a cut in one column but not in the next best, the next best is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.anonymization.partition.cut_tree import best_cut, partition_rows
from shoal.anonymization.partition.groups import Groups
from shoal.anonymization.partition.kinds import Cuts, FailsPolicy
from shoal.compiled import Number, compiled, compiled_part
from shoal.errors import InputError
from shoal.table import Array
from shoal.threads import in_threads

_NODES_A_TASK = 64
_STRICT, _RELAXED, _BEST = 0, 1, 2


class CutRound(NamedTuple):
    """Cuts that were made at once: records start .. stop were parted at half, by a column."""

    start: Array
    half: Array
    stop: Array
    column: Array


def mondrian(
    groups: Groups,
    k: int,
    cuts: Cuts = "strict",
    fails_policy: FailsPolicy | None = None,
    rounds: list[CutRound] | None = None,
) -> Groups:
    """Cut all records until no side of a further cut has k records and is allowed; `groups` is taken over.

    The cuts that were made are added to `rounds`.

    >>> points = np.array([[1], [2], [8], [9], [9]], np.float32)
    >>> mondrian(Groups.of(points), 2).starts.tolist()
    [0, 2]
    """
    rows, first = groups.rows, groups.first
    first[:], first[:1] = False, True
    if fails_policy is not None and fails_policy(np.zeros(len(rows), np.int64), 1).any():
        raise InputError(
            "No grouping keeps the policy: all records together do not.",
            "Ask for less, or look at the sensitive column.",
        )
    style = {"strict": _STRICT, "relaxed": _RELAXED, "best": _BEST}[cuts]
    nodes = np.array([[0, len(rows)]])
    tried = np.zeros((1, rows.shape[1]), bool)
    while len(nodes):
        middle, column = _cut_all(groups, nodes, tried, k, style)
        cut = column >= 0
        nodes, tried, middle, column = nodes[cut], tried[cut], middle[cut], column[cut]
        refused = np.zeros(len(nodes), bool) if fails_policy is None else _refused(groups, nodes, middle, fails_policy)
        first[middle[~refused]] = True
        tried[refused, column[refused]] = True
        starts, halves, stops = nodes[~refused, 0], middle[~refused], nodes[~refused, 1]
        if rounds is not None and len(halves):
            rounds.append(CutRound(starts, halves, stops, column[~refused]))
        nodes = np.concatenate([nodes[refused], np.stack([starts, halves], 1), np.stack([halves, stops], 1)])
        tried = np.concatenate([tried[refused], np.zeros((2 * len(halves), rows.shape[1]), bool)])
    return groups


def _cut_all(groups: Groups, nodes: Array, tried: Array, k: int, style: int) -> tuple[Array, Array]:
    """Cut every node in two: where its second half starts, and in which column (-1: no cut is left)."""
    middle, column = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)

    def work(at: int) -> None:
        to = at + _NODES_A_TASK
        _cut_nodes(groups.rows, groups.order, nodes[at:to], tried[at:to], k, style, middle[at:to], column[at:to])

    in_threads(work, range(0, len(nodes), _NODES_A_TASK))
    return middle, column


def _refused(groups: Groups, nodes: Array, middle: Array, fails_policy: FailsPolicy) -> Array:
    """Which cuts leave a side that is not allowed; rows of other nodes are in no group."""
    found = np.full(len(groups.order), -1, np.int64)
    for number, ((start, stop), half) in enumerate(zip(nodes.tolist(), middle.tolist(), strict=True)):
        found[start:half], found[half:stop] = 2 * number, 2 * number + 1
    group_of_row = np.empty_like(found)
    group_of_row[groups.order] = found
    if not len(nodes):
        return np.zeros(0, bool)
    return np.asarray(fails_policy(group_of_row, 2 * len(nodes)).reshape(-1, 2).any(axis=1))


@compiled
def _cut_nodes(
    rows: Array, order: Array, nodes: Array, tried: Array, k: int, style: int, middle: Array, column: Array
) -> None:
    """Cut each node in two, in place; column -1 where no cut is left."""
    for node in range(len(nodes)):
        start, stop = nodes[node, 0], nodes[node, 1]
        column[node], middle[node] = -1, start
        if stop - start < 2 * k:
            continue
        if style == _BEST:
            j, value = best_cut(rows, start, stop, k, tried[node])
            if j >= 0:
                column[node], middle[node] = j, partition_rows(rows, order, start, stop, j, value)
        else:
            column[node], middle[node] = _median_cut(rows, order, start, stop, k, style, tried[node])


@compiled_part
def _median_cut(rows: Array, order: Array, start: int, stop: int, k: int, style: int, tried: Array) -> tuple[int, int]:
    """Cut the widest column that can be cut, nearest to its median."""
    size = stop - start
    columns = rows.shape[1]
    width = np.zeros(columns, np.float32)
    for j in range(columns):
        if not tried[j]:
            low = high = rows[start, j]
            for i in range(start + 1, stop):
                low, high = min(low, rows[i, j]), max(high, rows[i, j])
            width[j] = high - low
    while True:
        j = 0
        for other in range(1, columns):
            if width[other] > width[j]:
                j = other
        if width[j] <= 0:
            return -1, start
        width[j] = 0
        median = _nth(rows[start:stop, j].copy(), size // 2)
        below = equal = 0
        for i in range(start, stop):
            if rows[i, j] < median:
                below += 1
            elif rows[i, j] == median:
                equal += 1
        under = np.nextafter(median, np.float32(-np.inf))
        if style == _RELAXED:
            partition_rows(rows, order, start, stop, j, under)
            partition_rows(rows, order, start + below, stop, j, median)
            return j, start + size // 2
        # two cuts lie nearest to the median: before it and behind it
        before, behind = below, below + equal
        before_legal, behind_legal = k <= before <= size - k, k <= behind <= size - k
        if before_legal and (not behind_legal or abs(2 * before - size) <= abs(2 * behind - size)):
            return j, partition_rows(rows, order, start, stop, j, under)
        if behind_legal:
            return j, partition_rows(rows, order, start, stop, j, median)


@compiled_part
def _nth(values: Array, nth: int) -> Number:
    """The nth smallest value; `values` are reordered."""
    left, right = 0, len(values) - 1
    while left < right:
        pivot = values[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if nth <= j:
            right = j
        elif nth >= i:
            left = i
        else:
            break
    return values[nth]
