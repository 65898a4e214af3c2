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
from heapq import heapify, heappop, heappush

import numpy as np

from shoal import progress
from shoal.kernels.lattice_bounds import product_at, raise_bounds
from shoal.kernels.lattice_order import highest_below, next_open
from shoal.methods.search.class_search import SAME, ClassLook, ClassOrder, ScoreLook, strides_of
from shoal.methods.search.closing import close_all
from shoal.methods.search.coarse_bounds import CoarseBounds
from shoal.methods.search.deepening import boxes_for, raise_bound
from shoal.methods.search.evaluate import Evaluator, NodeOutcome
from shoal.methods.search.grid import CLASS_MEASURES, LatticeGrid, least_possible
from shoal.models import KAnonymity
from shoal.storage import Array

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
                jobs = [pool.submit(_look_at_part, look, part) for look, part in halves]
                for job in jobs:
                    for found in job.result():
                        self.note(found)
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


def _look_at_part(look: Callable[[Array], NodeOutcome], nodes: Sequence[Array]) -> list[NodeOutcome]:
    return [look(levels) for levels in nodes]


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
    if len(grid.tuples) >= _WORTH_A_THREAD and (grid.size <= _LISTED or not evaluate.is_packed):
        search.other = evaluate.twin()
    if minimize in CLASS_MEASURES:
        return _by_classes(search, evaluate, minimize)
    # large tables are looked at by two threads instead
    listed = grid.size <= _LISTED
    coarse = CoarseBounds.of(evaluate) if listed and evaluate.limit and search.other is None else None
    if coarse is None:
        descend(search, grid.high)
    bound = _by_node(search, evaluate.limit, coarse) if listed else _of_many(search, evaluate)
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


# lattices that fit into memory


def _by_node(search: LatticeSearch, limit: int, coarse: CoarseBounds | None) -> float:
    """Close nodes until none can be better; the lowest bound of what is still open (infinite: nothing is)."""
    grid = search.grid
    low, high = grid.low, grid.high
    extents = high - low + 1
    strides = strides_of(grid)
    bounds = np.zeros(grid.size)
    raise_bounds(bounds, strides, low, high, grid.free_factors, np.inf)
    for outcome in search.seen.values():
        _close(search, bounds, strides, outcome)
    if limit == 0:
        done = _by_chains(search, bounds, strides, extents)
    elif coarse is None:
        done = _coarsest_first(search, bounds, strides, extents)
    else:
        done = _by_coarse_bounds(search, coarse, bounds, strides, extents)
    if not done:
        return float(bounds.min(initial=np.inf))
    _settle_ties(search, bounds, strides, extents)
    return np.inf


def _coarsest_first(search: LatticeSearch, bounds: Array, strides: Array, extents: Array) -> bool:
    """Look at every node that is still open once all coarser ones have told what they know; whether there was time."""
    low = search.grid.low
    heights = _heights(bounds, strides, extents)
    at, order = 0, np.argsort(-heights, kind="stable")
    at_once = 1 if search.other is None else 2
    while (at := next_open(bounds, search.target, order, at)) < len(order):
        if search.late:
            return False
        nodes = [order[at]]
        if at_once > 1:
            following = next_open(bounds, search.target, order, at + 1)
            # the next one beside it, unless what is found here could close it
            if following < len(order) and heights[order[following]] == heights[order[at]]:
                nodes.append(order[following])
        for outcome in search.look_at_all([low + place // strides % extents for place in nodes]):
            _close(search, bounds, strides, outcome)
    return True


def _by_coarse_bounds(
    search: LatticeSearch, coarse: CoarseBounds, bounds: Array, strides: Array, extents: Array
) -> bool:
    """The same, where all open nodes of a height are bounded together; whether there was time."""
    if not _go_down(search, coarse, bounds, strides):
        return False
    heights = _heights(bounds, strides, extents)
    for height in range(int(heights.max()), -1, -1):
        places = np.flatnonzero((heights == height) & (bounds < search.target))
        nodes = list(search.grid.low + places[:, None] // strides % extents)
        if not _bound_coarsely(search, coarse, nodes, bounds, strides):
            return False
    return True


def _go_down(search: LatticeSearch, coarse: CoarseBounds, bounds: Array, strides: Array) -> bool:
    """From the top to nodes below the best found, as long as some of them are better: whether there was time."""
    below: list[tuple[float, tuple[int, ...]]] = []
    missed, nodes = 0, [search.grid.high]
    while nodes and missed < _PATIENCE:
        best = search.best
        if not _bound_coarsely(search, coarse, nodes, bounds, strides):
            return False
        missed = 0 if search.best is not best or best is None else missed + 1
        for levels in map(tuple, np.array(nodes).tolist()):
            heappush(below, (search.seen[levels].product, levels))
        nodes = []
        while below and not nodes:
            _, levels = heappop(below)
            finer = _finer(search.grid, np.array(levels))
            nodes = [node for node in finer if tuple(node.tolist()) not in search.seen]
    return True


def _bound_coarsely(
    search: LatticeSearch, coarse: CoarseBounds, nodes: list[Array], bounds: Array, strides: Array
) -> bool:
    """Bound nodes coarsely, or look at those where that cannot be; whether there was time."""
    parts, others = coarse.sources(nodes)
    for source, own in parts:
        for start in range(0, len(own), _COARSE_BOUNDS):
            if search.late:
                return False
            coarse.look(search, source, own[start : start + _COARSE_BOUNDS], bounds, strides)
    for levels in others:
        if search.late:
            return False
        _close(search, bounds, strides, search.look(levels))
    return True


def _heights(bounds: Array, strides: Array, extents: Array) -> Array:
    """The sum of the levels of each node."""
    places = np.arange(len(bounds))
    return np.asarray(sum(places // stride % extent for stride, extent in zip(strides, extents, strict=True)))


def _by_chains(search: LatticeSearch, bounds: Array, strides: Array, extents: Array) -> bool:
    """Where nothing may be suppressed: chains from the open node with the highest bound; whether there was time."""
    candidates, left = np.arange(len(bounds)), len(bounds)
    while not search.late:
        place, left = highest_below(bounds, search.target, candidates, left)
        if place < 0:
            return True
        for outcome in _chain(search, search.grid.low + place // strides % extents):
            _close(search, bounds, strides, outcome)
    return False


def _settle_ties(search: LatticeSearch, bounds: Array, strides: Array, extents: Array) -> None:
    """Nodes that may have the same score, smallest levels first, so that fewer suppressed records decide."""
    if search.best is not None:
        ties = np.flatnonzero(bounds <= search.best.product * (1 + SAME))
        for place in ties[:_TIES].tolist():
            if search.late:
                return
            search.look(search.grid.low + place // strides % extents)


def _close(search: LatticeSearch, bounds: Array, strides: Array, outcome: NodeOutcome) -> None:
    """What a node tells about itself and all finer ones."""
    grid, low = search.grid, search.grid.low
    levels = np.array(outcome.levels)
    raise_bounds(bounds, strides, low, levels, grid.below_factors(outcome.below), search.target)
    bounds[int(((levels - low) * strides).sum())] = np.inf


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


# larger lattices


def _of_many(search: LatticeSearch, evaluate: Evaluator) -> float:
    """By a list of the nodes that may be better than the best, or by boxes of nodes where these are too many."""
    bound = close_all(search, evaluate.limit, _OPEN)
    if bound is not None:
        return bound
    _polish(search)
    boxes = boxes_for(evaluate)
    return _by_boxes(search) if boxes is None else raise_bound(search, boxes)


def _by_boxes(search: LatticeSearch) -> float:
    """Branch and bound on boxes of nodes from `low` to `high`: the cheapest levels with the losses of the coarsest node
    bound all of them. The box with the lowest bound is split, so the bound of what is left only rises."""
    grid = search.grid
    free = grid.free_factors
    queue: list[tuple[float, int, tuple[int, ...], tuple[int, ...]]] = []
    made = 0

    def push(low: Array, high: Array) -> None:
        nonlocal made
        bound = _box_bound(search, low, high)
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
        j = _split_on(free, low, high)
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


def _box_bound(search: LatticeSearch, low: Array, high: Array) -> float:
    outcome = search.look(high)
    if outcome.below is None:
        return np.inf
    return float(product_at(search.grid.factors(outcome.below), low))


def _split_on(factors: Array, low: Array, high: Array) -> int:
    """The column whose levels in the box differ most in cost."""
    spread = [factors[j, high[j]] / factors[j, low[j]] if high[j] > low[j] else 0.0 for j in range(len(low))]
    return int(np.argmax(spread))


# measures of class sizes


def _by_classes(search: LatticeSearch, own: Evaluator, minimize: str) -> Optimum:
    """Look at the nodes that close the most others by their bounds, until none is left; at every node, from the
    coarsest on, where these are too many to list."""
    grid = search.grid
    k = _least_members(own)
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
        done = _look_at_every_node(within)
    best = within.best
    score = None if best is None else best.product
    bound = score if done else min(least, np.inf if score is None else score)
    return Optimum(best, score, bound, done, grid.size, len(within.seen), list(within.seen.values()))


def _look_at_every_node(search: LatticeSearch) -> bool:
    """Whether there was time."""
    grid, strides = search.grid, strides_of(search.grid)
    for place in range(grid.size - 1, -1, -1):
        if search.late:
            return False
        search.look(grid.low + place // strides % (grid.high - grid.low + 1))
    return True


def _least_members(evaluate: Evaluator) -> int:
    """How many members every class has that is kept."""
    return max((model.k for model in evaluate.models if isinstance(model, KAnonymity)), default=1)
