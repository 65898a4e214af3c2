"""Estimators of the population by class sizes of the sample: DIS, Zayatz, slide negative binomial, Pitman."""

from __future__ import annotations

import numpy as np

from shoal.population.base import EstimatorResult, NoEstimate, SampleClasses
from shoal.storage import Array


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

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The chance that a match is right."""
        return EstimatorResult(None, float(_chance(sample.classes[None, :], sample)[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """The chance for class counts drawn anew."""
        return _chance(classes, sample)


def _chance(classes: Array, sample: SampleClasses) -> Array:
    right = sample.share * (classes @ (sample.sizes == 1))
    wrong = 2 * (1 - sample.share) * (classes @ (sample.sizes == 2))
    with np.errstate(invalid="ignore"):
        return np.asarray(right / (right + wrong))


# Zayatz: the sizes of the classes in the sample stand for those in the population.


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

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The share of population uniques, and the chance that a match is right."""
        uniqueness, right = _figures(sample.classes[None, :].astype(float), sample)
        return EstimatorResult(float(uniqueness[0]), float(right[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
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


# The slide negative binomial: each class of the population has one person and a negative binomial number more.


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

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The share of population uniques, and the chance that a match is right."""
        if not sample.pairs:
            raise NoEstimate("the sample has no class of two records, from which the spread of class sizes is fitted")
        uniqueness, right = _negative_binomial_figures(sample.classes[None, :].astype(float), sample)
        if not np.isfinite(uniqueness[0]):
            raise NoEstimate("no slide negative binomial has as many classes of one and of two as the sample")
        if not 0 < uniqueness[0] <= 1:
            raise NoEstimate("the slide negative binomial gives a share of uniques outside 0 to 1")
        return EstimatorResult(float(uniqueness[0]), float(right[0]))

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """The uniqueness of class counts drawn anew."""
        return _negative_binomial_figures(classes.astype(float), sample)[0]


def _negative_binomial_figures(classes: Array, sample: SampleClasses) -> tuple[Array, Array]:
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


# Pitman's sampling formula: a population in which new combinations keep turning up (Hoshino 2001).


_STEPS = 100
_NEAR_BORDER = 1e-4


class Pitman:
    """The two parameters by maximum likelihood; population uniques = Gamma(t+1) / Gamma(t+a) N^a.

    ln L = sum(ln(t + i a), i < u) - sum(ln(t + i), i < n) + sum over classes of size j of sum(ln(i - a), i < j), with
    u classes of n records. In this model a match with a sample unique is right with p/(1-p) (1 - p^a) / (a p^a).

    >>> found = Pitman().find(SampleClasses(np.array([1, 2, 9]), np.array([60, 12, 3]), 5000))
    >>> round(found.uniqueness, 3), round(found.match_correct, 3)
    (0.198, 0.462)
    """

    name = "pitman"
    assumes = "that class sizes follow Pitman's sampling formula: without a last new combination, most classes small"

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The share of population uniques, and the chance that a match is right."""
        if sample.uniques == sample.records:
            raise NoEstimate("every record of the sample is unique: the model has no maximum")
        t, a = _fitted(sample.classes[None, :].astype(float), sample.sizes, _starts(sample))
        good = np.flatnonzero(np.isfinite(a))
        if not len(good):
            raise NoEstimate("the likelihood of Pitman's model has no maximum inside its range (0 < a < 1)")
        t, a = t[good[:1]], a[good[:1]]
        uniqueness = float(_uniqueness(t, a, sample.people)[0])
        if not 0 < uniqueness <= 1:
            raise NoEstimate("Pitman's model gives a share of uniques outside 0 to 1")
        power = sample.share ** float(a[0])
        right = sample.share / (1 - sample.share) * (1 - power) / (float(a[0]) * power)
        return EstimatorResult(uniqueness, right)

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """The uniqueness of class counts drawn anew."""
        t, a = _fitted(sample.classes[None, :].astype(float), sample.sizes, _starts(sample))
        good = int(np.flatnonzero(np.isfinite(a))[0])
        starts = (np.full(len(classes), t[good]), np.full(len(classes), a[good]))
        t, a = _fitted(classes.astype(float), sample.sizes, starts)
        people = (classes @ sample.sizes) / sample.share
        return _uniqueness(t, a, people)


def _uniqueness(t: Array, a: Array, people: Array | float) -> Array:
    from scipy.special import gammaln

    good = np.isfinite(a)
    found = np.full(len(a), np.nan)
    people = np.broadcast_to(np.asarray(people, float), a.shape)[good]
    logs = gammaln(t[good] + 1) - gammaln(t[good] + a[good]) + (a[good] - 1) * np.log(people)
    found[good] = np.exp(logs)
    return found


def _starts(sample: SampleClasses) -> tuple[Array, Array]:
    """From where Newton's steps start: the moments of Hoshino, then a grid."""
    n, u, c1 = sample.records, int(sample.classes.sum()), sample.uniques
    c = c1 * (c1 - 1) / max(sample.pairs, 1)
    below = 2 * c1 * u + c1 * c - n * c
    t = (n * u * c - c1 * (n - 1) * (2 * u + c)) / below if below else 1.0
    a = (t * (c1 - n) + (n - 1) * c1) / (n * u)
    grid = [(t, a)] if 0 < a < 1 and t > -a else []
    grid += [(scale * u, start) for start in (0.2, 0.5, 0.8, 0.95, 0.05) for scale in (0.1, 1.0, 10.0, 0.001)]
    return np.array([pair[0] for pair in grid]), np.array([pair[1] for pair in grid])


def _fitted(classes: Array, sizes: Array, starts: tuple[Array, Array]) -> tuple[Array, Array]:
    """Newton's steps for all rows of class counts, or for one row from all starts; NaN where they do not end."""
    t, a = (start.astype(float).copy() for start in starts)
    classes = np.broadcast_to(classes, (len(t), classes.shape[1]))
    done = np.zeros(len(t), bool)
    for _ in range(_STEPS):
        at = np.flatnonzero(~done)
        if not len(at):
            break
        step_t, step_a = _step(t[at], a[at], classes[at], sizes)
        lost = ~(np.isfinite(step_t) & np.isfinite(step_a))
        step_t[lost] = step_a[lost] = 0.0
        # stay inside 0 < a < 1, t > -a: at most nine tenths of the way to the border
        part = np.ones(len(at))
        for now, step in ((a[at], step_a), (1 - a[at], -step_a), (t[at] + a[at], step_t + step_a)):
            beyond = now + step < 0.1 * now
            part[beyond] = np.minimum(part[beyond], -0.9 * now[beyond] / step[beyond])
        t[at] += part * step_t
        a[at] += part * step_a
        ended = (np.abs(step_t) <= 1e-9 * (1 + np.abs(t[at]))) & (np.abs(step_a) <= 1e-11)
        a[at[lost]] = np.nan
        done[at] = ended | lost
    a[~done] = np.nan
    a[(a < _NEAR_BORDER) | (a > 1 - _NEAR_BORDER)] = np.nan
    return t, a


def _step(t: Array, a: Array, classes: Array, sizes: Array) -> tuple[Array, Array]:
    """One step of Newton's method up the likelihood; where it is not concave, up its gradient."""
    from scipy.special import digamma, zeta  # zeta(2, x) is the trigamma function

    u, n = classes.sum(axis=1), classes @ sizes
    ratio = t / a
    with np.errstate(all="ignore"):
        sum_1 = (digamma(u + ratio) - digamma(1 + ratio)) / a  # of 1 / (t + i a), i = 1 .. u-1
        sum_2 = (zeta(2, 1 + ratio) - zeta(2, u + ratio)) / a**2  # of its square
        sum_i = (u - 1 - t * sum_1) / a  # of i / (t + i a)
        sum_i2 = (sum_1 - t * sum_2) / a  # of i / (t + i a)^2
        sum_ii2 = (u - 1 - 2 * t * sum_1 + t**2 * sum_2) / a**2  # of i^2 / (t + i a)^2
        inner = sizes[None, :] - a[:, None]
        grown = ((digamma(inner) - digamma(1 - a)[:, None]) * classes).sum(axis=1)
        grown_2 = ((zeta(2, 1 - a)[:, None] - zeta(2, inner)) * classes).sum(axis=1)
        by_t = sum_1 - (digamma(n + t) - digamma(1 + t))
        by_a = sum_i - grown
        tt = (zeta(2, 1 + t) - zeta(2, n + t)) - sum_2
        ta, aa = -sum_i2, -sum_ii2 - grown_2
        determinant = tt * aa - ta * ta
        step_t = -(aa * by_t - ta * by_a) / determinant
        step_a = -(tt * by_a - ta * by_t) / determinant
        flat = (determinant <= 0) | (tt >= 0)
        step_t[flat] = np.sign(by_t[flat]) * np.minimum(0.5 * (t + a)[flat], 0.5 * np.abs(t[flat]) + 0.1)
        step_a[flat] = np.sign(by_a[flat]) * 0.2 * np.minimum(a, 1 - a)[flat]
    return step_t, step_a
