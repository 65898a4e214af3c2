"""Signs by which columns are found that no recogniser knows: forms, dates under any name, headers, one's own values."""

from __future__ import annotations

import re

import polars as pl

from shoal.detection.ages import top_coded
from shoal.detection.clauses import Treatment
from shoal.detection.numbers import RECORDS_THAT_TELL, are_measured
from shoal.identifiers.age import AGE
from shoal.identifiers.base import STRONG
from shoal.identifiers.date_of_birth import BIRTH
from shoal.identifiers.event_date import EVENTS
from shoal.identifiers.header import read_header, words
from shoal.storage import Array, Column
from shoal.storage.dates import SERIAL_LIMITS, are_dates, is_epoch
from shoal.storage.folding import fold
from shoal.storage.months import ENGLISH_MONTH_NAMES
from shoal.vocabulary import Role

# Headers that alone say what a column holds, whatever its values look like: the last four digits of a phone number.


_BY_CLAUSE = {
    "A": words(
        """first name, last name, full name, patient name, surname, given name, family name, maiden name, middle name,
        middle initial, initials, mother name, father name, spouse name, next of kin, emergency contact, employer,
        employer name, workplace""",
        block="hospital, facility, drug, test, plan, file, product, company, ward, unit",
    ),
    "B": words(
        """precinct, msa, cbsa, census tract, tract, census block, block group, hrr, school district, congressional
        district, township, borough, parish, neighborhood, neighbourhood, address, street, apartment, county, city,
        town, municipality, village, latitude, longitude, coordinates, geohash""",
        block="ip, email, mac, mail, web, url, size, population, rank, density, urban",
    ),
    "C": words(
        """birth month, birth day, month of birth, day of birth, day of year, doy, julian day, julian date, julian, day
        of week, dow, weekday, week of year, week number, day of month, admission hour, admit hour, hour of day""",
        measures=True,
    ),
    "D": words("phone, telephone, phone number, mobile number, cell phone", block="model, plan, call"),
    "E": words("fax, fax number"),
    "F": words("email, e mail, email address, mail address"),
    "G": words("ssn, ssn4, last4 ssn, social security, social security number"),
    "H": words("mrn, medical record number, medical record, chart number"),
    "I": words("member id, subscriber id, beneficiary id, medicare id, medicare number, medicaid id, mbi, hicn"),
    "J": words("account number, acct no, acct number, credit card, card number, iban"),
    "K": words("license number, licence number, driver license, drivers license, passport, passport number"),
    "L": words("vin, license plate, licence plate, plate number"),
    "M": words("serial number, device serial, device id, imei, udi, mac address"),
    "N": words("url, website, web address, homepage"),
    "O": words("ip address, ip addr, client ip"),
    "P": words("fingerprint, voiceprint, retina scan, iris scan, face encoding"),
    "R": words(
        """notes, note, comment, comments, remark, remarks, free text, freetext, narrative, clinical notes, progress
        note, message, feedback, impression"""
    ),
}
_ZIP_SUFFIX = words("zip4, zip plus 4, zip plus four, plus4, zip suffix, zip ext, zip extension")
_ZIP = words("zip, zip code, zipcode, zip5, zip4, zip3, zcta")


def clause_of_header(name: str) -> tuple[str, str] | None:
    """The clause that a header names by itself, and the word that does.

    >>> clause_of_header("SSN_last4"), clause_of_header("charge")
    (('G', 'ssn'), None)
    """
    header = read_header(name)
    for clause, book in _BY_CLAUSE.items():
        strength, word = book.heard(header)
        if strength >= STRONG and word:
            return clause, word
    return None


def says_zip(name: str) -> bool:
    """Whether a header says ZIP code.

    >>> says_zip("patzip"), says_zip("zipper")
    (True, False)
    """
    return _ZIP.heard(read_header(name))[0] >= STRONG


def says_birth(name: str) -> bool:
    """Whether a header speaks of a date of birth.

    >>> says_birth("DOB"), says_birth("birth_weight")
    (True, False)
    """
    return BIRTH.heard(read_header(name))[0] >= STRONG


def says_age(name: str) -> bool:
    """Whether a header speaks of an age.

    >>> says_age("age_yrs"), says_age("stage")
    (True, False)
    """
    return AGE.heard(read_header(name))[0] >= STRONG


def says_zip_suffix(name: str) -> bool:
    """Whether a header may speak of the four digits behind a ZIP code.

    >>> says_zip_suffix("zip4"), says_zip_suffix("zip")
    (True, False)
    """
    return _ZIP_SUFFIX.heard(read_header(name))[0] >= STRONG


_NAMED_PARTS = (
    r"(?i)^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?$"
    rf"|^{ENGLISH_MONTH_NAMES}\.?$"
)
_CLOCK = r"^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[AaPp][Mm])?$"
# Words in which no age is meant.
_NO_AGE = re.compile(
    "percentage|usage|stage|average|mileage|dosage|wage|image|page|language|message|marriage|storage|package|voltage|manage"
    "|damage|coverage|leverage|triage|lineage|footage|agent|agency|agenda"
)


def by_form(column: Column) -> Treatment | None:
    """Four digits behind a ZIP code, times of day, names of weekdays and months."""
    name = column.name
    if says_zip_suffix(name) and _all_match(column, r"^\d{1,4}$", numbers=True):
        reason = "The last four digits of a ZIP+4 code: a few houses."
        return Treatment(name, "B", "removed", "postal-code", "identifier", reason)
    if column.values.dtype == pl.Time or _all_match(column, _CLOCK):
        return Treatment(name, "C", "removed", "date", "identifier", "It holds times of day.")
    if _all_match(column, _NAMED_PARTS):
        return Treatment(name, "C", "removed", "date", "identifier", "It holds days of the week or months.")
    return None


def by_dates(column: Column, counts: Array) -> Treatment | None:
    """Dates whatever the header says, and numbers of days under a header that speaks of a date."""
    reason = _dates_without_a_name(column, counts)
    if reason is not None:
        return Treatment(column.name, "C", "date", "date", "quasi-identifier", reason)
    if _serial_days(column):
        reason = "Its header speaks of a date and its numbers may be days as spreadsheets count them."
        return Treatment(column.name, "C", "removed", "date", "identifier", reason)
    return None


def by_header(column: Column) -> Treatment | None:
    """A header that says it, whatever the values look like."""
    name = column.name
    said = clause_of_header(name)
    if said is not None:
        reason = f"Its header says '{said[1]}', whatever its values look like."
        return Treatment(name, said[0], "removed", None, "identifier", reason)
    if says_zip(name):
        return Treatment(name, "B", "zip", "postal-code", "quasi-identifier", "Its header says ZIP code.")
    if says_birth(name):
        return Treatment(name, "C", "date-of-birth", "date-of-birth", "quasi-identifier", "Its header speaks of birth.")
    if _age_by_name(column) or _ages_as_text(column):
        return Treatment(name, "C", "age", "age", "quasi-identifier", "Its header speaks of an age.")
    return None


def own_values(column: Column, counts: Array, role: Role) -> str | None:
    """Why the values may be a code of each person, or None."""
    if not len(counts):
        return None
    if role == "identifier":
        return "Every record, or nearly every one, has a value of its own, or a long code."
    known = int(counts.sum())
    all_differ = len(counts) == known and known > 1
    if all_differ and column.values.dtype == pl.String and not are_measured(column.values):
        return "Every record has a text of its own."
    if all_differ and known >= RECORDS_THAT_TELL and column.values.dtype.is_float() and not are_measured(column.values):
        whole = bool((column.values == column.values.floor()).all())
        return "Every record has a whole number of its own." if whole else None
    return None


def _all_match(column: Column, pattern: str, numbers: bool = False) -> bool:
    """Whether all values match; numbers only where they may."""
    allowed = column.values.dtype == pl.String or (numbers and column.values.dtype.is_integer())
    if not allowed or not len(column.values):
        return False
    return bool(fold(column.values.cast(pl.String)).str.strip_chars().str.contains(pattern).all())


def _dates_without_a_name(column: Column, counts: Array) -> str | None:
    """Dates by type or by form, whatever the header says; seconds since 1970 where all numbers are."""
    values = column.values
    if values.dtype in (pl.Date, pl.Datetime):
        return "It holds dates."
    if len(values) > 1 and values.dtype.is_numeric() and bool(is_epoch(values).all()):
        return "All its numbers are seconds or milliseconds since 1970, of this century."
    if values.dtype == pl.String and len(values) and counts[are_dates(values)].sum() >= 0.5 * counts.sum():
        return "At least half of its records hold a date."
    return None


def _serial_days(column: Column) -> bool:
    """Whole numbers in the range of spreadsheet days under a header that speaks of a date."""
    values = column.values
    if not values.dtype.is_numeric() or not len(values):
        return False
    if not says_birth(column.name) and EVENTS.heard(read_header(column.name))[0] < STRONG:
        return False
    low, high = SERIAL_LIMITS
    return bool(((values >= low) & (values <= high)).all())


def _age_by_name(column: Column) -> bool:
    """Numbers within a life, some of them over 89, under a header with `age` in it that no list of words knows."""
    values = column.values
    if not values.dtype.is_numeric() or not len(values) or "age" not in _NO_AGE.sub("", column.name.lower()):
        return False
    return bool(((values >= 0) & (values <= 125)).all()) and bool((values >= 90).any())


def _ages_as_text(column: Column) -> bool:
    """Texts under a header that says age, at least half of which can be read as ages."""
    if column.values.dtype != pl.String or not len(column.values) or not says_age(column.name):
        return False
    return top_coded(column.values, column.name)[0].null_count() <= len(column.values) / 2
