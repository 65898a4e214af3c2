"""Several persons: the exact probability that all n targets are re-identified from a leak of L of D persons.

Whoever finds m targets among the h leaked members of a class names them all rightly with 1/(h(h-1)…(h-m+1)). Summed
over leaks and targets, with one generating function per class:

    P = n! / ((D)_n C(D, L)) · [x^n y^L] prod over classes of  sum over m of (x^m / m!) sum over h >= m of C(k, h) y^h

The n targets must all be in the leak, so we take y^(h-m) and [y^(L-n)] instead: P = (L)_n/(D)_n · n!/(D)_n · E, where E
is the coefficient over C(D-n, L-n). On a circle y = p/(1-p) · exp(it) both are characteristic functions, and [y^(L-n)]
is a mean over N frequencies t. The circle goes through the saddle point (of most weight where y^(L-n) is), so few
frequencies count: those next to 0, about 50 whatever D. N is 18 standard deviations: powers of y that are farther away
fall on the one that is wanted, but weigh nothing.

In x, series are cut after x^n; at t = 0 all numbers are positive and nothing cancels. Everything is divided by
(1-p+py)^(D-n), so that each class's series starts with 1 (below). All is done twice, on two circles: the
difference is the error estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.exposure.leakage.one_person import ERROR, one_person
from shoal.exposure.leakage.sizes import ClassSizes
from shoal.storage import Array

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

    >>> from shoal.exposure.leakage.sizes import ClassSizes
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
        circle = cls(classes, leaked, targets, wanted / others, _odd(min(others + 1, math.ceil(width))))
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
        sizes = self.classes.sizes
        first = sizes if self.p == 0 else _one_minus_power(self.p, sizes) / self.p
        return self.targets / float((first * self.classes.counts).sum())

    def another(self) -> _Circle:
        """A circle of another radius with other points, to compare with."""
        other = self._moved(0.2 / self.deviation)
        return _Circle(self.classes, self.leaked, self.targets, other.p, _odd(self.points * 5 // 4 + 2))

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


def _one_minus_power(p: float, sizes: Array) -> Array:
    """1 - (1-p)^k."""
    return np.ones(len(sizes)) if p == 1 else -np.expm1(sizes * math.log1p(-p))


def _odd(number: int) -> int:
    return number | 1
