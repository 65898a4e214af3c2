"""Columns of codes that no rule knows, in tables that look like records of a survey or census.

Such a table has many columns of few whole numbers beside a number or a weight of its records. What its other codes mean
is in a code book that is not here; who has that, may know them of somebody. They are proposed as quasi-identifiers, as
a guess: a person is asked. Numbers that spread as ages or years of birth do are proposed with confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from shoal.detection.profiles import ColumnProfile
from shoal.kinds import DECIDED
from shoal.table import Column, Table

# a table is one of coded answers from so many columns and records on, where this share of its columns are codes
_COLUMNS, _RECORDS, _SHARE = 8, 50, 0.5
# a column of codes has at most so many, and few of them for each record
_MOST_CODES, _PER_RECORD = 100, 0.5
_LARGEST_CODE, _LONGEST_CODE = 99_999, 5
# a guess that a person is asked about; a hint of another kind weighs more from the same on
_GUESS = 0.4
# ages: nearly each year of a long span, none of them of very many records
_YOUNGEST, _OLDEST, _YEARS, _DENSE, _HEAPED = 18, (75, 115), 40, 0.6, 0.15
_BIRTHS = (1890, 2030)
CODES = "Codes that no rule knows, in a table of coded answers about people: others may know them. Give a code book."
AGES = "Whole numbers that spread over a life as ages do, in a table of coded answers about people."
BIRTHS = "Years that spread over a life as years of birth do, in a table of coded answers about people."


def with_guesses(table: Table, profiles: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    """The profiles, with a guess for codes that no rule knows where the table looks like coded answers about people.

    >>> from shoal.reading import read
    >>> from shoal.detection.profile import profile
    >>> rows = range(60)
    >>> answers = {"id": [f"a{row:05d}" for row in rows], **{f"v{n}": [row % n for row in rows] for n in range(2, 10)}}
    >>> found = profile(answers).columns[3]
    >>> found.name, found.role, found.confidence
    ('v4', 'quasi-identifier', 0.4)
    """
    if not looks_like_microdata(table, profiles):
        return list(profiles)
    return [_guess(table[entry.name], entry) if _is_unknown(entry) else entry for entry in profiles]


def looks_like_microdata(table: Table, profiles: Sequence[ColumnProfile]) -> bool:
    """Whether most columns are codes, and one numbers or weighs the records."""
    if len(profiles) < _COLUMNS or table.rows < _RECORDS:
        return False
    numbered = any(entry.role == "identifier" or entry.weights or entry.kind == "survey-weight" for entry in profiles)
    return numbered and sum(_is_codes(table[entry.name]) for entry in profiles) >= _SHARE * len(profiles)


def _is_unknown(entry: ColumnProfile) -> bool:
    """Whether no rule says what a column holds: neither a kind nor a role."""
    return entry.role == "other" and entry.confidence < min(_GUESS, DECIDED) and not entry.weights


def _guess(column: Column, entry: ColumnProfile) -> ColumnProfile:
    for found, kind, reason in ((_are_ages, "age", AGES), (_are_births, "date-of-birth", BIRTHS)):
        if found(column):
            return replace(entry, role="quasi-identifier", kind=kind, confidence=DECIDED, reasons=[reason])
    if _is_codes(column) and len(column.values) > 1:
        return replace(entry, role="quasi-identifier", confidence=_GUESS, reasons=[CODES])
    return entry


def _is_codes(column: Column) -> bool:
    """Few whole numbers without gaps that sums have, or few short texts."""
    known = int(column.frequencies().sum())
    if not known or len(column.values) > min(_MOST_CODES, max(2, _PER_RECORD * known)):
        return False
    if column.values.dtype == pl.String:
        return bool((column.values.str.len_chars() <= _LONGEST_CODE).all())
    whole = _whole(column)
    return whole is not None and bool(whole.abs().max() <= _LARGEST_CODE)  # type: ignore[operator]


def _whole(column: Column) -> pl.Series | None:
    """The values as whole numbers, floats without decimals among them; None where they are others."""
    values = column.values
    if values.dtype.is_integer():
        return values
    if not values.dtype.is_float() or not bool((values.is_finite() & (values == values.floor())).all()):
        return None
    return values.cast(pl.Int64, strict=False)


def _are_ages(column: Column) -> bool:
    numbers = _whole(column)
    if numbers is None or len(numbers) < _YEARS:
        return False
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    return 0 <= low <= _YOUNGEST and _OLDEST[0] <= high <= _OLDEST[1] and _is_spread(column, high - low + 1)


def _are_births(column: Column) -> bool:
    numbers = _whole(column)
    if numbers is None or len(numbers) < _YEARS:
        return False
    low, high = int(numbers.min()), int(numbers.max())  # type: ignore[arg-type]
    return _BIRTHS[0] <= low and high <= _BIRTHS[1] and _is_spread(column, high - low + 1)


def _is_spread(column: Column, span: int) -> bool:
    """Whether nearly each number of a span is there, and none has very many records."""
    counts = column.frequencies()
    return len(counts) >= _DENSE * span and float(counts.max() / counts.sum()) <= _HEAPED
