"""Groups that a policy does not allow are merged with near ones until all are allowed."""

from __future__ import annotations

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.kernels.cuts import cut
from shoal.kernels.groups import join_nearest, middles
from shoal.methods.partition.groups import FailsPolicy, Groups
from shoal.storage import Array

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
