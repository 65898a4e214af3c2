"""Sets of columns in the order of what it costs to suppress them, as bit masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

import numpy as np

from shoal.table import Array
from shoal.table.classes import Coded, class_of_each_row, pack

# past so many sets only a chain of growing sets is tried: the result is still right, no longer the cheapest
MOST_SETS = 20_000
# costs that differ only by rounding are equal
_SAME = 1e-9


def cost_of(mask: int, costs: Sequence[float]) -> float:
    """What one record costs that is suppressed in these columns.

    >>> cost_of(0b101, [1.0, 1.0, 3.0])
    4.0
    """
    return sum(cost for place, cost in enumerate(costs) if mask >> place & 1)


def by_cost(costs: Sequence[float], most: int = MOST_SETS) -> Iterator[int]:
    """Every non-empty set of columns, the cheapest first; past `most` sets a chain that ends with all columns.

    >>> [bin(mask)[2:] for mask in by_cost([1.0, 1.0, 3.0])]
    ['1', '10', '11', '100', '101', '110', '111']
    """
    order = sorted(range(len(costs)), key=lambda place: costs[place])
    heap = [(costs[order[0]], 1, 1 << order[0], 0)]
    for _ in range(most):
        if not heap:
            return
        cost, size, mask, last = heappop(heap)
        yield mask
        if last + 1 < len(order):
            added, own = order[last + 1], order[last]
            heappush(heap, (cost + costs[added], size + 1, mask | 1 << added, last + 1))
            heappush(heap, (cost + costs[added] - costs[own], size, mask ^ (1 << own) | 1 << added, last + 1))
    mask = 0
    for place in order:
        mask |= 1 << place
        yield mask


def tiers(costs: Sequence[float], most: int = MOST_SETS) -> Iterator[list[int]]:
    """The same sets, those of equal cost together.

    >>> [[bin(mask)[2:] for mask in tier] for tier in tiers([1.0, 1.0])]
    [['1', '10'], ['11']]
    """
    tier: list[int] = []
    for mask in by_cost(costs, most):
        if tier and abs(cost_of(mask, costs) - cost_of(tier[0], costs)) > _SAME:
            yield tier
            tier = []
        tier.append(mask)
    yield tier


def groups_on(codes: Sequence[Coded], mask: int, tuples: Array | None = None) -> tuple[Array, int]:
    """Groups of tuples that are alike in the columns outside a mask, and how many groups; outside nothing all are.

    >>> groups_on([Coded(np.array([0, 0, 1]), 2), Coded(np.array([5, 6, 5]), 7)], 0b10)
    (array([0, 0, 1]), 2)
    """
    count = len(codes[0].codes) if tuples is None else len(tuples)
    shown = [column for place, column in enumerate(codes) if not mask >> place & 1]
    if not shown or not count:
        return np.zeros(count, np.int64), 1
    if tuples is not None:
        shown = [Coded(column.codes[tuples], column.cardinality) for column in shown]
    return class_of_each_row(pack(shown))
