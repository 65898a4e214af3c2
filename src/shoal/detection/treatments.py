"""What safe harbor asks of each column: by decision of the policy, else by detection, on the safe side.

A kind found with a confidence of 0.5 is acted on; where none is, a hint of 0.25 is enough. A column that no rule knows
and in which every record has a value of its own is removed under (R).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from shoal.detection.ages import top_coded
from shoal.detection.clauses import CLAUSE_OF_KIND, Action, Treatment, hidden
from shoal.detection.context import Context, propose_role
from shoal.detection.numbers import (
    RECORDS_THAT_TELL,
    are_measured,
    are_of_one_length,
    fill_their_length,
    look_like_ages,
    look_like_zips,
)
from shoal.errors import InputError
from shoal.identifiers import DECIDED, ColumnView, Finding, find_kinds
from shoal.identifiers.base import STRONG
from shoal.identifiers.dates import AGE, BIRTH, EVENTS
from shoal.identifiers.header import read_header, words
from shoal.identifiers.lists import are_states
from shoal.policy import Policy
from shoal.storage import Array, Column
from shoal.storage.dates import SERIAL_LIMITS, are_dates, is_epoch
from shoal.storage.folding import fold
from shoal.storage.months import ENGLISH_MONTH_NAMES
from shoal.vocabulary import Role

# Signs by which columns are found that no recogniser knows: forms, dates under any name, headers, one's own values.

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


# What a header alone does not prove: columns whose values are of one's own, whatever their header says.


BY_HEADER = "Only its header says what it holds: you have looked at its values, and they identify nobody."
MIXED = "Some of its values are of another kind: you have looked at them, and they identify nobody."
OWN = "Only its header says what it holds, and nearly every record has a value of its own."
AGES = "Its numbers may be ages: those over 89 were put together."
ZIPS = "Its numbers may be ZIP codes: three digits were kept."
# Headers that say nothing: x1, col_7, field, value.
_OPAQUE = frozenset(
    word
    for words in (
        ("x", "y", "z", "v", "w", "u", "a", "b", "c", "d", "e", "f", "g", "h", "q", "var", "variable", "col", "column"),
        ("field", "value", "val", "values", "item", "data", "info", "misc", "other", "attr", "attribute", "feature"),
        ("unnamed", "thing", "extra", "tmp", "temp", "text", "txt", "str", "num", "number", "no", "code", "entry"),
        ("content", "raw", "unknown", "answer", "response"),
    )
    for word in words
)
_NEARLY_OWN = 0.9
_SHORTEST = 6
_AMOUNT = r"^[$€£]?\s?-?\d{1,3}(?:[,.' ]\d{3})*(?:[.,]\d{1,2})?\s?(?:[$€£]|usd|eur)?$"
# Kinds whose values may well be short numbers.
_NUMBERED_KINDS = ("income", "procedure", "diagnosis", "medication")


def says_nothing(name: str) -> bool:
    """Whether a header names nothing.

    >>> says_nothing("col_7"), says_nothing("V12"), says_nothing("ward")
    (True, True, False)
    """
    tokens = read_header(name).tokens
    return all(token in _OPAQUE or token.isdecimal() for token in tokens)


def rests_on_header(column: Column, counts: Array, sure: list[Finding]) -> bool:
    """Whether no kind that was decided would be one without the header."""
    silent = find_kinds(ColumnView("", column.values, counts, int(counts.sum()) + column.nulls))
    decided = {finding.kind for finding in silent if finding.confidence >= DECIDED}
    return not decided & {finding.kind for finding in sure}


def by_own_values(column: Column, counts: Array) -> str | None:
    """Why a column that only its header explains must go: nearly everybody's own value, in a form that codes have."""
    known = int(counts.sum())
    if known < RECORDS_THAT_TELL or len(counts) < _NEARLY_OWN * known:
        return None
    if column.values.dtype.is_numeric():
        if are_measured(column.values):
            return None
        if are_of_one_length(column.values):
            return "Nearly every record has a long number of its own, all of one length."
        if fill_their_length(column.values):
            return "Nearly every record has a number of its own, spread evenly over all numbers of its length."
        return None
    texts = fold(column.values.cast(pl.String)).str.strip_chars()
    if float(texts.str.contains(f"(?i){_AMOUNT}").mean() or 0) >= _NEARLY_OWN:  # type: ignore[arg-type]
        return None
    # shorter ones are what lists of codes have: 99213, 250.10
    signs = texts.str.count_matches(r"[\p{L}\d]")
    if float((signs < _SHORTEST).mean() or 0) > 1 - _NEARLY_OWN:  # type: ignore[arg-type]
        return None
    if propose_role(column, counts, int(counts.sum()) + column.nulls, [])[0] == "identifier":
        return "Nearly every record has a text of its own."
    return None


def doubted(kept: Treatment, column: Column, counts: Array, sure: list[Finding]) -> Treatment:
    """A column that is to stay, as it may: removed, kept in part, or with what a person must confirm."""
    by_header = bool(sure) and rests_on_header(column, counts, sure)
    if by_header:
        own = by_own_values(column, counts)
        if own is not None:
            reason = f"{own} Its header alone says '{sure[0].header or column.name}'."
            return Treatment(column.name, "R", "removed", None, "identifier", reason, recognised=False)
    numbered = by_header and sure[0].kind in _NUMBERED_KINDS
    if not sure or by_header:
        silent = says_nothing(column.name)
        if (silent or by_header) and look_like_ages(column, counts):
            return Treatment(column.name, "C", "age", "age", "quasi-identifier", AGES, doubt=AGES)
        if (silent or (by_header and not numbered)) and look_like_zips(column, counts):
            return Treatment(column.name, "B", "zip", "postal-code", "quasi-identifier", ZIPS, doubt=ZIPS)
    if by_header:
        nearly = len(counts) >= _NEARLY_OWN * int(counts.sum()) and len(counts) >= RECORDS_THAT_TELL
        return replace(kept, doubt=OWN if nearly else BY_HEADER)
    if sure and max(finding.share or 0.0 for finding in sure) < 1 and sure[0].kind not in CLAUSE_OF_KIND:
        return replace(kept, doubt=MIXED)
    return kept


HINT = 0.25
_HALF = 0.5
# Removing is the stricter of two answers; among kinds that may stay in part, dates of birth come before other dates.
_GENERALISED = {"postal-code": "zip", "age": "age", "date": "date", "date-of-birth": "date-of-birth"}
_US_ZIP = ("us-zip", "us-zip-plus-4", "us-zip-3", "by-header")
# Parts of dates that are no year: quarter, month, day of the week, hour.
_PARTS = ("quarter", "month", "serial-day")


def propose(column: Column, policy: Policy, context: Context | None = None) -> Treatment:
    """The treatment of a column; `context`, the other headers of its table, can only make it stricter.

    >>> from shoal.storage.reading import read
    >>> column = read({"email": ["ada@example.org", "alan@example.org"]})["email"]
    >>> found = propose(column, Policy())
    >>> found.clause, found.action
    ('F', 'removed')
    """
    counts = column.frequencies()
    records = int(counts.sum()) + column.nulls
    if column.values.dtype == pl.Binary:
        treatment = Treatment(column.name, "Q", "removed", None, "identifier", "It holds bytes, perhaps a picture.")
        word = policy.safe_harbor.columns.get(column.name)
        return treatment if word is None else _decided(column.name, word, treatment, policy.columns.get(column.name))
    findings = find_kinds(ColumnView(column.name, column.values, counts, records)) if len(counts) else []
    proposed = by_values(column, counts, findings, propose_role(column, counts, records, findings)[0])
    if context is not None and proposed.action == "kept":
        proposed = _by_source(column, counts, context) or proposed
    word = policy.safe_harbor.columns.get(column.name)
    said = policy.columns.get(column.name)
    if word is not None:
        return _decided(column.name, word, proposed, said)
    if said == "text":
        reason = "The policy calls it text: identifiers in it are replaced."
        return Treatment(column.name, None, "scrubbed", proposed.kind, said, reason, decided=True)
    # a role is no decision on safe harbor, but for identifiers: what was found is done whatever the role
    if said == "identifier":
        reason = proposed.reason if proposed.action == "removed" else "The policy calls it an identifier."
        return replace(
            proposed, clause=proposed.clause or "R", action="removed", role=said, reason=reason, decided=True
        )
    return proposed if said is None or proposed.action == "removed" else replace(proposed, role=said)


def _decided(name: str, word: str, proposed: Treatment, said: Role | None) -> Treatment:
    """As the policy says; kept columns play the role that it names, else the one that was found."""
    reason = "Decided in the policy."
    kept_in_part = word in ("zip", "date", "date-of-birth", "age")
    if said == "identifier" and (word == "keep" or kept_in_part):
        raise InputError(f"The policy calls '{name}' an identifier and keeps it for safe harbor.", "Decide on one.")
    if kept_in_part:
        clause = "B" if word == "zip" else "C"
        return Treatment(name, clause, cast(Action, word), word, said or "quasi-identifier", reason, True)
    if word == "keep":
        found: Role = "other" if proposed.role == "identifier" else proposed.role
        return Treatment(name, None, "kept", proposed.kind, said or found, reason, True)
    return Treatment(name, word, "removed", proposed.kind, "identifier", reason, True)


def by_values(column: Column, counts: Array, findings: list[Finding], role: Role) -> Treatment:
    """By its form, by the kinds that were found, by other signs, by whether values are everybody's own.

    The check that every release makes of a column that nobody decided on; safe harbor does what it proposes.
    """
    treated = by_form(column)
    if treated is not None:
        return treated
    sure = [finding for finding in findings if finding.confidence >= DECIDED]
    for finding in _strictest_first(sure or [finding for finding in findings if finding.confidence >= HINT]):
        treated = _by_kind(column, finding, findings, role)
        if treated is not None:
            return treated
    treated = by_dates(column, counts) or by_header(column) or _by_inside(column, counts)
    if treated is not None:
        return treated
    stays: Role = "other" if role == "identifier" else role
    kind, reason = (sure[0].kind, sure[0].reason) if sure else (None, "No rule recognised it.")
    kept = Treatment(column.name, None, "kept", kind, stays, reason, recognised=bool(sure))
    kept = doubted(kept, column, counts, sure)
    own = None if sure or kept.action != "kept" else own_values(column, counts, role)
    if own is not None:
        return Treatment(column.name, "R", "removed", None, "identifier", own, recognised=False)
    return kept


def _by_source(column: Column, counts: Array, context: Context) -> Treatment | None:
    """What a clause names by the variable of a published source that a column is, as `PUMA` of a census is an area.

    Ages stay up to 89; whether a code is as large as a state, or a number a year, cannot be seen: it is removed.
    """
    listed = context.listed.get(column.name)
    if listed is None or listed.kind not in CLAUSE_OF_KIND or not len(counts):
        return None
    kinds = find_kinds(context.view(column, counts, int(counts.sum()) + column.nulls))
    told = next((entry for entry in kinds if entry.rule.startswith("source") and entry.confidence >= DECIDED), None)
    if told is None:
        return None
    if told.kind == "geography" and not column.values.dtype.is_numeric() and _state_or_larger(column, told):
        return Treatment(column.name, None, "kept", "state", "quasi-identifier", f"A state: {told.reason}")
    clause = CLAUSE_OF_KIND[told.kind]
    if told.kind == "age" and column.values.dtype.is_numeric():
        return Treatment(column.name, clause, "age", "age", "quasi-identifier", told.reason)
    return Treatment(column.name, clause, "removed", told.kind, "identifier", told.reason)


def _by_inside(column: Column, counts: Array) -> Treatment | None:
    """A column in which at least half of the records hold an identifier, among whatever words."""
    if column.values.dtype != pl.String or not len(counts):
        return None
    found = hidden(column.values, counts)
    shares = {clause: float(counts[hits].sum() / counts.sum()) for clause, hits in found.items()}
    if not shares or float(counts[np.logical_or.reduce(list(found.values()))].sum() / counts.sum()) < _HALF:
        return None
    clause = max(shares, key=lambda letter: shares[letter])
    reason = f"At least half of its records hold what clause ({clause}) names."
    return Treatment(column.name, clause, "removed", None, "identifier", reason)


def _strictest_first(findings: list[Finding]) -> list[Finding]:
    """Kinds that must go before kinds that may stay in part, surer ones first."""
    removed = [finding for finding in findings if _is_removed(finding)]
    return removed + [finding for finding in findings if not _is_removed(finding)]


def _is_removed(finding: Finding) -> bool:
    return finding.kind in CLAUSE_OF_KIND and finding.kind not in (*_GENERALISED, "geography")


def _by_kind(column: Column, finding: Finding, findings: list[Finding], role: Role) -> Treatment | None:
    """What a clause asks of a kind; None where no clause speaks of it."""
    clause = CLAUSE_OF_KIND.get(finding.kind)
    if clause is None:
        return None
    action: Action = cast(Action, _GENERALISED.get(finding.kind, "removed"))
    if finding.kind == "geography" and _state_or_larger(column, finding):
        kind = "country" if finding.rule.startswith("country") else "state"
        return Treatment(column.name, None, "kept", kind, role, f"A {kind}: {finding.reason}")
    if finding.kind == "postal-code" and not any(
        other.kind == "postal-code" and other.rule in _US_ZIP and other.confidence >= HINT for other in findings
    ):
        action = "removed"  # a postal code of another country: there are no counts of people for it
    if finding.kind == "date" and finding.rule in _PARTS:
        action = "removed"
    return Treatment(column.name, clause, action, finding.kind, _role_of(action, role), finding.reason)


def _state_or_larger(column: Column, finding: Finding) -> bool:
    """Countries; states by their names or letters, by numbers only where the header says state."""
    if finding.rule.startswith("country"):
        return True
    if finding.rule.startswith("county"):
        return False
    by_number = "state" in (finding.header or "")
    return (by_number or not column.values.dtype.is_numeric()) and are_states(column.values)


def _role_of(action: Action, role: Role) -> Role:
    """What is kept in part is what others may know."""
    return "identifier" if action == "removed" else role if role in ("sensitive", "other") else "quasi-identifier"
