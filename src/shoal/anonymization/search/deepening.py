"""Proofs for lattices too large to list: that no node is below a target, for higher and higher targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.anonymization.search.boxes import Boxes
from shoal.anonymization.search.evaluate import Evaluator
from shoal.anonymization.search.narrowing import DONE, OFFERED
from shoal.models import KAnonymity

if TYPE_CHECKING:
    from shoal.anonymization.search.optimum import Search

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


def boxes_for(evaluate: Evaluator) -> Boxes | None:
    """The boxes of a lattice whose classes must have k members, whatever else they must have; else none.

    What breaks k-anonymity alone is no solution, so a bound for it is one for all models together.
    """
    least = [model.k for model in evaluate.models if isinstance(model, KAnonymity)]
    # of persons and of estimated people, classes are not counted by the records of their tuples
    if not least or evaluate.sample is not None or type(evaluate) is not Evaluator:
        return None
    if len(evaluate.grid.tuples) > _MOST_TUPLES:
        return None
    return Boxes(evaluate.grid, max(least), evaluate.limit)


def raise_bound(search: Search, boxes: Boxes) -> float:
    """Prove higher and higher targets until none can be better than the best; the product that no node is below
    (infinite: no node is better). A target that was not finished in time counts as far as the boxes left say."""
    known = float(np.log(search.grid.free_factors[np.arange(len(search.grid.low)), search.grid.low]).sum())
    step, last = (_goal(search) - known) / _STEPS, 0
    target = known
    while not search.late:
        # what would leave less than half a step is taken with it
        target = known + step if known + 1.5 * step < _goal(search) else _goal(search)
        if not _prove(search, boxes, target):
            found = max(known, min(target, _goal(search), boxes.least_open()))
            return float(np.exp(found - _ROUNDING))
        known = min(target, _goal(search))
        if target >= _goal(search):
            return np.inf
        step *= _stretch(boxes.looks, last)
        last = boxes.looks
    return float(np.exp(known - _ROUNDING))


def _goal(search: Search) -> float:
    """The logarithm of the product that a node must stay below to be better than the best found; without one, what
    none is above."""
    if search.best is not None:
        return float(np.log(search.target))
    base, scale, weight, _ = search.grid.scales
    most = np.array([float((axis.records * axis.costs.suppressed).sum()) for axis in search.grid.axes])
    part = np.maximum(np.divide(most - base, scale, out=np.zeros(len(base)), where=scale > 0), 0.0)
    return float((weight * (np.log1p(part) if search.grid.measure.geometric else part)).sum()) + 1.0


def _stretch(looks: int, last: int) -> float:
    """How much longer the next step should be than the last one, by how much more work that was."""
    if not last:
        return 1.0
    return float(np.clip(np.log(_LONGER) / np.log(max(looks / last, 1.01)), 0.5, 2.0))


def _prove(search: Search, boxes: Boxes, target: float) -> bool:
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
