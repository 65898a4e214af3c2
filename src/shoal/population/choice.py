"""Which estimators there are, and which one to believe: the one that predicts the sample itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.errors import InputError, Message
from shoal.population.base import Estimator, SampleClasses, around, estimate, variance_of
from shoal.population.estimators import Dis, Pitman, SlideNegativeBinomial, Zayatz
from shoal.population.log_linear import LogLinear
from shoal.population.network import Network
from shoal.population.prediction import error_of, model_variance, predictions
from shoal.population.results import Estimate, Prediction
from shoal.storage import Array

ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.name: estimator for estimator in (Network, Pitman, Zayatz, SlideNegativeBinomial, LogLinear, Dis)
}
# those that are asked to predict the sample; the model of the columns is left for one of class sizes alone only where
# it misses beyond its own intervals and the other is wrong by less than half as much
_JUDGED = ("network", "pitman", "zayatz", "snb")
_CLEARLY = 0.5
# an estimator that is wrong by this much, as `log_crowding`, predicts nothing
_NOTHING = 1.0
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
    predictions: list[Prediction] = field(default_factory=list)


def estimate_population(sample: SampleClasses, wanted: str | None = None) -> Chosen:
    """Estimate by what predicts the sample best; by `all` estimators with the same choice; or by one that is named.

    >>> import numpy as np
    >>> found = estimate_population(SampleClasses(np.array([1, 2, 9]), np.array([600, 120, 30]), 50000))
    >>> found.name, [entry.estimator for entry in found.estimates]
    ('snb', ['pitman', 'zayatz', 'snb'])
    """
    if wanted not in (None, "all", *ESTIMATORS):
        known = ", ".join(["all", *ESTIMATORS])
        raise InputError("There is no estimator of that name.", Message("Use one of: {} ({estimate}).", known))
    if wanted not in (None, "all"):
        found, chances = estimate(ESTIMATORS[str(wanted)](), sample)
        named = found.estimator if found.status == "ok" else None
        return Chosen([found], named, "asked for by name" if named else None, chances)
    names = ESTIMATORS if wanted == "all" else [name for name in _JUDGED if name != "network" or sample.tuples]
    found_by = {name: estimate(ESTIMATORS[name](), sample) for name in names}
    good = {name: ESTIMATORS[name]() for name in _JUDGED if name in found_by and found_by[name][0].status == "ok"}
    made = predictions(sample, good)
    name, reason = _best(good, made, sample)
    if name is not None and made:
        found, chances = found_by[name]
        found_by[name] = (_with_model_error(found, made, sample), chances)
    elif not good:
        found_by["dis"] = found_by.get("dis") or estimate(Dis(), sample)
        if found_by["dis"][0].status == "ok":
            name, reason = "dis", "no model gives an estimate; this one assumes none"
    estimates = [found for found, _ in found_by.values()]
    return Chosen(estimates, name, reason, found_by[name][1] if name else None, made)


def _best(
    good: Mapping[str, Estimator], made: list[Prediction], sample: SampleClasses
) -> tuple[str | None, str | None]:
    """The estimator that is least wrong about the sample, and how wrong it is."""
    if not good:
        return None, None
    if sample.share >= 1:
        return next(iter(good)), "the sample is the whole population: uniques are counted, not estimated"
    errors = {name: error_of(made, name) for name in good}
    name = min(errors, key=lambda name: errors[name])
    if "network" in errors:
        beyond = model_variance(made, "network", sample.share) > 0
        name = name if beyond and errors[name] < _CLEARLY * errors["network"] else "network"
    if errors[name] > _NOTHING and model_variance(made, name, sample.share) > _NOTHING**2:
        return None, "no estimator predicts the sample's own share of uniques from parts of it"
    return name, f"predicts the sample's own share of uniques from parts of it with an error of {errors[name]:.2g}"


def _with_model_error(found: Estimate, made: list[Prediction], sample: SampleClasses) -> Estimate:
    """The interval with what the predictions of the sample were wrong by beyond their own intervals."""
    if found.uniqueness is None:
        return found
    own = 0.0 if found.low is None or found.high is None else variance_of(found.low, found.high)
    more = model_variance(made, found.estimator, sample.share)
    low, high = around(found.uniqueness, own + more, sample.uniques / sample.records)
    return replace(found, low=min(low, found.low or low), high=max(high, found.high or high))


def dankar(sample: SampleClasses) -> tuple[Estimate | None, str | None]:
    """The rule of Dankar et al. (2012), by class sizes alone: Pitman for samples of up to 10%, Zayatz where it fails;
    for larger ones the lower of the slide negative binomial and Zayatz; DIS where none answers. With the reason.

    >>> import numpy as np
    >>> dankar(SampleClasses(np.array([1, 2, 9]), np.array([60, 12, 3]), 5000))[1]
    'the sample is 0.0222 of the population, up to 0.1: Pitman'
    """
    found = {
        name: estimate(ESTIMATORS[name](), sample, interval=False)[0] for name in ("pitman", "zayatz", "snb", "dis")
    }
    good = {name: entry for name, entry in found.items() if entry.status == "ok"}
    size = f"the sample is {sample.share:.3g} of the population"
    if sample.share >= 1 and good:
        return next(iter(good.values())), "the sample is the whole population: uniques are counted, not estimated"
    if sample.share <= _SMALL and "pitman" in good:
        return good["pitman"], f"{size}, up to 0.1: Pitman"
    if sample.share <= _SMALL and "zayatz" in good:
        return good["zayatz"], f"{size}, up to 0.1, and Pitman gives no estimate: Zayatz"
    both = [good[name] for name in ("snb", "zayatz") if name in good]
    if both:
        return min(both, key=lambda entry: entry.uniqueness or 0.0), f"{size}, over 0.1: the lower of snb and zayatz"
    return (good["dis"], "no model gives an estimate; this one assumes none") if "dis" in good else (None, None)
