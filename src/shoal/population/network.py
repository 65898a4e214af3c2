"""A Bayesian network over the columns, held against how often the records of the sample share their combination."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.population.base import SEED, EstimatorResult, NoEstimate, SampleClasses, around, log_crowding, variance_of
from shoal.population.mixture import PoissonMixture
from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, pack

# weights of the column alone in the chance of its value given another column's, of which the likeliest is taken
_SMOOTHING = (0.2, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 512, 4096)
# a pair of columns is counted in a table while it has so many cells for each tuple, else sorted
_CELLS = 8
# a column says something about another if it raises the mean log chance by so much
_LEAST_GAIN = 1e-4
# a column hangs on so many others at most
_PARENTS = 2
# records are shared out at random so often for the second opinion
_HALVINGS = 2


class Network:
    """P(combination) = product of P(column | at most two others); then how often records with such a P share it.

    The chance of each record's combination is computed from all *other* records: as a network in which each column
    hangs on at most two others, smoothed by one of them, that by the column alone, values never seen by Good-Turing.
    The number of others in its class is then taken for negative binomial with a mean c (n P)^b + e and a shape
    a (n P)^d, fitted to the sample: what the columns do not tell, the sample itself shows. e are records that share
    however rare their combination is, such as several of one person; it is 0 unless the sample clearly says otherwise.
    A unique is alone among N people with the chance
    ((a + mu) / (a + mu N / n))^a. A second opinion fits P on one half of the records and the rest on the other half;
    the estimate is the geometric mean of both. What the class sizes alone say (`PoissonMixture`) is added by how sure
    it is, where records have no weights.

    >>> rng = np.random.default_rng(0)
    >>> columns = {name: Coded(rng.integers(0, 9, 500), 9) for name in "abc"}
    >>> from shoal.storage.classes import CountTable
    >>> counted = CountTable.of(columns)
    >>> histogram = np.bincount(counted.counts)
    >>> sizes = np.flatnonzero(histogram)
    >>> sample = SampleClasses(sizes, histogram[sizes], 2000, list(counted.tuples.values()), counted.counts)
    >>> found = Network().find(sample)
    >>> round(found.uniqueness, 2), round(found.match_correct, 2)
    (0.1, 0.47)
    """

    name = "network"
    assumes = (
        "a random sample (with weights one drawn with the chance 1 / weight), and that rare combinations are shared "
        "as the sample's own are"
    )

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """The share of population uniques, the mean chance that a match is right, and that of each unique."""
        if sample.tuples is None or sample.counts is None:
            raise NoEstimate("the network needs columns of plain values: no persons, wildcards or generalised texts")
        columns = [Coded(*_dense(column.codes)) for column in sample.tuples]
        columns = sorted(
            (column for column in columns if column.cardinality > 1), key=lambda column: column.cardinality
        )
        if not columns:
            raise NoEstimate("no column varies")
        counts = np.asarray(sample.counts, np.int64)
        if counts.max() == 1 and any(column.cardinality == len(counts) for column in columns):
            raise NoEstimate("a column has another value in every record: how rare its values are cannot be seen")
        parents, logs = _grown(columns, counts)
        whole = _Opinion.of(logs, counts, counts, sample.weights, sample)
        rng = np.random.default_rng(SEED)
        halves = [opinion for _ in range(_HALVINGS) for opinion in _by_halves(columns, parents, counts, sample, rng)]
        logs_of_figures = [np.log(whole.figures), np.log(np.mean([half.figures for half in halves], axis=0))]
        uniqueness, right = np.exp(np.mean(logs_of_figures, axis=0)).tolist()
        uniqueness = float(np.exp(-np.exp(log_crowding(uniqueness) + _bias(sample))))
        most = _most(sample)
        folds = float(np.log(1 / sample.share))
        variance = _variance(sample) + (_BY_COPIES * folds if whole.copied else 0.0)
        uniqueness, right = _with_class_sizes(min(uniqueness, most), right, variance, sample)
        uniqueness = min(uniqueness, most)
        chances = np.where(counts == 1, np.minimum(whole.chances * right / whole.figures[1], 1.0), np.nan)
        low, high = around(uniqueness, variance + _BY_FOLDS * folds**2, most)
        remark = _SEVERAL if whole.copied and sample.drawn_together == 1 else None
        return EstimatorResult(uniqueness, min(right, 1.0), low, high, remark, chances)

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """It makes its own interval."""
        return None


# the variance of ln(-ln u) for each record that shares its combination, and for the step from n to N people, each
# for one record: measured on tables apart from the tests'
_BY_SHARING = 1.4
_BY_STEP = 0.15
_LEAST_VARIANCE = 2e-4
# beyond that, for each squared e-fold from the sample to the population; and for each where records share however rare
# their combination is
_BY_FOLDS, _BY_COPIES = 1e-3, 0.05
_SEVERAL = "some records share even the rarest combinations: if a person or household has several, name its column"
# what the variance of a model has beyond that, where two are weighed: of the network, and of class sizes alone for each
# squared e-fold from the sample to the population; what these say of themselves counts as often for each e-fold
_MODEL, _BY_CLASS_SIZES, _DOUBTED = 2e-3, 1e-3, 1.5
# chances that are taken from few records vary, so that too few seem to share: by so much of ln(-ln u) for each e-fold,
# of a sample of a thousand records
_TOO_FEW_SHARE, _OF_RECORDS, _POWER = 0.01, 1000, 0.25


def _bias(sample: SampleClasses) -> float:
    """By how much ln(-ln u) is taken for too low, measured on tables apart from the tests'."""
    return float(_TOO_FEW_SHARE * np.log(1 / sample.share) * (_OF_RECORDS / sample.records) ** _POWER)


def _most(sample: SampleClasses) -> float:
    """The share of the population that the sample's uniques stand for: nobody else is unique in it."""
    if sample.weights is None or sample.counts is None:
        return sample.uniques / sample.records
    return float(sample.weights[sample.counts == 1].sum() / (sample.weights @ sample.counts))


def _variance(sample: SampleClasses) -> float:
    """How far ln(-ln u) of the estimate varies: what is learned is learned from records that share."""
    sharing = max(sample.records - sample.uniques, 1)
    step = np.log(sample.people / sample.records) ** 2 / sample.records
    return float((_BY_SHARING / sharing + _BY_STEP * step) * sample.design_effect + _LEAST_VARIANCE)


def _with_class_sizes(uniqueness: float, right: float, variance: float, sample: SampleClasses) -> tuple[float, float]:
    """The figures with those that the sizes of the classes alone give, each by how sure it is."""
    try:
        other = PoissonMixture().find(sample)
    except NoEstimate:
        return uniqueness, right
    alone, other_right, low = other.uniqueness, other.match_correct, other.low
    if sample.weights is not None or alone is None or other_right is None or low is None:
        return uniqueness, right
    folds = float(np.log(1 / sample.share))
    own = 1 / (variance + _MODEL)
    theirs = 1 / (max(_DOUBTED * folds, 1.0) * variance_of(alone, low) + _BY_CLASS_SIZES * folds**2 + _LEAST_VARIANCE)
    part = theirs / (own + theirs)
    crowding = (1 - part) * log_crowding(uniqueness) + part * log_crowding(alone)
    return float(np.exp(-np.exp(crowding))), float(right ** (1 - part) * other_right**part)


def _dense(codes: Array) -> tuple[Array, int]:
    values, dense = np.unique(codes, return_inverse=True)
    return dense.reshape(-1), len(values)


def _grown(columns: Sequence[Coded], counts: Array) -> tuple[list[list[int]], Array]:
    """The columns that each column hangs on (with fewer values), and the log chance of each tuple."""
    parents: list[list[int]] = []
    logs = np.zeros(len(counts))
    least = _LEAST_GAIN * float(counts.sum())
    for place, column in enumerate(columns):
        chance, given = _alone(column, counts, 1), list[int]()
        worth = float(counts @ np.log(chance))
        for _ in range(_PARENTS):
            found: tuple[float, int, Array] | None = None
            for other in set(range(place)) - set(given):
                raised = _given(column, [columns[one] for one in (*given, other)], chance, counts, counts, 1)
                value = float(counts @ np.log(raised))
                if value > (worth + least if found is None else found[0]):
                    found = value, other, raised
            if found is None:
                break
            worth, chance = found[0], found[2]
            given.append(found[1])
        parents.append(given)
        logs += np.log(chance)
    return parents, logs


def _by_halves(
    columns: Sequence[Coded],
    parents: Sequence[Sequence[int]],
    counts: Array,
    sample: SampleClasses,
    rng: np.random.Generator,
) -> Iterator[_Opinion]:
    """Chances from one half of the records, sharing from the other; both ways."""
    half = rng.binomial(counts, 0.5)
    for mine, theirs in ((half, counts - half), (counts - half, half)):
        there = theirs > 0
        if not mine.any() or not there.any():
            continue
        logs = np.zeros(len(counts))
        for column, given in zip(columns, parents, strict=True):
            chance = _alone(column, mine, 0)
            for depth in range(1, len(given) + 1):
                chance = _given(column, [columns[one] for one in given[:depth]], chance, mine, theirs, 0)
            logs += np.log(chance)
        weights = None if sample.weights is None else sample.weights[there]
        yield _Opinion.of(logs[there], theirs[there], counts[there], weights, sample)


def _alone(column: Coded, counts: Array, own: int) -> Array:
    """The chance of a column's value; `own`: 1 if each record is left out of its own chance."""
    seen = np.bincount(column.codes, counts, column.cardinality)
    once, twice = int((seen == 1).sum()), int((seen == 2).sum())
    records = float(counts.sum())
    # Good-Turing: a new value has the chance of those seen once; Chao: how many such values there are
    new = (once + 0.5) / (records + 1)
    unseen = max(once * (once - 1) / 2 / (twice + 1) + own * once, 1.0)
    others = seen[column.codes] - own
    return np.asarray(np.where(others > 0, others / max(records - own, 1) * (1 - new), new / unseen))


def _given(column: Coded, others: Sequence[Coded], known: Array, counts: Array, judged: Array, own: int) -> Array:
    """The chance of a column's value given other columns', smoothed by what is known without the last of them as the
    judged records find likeliest."""
    other = others[0] if len(others) == 1 else Coded(*class_of_each_row(pack(list(others))))
    pair = _pair(column, other)
    both = np.bincount(pair, counts)[pair] - own
    each = np.bincount(other.codes, counts, other.cardinality)[other.codes] - own
    best, found = -np.inf, known
    for weight in _SMOOTHING:
        chance = (both + weight * known) / (each + weight)
        worth = float(judged @ np.log(chance))
        if worth > best:
            best, found = worth, chance
    return found


def _pair(column: Coded, other: Coded) -> Array:
    if column.cardinality * other.cardinality <= max(_CELLS * len(column.codes), 1 << 16):
        return np.asarray(other.codes.astype(np.int64) * column.cardinality + column.codes)
    return class_of_each_row(pack([other, column]))[0]


# classes of so many other records and more count as one in the fit: it is about those nearly alone
_CAP = 4
_BINS = 300
# what c, b, a and d are likely to be (logs of c and a) and how sure that is: from tables apart from the tests'
_LIKELY = np.array([0.7, 1.0, 3.3, 0.0])
_SURE = np.array([0.2, 0.03, 0.5, 0.05])
_LIMITS = [(-6.0, 6.0), (0.2, 2.0), (-3.5, 6.5), (-0.6, 0.6)]
# records share however rare their combination is where that raises the log likelihood by so much; logs of how many
_COPIES, _NONE, _MOST_COPIES = 16.0, -20.0, 2.0


class Sharing(NamedTuple):
    """The law of how many others share a record's combination: log c, b, log a, d, log e."""

    scale: float
    power: float
    shape: float
    slope: float
    copies: float = _NONE

    def mean_and_shape(self, logs: Array) -> tuple[Array, Array]:
        """For combinations of which so many records (as logs) are expected."""
        mean = np.exp(np.clip(self.scale + self.power * logs, -40, 40)) + np.exp(self.copies)
        return mean, np.exp(np.clip(self.shape + self.slope * logs, -4, 8))


def fitted_sharing(logs: Array, others: Array, records: Array) -> Sharing:
    """The likeliest law for classes with so many others, of so many records each."""
    from scipy.optimize import minimize
    from scipy.special import gammaln

    order = np.argsort(logs, kind="stable")
    total = float(records.sum())
    bins = int(np.clip(total // 50, 20, _BINS))
    place = np.empty(len(logs), np.int64)
    place[order] = np.minimum(np.cumsum(records[order]) / total * bins, bins - 1).astype(np.int64)
    held = np.bincount(place, records, bins)
    at = np.divide(np.bincount(place, records * logs, bins), held, out=np.zeros(bins), where=held > 0)
    cells = np.minimum(others, _CAP) + place * (_CAP + 1)
    seen = np.bincount(cells, records, bins * (_CAP + 1)).reshape(bins, _CAP + 1)
    number = np.arange(_CAP)

    def unlikely(values: Array) -> float:
        mean, shape = (entry[:, None] for entry in Sharing(*values).mean_and_shape(at))
        few = gammaln(number + shape) - gammaln(shape) - gammaln(number + 1)
        few = few + shape * np.log(shape / (shape + mean)) + number * np.log(mean / (shape + mean))
        many = np.log(np.clip(1 - np.exp(few).sum(axis=1), 1e-12, 1))
        likelihood = float((seen[:, :_CAP] * few).sum() + seen[:, _CAP] @ many)
        return (0.5 * float((((values[: len(_LIKELY)] - _LIKELY) / _SURE) ** 2).sum()) - likelihood) / total

    usual = minimize(unlikely, _LIKELY, method="L-BFGS-B", bounds=_LIMITS)
    rate = float((seen[:, 1:] @ np.arange(1, _CAP + 1)).sum()) / total
    start = [*usual.x, np.clip(np.log(max(rate, 1e-9) / _CAP), _NONE, _MOST_COPIES)]
    copied = minimize(unlikely, start, method="L-BFGS-B", bounds=[*_LIMITS, (_NONE, _MOST_COPIES)])
    return Sharing(*(copied if (usual.fun - copied.fun) * total > _COPIES else usual).x)


@dataclass(frozen=True)
class _Opinion:
    """The share of population uniques and the mean chance of a right match, the chance of each tuple, and whether
    records share however rare their combination is."""

    figures: Array
    chances: Array
    copied: bool

    @classmethod
    def of(cls, logs: Array, records: Array, counts: Array, weights: Array | None, sample: SampleClasses) -> _Opinion:
        """From tuples with their log chances, of which so many records are judged, so many are in the sample, and each
        stands for so many people."""
        judged = float(records.sum())
        expected = logs + np.log(judged)
        law = fitted_sharing(expected, records - 1, records)
        mean, shape = law.mean_and_shape(expected)
        alone = counts == 1
        people = np.full(len(counts), sample.people / sample.records) if weights is None else weights
        # of those who share the combination, none is among the judged: a gamma of this rate is left for the others
        none = (shape + mean) / (shape + mean * (1 + (people - 1) * sample.records / judged))
        unique = float((people[alone] * none[alone] ** shape[alone]).sum() / (people @ records))
        chances = _right(none, shape)
        right = float(chances[alone].mean()) if alone.any() else 0.0
        return cls(np.maximum([unique, right], 1e-300), chances, law.copies > _NONE)


def _right(none: Array, shape: Array) -> Array:
    """E[1 / (1 + X)], X negative binomial of a shape with `none` to its power as the chance of 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.abs(shape - 1) < 1e-6
        usual = (none - none**shape) / ((1 - none) * (shape - 1))
        border = -none * np.log(none) / (1 - none)
    return np.asarray(np.where(none > 1 - 1e-9, 1.0, np.where(near, border, usual)))
