"""Zayatz: the sizes of the classes in the sample stand for those in the population."""

from __future__ import annotations

import numpy as np

from shoal.population.base import Found, SampleClasses
from shoal.table import Array


class Zayatz:
    """P(F=1 | f=1) = p n1 / sum(n_i P(one of i is drawn)), with P(F=i) taken from the sample (Zayatz 1991).

    With a share p, one of i is drawn with i p (1-p)^(i-1): the binomial limit of the hypergeometric chance. Population
    uniques are n1 P / p. Too high by far for small shares, because classes of the sample are smaller than those of the
    population.

    >>> found = Zayatz().find(SampleClasses(np.array([1, 2]), np.array([40, 30]), 1000))
    >>> round(found.uniqueness, 4), round(found.match_correct, 4)
    (0.1702, 0.7128)
    """

    name = "zayatz"
    assumes = "that classes have the same sizes in the population as in the sample: too many uniques for small samples"

    def find(self, sample: SampleClasses) -> Found:
        """The share of population uniques, and the chance that a match is right."""
        uniqueness, right = _figures(sample.classes[None, :].astype(float), sample)
        return Found(float(uniqueness[0]), float(right[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: Found) -> Array | None:
        """The uniqueness of class counts drawn anew."""
        return _figures(classes.astype(float), sample)[0]


def _figures(classes: Array, sample: SampleClasses) -> tuple[Array, Array]:
    sizes = sample.sizes.astype(float)
    missed = (1 - sample.share) ** (sizes - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn_once = classes @ (sizes * missed)
        uniques = classes @ (sizes == 1)
        uniqueness = uniques / (classes @ sizes) * uniques / drawn_once
        return np.asarray(uniqueness), np.asarray(classes @ missed / drawn_once)
