"""Mondrian (LeFevre, DeWitt, Ramakrishnan): cut in two, level by level, as long as both sides are allowed.

`strict` cuts at the median of the column that is widest in units of its spread: the regions are disjoint. `relaxed`
deals records that equal the median to both sides, so that halves are even. `best` takes the cut that leaves the least
spread. Where a policy allows a cut in one column but not in the next best, the next best is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.kernels.cuts import BEST, RELAXED, STRICT, cut, cut_counted_nodes, cut_nodes
from shoal.kernels.groups import join_nearest, middles, move_counted_rows
from shoal.methods.partition.groups import Cuts, FailsPolicy, Groups
from shoal.storage import Array
from shoal.threads import in_threads

_NODES_A_TASK = 64


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
    people: Array | None = None,
) -> Groups:
    """Cut all records until no side of a further cut has k records and is allowed; `groups` is taken over.

    The cuts that were made are added to `rounds`. Where row r stands for `people[r]`, k counts people.

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
    style = {"strict": STRICT, "relaxed": RELAXED, "best": BEST}[cuts]
    nodes = np.array([[0, len(rows)]])
    tried = np.zeros((1, rows.shape[1]), bool)
    while len(nodes):
        middle, column = _cut_all(groups, nodes, tried, k, style, people)
        cut = column >= 0
        nodes, tried, middle, column = nodes[cut], tried[cut], middle[cut], column[cut]
        refused = _refused(groups, nodes, middle, fails_policy)
        first[middle[~refused]] = True
        tried[refused, column[refused]] = True
        starts, halves, stops = nodes[~refused, 0], middle[~refused], nodes[~refused, 1]
        if rounds is not None and len(halves):
            rounds.append(CutRound(starts, halves, stops, column[~refused]))
        nodes = np.concatenate([nodes[refused], np.stack([starts, halves], 1), np.stack([halves, stops], 1)])
        tried = np.concatenate([tried[refused], np.zeros((2 * len(halves), rows.shape[1]), bool)])
    return groups


def _cut_all(
    groups: Groups, nodes: Array, tried: Array, k: int, style: int, people: Array | None
) -> tuple[Array, Array]:
    """Cut every node in two: where its second half starts, and in which column (-1: no cut is left)."""
    middle, column = np.empty(len(nodes), np.int64), np.empty(len(nodes), np.int64)

    def work(at: int) -> None:
        some = slice(at, at + _NODES_A_TASK)
        asked = (groups.order, nodes[some], tried[some], k)
        if people is None:
            cut_nodes(groups.rows, *asked, style, middle[some], column[some])
        else:
            cut_counted_nodes(groups.rows, people, *asked, middle[some], column[some])

    in_threads(work, range(0, len(nodes), _NODES_A_TASK))
    return middle, column


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


# Groups that a policy does not allow are merged with near ones until all are allowed.


_BLOCK = 64


def merged_until_allowed(groups: Groups, fails_policy: FailsPolicy) -> Groups:
    """Merge each group that is not allowed with the nearest one, again and again.

    >>> points = np.array([[1], [2], [8], [9]], np.float32)
    >>> four = Groups(points, np.arange(4), np.ones(4, bool))
    >>> merged_until_allowed(four, lambda group_of_row, count: np.bincount(group_of_row) < 2).starts.tolist()
    [0, 2]
    """
    while True:
        group_of_row, count = groups.group_of_each_row()
        refused = np.asarray(fails_policy(group_of_row, count))
        if not refused.any():
            return groups
        if count == 1:
            raise InputError(
                "No grouping keeps the policy: all records together do not.",
                "Ask for less, or look at the sensitive column.",
            )
        progress.report("merging groups", count - int(refused.sum()), count)
        groups = _merged(groups, refused)


def _merged(groups: Groups, refused: Array) -> Groups:
    starts = groups.starts
    count = len(starts)
    middle = np.empty((count, groups.rows.shape[1]), np.float32)
    lengths, cost = np.empty(count, np.int64), np.empty(count, np.float32)
    middles(groups.rows, starts, len(groups.rows), middle, lengths, cost)
    numbers, first = np.arange(count, dtype=groups.order.dtype), np.zeros(count, bool)
    cut(middle, numbers, 0, count, _BLOCK, 2, 0.0, 0, first)
    new_number = join_nearest(middle, numbers, np.append(np.flatnonzero(first), count), refused)
    # lay the records out group by group again, the merged ones side by side
    ranked = np.argsort(new_number, kind="stable")
    place = np.repeat(starts[ranked] - np.concatenate([[0], np.cumsum(lengths[ranked])[:-1]]), lengths[ranked])
    place += np.arange(len(place))
    new_first = np.zeros(len(place), bool)
    sizes = np.bincount(new_number, lengths).astype(np.int64)
    new_first[np.concatenate([[0], np.cumsum(sizes)[:-1]])] = True
    return Groups(groups.rows[place], groups.order[place], new_first)


# Groups of rows that stand for several people each: a row is never split, and k counts people.
#
# After the cuts single rows move to near groups while that lowers the loss and leaves k people behind.


def counted(
    rows: Array, people: Array, k: int, passes: int, fails_policy: FailsPolicy | None = None, squares: bool = False
) -> Array:
    """The group of each row; every group has k people, of whom row r stands for `people[r]`. `rows` is taken over.

    >>> points = np.array([[1], [2], [3], [8], [9]], np.float32)
    >>> counted(points, np.array([5, 1, 1, 1, 1]), 2, 0).tolist()
    [0, 1, 1, 2, 2]
    """
    people = people.astype(np.float64)
    grouping = _improved(mondrian(Groups.of(rows.copy()), k, "best", people=people), people, k, passes, squares)
    if fails_policy is not None:
        # up from small groups, or down from all rows; neither always wins
        merged = merged_until_allowed(grouping, fails_policy)
        cut = mondrian(Groups.of(rows), k, "best", fails_policy, people=people)
        grouping = min(merged, cut, key=lambda groups: _total(groups, people, squares))
    return grouping.group_of_each_row()[0]


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
