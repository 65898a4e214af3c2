"""Dates and years of birth: by header, or by dates that spread over many decades but no more than a life."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.dates import ColumnDates
from shoal.identifiers.header import words

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
    nascimento""",
)
_A_LIFE = 115
_MANY_DECADES = 35


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Full dates, then years alone."""
    yield from _dates(column)
    yield from _years(column)


def spans_lives(column: ColumnEvidence, dates: ColumnDates) -> bool:
    """Whether the dates spread over decades but no more than a life, as dates of birth do."""
    low, high = dates.spread(column)
    return column.distinct >= 20 and low >= 1880 and high <= 2100 and _MANY_DECADES <= high - low <= _A_LIFE


def _dates(column: ColumnEvidence) -> Iterator[Finding]:
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


def _years(column: ColumnEvidence) -> Iterator[Finding]:
    """Whole numbers that can be years of birth, under a header that says so."""
    strength, word = YEAR_OF_BIRTH.heard(column.header)
    if not strength:
        strength, word = BIRTH.heard(column.header)
    if column.numbers is None or not strength:
        return
    share = column.share((column.numbers >= 1880) & (column.numbers <= 2100) & (np.mod(column.numbers, 1) == 0))
    clause = "hold a year between 1880 and 2100"
    yield finding("date-of-birth", "year", clause, share=share, word=word, sure=confidence(share, 0.0, strength))
