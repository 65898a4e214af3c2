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

from shoal.dp.answers import NoisyAnswer, answer
from shoal.dp.plans import QueryPlan
from shoal.storage import Array


@dataclass(frozen=True)
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
    plan: QueryPlan,
    table: pl.DataFrame,
    neighbour: pl.DataFrame,
    runs: int = 2000,
    confidence: float = 0.999,
    number_of: Callable[[NoisyAnswer], float] | None = None,
    guarantee: tuple[float, float] | None = None,
) -> Audit:
    """Ask the same query of two neighbouring tables many times; `number_of` makes one number of an answer.

    `guarantee` is the epsilon and delta to falsify: those of the query if not given. Under zCDP the epsilon of a query
    is nominal; give one that its rho comes to beside a delta (`mechanisms.epsilon_of`).
    """
    take = number_of or (lambda outcome: float(outcome.answer))
    first = np.array([take(answer(plan, table)) for _ in range(runs)])
    second = np.array([take(answer(plan, neighbour)) for _ in range(runs)])
    epsilon, delta = guarantee or (float(plan.query.epsilon), float(plan.query.delta))
    return Audit(epsilon, delta, epsilon_lower_bound(first, second, delta, confidence), confidence, runs)


def epsilon_lower_bound(first: Array, second: Array, delta: float = 0.0, confidence: float = 0.999) -> float:
    """The epsilon that two samples of answers prove at least; 0 if they prove none, infinite if no epsilon fits.

    >>> epsilon_lower_bound(np.zeros(2000), np.ones(2000)) > 4, epsilon_lower_bound(np.zeros(2000), np.zeros(2000))
    (True, 0.0)
    """
    half_first, half_second = len(first) // 2, len(second) // 2
    alpha = (1 - confidence) / 2
    event = _best_event(first[:half_first], second[:half_second], delta, alpha)
    bounds = []
    for one, other in ((first[half_first:], second[half_second:]), (second[half_second:], first[half_first:])):
        lower = binomial_bound(int(event(one).sum()), len(one), alpha / 2, upper=False)
        upper = binomial_bound(int(event(other).sum()), len(other), alpha / 2, upper=True)
        if lower > delta:
            bounds.append(math.log((lower - delta) / upper) if upper > 0 else math.inf)
    return max(0.0, *bounds, 0.0)


def _best_event(first: Array, second: Array, delta: float, alpha: float) -> Callable[[Array], Array]:
    """At least, at most or exactly some value: whichever promises the largest bound."""
    cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 201), method="nearest"))
    comparisons = (np.greater_equal, np.less_equal, np.equal)
    events = [_event(compare, cut) for cut in cuts for compare in comparisons]
    # what the exact bounds will come to, nearly: normal errors of both shares, and a little for those near zero
    width = math.sqrt(2 * math.log(2 / alpha))

    def promise(event: Callable[[Array], Array]) -> float:
        shares = event(first).mean(), event(second).mean()
        errors = [width * math.sqrt(share * (1 - share) / len(first)) for share in shares]
        least = width**2 / 2 / len(first)
        return max(
            math.log(max(shares[one] - errors[one] - delta, 1e-12) / (shares[other] + errors[other] + least))
            for one, other in ((0, 1), (1, 0))
        )

    return max(events, key=promise)


def _event(compare: Any, cut: float) -> Callable[[Array], Array]:
    return lambda answers: np.asarray(compare(answers, cut))


def binomial_bound(successes: int, trials: int, alpha: float, upper: bool) -> float:
    """The exact one-sided bound of Clopper and Pearson on a probability.

    >>> round(binomial_bound(0, 100, 0.05, upper=True), 4), round(binomial_bound(100, 100, 0.05, upper=False), 4)
    (0.0295, 0.9705)
    """
    from scipy.special import betainccinv, betaincinv

    if successes == (trials if upper else 0):
        return float(upper)
    if upper:
        return float(betainccinv(successes + 1, trials - successes, alpha))
    return float(betaincinv(successes, trials - successes + 1, alpha))
