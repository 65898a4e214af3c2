"""The figures of sets of columns, from a count table: uniques, classes, separation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.detection.counted_sets import bits_of, without_determined
from shoal.detection.dependencies import determined_by
from shoal.detection.results import FoundSet
from shoal.table import Array
from shoal.table.classes import CountTable


class Figures:
    """Describes sets of columns, each once: a set has the figures of its columns that no other of them determines.

    >>> from shoal.table.classes import Coded
    >>> figures = Figures(CountTable.of({"a": Coded(np.array([0, 0, 1]), 2), "b": Coded(np.array([0, 0, 1]), 2)}))
    >>> figures.determined_by, figures.of(["a", "b"]).uniques
    ({'a': ['b'], 'b': ['a']}, 1)
    """

    def __init__(self, table: CountTable) -> None:
        self.table = table
        self.names = list(table.tuples)
        self.determined_by = determined_by(table)
        self._places = {name: place for place, name in enumerate(self.names)}
        # the same by places: for a column those that alone determine it, as a set
        self.determined = {self._places[name]: self._bits(by) for name, by in self.determined_by.items()}
        self._found: dict[int, tuple[int, int, float]] = {self._least(self.names): _figures(table.counts)}

    def of(self, columns: Sequence[str]) -> FoundSet:
        """The figures of one set of columns.

        separation = 1 - sum of c (c - 1) over the classes / (n (n - 1)), c records in a class, n in all
        """
        chosen = self._least(columns)
        if chosen not in self._found:
            kept = [name for name in self.names if chosen >> self._places[name] & 1]
            self._found[chosen] = _figures(self.table.roll_up(kept).counts)
        (uniques, classes, alike), records = self._found[chosen], self.table.records
        separation = 1 - alike / (records * (records - 1.0)) if records > 1 else 1.0
        return FoundSet(list(columns), uniques, uniques / records, classes, classes / records, separation)

    def constant(self) -> list[str]:
        """Columns with one value only."""
        tuples = self.table.tuples.items()
        return [name for name, (codes, _) in tuples if not len(codes) or bool((codes == codes[0]).all())]

    def _least(self, columns: Sequence[str]) -> int:
        return without_determined(self._bits(columns), self.determined)

    def _bits(self, columns: Sequence[str]) -> int:
        return bits_of(self._places[name] for name in columns)


def _figures(counts: Array) -> tuple[int, int, float]:
    """Uniques, classes, and ordered pairs of records that are alike, from the sizes of the classes."""
    sizes = counts.astype(np.float64)
    return int(np.count_nonzero(sizes == 1)), len(sizes), float((sizes * (sizes - 1)).sum())
