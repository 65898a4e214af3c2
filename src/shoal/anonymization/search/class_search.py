"""The best node by a measure of class sizes: bounds come from finer nodes, whose classes only join, and from coarser
ones, whose losses stay lost."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from shoal.anonymization.search import class_kernels
from shoal.anonymization.search.evaluate import ClassSums, Evaluator, Judged, Outcome
from shoal.anonymization.search.grid import Grid
from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.utility.class_measures import average_of, discernibility_of

# scores that differ by less are the same score
SAME = 1e-12


class Figures(NamedTuple):
    """What a node tells about others, as figures of which the largest counts: `up` about all coarser nodes, the others
    about all finer ones, which lose so many members at least."""

    up: float
    lost: float
    first: float
    second: float


@dataclass(frozen=True)
class ClassBound:
    """What a node tells about others. `k` members at least are in every class that is kept, of `members` in all.

    A node between two others has a score of at least what `class_kernels` makes of the `up` of the finer and
    the other figures of the coarser one.
    """

    measure: ClassVar[int]
    k: int
    members: int

    def of_classes(self, found: Judged) -> Figures:
        """The figures of a node."""
        raise NotImplementedError

    def of_sums(self, sums: ClassSums) -> Figures:
        """The same where what is lost are all classes below k."""
        raise NotImplementedError

    def score(self, sums: ClassSums) -> float:
        """The score of a node by its classes that are kept."""
        raise NotImplementedError

    def closing(self, target: float, limit: int) -> tuple[float, float]:
        """About how many lost members close all finer nodes, and the `up` that closes all coarser ones."""
        raise NotImplementedError

    def logarithm(self, up: float) -> float:
        """A figure about coarser nodes on a scale on which columns add up."""
        raise NotImplementedError

    def expected(self, logarithm: Array, lost: Array) -> Array:
        """About the score of nodes with such figures."""
        raise NotImplementedError


class DiscernibilityBound(ClassBound):
    """Every record costs the size of its class, which only grows, and at least k; one that is lost costs N.

    With a <= u <= b: sum over records of max(size at a, k), and for those lost at b the difference to N; their classes
    at a are not larger than at b.
    """

    measure = class_kernels.DISCERNIBILITY

    def of_classes(self, found: Judged) -> Figures:
        """The sum of max(size, k) over all records, and what lost ones cost more."""
        sizes = found.sizes.astype(float)
        costs = np.maximum(sizes, self.k)
        more = (found.lost * (self.members - costs)).sum()
        return Figures(float((sizes * costs).sum()), float(found.lost.sum()), float(more), 0.0)

    def of_sums(self, sums: ClassSums) -> Figures:
        up, lost = sums.squares + float(self.k * sums.small), float(sums.small)
        return Figures(up, lost, lost * (self.members - self.k), 0.0)

    def score(self, sums: ClassSums) -> float:
        return discernibility_of(sums.squares, sums.small, self.members)

    def closing(self, target: float, limit: int) -> tuple[float, float]:
        least = target * self.members**2
        return min(limit + 1.0, max(least / self.members - self.k, 0.0)), np.log(least)

    def logarithm(self, up: float) -> float:
        return float(np.log(max(up, 1.0)))

    def expected(self, logarithm: Array, lost: Array) -> Array:
        return np.asarray(np.exp(np.minimum(logarithm, 300.0)) / self.members**2 + lost / self.members)


class ClassSizeBound(ClassBound):
    """How many classes there can be: of a finer node those with k members and more, or joined from small ones, less the
    small ones that a coarser node has lost; and of a coarser node as many as its classes can be split into."""

    measure = class_kernels.AVERAGE_CLASS_SIZE

    def of_classes(self, found: Judged) -> Figures:
        """Less classes than this (negative so that the largest counts); classes that small ones cannot make any more,
        and (negative) into how many the others can be split."""
        small = found.sizes < self.k
        gone = found.sizes[small].sum() / self.k
        split = -((found.sizes - found.lost) // self.k).sum()
        return Figures(-np.count_nonzero(~small) - gone, float(found.lost.sum()), gone, float(split))

    def of_sums(self, sums: ClassSums) -> Figures:
        gone = sums.small / self.k
        return Figures(-sums.enough - gone, float(sums.small), gone, float(-sums.parts))

    def score(self, sums: ClassSums) -> float:
        return average_of(sums.enough, sums.small, self.members)

    def closing(self, target: float, limit: int) -> tuple[float, float]:
        return limit + 1.0, self.logarithm(1 - 1 / target)

    def logarithm(self, up: float) -> float:
        return float(-np.log(max(-up, 0.5)))

    def expected(self, logarithm: Array, lost: Array) -> Array:
        return np.asarray(1 / (np.exp(np.minimum(-logarithm, 300.0)) + 1))


BOUNDS: dict[str, type[ClassBound]] = {"discernibility": DiscernibilityBound, "average-class-size": ClassSizeBound}


class ClassLook:
    """Looks at nodes for a measure of class sizes, and keeps what each tells about the others."""

    def __init__(self, evaluate: Evaluator, minimize: str, k: int) -> None:
        self.evaluate, self.limit = evaluate, evaluate.limit
        self.bound = BOUNDS[minimize](k, evaluate.members)
        grid = evaluate.grid
        self.extents = grid.high - grid.low + 1
        self.low, self.strides = grid.low, strides_of(grid)
        self.is_open = np.ones(grid.size, bool)
        # the largest figures of finer nodes (the first row) and of coarser ones; at first everything is possible
        self.known = np.tile([[-np.inf], [0.0], [0.0], [-float(evaluate.members)]], grid.size)
        self._rule = np.array([self.limit, np.inf, np.inf, np.inf, self.bound.measure, k, evaluate.members])
        self.figures: dict[tuple[int, ...], Figures] = {}

    def __call__(self, levels: Array) -> Outcome:
        """Look at a node; its product is its score."""
        sums = self.evaluate.class_sums(levels, self.bound.k)
        if sums is not None:
            figures, suppressed = self.bound.of_sums(sums), sums.small
            feasible = suppressed <= self.limit and sums.enough > 0
        else:
            found = self.evaluate.judged(levels)
            figures, suppressed, feasible = self.bound.of_classes(found), found.suppressed, found.feasible
            kept = found.sizes[~found.bad]
            sums = ClassSums(len(kept), float((kept.astype(float) ** 2).sum()), 0, suppressed)
        key = tuple(levels.tolist())
        self.figures[key] = figures
        place = (np.array(figures), self.extents, self.strides, self.known, self._rule, self.is_open)
        class_kernels.note_look(levels - self.low, *place)
        score = self.bound.score(sums) if feasible else np.inf
        return Outcome(key, suppressed, feasible, score, int(figures.lost), None)

    def found(self, best: Outcome) -> None:
        """Close what cannot be better than the best found; a tie is decided by fewer suppressed records."""
        self._rule[1:4] = best.product * (1 - SAME), best.product * (1 + SAME), best.suppressed
        class_kernels.close_all(self.known, self._rule, self.is_open)

    def least_open(self) -> float:
        """What no node can go below that may still be the best; infinite if there is none."""
        return class_kernels.lowest_open(self.known, self._rule, self.is_open)


def strides_of(grid: Grid) -> Array:
    """How far apart nodes lie that differ by one level of a column, where nodes are numbered."""
    extents = grid.high - grid.low + 1
    return np.append(np.cumprod(extents[:0:-1])[::-1], 1)
