"""Which columns tell dates, in whatever writing: one of them left as it is gives every shift away."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.kinds import ColumnView, Finding, find_kinds
from shoal.kinds.date_of_birth import BIRTH
from shoal.kinds.event_date import EVENTS
from shoal.kinds.header import read_header
from shoal.kinds.inside import inside
from shoal.kinds.numeric_dates import NumericDate, days_of_numbers, numeric_date
from shoal.table import Array, Column, Table
from shoal.table.dates import are_dates, is_epoch, whole_dates
from shoal.table.fold import plain_dates

Writing = Literal["dates", "texts", "numbers"]
# Rows whose number lies so near to a date of the same row are written from it.
_NEAR_DAYS = 62
_MANY = 0.9
_SOME = 0.25


@dataclass(frozen=True)
class Dated:
    """A column that tells dates: how they are written, whether that is sure, whether they can be shifted."""

    column: str
    why: str
    sure: bool = True
    shiftable: bool = True


def dated_columns(table: Table, person: str) -> list[Dated]:
    """All columns but the person's that tell dates."""
    others = [column for column in table.columns.values() if column.name != person]
    days = {column.name: _days(column) for column in others if column.values.dtype in (pl.Date, pl.Datetime, pl.String)}
    known = {name: numbers for name, numbers in days.items() if numbers is not None}
    found = (_dated(column, known) for column in others if len(column.values))
    return [entry for entry in found if entry is not None]


def check_decided(dated: list[Dated], shifted: list[str], left: list[str]) -> None:
    """Refuse while a column with dates is neither shifted nor left by decision."""
    open_ = [entry for entry in dated if entry.column not in shifted and entry.column not in left]
    if not open_:
        return
    listed = "; ".join(f"'{entry.column}' {entry.why}" for entry in open_)
    can = [entry.column for entry in open_ if entry.shiftable]
    shift = f"Name them in columns to shift them ({', '.join(can)}), remove them first" if can else "Remove them first"
    raise InputError(
        f"Beside shifted dates, one that stays tells every shift by subtraction. Not decided: {listed}.",
        f"{shift}, or name them in leave if they are not dates of these people or the shifts need not be secret.",
    )


def _dated(column: Column, known: dict[str, Array]) -> Dated | None:
    values = column.values
    if values.dtype in (pl.Date, pl.Datetime):
        return Dated(column.name, "holds dates")
    if values.dtype.is_numeric():
        return _numbers(column, known)
    return _texts(column) if values.dtype == pl.String else None


def _numbers(column: Column, known: dict[str, Array]) -> Dated | None:
    how = numeric_date(column.values)
    if how is None:
        rules = {finding.rule for finding in _findings(column)}
        part = next((word for word in ("month", "quarter") if word in rules), None)
        return Dated(column.name, f"holds the {part} of a date", shiftable=False) if part else None
    header = read_header(column.name)
    says_date = bool(EVENTS.heard(header)[0] or BIRTH.heard(header)[0])
    sure = says_date or how == "compact" or _beside_a_date(column, how, known)
    if how == "serial-days" and not sure:
        return None  # numbers from 10,000 to 60,000 are anything
    what = "dates as YYYYMMDD" if how == "compact" else "days as spreadsheets count them"
    what = what if how in ("compact", "serial-days") else f"{how} since 1970"
    return Dated(column.name, f"{'holds' if sure else 'may hold'} {what}", sure)


def _beside_a_date(column: Column, how: NumericDate, known: dict[str, Array]) -> bool:
    """Whether the numbers lie near the dates of another column, row by row."""
    here = np.append(days_of_numbers(column.values, how), -(10**9))[column.codes]
    filled = here > -(10**9)
    for days in known.values():
        both = filled & (days > -(10**9))
        if both.any() and float((np.abs(here[both] - days[both]) <= _NEAR_DAYS).mean()) >= _MANY:
            return True
    return False


def _days(column: Column) -> Array | None:
    """The days of a column of dates row by row (-10^9: none); of texts only those whose order is not in doubt."""
    if column.values.dtype == pl.String:
        texts = plain_dates(column.values)
        days = texts.str.extract(r"^(\d{4}-\d{2}-\d{2})", 1).str.strptime(pl.Date, "%Y-%m-%d", strict=False)
        if days.null_count() == len(days):
            return None
    else:
        days = column.values.cast(pl.Date)
    numbers = days.to_physical().cast(pl.Int64).fill_null(-(10**9)).to_numpy()
    return np.append(numbers, -(10**9))[column.codes]


def _texts(column: Column) -> Dated | None:
    """Whole dates, parts of dates, dates inside text."""
    counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
    texts = plain_dates(column.values)
    dates = any(
        finding.kind in ("date", "date-of-birth") and finding.confidence >= _SOME for finding in _findings(column)
    )
    whole = whole_dates(texts).form >= 0
    if whole.any() and (dates or counts[whole].sum() >= _SOME * counts.sum()):
        return Dated(column.name, "holds dates")
    numbers = texts.str.replace(r"\.0+$", "").cast(pl.Int64, strict=False)
    if numbers.null_count() < 0.5 * len(numbers) and is_epoch(numbers.drop_nulls()).all():
        return Dated(column.name, "may hold seconds since 1970 among texts", shiftable=False)
    parts = are_dates(column.values)
    digits = texts.str.contains(r"^\d+$").fill_null(False).to_numpy()  # year and week, or any number: only if many are
    if (parts & ~digits).any() or counts[parts].sum() >= max(1, _SOME * counts.sum()):
        return Dated(column.name, "holds parts of dates (months, weeks, quarters)", shiftable=False)
    if inside(column.values, frozenset(["date"])):
        return Dated(column.name, "holds dates inside its texts", shiftable=False)
    return None


def _findings(column: Column) -> list[Finding]:
    counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
    return find_kinds(ColumnView(column.name, column.values, counts, len(column.codes)))
