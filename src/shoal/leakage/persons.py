"""From a table to the classes of its persons: whose histories are equal in what an attacker may know."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cached_property

import numpy as np

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.identity.measure import Cells, measure_persons
from shoal.judgement.shown import Shown, shown_in
from shoal.leakage.histories import Histories
from shoal.leakage.sizes import ClassSizes
from shoal.table.rows import Rows
from shoal.vocabulary import Generalized, NullRule


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
        found = measure_persons(self.shown) if by_person else Cells.of_classes(self.shown.members)
        return ClassSizes(found.sizes, found.classes)

    @cached_property
    def histories(self) -> Histories:
        """The records of each person, for what has no formula."""
        if self.one_by_one is not None:
            return self.one_by_one().histories
        rows, suppressed = self.shown.rows, self.shown.suppressed
        if rows.weights is not None and not rows.distinct:
            raise InputError("A table of counts has no histories: a row stands for many persons.", "Leave out --count.")
        classes, count = self.shown.combinations
        if rows.weights is not None:  # tuples that an engine counted: every record is a person of its own
            classes, suppressed = np.repeat(classes, rows.weights), np.repeat(suppressed, rows.weights)
        person = np.arange(len(classes)) if rows.person is None else rows.person.codes
        if suppressed.any():  # whoever shows a value in some record stays, with all records
            shows = np.zeros(int(person.max()) + 1, bool)
            shows[person[~suppressed]] = True
            classes, person = classes[shows[person]], person[shows[person]]
        return Histories.of(classes, count, person)

    @property
    def suppressed_rows(self) -> int:
        """Records that are `*` in every column."""
        return self.shown.rows.records_in(self.shown.suppressed)
