"""Poisson log-linear models (Skinner and Shlomo 2008): risk for each sample unique from how columns go together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.random import Generator

from shoal import progress
from shoal.population.base import SEED, EstimatorResult, NoEstimate, SampleClasses
from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.table import smallest_unsigned

# Poisson log-linear models of a table of counts: main effects and pairs of columns, fitted component by component.
#
# Columns that no pair joins are independent, so that each component of joined columns is a table of its own. Of a
# component only the combinations are kept that its pairs allow: where a pair of values was never seen together, the
# fitted mean is zero.


# combinations that are looked at when two components are joined
MOST_CELLS = 1 << 22
_SWEEPS = 40
_NEAR = 1e-6

Pair = tuple[int, int]


@dataclass(frozen=True)
class Component:
    """Joined columns: the codes of each combination that can occur, its chance, and the pairs that the model joins."""

    codes: Mapping[int, Array]
    chances: Array
    pairs: tuple[Pair, ...] = ()

    def places(self, pair: Pair, cards: Sequence[int]) -> Array:
        """The place of each combination in the table of a pair of its columns."""
        first, second = pair
        return np.asarray(self.codes[first].astype(np.int64) * cards[second] + self.codes[second])

    def at(self, codes: Sequence[Array], cards: Sequence[int]) -> Array:
        """The chance of each tuple's combination; 0 for one that cannot occur."""
        both = [
            Coded(np.concatenate([mine, codes[column].astype(mine.dtype)]), cards[column])
            for column, mine in self.codes.items()
        ]
        keys = pack(both).codes
        own, wanted = keys[: len(self.chances)], keys[len(self.chances) :]
        order = np.argsort(own)
        place = np.minimum(np.searchsorted(own, wanted, sorter=order), len(own) - 1)
        found = order[place]
        return np.asarray(np.where(own[found] == wanted, self.chances[found], 0.0))


@dataclass(frozen=True)
class Counts:
    """Distinct tuples as dense codes, and the records of each."""

    codes: tuple[Array, ...]
    cards: tuple[int, ...]
    records: Array

    @classmethod
    def of(cls, columns: Sequence[Coded], records: Array) -> Counts:
        """Only columns that vary, only values that occur."""
        dense = [np.unique(column.codes, return_inverse=True) for column in columns]
        kept = [(codes.reshape(-1), len(values)) for values, codes in dense if len(values) > 1]
        return cls(tuple(codes for codes, _ in kept), tuple(card for _, card in kept), records)

    def margin(self, columns: Sequence[int]) -> Array:
        """The share of records with each combination of some columns, the last running fastest."""
        shape = [self.cards[column] for column in columns]
        place = np.ravel_multi_index([self.codes[column] for column in columns], shape)
        return np.asarray(np.bincount(place, self.records, int(np.prod(shape))) / self.records.sum())

    def independent(self) -> list[Component]:
        """The model of main effects."""
        return [
            Component({place: np.arange(card, dtype=smallest_unsigned(card))}, self.margin([place]))
            for place, card in enumerate(self.cards)
        ]

    def pairs(self) -> list[Pair]:
        """All pairs of columns."""
        return list(combinations(range(len(self.cards)), 2))


def cells_if_joined(model: Sequence[Component], pair: Pair) -> int:
    """How many combinations are looked at to join a pair."""
    touched = _touched(model, pair)
    return len(touched[0].chances) * (len(touched[1].chances) if len(touched) == 2 else 1)


def _touched(model: Sequence[Component], pair: Pair) -> list[Component]:
    return [component for component in model if set(pair) & component.codes.keys()]


def with_pair(model: Sequence[Component], pair: Pair, counts: Counts) -> list[Component]:
    """The model with one more pair, fitted."""
    touched = _touched(model, pair)
    rest = [component for component in model if not set(pair) & component.codes.keys()]
    joined = _product(*touched) if len(touched) == 2 else touched[0]
    joined = Component(joined.codes, joined.chances, (*joined.pairs, pair))
    possible = counts.margin(pair)[joined.places(pair, counts.cards)] > 0
    joined = Component(
        {column: codes[possible] for column, codes in joined.codes.items()}, joined.chances[possible], joined.pairs
    )
    return [*rest, fitted(joined, {pair: counts.margin(pair) for pair in joined.pairs}, counts.cards)]


def _product(first: Component, second: Component) -> Component:
    """Two independent components as one."""
    mine, theirs = len(first.chances), len(second.chances)
    codes = {column: np.repeat(values, theirs) for column, values in first.codes.items()}
    codes |= {column: np.tile(values, mine) for column, values in second.codes.items()}
    return Component(codes, np.multiply.outer(first.chances, second.chances).ravel(), first.pairs + second.pairs)


def fitted(
    component: Component, margins: Mapping[Pair, Array], cards: Sequence[int], sweeps: int = _SWEEPS
) -> Component:
    """Iterative proportional fitting: scaled to each pair's margin in turn until all agree."""
    chances = component.chances
    places = {pair: component.places(pair, cards) for pair in margins}
    near = _NEAR * max(float(wanted.max()) for wanted in margins.values())
    for _ in range(sweeps):
        apart = 0.0
        for pair, wanted in margins.items():
            now = np.bincount(places[pair], chances, len(wanted))
            apart = max(apart, float(np.abs(now - wanted).max()))
            chances = chances * np.divide(wanted, now, out=np.zeros_like(now), where=now > 0)[places[pair]]
        if apart < near:
            break
    return Component(component.codes, chances, component.pairs)


def association(model: Sequence[Component], pair: Pair, counts: Counts) -> float:
    """How much of a pair the model leaves unexplained: (G^2 - df) / sqrt(2 df) of its table of two columns."""
    seen = counts.margin(pair)
    holding = _touched(model, pair)
    if len(holding) == 1:
        expected = np.bincount(holding[0].places(pair, counts.cards), holding[0].chances, len(seen))
    else:
        expected = np.outer(*(counts.margin([column]) for column in pair)).ravel()
    there = (seen > 0) & (expected > 0)
    deviance = 2 * float(counts.records.sum()) * float((seen[there] * np.log(seen[there] / expected[there])).sum())
    freedom = (counts.cards[pair[0]] - 1) * (counts.cards[pair[1]] - 1)
    return float((deviance - freedom) / np.sqrt(2 * freedom))


# the grid of ln(chance) on which combinations are counted where they are too many to list
_GRID = 256
_LISTED = 1 << 21
# a model is accepted if its error is not significant at 5%
_SIGNIFICANT = 1.96
# a column with more values than this share of the records tells nearly everybody apart
_NEARLY_ALL = 0.9
# population uniques among the records below which the model is asked for a tail that no sample shows
_LEAST_UNIQUES = 1e-6
# cells that the interval may touch, and how many samples it draws
_WORK = 4e8
_REFIT_SWEEPS = 4


class LogLinear:
    """f ~ Poisson(p L), F - f ~ Poisson((1-p) L), ln L = main effects and pairs of columns.

    tau1 = sum over sample uniques of exp(-(1-p) L): those that are population unique; tau2 = sum of
    (1 - exp(-(1-p) L)) / ((1-p) L): the expected right matches. Pairs are added, the strongest left first, until the
    minimum-error test B2 / sqrt(v) shows no more underfit; of the models on the way the one nearest 0 is kept.

    >>> rng = np.random.default_rng(0)
    >>> columns = {name: Coded(rng.integers(0, 9, 500), 9) for name in "abc"}
    >>> from shoal.storage.classes import CountTable
    >>> counted = CountTable.of(columns)
    >>> histogram = np.bincount(counted.counts)
    >>> sizes = np.flatnonzero(histogram)
    >>> sample = SampleClasses(sizes, histogram[sizes], 2000, list(counted.tuples.values()), counted.counts)
    >>> found = LogLinear().find(sample)
    >>> found.remark, round(found.uniqueness, 3), round(found.match_correct, 2)
    ('main effects and 0 of 3 pairs; minimum-error test -0.96', 0.071, 0.43)
    """

    name = "log-linear"
    assumes = "a simple random sample, and counts that are Poisson with main effects and pairs of columns"

    def find(self, sample: SampleClasses) -> EstimatorResult:
        """tau1 as a share, tau2 as the mean chance, the chance of each unique, and an interval."""
        if sample.tuples is None or sample.counts is None:
            raise NoEstimate("the model needs columns of plain values: no persons, wildcards or generalised texts")
        counts = Counts.of(sample.tuples, sample.counts)
        if len(counts.cards) < 2:
            raise NoEstimate("the model needs two columns that vary: one alone is fitted exactly and says nothing")
        if max(counts.cards) > _NEARLY_ALL * sample.records:
            raise NoEstimate("a column has another value in nearly every record: the model cannot tell who shares it")
        best, skipped = _selected(counts, sample)
        left_out = f"; {skipped} pairs have too many combinations to fit and are left out" if skipped else ""
        if not np.isfinite([best.test, best.unique, best.right]).all():
            raise NoEstimate("the expected people of a combination are too many or too few to compute with")
        if best.unique < _LEAST_UNIQUES:
            raise NoEstimate(
                "so small a share leaves only the far tail of the Poisson model, which it says nothing about"
            )
        if abs(best.test) > _SIGNIFICANT:
            what = "underfit" if best.error > 0 else "overfit"
            raise NoEstimate(
                f"the minimum-error test rejects every model that was tried ({what}, {best.test:+.1f})" + left_out
            )
        uniques = counts.records == 1
        chances = np.where(uniques, _right(best.expected, 1 - sample.share), np.nan)
        spread = _spread(best, counts, sample)
        low, high = max(best.unique - spread, 0.0), min(best.unique + spread, float(sample.uniques))
        pairs = sum(len(component.pairs) for component in best.model)
        remark = (
            f"main effects and {pairs} of {len(counts.pairs())} pairs; minimum-error test {best.test:+.2f}{left_out}"
        )
        records = sample.records
        return EstimatorResult(
            best.unique / records, best.right / sample.uniques, low / records, high / records, remark, chances
        )

    def resampled(self, classes: Array, sample: SampleClasses, found: EstimatorResult) -> Array | None:
        """It makes its own interval."""
        return None


@dataclass(frozen=True)
class _Judged:
    """A model with what it says: tau1, tau2, and the error of tau2 with its standard deviation."""

    model: list[Component]
    # the people expected behind each tuple
    expected: Array
    unique: float
    right: float
    error: float
    spread: float

    @property
    def test(self) -> float:
        return self.error / self.spread if self.spread else 0.0


def _selected(counts: Counts, sample: SampleClasses) -> tuple[_Judged, int]:
    """Forward selection: the model on the way whose error is nearest 0, and how many pairs were too large to try."""
    model = counts.independent()
    best = judged = _judge(model, counts, sample)
    left = counts.pairs()
    skipped: set[Pair] = set()
    while judged.error > 0:
        progress.report("log-linear model", len(counts.pairs()) - len(left), len(counts.pairs()))
        skipped |= {pair for pair in left if cells_if_joined(model, pair) > MOST_CELLS}
        open_pairs = [pair for pair in left if pair not in skipped]
        strength = {pair: association(model, pair, counts) for pair in open_pairs}
        strongest = max(strength, key=lambda pair: strength[pair], default=None)
        if strongest is None or strength[strongest] < 0:
            break
        left.remove(strongest)
        model = with_pair(model, strongest, counts)
        judged = _judge(model, counts, sample)
        if abs(judged.test) < abs(best.test) or not np.isfinite(best.test):
            best = judged
    return best, len(skipped)


def _right(expected: Array, unseen: float) -> Array:
    """h(L) = (1 - e^-x) / x, x = (1-p) L: the chance that a match with a unique is right."""
    x = np.maximum(unseen * expected, 1e-12)
    return np.asarray(-np.expm1(-x) / x)


def _slopes(expected: Array, unseen: float) -> tuple[Array, Array]:
    """The first and second derivative of h."""
    x = unseen * expected
    with np.errstate(all="ignore"):
        first = (np.exp(-x) * (x + 1) - 1) / x**2
        second = (2 - np.exp(-x) * (x**2 + 2 * x + 2)) / x**3
    near = x < 0.02
    first = np.where(near, -1 / 2 + x / 3 - x**2 / 8 + x**3 / 30, first)
    second = np.where(near, 1 / 3 - x / 4 + x**2 / 10 - x**3 / 36, second)
    return unseen * first, unseen**2 * second


def _coefficients(expected: Array, share: float) -> tuple[Array, Array]:
    """a and b of the error a (f - m) + b ((f - m)^2 - f), m = p L: the expansion of h around L, times P(f = 1)."""
    alone = share * expected * np.exp(-share * expected)
    first, second = _slopes(expected, 1 - share)
    return -alone * first / share, alone * second / (2 * share**2)


def _judge(model: list[Component], counts: Counts, sample: SampleClasses) -> _Judged:
    """tau1, tau2 and the minimum-error test of a model; cells without records count too."""
    share, people = sample.share, sample.people
    chance = np.ones(len(counts.records))
    for component in model:
        chance = chance * component.at(counts.codes, counts.cards)
    expected = people * chance
    # all cells as if without records, then what the records change
    values, cells = _all_cells(model)
    everywhere = people * values
    a, b = _coefficients(everywhere, share)
    mean = share * everywhere
    error = float((cells * (b * mean**2 - a * mean)).sum())
    variance = float((cells * (a**2 * mean + 2 * b**2 * mean**2)).sum())
    a, b = _coefficients(expected, share)
    f, mean = counts.records, share * expected
    error += float((a * f + b * ((f - mean) ** 2 - f - mean**2)).sum())
    uniques = expected[counts.records == 1]
    unique = float(np.exp(-(1 - share) * uniques).sum())
    right = float(_right(uniques, 1 - share).sum())
    return _Judged(model, expected, unique, right, error, float(np.sqrt(variance)))


def _all_cells(model: Sequence[Component]) -> tuple[Array, Array]:
    """The chances of all combinations with how many have each: listed where they are few, else on a grid of logs."""
    logs, cells = np.zeros(1), np.ones(1)
    on_grid = False
    for component in sorted(model, key=lambda component: component.chances.size):
        chances = component.chances[component.chances > 0]
        more, times = np.log(chances), np.ones(len(chances))
        if on_grid or len(logs) * len(more) > _LISTED:
            (start, here), (other, there) = _gridded(logs, cells), _gridded(more, times)
            cells = np.convolve(here, there)
            logs = (start + other + np.arange(len(cells))) / _GRID
            on_grid = True
        else:
            logs = np.add.outer(logs, more).ravel()
            cells = np.multiply.outer(cells, times).ravel()
    return np.exp(logs), cells


def _gridded(logs: Array, cells: Array) -> tuple[int, Array]:
    """Amounts on the grid, each shared between its two neighbours; the place of the first."""
    place = logs * _GRID
    low = np.floor(place + 1e-9).astype(np.int64)
    part = np.clip(place - low, 0.0, 1.0)
    start = int(low.min())
    width = int(low.max()) - start + 2
    amounts = np.bincount(low - start, cells * (1 - part), width) + np.bincount(low - start + 1, cells * part, width)
    return start, amounts


def _spread(best: _Judged, counts: Counts, sample: SampleClasses) -> float:
    """1.96 times the root mean square error of tau1 in samples drawn from the model, fitted anew each time."""
    rng = np.random.default_rng(SEED)
    work = sum(component.chances.size * max(len(component.pairs), 1) for component in best.model) * _REFIT_SWEEPS
    draws = int(np.clip(_WORK / work, 8, 40))
    errors = []
    for number in range(draws):
        progress.report("log-linear interval", number, draws)
        errors.append(_drawn_error(best.model, counts.cards, sample, rng))
    return _SIGNIFICANT * float(np.sqrt(np.mean(np.square(errors))))


def _drawn_error(model: Sequence[Component], cards: Sequence[int], sample: SampleClasses, rng: Generator) -> float:
    """A sample drawn from the model: what is estimated from it, less the uniques of its population."""
    truth = estimate = np.full(sample.records, sample.people)
    cells = []
    for component in model:
        totals = np.cumsum(component.chances)
        cell = np.searchsorted(totals, rng.random(sample.records) * totals[-1], side="right")
        cells.append(Coded(cell, len(totals)))
        truth = truth * component.chances[cell]
        seen = np.bincount(cell, minlength=len(totals)) / sample.records
        again = seen
        if component.pairs:
            places = {pair: component.places(pair, cards) for pair in component.pairs}
            margins = {
                pair: np.bincount(place, seen, cards[pair[0]] * cards[pair[1]]) for pair, place in places.items()
            }
            again = fitted(component, margins, cards, _REFIT_SWEEPS).chances
        estimate = estimate * again[cell]
    class_of, classes = class_of_each_row(pack(cells))
    alone = np.bincount(class_of, minlength=classes)[class_of] == 1
    unseen = 1 - sample.share
    real = rng.random(int(alone.sum())) < np.exp(-unseen * truth[alone])
    return float(np.exp(-unseen * estimate[alone]).sum() - real.sum())
