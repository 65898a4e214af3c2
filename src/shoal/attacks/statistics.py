"""How sure a rate is, and how far it lies above that of people who are not in the data."""

from __future__ import annotations

import math
from collections.abc import Callable

from shoal.storage import Array

# two-sided 95% of a normal distribution
_Z = 1.959963984540054
_SMALLEST, _LARGEST = 1e-12, 1e12
# misses of a control that are none but for rounding
_NOTHING = 1e-9


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


def rate_interval(scores: Array) -> tuple[float, float]:
    """The 95% interval of a mean score: Wilson's on the sum of the scores.

    A target whose candidates cannot be told apart scores a share. Scores between 0 and 1 vary at most as much as hits
    and misses with the same mean, m(1 - m), so that the interval covers for shares too; a bootstrap does not where they
    are rare.

    >>> import numpy as np
    >>> [round(end, 4) for end in rate_interval(np.repeat([0.5, 0.0], 30))]
    [0.1578, 0.3723]
    """
    return wilson(float(scores.sum()), len(scores))


def excess_of(scores: Array, control: Array) -> tuple[float, float, float] | None:
    """What the data adds to the success of an attack: 1 - (1 - attack) / (1 - control), with its 95% interval.

    By Koopman's score interval on the sums of the scores. None where the control always succeeds: nothing is left to
    be added. Below -1, twice as many misses as among the control, values are cut off.

    >>> import numpy as np
    >>> [round(end, 2) for end in excess_of(np.ones(100), np.repeat([0, 1], 50))]
    [1.0, 0.93, 1.0]
    """
    missed, beside = len(scores) - float(scores.sum()), len(control) - float(control.sum())
    if beside <= _NOTHING:
        return None
    low, high = koopman(max(missed, 0.0), len(scores), beside, len(control))
    return cut(1 - (missed / len(scores)) / (beside / len(control))), cut(1 - high), cut(1 - low)


def excess_over(scores: Array, chance: float) -> tuple[float, float, float] | None:
    """The same over a chance that is known, with Wilson's ends of the rate.

    >>> import numpy as np
    >>> [round(end, 4) for end in excess_over(np.zeros(30), 0.01)]
    [-0.0101, -0.0101, 0.1046]
    """
    if chance >= 1 - _NOTHING:
        return None
    rate, (low, high) = float(scores.mean()), rate_interval(scores)
    return tuple(cut(1 - (1 - share) / (1 - chance)) for share in (rate, low, high))  # type: ignore[return-value]


def cut(excess: float) -> float:
    """Between -1 and 1."""
    return min(max(excess, -1.0), 1.0)
