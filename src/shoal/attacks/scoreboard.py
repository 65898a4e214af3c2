"""The scoreboard: who knows a few ratings of a person, some of them wrong, finds the person among all who rated.

Narayanan and Shmatikov, *Robust De-anonymization of Large Sparse Datasets* (2008). Each person scores the sum over the
known ratings of 1/ln(support of the item) · (exp(-|value - value'|/1.5) + exp(-|day - day'|/30)). The best is claimed
where it stands out: (best - second) / standard deviation of all scores is at least 1.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.attacks.ratings import Facts, Ratings, facts_of
from shoal.attacks.statistics import wilson
from shoal.attacks.unicity import rows_among, targets_of
from shoal.dataclasses import dataclass
from shoal.errors import InputError, check_at_least
from shoal.reading import Options, read
from shoal.results import Cell, Figure, Figures, Grid, Headline, Result, Section
from shoal.table import Array, Table
from shoal.table.classes import Coded, pack, sorted_with_order
from shoal.wording import counted, percent

VALUE_SCALE, DAY_SCALE, STANDS_OUT = 1.5, 30.0, 1.5


@dataclass(frozen=True)
class Without:
    """How many would be identified if the attacker did not know a column."""

    column: str
    rate: float


@dataclass(frozen=True, repr=False)
class Scoreboard(Result):
    """How many persons a few ratings identify.

    `best`: the target scores best, whether or not it stands out (ties shared). `wrong_claims`: somebody else stands
    out. `false_claims`: somebody stands out where the target's own record is not in the table.
    """

    name: ClassVar[str] = "attack-scoreboard"

    attacks: list[AttackOutcome]
    verdict: dict[str, AttackVerdict]
    seed: int
    persons: int
    items: int
    known: int
    wrong: int
    days: int | None
    best: float
    wrong_claims: float
    false_claims: float
    false_claims_low: float
    false_claims_high: float
    without: list[Without]

    def summary(self) -> str:
        """How many were identified, by what."""
        found = self.attacks[0]
        known = f"{counted(self.known, 'rating')}, {self.wrong} of them wrong,"
        dates = "" if self.days is None else f" with dates within {counted(self.days, 'day')}"
        return f"{known}{dates} identify {percent(found.rate or 0.0)} of {counted(found.targets, 'target')}."

    def sections(self) -> list[Section]:
        """The rate, how often claims are wrong, and what each column adds."""
        between = f"{percent(self.false_claims_low)} to {percent(self.false_claims_high)}"
        figures = [
            Figure("persons", f"{self.persons:,}"),
            Figure("best score, standing out or not", percent(self.best)),
            Figure("somebody else claimed", percent(self.wrong_claims)),
            Figure("somebody claimed who is not in the table", f"{percent(self.false_claims)} ({between})"),
        ]
        shown: list[Section] = [Headline(self.summary()), *outcome_sections(self.attacks, self.verdict)]
        shown.append(Figures(figures))
        if self.without:
            rows = [(Cell(each.column), percent(each.rate)) for each in self.without]
            shown.append(Grid(("column not known", "identified"), rows))
        return shown


def attack_scoreboard(
    source: Any,
    *,
    person: str,
    item: str,
    value: str | None = None,
    date: str | None = None,
    known: int = 8,
    wrong: int = 2,
    days: int = 14,
    targets: int = 1_000,
    seed: int = 0,
    options: Options | None = None,
) -> Scoreboard:
    """Attack persons of whom `known` ratings are known, `wrong` of them wrong, dates within `days` days.

    A target is identified where it scores best, stands out, and is the right one.

    >>> table = {"user": [1, 1, 2, 2, 3, 3], "film": [1, 2, 3, 4, 5, 6], "stars": [5, 4, 3, 2, 1, 5]}
    >>> attack_scoreboard(table, person="user", item="film", value="stars", known=2, wrong=0).attacks[0].rate
    1.0
    """
    named = [name for name in (person, item, value, date) if name is not None]
    _check(named, known, wrong, days, targets)
    check_at_least(0, seed, "seed")
    table, notes = _rated(read(source, named, options), item)
    ratings = Ratings.of(table, person, item, value, date)
    target = targets_of(ratings.owner, targets, seed)
    facts, count = facts_of(ratings, target, known - wrong, wrong, days, seed)
    if few := int((count < known - wrong).sum()):
        notes.append(f"{counted(few, 'target')} with fewer than {known - wrong} ratings: known by all of them")
    found, *others = attack(ratings, facts, target, [name for name, column in ((0, value), (1, date)) if column])
    persons = ratings.owner.cardinality
    outcome = AttackOutcome.of("scoreboard", "linkability", found.hit, baseline=1 / persons, notes=notes)
    without = [Without(name, float(one.hit.mean())) for name, one in zip(named[2:], others, strict=True)]
    low, high = wilson(float(found.absent.sum()), len(target))
    return Scoreboard(
        attacks=[outcome],
        verdict=verdicts_of([outcome]),
        seed=seed,
        persons=persons,
        items=ratings.item.cardinality,
        known=known,
        wrong=wrong,
        days=days if date else None,
        best=float(found.best.mean()),
        wrong_claims=float(found.wrong.mean()),
        false_claims=float(found.absent.mean()),
        false_claims_low=low,
        false_claims_high=high,
        without=without,
    )


def _check(names: Sequence[str], known: int, wrong: int, days: int, targets: int) -> None:
    if len(set(names)) < len(names):
        raise InputError("A column is named twice.", "Person, item, value and date are columns of their own.")
    check_at_least(1, known, "The number of known ratings")
    check_at_least(0, wrong, "The number of wrong ratings")
    check_at_least(0, days, "The number of days")
    check_at_least(1, targets, "The number of targets")
    if wrong >= known:
        raise InputError(f"All of the {known} known ratings are wrong.", "Use fewer wrong ones.")


def _rated(table: Table, item: str) -> tuple[Table, list[str]]:
    """The rows that name an item."""
    empty = table[item].is_null()
    if not empty.any():
        return table, list(table.notes)
    if empty.all():
        raise InputError(f"Column '{item}' is empty.", "Name the column of what was rated.")
    return table.take(~empty), [*table.notes, f"{counted(int(empty.sum()), 'row')} without an item left out"]


class Found(NamedTuple):
    """For each target: identified; its share among those who score best; somebody else claimed; somebody claimed
    where the target itself is left out."""

    hit: Array
    best: Array
    wrong: Array
    absent: Array


class Index(NamedTuple):
    """The ratings of known items, sorted by item and person: where each item starts, and its weight."""

    persons: Array
    values: Array
    days: Array
    items: Array
    starts: Array
    weights: Array

    @classmethod
    def of(cls, ratings: Ratings, items: Array) -> Index:
        """One pass over the rows, and a sort of those that are needed. Support counts persons, not ratings."""
        rows = rows_among(ratings.item, items)
        rank = Coded(np.searchsorted(items, ratings.item.codes[rows]), len(items))
        owner = Coded(ratings.owner.codes[rows], ratings.owner.cardinality)
        order, ordered = sorted_with_order(pack([rank, owner]))
        new = np.append(True, ordered[1:] != ordered[:-1])
        rows = rows[order]
        item = rank.codes[order]
        starts = np.searchsorted(item, np.arange(len(items) + 1))
        support = np.bincount(item[new], minlength=len(items))
        weights = 1 / np.log(np.maximum(support, 2))  # one person alone would weigh without end
        return cls(
            ratings.owner.codes[rows], ratings.value.codes[rows], ratings.day.codes[rows], items, starts, weights
        )


def attack(ratings: Ratings, facts: Facts, target: Array, without: Sequence[int] = ()) -> list[Found]:
    """Score everybody for each target: first by all that is known, then without the value (0) or the date (1)."""
    index = Index.of(ratings, np.unique(facts.items[facts.items >= 0]))
    return [_attack(index, ratings, facts, target, left) for left in (None, *without)]


def _attack(index: Index, ratings: Ratings, facts: Facts, target: Array, left: int | None) -> Found:
    lines = []
    for number, who in enumerate(target.tolist()):
        scores = _scores(index, ratings, Facts(*(part[number] for part in facts)), left)
        lines.append(_judged(scores, who))
    return Found(*(np.array(part, float) for part in zip(*lines, strict=True)))


def _scores(index: Index, ratings: Ratings, known: Facts, left: int | None) -> Array:
    from shoal.attacks.kernels import add_scores

    scores = np.zeros(ratings.owner.cardinality)
    for item, number, day in zip(*(part.tolist() for part in known), strict=True):
        if item < 0:
            continue
        at = int(np.searchsorted(index.items, item))
        by_value = _alike(ratings.numbers, number, VALUE_SCALE, left == 0)
        by_day = _alike(ratings.days, day, DAY_SCALE, left == 1)
        if not (by_value.any() or by_day.any()):  # nothing but the item is known
            by_value = np.ones_like(by_value)
        first, last, weight = index.starts[at], index.starts[at + 1], index.weights[at]
        add_scores(index.persons, index.values, index.days, first, last, weight * by_value, weight * by_day, scores)
    return scores


def _alike(numbers: Array, known: float, scale: float, left_out: bool) -> Array:
    """How like each number is to the one that is known; a missing one is not like anything."""
    if left_out or np.isnan(known):
        return np.zeros(len(numbers))
    return np.nan_to_num(np.exp(-np.abs(numbers - known) / scale))


def _judged(scores: Array, who: int) -> tuple[float, float, float, float]:
    spread = float(scores.std())
    top = np.partition(scores, -2)[-2:] if len(scores) > 1 else np.array([0.0, *scores])
    claimed = spread > 0 and (top[1] - top[0]) / spread >= STANDS_OUT
    tied = np.flatnonzero(scores == top[1])
    right = who in tied.tolist() and top[1] > 0
    own, scores[who] = scores[who], -np.inf
    rest = np.partition(scores, -2)[-2:] if len(scores) > 2 else np.zeros(2)
    scores[who] = own
    others = np.delete(scores, who).std() if len(scores) > 2 else 0.0
    absent = others > 0 and (rest[1] - rest[0]) / others >= STANDS_OUT
    share = 1 / len(tied) if right else 0.0
    return float(claimed and right), share, float(claimed and not right), float(absent)
