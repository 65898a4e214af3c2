"""Inference by the class: what an attacker concludes who knows the quasi-identifiers of a target.

The candidates of a target are the records that it may be; what they say of a sensitive column is what the attacker
believes. l-diversity looks at how many values a class has; these attacks use how they are distributed
(Machanavajjhala et al. 2007, Li et al. 2007).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.linking.link import Linkage
from shoal.attacks.subject import Subject
from shoal.errors import quoted
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable
from shoal.threads import in_threads, processors
from shoal.wording import percent

# What the candidates of a target say about a sensitive column: each value with the records that have it.


# numbers with more distinct values are guessed by their median, and right within a share of the value
_MOST_CATEGORIES = 20
NEAR = 0.05
# so few are not worth a thread
_FEW_POINTS = 100


@dataclass(frozen=True)
class Believed:
    """What the candidates of some targets say about a sensitive column, target by target.

    Values are codes of the released column, which are in order; `truth` are the targets' own, -1 where the release does
    not have it and -2 where it is missing. `shares`: how frequent each value is in the whole release. `distinct`: how
    many different values the candidates have, `own`: how many of them have the target's; the probability that a value
    that most of them have is the target's (`frequent`), or the one most over-represented (`lifted`), ties shared.
    """

    truth: Array
    shares: Array
    numbers: Array | None
    true_numbers: Array | None
    distinct: Array
    own: Array
    frequent: Array
    lifted: Array
    median: Array
    least: Array
    greatest: Array

    @classmethod
    def of(
        cls,
        pairs: tuple[Array, Array],
        cells: tuple[Array, Array, Array],
        point_of_target: Array,
        truth: Array,
        shares: Array,
        numbers: Array | None = None,
        true_numbers: Array | None = None,
    ) -> Believed:
        """From the boxes of each point (`starts`, boxes) and the values of each box (`starts`, values, records)."""
        from shoal.kernels.attacks import believe

        points = len(pairs[0]) - 1
        members = np.argsort(point_of_target, kind="stable")
        targets = np.searchsorted(point_of_target[members], np.arange(points + 1)), members
        found = np.zeros((len(truth), 8))
        parts = 4 * processors() if points > _FEW_POINTS else 1
        cuts = np.linspace(0, points, parts + 1).astype(np.int64).tolist()
        in_threads(
            lambda part: believe(pairs, cells, targets, truth, shares, *part, found),
            list(pairwise(cuts)),
        )
        values = found[:, 5:].astype(np.int64).T
        return cls(truth, shares, numbers, true_numbers, *found[:, 1:5].T, *values)

    def right(self, probability: Array) -> Array:
        """The probability of being right: who fits no record is guessed to have the most frequent value."""
        if not len(self.shares):
            return np.zeros(len(self.truth))
        modes = np.flatnonzero(self.shares == self.shares.max())
        return np.where(self.distinct > 0, probability, np.isin(self.truth, modes) / len(modes))

    def median_is_near(self) -> Array:
        """Whether the median of the candidates' numbers is near the target's own; of no candidates, that of all."""
        assert self.numbers is not None
        assert self.true_numbers is not None
        overall = self.numbers[np.searchsorted(np.cumsum(self.shares), 0.5 - 1e-12)] if len(self.shares) else np.nan
        return near(np.where(self.distinct > 0, self.numbers[self.median], overall), self.true_numbers)


def near(guess: Array, truth: Array) -> Array:
    """Within a twentieth of the true value.

    >>> near(np.array([104.0, 106.0, np.nan]), np.array([100.0, 100.0, 100.0])).tolist()
    [1.0, 0.0, 0.0]
    """
    return np.asarray(np.abs(guess - truth) <= NEAR * np.abs(truth), np.float64)


def sensitive_of(subject: Subject) -> list[str]:
    """The sensitive columns that are released as values and that the original has too."""
    kinds = ("as-it-was", "recoded", "perturbed")
    return [
        name
        for name in subject.policy.sensitive
        if name in subject.table.columns
        and (name not in subject.released.forms or subject.released.forms[name].kind in kinds)
        and (subject.original is None or name in subject.original.columns)
    ]


def is_number(column: Column) -> bool:
    """Whether a sensitive column is guessed as a number, near enough, and not as a category."""
    return column.values.dtype.is_numeric() and len(column.values) > _MOST_CATEGORIES


def believed(subject: Subject, people: Table, name: str, linked: Linkage) -> Believed:
    """What the candidates of some people say about a sensitive column."""
    column = subject.table[name]
    known = ~column.is_null()
    boxes = CountTable.of(
        {
            "box": Coded(linked.boxes.box_of_row[known], len(linked.boxes.low)),
            "value": Coded(column.codes[known], max(column.cardinality, 1)),
        }
    )
    starts = np.searchsorted(boxes.tuples["box"].codes, np.arange(len(linked.boxes.low) + 1))
    counts = np.bincount(column.codes[known], minlength=len(column.values))[: len(column.values)]
    numbers = column.values.cast(pl.Float64).to_numpy() if is_number(column) else None
    return Believed.of(
        linked.pairs,
        (starts, boxes.tuples["value"].codes.astype(np.int64), boxes.counts.astype(np.int64)),
        linked.point_of_row.astype(np.int64),
        own_codes(people[name], column),
        counts / max(counts.sum(), 1),
        numbers,
        None if numbers is None else people[name].decode().cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy(),
    )


def own_codes(own: Column, released: Column) -> Array:
    """The own value of each person as a code of the released column; -1 where that does not have it, -2 missing."""
    theirs = pl.DataFrame({"value": released.values.cast(pl.String), "code": np.arange(len(released.values))})
    place = pl.DataFrame({"value": own.values.cast(pl.String)}).join(
        theirs, on="value", how="left", maintain_order="left"
    )["code"]
    codes = place.fill_null(-1).to_numpy().astype(np.int64)
    return np.asarray(np.append(codes, -2)[own.codes.astype(np.int64)])


_LEAST_VALUES = 3
_ANSWERED = "with fewer than three values, one that the person does not have is the answer itself"


class ClassInference(Attack):
    """An attack on sensitive columns through the candidates of every target.

    The score of a target is the mean over the sensitive columns of which its own value is known.
    """

    criterion: ClassVar[Criterion] = "inference"
    remark: ClassVar[str] = ""

    @abstractmethod
    def scores(self, found: Believed) -> Array:
        """How surely each target's value is concluded rightly."""

    def skips(self, subject: Subject) -> str | None:
        """Without people, or without a sensitive column, there is nothing to learn."""
        if subject.original is None:
            return "there is no original"
        if not subject.on:
            return "no quasi-identifier is known"
        return None if self.columns(subject) else "the release has no sensitive column that this attack is for"

    def columns(self, subject: Subject) -> list[str]:
        """The sensitive columns that it is for."""
        return sensitive_of(subject)

    def remarks(self, subject: Subject) -> list[str]:
        """What to know of its rate."""
        return [self.remark] if self.remark else []

    def run(self, subject: Subject) -> AttackOutcome:
        """Conclude on the people in the data and on as many who are not."""
        (ours, theirs), linked, columns = subject.people, subject.linked, self.columns(subject)
        scores, by_column = self._of(subject, ours, linked[0], columns)
        control = None
        if theirs is not None and linked[1] is not None:
            control, _ = self._of(subject, theirs, linked[1], columns)
        worst = max(by_column, key=lambda name: by_column[name])
        notes = self.remarks(subject)
        notes.append(f"column {worst} is concluded most often: {percent(by_column[worst])}")
        return AttackOutcome.of(
            self.name,
            self.criterion,
            scores,
            control,
            baseline=guessed_without(subject, ours, columns),
            notes=notes,
            rows=subject.sampled[0],
        )

    def _of(
        self, subject: Subject, people: Table, linked: Linkage, columns: list[str]
    ) -> tuple[Array, dict[str, float]]:
        total, known, rates = np.zeros(people.rows), np.zeros(people.rows), {}
        for name in columns:
            at = (name, people is subject.people[0])
            if at not in subject.beliefs:
                subject.beliefs[at] = believed(subject, people, name, linked)
            found = subject.beliefs[at]
            there = found.truth != -2
            scores = np.where(there, self.scores(found), 0.0)
            total, known = total + scores, known + there
            rates[name] = float(scores.sum() / max(there.sum(), 1))
        return np.divide(total, known, out=np.zeros(people.rows), where=known > 0), rates


def guessed_without(subject: Subject, people: Table, columns: list[str]) -> float:
    """How often somebody is right who has not seen the release, and takes everybody to have the most frequent value."""
    rates = []
    for name in columns:
        column = people[name]
        counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
        if is_number(subject.table[name]):
            values = column.values.cast(float).to_numpy()
            middle = values[np.searchsorted(np.cumsum(counts), counts.sum() / 2)] if counts.sum() else np.nan
            hit = counts[np.abs(values - middle) <= NEAR * np.abs(values)].sum()
        else:
            hit = counts.max(initial=0)
        rates.append(hit / max(counts.sum(), 1))
    return float(np.mean(rates))


class LikelyValue(ClassInference):
    """The attacker takes the value that most candidates have, or the median of numbers, right within 5%."""

    name: ClassVar[str] = "likely-value"
    knows: ClassVar[str] = "Knows the exact quasi-identifiers of the person, and that the person is in the data."
    success: ClassVar[str] = (
        "The value that most of the records that fit have is right (of numbers the median, within 5%)."
    )

    def scores(self, found: Believed) -> Array:
        return found.right(found.frequent) if found.numbers is None else found.median_is_near()


class CertainValue(ClassInference):
    """The attacker concludes only where all candidates have one value (homogeneity)."""

    name: ClassVar[str] = "certain-value"
    knows: ClassVar[str] = "Knows the exact quasi-identifiers of the person, and that the person is in the data."
    success: ClassVar[str] = "All records that fit have one value, and it is right."
    remark: ClassVar[str] = "only where all candidates have one value"

    def remarks(self, subject: Subject) -> list[str]:
        """Also why nobody is told a wrong value of some columns."""
        few = _of_two_values(subject)
        said = f"background-knowledge is not run on {quoted(few)}: {_ANSWERED}"
        return [*super().remarks(subject), *([said] if few else [])]

    def scores(self, found: Believed) -> Array:
        return np.asarray((found.distinct == 1) & (found.own > 0), np.float64)


def _of_two_values(subject: Subject) -> list[str]:
    """The sensitive categories with fewer than three values in the release."""
    found = []
    for name in sensitive_of(subject):
        column = subject.table[name]
        values = np.count_nonzero(np.bincount(column.codes[~column.is_null()]))
        if values < _LEAST_VALUES and not is_number(column):
            found.append(name)
    return found


class BackgroundKnowledge(ClassInference):
    """The attacker knows of one value that the target does not have it: the most frequent wrong one.

    Only for columns with three values and more: of two, the wrong one is the answer itself.
    """

    name: ClassVar[str] = "background-knowledge"
    knows: ClassVar[str] = (
        "Knows the exact quasi-identifiers of the person, and that the person is in the data; has also been told one "
        "sensitive value that the person does not have."
    )
    success: ClassVar[str] = "With that value ruled out, only one is left, and it is right."
    remark: ClassVar[str] = "one wrong value is known to be wrong, and all other candidates have one value"

    def skips(self, subject: Subject) -> str | None:
        """Also where every column has two values."""
        said = super().skips(subject)
        open_to_it = subject.original is not None and subject.on
        return _ANSWERED if said is not None and open_to_it and _of_two_values(subject) else said

    def columns(self, subject: Subject) -> list[str]:
        few = _of_two_values(subject)
        return [name for name in sensitive_of(subject) if name not in few and not is_number(subject.table[name])]

    def scores(self, found: Believed) -> Array:
        return np.asarray((found.own > 0) & (found.distinct <= 2), np.float64)


class Skewness(ClassInference):
    """The attacker takes the value that is most over-represented among the candidates, against the whole release."""

    name: ClassVar[str] = "skewness"
    knows: ClassVar[str] = (
        "Knows the exact quasi-identifiers of the person, that the person is in the data, and the shares of all values "
        "in the release."
    )
    success: ClassVar[str] = "The value that is most over-represented among the records that fit is right."
    remark: ClassVar[str] = "the value whose share among the candidates exceeds that in the release most"

    def columns(self, subject: Subject) -> list[str]:
        return [name for name in sensitive_of(subject) if not is_number(subject.table[name])]

    def scores(self, found: Believed) -> Array:
        return found.right(found.lifted)


class Similarity(ClassInference):
    """The attacker concludes that a number is near, where all candidates' numbers are."""

    name: ClassVar[str] = "similarity"
    knows: ClassVar[str] = "Knows the exact quasi-identifiers of the person, and that the person is in the data."
    success: ClassVar[str] = "All numbers that fit lie within 5% of each other, and the person's is among them."
    remark: ClassVar[str] = "only where the numbers of all candidates lie within 5% of each other"

    def columns(self, subject: Subject) -> list[str]:
        return [name for name in sensitive_of(subject) if is_number(subject.table[name])]

    def scores(self, found: Believed) -> Array:
        assert found.numbers is not None
        assert found.true_numbers is not None
        low, high = found.numbers[found.least], found.numbers[found.greatest]
        close = (found.distinct > 0) & (high - low <= NEAR * np.minimum(np.abs(low), np.abs(high)))
        right = (low <= found.true_numbers) & (found.true_numbers <= high)
        return np.asarray(close & right, np.float64)
