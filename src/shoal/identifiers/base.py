"""What a recogniser sees, what it answers, and how sure it may be.

The confidence of a finding is

    confidence = fit * (1 - (1 - alone) * (1 - header))

- `fit`: the share of the records with a value whose value matches the rule. Where the rule has a check digit that
  random digits pass with probability c, the share p of n tested values that pass counts as
  (p - c - 2 * (1 - header) * sqrt(c * (1 - c) / n)) / (1 - c): nought where the digits do no better than chance.
- `alone`: what a full match is worth without a header; near 1 for an e-mail address, near 0 for five digits.
- `header`: 0.85 for a header word that means this kind only, 0.45 for a word with other meanings, else 0.

A header can therefore never carry a kind that the values contradict, nor can weak values without a header. From
0.5 on a finding counts as decided, below it is a hint, under 0.1 it is not reported.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from shoal.identifiers.sources import SourceMatch

if TYPE_CHECKING:
    from shoal.identifiers.column import ColumnEvidence


STRONG = 0.85
WEAK = 0.45
DECIDED = 0.5
NOTED = 0.1


# The role that each kind proposes for its column.

IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, OTHER = "identifier", "quasi-identifier", "sensitive", "other"

# A kind is an identifier where one value points at one person, or at a record or device of theirs; a
# quasi-identifier where others may know it; sensitive where it is what they would want to learn. Free text may hold
# any of it and is treated as an identifier: it cannot be generalised, and it must not pass.
ROLE_OF_KIND: dict[str, str] = {
    **dict.fromkeys(
        (
            "account-number", "biometric", "device-number", "email", "fax", "free-text", "hash",
            "health-plan-number", "iban",
            "ip-address", "licence-number", "mac-address", "medical-record-number", "name", "national-id",
            "payment-card",
            "phone", "photograph", "street-address", "unique-code", "url", "username", "uuid", "vehicle-number",
        ),
        IDENTIFIER,
    ),
    **dict.fromkeys(
        (
            "age", "coordinates", "date", "date-of-birth", "education", "ethnicity", "geography", "marital-status",
            "household", "language", "nationality", "occupation", "postal-code", "relationship", "sex",
        ),
        QUASI_IDENTIFIER,
    ),
    **dict.fromkeys(
        (
            "assessment", "benefits", "criminal-record", "diagnosis", "health", "income", "medication", "opinion",
            "political-opinion", "procedure", "religion", "sexual-orientation",
        ),
        SENSITIVE,
    ),
    # what a survey needs for itself: how many people a record stands for, how it was drawn, how it was asked
    **dict.fromkeys(("survey-design", "survey-process", "survey-weight"), OTHER),
}  # fmt: skip
# whole numbers that stand for these are names, without an order
NUMBERED = ("ethnicity", "geography", "marital-status", "nationality", "occupation", "relationship", "religion", "sex")


@dataclass(frozen=True, repr=False)
class ColumnView:
    """What a recogniser may look at: the header and the distinct values with their counts.

    `values` are distinct, hold no null and keep the type of the column; `counts` says how many records hold each;
    `records` counts all records, nulls included. Beside them, where they are known: what a published source says of a
    variable of this name (`listed`), its label, and the labels of its codes.

    >>> import numpy as np, polars as pl
    >>> ColumnView("sex", pl.Series(["f", "m"]), np.array([3, 2]), 6)
    ColumnView(name='sex', distinct=2, records=6)
    """

    name: str
    values: pl.Series
    counts: np.ndarray
    records: int
    listed: SourceMatch | None = None
    label: str | None = None
    value_labels: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Without the values: a repr ends up in logs."""
        return f"ColumnView(name={self.name!r}, distinct={len(self.values)}, records={self.records})"


@dataclass(frozen=True)
class Finding:
    """One kind of data that a column seems to hold, with the evidence a person can check.

    `share` is the share of the records with a value whose value matches the rule (None: the header alone spoke),
    `header` the header word that spoke for it, `checksum` whether check digits were verified.
    """

    kind: str
    rule: str
    share: float | None
    header: str | None
    checksum: bool
    confidence: float
    reason: str


class ColumnRecogniser(Protocol):
    """One rule book: looks at a prepared column and answers with what it finds."""

    def __call__(self, column: "ColumnEvidence") -> Iterable[Finding]:
        """The findings of this recogniser, none where the column holds nothing of its kind."""
        ...


def above_chance(passed: float, chance: float, tested: int, header: float = 0.0) -> float:
    """How far a share of passes stands above chance, 0 to 1, less two standard errors (fewer where the header agrees).

    >>> above_chance(0.1, 0.1, 1000), round(above_chance(1.0, 0.1, 1000), 2)
    (0.0, 0.98)
    """
    if tested == 0:
        return 0.0
    slack = 2 * (1 - header) * sqrt(chance * (1 - chance) / tested)
    return max(0.0, (passed - chance - slack) / (1 - chance))


def confidence(fit: float, alone: float, header: float) -> float:
    """The formula of this module, see above.

    >>> round(confidence(1.0, 0.05, 0.85), 3), confidence(0.0, 0.98, 0.85)
    (0.857, 0.0)
    """
    return min(1.0, max(0.0, fit * (1 - (1 - alone) * (1 - header))))


def percent(share: float) -> str:
    """A share in words; never "100%" unless it is all.

    >>> percent(0.9999), percent(1.0)
    ('99.9%', '100%')
    """
    return "100%" if share >= 1 else f"{int(share * 1000) / 10:.1f}%"


def finding(
    kind: str, rule: str, clause: str, *, share: float | None, word: str | None, sure: float, checksum: bool = False
) -> Finding:
    """A finding with its sentence: `clause` says what the values do ("have the form of ...")."""
    seen = clause if share is None else f"{percent(share)} of the records with a value {clause}"
    said = f"the header says '{word}'" if word else "the header does not speak of it"
    return Finding(kind, rule, share, word, checksum, round(sure, 4), f"{seen}; {said}.")
