"""From columns to cells: how many records nobody can tell a record from, under every null rule and reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engine import Engine, SizeHistogram, TooManyTuples
from shoal.errors import InputError, Message
from shoal.exposure.results import Reading, SizeCount
from shoal.policy.judgement.shown_classes import Shown, shown_in
from shoal.ranges.coverage import fit
from shoal.ranges.parsing import as_ranges, forms_in
from shoal.storage import Array
from shoal.storage.classes import Coded, class_sizes, pack
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.vocabulary import Domain, Generalized, NullRule

if TYPE_CHECKING:
    from shoal.policy import Policy
    from shoal.policy.default_policy import DefaultPolicy


# tuples times patterns of missing values up to which readings that nobody asked for are measured too: about a second
_MOST_MATCHED = 20_000_000


@dataclass(frozen=True)
class ClassHistogram:
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
    def of_classes(cls, sizes: Array) -> ClassHistogram:
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
    def of_matches(cls, sizes: Array, members: Array) -> ClassHistogram:
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

    @property
    def counts(self) -> list[SizeCount]:
        """The same as results tell it."""
        rows = zip(self.sizes.tolist(), self.classes.tolist(), self.members.tolist(), strict=True)
        return [SizeCount(*row) for row in rows]


@dataclass(frozen=True)
class CountedClasses:
    """The classes of any columns of rows that are here, and how many records were set aside."""

    rows: Rows
    removed: int
    null_rule: NullRule
    generalized: Generalized
    domain: Domain

    @property
    def records(self) -> int:
        return self.rows.records

    def of(self, columns: Sequence[str]) -> ClassHistogram:
        """The classes of some columns."""
        return measure(self.rows.select(columns), self.null_rule, self.generalized, self.domain)


def measure(rows: Rows, null_rule: NullRule, generalized: Generalized, domain: Domain) -> ClassHistogram:
    """The cells of rows, by the rule for nulls and by what generalised text means."""
    forms = any(forms_in(column, generalized) for column in rows.columns)
    wild = null_rule == "wildcard" and any(column.nulls for column in rows.columns)
    if rows.person is None and not forms and not wild:
        return ClassHistogram.of_classes(rows.ones if rows.distinct else class_sizes(rows.columns, rows.weights))
    shown = shown_in(rows, null_rule, generalized=generalized)
    if rows.person is not None:
        return measure_persons(shown)
    if shown.suppressed.all():
        return replace(ClassHistogram.of_classes(shown.members), suppressed_rows=rows.records_in(shown.suppressed))
    return _measure_wildcards(shown) if shown.matching else _measure_boxes(shown, null_rule, generalized, domain)


def _measure_boxes(shown: Shown, null_rule: NullRule, generalized: Generalized, domain: Domain) -> ClassHistogram:
    """Classes are groups of equal texts; uniques are by Eq 1: no other record's box may fit."""
    kept = np.flatnonzero(~shown.suppressed)
    ranges = [as_ranges(column, generalized, null_rule == "wildcard", domain) for column in shown.rows.columns]
    ranges = [replace(column, codes=column.codes[kept], star=column.star[kept]) for column in ranges]
    fitted = fit(ranges, None if shown.rows.weights is None else shown.rows.weights[kept])
    strict = ClassHistogram.of_classes(shown.members)
    return replace(
        strict,
        uniques=int(np.count_nonzero(fitted.unique)),
        undecided=int(np.count_nonzero(fitted.undecided)),
        suppressed_rows=shown.rows.records_in(shown.suppressed),
        readings={"strict": Reading(strict.k, strict.uniques), **_where_star_matches(shown)},
    )


def _where_star_matches(shown: Shown) -> dict[str, Reading]:
    """The reading in which a suppressed cell matches anything, where there is one and matching is not too much work."""
    kept = ~shown.suppressed
    if not any(star[kept].any() for star in shown.stars):
        return {}
    from shoal.models.evidence import evidence_of_rows
    from shoal.models.k_matching import readings_of

    names = [column.name for column in shown.rows.columns]
    keys = {name: column.codes for name, column in zip(names, shown.columns, strict=True)}
    stars = dict(zip(names, shown.stars, strict=True))
    try:
        evidence = evidence_of_rows(shown.class_of_row, {}, keys=keys, stars=stars, weights=shown.rows.weights)
        wildcard = readings_of(evidence)["wildcard"]
    except InputError:
        return {}
    return {"wildcard": Reading(wildcard["k"], wildcard["uniques"])}


def readings_of_missing(rows: Rows, alpha: float) -> dict[str, Reading]:
    """The strict and the wildcard reading of rows with missing values beside each other, whichever the null rule is.

    With `alpha` below 1 also the weighted one: a match with a record that has missing values counts as `alpha` of one.
    Nothing where no value is missing, where persons are counted, or where matching would be too much work.

    >>> from shoal.storage.reading import read
    >>> table = read({"a": [1, 1, 1], "b": [2, 3, None]})
    >>> {name: (found.k, found.uniques) for name, found in readings_of_missing(Rows.of(table, ["a", "b"]), 0.5).items()}
    {'strict': (1, 3), 'wildcard': (2, 0), 'weighted': (1.5, 2)}
    """
    if rows.person is not None or not any(column.nulls for column in rows.columns):
        return {}
    if rows.distinct and rows.count - 1 > _MOST_MATCHED:  # one class may be missing throughout
        return {}
    shown = shown_in(rows, "wildcard", (), "no")
    patterns = len(np.unique(pack([Coded(star.astype(np.int64), 2) for star in shown.stars]).codes))
    if not len(shown.members) or patterns * len(shown.members) > _MOST_MATCHED:
        return {}
    sizes = {"strict": shown.members, "wildcard": shown.sizes}
    if alpha < 1:
        sizes["weighted"] = shown.matched(shown.members, alpha)
    return {name: _reading(histogram, shown.members) for name, histogram in sizes.items()}


def _reading(sizes: Array, members: Array) -> Reading:
    least = float(sizes.min())
    return Reading(int(least) if least.is_integer() else least, int(members[sizes < 2].sum()))


def measure_persons(shown: Shown) -> ClassHistogram:
    """Persons are alike if the multisets of their rows are; one whose rows are all suppressed stands in no class.

    A history has no box of its own, so boxes count as equal or not: the safe side.
    """
    person = shown.rows.person
    assert person is not None
    classes = shown.class_of_person
    there = np.bincount(person.codes, minlength=person.cardinality) > 0
    return replace(
        ClassHistogram.of_classes(np.bincount(classes[classes >= 0])),
        suppressed_rows=int(shown.suppressed.sum()),
        suppressed_persons=int((there & (classes < 0)).sum()),
    )


def _measure_wildcards(shown: Shown) -> ClassHistogram:
    """Null matches everything: the size of a record is the number of records that match it."""
    strict = ClassHistogram.of_classes(shown.members)
    rows = shown.rows.take(~shown.suppressed)
    fitted = fit([as_ranges(column, "no", null_is_star=True) for column in rows.columns], rows.weights)
    return replace(
        ClassHistogram.of_matches(shown.sizes, shown.members),
        suppressed_rows=shown.rows.records_in(shown.suppressed),
        readings={
            "strict": Reading(strict.k, strict.uniques),
            "fitting": Reading(int(fitted.records.min()), int(np.count_nonzero(fitted.unique))),
        },
    )


NOTE = "the tuples are too many for one machine: classes were counted where the rows are, readings of nulls were not"


@dataclass(frozen=True)
class RolledUpClasses:
    """The classes of sets of columns, the first of them first, by their sizes alone: what `CountedClasses` tells of
    tuples that are here. No row is."""

    sizes: Mapping[tuple[str, ...], SizeHistogram]
    missing: Mapping[str, int]
    rows: Rows

    @classmethod
    def counted(
        cls,
        engine: Engine,
        source: Any,
        sets: Sequence[Sequence[str]],
        reading: tuple[NullRule, Generalized],
        count: str | None,
        options: Options | None,
    ) -> RolledUpClasses:
        """Counted in one pass by the engine; refuses generalised texts, which match more than their equals."""
        rule, generalized = reading
        missing = _missing_values(engine, source, sets[0], generalized, count, options)
        dropped = list(dict.fromkeys(name for columns in sets for name in columns)) if rule == "drop" else ()
        found = engine.sizes(source, sets, count=count, without_nulls=dropped, options=options)
        sizes = {tuple(columns): histogram for columns, histogram in zip(sets, found, strict=True)}
        return cls(sizes, {} if dropped else missing, Rows([]))

    @cached_property
    def _first(self) -> SizeHistogram:
        return next(iter(self.sizes.values()))

    @property
    def records(self) -> int:
        return int((self._first.sizes * self._first.classes).sum())

    @property
    def removed(self) -> int:
        return self._first.removed

    def of(self, columns: Sequence[str]) -> ClassHistogram:
        """The classes of some columns."""
        found = self.sizes[tuple(columns)]
        uniques = int(found.classes[found.sizes == 1].sum())
        return ClassHistogram(found.sizes, found.classes, found.sizes * found.classes, uniques)


def refuse_beyond_equality(
    error: TooManyTuples, policy: Policy | DefaultPolicy, rule: NullRule, *asked: object
) -> None:
    """Raise the error again where something was asked for that needs the tuples themselves."""
    about_tuples = any(model.needs_files or model.needs_keys for model in policy.models)
    if about_tuples or rule == "wildcard" or any(asked):
        raise error


def _missing_values(
    engine: Engine,
    source: Any,
    names: Sequence[str],
    generalized: Generalized,
    count: str | None,
    options: Options | None,
) -> dict[str, int]:
    """Records without a value, column by column; refuses generalised texts, which match more than their equals."""
    missing_by_column = {}
    for name in names:
        counted = engine.count(source, [name], count=count, options=options)
        if forms_in(counted.columns[name], generalized):
            raise TooManyTuples(
                f"Column '{name}' holds generalised texts, and the tuples are too many to be compared on one machine.",
                Message("Measure fewer columns, or set `{generalized}` to no to compare texts as they are."),
            )
        if missing := counted.rows.records_in(counted.columns[name].is_null()):
            missing_by_column[name] = missing
    return missing_by_column
