"""Proofs for lattices too large to keep a bound of every node: by a list of what is left, or by boxes of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels import lattice_order
from shoal.kernels.lattice_bounds import product_at
from shoal.kernels.lattice_boxes import DONE, OFFERED, BoxStack, search_boxes
from shoal.methods.search.evaluate import Evaluator, NodeOutcome
from shoal.methods.search.grid import LatticeGrid, code_type
from shoal.models import KAnonymity
from shoal.storage import Array

if TYPE_CHECKING:
    from shoal.methods.search.optimum import LatticeSearch


# The proof for lattices too large to keep a bound of every node: the nodes that could still be the best are listed,
# and each is closed by as coarse a node as rules it out, which closes many others with it.


# how much more than needed a node should be expected to lose that is to close another
_MARGIN = 1.05
# looks in a row that improve nothing before the search for a good start ends
_PATIENCE = 6
# open nodes that what a look could close is guessed on, and those of them that looks are proposed for
_GUESSED, _PROPOSED = 2048, 24
# a look at a node with one bit more may close so much less, in bits
_DEARER = 0.3


class OpenNodes:
    """The nodes that may be better than the best found, with what is known of each.

    They stand in the order of their levels; `changes` is the first column in which each differs from the one before.
    """

    def __init__(self, levels: Array, bounds: Array, changes: Array) -> None:
        self.levels, self.bounds, self.changes = levels, bounds, changes

    @classmethod
    def under(cls, grid: LatticeGrid, target: float, most: int) -> OpenNodes | None:
        """All nodes whose levels alone cost less than the target; none if there are more than `most`."""
        found = np.zeros((most, len(grid.axes)), np.uint16)
        bounds, changes = np.zeros(most), np.zeros(most, np.uint16)
        count = lattice_order.list_open(grid.free_factors, grid.low, grid.high, target, found, bounds, changes)
        return None if count > most else cls(found[:count], bounds[:count], changes[:count])

    def __len__(self) -> int:
        return len(self.bounds)

    @property
    def lowest(self) -> float:
        """What none of them is below; infinite if there is none."""
        return float(self.bounds.min(initial=np.inf))

    def some(self, most: int, lowest: bool) -> Array:
        """The levels of so many of them at most, evenly chosen; with `lowest` of the one that may be the best alone."""
        levels = self.levels[[self.bounds.argmin()]] if lowest else self.levels[:: -(-len(self) // most)]
        return np.asarray(levels, np.int64)

    def close(self, outcome: NodeOutcome, grid: LatticeGrid, target: float) -> None:
        """What a node tells about itself and all finer ones, and the best found so far about all."""
        at = np.array(outcome.levels, np.uint16)
        lost = outcome.below is None
        factors = grid.free_factors if outcome.below is None else grid.factors(outcome.below)
        left = lattice_order.close_open(self.levels, self.bounds, self.changes, at, factors, lost, target)
        self.levels, self.bounds, self.changes = self.levels[:left], self.bounds[:left], self.changes[:left]

    def close_several(self, outcomes: Sequence[NodeOutcome], grid: LatticeGrid, target: float) -> None:
        """The same of several nodes. One that loses no record tells about itself alone: it is marked, and goes with
        what others close."""
        silent = [one for one in outcomes if one.below is not None and not one.below.any()]
        for outcome in silent[1:]:
            place = lattice_order.place_of(self.levels, np.array(outcome.levels, np.uint16))
            if place >= 0:
                self.bounds[place] = np.inf
        telling = [one for one in outcomes if one.below is None or one.below.any()]
        for outcome in [*silent[:1], *telling]:
            self.close(outcome, grid, target)


class Forecast:
    """About how many records a node loses, from those that were looked at. It decides what is looked at next, nothing
    else: log(lost) = a + b entropy + a part of every level, by least squares."""

    def __init__(self, grid: LatticeGrid, limit: int) -> None:
        self.grid, self.limit = grid, limit
        self.entropy = grid.entropies
        heights = [axis.high + 1 for axis in grid.axes]
        self._at = np.cumsum([2, *heights[:-1]])
        width = 2 + sum(heights)
        self._square, self._right = np.diag([1e-6, 1e-4, *[0.3] * (width - 2)]), np.zeros(width)
        self._columns = np.arange(len(heights))
        self.parts = np.zeros(self.entropy.shape)
        self.base = 0.0
        every = np.array([float((axis.records * axis.costs.suppressed).sum()) for axis in grid.axes])
        # what the column would cost with as many records lost as may be, each as costly as any
        share = limit / grid.records
        self._at_limit = grid.factors(np.maximum(every[:, None] - grid.sums, 0.0) * share)

    def note(self, outcome: NodeOutcome) -> None:
        """A node was looked at; what is far from the limit says little about what is near it."""
        if outcome.lost * 20 < self.limit:
            return
        levels = np.array(outcome.levels)
        row = np.zeros(len(self._right))
        row[0], row[1] = 1.0, self.entropy[self._columns, levels].sum()
        row[self._at + levels] = 1.0
        value, weight = np.log(max(outcome.lost, 1)), 1.0 if outcome.lost < 4 * self.limit else 0.2
        self._square += weight * np.outer(row, row)
        self._right += weight * row * value

    def learn(self) -> None:
        """Fit it to what was noted."""
        found = np.linalg.solve(self._square, self._right)
        self.base = found[0]
        for j, axis in enumerate(self.grid.axes):
            own = found[self._at[j] : self._at[j] + axis.high + 1]
            self.parts[j, : axis.high + 1] = found[1] * self.entropy[j, : axis.high + 1] + own

    def lost(self, levels: Array) -> Array:
        """The records that nodes (in the last axis their levels) are expected to lose."""
        return np.asarray(np.exp(np.minimum(self.base + self.parts[self._columns, levels].sum(axis=-1), 50.0)))

    def needed(self, levels: Array, target: float) -> Array:
        """How many lost records rule nodes out: as many as make one cost the target, or more than the limit. Between
        nothing lost and the limit the logarithm of the product is taken as a line."""
        free, most = (
            np.log(factors)[self._columns, levels].sum(axis=-1) for factors in (self.grid.free_factors, self._at_limit)
        )
        share = np.minimum((np.log(target) - free) / np.maximum(most - free, 1e-12), 1.0)
        return np.asarray(np.where(share < 1, share * self.limit, self.limit + 1.0))

    def promising(self, nodes: OpenNodes) -> Array:
        """The open node that is expected to be the best of those that keep within the limit."""
        grid = self.grid
        factors = grid.free_factors, self._at_limit
        place = lattice_order.most_promising(nodes.levels, self.parts, self.base, *factors, max(self.limit, 1))
        return np.asarray(nodes.levels[place], np.int64)

    def bits(self, levels: Array) -> Array:
        """The entropy of nodes as the sum of their columns': the more, the dearer is a look."""
        return np.asarray(self.entropy[self._columns, levels].sum(axis=-1))

    def worth(self, nodes: OpenNodes) -> Array:
        """How many more open nodes (as a logarithm) a column's next level is above, for what is lost less there, by
        column and level."""
        found = np.zeros(self.parts.shape)
        rises = np.maximum(self.parts[:, :-1] - self.parts[:, 1:], 1e-3)
        for j, rise in enumerate(rises):
            below = np.cumsum(np.bincount(nodes.levels[:, j], minlength=len(found[j]))) + 1e-3
            found[j, :-1] = np.diff(np.log(below)) / rise
        return found

    def choose(self, nodes: OpenNodes, lowest: bool, worth: Array, target: float) -> tuple[Array, float]:
        """The open node (or the one with the lowest bound) whose closing is expected to close the most others for its
        price, and the lost records that this takes. Nodes that tell least are proposed, as looks at what is above them
        are cheap, and others evenly."""
        some = nodes.some(_GUESSED, lowest)
        needed = _MARGIN * self.needed(some, target)
        half = _PROPOSED // 2
        cheap = np.argsort(self.bits(some), kind="stable")[:half]
        places = np.unique(np.append(cheap, np.linspace(0, len(some) - 1, half).astype(np.int64)))
        given = (some[places], needed[places], worth, self.parts, self.base, self.grid.high)
        looks, lost = lattice_order.proposals(*given)
        closed = lattice_order.closed_by(some, needed, looks, lost)
        chosen = int((np.log2(np.maximum(closed, 1)) - _DEARER * self.bits(looks)).argmax())
        return some[places[chosen]], float(needed[places[chosen]])


def close_all(search: LatticeSearch, limit: int, most: int) -> float | None:
    """Close nodes until none can be better; the lowest bound of what is still open (infinite: nothing is).

    None where too many are open to list them."""
    grid = search.grid
    nodes = OpenNodes.under(grid, search.target, most)
    if nodes is None:
        return None
    forecast = Forecast(grid, limit)
    nodes.close_several(list(search.seen.values()), grid, search.target)
    for outcome in search.seen.values():
        forecast.note(outcome)
    _improve(search, nodes, forecast)
    half = search.time_left / 2
    while len(nodes) and not search.late:
        _close_next(search, nodes, forecast, search.time_left < half)
    return nodes.lowest


def _note(search: LatticeSearch, nodes: OpenNodes, forecast: Forecast, outcome: NodeOutcome) -> None:
    nodes.close(outcome, search.grid, search.target)
    forecast.note(outcome)


def _improve(search: LatticeSearch, nodes: OpenNodes, forecast: Forecast) -> None:
    """Look at what promises to be better than the best, as long as that is."""
    missed = 0
    while len(nodes) and missed < _PATIENCE and not search.late:
        forecast.learn()
        best = search.best
        _note(search, nodes, forecast, search.look(forecast.promising(nodes)))
        missed = 0 if search.best is not best else missed + 1


def _close_next(search: LatticeSearch, nodes: OpenNodes, forecast: Forecast, lowest: bool) -> None:
    """Close an open node, by the coarsest above it that is expected to do; else by the next finer. It is the one with
    the lowest bound where time runs short, as that is what the result can promise then."""
    forecast.learn()
    worth = forecast.worth(nodes)
    node, needed = forecast.choose(nodes, lowest, worth, search.target)
    # from the node up to the top: each time the column is raised where that is worth most
    ladder = np.asarray(lattice_order.ladder(node, worth, search.grid.high))
    expected = forecast.lost(ladder)
    step = len(ladder)
    closed = False
    while not closed and not search.late:
        enough = np.flatnonzero(expected[:step] >= needed)
        step = int(enough[-1]) if len(enough) else 0
        outcome = search.look(ladder[step])
        _note(search, nodes, forecast, outcome)
        expected = expected * (max(outcome.lost, 1) / expected[step])
        told = outcome.below
        closed = step == 0 or told is None or product_at(search.grid.factors(told), node) >= search.target


# Proofs for lattices too large to list: that no node is below a target, for higher and higher targets.


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
        if last:  # the next step is longer or shorter by how much more work this one was
            step *= float(np.clip(np.log(_LONGER) / np.log(max(boxes.looks / last, 1.01)), 0.5, 2.0))
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
