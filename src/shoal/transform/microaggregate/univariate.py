"""Optimal microaggregation of one column (Hansen, Mukherjee): the cheapest way through the sorted values.

Groups of an optimal partition are runs of k to 2k-1 sorted records, so the least sum of squares of the first i is

    best(i) = min over k <= s < 2k of best(i - s) + squares(i - s .. i)
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled
from shoal.table import Array


@compiled
def _cheapest(values: Array, k: int) -> tuple[Array, int]:
    """The group of each of some sorted values, and how many groups there are."""
    size = len(values)
    sums, squares = np.zeros(size + 1), np.zeros(size + 1)
    middle = values.mean()
    for i in range(size):
        x = values[i] - middle
        sums[i + 1] = sums[i] + x
        squares[i + 1] = squares[i] + x * x
    best, back = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
    best[0] = 0.0
    for i in range(k, size + 1):
        for start in range(max(0, i - 2 * k + 1), i - k + 1):
            if best[start] == np.inf:
                continue
            total = sums[i] - sums[start]
            cost = best[start] + (squares[i] - squares[start]) - total * total / (i - start)
            if cost < best[i]:
                best[i], back[i] = cost, start
    group = np.empty(size, np.int64)
    groups, end = 0, size
    while end > 0:
        group[back[end] : end] = groups
        groups += 1
        end = back[end]
    return group, groups


def optimal(values: Array, k: int) -> tuple[Array, int]:
    """The group of each value in the partition with the least sum of squares, and how many groups there are.

    >>> optimal(np.array([9.0, 1.0, 2.0, 8.0, 1.5]), 2)
    (array([0, 1, 1, 0, 1]), 2)
    """
    order = np.argsort(values, kind="stable")
    sorted_group, groups = _cheapest(values[order], k)
    group = np.empty_like(sorted_group)
    group[order] = sorted_group
    return group, groups
