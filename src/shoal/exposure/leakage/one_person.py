"""One person: the probability that somebody picked at random is re-identified from a leaked part (Antoniou, Eq 5).

A leak of L of D persons holds h members of a class of k; whoever looks for one of them guesses right with 1/h. So

    Eq 5:              P = (1/k) (1 - C(D-k, L) / C(D, L))
    any class sizes:   P = (1/D) sum over classes of (1 - C(D-k, L) / C(D, L))

C(D-k, L) / C(D, L), the probability that a class is missed, is a product of k factors 1 - L/(D-i), or, the other way
round, of L factors 1 - k/(D-j). Its logarithm is summed by log1p: log-gamma functions would lose digits (1.4e-4
relative at ten million persons).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shoal.exposure.leakage.sizes import ClassSizes
from shoal.storage import Array

# a class that is missed with a probability under exp(-45) is hit: 1 - exp(-45) is 1 in a double
_CERTAIN = 45.0
_BLOCK = 1024
_CELLS = 1 << 22
# pairs of sizes times terms that the spread over leaks may take
MOST_WORK = 50_000_000
ERROR = 2e-14


def equation_5(persons: int, leaked: int, size: int) -> float:
    """Eq 5 as printed: everybody is in a class of one size, whether it divides the persons or not.

    >>> round(equation_5(10_000, 4_000, 5), 12)
    0.184458368691
    """
    return float(_hit(persons, leaked, np.array([size]))[0]) / size


def one_person(classes: ClassSizes, leaked: int) -> float:
    """The probability for one person picked at random from classes of any sizes.

    >>> one_person(ClassSizes.of({2: 2}), 2)  # 5/12
    0.4166666666666667
    """
    hit = _hit(classes.persons, leaked, classes.sizes)
    return math.fsum((hit * classes.counts).tolist()) / classes.persons


def _hit(persons: int, leaked: int, sizes: Array) -> Array:
    """The probability that at least one member of a class leaks, by class size."""
    return np.asarray(0.0 - np.expm1(log_missed(persons, leaked, sizes)))  # never minus zero


def log_missed(persons: int, leaked: int, sizes: Array) -> Array:
    """log C(D-k, L)/C(D, L) by class size; minus infinity where it is 0, or so small that 1 minus it is 1.

    >>> bool(np.isclose(np.exp(log_missed(4, 2, np.array([2]))[0]), 1 / 6))
    True
    """
    logarithms = np.full(len(sizes), -np.inf)
    if leaked == 0:
        return np.zeros(len(sizes))
    possible = sizes <= persons - leaked
    if not possible.any():
        return logarithms
    wanted = sizes[possible]
    # every factor is at most 1 - L/D, so that past this many the product is as good as 0
    longest = min(int(wanted.max()), math.ceil(_CERTAIN / -math.log1p(-leaked / persons)))
    if leaked * len(wanted) < longest:
        logarithms[possible] = _by_leak(persons, leaked, wanted)
        return logarithms
    terms = np.log1p(-leaked / (persons - np.arange(longest, dtype=np.float64)))
    sums = running_sum(terms)
    inside = wanted <= longest
    logarithms[np.flatnonzero(possible)[inside]] = sums[wanted[inside] - 1]
    return logarithms


def _by_leak(persons: int, leaked: int, sizes: Array) -> Array:
    """The same product from the side of the leak: as many factors as persons leaked."""
    left = persons - np.arange(leaked, dtype=np.float64)
    rows = max(_CELLS // leaked, 1)
    parts = [np.log1p(-sizes[start : start + rows, None] / left).sum(axis=1) for start in range(0, len(sizes), rows)]
    return np.concatenate(parts)


def running_sum(terms: Array) -> Array:
    """Running sums, in blocks, so that rounding grows with the root of their length.

    >>> running_sum(np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 3.0, 6.0]
    """
    padded = np.zeros(-(-len(terms) // _BLOCK) * _BLOCK)
    padded[: len(terms)] = terms
    blocks = padded.reshape(-1, _BLOCK).cumsum(axis=1)
    blocks[1:] += blocks[:-1, -1].cumsum()[:, None]
    return blocks.reshape(-1)[: len(terms)]


# the distribution over leaks


@dataclass(frozen=True)
class RiskDistribution:
    """How a person's risk varies over leaks: with `probability[i]` there are `alike[i]` leaked persons of the class,
    the person among them, and the risk is 1/alike; alike 0 is a person who is not in the leak, with risk 0."""

    alike: Array
    probability: Array

    @property
    def risk(self) -> Array:
        """The risk that goes with each probability."""
        return np.divide(1.0, self.alike, out=np.zeros(len(self.alike)), where=self.alike > 0)

    @property
    def mean(self) -> float:
        """The expected risk: Eq 5."""
        return float(self.risk @ self.probability)

    @property
    def deviation(self) -> float:
        """The standard deviation of one person's risk."""
        return math.sqrt(float((self.risk - self.mean) ** 2 @ self.probability))


def risk_distribution(classes: ClassSizes, leaked: int) -> RiskDistribution:
    """The risk of one person over leaks (Fig 3): Pr[r=0] = 1 - L/D, Pr[r=1/h] = (L/D) Pr[h-1 of the k-1 others leak].

    >>> found = risk_distribution(ClassSizes.of({2: 2}), 2)
    >>> [round(value, 6) for value in found.probability.tolist()], round(found.mean, 6)
    ([0.5, 0.333333, 0.166667], 0.416667)
    """
    persons = classes.persons
    total = np.zeros(int(classes.sizes[-1]) + 1)
    total[0] = 1 - leaked / persons
    if leaked:
        for size, count in classes.to_dict().items():
            others = _hypergeometric(persons - 1, leaked - 1, size - 1)
            total[1 : size + 1] += others * (size * count / persons) * (leaked / persons)
    return RiskDistribution(np.arange(len(total)), total)


def _hypergeometric(persons: int, leaked: int, size: int) -> Array:
    """Pr[j of `size` leak], j = 0 .. size: products of neighbours' ratios, from the mode to both sides."""
    low, high = max(0, size + leaked - persons), min(size, leaked)
    mode = min(max((size + 1) * (leaked + 1) // (persons + 2), low), high)
    upward = np.arange(mode, high, dtype=np.float64)
    downward = np.arange(mode, low, -1, dtype=np.float64)
    rest = persons - size - leaked
    above = np.cumprod((size - upward) * (leaked - upward) / ((upward + 1) * (rest + upward + 1)))
    below = np.cumprod(downward * (rest + downward) / ((size - downward + 1) * (leaked - downward + 1)))
    found = np.zeros(size + 1)
    found[low : high + 1] = np.concatenate([below[::-1], [1.0], above])
    return found / math.fsum(found.tolist())


def spread_over_leaks(classes: ClassSizes, leaked: int) -> float | None:
    """The standard deviation, over leaks, of the mean risk of all persons; None where there are too many class sizes.

    The mean risk of a leak is (classes hit) / D. Two classes are missed together with log-probability
    log m(k) + log m(k') + c, where c = sum over i < k' of log1p(-kL / ((D-i-k)(D-i-L))).

    >>> round(spread_over_leaks(ClassSizes.of({2: 2}), 2), 6)  # 1 or 2 classes hit, by 2 leaks and 4 of 6
    0.117851
    """
    persons = classes.persons
    logs = log_missed(persons, leaked, classes.sizes)
    relevant = np.isfinite(logs)  # a class that is always hit adds no spread
    sizes, counts, logs = classes.sizes[relevant], classes.counts[relevant].astype(np.float64), logs[relevant]
    missed = np.exp(logs)
    variance = float((counts * missed * -np.expm1(logs)).sum())
    if not len(sizes) or leaked == 0:
        return 0.0
    longest = int(sizes[-1])
    if len(sizes) * longest > MOST_WORK:
        return None
    left = persons - np.arange(longest, dtype=np.float64)
    for index, size in enumerate(sizes.tolist()):
        # two classes that do not fit beside the leak cannot both be missed
        fit = int(min(longest, max(persons - leaked - size, 0)))
        shared = size * float(leaked) / ((left[:fit] - size) * (left[:fit] - leaked))
        joint = np.full(longest, -np.inf)
        joint[:fit] = running_sum(np.log1p(-shared)) if fit else 0
        pairs = counts[index] * counts
        pairs[index] -= counts[index]
        variance += float((pairs * missed[index] * missed * np.expm1(joint[sizes - 1])).sum())
    return math.sqrt(max(variance, 0.0)) / persons
