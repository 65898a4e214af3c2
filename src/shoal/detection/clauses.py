"""The eighteen clauses of safe harbor, 45 CFR 164.514(b)(2)(i)(A) to (R), and the kinds of data that each one names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from shoal.detection.outliers import inside_cells
from shoal.identifiers.inside import inside
from shoal.storage import Array
from shoal.vocabulary import Role


@dataclass(frozen=True)
class Clause:
    """One clause: its letter, what it names, and the kinds of data by which columns are found."""

    letter: str
    short: str
    title: str
    kinds: tuple[str, ...]


CLAUSES = (
    Clause("A", "names", "names", ("name",)),
    Clause(
        "B",
        "geography",
        "geography smaller than a state, but the first three digits of a ZIP code with over 20,000 people",
        ("street-address", "postal-code", "geography", "coordinates"),
    ),
    Clause(
        "C",
        "dates and ages",
        "dates but their year; ages over 89 and dates that tell them",
        ("date", "date-of-birth", "age"),
    ),
    Clause("D", "telephone", "telephone numbers", ("phone",)),
    Clause("E", "fax", "fax numbers", ("fax",)),
    Clause("F", "e-mail", "e-mail addresses", ("email",)),
    Clause("G", "social security", "social security numbers", ("national-id",)),
    Clause("H", "medical record", "medical record numbers", ("medical-record-number",)),
    Clause("I", "health plan", "health plan beneficiary numbers", ("health-plan-number",)),
    Clause("J", "accounts", "account numbers", ("account-number", "iban", "payment-card")),
    Clause("K", "licences", "certificate and licence numbers", ("licence-number",)),
    Clause("L", "vehicles", "vehicle identifiers, serial numbers, licence plates", ("vehicle-number",)),
    Clause("M", "devices", "device identifiers and serial numbers", ("device-number", "mac-address")),
    Clause("N", "web addresses", "web addresses (URLs)", ("url",)),
    Clause("O", "IP addresses", "IP addresses", ("ip-address",)),
    Clause("P", "biometrics", "biometric identifiers", ("biometric",)),
    Clause("Q", "photographs", "full-face photographs and comparable images", ("photograph",)),
    Clause(
        "R",
        "other codes, free text",
        "any other unique number, characteristic or code; free text, which may hold any of these",
        ("unique-code", "uuid", "hash", "username", "free-text"),
    ),
)
LETTERS = tuple(clause.letter for clause in CLAUSES)
CLAUSE_OF_KIND = {kind: clause.letter for clause in CLAUSES for kind in clause.kinds}

# What no program sees in a table: a person answers for it.
FOR_A_PERSON = (
    "Pictures, scans and recordings that belong to these records: no face, voice or body part may be recognisable.",
    "Actual knowledge: you know of nothing in what is left that could identify a person, alone or with other data "
    "(45 CFR 164.514(b)(2)(ii)).",
    "Names that stand among other words, and rare facts (an occupation, an event in the news): shoal cannot tell them.",
)

Action = Literal["removed", "zip", "date", "date-of-birth", "age", "scrubbed", "kept"]


@dataclass(frozen=True)
class Treatment:
    """What is done to one column, under which clause and why; `decided` says that the policy decided it.

    `doubt` says why a person must confirm a column that stays.
    """

    column: str
    clause: str | None
    action: Action
    kind: str | None
    role: Role
    reason: str
    decided: bool = False
    recognised: bool = True
    doubt: str | None = None


# Identifiers hidden among other values: cells of a column that is not an identifier itself, but hold one.


def hidden(texts: pl.Series, counts: Array | None = None) -> dict[str, Array]:
    """Which distinct texts hold an identifier, by clause; where the records of each are counted, no codes of a list.

    >>> {clause: found.tolist() for clause, found in hidden(pl.Series(["seen 3/4/2012", "a@b.org", "stable"])).items()}
    {'C': [True, False, False], 'F': [False, True, False]}
    """
    found: dict[str, Array] = {}
    for kind, hits in (inside(texts) if counts is None else inside_cells(texts, counts)).items():
        clause = CLAUSE_OF_KIND[kind]
        found[clause] = found.get(clause, False) | hits
    return dict(sorted(found.items()))
