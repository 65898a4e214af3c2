"""How many records share a combination, by class sizes alone: Poisson with rates of any smooth distribution."""

from __future__ import annotations

import numpy as np

from shoal.population.base import EstimatorResult, NoEstimate, SampleClasses, around
from shoal.storage import Array

# logs of rates on a grid: from well below one record in the population to well above the largest class looked at
_GRID = 60
_BELOW, _ABOVE = 4.0, 1.5
# classes of so many records and more count as one: about uniques they say nothing more
_MANY = 60
# how smooth the log density of the log rates is: what its second derivative costs, chosen on tables apart from the
# tests'; and a hair of it for its level and slope, without which they are free
_SMOOTH = 1.0
_HAIR = 1e-6
_STEPS = 500


class PoissonMixture:
    """Classes of Poisson size, the log of whose rate has a smooth density, fitted to the class sizes of the sample.

    With h(l) the share of records in classes of rate l, a class of f records is seen with the chance
    h(l) Poisson(f; l) / l over h(l) (1 - exp(-l)) / l. The likelihood of all classes less a penalty for the curvature
    of ln h is maximised. Of the sample's uniques, E[exp(-l N/n)] / E[exp(-l)] are unique among N people. The interval
    comes from the curvature of the penalised likelihood: where classes do not tell the rates, it is wide.

    >>> sample = SampleClasses(np.array([1, 2, 3, 9]), np.array([600, 120, 40, 30]), 5000)
    >>> found = PoissonMixture().find(sample)
    >>> [round(figure, 2) for figure in (found.low, found.uniqueness, found.high, found.match_correct)]
    [0.17, 0.22, 0.27, 0.66]
    """

    name = "poisson-mixture"
    assumes = "a simple random sample, and that rare and frequent combinations pass smoothly into each other"

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The share of population uniques with its interval, and the chance that a match is right."""
        rates, shares, information = _fitted(sample)
        step = sample.people / sample.records
        alone, alone_in_all = shares * np.exp(-rates), shares * np.exp(-rates * step)
        known = sample.uniques / sample.records
        uniqueness = float(known * alone_in_all.sum() / alone.sum())
        if not 0 < uniqueness < 1:
            raise NoEstimate("the sizes of the classes do not say how rare a combination can be")
        # d ln(-ln u) by the logs of the shares
        slope = (alone_in_all / alone_in_all.sum() - alone / alone.sum()) / np.log(uniqueness)
        low, high = around(uniqueness, float(slope @ np.linalg.solve(information, slope)), known)
        unseen = np.maximum(rates * (step - 1), 1e-12)
        right = float((alone * -np.expm1(-unseen) / unseen).sum() / alone.sum())
        return EstimatorResult(uniqueness, right, low, high)

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """It makes its own interval."""
        return None


def _fitted(sample: SampleClasses) -> tuple[Array, Array, Array]:
    """The rates of the grid, the share of records at each, and the information about the logs of the shares."""
    from scipy.optimize import minimize
    from scipy.special import gammainc, gammaln

    sizes = np.minimum(sample.sizes, _MANY).astype(float)
    classes = sample.classes.astype(float)
    logs = np.linspace(-np.log(sample.people / sample.records) - _BELOW, np.log(sizes.max()) + _ABOVE, _GRID)
    rates, step = np.exp(logs), logs[1] - logs[0]
    size = sizes[:, None]
    seen_so = np.exp((size - 1) * logs - rates - gammaln(size + 1))  # Poisson(f; l) / l
    seen_so[sizes == _MANY] = gammainc(_MANY, rates) / rates
    seen = -np.expm1(-rates) / rates
    curvature = np.diff(np.eye(_GRID), 2, axis=0) / step**1.5
    penalty = _SMOOTH * curvature.T @ curvature + _HAIR * np.eye(_GRID)
    total = classes.sum()

    def shares_of(heights: Array) -> Array:
        shares = np.exp(heights - heights.max())
        return np.asarray(shares / shares.sum())

    def unlikely(heights: Array) -> tuple[float, Array]:
        shares = shares_of(heights)
        each, all_seen = np.maximum(seen_so @ shares, 1e-300), seen @ shares
        likelihood = classes @ np.log(each) - total * np.log(all_seen) - heights @ penalty @ heights / 2
        slope = shares * ((classes / each) @ seen_so - total * seen / all_seen) - penalty @ heights
        return -likelihood / total, -slope / total

    start = -((logs - np.log(sizes @ classes / total)) ** 2) / 8
    heights = minimize(unlikely, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS}).x
    shares = shares_of(heights)
    each = np.maximum(seen_so @ shares, 1e-300)
    scores = seen_so * shares / each[:, None] - seen * shares / (seen @ shares)
    return rates, shares, (scores * classes[:, None]).T @ scores + penalty
