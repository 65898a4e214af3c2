"""Linkage in the battery: an attacker who knows all quasi-identifiers of the people in the original."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.linking.link import Linkage, helps_most
from shoal.attacks.subject import Subject
from shoal.policy.manifest import PRIVATE_TABLE
from shoal.storage import Array
from shoal.wording import percent


class Link(Attack):
    """The attacker has the original's quasi-identifiers with names and looks for everybody's record.

    A target scores 1/candidates where its own record is among them, else nothing; the records of one person count
    once. People who are not in the release have no record of their own: where there is a control, it is a guess among
    all records, right once in so many.
    """

    name: ClassVar[str] = "linkage"
    criterion: ClassVar[Criterion] = "linkability"
    knows: ClassVar[str] = (
        "Holds a register with names and the exact values of all quasi-identifiers, and knows that the person is in "
        "the data."
    )
    success: ClassVar[str] = (
        "Picks the person's own record; among n records that fit alike the pick counts as 1/n. The control is a blind "
        "pick: who is not in the data has no record there."
    )

    def skips(self, subject: Subject) -> str | None:
        """Without the original there is nobody to look for."""
        if subject.manifest is not None and subject.manifest.method == PRIVATE_TABLE:
            return "records were drawn from a model: none is anybody's own"
        return None if subject.original is not None and subject.on else "there is no original"

    def run(self, subject: Subject) -> AttackOutcome:
        """Link the sampled people with the release."""
        rows, found = subject.sampled[0], subject.linked[0]
        scores, notes = _scores(found, subject, rows)
        notes.append(f"{percent(float((found.records == 1).mean()))} of the targets fit exactly one record")
        notes += _what_helped(subject, float(scores.mean()))
        baseline = 1 / max(float(found.boxes.weight.sum()), 1.0)
        return AttackOutcome.of(
            self.name,
            self.criterion,
            scores,
            baseline=baseline,
            chance=None if subject.control is None else baseline,
            unknown=subject.persons_unknown,
            least=np.zeros(len(rows)) if subject.place is None else None,
            notes=notes,
            rows=rows,
        )


def _scores(found: Linkage, subject: Subject, rows: Array) -> tuple[Array, list[str]]:
    """1/candidates where the own record is one; where nobody knows which that is, it is taken to be."""
    candidates = subject.candidates(found)
    alike = np.divide(1.0, candidates, out=np.zeros(len(rows)), where=candidates > 0)
    if subject.place is None:
        return alike, ["which record is whose is not known: the right one is taken to be among those that fit"]
    there = subject.place[rows] >= 0
    own = np.zeros(len(rows), bool)
    own[there] = found.holds(np.flatnonzero(there), subject.place[rows[there]])
    return np.where(own, alike, 0.0), []


def _what_helped(subject: Subject, rate: float) -> list[str]:
    """The column without which the attack loses most."""
    if len(subject.on) < 2 or rate <= 0:
        return []
    rows, left = subject.sampled[0], {}
    for name in subject.on:
        found = subject.linkage(subject.people[0], [other for other in subject.on if other != name])
        left[name] = float(_scores(found, subject, rows)[0].mean())
    return helps_most(left, rate)
