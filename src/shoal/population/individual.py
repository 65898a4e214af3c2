"""Individual risk with weights (Benedetti and Franconi): the chance that a match with a record of a sample is right."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Codes

# classes below this size are stepped up from a class of one, larger ones summed as a series
_LARGE = 40


def expected_risk(sizes: Array, people: Array) -> Array:
    """E[1/F | f]: the chance that a match is right in a class of f records that stand for F^ people, p = f / F^.

    (p / f) 2F1(1, 1; f+1; 1-p), the mean over F - f negative binomial. It equals p times the integral over (0, 1) of
    v^(f-1) / (p + (1-p) v), whence r(1) = p/(1-p) ln(1/p) and r(f+1) = p/(1-p) (1/f - r(f)), which is stable for
    p < 1/2; elsewhere the series in 1 - p converges in a few dozen terms. Where F^ <= f, all people are there: 1/f.
    (scipy's hyp2f1 overflows from a hundred records on, and takes twenty times as long.) Where a match counts in part,
    f is no whole number: the steps begin at one in [1, 2).

    >>> expected_risk(np.array([1, 2, 3]), np.array([2, 4, 3])).round(6).tolist()
    [0.693147, 0.306853, 0.333333]
    """
    sizes = np.asarray(sizes)
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
    steps = np.asarray(sizes // 1, np.int64) - 1
    first = sizes - steps
    if (parts := first != 1).any():
        from scipy.special import hyp2f1

        risk[parts] = share[parts] / first[parts] * hyp2f1(1, 1, first[parts] + 1, 1 - share[parts])
    found = risk.copy()
    for step in range(int(steps.max(initial=0))):
        risk = odds * (1 / (first + step) - risk)
        found[steps == step + 1] = risk[steps == step + 1]
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


def alone_is_certain(sizes: Array, people: Array) -> Array:
    """The risk by F^ alone where not all classes are at hand, and so no estimator can be asked: uniques count as found.

    >>> alone_is_certain(np.array([1, 2]), np.array([100.0, 200.0])).round(4).tolist()
    [1.0, 0.0096]
    """
    return np.where(np.asarray(sizes) == 1, 1.0, expected_risk(sizes, people))


# how often a class of the sample may stand for fewer people than is said
MISSED = 0.05


def least_people(sizes: Array, people: Array, population: float) -> Array:
    """The fewest people whom classes of f records stand for: true of all classes at once, in 95 of 100 samples.

    A group of F people shows f or more of them in a sample of the share p with the chance P(Bin(F, p) >= f), and N
    people make at most N / F such groups. So the expected number of groups of fewer than k people that show f records
    is at most N max P(Bin(F, p) >= f) / F over F < k: k is the least whose own groups exceed 0.05. Nothing is supposed
    of the population; its persons are drawn independently, each with the share p = f / F^ of its class.

    >>> least_people(np.array([1, 3, 4, 5]), np.array([50.0, 150.0, 200.0, 250.0]), 20_000).tolist()
    [1.0, 3.0, 10.0, 22.0]
    """
    from scipy.special import betainc  # P(Bin(F, p) >= f)

    keys, place = np.unique(np.stack([np.asarray(sizes, np.float64), np.asarray(people)]), axis=1, return_inverse=True)
    records, share = keys[0], np.minimum(keys[0] / np.maximum(keys[1], keys[0]), 1.0)
    # from f people on the groups that show f of them become more frequent, up to f / p people, who are too many
    low, high = records.copy(), np.ceil(records / share)
    while (low < high).any():
        middle = np.floor((low + high) / 2)
        groups = population / middle * betainc(records, middle - records + 1, share)
        low, high = np.where(groups > MISSED, low, middle + 1), np.where(groups > MISSED, middle, high)
    return np.asarray(low)[place.ravel()]


def approximate_risk(sizes: Array, people: Array) -> Array:
    """The approximation of sdcMicro: exact for classes of one and two, p / (f - (1 - p)) for larger ones.

    >>> approximate_risk(np.array([1, 3]), np.array([2, 6])).round(6).tolist()
    [0.693147, 0.2]
    """
    sizes = np.asarray(sizes)
    share = np.minimum(sizes / np.maximum(people, sizes), 1.0)
    small = sizes <= 2
    risk = share / (sizes - (1 - share))
    risk[small] = expected_risk(sizes[small], np.asarray(people)[small])
    return np.where(share < 1, risk, 1 / sizes)


def household_risk(risks: Array, household: Codes) -> Array:
    """The chance that somebody of a record's household is re-identified: 1 - the product of 1 - r over its records.

    >>> from shoal.storage.classes import Coded
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


# The risk of the records of a sample without weights: the share that was drawn, and what the class sizes say of it.


# what F^ = f / p is called, where no estimator says that a match is right with a greater chance
PROPORTIONAL = "proportional"


class SampledRisk(NamedTuple):
    """The risk of a record of each class, and the estimator that decided on the highest; none with the reason.

    `upper`: the upper end of the risks, where an estimator has an interval.
    """

    risks: Array | None
    estimator: str = ""
    reason: str | None = None
    upper: Array | None = None


def sampled_risk(sizes: Array, classes: Array, share: float) -> SampledRisk:
    """The risk in classes of these sizes of a sample that is this share p of its population.

    E[1/F | f] with F^ = f / p is the same for every unique, however much its columns tell. So the greater of it and of
    what the class sizes say decides: for uniques the chance that a match is right by a Poisson mixture, whose upper end
    is in `upper`; for larger classes the pooled chance of DIS, one size up, over the classes of up to f records
    (`_one_size_up`), never above 1 / f.

    >>> found = sampled_risk(np.array([1, 9]), np.array([500, 1]), 0.01)
    >>> found.risks.round(3).tolist(), found.estimator
    ([0.971, 0.111], 'poisson-mixture')
    >>> sampled_risk(np.array([2, 3]), np.array([40, 60]), 0.01).estimator
    'proportional'
    """
    there, place = np.unique(sizes, return_inverse=True)
    counts = np.bincount(place, classes, len(there))
    if not np.isfinite(share) or share <= 0:
        return SampledRisk(None, reason="the share of the population is not known")
    risk = expected_risk(there, there / min(share, 1.0))
    stepped = np.minimum(_one_size_up(there, counts, share), 1 / there)
    by = np.where(stepped > risk, "dis", PROPORTIONAL).astype(object)
    risk = np.maximum(risk, stepped)
    upper = risk.copy()
    if len(there) and there[0] == 1 and share < 1:
        chance, most = _of_uniques(there, counts, share)
        if not np.isfinite([chance, most]).all():
            return SampledRisk(None, reason="no estimator says with which chance a match with a unique is right")
        risk[0], by[0] = expected_risk(there[:1], there[:1] / share)[0], PROPORTIONAL
        upper[0] = max(risk[0], min(most, 1.0))
        # where nobody shares a combination, the sample cannot tell how many do in the population
        chance = most if len(there) == 1 else chance
        if chance > risk[0]:
            risk[0], by[0] = min(chance, 1.0), "poisson-mixture"
    if not np.isfinite(risk).all():
        return SampledRisk(None, reason="the risk is not a finite number")
    decided = str(by[int(np.argmax(risk))]) if len(risk) else PROPORTIONAL
    return SampledRisk(risk[place], decided, upper=upper[place])


def weighted_risk(sizes: Array, classes: Array, people: Array) -> SampledRisk:
    """E[1/F | f] by the weights of each class; its upper end for uniques by what the sizes of all classes say, too.

    E[1/F | f] is the same for every unique of a weight, however much its columns tell. Uniques are looked at by their
    share f / F^ in powers of two, each at its highest.

    >>> found = weighted_risk(np.array([1, 2]), np.array([900, 50]), np.array([20.0, 40.0]))
    >>> found.risks.round(3).tolist(), found.upper.round(3).tolist()
    ([0.158, 0.044], [0.826, 0.044])
    """
    share = np.minimum(sizes / np.maximum(people, sizes), 1.0)
    risks = expected_risk(sizes, people)
    upper = alone_is_certain(sizes, people)
    unique = sizes == 1
    step = np.floor(np.log2(share))
    for here in (unique & (step == one) for one in np.unique(step[unique])):
        found = sampled_risk(sizes, classes, float(share[here].max())).upper
        if found is not None:
            upper[here] = np.maximum(found[here], risks[here])
    return SampledRisk(risks, PROPORTIONAL, upper=upper)


def _of_uniques(sizes: Array, classes: Array, share: float) -> tuple[float, float]:
    """The chance that a match with a unique is right, by what the class sizes say, and its upper end; NaN for none."""
    from shoal.population.base import NoEstimate, SampleClasses
    from shoal.population.mixture import PoissonMixture

    try:
        found = PoissonMixture().find(SampleClasses(sizes, classes, float(sizes @ classes) / share))
    except NoEstimate:
        return np.nan, np.nan
    if not found.uniqueness or found.match_correct is None or found.high is None:
        return np.nan, np.nan
    # the chance that a match is right varies less than the share of those who are alone
    return found.match_correct, found.match_correct * found.high / found.uniqueness


def _one_size_up(sizes: Array, classes: Array, share: float) -> Array:
    """n / sum of F over the classes of up to f records, where those of j records have j n_j + (j+1) n_(j+1) (1-p)/p
    people together: DIS (Skinner and Elliot 2002) for classes of more than one."""
    following = np.zeros(len(sizes))
    if len(sizes) > 1:
        next_is_one_up = sizes[1:] == sizes[:-1] + 1
        following[:-1][next_is_one_up] = (sizes[1:] * classes[1:])[next_is_one_up]
    people = np.cumsum(sizes * classes + following * (1 - min(share, 1.0)) / share)
    return np.asarray(np.cumsum(classes) / people)
