"""Headers that alone say what a column holds, whatever its values look like: the last four digits of a phone number."""

from __future__ import annotations

from shoal.kinds.age import AGE
from shoal.kinds.base import STRONG
from shoal.kinds.date_of_birth import BIRTH
from shoal.kinds.header import read_header, words

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
