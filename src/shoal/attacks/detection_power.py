"""How well a statistic tells members from others: power at few false positives, never accuracy.

Carlini et al., *Membership inference attacks from first principles* (2022): an attack that is sure about a few people
is worse for them than one that is a little better than a coin about everybody.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from shoal.table import Array

FALSE_POSITIVES = (0.001, 0.01)


def flagged(members: Array, others: Array, false_positives: float) -> tuple[Array, Array, bool]:
    """How far each member and each other person is flagged (ties at the threshold are shared), and whether the
    threshold is that of a normal distribution.

    The threshold is a value of the others that a new one of them exceeds with at most this probability: the r-th
    largest of n, r = ⌊share · (n + 1)⌋. Where they are too few for that, a normal distribution is fitted to them.

    >>> flagged(np.array([3.0, 1.0]), np.arange(4.0), 0.2)[0].tolist()
    [1.0, 0.0]
    """
    rank = math.floor(false_positives * (len(others) + 1) + 1e-9)
    if rank < 1:
        spread = float(others[np.isfinite(others)].std(ddof=1)) if len(others) > 1 else 0.0
        threshold = float(others[np.isfinite(others)].mean()) + NormalDist().inv_cdf(1 - false_positives) * spread
        return (members > threshold).astype(float), (others > threshold).astype(float), True
    threshold = float(np.partition(others, -rank)[-rank])
    tied, above = int((others == threshold).sum()), int((others > threshold).sum())
    share = (rank - above) / tied
    ours, theirs = (np.where(one == threshold, share, (one > threshold) * 1.0) for one in (members, others))
    return ours, theirs, False


def area(members: Array, others: Array) -> float:
    """The area under the curve: how often a member scores above another person, ties as one half.

    >>> area(np.array([2.0, 1.0]), np.array([1.0, 0.0]))
    0.875
    """
    ordered = np.sort(others)
    below = np.searchsorted(ordered, members, side="left")
    upto = np.searchsorted(ordered, members, side="right")
    return float((below + upto).mean() / 2 / len(others))


def bound(epsilon: float, delta: float, false_positives: float) -> float:
    """The largest power that (ε, δ)-differential privacy allows: min(e^ε·FPR + δ, 1 - e^-ε·(1 - δ - FPR)).

    >>> round(bound(1.0, 0.0, 0.001), 6)
    0.002718
    """
    grown = math.exp(min(epsilon, 700.0)) * false_positives + delta
    return min(1.0, grown, 1 - math.exp(-epsilon) * (1 - delta - false_positives))
