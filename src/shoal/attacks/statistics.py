"""How sure a rate is, and how far it lies above that of people who are not in the data."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from shoal.table import Array

# two-sided 95% of a normal distribution
_Z = 1.959963984540054
_RESAMPLES = 2_000
_SMALLEST, _LARGEST = 1e-12, 1e12


def wilson(successes: float, targets: int) -> tuple[float, float]:
    """The 95% interval of a rate (Wilson 1927): it is never wider than 0 to 1, and right for few targets too.

    >>> [round(end, 4) for end in wilson(0, 30)], [round(end, 4) for end in wilson(15, 30)]
    ([0.0, 0.1135], [0.3315, 0.6685])
    """
    rate, square = successes / targets, _Z * _Z / targets
    middle = (rate + square / 2) / (1 + square)
    half = _Z * math.sqrt(max(rate * (1 - rate), 0.0) / targets + square / (4 * targets)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def koopman(first: float, first_of: int, second: float, second_of: int) -> tuple[float, float]:
    """The 95% score interval of the ratio of two rates (Koopman 1984), `first`/`first_of` over `second`/`second_of`.

    It holds the ratios that a score test does not reject. The high end is infinite where `second` is 0.

    >>> [round(end, 2) for end in koopman(36, 40, 16, 80)]
    [2.94, 7.15]
    """

    def score(ratio: float) -> float:
        whole, both = (first_of + second_of) * ratio, first + second
        linear = first_of * ratio + first + second_of + second * ratio
        lower = (linear - math.sqrt(max(linear * linear - 4 * whole * both, 0.0))) / (2 * whole)
        upper = min(ratio * lower, 1.0)
        variance = upper * (1 - upper) / first_of + ratio * ratio * lower * (1 - lower) / second_of
        distance = first / first_of - ratio * second / second_of
        return math.copysign(math.inf, distance) if variance <= 0 and distance else distance / math.sqrt(variance or 1)

    low = _where(lambda ratio: score(ratio) <= _Z) if first else 0.0
    high = _where(lambda ratio: score(ratio) <= -_Z) if second else math.inf
    return low, high


def _where(passed: Callable[[float], bool]) -> float:
    """The smallest ratio from which on a condition holds, by halving its logarithm."""
    low, high = math.log(_SMALLEST), math.log(_LARGEST)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if passed(math.exp(middle)) else (middle, high)
    return math.exp(high)


def rate_interval(scores: Array, seed: int = 0) -> tuple[float, float]:
    """The 95% interval of a mean score: Wilson's where every score is 0 or 1, else by a bootstrap over the targets.

    A target whose candidates cannot be told apart scores a share. Where all scores are equal there is nothing to draw
    from, and Wilson's interval, which is wider, is taken.

    >>> rate_interval(np.array([0.5, 0.5]))[0] < 0.5
    True
    """
    if not _shared(scores):
        return wilson(float(scores.sum()), len(scores))
    means = _resampled(scores, np.random.default_rng(seed))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def excess_of(scores: Array, control: Array, seed: int = 0) -> tuple[float, float, float] | None:
    """What the data adds to the success of an attack: 1 - (1 - attack) / (1 - control), with its 95% interval.

    By Koopman's score interval where all scores are 0 or 1, else by a bootstrap over the targets of both. None where
    the control always succeeds: nothing is left to be added. Values below zero are not cut off.

    >>> [round(end, 2) for end in excess_of(np.ones(100), np.repeat([0, 1], 50))]
    [1.0, 0.93, 1.0]
    """
    missed, beside = len(scores) - float(scores.sum()), len(control) - float(control.sum())
    if beside <= 1e-9:
        return None
    excess = 1 - (missed / len(scores)) / (beside / len(control))
    if not (_shared(scores) or _shared(control)):
        low, high = koopman(missed, len(scores), beside, len(control))
    else:
        generator = np.random.default_rng(seed)
        ours, theirs = 1 - _resampled(scores, generator), 1 - _resampled(control, generator)
        low, high = np.quantile(ours / np.maximum(theirs, _SMALLEST), [0.025, 0.975])
    return excess, 1 - float(high), 1 - float(low)


def _shared(scores: Array) -> bool:
    """Whether scores are shares that differ."""
    return bool(((scores != 0) & (scores != 1)).any() and np.ptp(scores) > 0)


def _resampled(scores: Array, generator: np.random.Generator) -> Array:
    """The means of targets that are drawn again with replacement; equal scores are drawn together."""
    values, counts = np.unique(scores, return_counts=True)
    drawn = generator.multinomial(len(scores), counts / len(scores), size=_RESAMPLES)
    return np.asarray(drawn @ values / len(scores))
