"""Homogeneity: whoever finds a person's class learns the sensitive value that all its members share."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.attacks.base import Attack, AttackOutcome, Criterion
from shoal.attacks.subject import Subject
from shoal.errors import InputError
from shoal.policy.judgement.shown_classes import shown_in
from shoal.policy.manifest import PRIVATE_TABLE
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, CountTable
from shoal.storage.rows import Rows


class Homogeneity(Attack):
    """The attacker knows the quasi-identifiers of everybody in the release, and nothing else.

    A record is hit where all known values of a sensitive column in its class are one. The baseline is the share of the
    most frequent value: who guesses it for everybody is right so often.
    """

    name: ClassVar[str] = "homogeneity"
    criterion: ClassVar[Criterion] = "inference"
    knows: ClassVar[str] = "Knows the quasi-identifiers of everybody in the release, and nothing else."
    success: ClassVar[str] = "All records that fit the person have the same sensitive value, so that it is certain."

    def skips(self, subject: Subject) -> str | None:
        """Without a sensitive column there is nothing to learn, and of a drawn record it is about nobody."""
        if subject.manifest is not None and subject.manifest.method == PRIVATE_TABLE:
            return "records were drawn from a model: none is anybody's own"
        there = [name for name in subject.policy.sensitive if name in subject.table.columns]
        return None if there else "the release has no sensitive column"

    def run(self, subject: Subject) -> AttackOutcome:
        """Attack every sensitive column of a release; a record is hit where one of its values is certain."""
        policy, table = subject.policy, subject.table
        if self.skips(subject) is not None:
            raise InputError("The release has no sensitive column.", "Name one in the policy.")
        shown = shown_in(Rows.of(table, subject.released_quasi_identifiers), policy.null_rule)
        classes, kept = shown.class_of_row, ~shown.suppressed
        hit, baseline = np.zeros(table.rows, bool), 0.0
        for column in table.select([name for name in policy.sensitive if name in table.columns]):
            hit |= certain(classes, column)
            baseline = max(baseline, _guessed(column))
        notes = ["records that are suppressed throughout are not attacked"] if not kept.all() else []
        return AttackOutcome.of(self.name, self.criterion, hit[kept], baseline=baseline, notes=notes)


def certain(classes: Array, column: Column) -> Array:
    """Which rows have a value that is the only known one of their class.

    >>> from shoal.storage.reading import read
    >>> certain(np.array([0, 0, 1, 1]), read({"x": ["flu", "flu", "flu", "cold"]})["x"]).tolist()
    [True, True, False, False]
    """
    known = (classes >= 0) & ~column.is_null()
    count = int(classes.max(initial=-1)) + 1
    pairs = CountTable.of({"class": Coded(classes[known], count), "value": column.take(known)}).tuples["class"].codes
    one = np.bincount(pairs, minlength=count) == 1
    return np.asarray(known & one[np.where(known, classes, 0)]) if count else np.zeros(len(classes), bool)


def _guessed(column: Column) -> float:
    records = np.bincount(column.codes, minlength=column.cardinality)[: len(column.values)]
    return float(records.max(initial=0) / max(records.sum(), 1))
