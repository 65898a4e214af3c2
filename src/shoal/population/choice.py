"""Which estimators there are, and which one to believe: the one that predicts the sample itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shoal.errors import InputError, Message
from shoal.population.base import Estimator, SampleClasses, around, estimate, variance_of
from shoal.population.estimators import Dis, Pitman, SlideNegativeBinomial, Zayatz
from shoal.population.log_linear import LogLinear
from shoal.population.mixture import PoissonMixture
from shoal.population.network import Network
from shoal.population.prediction import error_of, model_variance, predictions
from shoal.population.results import Estimate, Prediction
from shoal.storage import Array
from shoal.wording import counted, percent

ESTIMATORS: dict[str, type[Estimator]] = {
    estimator.name: estimator
    for estimator in (Network, PoissonMixture, Pitman, Zayatz, SlideNegativeBinomial, LogLinear, Dis)
}
# those that are asked to predict the sample, whose intervals were seen to hold, the more general first: it is left for
# the other only where it misses beyond its own interval and the other is wrong by less than half as much
_JUDGED = ("network", "poisson-mixture")
_CLEARLY = 0.5
# an estimator that is wrong by this much, as `log_crowding`, predicts nothing
_NOTHING = 1.0


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

    Where none is chosen, those that were asked are returned with their reasons.

    >>> import numpy as np
    >>> found = estimate_population(SampleClasses(np.array([1, 2, 9]), np.array([600, 120, 30]), 50000))
    >>> found.name, [entry.estimator for entry in found.estimates]
    ('poisson-mixture', ['poisson-mixture'])
    """
    if wanted not in (None, "all", *ESTIMATORS):
        known = ", ".join(["all", *ESTIMATORS])
        raise InputError("There is no estimator of that name.", Message("Use one of: {} ({estimate}).", known))
    if wanted not in (None, "all"):
        found, chances = estimate(ESTIMATORS[str(wanted)](), sample)
        named = found.estimator if found.status == "ok" else None
        return Chosen([found], named, "asked for by name" if named else None, chances)
    names = ESTIMATORS if wanted == "all" else [name for name in _JUDGED if name != "network" or sample.tuples]
    found_by = {name: estimate(ESTIMATORS[name](), sample, interval=wanted == "all") for name in names}
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
    shown = [name] if name and wanted is None else list(found_by)
    estimates = [found_by[entry][0] for entry in shown]
    if good and name is None and wanted is None and reason:  # a figure that nothing speaks for is not given
        estimates = [_withheld(entry, reason) if entry.status == "ok" else entry for entry in estimates]
    return Chosen(estimates, name, reason, found_by[name][1] if name else None, made)


def _withheld(found: Estimate, reason: str) -> Estimate:
    nothing = (None, None, None, None, None, None)
    return Estimate(found.estimator, *nothing, "no estimate", reason, found.assumes)


def _best(
    good: Mapping[str, Estimator], made: list[Prediction], sample: SampleClasses
) -> tuple[str | None, str | None]:
    """The estimator that is least wrong about the sample, and how wrong it is."""
    if not good:
        return None, None
    if sample.share >= 1:
        return next(iter(good)), "the sample is the whole population: uniques are counted, not estimated"
    if not any(one.predicted is not None for one in made):
        return None, "the sample has too few records to see from parts of it how well it can be predicted"
    errors = {name: error_of(made, name) for name in good}
    name = min(errors, key=lambda name: errors[name])
    first = next(iter(good))
    beyond = model_variance(made, first, sample.share) > 0
    name = name if beyond and errors[name] < _CLEARLY * errors[first] else first
    if errors[name] > _NOTHING and model_variance(made, name, sample.share) > _NOTHING**2:
        return None, "no estimator predicts the sample's own share of uniques from parts of it"
    return name, _words(name, made)


def _words(name: str, made: list[Prediction]) -> str:
    """What it predicted of the sample, beside what is known."""
    own = [one for one in made if one.estimator == name]
    figures = sorted(one.predicted for one in own if one.predicted is not None)
    said = " to ".join(dict.fromkeys(percent(end) for end in (figures[0], figures[-1])))
    parts = counted(len(own), "part")
    return f"predicts from {parts} of the sample that {said} of it are unique; {percent(own[0].known)} are"


def _with_model_error(found: Estimate, made: list[Prediction], sample: SampleClasses) -> Estimate:
    """The interval with what the predictions of the sample were wrong by beyond their own intervals."""
    if found.uniqueness is None:
        return found
    own = 0.0 if found.low is None else variance_of(found.uniqueness, found.low)
    more = model_variance(made, found.estimator, sample.share)
    low, high = around(found.uniqueness, own + more, sample.uniques / sample.records)
    return replace(found, low=min(low, found.low or low), high=max(high, found.high or high))
