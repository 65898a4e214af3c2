"""The best node of a lattice: proven where it can be, with a bound on what is left where it cannot.

A lattice that fits into memory has a lower bound for every node. Looking at a node tells how much every finer node must
lose at least, and raises or closes them all at once; so the coarsest open node is looked at next, until none could be
better than the best found. The bounds hold at any suppression limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from shoal import progress
from shoal.kernels.lattice_bounds import product_at, raise_bounds
from shoal.kernels.lattice_counts import records_by_code
from shoal.kernels.lattice_order import highest_below, next_open
from shoal.methods.search.class_search import SAME, ClassLook, ClassOrder, ScoreLook, strides_of
from shoal.methods.search.closing import boxes_for, close_all, raise_bound
from shoal.methods.search.evaluate import ClosenessLoop, Evaluator, NodeClasses, NodeOutcome
from shoal.methods.search.grid import CLASS_MEASURES, LatticeGrid, least_possible
from shoal.methods.search.sources import ClassSource
from shoal.models import KAnonymity
from shoal.storage import Array

# Coarse bounds for the lattice under k-anonymity with t-closeness. The cost of a node itself takes one pass and is
# found for all; what the node rules out among finer ones takes longer, and is asked only where that is expected to pay.


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


# nodes whose bounds are kept one by one; larger lattices are searched by boxes of nodes
_LISTED = 1 << 18
# nodes that may be better than the best found and are closed one by one
_OPEN = 1 << 21
# distinct tuples from which on two nodes are looked at together
_WORTH_A_THREAD = 50_000
# nodes whose coarse bound is found before the clock is looked at
_COARSE_BOUNDS = 32
# nodes whose finer neighbours are no better before the search for a good start ends
_PATIENCE = 2
# nodes of equal bound that are looked at for the sake of fewer suppressed records
_TIES = 1000


@dataclass
class LatticeSearch:
    """What the search knows so far; the nodes that were looked at, best first, are its frontier."""

    grid: LatticeGrid
    evaluate: Callable[[Array], NodeOutcome]
    deadline: float
    best: NodeOutcome | None = None
    seen: dict[tuple[int, ...], NodeOutcome] = field(default_factory=dict)
    # a second pair of eyes where a look takes long enough to be worth a thread
    other: Callable[[Array], NodeOutcome] | None = None
    # looks at classes alone, which are not kept
    counted: int = 0

    def look(self, levels: Array) -> NodeOutcome:
        """Look at a node, once."""
        key = tuple(levels.tolist())
        if key not in self.seen:
            self.note(self.evaluate(levels))
        return self.seen[key]

    def look_at_all(self, nodes: Sequence[Array]) -> list[NodeOutcome]:
        """Look at several nodes, two at a time on large tables; which are looked at does not depend on the cores."""
        unseen = [levels for levels in nodes if tuple(levels.tolist()) not in self.seen]
        if self.other is not None and len(unseen) > 1:
            with ThreadPoolExecutor(2) as pool:
                halves = [(self.evaluate, unseen[::2]), (self.other, unseen[1::2])]
                for found in pool.map(lambda half: [half[0](levels) for levels in half[1]], halves):
                    for outcome in found:
                        self.note(outcome)
        return [self.look(levels) for levels in nodes]

    def note(self, found: NodeOutcome) -> None:
        """A node was looked at."""
        self.seen[found.levels] = found
        if found.feasible and self.is_better(found):
            self.best = found
        self.report()

    def report(self) -> None:
        """How many nodes were looked at; of how many is not known before the end, since most are ruled out."""
        looked = len(self.seen) + self.counted
        progress.report(f"searching the lattice: {looked:,} generalisations looked at", 0)

    def is_better(self, found: NodeOutcome) -> bool:
        """Lower score; of equal scores fewer suppressed records, then the smaller levels: not the order of looking."""
        if self.best is None:
            return True
        best = self.best
        if abs(found.product - best.product) > SAME * best.product:
            return found.product < best.product
        return (found.suppressed, found.levels) < (best.suppressed, best.levels)

    @property
    def target(self) -> float:
        """A node must stay below this to be better than the best."""
        return np.inf if self.best is None else self.best.product * (1 - SAME)

    @property
    def time_left(self) -> float:
        """Seconds until the search should end."""
        return self.deadline - time.monotonic()

    @property
    def late(self) -> bool:
        return self.time_left < 0


@dataclass(frozen=True)
class Optimum:
    """The best node found; no node can have a score below `lower_bound`, its own score where it is proven."""

    best: NodeOutcome | None
    score: float | None
    lower_bound: float | None
    optimal: bool
    nodes_total: int
    nodes_checked: int
    seen: list[NodeOutcome]


def find_best(grid: LatticeGrid, evaluate: Evaluator, minimize: str = "loss", time_limit: float = 60.0) -> Optimum:
    """The node with the lowest score that keeps every model within the suppression limit.

    Without a solution `best` is none; then `optimal` says whether there is none or none was found in time.
    """
    search = LatticeSearch(grid, evaluate, time.monotonic() + time_limit)
    # in packed tables a look is quick, and which of them are made depends on the order of looks
    if len(grid.tuples) >= _WORTH_A_THREAD and (grid.size <= _LISTED or evaluate.packed is None):
        search.other = evaluate.twin()
    if minimize in CLASS_MEASURES:
        return _by_classes(search, evaluate, minimize)
    # large tables are looked at by two threads instead
    listed = grid.size <= _LISTED
    coarse = CoarseBounds.of(evaluate) if listed and evaluate.limit and search.other is None else None
    if coarse is None:
        descend(search, grid.high)
    if listed:
        bound = ListedNodes(search).close_all(evaluate.limit, coarse)
    # a list of the nodes that may be better than the best, or boxes of nodes where these are too many
    elif (found := close_all(search, evaluate.limit, _OPEN)) is not None:
        bound = found
    else:
        _polish(search)
        boxes = boxes_for(evaluate)
        bound = _by_boxes(search) if boxes is None else raise_bound(search, boxes)
    optimal = not np.isfinite(bound) or bound >= search.target
    # sums of classes that were rolled up differ in their last digits
    best = None if search.best is None else evaluate.exactly(np.array(search.best.levels))
    score = None if best is None else grid.score(best.product)
    lower = score if optimal else grid.score(bound)
    checked = len(search.seen) + search.counted
    return Optimum(best, score, lower, optimal, grid.size, checked, list(search.seen.values()))


def descend(search: LatticeSearch, levels: Array) -> None:
    """Go down from a node, each time to the best of the finer neighbours, while one is feasible."""
    at = search.look(levels)
    while not search.late:
        below = search.look_at_all(list(_finer(search.grid, np.array(at.levels))))
        feasible = [node for node in below if node.feasible]
        if not feasible:
            return
        at = min(feasible, key=lambda node: (node.product, node.suppressed, node.levels))


def _finer(grid: LatticeGrid, levels: Array) -> Iterator[Array]:
    for j, axis in enumerate(grid.axes):
        if levels[j] > axis.low:
            finer = levels.copy()
            finer[j] -= 1
            yield finer


class ListedNodes:
    """A lower bound for each node, infinite where it is closed: what a look tells raises those of all finer ones."""

    def __init__(self, search: LatticeSearch) -> None:
        self.search, self.grid = search, search.grid
        self.low, self.extents, self.strides = self.grid.low, self.grid.high - self.grid.low + 1, strides_of(self.grid)
        self.bounds = np.zeros(self.grid.size)
        raise_bounds(self.bounds, self.strides, self.low, self.grid.high, self.grid.free_factors, np.inf)
        for outcome in search.seen.values():
            self.close(outcome)

    def levels(self, places: Any) -> Array:
        """The levels of a node by its place, or of several."""
        return np.asarray(self.low + np.asarray(places)[..., None] // self.strides % self.extents)

    def close(self, outcome: NodeOutcome) -> None:
        """What a node tells about itself and all finer ones."""
        levels, factors = np.array(outcome.levels), self.grid.below_factors(outcome.below)
        raise_bounds(self.bounds, self.strides, self.low, levels, factors, self.search.target)
        self.bounds[int(((levels - self.low) * self.strides).sum())] = np.inf

    def close_all(self, limit: int, coarse: CoarseBounds | None) -> float:
        """Close nodes until none can be better; the lowest bound of what is still open (infinite: nothing is)."""
        if limit == 0:
            done = self._by_chains()
        else:
            done = self._coarsest_first() if coarse is None else self._by_coarse_bounds(coarse)
        if not done:
            return float(self.bounds.min(initial=np.inf))
        self._settle_ties()
        return np.inf

    @cached_property
    def _heights(self) -> Array:
        """The sum of the levels of each node."""
        places = np.arange(len(self.bounds))
        each = zip(self.strides, self.extents, strict=True)
        return np.asarray(sum(places // stride % extent for stride, extent in each))

    def _coarsest_first(self) -> bool:
        """Look at every node that is still open once all coarser ones have told what they know; whether there was
        time."""
        search, bounds, heights = self.search, self.bounds, self._heights
        at, order = 0, np.argsort(-heights, kind="stable")
        while (at := next_open(bounds, search.target, order, at)) < len(order):
            if search.late:
                return False
            nodes = [order[at]]
            if search.other is not None:
                following = next_open(bounds, search.target, order, at + 1)
                # the next one beside it, unless what is found here could close it
                if following < len(order) and heights[order[following]] == heights[order[at]]:
                    nodes.append(order[following])
            for outcome in search.look_at_all(list(self.levels(nodes))):
                self.close(outcome)
        return True

    def _by_coarse_bounds(self, coarse: CoarseBounds) -> bool:
        """The same, where all open nodes of a height are bounded together; whether there was time."""
        if not self._go_down(coarse):
            return False
        for height in range(int(self._heights.max()), -1, -1):
            places = np.flatnonzero((self._heights == height) & (self.bounds < self.search.target))
            if not self._bound_coarsely(coarse, list(self.levels(places))):
                return False
        return True

    def _go_down(self, coarse: CoarseBounds) -> bool:
        """From the top to nodes below the best found, as long as some of them are better: whether there was time."""
        search = self.search
        below: list[tuple[float, tuple[int, ...]]] = []
        missed, nodes = 0, [self.grid.high]
        while nodes and missed < _PATIENCE:
            best = search.best
            if not self._bound_coarsely(coarse, nodes):
                return False
            missed = 0 if search.best is not best or best is None else missed + 1
            for levels in map(tuple, np.array(nodes).tolist()):
                heappush(below, (search.seen[levels].product, levels))
            nodes = []
            while below and not nodes:
                _, levels = heappop(below)
                finer = _finer(self.grid, np.array(levels))
                nodes = [node for node in finer if tuple(node.tolist()) not in search.seen]
        return True

    def _bound_coarsely(self, coarse: CoarseBounds, nodes: list[Array]) -> bool:
        """Bound nodes coarsely, or look at those where that cannot be; whether there was time."""
        parts, others = coarse.sources(nodes)
        for source, own in parts:
            for start in range(0, len(own), _COARSE_BOUNDS):
                if self.search.late:
                    return False
                some = own[start : start + _COARSE_BOUNDS]
                coarse.look(self.search, source, some, self.bounds, self.strides)
        for levels in others:
            if self.search.late:
                return False
            self.close(self.search.look(levels))
        return True

    def _by_chains(self) -> bool:
        """Where nothing may be suppressed: chains from the open node with the highest bound; whether there was time."""
        candidates, left = np.arange(len(self.bounds)), len(self.bounds)
        while not self.search.late:
            place, left = highest_below(self.bounds, self.search.target, candidates, left)
            if place < 0:
                return True
            for outcome in _chain(self.search, self.levels(place)):
                self.close(outcome)
        return False

    def _settle_ties(self) -> None:
        """Nodes that may have the same score, smallest levels first, so that fewer suppressed records decide."""
        if self.search.best is not None:
            ties = np.flatnonzero(self.bounds <= self.search.best.product * (1 + SAME))
            for levels in self.levels(ties[:_TIES]):
                if self.search.late:
                    return
                self.search.look(levels)


def _chain(search: LatticeSearch, levels: Array) -> list[NodeOutcome]:
    """Nothing may be suppressed: of a chain from a node to the top, the highest that fails closes the most.

    What fails, fails below too, so it is found by halving.
    """
    grid = search.grid
    chain = [levels]
    while (chain[-1] < grid.high).any():
        at = chain[-1]
        drops = [
            (grid.cards[j, at[j] + 1] / grid.cards[j, at[j]], -j) if at[j] < grid.high[j] else (-1.0, 0)
            for j in range(len(at))
        ]
        raised = at.copy()
        raised[-max(drops)[1]] += 1
        chain.append(raised)
    outcomes = []
    first, last = 0, len(chain)
    while first < last:
        middle = (first + last) // 2
        outcomes.append(search.look(chain[middle]))
        if outcomes[-1].below is not None:
            last = middle
        else:
            first = middle + 1
    if not any(outcome.levels == tuple(levels.tolist()) for outcome in outcomes):
        outcomes.append(search.look(levels))
    return outcomes


def _by_boxes(search: LatticeSearch) -> float:
    """Branch and bound on boxes of nodes from `low` to `high`: the cheapest levels with the losses of the coarsest node
    bound all of them. The box with the lowest bound is split, so the bound of what is left only rises."""
    grid = search.grid
    free, columns = grid.free_factors, np.arange(len(grid.axes))
    queue: list[tuple[float, int, tuple[int, ...], tuple[int, ...]]] = []
    made = 0

    def push(low: Array, high: Array) -> None:
        nonlocal made
        below = search.look(high).below
        bound = np.inf if below is None else float(product_at(grid.factors(below), low))
        if bound < search.target:
            made += 1
            heappush(queue, (bound, made, tuple(low.tolist()), tuple(high.tolist())))

    push(grid.low, grid.high)
    while queue and not search.late:
        if queue[0][0] >= search.target:
            return np.inf
        _, number, first, last = heappop(queue)
        low, high = np.array(first), np.array(last)
        if number % 64 == 0:
            descend_within(search, high)
        if (low == high).all():
            continue
        # the column whose levels in the box differ most in cost
        j = int(np.argmax(np.where(high > low, free[columns, high] / free[columns, low], 0.0)))
        middle = (low[j] + high[j]) // 2
        upper, lower = low.copy(), high.copy()
        upper[j], lower[j] = middle + 1, middle
        push(upper, high)
        push(low, lower)
    heapify(queue)
    return queue[0][0] if queue else np.inf


def descend_within(search: LatticeSearch, levels: Array) -> None:
    """A quick descent: the first finer neighbour that is better is taken."""
    at = search.look(levels)
    while at.feasible and not search.late:
        for finer in _finer(search.grid, np.array(at.levels)):
            below = search.look(finer)
            if below.feasible and below.product < at.product:
                at = below
                break
        else:
            return


def _polish(search: LatticeSearch) -> None:
    """From the best found: one column coarser and another finer, while that is better."""
    grid = search.grid
    while search.best is not None and not search.late:
        start = search.best
        levels = np.array(start.levels)
        for i in range(len(levels)):
            for j in range(len(levels)):
                if i != j and levels[i] < grid.high[i] and levels[j] > grid.low[j] and not search.late:
                    moved = levels.copy()
                    moved[i] += 1
                    moved[j] -= 1
                    descend_within(search, moved)
        if search.best is start:
            return


def _by_classes(search: LatticeSearch, own: Evaluator, minimize: str) -> Optimum:
    """Look at the nodes that close the most others by their bounds, until none is left; at every node, from the
    coarsest on, where these are too many to list."""
    grid = search.grid
    # how many members every class has that is kept
    k = max((model.k for model in own.models if isinstance(model, KAnonymity)), default=1)
    least = least_possible(minimize, k, own.records)
    if grid.size <= _OPEN:
        look = ClassLook(own, minimize, k)
        within = LatticeSearch(grid, look, search.deadline)
        descend(within, grid.high)
        done = ClassOrder(within, look).run()
        least = max(look.least_open(), least)
    else:
        within = LatticeSearch(grid, ScoreLook(own, minimize, k), search.deadline)
        descend(within, grid.high)
        _polish(within)
        strides, place = strides_of(grid), grid.size
        while place and not within.late:
            place -= 1
            within.look(grid.low + place // strides % (grid.high - grid.low + 1))
        done = not place
    best = within.best
    score = None if best is None else best.product
    bound = score if done else min(least, np.inf if score is None else score)
    return Optimum(best, score, bound, done, grid.size, len(within.seen), list(within.seen.values()))
