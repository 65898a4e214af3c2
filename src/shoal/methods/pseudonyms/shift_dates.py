"""Dates shifted by a secret number of days per person: intervals within a person stay, the calendar goes.

The shift of a person is drawn by HMAC-SHA-256 of the person under the key from all allowed numbers of days, so that it
is the same in every file and run. Zero is not allowed: no date survives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.detection.undecided import identifiers_beside
from shoal.errors import InputError, Setting, as_names, check_choice
from shoal.identifiers import ColumnView, Finding, find_kinds
from shoal.identifiers.dates import BIRTH, EVENTS
from shoal.identifiers.header import read_header
from shoal.identifiers.inside import inside
from shoal.keys import key_or_new, path_of
from shoal.methods.pseudonyms.pseudonymize import digester, texts_of
from shoal.methods.pseudonyms.results import Shifted
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.dates import (
    NUMBER_UNITS,
    NumericDate,
    are_dates,
    compact_days,
    days_of,
    days_of_numbers,
    is_epoch,
    numeric_date,
    whole_dates,
    write_days,
)
from shoal.storage.folding import plain_dates
from shoal.storage.reading import read
from shoal.storage.texts import check_have_texts
from shoal.storage.writing import check_apart
from shoal.verbs.base import takes
from shoal.verbs.changing import ShiftDatesRequest
from shoal.vocabulary import KeptOfDates, Unreadable

# Which columns tell dates, in whatever writing: one of them left as it is gives every shift away.

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
    found: list[Dated | None] = []
    for column in others:
        if len(column.values):
            if column.values.dtype in (pl.Date, pl.Datetime):
                found.append(Dated(column.name, "holds dates"))
            elif column.values.dtype.is_numeric():
                found.append(_numbers(column, known))
            elif column.values.dtype == pl.String:
                found.append(_texts(column))
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


RANGE = 365
# Keeping the season means whole years: three of them to hide among, and a week at most beside the day.
SEASON_RANGE = 3 * 366
_BESIDE = 7
_YEAR = 365.2425
# The calendar of data frames ends somewhere; dates so near its ends are no dates of people.
_FIRST, _LAST = -719_162, 2_932_896


def allowed_shifts(limit: int, keep: KeptOfDates = "nothing") -> Array:
    """All numbers of days within ± limit, without zero, that keep what is to be kept.

    Weekday: multiples of 7. Season: whole years, at most a week beside the day.

    >>> allowed_shifts(14, "weekday").tolist()
    [-14, -7, 7, 14]
    >>> allowed_shifts(370, "season").min(), 300 in allowed_shifts(370, "season")
    (np.int64(-370), False)
    """
    check_choice(Setting("keep"), keep, get_args(KeptOfDates))
    days = np.arange(-limit, limit + 1)
    good = days != 0
    if "weekday" in keep:
        good &= days % 7 == 0
    if "season" in keep:
        years = np.round(days / _YEAR)
        good &= (years != 0) & (np.abs(days - years * _YEAR) <= _BESIDE)
    if np.count_nonzero(good) < 2:
        raise InputError(
            f"Within ±{limit} days no shifts keep the {keep.replace('-', ' ')}.",
            f"Give a wider range, for example {SEASON_RANGE if 'season' in keep else RANGE}.",
        )
    return np.asarray(days[good])


@takes(ShiftDatesRequest)
def shift_dates(source: Any, asked: ShiftDatesRequest) -> Shifted:
    """Shift all dates of each person by the person's secret number of days within ± range.

    Without `columns`, all columns that hold whole dates are shifted, also those written as numbers. While another
    column still tells dates (months, weeks, dates inside texts) the table is refused, unless `leave` names it. Clock
    times stay; intervals between dates of a person stay exactly. `shoal.release` writes the table.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"id": ["a", "a"], "admitted": ["2012-03-04", "2012-03-09"]})
    >>> moved = shift_dates(visits, person="id", key=bytes(__import__("builtins").range(32)))
    >>> before, after = (pl.Series(frame["admitted"]).str.to_date() for frame in (visits, moved.frame))
    >>> (after[1] - after[0]).days, (before == after).any()
    (5, False)
    """
    person, key, keep = asked.person, asked.key, asked.keep
    check_choice(Setting("unreadable"), asked.unreadable, get_args(Unreadable))
    limit = asked.range if asked.range is not None else SEASON_RANGE if "season" in keep else RANGE
    if not 1 <= limit <= 36_525:
        raise InputError(f"A range of {limit} days is not between a day and a century.", "Use a range of 365 days.")
    allowed = allowed_shifts(limit, keep)
    check_apart(input=source, key_file=path_of(key))
    table = read(source, None, asked.options)
    columns = as_names(asked.columns)
    whose = _person(table, person)
    check_have_texts([whose, *table.select(columns)])
    names, unshifted, unsure = _decided(table, person, columns, as_names(asked.leave))
    secret, created = key_or_new(key)
    shifts = shifts_by(texts_of(whose.values).to_list(), secret.secret_for("dates"), allowed)
    series, notes = {}, []
    for number, column in enumerate(table.select(names)):
        progress.report("shifting dates", number, len(names))
        series[column.name], remark = _shifted(column, shifts[whose.codes], asked)
        notes += [f"{column.name}: {remark}"] if remark else []
    if unsure:
        notes.append(f"shifted although only its numbers say that it holds dates: {', '.join(unsure)}")
    return Shifted(
        person=person,
        columns=names,
        persons=texts_of(whose.values).n_unique(),
        records=table.rows,
        cells_changed=sum(table.rows - table[name].nulls for name in names),
        blanked=sum(made.null_count() - table[name].nulls for name, made in series.items()),
        range=limit,
        keep=keep,
        unshifted=unshifted,
        key_file_created=created,
        notes=notes,
        identifiers_beside=identifiers_beside(table, [person, *names]),
        table=table,
        series=series,
    )


def _person(table: Table, person: str) -> Column:
    whose = table.select([person])[0]
    if whose.nulls:
        raise InputError(
            f"Person column '{person}' is empty in {whose.nulls:,} rows: whose dates are they?",
            "Fill it, or remove those rows first.",
        )
    return whose


def _decided(table: Table, person: str, names: list[str], left: list[str]) -> tuple[list[str], list[str], list[str]]:
    """The columns to shift, those with dates that are left by decision, and those to shift that are a guess."""
    table.select([*names, *left])
    if person in names:
        raise InputError(f"Column '{person}' is the person and a date at once.", "Take it out of the columns.")
    if both := sorted(set(names) & set(left)):
        raise InputError(f"Column '{both[0]}' is to be shifted and left at once.", "Name it once.")
    dated = dated_columns(table, person)
    shifted = names or [entry.column for entry in dated if entry.sure and entry.shiftable and entry.column not in left]
    if not shifted:
        raise InputError(
            "No column with whole dates was found."
            + (f" Others tell dates: {'; '.join(f'{entry.column} {entry.why}' for entry in dated)}." if dated else ""),
            "Name the columns to shift.",
        )
    check_decided(dated, shifted, left)
    unsure = [entry.column for entry in dated if not entry.sure and entry.column in shifted]
    return shifted, [entry.column for entry in dated if entry.column in left], unsure


def shifts_by(persons: list[bytes], secret: bytes, allowed: Array) -> Array:
    """The shift of each person, in days."""
    digest = digester(secret, "hmac-sha-256", 8)
    numbers = np.frombuffer(b"".join([digest(text) for text in persons]), ">u8")
    return np.asarray(allowed[(numbers % np.uint64(len(allowed))).astype(np.int64)])


def _shifted(column: Column, shift: Array, dates: ShiftDatesRequest) -> tuple[pl.Series, str | None]:
    """The column with its dates shifted, and what is worth saying about it."""
    if column.values.dtype in (pl.Date, pl.Datetime):
        return _shifted_times(column, shift)
    if column.values.dtype.is_numeric():
        how = numeric_date(column.values)
        if how is not None:
            return _shifted_numbers(column, shift, how), None
    if column.values.dtype.is_numeric() or column.values.dtype == pl.Time:
        raise InputError(
            f"Column '{column.name}' holds numbers or clock times, not dates.",
            "Write it as dates first, or leave it out.",
        )
    return _shifted_texts(column, shift, dates)


def _shifted_numbers(column: Column, shift: Array, how: NumericDate) -> pl.Series:
    """Numbers in their own writing and type: so many units of a day further, or the digits of another day."""
    values = column.decode()
    if how == "compact":
        days = compact_days(values).to_physical().cast(pl.Int64) + pl.Series(shift)
        _check_calendar(days.drop_nulls().to_numpy(), column.name)
        return days.cast(pl.Int32).cast(pl.Date).dt.strftime("%Y%m%d").cast(values.dtype).alias(column.name)
    return (values + pl.Series(shift * NUMBER_UNITS[how])).cast(values.dtype).alias(column.name)


def _shifted_times(column: Column, shift: Array) -> tuple[pl.Series, str | None]:
    """Dates and moments by their physical numbers.

    With a time zone the local time is shifted and the zone dropped: the hour of summer would tell the true season.
    """
    values, remark = column.decode(), None
    if getattr(values.dtype, "time_zone", None) is not None:
        values = values.dt.replace_time_zone(None)
        remark = "local times were shifted and the time zone was dropped, which tells the season of the true day"
    unit = 1 if values.dtype == pl.Date else {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[
        str(getattr(values.dtype, "time_unit", "us"))
    ]  # fmt: skip
    physical = values.to_physical()
    low, high = (int(end) // unit if isinstance(end, int) else 0 for end in (physical.min(), physical.max()))
    _check_calendar(np.array([low, high]) + np.array([shift.min(), shift.max()]), column.name)
    moved = (physical.cast(pl.Int64) + pl.Series(shift) * unit).cast(physical.dtype).cast(values.dtype)
    return moved.alias(column.name), remark


_OFFSET = r"\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})$"


def _shifted_texts(column: Column, shift: Array, dates: ShiftDatesRequest) -> tuple[pl.Series, str | None]:
    """Texts in the way in which they were written; each pair of a text and a shift is written once.

    Where times have several offsets (-05:00 in winter, -04:00 in summer) all offsets are dropped: they tell the season.
    """
    texts, remark = plain_dates(column.values.cast(pl.String)), None
    clocks = whole_dates(texts).parts["clock"]
    if clocks.str.extract(f"({_OFFSET})", 1).str.strip_chars().drop_nulls().n_unique() > 1:
        timed = pl.Series(clocks.str.contains(_OFFSET).fill_null(False))
        texts = texts.str.replace(_OFFSET, "").zip_with(timed, texts)
        remark = "offsets from UTC were dropped: they tell the season of the true day"
    readable = np.ones(len(texts), bool) if dates.unreadable == "error" else whole_dates(texts).form >= 0
    place = np.append(np.cumsum(readable) - 1, -1)  # null is the code past the last
    place[:-1][~readable] = -1
    read_dates = days_of(texts.filter(readable), column.name, dates.date_order, dates.century_from)
    known = np.flatnonzero(place[column.codes] >= 0)
    low = int(shift.min())
    which = place[column.codes[known]]
    pairs, count = class_of_each_row(
        pack([Coded(which, max(len(read_dates.days), 1)), Coded(shift[known] - low, int(shift.max()) - low + 1)])
    )
    first = first_row_of_each_class(pairs, count)
    days = read_dates.days[which[first]] + shift[known][first]
    _check_calendar(days, column.name)
    written = write_days(days, which[first], read_dates).extend_constant(None, 1)
    rows = np.full(len(column.codes), count, np.int64)
    rows[known] = pairs
    return written.gather(rows).alias(column.name), remark


def _check_calendar(days: Array, name: str) -> None:
    if len(days) and (int(days.min()) < _FIRST or int(days.max()) > _LAST):
        raise InputError(
            f"Column '{name}' has dates so near the end of the calendar that they cannot be shifted.",
            "Empty such cells first: they stand for something else than a day.",
        )
