"""One column alone: the cheapest way through its sorted values (Hansen, Mukherjee).

Groups are runs of k to 2k-1 sorted records, so the least cost of the first i records is

    best(i) = min over k <= s < 2k of best(i - s) + cost of the records i - s .. i

For the sum of squares runs are optimal; for the distance to the farther end of the range they are the best runs, and
only groups that lie within others could be better.
"""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled
from shoal.table import Array


@compiled
def _cheapest(values: Array, k: int, squares: bool) -> Array:
    """Where the groups of some sorted values start."""
    size = len(values)
    sums, products = np.zeros(size + 1, np.float64), np.zeros(size + 1, np.float64)
    middle = values.mean()
    for i in range(size):
        x = values[i] - middle
        sums[i + 1] = sums[i] + x
        products[i + 1] = products[i] + x * x
    best, back = np.full(size + 1, np.inf), np.zeros(size + 1, np.int64)
    best[0] = 0.0
    for i in range(k, size + 1):
        half = i - 1
        for start in range(i - k, max(-1, i - 2 * k), -1):
            if best[start] == np.inf:
                continue
            total = sums[i] - sums[start]
            if squares:
                cost = products[i] - products[start] - total * total / (i - start)
            else:
                low, high = values[start] - middle, values[i - 1] - middle
                # the records up to the middle of the range are nearer to its low end; it moves down with the start
                while half >= start and values[half] - middle > (low + high) / 2:
                    half -= 1
                under = half + 1 - start
                left = sums[half + 1] - sums[start]
                cost = under * high - left + (total - left) - (i - start - under) * low
            if best[start] + cost < best[i]:
                best[i], back[i] = best[start] + cost, start
    first = np.zeros(size, np.bool_)
    end = size
    while end > 0:
        end = back[end]
        first[end] = True
    return first


def cheapest_runs(values: Array, k: int, squares: bool = False) -> tuple[Array, Array]:
    """The order that sorts the values, and where in it the cheapest groups of k to 2k-1 start.

    >>> order, first = cheapest_runs(np.array([9.0, 1.0, 2.0, 8.0, 1.5]), 2)
    >>> order.tolist(), first.tolist()
    ([1, 4, 2, 3, 0], [True, False, False, True, False])
    """
    order = np.argsort(values, kind="stable")
    return order, _cheapest(values[order].astype(np.float64), k, squares)
