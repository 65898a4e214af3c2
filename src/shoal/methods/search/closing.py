"""The proof for lattices too large to keep a bound of every node: the nodes that could still be the best are listed,
and each is closed by as coarse a node as rules it out, which closes many others with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from shoal.kernels import lattice_order
from shoal.kernels.lattice_bounds import product_at
from shoal.methods.search.evaluate import NodeOutcome
from shoal.methods.search.grid import LatticeGrid
from shoal.storage import Array

if TYPE_CHECKING:
    from shoal.methods.search.optimum import LatticeSearch


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

    def lowest_first(self) -> OpenNodes:
        """The one that may be the best of all, alone."""
        place = self.bounds.argmin()
        return OpenNodes(self.levels[place : place + 1], self.bounds[place : place + 1], np.zeros(1, np.uint16))

    def some(self, most: int) -> Array:
        """The levels of so many of them at most, evenly chosen."""
        return self.levels[:: -(-len(self) // most)].astype(np.int64)

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

    def worth(self, gains: Array) -> Array:
        """What is gained for what is lost less where a column is raised, by column and level."""
        rises = np.maximum(self.parts[:, :-1] - self.parts[:, 1:], 1e-3)
        return np.append(gains / rises, np.zeros((len(gains), 1)), axis=1)

    def ladder(self, levels: Array, worth: Array) -> Array:
        """Nodes from one up to the top: each time the column is raised where that is worth most."""
        return np.asarray(lattice_order.ladder(levels, worth, self.grid.high))

    def choose(self, nodes: OpenNodes, worth: Array, target: float) -> tuple[Array, float]:
        """The open node whose closing is expected to close the most others for its price, and the lost records that
        this takes. Nodes that tell least are proposed, as looks at what is above them are cheap, and others evenly."""
        some = nodes.some(_GUESSED)
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


def _gains(grid: LatticeGrid, nodes: OpenNodes) -> Array:
    """How many more open nodes (as a logarithm) a column's next level is above, by column and level."""
    found = np.zeros((len(grid.axes), grid.sums.shape[1] - 1))
    for j in range(len(found)):
        below = np.cumsum(np.bincount(nodes.levels[:, j], minlength=grid.sums.shape[1])) + 1e-3
        found[j] = np.diff(np.log(below))
    return found


def _close_next(search: LatticeSearch, nodes: OpenNodes, forecast: Forecast, lowest: bool) -> None:
    """Close an open node, by the coarsest above it that is expected to do; else by the next finer. It is the one with
    the lowest bound where time runs short, as that is what the result can promise then."""
    forecast.learn()
    worth = forecast.worth(_gains(search.grid, nodes))
    node, needed = forecast.choose(nodes.lowest_first() if lowest else nodes, worth, search.target)
    ladder = forecast.ladder(node, worth)
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
