"""What every estimator is: a name, what it assumes, and figures from the class sizes of a sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from shoal.population.results import Estimate
from shoal.storage import Array
from shoal.storage.classes import Coded

# samples that are drawn anew for an interval, and the seed of all of them: the same table has the same interval
RESAMPLES = 200
SEED = 20080601
_INTERVAL = (2.5, 97.5)
# an interval needs so many of the resamples to give an estimate
_ENOUGH = 0.9


class NoEstimate(Exception):
    """An estimator cannot say anything; the reason is its text."""


@dataclass(frozen=True)
class SampleClasses:
    """The classes of a sample: `classes[i]` of them have `sizes[i]` records; `people` are in the population.

    With `tuples`, the columns of the distinct tuples, of which `counts` records have each; with `weights` too, the
    people that a record of each tuple stands for. `drawn_together`: how many records are drawn at once (households).

    >>> sample = SampleClasses(np.array([1, 2]), np.array([3, 1]), 50)
    >>> sample.records, sample.share, sample.uniques, sample.pairs
    (5, 0.1, 3, 1)
    """

    sizes: Array
    classes: Array
    people: float
    tuples: Sequence[Coded] | None = None
    counts: Array | None = None
    weights: Array | None = None
    drawn_together: float = 1.0

    @cached_property
    def records(self) -> int:
        """How many records the sample has."""
        return int(self.sizes @ self.classes)

    @property
    def share(self) -> float:
        """Which share of the population the sample is."""
        return self.records / self.people

    @property
    def design_effect(self) -> float:
        """By how much variances are larger than those of a simple random sample: by the records that are drawn
        together, and by unequal weights (Kish).

        >>> one_each = np.array([1, 1])
        >>> SampleClasses(np.array([1]), np.array([2]), 8, None, one_each, np.array([2.0, 6.0])).design_effect
        1.25
        """
        if self.weights is None or self.counts is None:
            return self.drawn_together
        mean = float(self.weights @ self.counts) / self.records
        return self.drawn_together * float(self.weights**2 @ self.counts) / self.records / mean**2

    @property
    def uniques(self) -> int:
        """Classes of one record."""
        return int(self.classes[self.sizes == 1].sum())

    @property
    def pairs(self) -> int:
        """Classes of two records."""
        return int(self.classes[self.sizes == 2].sum())


@dataclass(frozen=True)
class EstimatorResult:
    """What an estimator found: the share of population uniques, the chance that a match with a sample unique is right,
    and, where it makes its own, an interval."""

    uniqueness: float | None
    match_correct: float | None
    low: float | None = None
    high: float | None = None
    remark: str | None = None
    # the chance for each tuple, where it is not the same for all uniques
    chances: Array | None = None


# 95% of a normal law lie within so many standard deviations
_NORMAL = 1.96


def log_crowding(uniqueness: float) -> float:
    """ln(-ln u): the errors of estimates are about the same on this scale whatever the share of uniques u.

    >>> round(log_crowding(0.5), 3)
    -0.367
    """
    return float(np.log(-np.log(np.clip(uniqueness, 1e-12, 1 - 1e-9))))


def around(uniqueness: float, variance: float, most: float = 1.0) -> tuple[float, float]:
    """The 95% interval of a share of uniques by the variance of its `log_crowding`; never above `most`.

    >>> [round(end, 3) for end in around(0.5, 0.01)]
    [0.43, 0.566]
    """
    half = _NORMAL * np.sqrt(variance)
    low, high = (float(np.exp(-np.exp(log_crowding(uniqueness) + step))) for step in (half, -half))
    return low, max(min(high, most), uniqueness)


def variance_of(uniqueness: float, low: float) -> float:
    """The variance of `log_crowding` that an interval stands for; by its lower end, as the upper one has a bound.

    >>> round(variance_of(0.5, around(0.5, 0.01)[0]), 4)
    0.01
    """
    return ((log_crowding(low) - log_crowding(uniqueness)) / _NORMAL) ** 2


class Estimator(Protocol):
    """One way to say something about the population."""

    name: str
    assumes: str

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The figures, or `NoEstimate` with the reason."""

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """The figure that has the interval, for class counts drawn anew (one row each, NaN where there is none); None
        where the estimator makes its own interval."""


def estimate(estimator: Estimator, sample: SampleClasses, interval: bool = True) -> tuple[Estimate, Array | None]:
    """What an estimator says of a sample, with the chances of the tuples if it has them.

    >>> from shoal.population.estimators import Zayatz
    >>> found, _ = estimate(Zayatz(), SampleClasses(np.array([1, 2]), np.array([40, 30]), 1000))
    >>> found.status, round(found.uniqueness, 3), found.low < found.uniqueness < found.high
    ('ok', 0.17, True)
    """
    try:
        if sample.share >= 1:
            found = _counted(sample)
        elif sample.uniques == 0:
            raise NoEstimate("no record of the sample is unique: there is nothing to extrapolate from")
        else:
            found = estimator.find(sample)
            found = _with_interval(estimator, sample, found) if interval else found
    except NoEstimate as reason:
        nothing = (None, None, None, None, None, None)
        return Estimate(estimator.name, *nothing, "no estimate", str(reason), estimator.assumes), None
    uniques = None if found.uniqueness is None else found.uniqueness * sample.people
    right = None if found.match_correct is None else found.match_correct * sample.uniques
    figures = (uniques, found.uniqueness, found.match_correct, right, found.low, found.high)
    return Estimate(estimator.name, *figures, "ok", found.remark, estimator.assumes), found.chances


def _counted(sample: SampleClasses) -> EstimatorResult:
    share = sample.uniques / sample.records
    return EstimatorResult(share, 1.0, share, share, "the sample is the whole population: counted, not estimated")


def _with_interval(estimator: Estimator, sample: SampleClasses, found: EstimatorResult) -> EstimatorResult:
    """The interval from class counts drawn anew: each number of classes of a size is Poisson around what was seen."""
    classes = np.random.default_rng(SEED).poisson(sample.classes, (RESAMPLES, len(sample.classes)))
    figures = estimator.resampled(classes, sample, found)
    if figures is None:
        return found
    if sample.pairs == 0:
        remark = "without an interval: the sample has no pair, so that samples drawn anew have none either"
        return EstimatorResult(found.uniqueness, found.match_correct, None, None, remark, found.chances)
    kept = figures[np.isfinite(figures)]
    if len(kept) < _ENOUGH * RESAMPLES:
        failed = RESAMPLES - len(kept)
        remark = f"without an interval: {failed} of {RESAMPLES} samples drawn anew gave no estimate"
        return EstimatorResult(found.uniqueness, found.match_correct, None, None, remark, found.chances)
    low, high = np.percentile(kept, _INTERVAL)
    return EstimatorResult(found.uniqueness, found.match_correct, float(low), float(high), found.remark, found.chances)
