"""The proof for lattices too large to keep a bound of every node: the nodes that could still be the best are listed,
and each is closed by as coarse a node as rules it out, which closes many others with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.anonymization.search.evaluate import Outcome
from shoal.anonymization.search.grid import Grid
from shoal.anonymization.search.kernels import product_at
from shoal.compiled import compiled, compiled_inside
from shoal.table import Array

if TYPE_CHECKING:
    from shoal.anonymization.search.optimum import Search

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
    def under(cls, grid: Grid, target: float, most: int) -> OpenNodes | None:
        """All nodes whose levels alone cost less than the target; none if there are more than `most`."""
        found = np.zeros((most, len(grid.axes)), np.uint16)
        bounds, changes = np.zeros(most), np.zeros(most, np.uint16)
        count = _list_open(grid.free_factors, grid.low, grid.high, target, found, bounds, changes)
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

    def close(self, outcome: Outcome, grid: Grid, target: float) -> None:
        """What a node tells about itself and all finer ones, and the best found so far about all."""
        at = np.array(outcome.levels, np.uint16)
        lost = outcome.below is None
        factors = grid.free_factors if outcome.below is None else grid.factors(outcome.below)
        left = _close_open(self.levels, self.bounds, self.changes, at, factors, lost, target)
        self.levels, self.bounds, self.changes = self.levels[:left], self.bounds[:left], self.changes[:left]

    def close_several(self, outcomes: Sequence[Outcome], grid: Grid, target: float) -> None:
        """The same of several nodes. One that loses no record tells about itself alone: it is marked, and goes with
        what others close."""
        silent = [one for one in outcomes if one.below is not None and not one.below.any()]
        for outcome in silent[1:]:
            place = _place_of(self.levels, np.array(outcome.levels, np.uint16))
            if place >= 0:
                self.bounds[place] = np.inf
        telling = [one for one in outcomes if one.below is None or one.below.any()]
        for outcome in [*silent[:1], *telling]:
            self.close(outcome, grid, target)


class Forecast:
    """About how many records a node loses, from those that were looked at. It decides what is looked at next, nothing
    else: log(lost) = a + b entropy + a part of every level, by least squares."""

    def __init__(self, grid: Grid, limit: int) -> None:
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

    def note(self, outcome: Outcome) -> None:
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
        place = _most_promising(nodes.levels, self.parts, self.base, *factors, max(self.limit, 1))
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
        return _ladder(levels, worth, self.grid.high)

    def choose(self, nodes: OpenNodes, worth: Array, target: float) -> tuple[Array, float]:
        """The open node whose closing is expected to close the most others for its price, and the lost records that
        this takes. Nodes that tell least are proposed, as looks at what is above them are cheap, and others evenly."""
        some = nodes.some(_GUESSED)
        needed = _MARGIN * self.needed(some, target)
        half = _PROPOSED // 2
        cheap = np.argsort(self.bits(some), kind="stable")[:half]
        places = np.unique(np.append(cheap, np.linspace(0, len(some) - 1, half).astype(np.int64)))
        looks, lost = _proposals(some[places], needed[places], worth, self.parts, self.base, self.grid.high)
        closed = _closed_by(some, needed, looks, lost)
        chosen = int((np.log2(np.maximum(closed, 1)) - _DEARER * self.bits(looks)).argmax())
        return some[places[chosen]], float(needed[places[chosen]])


def close_all(search: Search, limit: int, most: int) -> float | None:
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


def _note(search: Search, nodes: OpenNodes, forecast: Forecast, outcome: Outcome) -> None:
    nodes.close(outcome, search.grid, search.target)
    forecast.note(outcome)


def _improve(search: Search, nodes: OpenNodes, forecast: Forecast) -> None:
    """Look at what promises to be better than the best, as long as that is."""
    missed = 0
    while len(nodes) and missed < _PATIENCE and not search.late:
        forecast.learn()
        best = search.best
        _note(search, nodes, forecast, search.look(forecast.promising(nodes)))
        missed = 0 if search.best is not best else missed + 1


def _gains(grid: Grid, nodes: OpenNodes) -> Array:
    """How many more open nodes (as a logarithm) a column's next level is above, by column and level."""
    found = np.zeros((len(grid.axes), grid.sums.shape[1] - 1))
    for j in range(len(found)):
        below = np.cumsum(np.bincount(nodes.levels[:, j], minlength=grid.sums.shape[1])) + 1e-3
        found[j] = np.diff(np.log(below))
    return found


def _close_next(search: Search, nodes: OpenNodes, forecast: Forecast, lowest: bool) -> None:
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


@compiled
def _list_open(
    factors: Array, low: Array, high: Array, target: float, found: Array, bounds: Array, changes: Array
) -> int:
    """List the nodes whose product is below the target, depth first; how many there are, or one more than fit."""
    columns = len(low)
    at = low.copy()
    prefix = np.ones(columns + 1)
    count = 0
    j = 0
    changed = 0
    while j >= 0:
        # factors rise with the level: what is too much stays so
        if at[j] > high[j] or prefix[j] * factors[j, at[j]] >= target:
            at[j] = low[j]
            j -= 1
            if j >= 0:
                at[j] += 1
                changed = min(changed, j)
            continue
        prefix[j + 1] = prefix[j] * factors[j, at[j]]
        if j < columns - 1:
            j += 1
            continue
        if count == len(found):
            return count + 1
        for i in range(columns):
            found[count, i] = at[i]
        bounds[count] = prefix[columns]
        changes[count] = changed
        changed = j
        count += 1
        at[j] += 1
    return count


@compiled
def _close_open(
    levels: Array, bounds: Array, changes: Array, at: Array, factors: Array, lost: bool, target: float
) -> int:
    """Raise the bounds of open nodes at or below a node, which is closed itself, and move those that stay open to the
    front; how many they are. `lost`: none of them is feasible. What neighbours have in common is worked out once."""
    left = 0
    columns = len(at)
    prefix = np.ones(columns + 1)
    below = columns  # so many columns are at or below the node's before one is above it
    changed = columns  # the first column that changed since the last node that stays
    for i in range(len(bounds)):
        bound = bounds[i]
        first = changes[i]
        changed = min(changed, first)
        if first <= below:
            below = first
            while below < columns and levels[i, below] <= at[below]:
                prefix[below + 1] = prefix[below] * factors[below, levels[i, below]]
                below += 1
        if below == columns:
            if lost:
                continue
            j = columns - 1
            while j >= 0 and levels[i, j] == at[j]:
                j -= 1
            if j < 0:
                continue
            bound = max(bound, prefix[columns])
        if bound < target:
            if left < i:
                for j in range(columns):
                    levels[left, j] = levels[i, j]
            bounds[left] = bound
            changes[left] = changed
            changed = columns
            left += 1
    return left


@compiled
def _place_of(levels: Array, at: Array) -> int:
    """Where a node stands among nodes in the order of their levels; -1 if it is not there."""
    first, last = 0, len(levels)
    while first < last:
        middle = (first + last) // 2
        j = 0
        while j < len(at) and levels[middle, j] == at[j]:
            j += 1
        if j == len(at):
            return middle
        if levels[middle, j] < at[j]:
            first = middle + 1
        else:
            last = middle
    return -1


@compiled
def _most_promising(levels: Array, parts: Array, base: float, free: Array, at_limit: Array, limit: float) -> int:
    """The node with the lowest product that is expected, between that with nothing lost and that at the limit."""
    best = np.inf
    place = 0
    for i in range(len(levels)):
        lost = base
        product = 1.0
        most = 1.0
        for j in range(levels.shape[1]):
            lost += parts[j, levels[i, j]]
            product *= free[j, levels[i, j]]
            most *= at_limit[j, levels[i, j]]
        share = np.exp(min(lost, 50.0)) / limit
        if share <= 1 and product < best:
            product *= (most / product) ** share
            if product < best:
                best = product
                place = i
    return place


@compiled_inside
def _raised(at: Array, worth: Array, high: Array) -> int:
    """The column that is worth most to raise; -1 at the top."""
    best = -1
    for j in range(len(at)):
        if at[j] < high[j] and (best < 0 or worth[j, at[j]] > worth[best, at[best]]):
            best = j
    return best


@compiled
def _ladder(levels: Array, worth: Array, high: Array) -> Array:
    """Nodes from one up to the top, in each row one level higher."""
    columns = len(levels)
    steps = 1
    for j in range(columns):
        steps += high[j] - levels[j]
    found = np.zeros((steps, columns), np.int64)
    at = levels.copy()
    for i in range(steps):
        for j in range(columns):
            found[i, j] = at[j]
        if i < steps - 1:
            at[_raised(at, worth, high)] += 1
    return found


@compiled
def _proposals(levels: Array, needed: Array, worth: Array, parts: Array, base: float, high: Array) -> Any:
    """For each node the coarsest on its ladder that is expected to lose enough, and what that loses; else itself."""
    found = levels.copy()
    expected = needed.copy()
    at = high.copy()
    for i in range(len(levels)):
        for j in range(len(at)):
            at[j] = levels[i, j]
        column = 0
        while column >= 0:
            lost = base
            for j in range(len(at)):
                lost += parts[j, at[j]]
            lost = np.exp(min(lost, 50.0))
            if lost >= needed[i]:
                for j in range(len(at)):
                    found[i, j] = at[j]
                expected[i] = lost
            column = _raised(at, worth, high)
            if column >= 0:
                at[column] += 1
    return found, expected


@compiled
def _closed_by(levels: Array, needed: Array, looks: Array, lost: Array) -> Array:
    """How many of some nodes are below each look and closed by what it is expected to lose."""
    found = np.zeros(len(looks), np.int64)
    for i in range(len(looks)):
        for t in range(len(levels)):
            if needed[t] > lost[i]:
                continue
            below = True
            for j in range(levels.shape[1]):
                if levels[t, j] > looks[i, j]:
                    below = False
                    break
            if below:
                found[i] += 1
    return found
