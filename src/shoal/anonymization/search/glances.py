"""k-anonymity with t-closeness: most nodes are only glanced at. What a node costs itself is found in one pass; what it
tells about finer ones takes longer, and is asked where it is expected to rule some of them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymization.search import kernels
from shoal.anonymization.search.class_kernels import count_numbered, fill_keys
from shoal.anonymization.search.closeness import ClosenessLoop, count_and_judge, most_kept_of_all
from shoal.anonymization.search.evaluate import Evaluator, Outcome
from shoal.anonymization.search.sources import Source, slots
from shoal.compiled import compiled, compiled_part
from shoal.models.base import TOLERANCE
from shoal.table import Array

if TYPE_CHECKING:
    from shoal.anonymization.search.optimum import Search

# what finer nodes lose is guessed to be such a part of what a node suppresses; and how fast the guess is changed
_PART, _STEP = 0.6, 1.05
# nodes that asking should rule out, for it costs about as much as glancing at so many
_WORTH = 2


class Glances:
    """Glances at nodes, and asks what they tell where that is expected to be worth it."""

    def __init__(self, evaluate: Evaluator, loop: ClosenessLoop) -> None:
        self.evaluate, self.loop, self.grid = evaluate, loop, evaluate.grid
        grid, tuples = self.grid, len(self.grid.tuples)
        self.part = np.array([_PART, _STEP, _WORTH])
        stamp = np.full(slots(tuples), -1, np.int32)
        place, number = np.zeros((2, tuples), np.int32)
        self._scratch = (place, stamp, *np.zeros((4, max(tuples, 1)), np.int64), number)
        self._bad, self._gone = np.zeros(tuples, np.bool_), np.zeros(grid.starts[-1])
        self._spread: Array = np.zeros(0, loop.counts)
        table = np.zeros(grid.starts[-1], np.int64)
        self._keys_given = (grid.members, grid.unpacked, grid.starts, grid.nodes, grid.offsets, grid.cards, table)
        self._judge_given = (loop.k, loop.t, TOLERANCE, *loop.arrays, loop.tree.scratch())
        self._cost_given = (grid.costs, grid.suppressed, grid.first, grid.sums, *grid.scales, grid.measure.geometric)
        self._nothing = np.zeros(grid.sums.shape)

    @classmethod
    def of(cls, evaluate: Evaluator) -> Glances | None:
        """They are for this pair of models."""
        return None if evaluate.closeness is None else cls(evaluate, evaluate.closeness)

    def sources(self, nodes: Sequence[Array]) -> tuple[list[tuple[Source, Array]], list[Array]]:
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

    def look(self, search: Search, source: Source, nodes: Array, bounds: Array, strides: Array) -> None:
        """Look at nodes that are counted from the same source, and close what can be closed."""
        grid, loop, limit = self.grid, self.loop, self.evaluate.limit
        needed = (self._most(source) + 1) * loop.leaves
        if len(self._spread) < needed:
            self._spread = np.zeros(needed, loop.counts)
        of_tuple, code, count = source.sensitive[loop.name].narrow
        counted = (source.levels, source.codes, source.counts, of_tuple, code, count)
        found = np.zeros((4, len(nodes)), np.int64)
        products, below = np.full(len(nodes), np.inf), np.zeros((len(nodes), *grid.sums.shape))
        scratch = (*self._scratch, self._spread, self._bad, self._gone)
        hints = (*grid.least_gains, self.part, bounds, strides, grid.low, search.target, limit)
        given: Any = (*self._keys_given, *counted, *scratch, *self._judge_given, *self._cost_given, *hints)
        every: Any = (nodes.copy(), *given, found, products, below)
        _glance_at_all(*every)
        levels = nodes.tolist()
        for at, (suppressed, kept, lost, asked) in enumerate(found.T.tolist()):
            feasible = suppressed <= limit and kept > 0
            told = self._nothing if not asked else None if lost > limit else below[at]
            search.note(Outcome(tuple(levels[at]), suppressed, feasible, float(products[at]), lost, told))

    def _most(self, source: Source) -> int:
        """How many classes with k members a node can have."""
        return int(min(len(source), self.grid.records // self.loop.k))


@compiled
def _glance_at_all(
    all_levels: Array,
    members: Array,
    unpacked: Array,
    starts: Array,
    nodes: Array,
    offsets: Array,
    cards: Array,
    table: Array,
    source_levels: Array,
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
    most: Array,
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
    work: Array,
    costs: Array,
    tops: Array,
    first: Array,
    sums: Array,
    bases: Array,
    scales: Array,
    weights: Array,
    heights: Array,
    geometric: bool,
    least: Array,
    least_at: Array,
    part: Array,
    bounds: Array,
    strides: Array,
    low: Array,
    target: float,
    limit: int,
    found: Array,
    products: Array,
    below: Array,
) -> None:
    """For each node the members that are suppressed, how many classes are kept, the members that finer ones lose, and
    whether it was asked for these; its product, and what finer ones cost more. What it closes is closed."""
    tuples = codes.shape[1]
    every = np.zeros(len(gone))
    for i in range(tuples):
        for c in range(len(codes)):
            every[starts[c] + codes[c, i]] += counts[i]
    for node in range(len(all_levels)):
        levels = all_levels[node]
        total = kernels.look_up(levels, members, unpacked, starts, nodes, offsets, cards, table)
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
        worth = part[0] * suppressed > limit
        at = 0
        for j in range(len(levels)):
            at += (levels[j] - low[j]) * strides[j]
        if not worth or (suppressed <= limit and kept > 0):
            # few are kept where much is lost, so that these are taken from all
            for code in range(len(gone)):
                gone[code] = every[code]
            for i in range(tuples):
                if not bad[place[i]]:
                    for c in range(len(codes)):
                        gone[starts[c] + codes[c, i]] -= counts[i]
            gains = kernels.gains(gone, levels, members, unpacked, starts, costs, tops, offsets, first)
            if suppressed <= limit and kept > 0:
                products[node] = kernels.product_of(levels, sums, gains, bases, scales, weights, geometric)
            for j in range(len(levels)):
                gains[j] *= part[0]
            for j in range(len(levels)):
                if levels[j] > low[j] and bounds[at - strides[j]] < target and not worth:
                    levels[j] -= 1
                    worth = kernels.product_of(levels, sums, gains, bases, scales, weights, geometric) >= target
                    levels[j] += 1
        found[0, node], found[1, node] = suppressed, kept
        if worth:
            most_kept_of_all(sizes[:classes], number, spread, bad, k, t, shares, first_of_level, parent, work, most)
            for c in range(classes):
                found[2, node] += sizes[c] - most[c]
            found[3, node] = 1
            factors = np.full(sums.shape, np.inf)
            if found[2, node] <= limit:
                lost = _lost_below(codes, starts, place, counts, bad, sizes, most, len(gone))
                for which, known in ((0, source_levels), (1, levels)):
                    kernels.gains_below(
                        lost[which], known, levels, members, unpacked, starts, costs, tops, nodes,
                        offsets, first, least, least_at, below[node],
                    )  # fmt: skip
                factors = kernels.factors_of(sums, below[node], bases, scales, weights, heights, geometric)
            closed = kernels.raise_bounds(bounds, strides, low, levels, factors, target)
            part[0] = min(part[0] * part[1], 1.0) if closed > part[2] else part[0] / part[1]
        bounds[at] = np.inf


@compiled_part
def _lost_below(
    codes: Array, starts: Array, place: Array, counts: Array, bad: Array, sizes: Array, most: Array, width: int
) -> Array:
    """Records of each compound code in classes that every finer node loses whole, and shares of those that it keeps
    `most` members of at most."""
    found = np.zeros((2, width))
    for i in range(codes.shape[1]):
        c = place[i]
        if bad[c]:
            which = 0 if most[c] == 0 else 1
            lost = counts[i] * ((sizes[c] - most[c]) / sizes[c])
            for compound in range(len(codes)):
                found[which, starts[compound] + codes[compound, i]] += lost
    return found
