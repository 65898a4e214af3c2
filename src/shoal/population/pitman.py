"""Pitman's sampling formula: a population in which new combinations keep turning up (Hoshino 2001)."""

from __future__ import annotations

import numpy as np

from shoal.population.base import Found, NoEstimate, SampleClasses
from shoal.population.special_functions import digamma, log_gamma, trigamma
from shoal.table import Array

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

    def find(self, sample: SampleClasses) -> Found:
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
        return Found(uniqueness, right)

    def resampled(self, classes: Array, sample: SampleClasses, found: Found) -> Array | None:
        """The uniqueness of class counts drawn anew."""
        t, a = _fitted(sample.classes[None, :].astype(float), sample.sizes, _starts(sample))
        good = int(np.flatnonzero(np.isfinite(a))[0])
        starts = (np.full(len(classes), t[good]), np.full(len(classes), a[good]))
        t, a = _fitted(classes.astype(float), sample.sizes, starts)
        people = (classes @ sample.sizes) / sample.share
        return _uniqueness(t, a, people)


def _uniqueness(t: Array, a: Array, people: Array | float) -> Array:
    good = np.isfinite(a)
    found = np.full(len(a), np.nan)
    people = np.broadcast_to(np.asarray(people, float), a.shape)[good]
    logs = log_gamma(t[good] + 1) - log_gamma(t[good] + a[good]) + (a[good] - 1) * np.log(people)
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
    u, n = classes.sum(axis=1), classes @ sizes
    ratio = t / a
    with np.errstate(all="ignore"):
        sum_1 = (digamma(u + ratio) - digamma(1 + ratio)) / a  # of 1 / (t + i a), i = 1 .. u-1
        sum_2 = (trigamma(1 + ratio) - trigamma(u + ratio)) / a**2  # of its square
        sum_i = (u - 1 - t * sum_1) / a  # of i / (t + i a)
        sum_i2 = (sum_1 - t * sum_2) / a  # of i / (t + i a)^2
        sum_ii2 = (u - 1 - 2 * t * sum_1 + t**2 * sum_2) / a**2  # of i^2 / (t + i a)^2
        inner = sizes[None, :] - a[:, None]
        grown = ((digamma(inner) - digamma(1 - a)[:, None]) * classes).sum(axis=1)
        grown_2 = ((trigamma(1 - a)[:, None] - trigamma(inner)) * classes).sum(axis=1)
        by_t = sum_1 - (digamma(n + t) - digamma(1 + t))
        by_a = sum_i - grown
        tt = (trigamma(1 + t) - trigamma(n + t)) - sum_2
        ta, aa = -sum_i2, -sum_ii2 - grown_2
        determinant = tt * aa - ta * ta
        step_t = -(aa * by_t - ta * by_a) / determinant
        step_a = -(tt * by_a - ta * by_t) / determinant
        flat = (determinant <= 0) | (tt >= 0)
        step_t[flat] = np.sign(by_t[flat]) * np.minimum(0.5 * (t + a)[flat], 0.5 * np.abs(t[flat]) + 0.1)
        step_a[flat] = np.sign(by_a[flat]) * 0.2 * np.minimum(a, 1 - a)[flat]
    return step_t, step_a
