"""Groups of rows that stand for several people each: a row is never split, and k counts people.

From the top down, each cut is the one that leaves the least spread among people, with k of them on either side. Then
single rows move to near groups while that lowers the loss and leaves k people behind.
"""

from __future__ import annotations

import numpy as np

from shoal.anonymization.partition.cut_tree import partition_rows
from shoal.anonymization.partition.groups import Groups
from shoal.anonymization.partition.kinds import FailsPolicy
from shoal.anonymization.partition.repair import merged_until_allowed
from shoal.compiled import compiled
from shoal.table import Array
from shoal.threads import in_threads

_NODES_A_TASK = 64
# larger nodes are cut by histograms
_SORTED = 4096
_BINS = 256
# groups before and behind in the order of the cuts, to which rows may move; larger groups stay as they are
_WINDOW = 12
_MOST_ROWS = 256
# a gain must be larger than the rounding of the sums
_SURE = 1e-6


def counted(
    rows: Array, people: Array, k: int, passes: int, fails_policy: FailsPolicy | None = None, squares: bool = False
) -> Array:
    """The group of each row; every group has k people, of whom row r stands for `people[r]`. `rows` is taken over.

    >>> points = np.array([[1], [2], [3], [8], [9]], np.float32)
    >>> counted(points, np.array([5, 1, 1, 1, 1]), 2, 0).tolist()
    [0, 1, 1, 2, 2]
    """
    people = people.astype(np.float64)
    found = _improved(_cut(rows.copy(), people, k, None), people, k, passes, squares)
    if fails_policy is not None:
        # up from small groups, or down from all rows; neither always wins
        merged = merged_until_allowed(found, fails_policy)
        cut = _cut(rows, people, k, fails_policy)
        found = min(merged, cut, key=lambda groups: _total(groups, people, squares))
    return found.group_of_each_row()[0]


def _cut(rows: Array, people: Array, k: int, fails_policy: FailsPolicy | None) -> Groups:
    """Cut all rows until no side of a further cut has k people and is allowed."""
    groups = Groups.of(rows)
    nodes, tried = np.array([[0, len(rows)]]), np.zeros((1, rows.shape[1]), bool)
    while len(nodes):
        middle, column = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)

        def work(at: int, nodes: Array = nodes, tried: Array = tried, m: Array = middle, c: Array = column) -> None:
            to = at + _NODES_A_TASK
            _cut_nodes(groups.rows, people, groups.order, nodes[at:to], tried[at:to], k, m[at:to], c[at:to])

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
        if not _move(groups.rows.astype(np.float64), own, of_place, count, k, squares):
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


@compiled
def _cut_nodes(
    rows: Array, people: Array, order: Array, nodes: Array, tried: Array, k: int, middle: Array, column: Array
) -> None:
    """Cut each node in two, in place; column -1 where no cut is left."""
    for node in range(len(nodes)):
        start, stop = nodes[node, 0], nodes[node, 1]
        column[node], middle[node] = -1, start
        whole = 0.0
        for i in range(start, stop):
            whole += people[order[i]]
        if whole < 2 * k or stop - start < 2:
            continue
        j, value = -1, 0.0
        if stop - start > _SORTED:
            j, value = _by_bins(rows, people, order, start, stop, k, whole, tried[node])
        if j < 0:
            j, value = _by_values(rows, people, order, start, stop, k, whole, tried[node])
        if j >= 0:
            column[node], middle[node] = j, partition_rows(rows, order, start, stop, j, value)


@compiled
def _by_values(
    rows: Array, people: Array, order: Array, start: int, stop: int, k: int, whole: float, tried: Array
) -> tuple[int, float]:
    """The cut with the largest gain of all between two values: n_left n_right / n (mean_left - mean_right)^2."""
    best, best_column, best_value = -1.0, -1, 0.0
    for j in range(rows.shape[1]):
        if tried[j]:
            continue
        values = rows[start:stop, j].copy()
        ranked = np.argsort(values)
        total = 0.0
        for i in range(len(values)):
            total += people[order[start + i]] * values[i]
        held = summed = 0.0
        for at in range(len(values) - 1):
            i = ranked[at]
            held += people[order[start + i]]
            summed += people[order[start + i]] * values[i]
            if whole - held < k:
                break
            if held < k or values[i] == values[ranked[at + 1]]:
                continue
            apart = summed / held - (total - summed) / (whole - held)
            gain = held * (whole - held) / whole * apart * apart
            if gain > best:
                best, best_column, best_value = gain, j, values[i]
    return best_column, best_value


@compiled
def _by_bins(
    rows: Array, people: Array, order: Array, start: int, stop: int, k: int, whole: float, tried: Array
) -> tuple[int, float]:
    """The same from histograms; column -1 where they show no cut."""
    best, best_column, best_value = -1.0, -1, 0.0
    held_in, sum_in, top = np.empty(_BINS), np.empty(_BINS), np.empty(_BINS, np.float32)
    for j in range(rows.shape[1]):
        if tried[j]:
            continue
        low = high = rows[start, j]
        for i in range(start, stop):
            low, high = min(low, rows[i, j]), max(high, rows[i, j])
        if not low < high:
            continue
        held_in[:], sum_in[:], top[:] = 0.0, 0.0, low
        scale, total = _BINS / (high - low) * 0.99999, 0.0
        for i in range(start, stop):
            x, own = rows[i, j], people[order[i]]
            b = int((x - low) * scale)
            held_in[b] += own
            sum_in[b] += own * x
            total += own * x
            top[b] = max(top[b], x)
        held = summed = 0.0
        for b in range(_BINS - 1):
            if held_in[b] == 0:
                continue
            held += held_in[b]
            summed += sum_in[b]
            if whole - held < k:
                break
            if held < k:
                continue
            apart = summed / held - (total - summed) / (whole - held)
            gain = held * (whole - held) / whole * apart * apart
            if gain > best:
                best, best_column, best_value = gain, j, top[b]
    return best_column, best_value


@compiled
def _cost_with(
    rows: Array, people: Array, head: Array, after: Array, group: int, without: int, beside: int, squares: bool
) -> float:
    """What a group loses by people, without one of its rows or with another beside them (-1: none)."""
    columns = rows.shape[1]
    total, held, size = 0.0, 0.0, 0
    at = beside if beside >= 0 else head[group]
    low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
    sums, products = np.zeros(columns), np.zeros(columns)
    while at >= 0:
        if at != without:
            size += 1
            held += people[at]
            for j in range(columns):
                x = rows[at, j]
                low[j], high[j] = min(low[j], x), max(high[j], x)
                sums[j] += people[at] * x
                products[j] += people[at] * x * x
        at = head[group] if at == beside else after[at]
    if size == 0:
        return 0.0
    for j in range(columns):
        total += products[j] - sums[j] * sums[j] / held if squares else held * (high[j] - low[j])
    return total


@compiled
def _move(rows: Array, people: Array, group_of: Array, groups: int, k: int, squares: bool) -> int:
    """Try every row in the groups around its own, and make each move that gains; how many were made."""
    head, after = np.full(groups, -1, np.int64), np.full(len(rows), -1, np.int64)
    held, sizes = np.zeros(groups), np.zeros(groups, np.int64)
    for i in range(len(rows) - 1, -1, -1):
        g = group_of[i]
        after[i], head[g] = head[g], i
        held[g] += people[i]
        sizes[g] += 1
    made = 0
    for i in range(len(rows)):
        own = group_of[i]
        if held[own] - people[i] < k or sizes[own] > _MOST_ROWS:
            continue
        before = _cost_with(rows, people, head, after, own, -1, -1, squares)
        left = before - _cost_with(rows, people, head, after, own, i, -1, squares)
        if left <= _SURE * (1.0 + before):
            continue
        best, best_group = _SURE * (1.0 + before), -1
        for other in range(max(0, own - _WINDOW), min(groups, own + _WINDOW + 1)):
            if other == own or sizes[other] > _MOST_ROWS:
                continue
            more = _cost_with(rows, people, head, after, other, -1, i, squares)
            gain = left - more + _cost_with(rows, people, head, after, other, -1, -1, squares)
            if gain > best:
                best, best_group = gain, other
        if best_group < 0:
            continue
        at = head[own]
        if at == i:
            head[own] = after[i]
        else:
            while after[at] != i:
                at = after[at]
            after[at] = after[i]
        after[i], head[best_group] = head[best_group], i
        held[own] -= people[i]
        held[best_group] += people[i]
        sizes[own] -= 1
        sizes[best_group] += 1
        group_of[i] = best_group
        made += 1
    return made
