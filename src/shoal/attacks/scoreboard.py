"""The scoreboard: who knows a few ratings of a person, some of them wrong, finds the person among all who rated.

Narayanan and Shmatikov, *Robust De-anonymization of Large Sparse Datasets* (2008). Each person scores the sum over the
known ratings of 1/ln(support of the item) · (exp(-|value - value'|/1.5) + exp(-|day - day'|/30)). The best is claimed
where it stands out: (best - second) / standard deviation of all scores is at least 1.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from shoal.attacks.base import AttackOutcome, AttackVerdict, outcome_sections, verdicts_of
from shoal.attacks.common import wilson
from shoal.attacks.unicity import owner_of
from shoal.errors import InputError, Setting, check_at_least
from shoal.exposure.known_points import drawn, rows_among, targets_of
from shoal.results import Cell, Figure, Figures, Grid, Headline, Result, Section
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, pack, sorted_with_order
from shoal.storage.dates import as_texts, days_of, is_epoch
from shoal.storage.reading import read
from shoal.verbs.attacking import AttackScoreboardRequest
from shoal.verbs.base import takes
from shoal.wording import counted, percent

# Ratings as an attacker sees them: who rated what, how and when; and what is known of a few persons.


_MICROSECONDS = 86_400_000_000
_SECONDS = 86_400
# how often an item of chance is drawn again because the target rated it
_ROUNDS = 20


class Ratings(NamedTuple):
    """Who rated what: codes row by row, with the number and the day that each code stands for (NaN: missing)."""

    owner: Coded
    item: Coded
    value: Coded
    day: Coded
    numbers: Array
    days: Array

    @classmethod
    def of(cls, table: Table, person: str, item: str, value: str | None, date: str | None) -> Ratings:
        """The ratings of a table."""
        nothing, unknown = Coded(np.zeros(table.rows, np.uint8), 1), np.array([np.nan])
        return cls(
            owner_of(table, person),
            _coded(table[item]),
            nothing if value is None else _coded(table[value]),
            nothing if date is None else _coded(table[date]),
            unknown if value is None else _numbers(table[value]),
            unknown if date is None else _days(table[date]),
        )


def _coded(column: Column) -> Coded:
    return Coded(column.codes, column.cardinality)


def _numbers(column: Column) -> Array:
    if not column.values.dtype.is_numeric():
        raise InputError(f"Column '{column.name}' does not hold numbers.", "Name the column of the ratings' values.")
    return np.append(column.values.cast(pl.Float64).to_numpy(), np.nan)[: column.cardinality]


def _days(column: Column) -> Array:
    """Numbers are days, or seconds since 1970 where all look like it."""
    values = column.values
    if values.dtype.is_temporal():
        found = values.cast(pl.Datetime("us")).to_physical().to_numpy() / _MICROSECONDS
    elif values.dtype.is_numeric():
        found = values.cast(pl.Float64).to_numpy() / (_SECONDS if is_epoch(values).all() else 1)
    else:
        found = days_of(as_texts(values), column.name).days.astype(float)
    return np.append(found, np.nan)[: column.cardinality]


class Facts(NamedTuple):
    """What is known, a line per target: items (-1: none), numbers and days (NaN: not known); wrong ones stand last."""

    items: Array
    numbers: Array
    days: Array


def facts_of(ratings: Ratings, target: Array, right: int, wrong: int, days: int, seed: int) -> tuple[Facts, Array]:
    """Ratings of each target drawn at random, the last `wrong` of them made wrong; and how many each target has in all.

    Dates are moved by up to so many days. A wrong rating has another value than the right one and a date of chance;
    where neither is known, it is of an item that the target did not rate.
    """
    rows = rows_among(ratings.owner, target)
    who = np.searchsorted(target, ratings.owner.codes[rows].astype(np.int64))
    columns = [who, *(codes.codes[rows].astype(np.int64) for codes in (ratings.item, ratings.value, ratings.day))]
    own = np.unique(np.stack(columns, axis=1), axis=0)
    own = own[np.append(True, (own[1:, :2] != own[:-1, :2]).any(axis=1))]  # one rating of each item
    count = np.bincount(own[:, 0], minlength=len(target))
    order, rank = drawn(own[:, 0], count, seed)
    order, rank = order[rank < right + wrong], rank[rank < right + wrong]
    place = own[order, 0], rank
    draw = np.random.default_rng([seed, 2])
    items, value = np.full((2, len(target), right + wrong), -1, np.int64)
    dates = np.full(items.shape, np.nan)
    items[place], value[place] = own[order, 1], own[order, 2]
    dates[place] = ratings.days[own[order, 3]] + draw.integers(-days, days + 1, len(order))
    numbers = np.where(value < 0, np.nan, ratings.numbers[value])
    if wrong:
        shape = len(target), wrong
        numbers[:, right:] = _other_number(ratings.numbers, value[:, right:], draw)
        dates[:, right:] = draw.choice(_there(ratings.days), shape)
        if np.isnan(ratings.numbers).all() and np.isnan(ratings.days).all():
            items[:, right:] = _not_rated(ratings.item, own, shape, draw)
    return Facts(items, numbers, dates), count


def _other_number(numbers: Array, value: Array, draw: np.random.Generator) -> Array:
    """A number of chance that is not the one of `value`; missing numbers stay missing."""
    there = len(_there(numbers))
    if there < 2:
        return np.full(value.shape, np.nan)
    moved = (value + draw.integers(1, there, value.shape)) % there
    return np.where(value < 0, np.nan, numbers[moved])


def _there(values: Array) -> Array:
    found = values[~np.isnan(values)]
    return found if len(found) else values


def _not_rated(item: Coded, own: Array, shape: tuple[int, int], draw: np.random.Generator) -> Array:
    """Items that each target did not rate; where it rated nearly all, one of those may stay."""
    support = np.cumsum(np.bincount(item.codes, minlength=item.cardinality))
    taken = own[:, 0] * item.cardinality + own[:, 1]
    line = np.arange(shape[0])[:, None] * item.cardinality
    found = np.searchsorted(support, draw.integers(0, support[-1], shape), side="right")
    for _ in range(_ROUNDS):
        again = np.isin(line + found, taken)
        if not again.any():
            break
        found[again] = np.searchsorted(support, draw.integers(0, support[-1], int(again.sum())), side="right")
    return found


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


@takes(AttackScoreboardRequest)
def attack_scoreboard(source: Any, asked: AttackScoreboardRequest) -> Scoreboard:
    """Attack persons of whom `known` ratings are known, `wrong` of them wrong, dates within `days` days.

    A target is identified where it scores best, stands out, and is the right one.

    >>> table = {"user": [1, 1, 2, 2, 3, 3], "film": [1, 2, 3, 4, 5, 6], "stars": [5, 4, 3, 2, 1, 5]}
    >>> attack_scoreboard(table, person="user", item="film", value="stars", known=2, wrong=0).attacks[0].rate
    1.0
    """
    named = [name for name in (asked.person, asked.item, asked.value, asked.date) if name is not None]
    _check(named, asked.known, asked.wrong, asked.days, asked.targets)
    check_at_least(0, asked.seed, Setting("seed"))
    table, notes = _rated(read(source, named, asked.options), asked.item)
    ratings = Ratings.of(table, asked.person, asked.item, asked.value, asked.date)
    target = targets_of(ratings.owner, asked.targets, asked.seed)
    facts, count = facts_of(ratings, target, asked.known - asked.wrong, asked.wrong, asked.days, asked.seed)
    if few := int((count < asked.known - asked.wrong).sum()):
        notes.append(
            f"{counted(few, 'target')} with fewer than {asked.known - asked.wrong} ratings: known by all of them"
        )
    found, *others = attack(
        ratings, facts, target, [name for name, column in ((0, asked.value), (1, asked.date)) if column]
    )
    persons = ratings.owner.cardinality
    outcome = AttackOutcome.of("scoreboard", "linkability", found.hit, baseline=1 / persons, notes=notes)
    without = [Without(name, float(one.hit.mean())) for name, one in zip(named[2:], others, strict=True)]
    low, high = wilson(float(found.absent.sum()), len(target))
    return Scoreboard(
        attacks=[outcome],
        verdict=verdicts_of([outcome]),
        seed=asked.seed,
        persons=persons,
        items=ratings.item.cardinality,
        known=asked.known,
        wrong=asked.wrong,
        days=asked.days if asked.date else None,
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


class TargetScores(NamedTuple):
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
        persons, values, days = (
            column.codes[rows].astype(np.uint32) for column in (ratings.owner, ratings.value, ratings.day)
        )
        return cls(persons, values, days, items, starts, weights)


def attack(ratings: Ratings, facts: Facts, target: Array, without: Sequence[int] = ()) -> list[TargetScores]:
    """Score everybody for each target: first by all that is known, then without the value (0) or the date (1)."""
    index = Index.of(ratings, np.unique(facts.items[facts.items >= 0]))
    return [_attack(index, ratings, facts, target, left) for left in (None, *without)]


def _attack(index: Index, ratings: Ratings, facts: Facts, target: Array, left: int | None) -> TargetScores:
    lines = []
    for number, who in enumerate(target.tolist()):
        scores = _scores(index, ratings, Facts(*(part[number] for part in facts)), left)
        lines.append(_judged(scores, who))
    return TargetScores(*(np.array(part, float) for part in zip(*lines, strict=True)))


def _scores(index: Index, ratings: Ratings, known: Facts, left: int | None) -> Array:
    from shoal.kernels.attacks import add_scores

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
