"""Which of some counted tuples each row on disk is: looked up by the words that its codes are packed into."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.table.classes import Coded, Codes
from shoal.table.external import Words
from shoal.table.table import Array


class TupleOfRow:
    """The tuples of some columns, in their order, and the place among them of any row.

    >>> tuples, rows = Coded(np.array([3, 7]), 9), Coded(np.array([7, 3, 7]), 9)
    >>> TupleOfRow([tuples], [rows]).of(slice(0, 3)).tolist()
    [1, 0, 1]
    """

    def __init__(self, tuples: Sequence[Codes], rows: Sequence[Codes]) -> None:
        self._rows = Words.of(rows)
        self._steps: list[tuple[Array, Array]] = []
        found = Words.of([Coded(one.codes, other.cardinality) for one, other in zip(tuples, rows, strict=True)])
        count = len(tuples[0].codes)
        rank = np.zeros(count, np.uint64)
        for word in found.of_rows(slice(0, count)):
            distinct, places = np.unique(word, return_inverse=True)
            together = rank * np.uint64(len(distinct)) + places.astype(np.uint64)
            pairs, ranks = np.unique(together, return_inverse=True)
            self._steps.append((distinct, pairs))
            rank = ranks.astype(np.uint64)
        # the first of the tuples that are equal in these columns
        self.first = np.full(int(rank.max(initial=0)) + 1, count, np.int64)
        np.minimum.at(self.first, rank.astype(np.int64), np.arange(count))

    def of(self, rows: slice) -> Array:
        """The number of the tuple of each row: of a tuple that is there."""
        rank = np.zeros(rows.stop - rows.start, np.uint64)
        for (distinct, pairs), word in zip(self._steps, self._rows.of_rows(rows), strict=True):
            rank = rank * np.uint64(len(distinct)) + np.searchsorted(distinct, word).astype(np.uint64)
            if len(self._steps) > 1:
                rank = np.searchsorted(pairs, rank).astype(np.uint64)
        return self.first[rank.astype(np.int64)]
