"""The best node by a measure of class sizes: bounds come from finer nodes, whose classes only join, and from coarser
ones, whose losses stay lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from shoal.anonymization.search.evaluate import Evaluator, Judged, Outcome
from shoal.anonymization.search.grid import Grid
from shoal.anonymization.search.measures import CLASS_MEASURES
from shoal.table import Array


@dataclass(frozen=True)
class ClassBound:
    """What a node tells about others, as figures of which the largest counts.

    `up` of a node holds for all coarser nodes, `down` for all finer ones; a node between has a score of at least
    `least(up, down)`. `k` members at least are in every class that is kept, of `members` in all.
    """

    k: int
    members: int

    def up(self, found: Judged) -> float:
        raise NotImplementedError

    def down(self, found: Judged) -> tuple[float, float]:
        raise NotImplementedError

    def least(self, up: Array, down: Array) -> Array:
        raise NotImplementedError


class DiscernibilityBound(ClassBound):
    """Every record costs the size of its class, which only grows, and at least k; one that is lost costs N.

    With a <= u <= b: sum over records of max(size at a, k), and for those lost at b the difference to N; their classes
    at a are not larger than at b.
    """

    def up(self, found: Judged) -> float:
        """The sum of max(size, k) over all records."""
        sizes = found.sizes.astype(float)
        return float((sizes * np.maximum(sizes, self.k)).sum())

    def down(self, found: Judged) -> tuple[float, float]:
        """What lost records cost more."""
        return float((found.lost * (self.members - np.maximum(found.sizes, self.k).astype(float))).sum()), 0.0

    def least(self, up: Array, down: Array) -> Array:
        """Both together."""
        return np.asarray((np.maximum(up, float(self.k * self.members)) + down[0]) / float(self.members) ** 2)


class ClassSizeBound(ClassBound):
    """How many classes there can be: of a finer node those with k members and more, or joined from small ones, less the
    small ones that a coarser node has lost; and of a coarser node as many as its classes can be split into."""

    def up(self, found: Judged) -> float:
        """Less classes than this, negative so that the largest counts."""
        small = found.sizes < self.k
        return float(-np.count_nonzero(~small) - found.sizes[small].sum() / self.k)

    def down(self, found: Judged) -> tuple[float, float]:
        """Classes that small ones cannot make any more, and (negative) into how many the others can be split."""
        gone = found.sizes[found.sizes < self.k].sum() / self.k
        return float(gone), float(-((found.sizes - found.lost) // self.k).sum())

    def least(self, up: Array, down: Array) -> Array:
        """One more class is that of the suppressed."""
        joined = np.floor(np.minimum(-up, self.members / self.k) - down[0] + 1e-9)
        return np.asarray(1 / (np.maximum(np.minimum(joined, -down[1]), 0) + 1))


BOUNDS = {"discernibility": DiscernibilityBound, "average-class-size": ClassSizeBound}


class ClassLook:
    """Looks at nodes for a measure of class sizes, and keeps what each tells about the others."""

    def __init__(self, evaluate: Evaluator, minimize: str, k: int) -> None:
        self.evaluate, self.limit = evaluate, evaluate.limit
        self._measure: Callable[[Array, int, int], float] = CLASS_MEASURES[minimize]
        self.bound = BOUNDS[minimize](k, evaluate.members)
        grid = evaluate.grid
        self.extents = grid.high - grid.low + 1
        self.low, self.strides = grid.low, strides_of(grid)
        self.known = np.zeros(grid.size, bool)
        self._up = np.full(grid.size, -np.inf)
        # lost members; and what the bound says
        self._down = np.full((3, grid.size), -np.inf)

    def __call__(self, levels: Array) -> Outcome:
        """Look at a node; its product is its score."""
        found = self.evaluate.judged(levels)
        place = int(((levels - self.low) * self.strides).sum())
        self.known[place] = True
        self._up[place] = self.bound.up(found)
        self._down[:, place] = (found.lost.sum(), *self.bound.down(found))
        score = np.inf
        if found.feasible:
            kept = found.sizes[~found.bad]
            score = self._measure(kept, found.suppressed, int(kept.sum()) + found.suppressed)
        return Outcome(tuple(levels.tolist()), found.suppressed, found.feasible, score, int(found.lost.sum()), None)

    def bounds(self) -> tuple[Array, Array]:
        """For every node the least score it can have (infinite: it is not feasible), and the least it suppresses."""
        up = self._spread(self._up)
        lost, *down = (self._spread(of_all[::-1])[::-1] for of_all in self._down)
        # nothing is known before the first look: everything is possible
        least = self.bound.least(up, np.maximum(np.array(down), np.array([[0.0], [-float(self.bound.members)]])))
        return np.where(lost > self.limit, np.inf, least), lost

    def _spread(self, figures: Array) -> Array:
        """The largest figure of all nodes that come before in every column."""
        found = figures.reshape(self.extents)
        for axis in range(len(self.extents)):
            found = np.maximum.accumulate(found, axis=axis)
        return found.reshape(-1)

    def layers(self) -> Iterator[Array]:
        """The nodes by the sum of their levels: the middle sum first, then the middles of what is left."""
        places = np.arange(len(self.known))
        heights = np.zeros(len(places), np.int64)
        for stride, extent in zip(self.strides, self.extents, strict=True):
            heights += places // stride % extent
        spans = [(0, int(heights.max()))]
        for first, last in spans:
            if first <= last:
                middle = (first + last) // 2
                yield np.flatnonzero(heights == middle)
                spans += [(first, middle - 1), (middle + 1, last)]


def strides_of(grid: Grid) -> Array:
    """How far apart nodes lie that differ by one level of a column, where nodes are numbered."""
    extents = grid.high - grid.low + 1
    return np.append(np.cumprod(extents[:0:-1])[::-1], 1)
