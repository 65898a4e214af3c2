"""DIS, the data intrusion simulation: the chance that a match with a sample unique is right, without a model."""

from __future__ import annotations

import numpy as np

from shoal.population.base import Found, SampleClasses
from shoal.table import Array


class Dis:
    """p n1 / (p n1 + 2 (1-p) n2): of those in the population who match a sample unique, the share that is the right
    one (Skinner and Elliot 2002).

    Take a record out of the sample and put it back with the chance p: a unique returns to itself, one of a pair finds
    the other. Nothing is assumed of the population; population uniques are not estimated.

    >>> round(Dis().find(SampleClasses(np.array([1, 2]), np.array([40, 30]), 1000)).match_correct, 4)
    0.069
    """

    name = "dis"
    assumes = "a simple random sample and nothing of the population; it says nothing about population uniques"

    def find(self, sample: SampleClasses) -> Found:
        """The chance that a match is right."""
        return Found(None, float(_chance(sample.classes[None, :], sample)[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: Found) -> Array | None:
        """The chance for class counts drawn anew."""
        return _chance(classes, sample)


def _chance(classes: Array, sample: SampleClasses) -> Array:
    right = sample.share * (classes @ (sample.sizes == 1))
    wrong = 2 * (1 - sample.share) * (classes @ (sample.sizes == 2))
    with np.errstate(invalid="ignore"):
        return np.asarray(right / (right + wrong))
