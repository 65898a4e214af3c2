"""Dates of events, and the parts of dates that still tell when: years, quarters, months, seconds since 1970."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.date_of_birth import BIRTH, spans_lives
from shoal.identifiers.header import HeaderWords, words
from shoal.storage.dates import EPOCH_SECONDS, SERIAL_LIMITS

EVENTS = words(
    """date, datetime, timestamp, admission, admitted, admission date, adm date, discharge, discharged, visit
    date, service date, death, date of death, death date, disch, adm, admit, admit date, created, created at,
    updated, updated at, modified, registered, hired, hire date, start date, end date, order date, purchase date,
    due date, expiry, expires, last login, event date, data, data ricovero, data dimissione, ricovero, dimissione,
    decesso, data visita, datum, aufnahmedatum, aufnahme, entlassung, entlassungsdatum, sterbedatum, bestelldatum,
    date entree, date sortie, date d admission, date de deces, fecha, fecha ingreso, fecha alta, fecha de ingreso,
    fecha defuncion, opnamedatum, ontslagdatum, data de admissao, dt, dod, when, since, time stamp""",
    weak="time, day, on, at, ts, start, end, begin, giorno, tag, jour, dia, ora",
    block="update count, data type",
)
YEAR = words("year, anno, jahr, annee, ano, anio, jaar, yr, fiscal year, admission year, adm year", block="born")
_QUARTER = words("quarter, qtr, trimestre, quartal, trimester, kwartaal, adm qtr")
_MONTH = words("month, mese, monat, mois, mes, maand, mth")
_SECONDS = words(
    "epoch, unix time, timestamp, created at, updated at, last login", weak="time, ts, at, created, updated"
)
# What a full column of each way of writing is worth without a header.
_ALONE = {"compact": 0.75, "compact-day-first": 0.6, "year-month": 0.6, "compact-year-month": 0.2}
_EPOCH_ALONE = 0.3


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Whole dates first, then parts of dates under their headers; a header that says birth has its own file."""
    if BIRTH.heard(column.header)[0]:
        return
    yield from _dates(column)
    if column.numbers is not None and column.whole:
        yield from _part(column, "year", YEAR, (1800, 2100))
        yield from _part(column, "quarter", _QUARTER, (1, 4))
        yield from _part(column, "month", _MONTH, (1, 12))
        low, high = EPOCH_SECONDS
        for scale in (1, 10**3, 10**6, 10**9):
            yield from _part(column, "epoch", _SECONDS, (low * scale, high * scale), _EPOCH_ALONE)
    yield from _serial_days(column)


def _dates(column: ColumnEvidence) -> Iterator[Finding]:
    """Dates in any way of writing; where they spread over lives, a date of birth is the better reading."""
    dates = column.dates
    if dates is None or not dates.mask.any():
        return
    strength, word = EVENTS.heard(column.header)
    share = column.share(dates.mask)
    alone = _ALONE.get(dates.rule, 0.85)
    if not strength and spans_lives(column, dates):
        alone = min(alone, 0.5)
    clause = f"hold a date ({dates.rule.replace('-', ' ')})"
    yield finding("date", dates.rule, clause, share=share, word=word, sure=confidence(share, alone, strength))


def _serial_days(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers in the range of spreadsheet days, under a header that speaks of a date."""
    strength, word = EVENTS.heard(column.header)
    if not strength or column.numbers is None:
        return
    low, high = SERIAL_LIMITS
    share = column.share((column.numbers >= low) & (column.numbers <= high))
    clause = f"hold a number from {low} to {high}, as spreadsheets count days"
    yield finding("date", "serial-day", clause, share=share, word=word, sure=confidence(share, 0.0, strength))


def _part(
    column: ColumnEvidence, rule: str, book: HeaderWords, limits: tuple[int, int], alone: float = 0.0
) -> Iterator[Finding]:
    """Whole numbers within the limits, under a header that names the part, or where few other numbers are so long."""
    strength, word = book.heard(column.header)
    if (not strength and (not alone or column.distinct < 2)) or column.numbers is None:
        return
    share = column.share((column.numbers >= limits[0]) & (column.numbers <= limits[1]))
    clause = f"hold a whole number from {limits[0]} to {limits[1]}"
    yield finding("date", rule, clause, share=share, word=word, sure=confidence(share, alone, strength))
