"""The law of a leak: class sizes, and the chance that one or several persons are re-identified from a leaked part."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.storage import Array

# past this, counts of persons are no longer whole numbers in a double
MOST_PERSONS = 2**53


@dataclass(frozen=True)
class ClassSizes:
    """`counts[i]` classes have `sizes[i]` persons; sizes ascend.

    >>> ClassSizes.of({3: 2, 4: 1}).persons, ClassSizes.of([3, 4, 3]).to_dict()
    (10, {3: 2, 4: 1})
    """

    sizes: Array
    counts: Array

    @classmethod
    def of(cls, given: Mapping[int, int] | Iterable[int] | ClassSizes) -> ClassSizes:
        """From a mapping of sizes to numbers of classes, or from the size of each class."""
        if isinstance(given, ClassSizes):
            return given
        if isinstance(given, Mapping):
            pairs = sorted((whole_number(size), whole_number(count)) for size, count in given.items())
            pairs = [(size, count) for size, count in pairs if count]
            sizes, counts = [size for size, _ in pairs], [count for _, count in pairs]
        else:
            each = np.asarray(
                given if isinstance(given, np.ndarray) else [whole_number(size) for size in given], np.int64
            )
            distinct, times = np.unique(each, return_counts=True)
            sizes, counts = distinct.tolist(), times.tolist()
        if not sizes or sizes[0] < 1:
            raise InputError(
                "Class sizes are whole numbers, one and more, at least one of them.", "Write 3:2,4:1 for 3, 3 and 4."
            )
        if sum(size * count for size, count in zip(sizes, counts, strict=True)) > MOST_PERSONS:
            raise InputError("The classes hold more persons than can be counted.", "Check the class sizes.")
        return cls(np.asarray(sizes, np.int64), np.asarray(counts, np.int64))

    @classmethod
    def equal(cls, persons: int, size: int) -> ClassSizes:
        """As many classes of one size as there is room for; who is left forms one smaller class.

        >>> ClassSizes.equal(10_000, 15).to_dict()
        {10: 1, 15: 666}
        """
        rest = persons % size
        return cls.of({size: persons // size} | ({rest: 1} if rest else {}))

    @property
    def persons(self) -> int:
        """Everybody in a class."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.sum())

    @property
    def k(self) -> int:
        """The smallest class."""
        return int(self.sizes[0])

    def to_dict(self) -> dict[int, int]:
        """Size to number of classes."""
        return dict(zip(self.sizes.tolist(), self.counts.tolist(), strict=True))

    def each(self) -> Array:
        """The size of each class, one entry a class."""
        return np.repeat(self.sizes, self.counts)


def parse_sizes(text: str) -> ClassSizes:
    """Class sizes as they are typed: `3:2,4:1` is two classes of 3 and one of 4; `5` alone is one class of 5.

    >>> parse_sizes("3:2, 4").to_dict()
    {3: 2, 4: 1}
    """
    found: dict[int, int] = {}
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,16})\s*(?::\s*(\d{1,16})\s*)?", part)
        if not match:
            raise InputError(f"Class sizes '{text}' cannot be read.", "Write 3:2,4:1 for two classes of 3, one of 4.")
        size = int(match[1])
        found[size] = found.get(size, 0) + int(match[2] or 1)
    return ClassSizes.of(found)


def check_sums(classes: ClassSizes, persons: int | None) -> None:
    """Refuse class sizes that do not sum to the persons given."""
    if persons is not None and persons != classes.persons:
        raise InputError(
            f"The class sizes sum to {classes.persons:,} persons, not to {persons:,}.",
            "Correct the sizes, or leave the number of persons out.",
        )


def whole_number(number: object) -> int:
    """A count as an integer, whichever kind of integer it came as.

    >>> whole_number(np.int32(5))
    5
    """
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 0:
        raise InputError("Persons and class sizes are whole numbers.", "Write {3: 2, 4: 1} or [3, 3, 4].")
    return int(number)


# One person: the probability that somebody picked at random is re-identified from a leaked part (Antoniou, Eq 5).
#
# A leak of L of D persons holds h members of a class of k; whoever looks for one of them guesses right with 1/h. So
#
#     Eq 5:              P = (1/k) (1 - C(D-k, L) / C(D, L))
#     any class sizes:   P = (1/D) sum over classes of (1 - C(D-k, L) / C(D, L))
#
# C(D-k, L) / C(D, L), the probability that a class is missed, is a product of k factors 1 - L/(D-i), or, the other way
# round, of L factors 1 - k/(D-j). Its logarithm is summed by log1p: log-gamma functions would lose digits (1.4e-4
# relative at ten million persons).


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


# Several persons: the exact probability that all n targets are re-identified from a leak of L of D persons.
#
# Whoever finds m targets among the h leaked members of a class names them all rightly with 1/(h(h-1)…(h-m+1)). Summed
# over leaks and targets, with one generating function per class:
#
#   P = n! / ((D)_n C(D, L)) · [x^n y^L] prod over classes of  sum over m of (x^m / m!) sum over h >= m of C(k, h) y^h
#
# The n targets must all be in the leak, so we take y^(h-m) and [y^(L-n)] instead: P = (L)_n/(D)_n · n!/(D)_n · E, where
# E is the coefficient over C(D-n, L-n). On a circle y = p/(1-p) · exp(it) both are characteristic functions, and
# [y^(L-n)] is a mean over N frequencies t. The circle goes through the saddle point (of most weight where y^(L-n) is),
# so few frequencies count: those next to 0, about 50 whatever D. N is 18 standard deviations: powers of y that are
# farther away fall on the one that is wanted, but weigh nothing.
#
# In x, series are cut after x^n; at t = 0 all numbers are positive and nothing cancels. Everything is divided by
# (1-p+py)^(D-n), so that each class's series starts with 1 (below). All is done twice, on two circles: the
# difference is the error estimate.


# Series in x of classes, each at several frequencies: what the law for several persons multiplies.
#
# A class of k contributes sum over m of (x^m / m!) T_m with the tails T_m = sum over h >= m of C(k, h) leaks^(h-m)
# stays^(k-h). They are built up person by person (small classes), from their first terms (where few of a class leak),
# or from the whole by taking away the first terms (where many do), so that no digits are lost.


@dataclass(frozen=True)
class Tails:
    """The series of classes, up to x^targets: the coefficient of x^m is T_m scale^m / m! at each frequency.

    `whole` = leaks + stays, which is 1 where both were divided by it; `p` is the share that leaks.

    >>> one = np.ones(1)
    >>> Tails(2, 1.0, 0.5, one / 2, one / 2, np.log(one / 2), one).of(np.array([2]))[0, :, 0].real.tolist()
    [1.0, 1.5, 0.5]
    """

    targets: int
    scale: float
    p: float
    leaks: Array
    stays: Array
    log_stays: Array
    whole: Array

    def of(self, sizes: Array) -> Array:
        """Series by size: an array of sizes x powers of x x frequencies."""
        found = np.zeros((len(sizes), self.targets + 1, len(self.leaks)), complex)
        small = sizes <= 2 * self.targets + 2
        few = ~small & (sizes * self.p < self.targets + 1)
        many = ~small & ~few
        if small.any():
            found[small] = self._built_up(sizes[small])
        if few.any():
            found[few] = self._from_first_terms(sizes[few])
        if many.any():
            found[many] = self._from_whole(sizes[many])
        return found

    def _built_up(self, sizes: Array) -> Array:
        """One person more in the class: T_m(k+1) = stays T_m(k) + T_(m-1)(k)."""
        row = np.zeros((self.targets + 1, len(self.leaks)), complex)
        row[0] = 1
        steps = (self.scale / np.arange(1, self.targets + 1))[:, None]
        found = np.empty((len(sizes), *row.shape), complex)
        for size in range(1, int(sizes[-1]) + 1):
            row[1:] = self.stays * row[1:] + steps * row[:-1]
            row[0] *= self.whole
            found[sizes == size] = row
        return found

    def _first_terms(self, sizes: Array) -> Array:
        """C(k, m) stays^(k-m) scale^m / m!, the first term of each tail."""
        found = np.zeros((len(sizes), self.targets + 1, len(self.leaks)), complex)
        if self.p == 1:  # nobody stays
            return found
        found[:, 0] = np.exp(sizes[:, None] * self.log_stays)
        for m in range(self.targets):
            factor = (sizes - m) * (self.scale / (m + 1) ** 2)
            found[:, m + 1] = found[:, m] * factor[:, None] / self.stays
        return found

    def _from_first_terms(self, sizes: Array) -> Array:
        """T_n summed from its terms, which fall fast; then T_(m-1) = its first term + leaks T_m."""
        found = self._first_terms(sizes)
        term = found[:, -1].copy()
        odds = self.leaks / self.stays
        for h in range(self.targets, int(sizes[-1])):
            term *= (np.maximum(sizes - h, 0) / (h + 1))[:, None] * odds
            found[:, -1] += term
            if (np.abs(term) <= 1e-20 * np.abs(found[:, -1])).all():
                break
        for m in range(self.targets, 0, -1):
            found[:, m - 1] += self.leaks * found[:, m] * (m / self.scale)
        found[:, 0] = self._all(sizes)
        return found

    def _from_whole(self, sizes: Array) -> Array:
        """T_0 is the whole; T_m = (T_(m-1) - its first term) / leaks."""
        found, first = np.empty((len(sizes), self.targets + 1, len(self.leaks)), complex), self._first_terms(sizes)
        found[:, 0] = self._all(sizes)
        for m in range(1, self.targets + 1):
            found[:, m] = (found[:, m - 1] - first[:, m - 1]) * (self.scale / m) / self.leaks
        return found

    def _all(self, sizes: Array) -> Array:
        """(leaks + stays)^k."""
        return np.where(self.whole == 1, 1, self.whole ** sizes[:, None])


def multiply(one: Array, other: Array) -> Array:
    """Products of series in x, cut after x^n: axis 1 holds the coefficients.

    >>> series = np.array([[[1], [2], [0]]], complex)  # 1 + 2x
    >>> multiply(series, series)[0, :, 0].real.tolist()
    [1.0, 4.0, 4.0]
    """
    found = np.empty(np.broadcast_shapes(one.shape, other.shape), complex)
    for m in range(one.shape[1]):
        found[:, m] = np.einsum("smf,smf->sf", one[:, : m + 1], other[:, m::-1])
    return found


def power(series: Array, exponents: Array) -> Array:
    """Each series to its power, by repeated squaring; `series` is used up.

    >>> power(np.array([[[1], [1], [0]]], complex), np.array([5]))[0, :, 0].real.tolist()
    [1.0, 5.0, 10.0]
    """
    powers = np.zeros_like(series)
    powers[:, 0] = 1
    left = exponents.copy()
    while left.any():
        odd = left % 2 == 1
        powers[odd] = multiply(powers[odd], series[odd])
        left //= 2
        go_on = left > 0
        series[go_on] = multiply(series[go_on], series[go_on])
    return powers


MOST_TARGETS = 100
_EPSILON = 2.0**-52
# what a frequency may weigh, beside the first, and still be left out
_NEGLIGIBLE = 1e-19
_FREQUENCIES = 16
_SIZES = 1024


class ProbabilityEstimate(NamedTuple):
    """A probability and its relative error, estimated."""

    probability: float
    error: float


def several_persons(classes: ClassSizes, leaked: int, targets: int) -> ProbabilityEstimate:
    """The probability that all targets, picked at random, are re-identified; and its relative error.

    >>> from shoal.exposure.leakage.law import ClassSizes
    >>> found = several_persons(ClassSizes.of({2: 3}), 4, 2)  # 16/75
    >>> round(found.probability, 12), found.error < 1e-12
    (0.213333333333, True)
    """
    if targets > MOST_TARGETS:
        raise InputError(f"{targets} targets are more than the exact law takes.", f"Use up to {MOST_TARGETS}.")
    if targets > leaked:
        return ProbabilityEstimate(0.0, 0.0)
    if targets == 1:
        return ProbabilityEstimate(one_person(classes, leaked), ERROR)
    persons = classes.persons
    if leaked == persons and targets <= classes.k:
        return ProbabilityEstimate(everything_leaked(classes, targets), targets * _EPSILON)
    circle = _Circle.through_saddle(classes, leaked, targets)
    first, condition = circle.mean()
    if circle.points == 1:
        return ProbabilityEstimate(first, 8 * targets * _EPSILON)
    second, _ = circle.another().mean()
    rounding = 8 * targets * _EPSILON * condition
    return ProbabilityEstimate(first, max(abs(first - second) / first, rounding) if first else 0.0)


def everything_leaked(classes: ClassSizes, targets: int) -> float:
    """The closed form at L = D where no class is smaller than the targets: P = M^n / (D)_n with M classes.

    >>> everything_leaked(ClassSizes.of({5: 2000}), 2)
    0.040004000400040006
    """
    return math.prod(classes.classes / (classes.persons - number) for number in range(targets))


@dataclass(frozen=True)
class _Circle:
    """Where the coefficient is taken: y = p/(1-p) · exp(it) at `points` equally spaced t; x in units of `scale`."""

    classes: ClassSizes
    leaked: int
    targets: int
    p: float
    points: int

    @classmethod
    def through_saddle(cls, classes: ClassSizes, leaked: int, targets: int) -> _Circle:
        """Choose p so that the weights of the powers of y are centred on the one that is wanted."""
        others, wanted = classes.persons - targets, leaked - targets
        if wanted in (0, others):
            return cls(classes, leaked, targets, float(wanted > 0), 1)
        width = 18 * math.sqrt(leaked * max(1 - leaked / classes.persons, 1 / classes.persons)) + 2 * targets + 40
        circle = cls(classes, leaked, targets, wanted / others, min(others + 1, math.ceil(width)) | 1)
        for _ in range(12):
            angle = 1e-4 / circle.deviation
            _, term = circle._at(np.array([angle]))
            away = float(np.angle(term)[0]) / angle
            if abs(away) < 0.25 * circle.deviation:
                break
            circle = circle._moved(-away / circle.deviation**2)
        return circle

    @property
    def deviation(self) -> float:
        """Standard deviation of the leaked persons who are not targets."""
        return max(math.sqrt((self.classes.persons - self.targets) * self.p * (1 - self.p)), 0.5)

    @property
    def scale(self) -> float:
        """The unit of x in which the coefficients up to x^n stay near 1."""
        sizes, p = self.classes.sizes, self.p
        # (1 - (1-p)^k) / p
        first = sizes if p == 0 else np.ones(len(sizes)) if p == 1 else -np.expm1(sizes * math.log1p(-p)) / p
        return self.targets / float((first * self.classes.counts).sum())

    def another(self) -> _Circle:
        """A circle of another radius with other points, to compare with."""
        other = self._moved(0.2 / self.deviation)
        return _Circle(self.classes, self.leaked, self.targets, other.p, self.points * 5 // 4 + 2 | 1)

    def _moved(self, step: float) -> _Circle:
        odds = self.p / (1 - self.p) * math.exp(max(min(step, 2.0), -2.0))
        return _Circle(self.classes, self.leaked, self.targets, odds / (1 + odds), self.points)

    def mean(self) -> tuple[float, float]:
        """The probability, and by how much the terms are larger than their sum (1: nothing cancels)."""
        above = below = absolute = 0.0
        peak = 0.0
        for start, angles, times in self._frequencies():
            weight, terms = self._at(angles)
            above += math.fsum((times * terms.real).tolist())
            below += math.fsum((times * weight.real).tolist())
            sizes = np.abs(terms)
            absolute += float((times * sizes).sum())
            peak = max(peak, float(sizes[0]))
            progress.report("leak risk", start, self.points // 2 + 1)
            if start and sizes.max() < _NEGLIGIBLE * peak and np.abs(weight).max() < _NEGLIGIBLE:
                break
        share = above / below
        persons, leaked, scale = self.classes.persons, self.leaked, self.scale
        for number in range(self.targets):
            share *= (number + 1) / ((persons - number) * scale) * ((leaked - number) / (persons - number))
        return share, absolute / abs(above)

    def _frequencies(self) -> Iterator[tuple[int, Array, Array]]:
        """Blocks of angles from 0 outward, with how often each counts: t and -t are conjugate."""
        last = self.points // 2
        for start in range(0, last + 1, _FREQUENCIES):
            numbers = np.arange(start, min(start + _FREQUENCIES, last + 1))
            yield start, numbers * (2 * math.pi / self.points), np.where(numbers == 0, 1.0, 2.0)

    def _at(self, angles: Array) -> tuple[Array, Array]:
        """At each frequency: the weight (1-p+py)^(D-n) y^-(L-n), whose sum is C(D-n, L-n); the coefficient of x^n."""
        p = self.p
        if self.points == 1:
            return np.ones(1), self._coefficient(np.array([p]), np.array([1 - p]), np.zeros(1), np.ones(1))
        others, turn = self.classes.persons - self.targets, -1j * angles * (self.leaked - self.targets)
        sine = np.sin(angles / 2)
        whole = 1 - 2 * p * sine**2 + 1j * p * np.sin(angles)
        log_whole = 0.5 * np.log1p(-4 * p * (1 - p) * sine**2) + 1j * np.angle(whole)
        # far out, where the power is too small to divide by, the tails stay as they are
        divided = log_whole.real * self.classes.persons > -460
        divisor, log_divisor = np.where(divided, whole, 1), np.where(divided, log_whole, 0)
        leaks, stays = p * np.exp(1j * angles) / divisor, (1 - p) / divisor
        coefficient = self._coefficient(leaks, stays, math.log1p(-p) - log_divisor, np.where(divided, 1, whole))
        return np.exp(others * log_whole + turn), np.exp(others * log_divisor + turn) * coefficient

    def _coefficient(self, leaks: Array, stays: Array, log_stays: Array, whole: Array) -> Array:
        """The coefficient of x^n of the product of all classes, at each frequency."""
        product = np.zeros((1, self.targets + 1, len(leaks)), complex)
        product[:, 0] = 1
        sizes, counts = self.classes.sizes, self.classes.counts
        tails = Tails(self.targets, self.scale, self.p, leaks, stays, log_stays, whole)
        for start in range(0, len(sizes), _SIZES):
            part = slice(start, start + _SIZES)
            powers = power(tails.of(sizes[part]), counts[part])
            while len(powers) > 1:
                half = len(powers) // 2
                paired = multiply(powers[:half], powers[half : 2 * half])
                powers = np.concatenate([paired, powers[2 * half :]])
            product = multiply(product, powers)
        return np.asarray(product[0, -1])
