"""Which node to look at next for a measure of class sizes: the one that is expected to close the most others."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymization.search import class_kernels
from shoal.anonymization.search.class_search import ClassLook
from shoal.table import Array

if TYPE_CHECKING:
    from shoal.anonymization.search.optimum import Search

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
        found = np.array([(np.log(figures.lost + 1), look.bound.logarithm(figures.up)) for _, figures in new])
        class_kernels.note_figures(
            which, found.reshape(-1, 2), self.needed, self._parts, self._square, self._right, self._errors
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

    def __init__(self, search: Search, look: ClassLook) -> None:
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
                place = (look.extents, look.strides, look.is_open, chances, scores, heap)
                count = class_kernels.order_open(forecast.learn(), forecast.needed, forecast.spread, *place)
                due = max(len(seen) + _LOOKS, int(len(seen) * _MORE))
            ordered = (heap, count, scores, chances, look.extents, look.strides, look.is_open)
            count = class_kernels.next_look(*ordered, levels, _HOLDS)
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
