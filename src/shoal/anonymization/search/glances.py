"""k-anonymity with t-closeness: most nodes are only glanced at. What a node costs itself is found in one pass; what it
tells about finer ones takes longer, and is asked where it is expected to rule some of them out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymization.search import kernels
from shoal.anonymization.search.class_kernels import count_numbered, fill_keys
from shoal.anonymization.search.closeness import ClosenessLoop, count_and_judge
from shoal.anonymization.search.evaluate import Evaluator, Judged, Outcome
from shoal.anonymization.search.sources import Source, slots
from shoal.compiled import compiled
from shoal.models.base import TOLERANCE
from shoal.table import Array

if TYPE_CHECKING:
    from shoal.anonymization.search.optimum import Search

# what finer nodes lose is guessed to be such a part of what a node suppresses; and how fast the guess is changed
_PART, _STEP = 0.6, 1.05
# nodes that asking should rule out, for it costs about as much as glancing at so many
_WORTH = 3


class Glances:
    """Glances at nodes, and asks what they tell where that is expected to be worth it."""

    def __init__(self, evaluate: Evaluator, loop: ClosenessLoop) -> None:
        self.evaluate, self.loop, self.grid = evaluate, loop, evaluate.grid
        grid, tuples = self.grid, len(self.grid.tuples)
        self._part = _PART
        self._place, self._number = np.zeros((2, tuples), np.int32)
        self._sizes, self._bad = np.zeros(tuples, np.int64), np.zeros(tuples, np.bool_)
        self._scratch = (
            *(self._place, np.full(slots(tuples), -1, np.int32), *np.zeros((2, max(tuples, 1)), np.int64)),
            *(self._sizes, self._number),
        )
        self._spread = np.zeros(0, np.int64)
        table, self._gone = np.zeros(grid.starts[-1], np.int64), np.zeros(grid.starts[-1])
        self._keys_given = (grid.members, grid.unpacked, grid.starts, grid.nodes, grid.offsets, grid.cards, table)
        self._judge_given = (loop.k, loop.t, TOLERANCE, *loop.arrays)
        self._cost_given = (grid.costs, grid.suppressed, grid.first, grid.sums, *grid.scales, grid.measure.geometric)
        self._nothing = np.zeros(grid.sums.shape)

    @classmethod
    def of(cls, evaluate: Evaluator) -> Glances | None:
        """They are for this pair of models."""
        return None if evaluate.closeness is None else cls(evaluate, evaluate.closeness)

    def look(self, search: Search, levels: Array, bounds: Array, strides: Array) -> bool:
        """Look at an open node and close what can be closed; false where it cannot be glanced at."""
        evaluate, loop, grid = self.evaluate, self.loop, self.grid
        if evaluate.has_nothing(levels) or grid.cells(levels) >= 1 << 62:
            return False
        source = evaluate.sources.below(levels)
        most = min(len(source), grid.records // loop.k)
        if not loop.fits(most):
            return False
        if len(self._spread) < (most + 1) * loop.leaves:
            self._spread = np.zeros((most + 1) * loop.leaves, np.int64)
        counted = (source.codes, source.counts, *source.sensitive[loop.name].narrow)
        scratch = (*self._scratch, self._spread, self._bad, self._gone)
        target = search.target
        hints = (self._part, bounds, strides, grid.low, target, evaluate.limit)
        classes, suppressed, kept, product, worth = _glance(
            levels, *self._keys_given, *counted, *scratch, *self._judge_given, *self._cost_given, *hints
        )
        feasible = suppressed <= evaluate.limit and kept > 0
        outcome = Outcome(tuple(levels.tolist()), suppressed, feasible, product, 0, self._nothing)
        if worth:
            outcome = self._asked(outcome, levels, source, classes, bounds, strides, target)
        search.note(outcome)
        bounds[int(((levels - grid.low) * strides).sum())] = np.inf
        return True

    def _asked(
        self,
        outcome: Outcome,
        levels: Array,
        source: Source,
        classes: int,
        bounds: Array,
        strides: Array,
        target: float,
    ) -> Outcome:
        """What the node that was glanced at tells about finer ones."""
        sizes, bad = self._sizes[:classes], self._bad[:classes]
        kept = self.loop.most_kept(sizes, self._number[:classes], self._spread, bad)
        place = self._place[: len(source)]
        found = Judged(place, sizes, bad, sizes - kept, outcome.suppressed, outcome.feasible)
        lost, below, _ = self.evaluate.told(levels, source, found)
        factors = self.grid.below_factors(below)
        closed = kernels.raise_bounds(bounds, strides, self.grid.low, levels, factors, target)
        self._part = min(self._part * _STEP, 1.0) if closed > _WORTH else self._part / _STEP
        return replace(outcome, lost=lost, below=below)


@compiled
def _glance(
    levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    nodes: Array,
    offsets: Array,
    cards: Array,
    table: Array,
    codes: Array,
    counts: Array,
    entry_tuple: Array,
    entry_code: Array,
    entry_count: Array,
    place: Array,
    stamp: Array,
    keys: Array,
    keys_of_classes: Array,
    sizes: Array,
    number: Array,
    spread: Array,
    bad: Array,
    gone: Array,
    k: int,
    t: float,
    tolerance: float,
    leaf: Array,
    shares: Array,
    first_of_level: Array,
    parent: Array,
    costs: Array,
    tops: Array,
    first: Array,
    sums: Array,
    bases: Array,
    scales: Array,
    weights: Array,
    heights: Array,
    geometric: bool,
    part: float,
    bounds: Array,
    strides: Array,
    low: Array,
    target: float,
    limit: int,
) -> Any:
    """The classes of a node, the members of those that are suppressed, how many classes are kept, its product, and
    whether asking what it tells about finer ones is worth it."""
    total = kernels.look_up(levels, members, unpacked, starts, nodes, offsets, cards, table)
    tuples = codes.shape[1]
    fill_keys(codes, starts, table, keys)
    classes = count_numbered(keys, counts, total, place, stamp, keys_of_classes, sizes)
    count_and_judge(
        place, sizes[:classes], entry_tuple, entry_code, entry_count, k, t, tolerance,
        leaf, shares, first_of_level, parent, number, spread, bad,
    )  # fmt: skip
    suppressed = kept = 0
    for c in range(classes):
        if bad[c]:
            suppressed += sizes[c]
        else:
            kept += 1
    product = np.inf
    worth = part * suppressed > limit
    if not worth or (suppressed <= limit and kept > 0):
        gone[:] = 0
        for i in range(tuples):
            if bad[place[i]]:
                for c in range(len(codes)):
                    gone[starts[c] + codes[c, i]] += counts[i]
        gains = kernels.gains(gone, levels, members, unpacked, starts, costs, tops, offsets, first)
        if suppressed <= limit and kept > 0:
            product = kernels.product_of(levels, sums, gains, bases, scales, weights, geometric)
        at = 0
        for j in range(len(levels)):
            gains[j] *= part
            at += (levels[j] - low[j]) * strides[j]
        for j in range(len(levels)):
            if levels[j] > low[j] and bounds[at - strides[j]] < target and not worth:
                levels[j] -= 1
                worth = kernels.product_of(levels, sums, gains, bases, scales, weights, geometric) >= target
                levels[j] += 1
    return classes, suppressed, kept, product, worth
