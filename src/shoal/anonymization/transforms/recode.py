"""Recoding: values become labels, in a whole column or only in the rows that stand out (Pastore et al.).

A recoding is a map from the dictionary of a column to labels, so that rows are touched only to look codes up. Labels
are always of the *original* value: a later step on the same column replaces what an earlier one wrote.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.anonymization.transforms.labels import Labelling
from shoal.dataclasses import dataclass
from shoal.errors import InputError, as_names, check_at_least
from shoal.table import Array, Column, smallest_unsigned
from shoal.table.classes import Codes, class_of_each_row, class_sizes, pack
from shoal.table.rows import Rows
from shoal.table.texts import texts_of, with_null
from shoal.table.unite import unite


@dataclass(frozen=True)
class Recoding:
    """Labels for one column: in all rows, or only in those whose class has fewer than `below` records (2: uniques)."""

    column: str
    labelling: Labelling
    below: int | None = None

    def __post_init__(self) -> None:
        if self.below is not None:
            check_at_least(2, self.below, "The size under which a class is recoded")


@dataclass(frozen=True)
class Strategy:
    """Recodings one after the other: classes are counted anew before each, or, if not `sequential`, only once.

    Recodings of whole columns give the same either way.
    """

    steps: Sequence[Recoding] = ()
    sequential: bool = True


@dataclass(frozen=True)
class Figures:
    """What a strategy leaves and what it costs, in records; `modified_rows` differ as text in some column."""

    records: int
    uniques: int
    classes: int
    k: int
    modified_rows: int
    removed_rows: int = 0

    @property
    def uniqueness(self) -> float:
        return self.uniques / self.records if self.records else 0.0

    @property
    def affected_rows(self) -> int:
        return self.modified_rows + self.removed_rows


@dataclass(frozen=True)
class Recoded:
    """The columns after a strategy, and its figures; a column in which no value changed is the one that came in."""

    columns: Sequence[Column]
    figures: Figures


def recode(
    rows: Rows, strategy: Strategy, quasi_identifiers: Sequence[str] | None = None, removed_rows: int = 0
) -> Recoded:
    """Recode columns of rows and count the classes of the quasi-identifiers (all columns, if none are named).

    Labels are compared as text with the values that stay: a town recoded to the province AOSTA falls together with the
    town AOSTA. `removed_rows` are records that were set aside before, counted as affected.

    >>> from shoal.reading import read
    >>> rows = Rows.of(read({"year": [1970, 1970, 1971], "sex": ["f", "f", "m"]}), ["year", "sex"])
    >>> from shoal.anonymization.transforms.labels import Constant
    >>> recoded = recode(rows, Strategy([Recoding("sex", Constant("*"), below=2)]))
    >>> recoded.columns[1].decode().to_list(), recoded.figures.uniques, recoded.figures.modified_rows
    (['f', 'f', '*'], 1, 1)
    """
    original = {column.name: column for column in rows.columns}
    names = list(original) if quasi_identifiers is None else as_names(quasi_identifiers)
    _check_asked(rows, strategy, names)
    changing = _changing_columns(rows, strategy.steps)
    turn: Counter[str] = Counter()
    for step in strategy.steps:
        now: Mapping[str, Codes] = {**original, **changing} if strategy.sequential else original
        turn[step.column] += 1
        where = _where(step, [now[name] for name in names], rows.weights)
        changing[step.column].apply(turn[step.column], where)
    columns = [changing[name].finish() if name in changing else column for name, column in original.items()]
    return Recoded(columns, _figures(rows, columns, names, list(changing.values()), removed_rows))


def _check_asked(rows: Rows, strategy: Strategy, names: Sequence[str]) -> None:
    present = [column.name for column in rows.columns]
    asked = [*names, *(step.column for step in strategy.steps)]
    if missing := [name for name in dict.fromkeys(asked) if name not in present]:
        raise InputError.missing_columns(missing, present, "The table to recode")
    if not names:
        raise InputError("There is no quasi-identifier to count by.", "Name one at least.")
    if rows.person is not None:
        raise InputError("Recoding counts records, not persons.", "Leave the person column out.")


@dataclass
class _ChangingColumn:
    """A column on its way: codes into all texts it may come to hold; `lookups[i]` is what step i makes of a code."""

    column: Column
    texts: pl.Series
    lookups: Sequence[Array]
    codes: Array

    @classmethod
    def of(cls, column: Column, labels: Sequence[pl.Series]) -> _ChangingColumn:
        texts, codes = unite([with_null(texts_of(column.values), None), *labels])
        narrow = codes.astype(smallest_unsigned(len(texts) + 1))
        lookups = np.split(narrow, len(labels) + 1)
        return cls(column, texts, lookups, lookups[0][column.codes])

    @property
    def cardinality(self) -> int:
        return len(self.texts) + 1

    def apply(self, step: int, where: Array | None) -> None:
        """Write the labels of a step into some rows, or into all."""
        labels = self.lookups[step][self.column.codes]
        self.codes = labels if where is None else np.where(where, labels, self.codes)

    def changed(self) -> Array:
        """Which rows differ as text from what came in."""
        return np.asarray(self.codes != self.lookups[0][self.column.codes])

    def finish(self) -> Column:
        """As a column of text that knows only the texts that are left; unchanged, as it came in."""
        if not self.changed().any():
            return self.column
        left = np.bincount(self.codes, minlength=self.cardinality) > 0
        places: Array = np.cumsum(left) - left
        values = self.texts.filter(left[:-1]).alias(self.column.name)
        nulls = int(np.count_nonzero(self.codes == len(self.texts)))
        narrow = smallest_unsigned(len(values) + (nulls > 0))
        return Column(self.column.name, places.astype(narrow)[self.codes], values, nulls, pl.String())


def _changing_columns(rows: Rows, steps: Sequence[Recoding]) -> dict[str, _ChangingColumn]:
    """The columns that a strategy recodes, with the labels of all its steps; the faults of all of them in one error."""
    by_name = {column.name: column for column in rows.columns}
    labels: dict[str, list[pl.Series]] = {step.column: [] for step in steps}
    faults: dict[str, str | None] = {}
    for step in steps:
        column = by_name[step.column]
        try:
            labels[step.column].append(step.labelling.labels(column, _records_of_codes(column, rows.weights)))
        except InputError as fault:
            faults[fault.what] = fault.cure
    if faults:
        raise InputError(" ".join(faults), " ".join(dict.fromkeys(filter(None, faults.values()))))
    return {name: _ChangingColumn.of(by_name[name], found) for name, found in labels.items()}


def _records_of_codes(column: Column, weights: Array | None) -> Array:
    """How many records have each value, null left out."""
    return np.bincount(column.codes, weights, len(column.values) + 1)[: len(column.values)].astype(np.int64)


def _where(step: Recoding, columns: Sequence[Codes], weights: Array | None) -> Array | None:
    """The rows in classes that are too small; None for all rows."""
    if step.below is None:
        return None
    classes, count = class_of_each_row(pack(columns))
    return np.asarray((np.bincount(classes, weights, count) < step.below)[classes])


def _figures(
    rows: Rows, columns: Sequence[Column], names: Sequence[str], changing: Sequence[_ChangingColumn], removed_rows: int
) -> Figures:
    sizes = class_sizes([column for column in columns if column.name in names], rows.weights)
    modified = (
        np.logical_or.reduce([column.changed() for column in changing]) if changing else np.zeros(rows.count, bool)
    )
    return Figures(
        records=rows.records,
        uniques=int(np.count_nonzero(sizes == 1)),
        classes=len(sizes),
        k=int(sizes.min(initial=rows.records)),
        modified_rows=rows.records_in(modified),
        removed_rows=removed_rows,
    )
