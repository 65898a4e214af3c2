"""The best node by a measure of class sizes: bounds come from finer nodes, whose classes only join, and from coarser
ones, whose losses stay lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from shoal.kernels import lattice_order
from shoal.methods.search.evaluate import ClassSums, Evaluator, NodeClasses, NodeOutcome
from shoal.methods.search.grid import LatticeGrid
from shoal.storage import Array
from shoal.utility.cost import average_class_size, discernibility

if TYPE_CHECKING:
    from shoal.methods.search.optimum import LatticeSearch


# scores that differ by less are the same score
SAME = 1e-12


class NodeFigures(NamedTuple):
    """What a node tells about others, as figures of which the largest counts: `up` about all coarser nodes, the others
    about all finer ones, which lose so many members at least."""

    up: float
    lost: float
    first: float
    second: float


@dataclass(frozen=True)
class DiscernibilityBound:
    """What a node tells about others: every record costs the size of its class, which only grows, and at least `k`
    (the least members of a class that is kept); one that is lost costs N, the `members` in all.

    With a <= u <= b: sum over records of max(size at a, k), and for those lost at b the difference to N; their classes
    at a are not larger than at b. So a node between two others has a score of at least what `lattice_order` makes of
    the `up` of the finer and the other figures of the coarser one.
    """

    k: int
    members: int
    measure: ClassVar[int] = lattice_order.DISCERNIBILITY

    def of_classes(self, found: NodeClasses) -> NodeFigures:
        """The sum of max(size, k) over all records, and what lost ones cost more."""
        sizes = found.sizes.astype(float)
        costs = np.maximum(sizes, self.k)
        more = (found.lost * (self.members - costs)).sum()
        return NodeFigures(float((sizes * costs).sum()), float(found.lost.sum()), float(more), 0.0)

    def of_sums(self, sums: ClassSums) -> NodeFigures:
        """The same where what is lost are all classes below k."""
        up, lost = sums.squares + float(self.k * sums.small), float(sums.small)
        return NodeFigures(up, lost, lost * (self.members - self.k), 0.0)

    def score(self, sums: ClassSums) -> float:
        """The score of a node by its classes that are kept."""
        return discernibility(sums.squares, sums.small, self.members)

    def closing(self, target: float, limit: int) -> tuple[float, float]:
        """About how many lost members close all finer nodes, and the `up` that closes all coarser ones."""
        least = target * self.members**2
        return min(limit + 1.0, max(least / self.members - self.k, 0.0)), np.log(least)

    def logarithm(self, up: float) -> float:
        """A figure about coarser nodes on a scale on which columns add up."""
        return float(np.log(max(up, 1.0)))

    def expected(self, logarithm: Array, lost: Array) -> Array:
        """About the score of nodes with such figures."""
        return np.asarray(np.exp(np.minimum(logarithm, 300.0)) / self.members**2 + lost / self.members)


@dataclass(frozen=True)
class ClassSizeBound:
    """The same by how many classes there can be: of a finer node those with k members and more, or joined from small
    ones, less the small ones that a coarser node has lost; of a coarser node as many as its classes can be split into.
    """

    k: int
    members: int
    measure: ClassVar[int] = lattice_order.AVERAGE_CLASS_SIZE

    def of_classes(self, found: NodeClasses) -> NodeFigures:
        """Less classes than this (negative so that the largest counts); classes that small ones cannot make any more,
        and (negative) into how many the others can be split."""
        small = found.sizes < self.k
        gone = found.sizes[small].sum() / self.k
        split = -((found.sizes - found.lost) // self.k).sum()
        return NodeFigures(-np.count_nonzero(~small) - gone, float(found.lost.sum()), gone, float(split))

    def of_sums(self, sums: ClassSums) -> NodeFigures:
        gone = sums.small / self.k
        return NodeFigures(-sums.enough - gone, float(sums.small), gone, float(-sums.parts))

    def score(self, sums: ClassSums) -> float:
        return average_class_size(sums.enough, sums.small, self.members)

    def closing(self, target: float, limit: int) -> tuple[float, float]:
        return limit + 1.0, self.logarithm(1 - 1 / target)

    def logarithm(self, up: float) -> float:
        return float(-np.log(max(-up, 0.5)))

    def expected(self, logarithm: Array, lost: Array) -> Array:
        return np.asarray(1 / (np.exp(np.minimum(-logarithm, 300.0)) + 1))


ClassBound = DiscernibilityBound | ClassSizeBound
BOUNDS: dict[str, type[ClassBound]] = {"discernibility": DiscernibilityBound, "average-class-size": ClassSizeBound}


class ScoreLook:
    """Looks at nodes for a measure of class sizes; the product of a node is its score."""

    def __init__(self, evaluate: Evaluator, minimize: str, k: int) -> None:
        self.evaluate, self.limit = evaluate, evaluate.limit
        self.bound: ClassBound = BOUNDS[minimize](k, evaluate.members)

    def __call__(self, levels: Array) -> NodeOutcome:
        """Look at a node."""
        sums = self.evaluate.class_sums(levels, self.bound.k)
        if sums is not None:
            figures, suppressed = self.bound.of_sums(sums), sums.small
            feasible = suppressed <= self.limit and sums.enough > 0
        else:
            classes = self.evaluate.judged(levels)
            figures, suppressed, feasible = self.bound.of_classes(classes), classes.suppressed, classes.feasible
            kept = classes.sizes[~classes.bad]
            sums = ClassSums(len(kept), float((kept.astype(float) ** 2).sum()), 0, suppressed)
        self.note(levels, figures)
        score = self.bound.score(sums) if feasible else np.inf
        return NodeOutcome(tuple(levels.tolist()), suppressed, feasible, score, int(figures.lost), None)

    def note(self, levels: Array, figures: NodeFigures) -> None:
        """What a node tells about others is not kept."""


class ClassLook(ScoreLook):
    """The same, and keeps for every node what the others tell about it."""

    def __init__(self, evaluate: Evaluator, minimize: str, k: int) -> None:
        super().__init__(evaluate, minimize, k)
        grid = evaluate.grid
        self.extents = grid.high - grid.low + 1
        self.low, self.strides = grid.low, strides_of(grid)
        self.is_open = np.ones(grid.size, bool)
        # the largest figures of finer nodes (the first row) and of coarser ones; at first everything is possible
        self.known = np.tile([[-np.inf], [0.0], [0.0], [-float(evaluate.members)]], grid.size)
        self._rule = np.array([self.limit, np.inf, np.inf, np.inf, self.bound.measure, k, evaluate.members])
        self.bounds = lattice_order.ClassBounds(self.known, self._rule, self.is_open, self.extents, self.strides)
        self.figures: dict[tuple[int, ...], NodeFigures] = {}

    def note(self, levels: Array, figures: NodeFigures) -> None:
        """Tell the others what a node says about them."""
        self.figures[tuple(levels.tolist())] = figures
        lattice_order.note_look(self.bounds, levels - self.low, np.array(figures))

    def found(self, best: NodeOutcome) -> None:
        """Close what cannot be better than the best found; a tie is decided by fewer suppressed records."""
        self._rule[1:4] = best.product * (1 - SAME), best.product * (1 + SAME), best.suppressed
        lattice_order.close_all(self.bounds)

    def least_open(self) -> float:
        """What no node can go below that may still be the best; infinite if there is none."""
        return float(lattice_order.lowest_open(self.bounds))


def strides_of(grid: LatticeGrid) -> Array:
    """How far apart nodes lie that differ by one level of a column, where nodes are numbered."""
    extents = grid.high - grid.low + 1
    return np.append(np.cumprod(extents[:0:-1])[::-1], 1)


# looks in a row that improve nothing before the search for a good start ends
_PATIENCE = 6
# a score from before holds if it is at least this share of itself when it is counted again
_HOLDS = 0.8
# the forecast is made anew after so many looks, and when these are so much more than before
_LOOKS, _MORE = 8, 1.05


class ClassForecast:
    """About how many members a node loses, and what it tells about coarser ones, from those that were looked at. It
    decides what is looked at next, nothing else: both as logarithms, the sum of a part for every level of a column, by
    least squares in which what is near to deciding anything counts most."""

    def __init__(self, look: ClassLook) -> None:
        self.look = look
        self._at = np.cumsum([1, *look.extents[:-1]])
        width = 1 + int(look.extents.sum())
        self._square = np.tile(np.diag([1e-6, *[0.1] * (width - 1)]), (2, 1, 1))
        self._right = np.zeros((2, width))
        self._parts = np.zeros((2, width))
        # squares of errors and their number, which what comes later outweighs
        self._errors = np.ones((2, 2))
        self._noted = 0
        self.needed = np.array([np.log(look.limit + 2.0), np.inf])

    def aim(self, score: float) -> None:
        """A better node was found: less is needed to rule others out."""
        lost, up = self.look.bound.closing(score, self.look.limit)
        self.needed = np.array([np.log(lost + 1), up])

    def learn(self) -> Array:
        """Fit it to the nodes that were looked at: both figures of every node."""
        look = self.look
        new = list(islice(look.figures.items(), self._noted, None))
        self._noted += len(new)
        which = np.array([[0, *levels] for levels, _ in new], np.int64).reshape(-1, 1 + len(self._at))
        which[:, 1:] += self._at - look.low
        logarithms = np.array([(np.log(figures.lost + 1), look.bound.logarithm(figures.up)) for _, figures in new])
        lattice_order.note_figures(
            which, logarithms.reshape(-1, 2), self.needed, self._parts, self._square, self._right, self._errors
        )
        self._parts = np.linalg.solve(self._square, self._right[:, :, None])[:, :, 0].copy()
        forecast = self._parts[:, :1]
        for at, extent in zip(self._at, look.extents, strict=True):
            forecast = (forecast[:, :, None] + self._parts[:, None, at : at + extent]).reshape(2, -1)
        return forecast

    @property
    def spread(self) -> Array:
        """How far off the forecast is."""
        return np.asarray(np.maximum(1.3 * np.sqrt(self._errors[0] / self._errors[1]), 0.05))


class ClassOrder:
    """Looks at nodes until none is left that could be better than the best found."""

    def __init__(self, search: LatticeSearch, look: ClassLook) -> None:
        self.search, self.look = search, look
        self.forecast = ClassForecast(look)
        self._aim()

    def run(self) -> bool:
        """Whether there was time."""
        self._improve()
        look, forecast, seen = self.look, self.forecast, self.search.seen
        levels, scores = np.zeros_like(look.extents), np.zeros(len(look.is_open))
        chances, heap = np.zeros((2, len(scores))), np.zeros(len(scores), np.int64)
        count = due = 0
        while True:
            if len(seen) >= due:
                given = (look.bounds, forecast.learn(), forecast.needed, forecast.spread)
                count = lattice_order.order_open(*given, chances, scores, heap)
                due = max(len(seen) + _LOOKS, int(len(seen) * _MORE))
            count = lattice_order.next_look(look.bounds, heap, count, scores, chances, levels, _HOLDS)
            if not count:
                return True
            if self.search.late:
                return False
            self._look(look.low + levels)

    def _look(self, levels: Array) -> bool:
        """Look at a node; whether it is better than the best before."""
        best = self.search.best
        self.search.look(levels)
        if self.search.best is best:
            return False
        self._aim()
        return True

    def _aim(self) -> None:
        best = self.search.best
        if best is not None:
            self.look.found(best)
            self.forecast.aim(best.product)

    def _improve(self) -> None:
        """Look at what promises to be better than the best, as long as that is."""
        look, missed = self.look, 0
        while missed < _PATIENCE and not self.search.late:
            logarithm_lost, logarithm_up = self.forecast.learn()
            lost = np.exp(np.minimum(logarithm_lost, 50.0)) - 1
            promises = np.where(look.is_open & (lost <= look.limit), look.bound.expected(logarithm_up, lost), np.inf)
            place = int(promises.argmin())
            if not np.isfinite(promises[place]):
                return
            better = self._look(look.low + place // look.strides % look.extents)
            missed = 0 if better else missed + 1
