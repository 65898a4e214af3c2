"""HIPAA safe harbor, clause by clause: what was found, what was done, what a person must confirm.

Source: 45 CFR 164.514(b)(2). It is a list of things to remove, not a measure of risk: what is left can still single
people out (Sánchez et al.), so the residual risk is measured like any other release's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import polars as pl

from shoal import progress
from shoal.errors import InputError, check_choice
from shoal.identity import IdentityRisk, risk
from shoal.policy import Policy, as_policy
from shoal.policy.named import SAFE_HARBOR_RULE
from shoal.reading import Options, read
from shoal.reading.frames import to_native
from shoal.standards.hipaa.clauses import CLAUSES, FOR_A_PERSON, Treatment
from shoal.standards.hipaa.hidden import hidden
from shoal.standards.hipaa.proposals import propose
from shoal.standards.hipaa.treat import EMPTIED, WORDS, Done, treat, years_of_columns
from shoal.standards.hipaa.zip3 import Populations, read_populations, shipped
from shoal.table import Table
from shoal.table.dates import Order
from shoal.wording import in_words, percent


@dataclass(frozen=True, slots=True)
class ClauseReport:
    """One clause: its columns, what was done, how many cells changed; `confirm` until a policy decides it."""

    clause: str
    title: str
    columns: list[str]
    action: str
    cells_changed: int
    status: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True)
class SafeHarbor:
    """A table after safe harbor: `frame` is of the kind that came in; `clauses` say what was done under (A) to (R)."""

    table: Table = field(repr=False)
    policy: Policy
    treatments: list[Treatment]
    done: list[Done]
    clauses: list[ClauseReport]
    year_of_data: int
    year_said: str
    populations: Populations
    notes: list[str]
    polars: pl.DataFrame = field(repr=False)

    @property
    def frame(self) -> Any:
        """The released table as the kind of frame that came in."""
        changed = {entry.column for entry in self.done if entry.action != WORDS["kept"]}
        return to_native(self.polars, self.table.native, changed)

    @property
    def quasi_identifiers(self) -> list[str]:
        """The kept columns that others may know."""
        kept = set(self.polars.columns)
        return [entry.column for entry in self.treatments if entry.role == "quasi-identifier" and entry.column in kept]

    @property
    def to_confirm(self) -> list[str]:
        """What a person must look at, in words."""
        kept = set(self.polars.columns)
        unknown = [entry.column for entry in self.treatments if entry.column in kept and not entry.recognised]
        asked = (
            [f"No rule recognised what is in {in_words(unknown, 20)}: you know that it identifies nobody."]
            if unknown
            else []
        )
        if any(entry.action == "date-of-birth" for entry in self.treatments) and self.year_said != "given":
            asked.append(f"Ages were counted to {self.year_of_data}, {self.year_said}.")
        return [*asked, *FOR_A_PERSON]

    @cached_property
    def residual(self) -> IdentityRisk | None:
        """The risk that is left, on the kept quasi-identifiers; None where none is kept."""
        return residual_risk(self.polars, self)

    def to_dict(self) -> dict[str, Any]:
        """As JSON, without the residual risk."""
        return {
            "standard": "hipaa-safe-harbor",
            "source": SAFE_HARBOR_RULE,
            "records": self.table.rows,
            "clauses": [clause.to_dict() for clause in self.clauses],
            "details": [
                {
                    "column": entry.column,
                    "clause": entry.clause,
                    "action": entry.action,
                    "cells_changed": entry.cells_changed,
                    "decided": entry.decided,
                    "reason": entry.reason,
                }
                for entry in self.done
            ],
            "year_of_data": self.year_of_data,
            "year_of_data_from": self.year_said,
            "zip_populations": {"source": self.populations.source, "vintage": self.populations.vintage},
            "to_confirm": self.to_confirm,
            "notes": self.notes,
        }


def safe_harbor(
    source: Any,
    policy: Policy | str | Path | None = None,
    *,
    year_of_data: int | None = None,
    date_order: Order | None = None,
    century_from: int | None = None,
    zip_populations: str | Path | None = None,
    options: Options | None = None,
) -> SafeHarbor:
    """Take out what the eighteen clauses of safe harbor name, in the columns that the policy or detection names.

    >>> import polars as pl
    >>> names = ["Ada Lovelace", "Alan Turing"]
    >>> visits = pl.DataFrame({"patient_name": names, "zip": ["10001", "03601"], "age": [36, 91]})
    >>> result = safe_harbor(visits, year_of_data=2012)
    >>> result.frame.to_dict(as_series=False)
    {'zip': ['100', '000'], 'age': ['36', '90+']}
    >>> [(found.clause, found.columns) for found in result.clauses if found.columns]
    [('A', ['patient_name']), ('B', ['zip']), ('C', ['age'])]
    """
    given = as_policy(policy)
    said = given.safe_harbor
    order = date_order or said.date_order
    check_choice("date order", order or "dmy", get_args(Order))
    this_year = datetime.now(UTC).year
    wanted = year_of_data if year_of_data is not None else said.year_of_data
    if wanted is not None and not 1900 <= wanted <= this_year + 1:
        raise InputError(f"The year of the data, {wanted}, is not between 1900 and now.", "Give --year-of-data 2012.")
    populations = shipped() if zip_populations is None else read_populations(zip_populations)
    table = read(source, None, options)
    _check_headers(table, given)
    treatments = []
    for number, column in enumerate(table.columns.values()):
        progress.report("looking at columns", number, len(table.columns))
        treatments.append(propose(column, given))
    progress.report("applying safe harbor", 0)
    century = century_from if century_from is not None else said.century_from
    years = years_of_columns(table, treatments, wanted, order, century, this_year)
    treated = treat(table, treatments, years, populations)
    emptied = {entry.column for entry in treated.done if entry.action == EMPTIED}
    late = _late(treated.series, emptied, given)
    if late:  # what is left of a column after cells were emptied may be an identifier itself
        treatments = [late.get(entry.column, entry) for entry in treatments]
        treated = treat(table, treatments, years, populations)
    kept = [treated.series[name] for name in table.names if name in treated.series]
    if not kept:
        raise InputError(
            "Safe harbor removes every column of this table.",
            "Name columns that may stay in a policy (safe_harbor: keep).",
        )
    clauses = _reports(treated.done)
    notes = [*table.notes, *given.remarks(table), *treated.notes]
    if given.person is not None and given.person not in treated.series:
        notes.append(f"{given.person} is removed: the residual risk counts records, not persons")
    return SafeHarbor(
        table, given, treatments, treated.done, clauses, years.year_of_data, years.said, populations, notes,
        pl.DataFrame([_plain(series) for series in kept]),
    )  # fmt: skip


def _plain(series: pl.Series) -> pl.Series:
    """Categories as texts: a file would list all of them, also those that no cell holds any more."""
    return series.cast(pl.String) if isinstance(series.dtype, (pl.Categorical, pl.Enum)) else series


def _check_headers(table: Table, policy: Policy) -> None:
    """Names of columns go into manifests and messages: they must not hold identifiers themselves."""
    names = pl.Series(table.names, dtype=pl.String)
    found = hidden(names)
    bad = {names[index] for hits in found.values() for index in hits.nonzero()[0].tolist()}
    bad = {name for name in bad if policy.safe_harbor.columns.get(name) != "keep"}
    if bad:
        places = in_words([str(place) for place, name in enumerate(table.names, 1) if name in bad])
        raise InputError(
            f"The names of columns number {places} hold a date, an address or a number of a person.",
            "Put a line with names of columns first, or rename them.",
        )


def _late(series: dict[str, pl.Series], emptied: set[str], policy: Policy) -> dict[str, Treatment]:
    """Columns that look like identifiers once the cells with hidden ones are empty."""
    found = {}
    for name in emptied:
        again = propose(read(pl.DataFrame([series[name]]))[name], policy)
        if again.action != "kept":
            removed = Treatment(name, again.clause, "removed", again.kind, "identifier", again.reason, recognised=False)
            found[name] = removed
    return found


def _reports(done: Sequence[Done]) -> list[ClauseReport]:
    reports = []
    for clause in CLAUSES:
        entries = [entry for entry in done if entry.clause == clause.letter]
        actions = dict.fromkeys(entry.action for entry in entries)
        status = "nothing-found" if not entries else "done" if all(entry.decided for entry in entries) else "confirm"
        reports.append(
            ClauseReport(
                clause.letter,
                clause.title,
                [entry.column for entry in entries],
                "; ".join(actions) or "none",
                sum(entry.cells_changed for entry in entries),
                status,
            )
        )
    return reports


def residual_risk(released: Any, result: SafeHarbor) -> IdentityRisk | None:
    """What `shoal risk` measures on what is left: the kept quasi-identifiers, ranges fitted by Eq 1."""
    table = read(released)
    names = [name for name in result.quasi_identifiers if name in table.columns]
    if not names:
        return None
    policy = result.policy
    count = policy.count if policy.count in table.columns else None
    person = policy.person if policy.person in table.columns else None
    names = [name for name in names if name not in (count, person)]
    if not names:
        return None
    return risk(
        table,
        quasi_identifiers=names,
        null_rule=policy.null_rule,
        count=count,
        person=person,
        threshold=policy.threshold,
    )


def way_on(found: IdentityRisk | None, output: str = "safe.csv") -> str:
    """One sentence on the residual risk, and the next step where people are still unique."""
    if found is None:
        return "No kept column is a quasi-identifier: there is no residual risk to measure."
    if not found.uniques:
        return f"Nobody is unique on {in_words(found.quasi_identifiers)}; the smallest class has {found.k:,}."
    names = ",".join(found.quasi_identifiers)
    return (
        f"Still {percent(found.uniqueness)} unique on {in_words(found.quasi_identifiers)}: "
        f"shoal anonymize {output} -k 5 --qi {names}"
    )
