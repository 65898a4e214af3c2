"""The attack, simulated: leaks are drawn, targets are drawn, and the attacker guesses among those who are alike.

For one person every run averages over all persons (Antoniou, Eq 6). For several, n targets are drawn in every run, and
the run's value is the probability that the attacker names them all: 1/h for the first of a class with h leaked members,
1/(h-1) for the second, and so on. The published simulation draws the targets from the leak, which answers another
question (what if all targets leaked?); times (L)_n/(D)_n it is the probability for targets drawn from everybody.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message, Setting, check_choice
from shoal.exposure.leakage.law import ClassSizes
from shoal.exposure.measure import ClassHistogram, measure_persons
from shoal.policy.judgement.shown_classes import Shown, shown_in
from shoal.results import left_out
from shoal.storage import Array
from shoal.storage.classes import Coded, class_of_each_row, pack, sorted_with_order
from shoal.storage.rows import Rows
from shoal.vocabulary import Draw, Generalized, LeakUnit, NullRule

# numpy draws hypergeometric numbers for fewer persons than this
MOST_PERSONS = 1_000_000_000
MOST_RUNS = 10_000_000
_CELLS = 1 << 22
# two-sided 95% of a normal distribution
_NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class Simulated:
    """The mean of all runs with its normal 95% interval; `values` holds one value per run."""

    mean: float
    low: float
    high: float
    runs: int
    values: Array = left_out()

    @classmethod
    def of(cls, values: Array) -> Simulated:
        """From one value per run.

        >>> found = Simulated.of(np.array([0.0, 1.0, 0.0, 1.0]))
        >>> found.mean, round(found.standard_error, 4)
        (0.5, 0.2887)
        """
        mean, half = float(values.mean()), _NORMAL_95 * _standard_error(values)
        return cls(mean, max(mean - half, 0.0), min(mean + half, 1.0), len(values), values)

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return _standard_error(self.values)

    def to_dict(self) -> dict[str, float | int]:
        """As JSON, without the runs' values."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "runs": self.runs}


def _standard_error(values: Array) -> float:
    return float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def generator(runs: int, seed: int | None) -> np.random.Generator:
    """The source of chance; without a seed, from the system's randomness."""
    if isinstance(runs, bool) or not isinstance(runs, int) or not 2 <= runs <= MOST_RUNS:
        raise InputError(f"A simulation takes 2 to {MOST_RUNS:,} runs.", "Use 10,000, for example.")
    if seed is not None and seed < 0:
        raise InputError("A seed is a whole number, zero or more.", "Use 7, for example, or leave it out.")
    return np.random.default_rng(secrets.randbits(63) if seed is None else seed)


def simulate(
    classes: ClassSizes,
    leaked: int,
    targets: int = 1,
    runs: int = 1000,
    seed: int | None = None,
    draw: Draw = "everybody",
) -> Simulated:
    """Play the attack on classes of given sizes.

    `draw` says whom targets are drawn from: `everybody`, or the `leak` as the published simulation does.

    >>> found = simulate(ClassSizes.of({5: 20}), 40, runs=2000, seed=1)
    >>> found.low < 0.1854 < found.high  # Eq 5 gives 0.18540
    True
    """
    check_choice(Setting("draw"), draw, get_args(Draw))
    chance = generator(runs, seed)
    if classes.persons >= MOST_PERSONS:
        raise InputError("A simulation takes fewer than a billion persons.", "The exact law takes more: leave it out.")
    if targets > leaked:
        return Simulated.of(np.zeros(runs))
    if targets == 1:
        values = _share_hit(classes, leaked, runs, chance)
        return Simulated.of(values * (classes.persons / leaked if draw == "leak" else 1))
    values = _all_named(classes, leaked, targets, runs, chance)
    if draw == "everybody":
        values *= math.prod((leaked - i) / (classes.persons - i) for i in range(targets))
    return Simulated.of(values)


def _share_hit(classes: ClassSizes, leaked: int, runs: int, chance: np.random.Generator) -> Array:
    """The mean risk of all persons, leak by leak: a class with a leaked member adds h · 1/h, so classes hit / D."""
    sizes = classes.each()
    rows = max(_CELLS // len(sizes), 1)
    found = np.empty(runs)
    for start in range(0, runs, rows):
        progress.report("simulating", start, runs)
        part = found[start : start + rows]
        members = chance.multivariate_hypergeometric(sizes, leaked, len(part), method="count")
        part[:] = np.count_nonzero(members, axis=1)
    return found / classes.persons


def _all_named(classes: ClassSizes, leaked: int, targets: int, runs: int, chance: np.random.Generator) -> Array:
    """The probability that targets drawn from the leak are all named, leak by leak.

    Only the classes of targets matter. Given that the targets leaked, the rest of the leak is L-n of the D-n others;
    how many of them are in each target's class is drawn class by class.
    """
    rows = max(_CELLS // targets, 1)
    found = np.empty(runs)
    for start in range(0, runs, rows):
        progress.report("simulating", start, runs)
        part = found[start : start + rows]
        part[:] = _named(classes, leaked, targets, len(part), chance)
    return found


def _named(classes: ClassSizes, leaked: int, targets: int, runs: int, chance: np.random.Generator) -> Array:
    persons = _distinct(classes.persons, runs, targets, chance)
    last = np.cumsum(classes.sizes * classes.counts)
    which = np.searchsorted(last, persons, side="right")
    size = classes.sizes[which]
    first = np.concatenate([[0], last])[which]
    # a class by the number of its first person
    owner = np.sort(first + (persons - first) // size * size, axis=1)
    size = classes.sizes[np.searchsorted(last, owner, side="right")]
    value = np.ones(runs)
    others = np.full(runs, classes.persons - targets)
    left = np.full(runs, leaked - targets)
    members = np.zeros(runs, np.int64)  # of the class at hand: leaked and not yet named
    for place in range(targets):
        new = owner[:, place] != owner[:, place - 1] if place else np.ones(runs, bool)
        same = (owner == owner[:, place : place + 1]).sum(axis=1)
        rest = np.where(new, size[:, place] - same, 0)
        drawn = chance.hypergeometric(rest, others - rest, left)
        others, left = others - rest, left - drawn
        members = np.where(new, same + drawn, members - 1)
        value /= members
    return value


def _distinct(persons: int, runs: int, targets: int, chance: np.random.Generator) -> Array:
    """Targets without replacement in every run: the i-th among those left, moved past the ones taken before."""
    found = np.empty((runs, targets), np.int64)
    for number in range(targets):
        drawn = chance.integers(0, persons - number, runs)
        for taken in np.sort(found[:, :number], axis=1).T:
            drawn += drawn >= taken
        found[:, number] = drawn
    return found


# What has no formula, simulated on the table itself: records leak instead of persons, or only part of each history.
#
# The attacker knows the whole history of a target (all records, in the columns that are known) and sees in the leak
# which records belong together. Everybody whose leaked records could all be the target's (a part of the target's
# multiset of records) is a candidate; one is picked. A run's value is the probability that every target is picked
# rightly, each once the ones before are out. Targets are drawn from those who leaked, and the value is multiplied by
# the probability that persons drawn from everybody all leaked.


# where one target is asked for, so many are tried in every leak
_SINGLE_TARGETS = 8


@dataclass(frozen=True)
class PersonRecords:
    """The records of a table, sorted by person, then by class: `person` and `kind` of each record."""

    person: Array
    kind: Array

    @classmethod
    def of(cls, class_of_row: Array, classes: int, person_of_row: Array) -> PersonRecords:
        """From the class of each row and the code of its person."""
        people, count = class_of_each_row(Coded(person_of_row, int(person_of_row.max()) + 1))
        order, _ = sorted_with_order(pack([Coded(people, count), Coded(class_of_row, classes)]))
        return cls(people[order].astype(np.int64), class_of_row[order].astype(np.int64))

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return int(self.person[-1]) + 1

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.person)


def simulate_histories(
    histories: PersonRecords,
    leaked: int,
    targets: int = 1,
    runs: int = 1000,
    seed: int | None = None,
    unit: LeakUnit = "persons",
    history: float = 1.0,
) -> Simulated:
    """Play the attack on a table: `leaked` persons, of whose records each leaks with probability `history`, or
    `leaked` records.

    >>> people, kinds = np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 0])
    >>> found = simulate_histories(PersonRecords.of(kinds, 2, people), 5, runs=10, seed=1, unit="records")
    >>> round(found.mean, 6)  # all leaked: 1/3 for the first two (the third fits too), 1 for the third
    0.555556
    """
    chance = generator(runs, seed)
    play = _Play(histories)
    values = np.zeros(runs)
    for run in range(runs):
        progress.report("simulating", run, runs)
        shown = play.leak(leaked, unit, history, chance)
        values[run] = play.value(shown, targets, chance)
    return Simulated.of(values)


class _Play:
    """A table made ready: groups are the records of one person in one class."""

    def __init__(self, histories: PersonRecords) -> None:
        self.histories = histories
        new = np.ones(histories.records, bool)
        same_person = histories.person[1:] == histories.person[:-1]
        new[1:] = ~same_person | (histories.kind[1:] != histories.kind[:-1])
        self.starts = np.flatnonzero(new)
        self.person = histories.person[self.starts]
        self.kind = histories.kind[self.starts]
        self.size = np.diff(np.append(self.starts, histories.records))
        self.first_group = np.searchsorted(self.person, np.arange(histories.persons + 1))
        # what the target at hand has of each class; empty between targets
        self.has = np.zeros(int(self.kind.max()) + 1, np.int64)

    def leak(self, leaked: int, unit: LeakUnit, history: float, chance: np.random.Generator) -> Array:
        """Which records leak."""
        histories = self.histories
        if unit == "records":
            shown = np.zeros(histories.records, bool)
            shown[chance.choice(histories.records, leaked, replace=False, shuffle=False)] = True
            return shown
        persons = np.zeros(histories.persons, bool)
        persons[chance.choice(histories.persons, leaked, replace=False, shuffle=False)] = True
        shown = persons[histories.person]
        return shown if history == 1 else shown & (chance.random(histories.records) < history)

    def value(self, shown: Array, targets: int, chance: np.random.Generator) -> float:
        """The probability that all targets are named."""
        counts = np.add.reduceat(shown.astype(np.int64), self.starts)
        groups = np.flatnonzero(counts)
        there = np.unique(self.person[groups])
        if len(there) < targets:
            return 0.0
        if targets == 1:
            # the mean of some, which steadies the simulation
            some = there[chance.choice(len(there), min(len(there), _SINGLE_TARGETS), replace=False)].tolist()
            each = [1 / self._candidates(target, [], groups, counts, len(there)) for target in some]
            return math.fsum(each) / len(each) * len(there) / self.histories.persons
        drawn = there[chance.choice(len(there), targets, replace=False)].tolist()
        value = math.prod((len(there) - i) / (self.histories.persons - i) for i in range(targets))
        for place, target in enumerate(drawn):
            value /= self._candidates(target, drawn[:place], groups, counts, len(there))
        return value

    def _candidates(self, target: int, named: Sequence[int], groups: Array, counts: Array, there: int) -> int:
        """How many leaked persons, but for those already named, could be the target."""
        own = slice(self.first_group[target], self.first_group[target + 1])
        self.has[self.kind[own]] = self.size[own]
        excluded = self.person[groups[counts[groups] > self.has[self.kind[groups]]]]
        self.has[self.kind[own]] = 0
        out = np.zeros(self.histories.persons, bool)
        out[excluded] = True
        already = int(np.count_nonzero(~out[list(named)])) if named else 0
        return there - int(np.count_nonzero(out)) - already


@dataclass(frozen=True)
class People:
    """The persons of a table by class. Whoever is `*` in every column stands in no class and is counted apart."""

    shown: Shown
    # the rows one by one, where `shown` has tuples with their counts
    one_by_one: Callable[[], People] | None = None

    @classmethod
    def of(
        cls, rows: Rows, null_rule: NullRule, generalized: Generalized, starred: Collection[str] | None = None
    ) -> People:
        """Read what is compared. Under the null rule `wildcard` missing values are alike and nothing else: the strict
        reading, the safe side."""
        return cls(replace(shown_in(rows, null_rule, starred, generalized), matching=False))

    def sizes(self) -> ClassSizes:
        """How many persons share each class; without a person column every record is a person."""
        if self.shown.suppressed.all():
            raise InputError(
                "Every row is suppressed in all quasi-identifiers: there is no class to measure.",
                "Name other quasi-identifiers.",
            )
        by_person = self.shown.rows.person is not None
        found = measure_persons(self.shown) if by_person else ClassHistogram.of_classes(self.shown.members)
        return ClassSizes(found.sizes, found.classes)

    @cached_property
    def histories(self) -> PersonRecords:
        """The records of each person, for what has no formula."""
        if self.one_by_one is not None:
            return self.one_by_one().histories
        rows, suppressed = self.shown.rows, self.shown.suppressed
        if rows.weights is not None and not rows.distinct:
            raise InputError(
                "A table of counts has no histories: a row stands for many persons.", Message("Leave out `{count}`.")
            )
        classes, count = self.shown.combinations
        if rows.weights is not None:  # tuples that an engine counted: every record is a person of its own
            classes, suppressed = np.repeat(classes, rows.weights), np.repeat(suppressed, rows.weights)
        person = np.arange(len(classes)) if rows.person is None else rows.person.codes
        if suppressed.any():  # whoever shows a value in some record stays, with all records
            shows = np.zeros(int(person.max()) + 1, bool)
            shows[person[~suppressed]] = True
            classes, person = classes[shows[person]], person[shows[person]]
        return PersonRecords.of(classes, count, person)

    @property
    def suppressed_rows(self) -> int:
        """Records that are `*` in every column."""
        return self.shown.rows.records_in(self.shown.suppressed)
