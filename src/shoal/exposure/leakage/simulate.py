"""The attack, simulated: leaks are drawn, targets are drawn, and the attacker guesses among those who are alike.

For one person every run averages over all persons (Antoniou, Eq 6). For several, n targets are drawn in every run, and
the run's value is the probability that the attacker names them all: 1/h for the first of a class with h leaked members,
1/(h-1) for the second, and so on. The published simulation draws the targets from the leak, which answers another
question (what if all targets leaked?); times (L)_n/(D)_n it is the probability for targets drawn from everybody.
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import get_args

import numpy as np

from shoal import progress
from shoal.errors import InputError, Setting, check_choice
from shoal.exposure.leakage.sizes import ClassSizes
from shoal.results import left_out
from shoal.storage import Array
from shoal.vocabulary import Draw

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
