"""Mondrian (LeFevre, DeWitt, Ramakrishnan): cut in two, level by level, as long as both sides are allowed.

`strict` cuts at the median of the column that is widest in units of its spread: the regions are disjoint. `relaxed`
deals records that equal the median to both sides, so that halves are even. `best` takes the cut that leaves the least
spread. Where a policy allows a cut in one column but not in the next best, the next best is tried.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.kernels.cuts import BEST, RELAXED, STRICT, cut_nodes
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
    style = {"strict": STRICT, "relaxed": RELAXED, "best": BEST}[cuts]
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
        cut_nodes(groups.rows, groups.order, nodes[at:to], tried[at:to], k, style, middle[at:to], column[at:to])

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
