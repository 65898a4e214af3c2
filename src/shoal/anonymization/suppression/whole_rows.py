"""The rows of each tuple, which may stand for several people each and help other tuples only as a whole."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array


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
