"""What safe harbor asks of each column: by decision of the policy, else by detection, on the safe side.

A kind found with a confidence of 0.5 is acted on; where none is, a hint of 0.25 is enough. A column that no rule knows
and in which every record has a value of its own is removed under (R).
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np
import polars as pl

from shoal.detection.context import Context
from shoal.detection.roles import propose_role
from shoal.errors import InputError
from shoal.kinds import DECIDED, ColumnView, Finding, find_kinds
from shoal.policy import Policy
from shoal.standards.hipaa.clauses import CLAUSE_OF_KIND, Action, Treatment
from shoal.standards.hipaa.doubts import doubted
from shoal.standards.hipaa.hidden import hidden
from shoal.standards.hipaa.signs import by_dates, by_form, by_header, own_values
from shoal.standards.hipaa.states import are_states
from shoal.table import Array, Column
from shoal.vocabulary import Role

HINT = 0.25
_HALF = 0.5
# Removing is the stricter of two answers; among kinds that may stay in part, dates of birth come before other dates.
_GENERALISED = {"postal-code": "zip", "age": "age", "date": "date", "date-of-birth": "date-of-birth"}
_US_ZIP = ("us-zip", "us-zip-plus-4", "us-zip-3", "by-header")
# Parts of dates that are no year: quarter, month, day of the week, hour.
_PARTS = ("quarter", "month", "serial-day")


def propose(column: Column, policy: Policy, context: Context | None = None) -> Treatment:
    """The treatment of a column; `context`, the other headers of its table, can only make it stricter.

    >>> from shoal.reading import read
    >>> column = read({"email": ["ada@example.org", "alan@example.org"]})["email"]
    >>> found = propose(column, Policy())
    >>> found.clause, found.action
    ('F', 'removed')
    """
    counts = column.frequencies()
    records = int(counts.sum()) + column.nulls
    if column.values.dtype == pl.Binary:
        found = Treatment(column.name, "Q", "removed", None, "identifier", "It holds bytes, perhaps a picture.")
        word = policy.safe_harbor.columns.get(column.name)
        return found if word is None else _decided(column.name, word, found, policy.columns.get(column.name))
    findings = find_kinds(ColumnView(column.name, column.values, counts, records)) if len(counts) else []
    proposed = _proposed(column, counts, findings, propose_role(column, counts, records, findings)[0])
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


def _proposed(column: Column, counts: Array, findings: list[Finding], role: Role) -> Treatment:
    """By its form, by the kinds that were found, by other signs, by whether values are everybody's own."""
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
    found = find_kinds(context.view(column, counts, int(counts.sum()) + column.nulls))
    told = next((entry for entry in found if entry.rule.startswith("source") and entry.confidence >= DECIDED), None)
    if told is None:
        return None
    clause = CLAUSE_OF_KIND[told.kind]
    if told.kind == "age" and column.values.dtype.is_numeric():
        return Treatment(column.name, clause, "age", "age", "quasi-identifier", told.reason)
    return Treatment(column.name, clause, "removed", told.kind, "identifier", told.reason)


def _by_inside(column: Column, counts: Array) -> Treatment | None:
    """A column in which at least half of the records hold an identifier, among whatever words."""
    if column.values.dtype != pl.String or not len(counts):
        return None
    found = hidden(column.values)
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
