"""The risk of the records of a sample without weights: the share that was drawn, and what the class sizes say of it."""

from __future__ import annotations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.population.individual import expected_risk
from shoal.table import Array

# what F^ = f / p is called, where no estimator says that a match is right with a greater chance
PROPORTIONAL = "proportional"


@dataclass(frozen=True)
class SampledRisk:
    """The risk of a record of each class, and the estimator that decided on the highest; none with the reason."""

    risks: Array | None
    estimator: str = ""
    reason: str | None = None


def sampled_risk(sizes: Array, classes: Array, share: float) -> SampledRisk:
    """The risk in classes of these sizes of a sample that is this share p of its population.

    E[1/F | f] with F^ = f / p is the same for every unique, however much its columns tell. So the greater of it and of
    what the class sizes say decides: for uniques the chance that a match is right by the estimator of Dankar's rule;
    for larger classes the pooled chance of DIS, one size up, over the classes of up to f records
    (`_one_size_up`), never above 1 / f.

    >>> found = sampled_risk(np.array([1, 9]), np.array([500, 1]), 0.01)
    >>> found.risks.round(3).tolist(), found.estimator
    ([0.993, 0.111], 'pitman')
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
    if len(there) and there[0] == 1 and share < 1:
        name, chance = _of_uniques(there, counts, share)
        if name is None:
            return SampledRisk(None, reason="no estimator says with which chance a match with a unique is right")
        risk[0], by[0] = expected_risk(there[:1], there[:1] / share)[0], PROPORTIONAL
        if chance > risk[0]:
            risk[0], by[0] = min(chance, 1.0), name
    if not np.isfinite(risk).all():
        return SampledRisk(None, reason="the risk is not a finite number")
    return SampledRisk(risk[place], str(by[int(np.argmax(risk))]) if len(risk) else PROPORTIONAL)


def alone_is_certain(sizes: Array, people: Array) -> Array:
    """The risk by F^ alone where not all classes are at hand, and so no estimator can be asked: uniques count as found.

    >>> alone_is_certain(np.array([1, 2]), np.array([100.0, 200.0])).round(4).tolist()
    [1.0, 0.0096]
    """
    return np.where(np.asarray(sizes) == 1, 1.0, expected_risk(sizes, people))


def _of_uniques(sizes: Array, classes: Array, share: float) -> tuple[str | None, float]:
    """The estimator that Dankar's rule takes, with its chance that a match with a unique is right."""
    from shoal.population.base import SampleClasses
    from shoal.population.choice import estimate_population

    sample = SampleClasses(sizes, classes, float(sizes @ classes) / share)
    chosen = estimate_population(sample, interval=False)
    found = next((entry for entry in chosen.estimates if entry.estimator == chosen.name), None)
    if found is None or found.match_correct is None or not np.isfinite(found.match_correct):
        return None, 1.0
    return found.estimator, found.match_correct


def _one_size_up(sizes: Array, classes: Array, share: float) -> Array:
    """n / sum of F over the classes of up to f records, where those of j records have j n_j + (j+1) n_(j+1) (1-p)/p
    people together: DIS (Skinner and Elliot 2002) for classes of more than one."""
    following = np.zeros(len(sizes))
    if len(sizes) > 1:
        next_is_one_up = sizes[1:] == sizes[:-1] + 1
        following[:-1][next_is_one_up] = (sizes[1:] * classes[1:])[next_is_one_up]
    people = np.cumsum(sizes * classes + following * (1 - min(share, 1.0)) / share)
    return np.asarray(np.cumsum(classes) / people)
