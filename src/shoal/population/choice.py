"""Which estimators there are, and which one to believe: Dankar's rule."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.errors import InputError, Message
from shoal.population.base import Estimator, SampleClasses, estimate
from shoal.population.estimators import Dis, Pitman, SlideNegativeBinomial, Zayatz
from shoal.population.log_linear import LogLinear
from shoal.population.results import Estimate
from shoal.storage import Array

ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.name: estimator for estimator in (Pitman, Zayatz, SlideNegativeBinomial, LogLinear, Dis)
}
# up to this share Dankar et al. take Pitman's model
_SMALL = 0.1


@dataclass(frozen=True)
class Chosen:
    """What all estimators say, the one that is chosen and why."""

    estimates: list[Estimate]
    name: str | None
    reason: str | None
    # the chance that a match is right for each tuple, by the chosen estimator
    chances: Array | None = None


def estimate_population(sample: SampleClasses, wanted: str | None = None, interval: bool = True) -> Chosen:
    """Estimate by Dankar's rule; by `all` estimators with the rule's choice; or by one that is named.

    >>> import numpy as np
    >>> found = estimate_population(SampleClasses(np.array([1, 2, 9]), np.array([60, 12, 3]), 5000))
    >>> found.name, [entry.estimator for entry in found.estimates]
    ('pitman', ['pitman'])
    """
    if wanted not in (None, "all", *ESTIMATORS):
        known = ", ".join(["all", *ESTIMATORS])
        raise InputError("There is no estimator of that name.", Message("Use one of: {} ({estimate}).", known))
    if wanted not in (None, "all"):
        found, chances = estimate(ESTIMATORS[str(wanted)](), sample, interval)
        named = found.estimator if found.status == "ok" else None
        return Chosen([found], named, "asked for by name" if named else None, chances)
    names = list(ESTIMATORS) if wanted == "all" else _looked_at(sample)
    found_by = {name: estimate(ESTIMATORS[name](), sample, interval) for name in names}
    if wanted is None and not any(found.status == "ok" for found, _ in found_by.values()):
        others = [name for name in ("zayatz", "dis") if name not in found_by]
        found_by |= {name: estimate(ESTIMATORS[name](), sample, interval) for name in others}
    name, reason = dankar({name: found for name, (found, _) in found_by.items()}, sample.share)
    return Chosen([found for found, _ in found_by.values()], name, reason, found_by[name][1] if name else None)


def _looked_at(sample: SampleClasses) -> list[str]:
    return ["pitman"] if sample.share <= _SMALL else ["snb", "zayatz"]


def dankar(found: dict[str, Estimate], share: float) -> tuple[str | None, str | None]:
    """The rule of Dankar et al. (2012): Pitman for samples of up to 10%, Zayatz where it fails; for larger ones the
    lower of the slide negative binomial and Zayatz.

    >>> dankar({}, 0.5)
    (None, None)
    """
    good = {name: entry for name, entry in found.items() if entry.status == "ok"}
    size = f"the sample is {share:.3g} of the population"
    if share >= 1 and good:
        return next(iter(good)), "the sample is the whole population: uniques are counted, not estimated"
    if share <= _SMALL:
        if "pitman" in good:
            return "pitman", f"{size}, up to 0.1: Dankar's rule takes Pitman"
        if "zayatz" in good:
            return "zayatz", f"{size}, up to 0.1, and Pitman gives no estimate: Dankar's rule takes Zayatz"
    both = [(good[name].uniqueness, name) for name in ("snb", "zayatz") if name in good]
    if len(both) == 2:
        lower = min((value, name) for value, name in both if value is not None)[1]
        return lower, f"{size}, over 0.1: Dankar's rule takes the lower of snb and zayatz"
    if both:
        return both[0][1], f"{size}, over 0.1: of snb and zayatz only this one gives an estimate"
    if "dis" in good:
        return "dis", "no model gives an estimate; this one assumes none"
    return None, None
