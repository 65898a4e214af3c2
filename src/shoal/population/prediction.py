"""How well estimators predict what is known: the sample's own share of uniques, from parts of the sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from shoal import progress
from shoal.population.base import SEED, Estimator, EstimatorResult, NoEstimate, SampleClasses, log_crowding, variance_of
from shoal.population.results import Prediction
from shoal.storage.classes import Coded

# the parts of the sample that are drawn: halves, and smaller ones while they keep so many records and the step from
# part to sample is not more than twice that from sample to population; two of each of a small sample
_SHARES = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32)
_LEAST = 100
_TWICE_BELOW = 8_000
# a sample that has fewer records predicts nothing of itself
_FEWEST = 50
# records that share a combination are few up to about so many
_FEW = 4
# no answer counts as an error of this size of `log_crowding`
_NO_ANSWER = 1.0


def predictions(sample: SampleClasses, estimators: Mapping[str, Estimator]) -> list[Prediction]:
    """What each estimator says of the sample when it sees a part of it only.

    >>> from shoal.population.estimators import Zayatz
    >>> sample = SampleClasses(np.array([1, 2, 3]), np.array([400, 300, 50]), 9000)
    >>> [(round(one.share, 2), round(one.known, 3)) for one in predictions(sample, {"zayatz": Zayatz()})][:2]
    [(0.49, 0.348), (0.51, 0.348)]
    """
    if not sample.uniques or sample.share >= 1 or sample.records < _FEWEST:
        return []
    known = sample.uniques / sample.records
    parts = list(_parts(sample))
    made = []
    for number, part in enumerate(parts):
        progress.report("predicting the sample from parts of it", number, len(parts))
        for name, estimator in estimators.items():
            try:
                result = estimator.find(part) if part.uniques else EstimatorResult(0.0, None)
            except NoEstimate:
                result = EstimatorResult(None, None)
            made.append(Prediction(name, part.share, part.records, known, result.uniqueness, result.low, result.high))
    return made


def _parts(sample: SampleClasses) -> Iterator[SampleClasses]:
    rng = np.random.default_rng(SEED)
    for share in _SHARES:
        if share < max(_SHARES) and (share * sample.records < _LEAST or share < sample.share / 2):
            continue
        for _ in range(2 if sample.records < _TWICE_BELOW else 1):
            part = _part(sample, share, rng)
            if part.records:
                yield part


def _part(sample: SampleClasses, share: float, rng: np.random.Generator) -> SampleClasses:
    """Records of the sample drawn at random; the sample is their population."""
    sizes = np.repeat(sample.sizes, sample.classes) if sample.counts is None else np.asarray(sample.counts)
    counts = rng.binomial(sizes, share)
    kept = counts > 0
    histogram = np.bincount(counts[kept])
    there = np.flatnonzero(histogram)
    tuples = None
    if sample.tuples is not None:
        tuples = [Coded(column.codes[kept], column.cardinality) for column in sample.tuples]
    people = float(sample.records)
    return SampleClasses(there, histogram[there], people, tuples, None if tuples is None else counts[kept])


def error_of(made: Sequence[Prediction], name: str) -> float:
    """The root mean square of an estimator's errors, as `log_crowding`; infinite where nothing was predicted.

    >>> made = [Prediction("a", 0.5, 500, 0.5, 0.5), Prediction("a", 0.25, 250, 0.5, None)]
    >>> round(error_of(made, "a"), 3)
    0.707
    """
    errors = [_error(one) for one in made if one.estimator == name]
    return float(np.sqrt(np.mean(np.square(errors)))) if errors else float("inf")


def _error(one: Prediction) -> float:
    """How far off it is. Shares nearer to one than a record of the sample are not told apart."""
    if one.predicted is None:
        return _NO_ANSWER
    most = 1 - one.share / one.records
    return log_crowding(min(one.predicted, most)) - log_crowding(min(one.known, most))


def _noise(one: Prediction) -> float:
    """The variance of the known figure, by chance: of the records that are not unique, which come in pairs at least.
    The logarithm of a few varies more than that of many in proportion."""
    sharing = max((1 - one.known) * one.records / one.share, 1.0)
    return 2 / sharing + (_FEW / sharing) ** 2


def model_variance(made: Sequence[Prediction], name: str, share: float) -> float:
    """What the errors of an estimator have beyond its own intervals and chance, for the step to a population of which
    the sample is a share: errors are taken to grow with the logarithm of the step.

    >>> model_variance([Prediction("a", 0.5, 500, 0.5, 0.5)], "a", 0.1)
    0.0
    """
    beyond = []
    for one in made:
        if one.estimator == name and one.predicted is not None:
            own = 0.0 if one.low is None else variance_of(one.predicted, one.low)
            beyond.append((_error(one) ** 2 - own - _noise(one)) * (np.log(share) / np.log(one.share)) ** 2)
    return max(float(np.mean(beyond)), 0.0) if beyond else 0.0
