"""Ages, and dates read from a column in any of the usual ways of writing, without guessing between day and month."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.identifiers.header import HeaderWords, words
from shoal.storage.dates import EPOCH_SECONDS, SERIAL_LIMITS, Written, whole_dates

_CENTURY = r"(?:1[89]|20)\d{2}"
_YEAR = rf"({_CENTURY})"
# what every whole date starts as: not worth to be taken apart without
_LIKE_DATES = (
    r"^\d{1,4}[-/. ]\d{1,2}[-/. ]\d\d|^\d{8}|^\d{1,2}(?:\W|st|nd|rd|th|de){0,6}[^\W\d_]{3}.*\d\d"
    r"|^[^\W\d_]{3,12}\W+\d{1,2}\D+\d{4}"
)
# Less than a day, in two orders where there are two; the year is the first group that is there.
_PARTIAL = {
    "year-month": (rf"^{_YEAR}[-/.](?:0[1-9]|1[0-2])$", rf"^(?:0[1-9]|1[0-2])[-/.]{_YEAR}$"),
    "week": (rf"^{_YEAR}-?[Ww]\d{{2}}(?:-?[1-7])?$",),
    "compact-year-month": (rf"^{_YEAR}(?:0[1-9]|1[0-2])$",),
}


class ColumnDates(NamedTuple):
    """How the dates of a column are written, which sampled values are dates, and their years."""

    rule: str
    mask: Mask
    years: npt.NDArray[np.float64]

    def spread(self, column: ColumnEvidence) -> tuple[float, float]:
        """The years between which nine tenths of the records lie."""
        years, weights = self.years[self.mask], column.weights[self.mask]
        order = np.argsort(years, kind="stable")
        reached = np.cumsum(weights[order]) / weights.sum()
        low, high = np.searchsorted(reached, [0.05, 0.95])
        return float(years[order][low]), float(years[order][min(high, len(order) - 1)])


def read_dates(column: ColumnEvidence) -> ColumnDates | None:
    """The dates of a column, or None where fewer than a tenth of the records hold one."""
    if column.dtype in (pl.Date, pl.Datetime):
        years = column.values.dt.year().cast(pl.Float64).to_numpy()
        rule = "date" if column.dtype == pl.Date else "timestamp"
        return ColumnDates(rule, np.ones(len(years), dtype=bool), years) if len(years) else None
    if column.numbers is not None and not column.whole:
        return None
    texts = pl.Series(column.text, dtype=pl.String)
    written = whole_dates(texts) if column.matches(_LIKE_DATES).any() else None
    masks = {rule: np.logical_or.reduce([column.matches(one) for one in forms]) for rule, forms in _PARTIAL.items()}
    masks = masks if written is None else _whole(written) | masks
    rule = max(masks, key=lambda rule: column.share(masks[rule]))
    share = column.share(masks[rule])
    if share < 0.1:
        return None
    years = _partial_years(texts, _PARTIAL[rule]) if written is None or rule in _PARTIAL else _whole_years(written)
    both = ("day-month-year", "month-day-year")
    # where every date can be read both ways, the rule says so
    loose = rule in both and all(column.share(masks[other]) >= share for other in both)
    return ColumnDates("day-or-month-first" if loose else rule, masks[rule] & np.isfinite(years), years)


def _whole(written: Written) -> dict[str, Mask]:
    """Which texts are whole dates, by their way of writing; parts that a calendar cannot have are none."""
    first, second, third = (
        written.parts[part].cast(pl.Int64, strict=False).fill_null(0).to_numpy() for part in ("p", "q", "r")
    )
    form, day, month = written.form, (1, 31), (1, 12)

    def within(numbers: npt.NDArray[np.int64], limits: tuple[int, int]) -> Mask:
        inside: Mask = (numbers >= limits[0]) & (numbers <= limits[1])
        return inside

    numeric = np.isin(form, (1, 2))
    return {
        "iso": (form == 0) & within(second, month) & within(third, day),
        "day-month-year": numeric & within(first, day) & within(second, month),
        "month-day-year": numeric & within(first, month) & within(second, day),
        "month-name": np.isin(form, (3, 4, 5)),
        "compact": form == 6,
        "compact-day-first": (form == 7) & within(first, day) & within(second, month),
    }


def _whole_years(written: Written) -> npt.NDArray[np.float64]:
    """Four-digit years; two digits above 29 are of the last century."""
    year_first = pl.Series(np.isin(written.form, (0, 6)))
    texts = written.parts["p"].zip_with(year_first, written.parts["r"])
    years = texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return np.where(years < 30, years + 2000, np.where(years < 100, years + 1900, years))


def _partial_years(texts: pl.Series, patterns: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """The year that one of some patterns takes out of each text."""
    found = pl.select(pl.coalesce(*(pl.lit(texts.str.extract(pattern, 1)) for pattern in patterns))).to_series()
    return found.cast(pl.Float64).fill_null(float("nan")).to_numpy()


# Dates and years of birth: by header, or by dates that spread over many decades but no more than a life.

BIRTH = words(
    """date of birth, dob, d o b, birth date, birthdate, birthday, bdate, birthdt, birth dt, born, born on, bday,
    data di nascita, data nascita, nascita, nato il, geburtsdatum, geb datum, gebdatum, geburtstag, geboren, date
    de naissance, date naissance, naissance, ddn, ne le, fecha de nacimiento, fecha nacimiento, nacimiento, fec
    nac, fnac, fnacim, f nac, nasc, gebdat, fecha nac, geboortedatum, data de nascimento, nascimento, birth, dt
    nasc""",
    block="weight, place, city, country, order, rate, luogo, ort, lieu, lugar, comune, plaats, peso, gewicht",
)
YEAR_OF_BIRTH = words(
    """year of birth, birth year, yob, yearofbirth, byear, anno di nascita, anno nascita, geburtsjahr, gebjahr,
    annee de naissance, annee naissance, ano de nacimiento, anio nacimiento, ano nacimiento, geboortejaar, ano de
    nascimento"""
)
_A_LIFE = 115
_MANY_DECADES = 35


def birth_dates(column: ColumnEvidence) -> Iterator[Finding]:
    """Full dates, then years alone."""
    yield from _dates_of_birth(column)
    yield from _years_of_birth(column)


def spans_lives(column: ColumnEvidence, dates: ColumnDates) -> bool:
    """Whether the dates spread over decades but no more than a life, as dates of birth do."""
    low, high = dates.spread(column)
    return column.distinct >= 20 and low >= 1880 and high <= 2100 and _MANY_DECADES <= high - low <= _A_LIFE


def _dates_of_birth(column: ColumnEvidence) -> Iterator[Finding]:
    """A date per person; the spread of the years decides where the header does not."""
    dates = column.dates
    if dates is None or not dates.mask.any():
        return
    strength, word = BIRTH.heard(column.header)
    low, high = dates.spread(column)
    possible = 1.0 if low >= 1880 and high <= 2100 else 0.3
    share = column.share(dates.mask)
    sure = confidence(share * possible, 0.6 if spans_lives(column, dates) else 0.0, strength)
    clause = f"hold a date, nine tenths of them within {high - low:.0f} years"
    yield finding("date-of-birth", dates.rule, clause, share=share, word=word, sure=sure)


def _years_of_birth(column: ColumnEvidence) -> Iterator[Finding]:
    """Whole numbers that can be years of birth, under a header that says so."""
    strength, word = YEAR_OF_BIRTH.heard(column.header)
    if not strength:
        strength, word = BIRTH.heard(column.header)
    if column.numbers is None or not strength:
        return
    share = column.share((column.numbers >= 1880) & (column.numbers <= 2100) & (np.mod(column.numbers, 1) == 0))
    clause = "hold a year between 1880 and 2100"
    yield finding("date-of-birth", "year", clause, share=share, word=word, sure=confidence(share, 0.0, strength))


# Dates of events, and the parts of dates that still tell when: years, quarters, months, seconds since 1970.

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


def event_dates(column: ColumnEvidence) -> Iterator[Finding]:
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


# Ages in years, months or days, and age groups such as 30-39 or 85+.

AGE = words(
    """age, ages, age years, age yrs, age group, age band, age class, age cat, agegrp, age at admission, patient
    age, eta, eta anni, classe di eta, fascia eta, fascia di eta, alter, lebensalter, altersgruppe, alter jahre,
    age annees, tranche d age, edad, grupo de edad, edad anos, leeftijd, leeftijdsgroep, idade, faixa etaria""",
    weak="years old, anni, jahre",
    block="""vehicle, car, account, machine, building, house, device, roof, stone, product, policy, stock,
    invoice, gebaude""",
)
DAYS = words("days, day, giorni, tage, jours, dias, dagen")
MONTHS = words("months, month, mesi, monate, mois, meses, maanden")
_GROUP = (
    r"(?i)^[\[(]?\s*\d{1,3}\s*(-|\u2013|\u2014|to|a|bis|;|,|/)\s*\d{1,3}\s*[\])]?(\s*(y|yr|yrs|years|anni|jahre|ans"
    r"|anos|años))?$|(?:less than|under|over|greater than|older than|unter|über|bis|ab|meno di|fino a|oltre|moins de"
    r"|plus de|menos de|más de|mayor de)\s*\d{1,3}(\s*\w+)?$|^[<>≤≥]=?\s*\d{1,3}$|^\d{1,3}\s*\+$"
)
_OLDEST = 125.0


def ages(column: ColumnEvidence) -> Iterator[Finding]:
    """Numbers within a human life, or groups of them, under a header that says age."""
    strength, word = AGE.heard(column.header)
    if not strength:
        return
    if column.numbers is None:
        share = column.share(column.matches(_GROUP) | column.matches(r"^\d{1,3}$"))
        sure = confidence(share, 0.0, strength)
        yield finding("age", "age-group", "hold an age group", share=share, word=word, sure=sure)
        return
    rule, oldest = _unit(column)
    within = (column.numbers >= 0) & (column.numbers <= oldest)
    # Ages are whole, or halves and tenths in children; figures with many decimals are something else.
    tenths = np.clip(column.numbers, 0, oldest) * 10
    share = column.share(within & (np.abs(tenths - np.round(tenths)) < 1e-6))
    clause = f"hold a number from 0 to {oldest:.0f}"
    yield finding("age", rule, clause, share=share, word=word, sure=confidence(share, 0.0, strength))


def _unit(column: ColumnEvidence) -> tuple[str, float]:
    """The unit that the header names, years where it names none."""
    if DAYS.heard(column.header)[0]:
        return "days", _OLDEST * 366
    if MONTHS.heard(column.header)[0]:
        return "months", _OLDEST * 12
    return "years", _OLDEST
