"""From a table to the classes of its persons: whose histories are equal in what an attacker may know."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.errors import InputError
from shoal.identity.measure import Cells, measure_persons
from shoal.leakage.histories import Histories
from shoal.leakage.sizes import ClassSizes
from shoal.ranges.parsing import Generalized, as_ranges, forms_in
from shoal.table import Array
from shoal.table.classes import Coded, Codes, class_of_each_row, class_sizes, pack
from shoal.table.rows import Rows
from shoal.vocabulary import NullRule


@dataclass(frozen=True)
class People:
    """The persons of a table by class. Whoever is `*` in every column stands in no class and is counted apart."""

    rows: Rows
    coded: list[Codes]
    suppressed: Array | None

    @classmethod
    def of(cls, rows: Rows, null_rule: NullRule, generalized: Generalized) -> People:
        """Read what is compared. Under the null rule `wildcard` a null is the whole range, and equal ranges are alike:
        the strict reading, the safe side."""
        wild = null_rule == "wildcard" and any(column.nulls for column in rows.columns)
        if not wild and not any(forms_in(column, generalized) for column in rows.columns):
            return cls(rows, list(rows.columns), None)
        ranges = [as_ranges(column, generalized, wild) for column in rows.columns]
        suppressed = np.logical_and.reduce([column.star for column in ranges])
        return cls(rows, list(ranges), suppressed if suppressed.any() else None)

    def sizes(self) -> ClassSizes:
        """How many persons share each class; without a person column every record is a person."""
        if self.suppressed is not None and self.suppressed.all():
            raise InputError(
                "Every row is suppressed in all quasi-identifiers: there is no class to measure.",
                "Name other quasi-identifiers.",
            )
        if self.rows.person is not None:
            found = measure_persons(class_of_each_row(pack(self.coded)), self.rows.person, self.suppressed)
            return ClassSizes(found.sizes, found.classes)
        kept, weights = self.coded, self.rows.weights
        if self.suppressed is not None:
            shown = ~self.suppressed
            kept = [Coded(column.codes[shown], column.cardinality) for column in kept]
            weights = None if weights is None else weights[shown]
        counted = Cells.of_classes(class_sizes(kept, weights))
        return ClassSizes(counted.sizes, counted.classes)

    @cached_property
    def histories(self) -> Histories:
        """The records of each person, for what has no formula."""
        if self.rows.weights is not None:
            raise InputError("A table of counts has no histories: a row stands for many persons.", "Leave out --count.")
        classes, count = class_of_each_row(pack(self.coded))
        person = np.arange(len(classes)) if self.rows.person is None else self.rows.person.codes
        if self.suppressed is not None:  # whoever shows a value in some record stays, with all records
            shows = np.zeros(int(person.max()) + 1, bool)
            shows[person[~self.suppressed]] = True
            classes, person = classes[shows[person]], person[shows[person]]
        return Histories.of(classes, count, person)

    @property
    def suppressed_rows(self) -> int:
        """Records that are `*` in every column."""
        return 0 if self.suppressed is None else self.rows.records_in(self.suppressed)
