"""What rows show of their quasi-identifiers: one home for the classes that risk, verify and leak count.

Two different texts are two classes, whatever they may mean: `[5;9]` and `[05;9]`, `12X` and `12x`. Only a `*` that a
release wrote, and under the null rule `wildcard` a missing value, is known to stand for something that is not shown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.coverage import match_tuples
from shoal.ranges.parsing import STAR, forms_in
from shoal.storage import Array, Column
from shoal.storage.classes import (
    Coded,
    Codes,
    class_of_each_person,
    class_of_each_row,
    class_of_rows,
    first_row_of_each_class,
)
from shoal.storage.rows import Rows
from shoal.storage.texts import few_texts
from shoal.vocabulary import Generalized, NullRule

# One thing that was looked at besides the models.


@dataclass(frozen=True)
class Check:
    """One thing that was looked at besides the models."""

    name: str
    holds: bool
    detail: str


# Attribute disclosure: what everybody in a class has, whoever finds the class learns of each of them.


@dataclass(frozen=True)
class Disclosure:
    """Eq 5: of the records that meet a condition, those in classes where everybody does."""

    records: int
    disclosed: int

    @property
    def share(self) -> float | None:
        """Undefined where no record meets the condition."""
        return self.disclosed / self.records if self.records else None


def attribute_disclosure(class_of_row: Array, classes: int, meets: Array, weights: Array | None = None) -> Disclosure:
    """Sánchez et al., Eq 5: records in classes all of whose members meet the condition, over records that meet it.

    >>> attribute_disclosure(np.array([0, 0, 1, 1]), 2, np.array([True, True, True, False]))
    Disclosure(records=3, disclosed=2)
    """
    sizes = np.bincount(class_of_row, weights, classes).astype(np.int64)
    meeting = np.bincount(class_of_row[meets], None if weights is None else weights[meets], classes).astype(np.int64)
    return Disclosure(int(meeting.sum()), int(sizes[sizes == meeting].sum()))


# Classes of persons: who has the same records.


def classes_of_persons(class_of_row: Array, classes: int, person: Codes) -> tuple[Array, int]:
    """The class of each person: equal multisets of records; -1 for a code of the person column that no row has.

    >>> from shoal.storage.reading import read
    >>> person = read({"patient": ["a", "a", "b", "c", "c"]})["patient"]
    >>> classes_of_persons(np.array([0, 1, 0, 1, 0]), 2, person)[0].tolist()
    [1, 0, 1]
    """
    found, count = class_of_each_person(class_of_row, classes, person)
    there = np.zeros(person.cardinality, bool)
    there[person.codes] = True
    of_person = np.full(person.cardinality, -1, np.int64)
    of_person[there] = found
    return of_person, count


@dataclass(frozen=True)
class Shown:
    """Rows by what they show: `columns` have equal codes where rows show the same, `stars` say which cells are
    suppressed; with `matching` a missing value matches anything."""

    rows: Rows
    columns: tuple[Codes, ...]
    stars: tuple[Array, ...]
    matching: bool = False

    @cached_property
    def suppressed(self) -> Array:
        """The rows that are suppressed in every column: they stand in no class."""
        found = self.stars[0].copy()
        for star in self.stars[1:]:
            found &= star
        return found

    @property
    def _counted(self) -> bool:
        """Whether the rows are the tuples of a count table: each is a combination of its own, in their order."""
        as_read = zip(self.columns, self.rows.columns, strict=True)
        return self.rows.in_order and all(shown.codes is column.codes for shown, column in as_read)

    @cached_property
    def combinations(self) -> Coded:
        """The combination of each row, suppressed or not, numbered densely."""
        if self._counted:
            return Coded(np.arange(self.rows.count), self.rows.count)
        return Coded(*class_of_rows(self.columns))

    @cached_property
    def class_of_row(self) -> Array:
        """The class of each row by equality; -1 where it is suppressed throughout."""
        if not self.suppressed.any():
            return self.combinations.codes
        classes = np.full(self.rows.count, -1, np.int64)
        kept = np.flatnonzero(~self.suppressed)
        if len(kept):
            classes[kept], _ = class_of_each_row(Coded(self.combinations.codes[kept], self.combinations.cardinality))
        return classes

    @cached_property
    def members(self) -> Array:
        """The records of each class."""
        if self._counted and not self.suppressed.any():
            return self.rows.ones
        kept = ~self.suppressed
        weights = None if self.rows.weights is None else self.rows.weights[kept]
        return np.bincount(self.class_of_row[kept], weights).astype(np.int64)

    @cached_property
    def sizes(self) -> Array:
        """The records that nobody can tell from those of each class: its own, and with `matching` those that match."""
        return self.matched(self.members)

    def sum_of(self, values: Array) -> Array:
        """What the rows of each class, and with `matching` those that match, have in all; one value for each row."""
        kept = ~self.suppressed
        return self.matched(np.bincount(self.class_of_row[kept], values[kept], len(self.members)))

    def matched(self, counts: Array, alpha: float = 1.0) -> Array:
        """Records, or their weights, of each class and with `matching` of those that match it; a class with missing
        values counts as `alpha` of its records for others."""
        if not self.matching or not len(counts):
            return counts
        kept = np.flatnonzero(~self.suppressed)
        first = kept[first_row_of_each_class(self.class_of_row[kept], len(counts))]
        tuples = [Coded(column.codes[first], column.cardinality) for column in self.columns]
        known = np.stack([~star[first] for star in self.stars], axis=1)
        return match_tuples(tuples, known, counts, alpha)

    @cached_property
    def class_of_person(self) -> Array:
        """The class of each person by the whole history; -1 for one all of whose records are suppressed."""
        person = self.rows.person
        assert person is not None
        if self.matching:
            raise InputError(
                "The null rule 'wildcard' has no meaning for persons: matching is not transitive.",
                "Use the null rule value or drop with a person column.",
            )
        found, _ = classes_of_persons(*self.combinations, person)
        shows = np.zeros(person.cardinality, bool)
        shows[person.codes[~self.suppressed]] = True
        classes = np.full(person.cardinality, -1, np.int64)
        if shows.any():
            classes[shows], _ = class_of_each_row(Coded(found[shows], int(found.max()) + 1))
        return classes


def shown_in(
    rows: Rows, rule: NullRule, starred: Collection[str] | None = None, generalized: Generalized = "auto"
) -> Shown:
    """What rows show, by the rule for missing values.

    `starred`: the columns in which `*` is a suppressed cell. Without it, those whose texts are read as generalised.
    Under `wildcard` a missing value matches anything; beside generalised values it is read as `*`.

    >>> from shoal.storage.reading import read
    >>> table = read({"a": ["*", "c"], "b": ["1", "1"]})
    >>> shown_in(Rows.of(table, ["a", "b"]), "value").sizes.tolist()
    [1, 1]
    """
    wild = rule == "wildcard" and any(column.nulls for column in rows.columns)
    # texts are taken apart only where it matters what they look like
    looked_at = rows.columns if wild or starred is None else ()
    forms = {column.name: forms_in(column, generalized) for column in looked_at}
    if starred is None:
        starred = [name for name, found in forms.items() if "star" in found]
    columns, stars = [], []
    for column in rows.columns:
        star = _is_star(column) if column.name in starred else np.zeros(rows.count, bool)
        codes = Coded(column.codes, column.cardinality)
        if wild and column.nulls:
            null = column.is_null()
            if star.any():  # both stand for the whole column
                codes = Coded(np.where(null, column.codes[star.argmax()], column.codes), column.cardinality)
            star = star | null
        columns.append(codes)
        stars.append(star)
    return Shown(rows, tuple(columns), tuple(stars), wild and not any(forms.values()))


def _is_star(column: Column) -> Array:
    """Which cells are written as `*`."""
    few = few_texts(column.values)
    if column.values.dtype != pl.String or STAR not in (column.values if few is None else few):
        return np.zeros(len(column.codes), bool)
    return np.asarray(column.codes == int(column.values.index_of(STAR)))  # type: ignore[arg-type]
