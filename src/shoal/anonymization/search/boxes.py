"""Boxes of nodes of a lattice, which are searched for one that is below a target."""

from __future__ import annotations

import numpy as np

from shoal.anonymization.search.grid import Grid
from shoal.anonymization.search.narrowing import search_boxes
from shoal.table import Array

# possible classes that are counted for each distinct tuple, and always
_CELLS, _LEAST_CELLS = 16, 1 << 16
# places in `Boxes.at`: the depth, whether its box is new, looks and boxes so far
_DEPTH, _NEW, _LOOKS = 0, 1, 2


class Boxes:
    """Boxes that are still to be searched, a stack of them; logarithms of products are what is compared."""

    def __init__(self, grid: Grid, k: int, limit: int) -> None:
        self.grid = grid
        columns, tuples = len(grid.axes), len(grid.tuples)
        wide = max(len(axis.fitted.codes[0]) for axis in grid.axes)
        narrow: type = np.uint16 if wide <= 1 << 16 else np.int32
        codes: Array = np.array([grid.tuples.tuples[axis.name].codes for axis in grid.axes], narrow)
        base, scale, weight, _ = grid.scales
        limits = np.array([k, limit])
        counts, nodes = grid.tuples.counts.astype(np.int64), grid.nodes.astype(np.int32)
        self._table = (codes, counts, nodes, grid.offsets, grid.cards, limits)
        self._prices = (grid.sums, grid.costs, grid.suppressed, grid.first, base, scale, weight)
        depth = int((grid.high - grid.low).sum()) + 2
        self.low, self.high = np.zeros((depth, columns), np.int64), np.zeros((depth, columns), np.int64)
        self._factors, self._gains = (np.zeros((depth, *grid.sums.shape)) for _ in range(2))
        # the class of each tuple at the coarsest node of each box (0: lost), how many there are, the records lost
        self._place, self._told = np.zeros((depth, tuples), np.int32), np.zeros((depth, 2), np.int64)
        # columns whose finest level was not tried yet with these classes; the column and level where a box was split
        self._unchecked, self._split = np.zeros((depth, columns), np.bool_), np.zeros((depth, 2), np.int64)
        cells = max(_LEAST_CELLS, _CELLS * tuples)
        self._scratch = (np.zeros(cells, np.int32), np.zeros(tuples, np.int64))
        self.at = np.zeros(4, np.int64)

    @property
    def looks(self) -> int:
        """How often all tuples were counted."""
        return int(self.at[_LOOKS])

    def start(self) -> None:
        """The whole lattice is one box."""
        self.at[:] = 0
        self.at[_NEW] = 1
        self.low[0], self.high[0] = self.grid.low, self.grid.high
        self._place[0], self._gains[0] = 1, 0.0
        self._told[0] = 2, 0
        self._unchecked[0] = True

    def run(self, target: float, looks: int) -> tuple[int, Array]:
        """Go on until nothing is left that could be below the target (a logarithm), so many looks were taken, or a node
        may be below it: which of these, and the node."""
        boxes = (self.low, self.high, self._factors, self._gains, self._place, self._told, self._unchecked, self._split)
        given = (*self._table, *self._prices, self.grid.measure.geometric)
        status = search_boxes(target, looks, *given, *boxes, *self._scratch, self.at)
        return status, self.high[self.at[_DEPTH]].copy()

    def least_open(self) -> float:
        """What no node of the boxes that are left is below, as a logarithm."""
        found = np.inf
        columns = np.arange(self.low.shape[1])
        for depth in range(int(self.at[_DEPTH]) + 1):
            low = self.low[depth].copy()
            if depth < self.at[_DEPTH]:
                # its finer half is above it in the stack
                low[self._split[depth, 0]] = self._split[depth, 1] + 1
            factors = self._factors[depth][columns, low]
            found = min(found, float(factors.sum()))
        return found
