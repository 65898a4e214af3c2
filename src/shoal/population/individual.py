"""Individual risk with weights (Benedetti and Franconi): the chance that a match with a record of a sample is right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.table import Array
from shoal.table.classes import Codes

# classes below this size are stepped up from a class of one, larger ones summed as a series
_LARGE = 40


def expected_risk(sizes: Array, people: Array) -> Array:
    """E[1/F | f]: the chance that a match is right in a class of f records that stand for F^ people, p = f / F^.

    (p / f) 2F1(1, 1; f+1; 1-p), the mean over F - f negative binomial. It equals p times the integral over (0, 1) of
    v^(f-1) / (p + (1-p) v), whence r(1) = p/(1-p) ln(1/p) and r(f+1) = p/(1-p) (1/f - r(f)), which is stable for
    p < 1/2; elsewhere the series in 1 - p converges in a few dozen terms. Where F^ <= f, all people are there: 1/f.

    >>> expected_risk(np.array([1, 2, 3]), np.array([2, 4, 3])).round(6).tolist()
    [0.693147, 0.306853, 0.333333]
    """
    sizes = np.asarray(sizes, np.int64)
    share = np.minimum(sizes / np.maximum(people, sizes), 1.0)
    risk = np.empty(len(sizes))
    by_steps = (share < 0.5) & (sizes < _LARGE)
    risk[by_steps] = _stepped(sizes[by_steps], share[by_steps])
    risk[~by_steps] = _summed(sizes[~by_steps], share[~by_steps])
    return risk


def _stepped(sizes: Array, share: Array) -> Array:
    """By the recurrence, for p < 1/2."""
    odds = share / (1 - share)
    risk = -odds * np.log(share)
    found = risk.copy()
    for size in range(1, int(sizes.max(initial=1))):
        risk = odds * (1 / size - risk)
        found[sizes == size + 1] = risk[sizes == size + 1]
    return np.asarray(found)


def _summed(sizes: Array, share: Array) -> Array:
    """By the series t(0) = 1, t(n+1) = t(n) (n+1)(1-p) / (f+1+n)."""
    total, term = np.ones(len(sizes)), np.ones(len(sizes))
    step = 0
    while (term > 1e-17 * total).any():
        term = term * ((step + 1) * (1 - share) / (sizes + 1 + step))
        total += term
        step += 1
    return np.asarray(share / sizes * total)


def approximate_risk(sizes: Array, people: Array) -> Array:
    """The approximation of sdcMicro: exact for classes of one and two, p / (f - (1 - p)) for larger ones.

    >>> approximate_risk(np.array([1, 3]), np.array([2, 6])).round(6).tolist()
    [0.693147, 0.2]
    """
    sizes = np.asarray(sizes, np.int64)
    share = np.minimum(sizes / np.maximum(people, sizes), 1.0)
    small = sizes <= 2
    risk = share / (sizes - (1 - share))
    risk[small] = expected_risk(sizes[small], np.asarray(people)[small])
    return np.where(share < 1, risk, 1 / sizes)


def household_risk(risks: Array, household: Codes) -> Array:
    """The chance that somebody of a record's household is re-identified: 1 - the product of 1 - r over its records.

    >>> from shoal.table.classes import Coded
    >>> household_risk(np.array([0.5, 0.5, 0.1]), Coded(np.array([0, 0, 1]), 2)).round(6).tolist()
    [0.75, 0.75, 0.1]
    """
    with np.errstate(divide="ignore"):
        nobody = np.bincount(household.codes, np.log1p(-risks), household.cardinality)
    return np.asarray(-np.expm1(nobody))[household.codes]


class GlobalThreshold(NamedTuple):
    """The individual risk above which records must be protected, and how many there are."""

    risk: float
    records: int


def threshold_for(risks: Array, limit: float) -> GlobalThreshold:
    """The highest r* for which the global risk, the mean of min(r, r*), stays within a limit.

    Records above r* are those to protect: once their risk is at most r*, the file keeps the limit.

    >>> threshold_for(np.array([0.0, 0.25, 1.0]), 0.25)
    GlobalThreshold(risk=0.5, records=1)
    """
    ordered = np.sort(risks)
    count = len(ordered)
    if float(ordered.mean()) <= limit:
        return GlobalThreshold(float(ordered[-1]), 0)
    # with r* at the place-th risk, those below keep theirs and the others have r*
    below = np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    rest = np.arange(count, 0, -1)
    place = int(np.searchsorted((below + rest * ordered) / count, limit, side="right"))
    level = (limit * count - below[place]) / rest[place]
    return GlobalThreshold(float(level), int(np.count_nonzero(risks > level)))
