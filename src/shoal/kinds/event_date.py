"""Dates of events, and the parts of dates that still tell when: years, quarters, months, seconds since 1970."""

from collections.abc import Iterator

from shoal.kinds.base import Finding, confidence, finding
from shoal.kinds.column import Column
from shoal.kinds.date_of_birth import BIRTH, spans_lives
from shoal.kinds.header import Words, words

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
_YEAR = words("year, anno, jahr, annee, ano, anio, jaar, yr, fiscal year, admission year, adm year", block="born")
_QUARTER = words("quarter, qtr, trimestre, quartal, trimester, kwartaal, adm qtr")
_MONTH = words("month, mese, monat, mois, mes, maand, mth")
_SECONDS = words(
    "epoch, unix time, timestamp, created at, updated at, last login", weak="time, ts, at, created, updated"
)
# What a full column of each way of writing is worth without a header.
_ALONE = {"compact": 0.75, "compact-day-first": 0.6, "year-month": 0.6, "compact-year-month": 0.2}
# Seconds and milliseconds from 2000 to 2035; random numbers as long seldom fall between.
_SECONDS_LIMITS = (946_684_800, 2_051_222_400)
_EPOCH_ALONE = 0.2


def recognise(column: Column) -> Iterator[Finding]:
    """Whole dates first, then parts of dates under their headers; a header that says birth has its own file."""
    if BIRTH.heard(column.header)[0]:
        return
    yield from _dates(column)
    if column.numbers is not None and column.whole:
        yield from _part(column, "year", _YEAR, (1800, 2100))
        yield from _part(column, "quarter", _QUARTER, (1, 4))
        yield from _part(column, "month", _MONTH, (1, 12))
        low, high = _SECONDS_LIMITS
        yield from _part(column, "epoch", _SECONDS, (low, high), _EPOCH_ALONE)
        yield from _part(column, "epoch", _SECONDS, (low * 1000, high * 1000), _EPOCH_ALONE)


def _dates(column: Column) -> Iterator[Finding]:
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


def _part(column: Column, rule: str, book: Words, limits: tuple[int, int], alone: float = 0.0) -> Iterator[Finding]:
    """Whole numbers within the limits, under a header that names the part."""
    strength, word = book.heard(column.header)
    if not strength or column.numbers is None:
        return
    share = column.share((column.numbers >= limits[0]) & (column.numbers <= limits[1]))
    clause = f"hold a whole number from {limits[0]} to {limits[1]}"
    yield finding("date", rule, clause, share=share, word=word, sure=confidence(share, alone, strength))
