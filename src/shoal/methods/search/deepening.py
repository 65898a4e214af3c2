"""Proofs for lattices too large to list: that no node is below a target, for higher and higher targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.lattice_boxes import DONE, OFFERED, BoxStack, search_boxes
from shoal.methods.search.evaluate import Evaluator
from shoal.methods.search.grid import LatticeGrid, code_type
from shoal.models import KAnonymity
from shoal.storage import Array

if TYPE_CHECKING:
    from shoal.methods.search.optimum import LatticeSearch


# Boxes of nodes of a lattice, which are searched for one that is below a target.


# possible classes that are counted for each distinct tuple, and always
_CELLS, _LEAST_CELLS = 16, 1 << 16
# places in `BoxSearch.at`: the depth, whether its box is new, looks and boxes so far
_DEPTH, _NEW, _LOOKS = 0, 1, 2


class BoxSearch:
    """Boxes that are still to be searched, a stack of them; logarithms of products are what is compared."""

    def __init__(self, grid: LatticeGrid, k: int, limit: int) -> None:
        self.grid = grid
        columns, tuples = len(grid.axes), len(grid.tuples)
        wide = max(len(axis.fitted.codes[0]) for axis in grid.axes)
        self._codes: Array = np.array([grid.tuples.tuples[axis.name].codes for axis in grid.axes], code_type(wide))
        table = (grid.tuples.counts.astype(np.int64), grid.nodes.astype(np.int32), grid.offsets, grid.cards)
        costs = (grid.sums, grid.costs, grid.suppressed, grid.first, *grid.scales[:3], grid.measure.geometric)
        depth = int((grid.high - grid.low).sum()) + 2
        self.low, self.high = np.zeros((depth, columns), np.int64), np.zeros((depth, columns), np.int64)
        self._factors, self._gains = (np.zeros((depth, *grid.sums.shape)) for _ in range(2))
        # the class of each tuple at the coarsest node of each box (0: lost), how many there are, the records lost
        self._place, self._told = np.zeros((depth, tuples), np.int32), np.zeros((depth, 2), np.int64)
        # columns whose finest level was not tried yet with these classes; the column and level where a box was split
        self._unchecked, self._split = np.zeros((depth, columns), np.bool_), np.zeros((depth, 2), np.int64)
        self.at = np.zeros(4, np.int64)
        boxes = (self.low, self.high, self._factors, self._gains, self._place, self._told, self._unchecked, self._split)
        scratch = (np.zeros(max(_LEAST_CELLS, _CELLS * tuples), np.int32), np.zeros(tuples, np.int64), self.at)
        self._stack = BoxStack(table, (k, limit), costs, boxes, scratch)

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
        status = int(search_boxes(self._stack, self._codes, target, looks))
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


# distinct tuples up to which their classes are kept for every box on the way down
_MOST_TUPLES = 1 << 20
# tuples that are counted before the clock is looked at, about a twentieth of a second
_AT_ONCE = 20_000_000
# a target should take so many times as long as the one before it
_LONGER = 2.0
# the first of so many steps from what is known to the best found
_STEPS = 16
# sums of logarithms differ in their last digits
_ROUNDING = 1e-12


def boxes_for(evaluate: Evaluator) -> BoxSearch | None:
    """The boxes of a lattice whose classes must have k members, whatever else they must have; else none.

    What breaks k-anonymity alone is no solution, so a bound for it is one for all models together.
    """
    least = [model.k for model in evaluate.models if isinstance(model, KAnonymity)]
    # of persons and of estimated people, classes are not counted by the records of their tuples
    if not least or evaluate.sample is not None or type(evaluate) is not Evaluator:
        return None
    if len(evaluate.grid.tuples) > _MOST_TUPLES:
        return None
    return BoxSearch(evaluate.grid, max(least), evaluate.limit)


def raise_bound(search: LatticeSearch, boxes: BoxSearch) -> float:
    """Prove higher and higher targets until none can be better than the best; the product that no node is below
    (infinite: no node is better). A target that was not finished in time counts as far as the boxes left say."""
    known = float(np.log(search.grid.free_factors[np.arange(len(search.grid.low)), search.grid.low]).sum())
    step, last = (_goal(search) - known) / _STEPS, 0
    target = known
    while not search.late:
        # what would leave less than half a step is taken with it
        target = known + step if known + 1.5 * step < _goal(search) else _goal(search)
        if not _prove(search, boxes, target):
            raised = max(known, min(target, _goal(search), boxes.least_open()))
            return float(np.exp(raised - _ROUNDING))
        known = min(target, _goal(search))
        if target >= _goal(search):
            return np.inf
        step *= _stretch(boxes.looks, last)
        last = boxes.looks
    return float(np.exp(known - _ROUNDING))


def _goal(search: LatticeSearch) -> float:
    """The logarithm of the product that a node must stay below to be better than the best found; without one, what
    none is above."""
    if search.best is not None:
        return float(np.log(search.target))
    base, scale, weight, _ = search.grid.scales
    most = np.array([float((axis.records * axis.costs.suppressed).sum()) for axis in search.grid.axes])
    part = np.maximum(np.divide(most - base, scale, out=np.zeros(len(base)), where=scale > 0), 0.0)
    return float((weight * (np.log1p(part) if search.grid.measure.geometric else part)).sum()) + 1.0


def _stretch(looks: int, last: int) -> float:
    """How much longer the next step should be than the last one, by how much more work that was."""
    if not last:
        return 1.0
    return float(np.clip(np.log(_LONGER) / np.log(max(looks / last, 1.01)), 0.5, 2.0))


def _prove(search: LatticeSearch, boxes: BoxSearch, target: float) -> bool:
    """Whether there was time to show that no node is below the target; nodes that may be are looked at."""
    boxes.start()
    before = 0
    at_once = max(_AT_ONCE // max(len(search.grid.tuples), 1), 1)
    while not search.late:
        status, levels = boxes.run(min(target, _goal(search)), at_once)
        search.counted += boxes.looks - before
        before = boxes.looks
        search.report()
        if status == OFFERED:
            search.look(levels)
        if status == DONE:
            return True
    return False
