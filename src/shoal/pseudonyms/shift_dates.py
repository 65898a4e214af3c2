"""Dates moved by a secret number of days per person: intervals within a person stay, the calendar goes.

The shift of a person is drawn by HMAC-SHA-256 of the person under the key from all allowed numbers of days, so that it
is the same in every file and run. Nought is not allowed: no date survives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, as_names, check_choice
from shoal.keys import Key, as_key
from shoal.kinds import ColumnView, find_kinds
from shoal.pseudonyms.keyed import digester, texts_of
from shoal.reading import Options, read
from shoal.reading.frames import to_native
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.table.dates import Order, days_of, whole_dates, write_days

Keep = Literal["nothing", "weekday", "season", "weekday-and-season"]
Unreadable = Literal["error", "blank"]

RANGE = 365
# Keeping the season means whole years: three of them to hide among, and a week at most beside the day.
SEASON_RANGE = 3 * 366
_BESIDE = 7
_YEAR = 365.2425
# The calendar of data frames ends somewhere; dates so near its ends are no dates of people.
_FIRST, _LAST = -719_162, 2_932_896


@dataclass(frozen=True)
class Shifted:
    """A table with moved dates; `unshifted` are columns with dates that were left as they are and give shifts away."""

    table: Table = field(repr=False)
    person: str
    columns: list[str]
    range: int
    keep: Keep
    persons: int
    cells_changed: int
    blanked: int
    unshifted: list[str]
    series: dict[str, pl.Series] = field(repr=False)

    @cached_property
    def polars(self) -> pl.DataFrame:
        """The table with its moved dates."""
        columns = self.table.columns.values()
        return pl.DataFrame([self.series.get(column.name, column.decode()) for column in columns])

    @property
    def frame(self) -> Any:
        """The same as the kind of frame that came in."""
        return to_native(self.polars, self.table.native, set(self.columns) if self.blanked else set())


def allowed_shifts(limit: int, keep: Keep = "nothing") -> Array:
    """All numbers of days within ± limit, without nought, that keep what is to be kept.

    Weekday: multiples of 7. Season: whole years, at most a week beside the day.

    >>> allowed_shifts(14, "weekday").tolist()
    [-14, -7, 7, 14]
    >>> allowed_shifts(370, "season").min(), 300 in allowed_shifts(370, "season")
    (np.int64(-370), False)
    """
    check_choice("keep", keep, get_args(Keep))
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
            f"Give a wider --range, for example {SEASON_RANGE if 'season' in keep else RANGE}.",
        )
    return np.asarray(days[good])


def shift_dates(
    source: Any,
    person: str,
    columns: Sequence[str] | str | None = None,
    *,
    key: Key | bytes | str | Path,
    range: int | None = None,
    keep: Keep = "nothing",
    date_order: Order | None = None,
    century_from: int | None = None,
    unreadable: Unreadable = "error",
    options: Options | None = None,
) -> Shifted:
    """Move all dates of each person by the person's secret number of days within ± range.

    Without `columns`, all columns that hold whole dates are moved. Clock times stay; intervals between dates of a
    person stay exactly.

    >>> import polars as pl
    >>> visits = pl.DataFrame({"id": ["a", "a"], "admitted": ["2012-03-04", "2012-03-09"]})
    >>> moved = shift_dates(visits, "id", "admitted", key=bytes(__import__("builtins").range(32)))
    >>> before, after = (pl.Series(frame["admitted"]).str.to_date() for frame in (visits, moved.frame))
    >>> (after[1] - after[0]).days, (before == after).any()
    (5, False)
    """
    check_choice("unreadable", unreadable, get_args(Unreadable))
    limit = range if range is not None else SEASON_RANGE if "season" in keep else RANGE
    if not 1 <= limit <= 36_525:
        raise InputError(f"A range of {limit} days is not between a day and a century.", "Use --range 365.")
    secret = as_key(key).secret_for("dates")
    table = read(source, None, options)
    whose = table.select([person])[0]
    if whose.nulls:
        raise InputError(
            f"Person column '{person}' is empty in {whose.nulls:,} rows: whose dates are they?",
            "Fill it, or remove those rows first.",
        )
    dated = [column.name for column in table.columns.values() if column.name != person and _holds_dates(column)]
    names = as_names(columns) or dated
    if not names:
        raise InputError("No column with whole dates was found.", "Name them with --columns admitted,discharged.")
    if person in names:
        raise InputError(f"Column '{person}' is the person and a date at once.", "Take it out of --columns.")
    shifts = _shifts(whose, secret, allowed_shifts(limit, keep))
    series, changed, blanked = {}, 0, 0
    for number, column in enumerate(table.select(names)):
        progress.report("shifting dates", number, len(names))
        series[column.name] = _shifted(column, shifts[whose.codes], date_order, century_from, unreadable)
        blanked += series[column.name].null_count() - column.nulls
        changed += table.rows - column.nulls
    unshifted = [name for name in dated if name not in names]
    return Shifted(
        table, person, names, limit, keep, texts_of(whose.values).n_unique(), changed, blanked, unshifted, series
    )


def _holds_dates(column: Column) -> bool:
    """Whether the column seems to hold dates, of birth or of events, that can be moved by days."""
    if column.values.dtype in (pl.Date, pl.Datetime):
        return True
    if column.values.dtype != pl.String or not len(column.values):
        return False
    counts = np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]
    found = find_kinds(ColumnView(column.name, column.values, counts, len(column.codes)))
    dates = any(finding.kind in ("date", "date-of-birth") and finding.confidence >= 0.25 for finding in found)
    return dates and bool((whole_dates(column.values.str.strip_chars()).form >= 0).any())


def _shifts(whose: Column, secret: bytes, allowed: Array) -> Array:
    """The shift of each person of the dictionary."""
    digest = digester(secret, "hmac-sha-256", 8)
    numbers = np.frombuffer(b"".join([digest(text) for text in texts_of(whose.values).to_list()]), ">u8")
    return np.asarray(allowed[(numbers % np.uint64(len(allowed))).astype(np.int64)])


def _shifted(
    column: Column, shift: Array, order: Order | None, century_from: int | None, unreadable: Unreadable
) -> pl.Series:
    if column.values.dtype in (pl.Date, pl.Datetime):
        return _shifted_times(column, shift)
    if column.values.dtype.is_numeric() or column.values.dtype == pl.Time:
        raise InputError(
            f"Column '{column.name}' holds numbers or clock times, not dates.",
            "Write it as dates first, or leave it out.",
        )
    return _shifted_texts(column, shift, order, century_from, unreadable)


def _shifted_times(column: Column, shift: Array) -> pl.Series:
    """Dates and moments by their physical numbers; a day is a day, whatever the clocks of summer do."""
    values = column.decode()
    unit = 1 if values.dtype == pl.Date else {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[
        str(getattr(values.dtype, "time_unit", "us"))
    ]  # fmt: skip
    physical = values.to_physical()
    low, high = (int(end) // unit if isinstance(end, int) else 0 for end in (physical.min(), physical.max()))
    _check_calendar(np.array([low, high]) + np.array([shift.min(), shift.max()]), column.name)
    return (
        (physical.cast(pl.Int64) + pl.Series(shift) * unit).cast(physical.dtype).cast(values.dtype).alias(column.name)
    )


def _shifted_texts(
    column: Column, shift: Array, order: Order | None, century_from: int | None, unreadable: Unreadable
) -> pl.Series:
    """Texts in the way in which they were written; each pair of a text and a shift is written once."""
    texts = column.values.cast(pl.String).str.strip_chars()
    readable = np.ones(len(texts), bool) if unreadable == "error" else whole_dates(texts).form >= 0
    place = np.append(np.cumsum(readable) - 1, -1)  # null is the code past the last
    place[:-1][~readable] = -1
    found = days_of(texts.filter(readable), column.name, order, century_from)
    known = np.flatnonzero(place[column.codes] >= 0)
    low = int(shift.min())
    which = place[column.codes[known]]
    pairs, count = class_of_each_row(
        pack([Coded(which, max(len(found.days), 1)), Coded(shift[known] - low, int(shift.max()) - low + 1)])
    )
    first = first_row_of_each_class(pairs, count)
    days = found.days[which[first]] + shift[known][first]
    _check_calendar(days, column.name)
    written = write_days(days, which[first], found).extend_constant(None, 1)
    rows = np.full(len(column.codes), count, np.int64)
    rows[known] = pairs
    return written.gather(rows).alias(column.name)


def _check_calendar(days: Array, name: str) -> None:
    if len(days) and (int(days.min()) < _FIRST or int(days.max()) > _LAST):
        raise InputError(
            f"Column '{name}' has dates so near the end of the calendar that they cannot be moved.",
            "Empty such cells first: they stand for something else than a day.",
        )
