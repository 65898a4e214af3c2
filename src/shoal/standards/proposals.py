"""What safe harbor asks of each column: by decision of the policy, else by detection, on the safe side.

A kind found with a confidence of 0.5 is acted on; where none is, a hint of 0.25 is enough. A column that no rule knows
and in which every record has a value of its own is removed under (R).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import polars as pl

from shoal.dates import are_dates, is_epoch
from shoal.detect.kinds import DECIDED, ColumnView, Finding, find_kinds
from shoal.detect.kinds.base import STRONG
from shoal.detect.kinds.event_date import EVENTS
from shoal.detect.kinds.header import read_header
from shoal.policy import Policy, Role
from shoal.profile import RECORDS_THAT_TELL, propose_role
from shoal.standards.ages import top_coded
from shoal.standards.clauses import CLAUSE_OF_KIND
from shoal.standards.headers import clause_of_header, says_age, says_birth, says_zip
from shoal.standards.states import are_states
from shoal.table import Array, Column

Action = Literal["removed", "zip", "date", "date-of-birth", "age", "kept"]

HINT = 0.25
# Removing is the stricter of two answers; among kinds that may stay in part, dates of birth come before other dates.
_GENERALISED = {"postal-code": "zip", "age": "age", "date": "date", "date-of-birth": "date-of-birth"}
_US_ZIP = ("us-zip", "us-zip-plus-4", "us-zip-3", "by-header")
# Parts of dates that are no year: quarter, month, day of the week, hour.
_PARTS = ("quarter", "month")
_NAMED_PARTS = (
    r"(?i)^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?$"
    r"|^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?$"
)
_CLOCK = r"^\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:[AaPp][Mm])?$"
# Days since 1900 as spreadsheets count them, from 1927 to 2064.
_SERIAL_DAYS = (10_000, 60_000)


@dataclass(frozen=True, slots=True)
class Treatment:
    """What is done to one column, under which clause and why; `decided` says that the policy decided it."""

    column: str
    clause: str | None
    action: Action
    kind: str | None
    role: Role
    reason: str
    decided: bool = False
    recognised: bool = True


def counts_of(column: Column) -> Array:
    """How many records hold each distinct value."""
    return np.bincount(column.codes, minlength=len(column.values))[: len(column.values)]


def propose(column: Column, policy: Policy) -> Treatment:
    """The treatment of a column.

    >>> from shoal.table import Table
    >>> column = Table.of({"email": ["ada@example.org", "alan@example.org"]})["email"]
    >>> found = propose(column, Policy())
    >>> found.clause, found.action
    ('F', 'removed')
    """
    counts = counts_of(column)
    records = len(column.codes)
    findings = find_kinds(ColumnView(column.name, column.values, counts, records)) if len(counts) else []
    role = policy.columns.get(column.name) or propose_role(column, counts, records, findings)[0]
    proposed = _proposed(column, counts, findings, role)
    word = policy.safe_harbor.columns.get(column.name)
    said = policy.columns.get(column.name)
    if word is not None:
        return _decided(column.name, word, proposed)
    if said == "identifier" and proposed.action != "removed":
        reason = "The policy calls it an identifier."
        return Treatment(column.name, proposed.clause or "R", "removed", proposed.kind, said, reason, True)
    if said == "identifier":
        return _with(proposed, decided=True)
    return proposed


def _with(found: Treatment, *, decided: bool) -> Treatment:
    return Treatment(found.column, found.clause, found.action, found.kind, found.role, found.reason, decided)


def _decided(name: str, word: str, proposed: Treatment) -> Treatment:
    """As the policy says; kept columns play the role that was found."""
    reason = "Decided in the policy."
    role: Role = "other" if proposed.role == "identifier" else proposed.role
    if word == "keep":
        return Treatment(name, None, "kept", proposed.kind, role, reason, True)
    if word in ("zip", "date", "date-of-birth", "age"):
        clause = "B" if word == "zip" else "C"
        return Treatment(name, clause, cast(Action, word), word, "quasi-identifier", reason, True)
    return Treatment(name, word, "removed", proposed.kind, "identifier", reason, True)


def _proposed(column: Column, counts: Array, findings: list[Finding], role: Role) -> Treatment:
    """By type, then by kind, then by whether values are everybody's own."""
    name = column.name
    if column.values.dtype == pl.Binary:
        return Treatment(
            name, "Q", "removed", None, "identifier", "It holds bytes, perhaps a picture.", recognised=False
        )
    if column.values.dtype == pl.Time or _all_match(column, _CLOCK):
        return Treatment(name, "C", "removed", "date", "quasi-identifier", "It holds times of day.")
    if _all_match(column, _NAMED_PARTS):
        return Treatment(name, "C", "removed", "date", "quasi-identifier", "It holds days of the week or months.")
    sure = [finding for finding in findings if finding.confidence >= DECIDED]
    for finding in _strictest_first(sure or [finding for finding in findings if finding.confidence >= HINT]):
        treated = _by_kind(column, finding, findings, role)
        if treated is not None:
            return treated
    if (reason := _dates_without_a_name(column)) is not None:
        return Treatment(name, "C", "date", "date", "quasi-identifier", reason)
    if _serial_days(column):
        reason = "Its header speaks of a date and its numbers may be days as spreadsheets count them."
        return Treatment(name, "C", "removed", "date", "quasi-identifier", reason)
    if (said := clause_of_header(name)) is not None:
        reason = f"Its header says '{said[1]}', whatever its values look like."
        return Treatment(name, said[0], "removed", None, "identifier", reason)
    if says_zip(name):
        return Treatment(name, "B", "zip", "postal-code", "quasi-identifier", "Its header says ZIP code.")
    if says_birth(name):
        return Treatment(name, "C", "date-of-birth", "date-of-birth", "quasi-identifier", "Its header speaks of birth.")
    if _age_by_name(column) or _ages_as_text(column):
        return Treatment(name, "C", "age", "age", "quasi-identifier", "Its header speaks of an age.")
    if (reason := _own_values(column, counts, role, bool(sure))) is not None:
        return Treatment(name, "R", "removed", None, "identifier", reason, recognised=False)
    kind = sure[0].kind if sure else None
    reason = sure[0].reason if sure else "No rule recognised it."
    return Treatment(name, None, "kept", kind, "other" if role == "identifier" else role, reason, recognised=bool(sure))


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


def _all_match(column: Column, pattern: str) -> bool:
    if column.values.dtype != pl.String or not len(column.values):
        return False
    return bool(column.values.str.strip_chars().str.contains(pattern).all())


def _dates_without_a_name(column: Column) -> str | None:
    """Dates by type or by form, whatever the header says; seconds since 1970 where all numbers are."""
    values = column.values
    if values.dtype in (pl.Date, pl.Datetime):
        return "It holds dates."
    if len(values) > 1 and values.dtype.is_numeric() and bool(is_epoch(values).all()):
        return "All its numbers are seconds or milliseconds since 1970, of this century."
    if values.dtype == pl.String and len(values) and float(are_dates(values).mean()) >= 0.5:
        return "At least half of its values are dates."
    return None


def _serial_days(column: Column) -> bool:
    """Whole numbers in the range of spreadsheet days under a header that speaks of a date."""
    values = column.values
    if not values.dtype.is_numeric() or not len(values):
        return False
    if not says_birth(column.name) and EVENTS.heard(read_header(column.name))[0] < STRONG:
        return False
    low, high = _SERIAL_DAYS
    return bool(((values >= low) & (values <= high)).all())


# Words in which no age is meant.
_NO_AGE = re.compile(
    "percentage|usage|stage|average|mileage|dosage|wage|image|page|language|message|marriage|storage|package|voltage|manage"
    "|damage|coverage|leverage|triage|lineage|footage|agent|agency|agenda"
)


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


def _own_values(column: Column, counts: Array, role: Role, recognised: bool) -> str | None:
    """Why the values may be a code of each person, or None."""
    if recognised or not len(counts):
        return None
    if role == "identifier":
        return "Every record, or nearly every one, has a value of its own, or a long code."
    known = int(counts.sum())
    all_differ = len(counts) == known and known > 1
    if all_differ and column.values.dtype == pl.String:
        return "Every record has a text of its own."
    if all_differ and known >= RECORDS_THAT_TELL and column.values.dtype.is_float():
        whole = bool((column.values == column.values.floor()).all())
        return "Every record has a whole number of its own." if whole else None
    return None
