"""Coarse bounds for the lattice under k-anonymity with t-closeness. The cost of a node itself takes one pass and is
found for all; what the node rules out among finer ones takes longer, and is asked only where that is expected to pay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels.lattice_bounds import raise_bounds
from shoal.kernels.lattice_counts import records_by_code
from shoal.methods.search.closeness import ClosenessLoop
from shoal.methods.search.evaluate import Evaluator, NodeClasses, NodeOutcome
from shoal.methods.search.sources import ClassSource
from shoal.storage import Array

if TYPE_CHECKING:
    from shoal.methods.search.optimum import LatticeSearch


# what finer nodes lose is guessed to be such a part of what a node suppresses; and how fast the guess is changed
_PART, _STEP = 0.6, 1.05
# nodes that asking should rule out, for it costs about as much as glancing at so many
_WORTH = 2


class CoarseBounds:
    """A cheap first bound for each node; the costly one only where it is expected to rule out finer nodes."""

    def __init__(self, evaluate: Evaluator, loop: ClosenessLoop) -> None:
        self.evaluate, self.loop, self.grid = evaluate, loop, evaluate.grid
        tuples = len(self.grid.tuples)
        self.part = _PART
        self._place, self._sizes = np.zeros(tuples, np.int32), np.zeros(tuples, np.int64)
        self._bad = np.zeros(tuples, np.bool_)
        self._nothing = np.zeros(self.grid.sums.shape)

    @classmethod
    def of(cls, evaluate: Evaluator) -> CoarseBounds | None:
        """They are for this pair of models."""
        return None if evaluate.closeness is None else cls(evaluate, evaluate.closeness)

    def sources(self, nodes: Sequence[Array]) -> tuple[list[tuple[ClassSource, Array]], list[Array]]:
        """What nodes can be counted from, with those that have it in common; and those that cannot be glanced at."""
        every, columns = np.array(nodes, np.int64).reshape(-1, len(self.grid.axes)), np.arange(len(self.grid.axes))
        keys = self.grid.cards[columns, every].prod(axis=1, dtype=np.float64)
        fit = (keys < 1 << 62) & ~self.evaluate.stars[columns, every].all(axis=1)
        parts, others = [], list(every[~fit])
        for source, places in self.evaluate.sources.below_all(every[fit]):
            if self.loop.fits(self._most(source)):
                parts.append((source, every[fit][places]))
            else:
                others += list(every[fit][places])
        return parts, others

    def look(self, search: LatticeSearch, source: ClassSource, nodes: Array, bounds: Array, strides: Array) -> None:
        """Look at nodes that are counted from the same source, and close what can be closed."""
        target, places = search.target, ((nodes - self.grid.low) * strides).sum(axis=1).tolist()
        found = []
        for levels, place in zip(nodes, places, strict=True):
            found.append(self._bound(levels, source, bounds, strides, target))
            bounds[place] = np.inf
        for outcome in found:
            search.note(outcome)

    def _bound(self, levels: Array, source: ClassSource, bounds: Array, strides: Array, target: float) -> NodeOutcome:
        grid, limit, place = self.grid, self.evaluate.limit, self._place[: len(source)]
        classes = self.evaluate.number_classes(levels, source, place, self._sizes)
        sizes, bad = self._sizes[:classes], self._bad[:classes]
        suppressed, good = self.loop.judge(place, sizes, source.sensitive[self.loop.name], bad)
        feasible = suppressed <= limit and good > 0
        asked = self.part * suppressed > limit
        product = np.inf
        if feasible or not asked:
            # few are kept where much is lost, so that these are taken from all
            lost = records_by_code(source.codes, source.starts, place, source.counts, bad, source.by_code)
            gains = grid.gains(lost, levels)
            product = grid.product(levels, gains) if feasible else np.inf
            asked = asked or grid.rules_out(levels, gains, self.part, bounds, strides, target)
        if not asked:
            return NodeOutcome(tuple(levels.tolist()), suppressed, feasible, product, 0, self._nothing)
        judged = NodeClasses(place, sizes, bad, sizes - self.loop.most_kept(sizes, bad), suppressed, feasible)
        told, below, _ = self.evaluate.told(levels, source, judged)
        closed = raise_bounds(bounds, strides, grid.low, levels, grid.below_factors(below), target)
        self.part = min(self.part * _STEP, 1.0) if closed > _WORTH else self.part / _STEP
        return NodeOutcome(tuple(levels.tolist()), suppressed, feasible, product, told, below)

    def _most(self, source: ClassSource) -> int:
        """How many classes with k members a node can have."""
        return int(min(len(source), self.grid.records // self.loop.k))
