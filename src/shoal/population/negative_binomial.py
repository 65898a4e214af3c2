"""The slide negative binomial: each class of the population has one person and a negative binomial number more."""

from __future__ import annotations

import numpy as np

from shoal.population.base import Found, NoEstimate, SampleClasses
from shoal.table import Array

# where the parameter b is looked for, and how often an interval with a root is halved
_GRID = 1 / (1 + np.exp(-np.linspace(-16, 16, 257)))
_HALVINGS = 50


class SlideNegativeBinomial:
    """F = 1 + X, X negative binomial (a, b), K classes (Chen and Keller-McNulty 1998); population uniques are K b^a.

    With d = (1-b)(1-p) and G = (b / (1-d))^a, classes of one and of two in the sample are expected to be
    K p G (1 + a d / (1-d)) and K p^2 a (1-b) G (2 - (1-a) d) / (2 (1-d)^2). Their quotient gives a for each b in closed
    form, the first equation then b. K is estimated from the sample (Haas and Stokes 1998, after Shlosser).

    >>> found = SlideNegativeBinomial().find(SampleClasses(np.array([1, 2, 3]), np.array([60, 22, 4]), 500))
    >>> round(found.uniqueness, 3), round(found.match_correct, 3)
    (0.172, 0.529)
    """

    name = "snb"
    assumes = "that classes have one person and a negative binomial number more, their number estimated after Shlosser"

    def find(self, sample: SampleClasses) -> Found:
        """The share of population uniques, and the chance that a match is right."""
        if not sample.pairs:
            raise NoEstimate("the sample has no class of two records, from which the spread of class sizes is fitted")
        uniqueness, right = _figures(sample.classes[None, :].astype(float), sample)
        if not np.isfinite(uniqueness[0]):
            raise NoEstimate("no slide negative binomial has as many classes of one and of two as the sample")
        if not 0 < uniqueness[0] <= 1:
            raise NoEstimate("the slide negative binomial gives a share of uniques outside 0 to 1")
        return Found(float(uniqueness[0]), float(right[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: Found) -> Array | None:
        """The uniqueness of class counts drawn anew."""
        return _figures(classes.astype(float), sample)[0]


def _figures(classes: Array, sample: SampleClasses) -> tuple[Array, Array]:
    """The share of population uniques and the chance of a right match, for each row of class counts."""
    share = sample.share
    ones, twos = classes @ (sample.sizes == 1), classes @ (sample.sizes == 2)
    people = classes @ sample.sizes / share
    with np.errstate(all="ignore"):
        k = _population_classes(classes, sample.sizes.astype(float), share)
        b = _root(lambda b: _expected_ones(b, ones, twos, k, share) - ones, len(classes))
        a = _a(b, ones, twos, share)
        uniqueness = k * b**a / people
        d = (1 - b) * (1 - share)
        # E[(1-p)^(F-1)] / E[F (1-p)^(F-1)]
        return np.asarray(uniqueness), np.asarray(1 / (1 + a * d / (1 - d)))


def _a(b: Array, ones: Array, twos: Array, share: float) -> Array:
    """The a that gives the quotient of twos and ones: the positive root of d a^2 + (2 - d - C d) a - C (1-d) = 0."""
    d = (1 - b) * (1 - share)
    c = 2 * (1 - d) * (twos / ones) / (share * (1 - b))
    linear = 2 - d - c * d
    root = np.sqrt(linear**2 + 4 * d * c * (1 - d))
    # the form without cancellation
    return np.asarray(np.where(linear > 0, 2 * c * (1 - d) / (linear + root), (root - linear) / (2 * d)))


def _expected_ones(b: Array, ones: Array, twos: Array, k: Array, share: float) -> Array:
    d = (1 - b) * (1 - share)
    a = _a(b, ones, twos, share)
    return np.asarray(k * share * (b / (1 - d)) ** a * (1 + a * d / (1 - d)))


def _root(function: object, rows: int) -> Array:
    """The largest b of the grid behind which a function changes its sign, halved on; NaN where it never does."""
    assert callable(function)
    values = np.stack([function(np.full(rows, b)) for b in _GRID])
    change = np.isfinite(values[1:]) & np.isfinite(values[:-1]) & (np.sign(values[1:]) != np.sign(values[:-1]))
    place = len(_GRID) - 2 - np.argmax(change[::-1], axis=0)
    low, high = _GRID[place], _GRID[place + 1]
    sign = np.sign(np.take_along_axis(values, place[None, :], axis=0)[0])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        same = np.sign(function(middle)) == sign
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(np.where(change.any(axis=0), (low + high) / 2, np.nan))


def _population_classes(classes: Array, sizes: Array, share: float) -> Array:
    """How many classes the population has: Shlosser's estimator as Haas and Stokes modify it."""
    missed = (1 - share) ** sizes
    seen = classes @ (sizes * share**2 * (1 - share**2) ** (sizes - 1))
    twice = classes @ (missed * ((1 + share) ** sizes - 1))
    unseen = (classes @ missed) / (classes @ (sizes * share * (1 - share) ** (sizes - 1)))
    return np.asarray(classes.sum(axis=1) + (classes @ (sizes == 1)) * seen / twice * unseen**2)
