"""From columns to cells: how many records nobody can tell a record from, under every null rule and reading."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from shoal.errors import InputError
from shoal.identity.results import Reading
from shoal.ranges.parsing import Domain, Generalized, RangeColumn, as_ranges, forms_in
from shoal.table import Array, Column
from shoal.table.classes import Coded, class_of_each_person, class_of_each_row, class_sizes, pack
from shoal.table.rows import Rows
from shoal.vocabulary import NullRule


@dataclass(frozen=True)
class Cells:
    """Class sizes, as a histogram: `classes[i]` classes with `members[i]` records in all have `sizes[i]` members.

    Where matching is not an equivalence, a size is the number of records that match.
    """

    sizes: Array
    classes: Array
    members: Array
    uniques: int
    undecided: int = 0
    suppressed_rows: int = 0
    suppressed_persons: int = 0
    readings: dict[str, Reading] | None = None

    @classmethod
    def of_classes(cls, sizes: Array) -> Cells:
        """From the size of each class."""
        # class sizes are small as a rule: then counting beats sorting
        if len(sizes) and sizes.max() <= 1 << 24:
            classes = np.bincount(sizes)
            distinct = np.flatnonzero(classes)
            classes = classes[distinct]
        else:
            distinct, classes = np.unique(sizes, return_counts=True)
        return cls(distinct, classes, distinct * classes, int(classes[distinct == 1].sum()))

    @classmethod
    def of_matches(cls, sizes: Array, members: Array) -> Cells:
        """From the matches and the records of each distinct tuple."""
        distinct, which = np.unique(sizes, return_inverse=True)
        classes = np.bincount(which, minlength=len(distinct))
        records = np.bincount(which, members, len(distinct)).astype(np.int64)
        return cls(distinct, classes, records, int(records[distinct == 1].sum()))

    @property
    def measured(self) -> int:
        """Records, or persons, that stand in a class."""
        return int(self.members.sum())

    @property
    def k(self) -> int:
        return int(self.sizes[0]) if len(self.sizes) else 0


def measure(rows: Rows, null_rule: NullRule, generalized: Generalized, domain: Domain) -> Cells:
    """The cells of rows, by the rule for nulls and by what generalised text means."""
    forms = {column.name: forms_in(column, generalized) for column in rows.columns}
    if any(forms.values()):
        return _measure_boxes(rows, null_rule, generalized, domain)
    if null_rule == "wildcard" and any(column.nulls for column in rows.columns):
        return _measure_wildcards(rows)
    if rows.person is not None:
        return measure_persons(class_of_each_row(pack(rows.columns)), rows.person)
    return Cells.of_classes(_class_sizes(rows))


def _class_sizes(rows: Rows) -> Array:
    return rows.ones if rows.distinct else class_sizes(rows.columns, rows.weights)


def _measure_boxes(rows: Rows, null_rule: NullRule, generalized: Generalized, domain: Domain) -> Cells:
    """Classes are groups of equal boxes; uniques are by Eq 1: no other record's box may fit."""
    ranges = [as_ranges(column, generalized, null_rule == "wildcard", domain) for column in rows.columns]
    suppressed = np.logical_and.reduce([column.star for column in ranges])
    if rows.person is not None:
        return measure_persons(class_of_each_row(pack(ranges)), rows.person, suppressed)
    suppressed_rows = rows.records_in(suppressed)
    if suppressed.all():
        return _nothing(suppressed_rows)
    weights = rows.weights
    if suppressed.any():
        ranges = [replace(column, codes=column.codes[~suppressed], star=column.star[~suppressed]) for column in ranges]
        weights = None if weights is None else weights[~suppressed]
    from shoal.ranges.coverage import fit

    found = fit(ranges, weights)
    strict = Cells.of_classes(found.records)
    return replace(
        strict,
        uniques=int(np.count_nonzero(found.unique)),
        undecided=int(np.count_nonzero(found.undecided)),
        suppressed_rows=suppressed_rows,
        readings={"strict": Reading(strict.k, strict.uniques), **_where_star_matches(ranges, weights)},
    )


def _where_star_matches(ranges: list[RangeColumn], weights: Array | None) -> dict[str, Reading]:
    """The reading in which a suppressed cell matches anything, where there is one and matching is not too much work."""
    stars = {column.name: column.star for column in ranges}
    flags = [Coded(star.astype(np.uint8), 2) for star in stars.values() if star.any()]
    if not flags:
        return {}
    from shoal.models.evidence import evidence_of_rows
    from shoal.models.k_matching import readings_of

    classes, _ = class_of_each_row(pack([*ranges, *flags]))
    keys = {column.name: column.codes for column in ranges}
    try:
        found = readings_of(evidence_of_rows(classes, {}, keys=keys, stars=stars, weights=weights))["wildcard"]
    except InputError:
        return {}
    return {"wildcard": Reading(found["k"], found["uniques"])}


def _nothing(suppressed_rows: int) -> Cells:
    """Every record is suppressed: there is no class."""
    return replace(Cells.of_classes(np.zeros(0, np.int64)), suppressed_rows=suppressed_rows)


def measure_persons(class_of_row: tuple[Array, int], person: Column, suppressed: Array | None = None) -> Cells:
    """Persons are alike if the multisets of their rows are; one whose rows are all suppressed stands in no class.

    A history has no box of its own, so boxes count as equal or not: the safe side.
    """
    classes, count = class_of_each_person(*class_of_row, person)
    members = np.bincount(classes, minlength=count)
    if suppressed is None or not suppressed.any():
        return Cells.of_classes(members)
    # the persons are those who occur, in the order of their codes
    shown = np.zeros(person.cardinality, bool)
    shown[person.codes[~suppressed]] = True
    kept = shown[np.unique(person.codes)]
    sizes = np.bincount(classes[kept], minlength=count)
    return replace(
        Cells.of_classes(sizes[sizes > 0]), suppressed_rows=int(suppressed.sum()), suppressed_persons=int((~kept).sum())
    )


def _measure_wildcards(rows: Rows) -> Cells:
    """Null matches everything: the size of a record is the number of records that match it."""
    if rows.person is not None:
        raise InputError(
            "The null rule 'wildcard' has no meaning for persons: matching is not transitive.",
            "Use the null rule value or drop with persons.",
        )
    from shoal.ranges.coverage import fit, match

    suppressed = np.logical_and.reduce([column.is_null() for column in rows.columns])
    suppressed_rows = rows.records_in(suppressed)
    if suppressed.all():
        return _nothing(suppressed_rows)
    rows = rows.take(~suppressed) if suppressed.any() else rows
    strict = Cells.of_classes(_class_sizes(rows))
    found = match(rows.columns, rows.weights)
    fitted = fit([as_ranges(column, "no", null_is_star=True) for column in rows.columns], rows.weights)
    return replace(
        Cells.of_matches(found.matches, found.records),
        suppressed_rows=suppressed_rows,
        readings={
            "strict": Reading(strict.k, strict.uniques),
            "fitting": Reading(int(fitted.records.min()), int(np.count_nonzero(fitted.unique))),
        },
    )
