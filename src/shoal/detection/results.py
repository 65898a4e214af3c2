"""What `shoal.detect` found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from shoal.vocabulary import NullRule
from shoal.wording import counted, in_words, percent


@dataclass(frozen=True, slots=True)
class FoundSet:
    """A set of columns: uniques, classes, their share of the records, and the share of pairs of records told apart."""

    columns: list[str]
    uniques: int
    uniqueness: float
    classes: int
    distinct_ratio: float
    separation: float


@dataclass(frozen=True, slots=True)
class Bound:
    """No set without an identifier has more uniques than this; `confidence` is 1 unless a sample was searched."""

    uniques: int
    uniqueness: float
    confidence: float


@dataclass(frozen=True)
class Detection:
    """Which columns identify people: identifiers, best quasi-identifier, frontier by size, each column's part.

    `exact` says that `best` is proven; `proven_size` up to which size `by_size` and `identifiers` are.
    """

    records: int
    removed_rows: int
    null_rule: NullRule
    columns: list[str]
    identifiers: list[list[str]]
    near_identifiers: list[list[str]]
    best: FoundSet | None
    by_size: list[FoundSet]
    all_columns: FoundSet
    exact: bool
    proven_size: int
    max_size: int
    bound: Bound
    sets_examined: int
    contributions: dict[str, float]
    contributions_exact: bool
    contributions_error: float
    determined_by: dict[str, list[str]]
    sample: int | None
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)

    def summary(self) -> str:
        """One sentence of plain words."""
        if self.best is None:
            return "Every column tells all records apart: each is an identifier, and no other set is left."
        things = f"these {len(self.best.columns)} things" if len(self.best.columns) > 1 else "one thing"
        known = f"{things}, {in_words(self.best.columns)}," if len(self.best.columns) > 1 else self.best.columns[0]
        share, records = percent(self.best.uniqueness), counted(self.records, "record")
        found = f"Whoever knows {known} singles out {share} of the {records}"
        if self.max_size < len(self.columns) and not self.exact:
            together = percent(self.all_columns.uniqueness)
            return f"{found}, the most of sets of up to {self.max_size} columns; all columns together: {together}."
        return found + "."
