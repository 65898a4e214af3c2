"""Inference by the class: what an attacker concludes who knows the quasi-identifiers of a target.

The candidates of a target are the records that it may be; what they say of a sensitive column is what the attacker
believes. l-diversity looks at how many values a class has; these attacks use how they are distributed
(Machanavajjhala et al. 2007, Li et al. 2007).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from shoal.attacks.base import AttackOutcome, Criterion
from shoal.attacks.guesses import NEAR, Believed, believed, is_number, sensitive_of
from shoal.attacks.linking.link import Linkage
from shoal.attacks.subject import Subject
from shoal.errors import quoted
from shoal.table import Array, Table
from shoal.wording import percent

_LEAST_VALUES = 3
_ANSWERED = "with fewer than three values, one that the person does not have is the answer itself"


class ClassInference(ABC):
    """An attack on sensitive columns through the candidates of every target.

    The score of a target is the mean over the sensitive columns of which its own value is known.
    """

    name: ClassVar[str] = ""
    criterion: ClassVar[Criterion] = "inference"
    knows: ClassVar[str] = ""
    success: ClassVar[str] = ""
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
