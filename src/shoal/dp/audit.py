"""An empirical check that tries to falsify the guarantee: neighbouring tables, many answers, a bound on epsilon.
epsilon.

If answers satisfy (epsilon, delta), then P[event | one table] <= exp(epsilon) P[event | the other] + delta for every
event. Half of the answers choose the event that tells the tables apart best; the other half measures it, with exact
binomial bounds (Clopper and Pearson 1934) on both sides: epsilon >= ln((lower − delta) / upper) with the stated
confidence (Jagielski et al. 2020). A bound above what was declared proves a fault; a bound below proves nothing more
than that this attack did not find one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.dp.answers import Outcome, answer
from shoal.dp.plans import Plan
from shoal.table import Array


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found: what was declared, what is proven to be leaked at least, and whether that is more."""

    epsilon: float
    delta: float
    lower_bound: float
    confidence: float
    runs: int

    @property
    def falsified(self) -> bool:
        """Whether the declared epsilon is proven wrong."""
        return self.lower_bound > self.epsilon


def audit(
    plan: Plan,
    table: pl.DataFrame,
    neighbour: pl.DataFrame,
    runs: int = 2000,
    confidence: float = 0.999,
    number_of: Callable[[Outcome], float] | None = None,
) -> Audit:
    """Ask the same query of two neighbouring tables many times; `number_of` makes one number of an answer.

    For answers under zCDP, whose epsilon is nominal, compare with the epsilon of rho at some delta instead.
    """
    take = number_of or (lambda outcome: float(outcome.answer))
    first = np.array([take(answer(plan, table)) for _ in range(runs)])
    second = np.array([take(answer(plan, neighbour)) for _ in range(runs)])
    delta = float(plan.query.delta)
    bound = epsilon_lower_bound(first, second, delta, confidence)
    return Audit(float(plan.query.epsilon), delta, bound, confidence, runs)


def epsilon_lower_bound(first: Array, second: Array, delta: float = 0.0, confidence: float = 0.999) -> float:
    """The epsilon that two samples of answers prove at least; 0 if they prove none, infinite if no epsilon fits.

    >>> epsilon_lower_bound(np.zeros(2000), np.ones(2000)) > 4, epsilon_lower_bound(np.zeros(2000), np.zeros(2000))
    (True, 0.0)
    """
    half_first, half_second = len(first) // 2, len(second) // 2
    event = _best_event(first[:half_first], second[:half_second], delta)
    alpha = (1 - confidence) / 2
    bounds = []
    for one, other in ((first[half_first:], second[half_second:]), (second[half_second:], first[half_first:])):
        lower = binomial_bound(int(event(one).sum()), len(one), alpha / 2, upper=False)
        upper = binomial_bound(int(event(other).sum()), len(other), alpha / 2, upper=True)
        if lower > delta:
            bounds.append(math.log((lower - delta) / upper) if upper > 0 else math.inf)
    return max(0.0, *bounds, 0.0)


def _best_event(first: Array, second: Array, delta: float) -> Callable[[Array], Array]:
    """At least, at most or exactly some value: whichever tells the two samples apart best."""
    cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 201), method="nearest"))
    events: list[Callable[[Array], Array]] = []
    for cut in cuts:
        events += [_event(np.greater_equal, cut), _event(np.less_equal, cut), _event(np.equal, cut)]

    def strength(event: Callable[[Array], Array]) -> float:
        shares = event(first).mean(), event(second).mean()
        # a tail that was hardly met would measure nothing
        least = 10 / min(len(first), len(second))
        return max(math.log(max(one - delta, 1e-12) / max(other, least)) for one, other in (shares, shares[::-1]))

    return max(events, key=strength)


def _event(compare: Any, cut: float) -> Callable[[Array], Array]:
    return lambda answers: np.asarray(compare(answers, cut))


def binomial_bound(successes: int, trials: int, alpha: float, upper: bool) -> float:
    """The exact one-sided bound of Clopper and Pearson on a probability.

    >>> round(binomial_bound(0, 100, 0.05, upper=True), 4), round(binomial_bound(100, 100, 0.05, upper=False), 4)
    (0.0295, 0.9705)
    """
    if upper and successes == trials:
        return 1.0
    if not upper and successes == 0:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        tail = _at_most(successes, trials, middle) if upper else 1 - _at_most(successes - 1, trials, middle)
        # more successes than seen are likely (upper), or as many as seen are unlikely (lower): the bound is further on
        low, high = (middle, high) if (tail > alpha) == upper else (low, middle)
    return high if upper else low


def _at_most(successes: int, trials: int, probability: float) -> float:
    """P[at most so many successes]."""
    if probability <= 0 or probability >= 1:
        return 1.0 if probability <= 0 or successes >= trials else 0.0
    counts = np.arange(successes + 1)
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, trials + 1)))])
    logs = (
        factorials[trials] - factorials[counts] - factorials[trials - counts]
        + counts * math.log(probability) + (trials - counts) * math.log1p(-probability)
    )  # fmt: skip
    return float(min(np.exp(logs).sum(), 1.0))
