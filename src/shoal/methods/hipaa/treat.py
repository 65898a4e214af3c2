"""Columns as safe harbor lets them leave: removed, to three digits, to the year, ages over 89 together, cells empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import polars as pl

from shoal.detection.ages import LIMIT, OLD, top_coded
from shoal.detection.clauses import Treatment, hidden
from shoal.detection.outliers import outliers
from shoal.identifiers.lists import is_state
from shoal.methods.hipaa.results import KEPT, Done
from shoal.methods.hipaa.zip3 import Populations, to_prefixes
from shoal.methods.scrubbing.columns import ScrubbedColumn
from shoal.methods.scrubbing.results import ScrubbedText
from shoal.storage import Array, Column, Table
from shoal.storage.dates import years_of
from shoal.text.base import HIPAA_LETTERS, TextKind
from shoal.vocabulary import DateOrder

WORDS = {
    "removed": "removed",
    "zip": "to three digits",
    "date": "to the year",
    "date-of-birth": "to the year, 90 and older together",
    "age": "90 and older together",
    "scrubbed": "identifiers replaced",
    "kept": KEPT,
}
EMPTIED = "cells emptied"


@dataclass
class TreatedColumns:
    """The released columns, what was done, and what is worth saying."""

    series: dict[str, pl.Series] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Years:
    """The year of each distinct value of the columns with dates, and the year of the data."""

    of_column: dict[str, Array]
    year_of_data: int
    said: str


@dataclass(frozen=True)
class Births:
    """Dates of birth beside what else tells an age: columns in which each row stands for equal records or for one."""

    columns: dict[str, Column]
    # the year of each value of a column, and which rows tell an age over 89
    years: dict[str, Array]
    old: Array


def treat(
    table: Table,
    treatments: Sequence[Treatment],
    years: Years,
    populations: Populations | None,
    scrubbed: ScrubbedText | None = None,
    births: Births | None = None,
) -> TreatedColumns:
    """Apply each treatment to its column; `births` where columns are not beside each other, row by row."""
    out = TreatedColumns()
    births = births or _births(table, treatments, years)
    for treatment in treatments:
        column = table[treatment.column]
        if treatment.action == "removed":
            _note(out, treatment, int(column.frequencies().sum()))
        elif treatment.action == "zip":
            _zip(out, column, treatment, populations)
        elif treatment.action == "age":
            _age(out, column, treatment)
        elif treatment.action in ("date", "date-of-birth"):
            _date(out, column, treatment, years, births)
        elif treatment.action == "scrubbed" and scrubbed is not None:
            _scrubbed(out, treatment, next(entry for entry in scrubbed.columns if entry.name == column.name))
        elif treatment.decided:
            out.series[column.name] = column.decode()
            _note(out, treatment, 0)
        else:
            _kept(out, column, treatment)
    return out


def _note(
    out: TreatedColumns, treatment: Treatment, cells: int, clause: str | None = None, action: str | None = None
) -> None:
    out.done.append(
        Done(
            treatment.column,
            clause or treatment.clause,
            action or WORDS[treatment.action],
            cells,
            treatment.decided,
            treatment.reason,
        )
    )


def _spread(column: Column, released: pl.Series) -> pl.Series:
    """Released values of the dictionary, row by row; null stays null."""
    return released.extend_constant(None, 1).gather(column.codes).alias(column.name)


def _changed(column: Column, released: pl.Series) -> int:
    """How many cells say something else than they did."""
    before = column.values.cast(pl.String)
    other = (before != released.cast(pl.String)).fill_null(True).to_numpy()
    return int(column.frequencies()[other].sum())


def _zip(out: TreatedColumns, column: Column, treatment: Treatment, populations: Populations | None) -> None:
    found = to_prefixes(column.values, populations)
    out.series[column.name] = _spread(column, found.prefixes)
    _note(out, treatment, _changed(column, found.prefixes))
    if found.repaired:
        out.notes.append(
            f"{column.name}: {found.repaired:,} different codes had lost their leading zeros; they were put back first"
        )


def _age(out: TreatedColumns, column: Column, treatment: Treatment) -> None:
    released, old = top_coded(column.values, column.name)
    changed = _changed(column, released)
    emptied = int(released.null_count())
    if not old.any() and not emptied and column.values.dtype.is_numeric():
        out.series[column.name] = column.decode()
        changed = 0
    else:
        out.series[column.name] = _spread(column, released)
    _note(out, treatment, changed)
    if old.any() and column.values.dtype.is_numeric():
        out.notes.append(
            f"{column.name}: '{OLD}' stands beside numbers, so the column is text now; to anonymise it further give it "
            "a hierarchy or drop those rows, else its ages are taken for words"
        )
    if emptied:
        out.notes.append(f"{column.name}: {emptied:,} different values are not ages and were emptied")


def years_of_columns(
    table: Table,
    treatments: Sequence[Treatment],
    given: int | None,
    order: DateOrder | None,
    century_from: int | None,
    this_year: int,
) -> Years:
    """The years of all columns with dates; without a given one, the year of the data is the latest year of an event."""
    of_column = {
        treatment.column: years_of(table[treatment.column].values, treatment.column, order, century_from)
        for treatment in treatments
        if treatment.action in ("date", "date-of-birth")
    }
    if given is not None:
        return Years(of_column, given, "given")
    events = [of_column[treatment.column] for treatment in treatments if treatment.action == "date"]
    latest_years = [int(years[years <= this_year].max(initial=0)) for years in events]
    latest = max(latest_years, default=0)
    if latest:
        return Years(of_column, latest, "the latest year of an event in the table")
    return Years(of_column, this_year, "this year, because the table has no dates of events")


def _births(table: Table, treatments: Sequence[Treatment], years: Years) -> Births | None:
    """Rows that tell an age over 89 elsewhere: by their age, or by an event 90 years after the year of birth."""
    actions = {entry.column: entry.action for entry in treatments}
    born = {name: table[name] for name, action in actions.items() if action == "date-of-birth"}
    if not born:
        return None
    aged = [table[name] for name, action in actions.items() if action == "age"]
    told = [np.append(top_coded(column.values, column.name)[1], False)[column.codes] for column in aged]
    years_in = {
        name: np.append(years.of_column[name], -1)[table[name].codes]
        for name, action in actions.items()
        if action in ("date", "date-of-birth")
    }
    events = [years_in[name] for name, action in actions.items() if action == "date"]
    old = old_rows([years_in[name] for name in born], events, told, years.year_of_data)
    return Births(born, years.of_column, old)


def old_rows(born: Sequence[Array], events: Sequence[Array], told: Sequence[Array], year_of_data: int) -> Array:
    """Which rows tell an age over 89, by years of birth and of events (none: 0 or less) and by ages that tell it.

    >>> old_rows([np.array([1920, 1920, 1950])], [np.array([2012, 2009, 2012])], [np.array([False] * 3)], 2012).tolist()
    [True, False, False]
    """
    old = np.zeros(len(born[0]), bool)
    for ages in told:
        old |= ages
    for event in events:
        for year in born:
            old |= (year > 0) & (event - year >= LIMIT) & (event <= year_of_data + LIMIT)
    return old


def _date(out: TreatedColumns, column: Column, treatment: Treatment, years: Years, births: Births | None) -> None:
    """To the year; a year that lies 90 years before the data tells an age over 89, whatever happened in it."""
    own, value_years = years.of_column[column.name], years.of_column[column.name]
    is_birth = treatment.action == "date-of-birth" and births is not None
    if is_birth:
        column, value_years = births.columns[column.name], births.years[column.name]  # type: ignore[union-attr]
    texts = pl.Series(value_years).cast(pl.String)
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(texts))
    old = (value_years > 0) & (value_years <= years.year_of_data - LIMIT)
    released = texts.zip_with(pl.Series(value_years > 0), nothing).zip_with(
        pl.Series(~old), pl.Series([OLD]).new_from_index(0, len(texts))
    )
    rows = _spread(column, released)
    if is_birth:
        others = pl.Series(~births.old) | rows.is_null()  # type: ignore[union-attr]
        rows = rows.zip_with(others, pl.Series([OLD]).new_from_index(0, len(rows)))
    before = column.values.cast(pl.String).extend_constant(None, 1).gather(column.codes)
    changed = ((before != rows).fill_null(True) & before.is_not_null()).to_numpy()
    if not (rows == OLD).any():
        rows = rows.cast(pl.Int64)
    out.series[column.name] = rows.alias(column.name)
    _note(out, treatment, int(changed.sum() if column.records is None else column.records[changed].sum()))
    if unreadable := int(np.count_nonzero(own <= 0)):
        out.notes.append(f"{column.name}: {unreadable:,} different values are not dates and were emptied")


def _scrubbed(out: TreatedColumns, treatment: Treatment, column: ScrubbedColumn) -> None:
    """Notes with their identifiers replaced; a note in which a pattern still finds one is emptied."""
    series = column.series()
    _note(out, treatment, column.changed)
    letters: Counter[str] = Counter()
    for kind, records in column.records().items():
        letters[HIPAA_LETTERS[cast(TextKind, kind)]] += records
    for letter, records in sorted(letters.items()):
        _note(out, treatment, records, letter)
    found = hidden(series)
    if found:
        series = series.set(pl.Series(np.logical_or.reduce(list(found.values()))), None)
        for letter, texts in found.items():
            _note(out, treatment, int(texts.sum()), letter, EMPTIED)
    out.series[column.name] = series


def _kept(out: TreatedColumns, column: Column, treatment: Treatment) -> None:
    """As it is, but for cells that hold an identifier, and for places smaller than a state among states."""
    counts = column.frequencies()
    hits_by_clause = hidden(column.values, counts)
    for clause, hits in outliers(column.values, counts).items():
        hits_by_clause[clause] = hits_by_clause.get(clause, False) | hits
    if treatment.kind == "state" and column.values.dtype == pl.String:
        small = ~np.array(is_state(column.values), bool)
        if small.any():
            hits_by_clause["B"] = hits_by_clause.get("B", False) | small
    _note(out, treatment, 0)
    if not hits_by_clause:
        out.series[column.name] = column.decode()
        return
    bad = np.logical_or.reduce(list(hits_by_clause.values()))
    rows = pl.Series(np.append(bad, False)[column.codes])
    out.series[column.name] = column.as_written().set(rows, None)  # the other cells stay as they were written
    for clause, texts in hits_by_clause.items():
        _note(out, treatment, int(counts[texts].sum()), clause, EMPTIED)
