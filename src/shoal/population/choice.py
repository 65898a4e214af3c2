"""Which estimators there are, and which one to believe: the one that predicts the sample itself."""

from __future__ import annotations

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
# those that predict the sample from parts of it, where they are asked
_PREDICTING = (Network.name, PoissonMixture.name)
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
    # the one whose intervals were seen to hold: it takes class sizes into account, where it can look into the classes
    judged = PoissonMixture.name if sample.tuples is None else Network.name
    names = ESTIMATORS if wanted == "all" else [judged]
    found_by = {name: estimate(ESTIMATORS[name](), sample, interval=wanted == "all") for name in names}
    made: list[Prediction] = []
    name, reason = None, None
    if found_by[judged][0].status == "ok":
        made = predictions(sample, {name: ESTIMATORS[name]() for name in _PREDICTING if name in found_by})
        answers, reason = _verdict(judged, made, sample)
        found, chances = found_by[judged]
        if answers:
            name, found_by[judged] = judged, (_with_model_error(found, made, sample), chances)
        elif wanted is None:  # a figure that nothing speaks for is not given
            found_by[judged] = _withheld(found, reason), None
    elif sample.pairs and sample.uniques:
        found_by["dis"] = found_by.get("dis") or estimate(Dis(), sample)
        if found_by["dis"][0].status == "ok":
            name, reason = "dis", "no model gives an estimate; this one assumes none"
    return Chosen([found for found, _ in found_by.values()], name, reason, found_by[name][1] if name else None, made)


def _withheld(found: Estimate, reason: str) -> Estimate:
    nothing = (None, None, None, None, None, None)
    return Estimate(found.estimator, *nothing, "no estimate", reason, found.assumes)


def _verdict(name: str, made: list[Prediction], sample: SampleClasses) -> tuple[bool, str]:
    """Whether an estimator answers, with how well it predicts the sample or why it does not answer."""
    if sample.share >= 1:
        return True, "the sample is the whole population: uniques are counted, not estimated"
    if sample.tuples is None and sample.uniques == sample.records:
        return False, "no record shares its combination: class sizes do not say how many do in the population"
    if not any(one.predicted is not None for one in made if one.estimator == name):
        too_few = "records" if not made else "records that share a combination"
        return False, f"the sample has too few {too_few} to see from parts of it how well it can be predicted"
    if error_of(made, name) > _NOTHING and model_variance(made, name, sample.share) > _NOTHING**2:
        return False, "no estimator predicts the sample's own share of uniques from parts of it"
    return True, _words(name, made)


def _words(name: str, made: list[Prediction]) -> str:
    """What it predicted of the sample, beside what is known."""
    own = [one for one in made if one.estimator == name]
    figures = sorted(one.predicted for one in own if one.predicted is not None)
    said = " to ".join(dict.fromkeys(percent(end) for end in (figures[0], figures[-1])))
    parts = counted(len(own), "part")
    return f"predicts from {parts} of the sample that {said} of it are unique; {percent(own[0].known)} are"


def _with_model_error(found: Estimate, made: list[Prediction], sample: SampleClasses) -> Estimate:
    """The interval with what the predictions of the sample were wrong by beyond their own intervals."""
    if found.uniqueness is None or not made:
        return found
    own = 0.0 if found.low is None else variance_of(found.uniqueness, found.low)
    more = model_variance(made, found.estimator, sample.share)
    low, high = around(found.uniqueness, own + more, sample.uniques / sample.records)
    return replace(found, low=min(low, found.low or low), high=max(high, found.high or high))
