"""Sets of columns in the order of what it costs to suppress them, as bit masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, pack

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


def tiers(costs: Sequence[float]) -> Iterator[list[int]]:
    """The same sets, those of equal cost together.

    >>> [[bin(mask)[2:] for mask in tier] for tier in tiers([1.0, 1.0])]
    [['1', '10'], ['11']]
    """
    tier: list[int] = []
    for mask in by_cost(costs):
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


# The rows of each tuple, which may stand for several people each and help other tuples only as a whole.


@dataclass
class WholeRows:
    """`order` has the rows tuple by tuple, those with the fewest people first; they are given away in this order."""

    order: Array
    ends: Array  # people of all rows up to each place of the order
    taken: Array = field(repr=False)  # per tuple: the place of its next row
    stop: Array  # per tuple: the place after its last row

    @classmethod
    def of(cls, tuple_of_row: Array, count: int, people: Array) -> WholeRows:
        """The rows of `count` tuples; row r stands for people[r].

        >>> rows = WholeRows.of(np.array([0, 1, 0, 0]), 2, np.array([4, 1, 1, 2]))
        >>> rows.order.tolist(), rows.spare(np.array([0]), 3).tolist()
        ([2, 3, 0, 1], [3])
        """
        order = np.lexsort((people, tuple_of_row))
        stop = np.cumsum(np.bincount(tuple_of_row, minlength=count))
        return cls(order, np.cumsum(people[order]), np.concatenate([[0], stop[:-1]]), stop)

    @property
    def people(self) -> Array:
        """The people of each tuple, given away or not."""
        before = self._before(np.concatenate([[0], self.stop[:-1]]))
        return np.asarray(self.ends[self.stop - 1] - before)

    def spare(self, tuples: Array, k: int) -> Array:
        """How many people tuples can give away in whole rows, so that k are left."""
        until = np.searchsorted(self.ends, self.ends[self.stop[tuples] - 1] - k, side="right")
        given = self._before(until) - self._before(self.taken[tuples])
        return np.where(until > self.taken[tuples], given, 0)

    def take(self, tuples: Array, people: Array) -> Array:
        """Take whole rows with at least so many people out of tuples that can spare them; how many rows of each."""
        until = np.searchsorted(self.ends, self._before(self.taken[tuples]) + people) + 1
        rows = until - self.taken[tuples]
        self.taken[tuples] = until
        return np.asarray(rows)

    def _before(self, place: Array) -> Array:
        return np.where(place > 0, self.ends[np.maximum(place - 1, 0)], 0)
