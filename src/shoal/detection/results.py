"""What `shoal.detect` found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shoal.results import Bar, Chart, Files, Grid, Headline, Notes, Result, Section, where_known
from shoal.results.sections import ResultPicture
from shoal.vocabulary import NullRule
from shoal.wording import counted, in_words, percent


@dataclass(frozen=True)
class FoundSet:
    """A set of columns: uniques, classes, their share of the records, and the share of pairs of records told apart."""

    columns: list[str]
    uniques: int
    uniqueness: float
    classes: int
    distinct_ratio: float
    separation: float


@dataclass(frozen=True)
class Bound:
    """No set without an identifier has more uniques than this; `confidence` is 1 unless a sample was searched."""

    uniques: int
    uniqueness: float
    confidence: float


@dataclass(frozen=True, repr=False)
class Detection(Result):
    """Which columns identify people: identifiers, best quasi-identifier, frontier by size, each column's part.

    `exact` says that `best` is proven; `proven_size` up to which size `by_size` and `identifiers` are.
    """

    name: ClassVar[str] = "detect"

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
    constant_columns: list[str]
    sample: int | None
    notes: list[str]
    chart: str | None = where_known()

    def summary(self) -> str:
        """One sentence of plain words."""
        if self.best is None:
            return "Every column tells all records apart: each is an identifier, and no other set is left."
        things = f"these {len(self.best.columns)} things" if len(self.best.columns) > 1 else "one thing"
        known = f"{things}, {in_words(self.best.columns)}," if len(self.best.columns) > 1 else self.best.columns[0]
        share, records = percent(self.best.uniqueness), counted(self.records, "record")
        words = f"Whoever knows {known} singles out {share} of the {records}"
        if self.max_size < len(self.columns) and not self.exact:
            together = percent(self.all_columns.uniqueness)
            return f"{words}, the most of sets of up to {self.max_size} columns; all columns together: {together}."
        return words + "."

    def sections(self) -> list[Section]:
        """The sentence, the frontier, the columns' parts, and what was proven."""
        exposed = self.best is not None and self.best.uniques > 0
        shown: list[Section] = [Headline(self.summary(), "bad" if exposed else "good")]
        if self.best is not None:
            shown += [self._frontier(self.best), Chart(ResultPicture("detection", [self]), self.summary())]
        if self.contributions:
            parts = sorted(self.contributions.items(), key=lambda item: -item[1])[:_MOST_PARTS]
            rows = [(name, percent(part), Bar(part)) for name, part in parts]
            shown.append(Grid(("column", "part in the uniques", ""), rows))
        shown.append(Notes(_notes(self)))
        return shown if self.chart is None else [*shown, Files({"chart": self.chart})]

    def _frontier(self, best: FoundSet) -> Grid:
        """The best set of each size up to the best of all; past it nothing is gained."""
        rows = [
            (in_words(entry.columns, 12), str(len(entry.columns)), percent(entry.uniqueness), Bar(entry.uniqueness))
            for entry in self.by_size
            if len(entry.columns) <= len(best.columns)
        ]
        return Grid(("the set that exposes most", "columns", "records singled out", ""), rows)


_MOST_PARTS = 20
_MOST_SETS = 8


def _notes(result: Detection) -> list[str]:
    notes = []
    if result.identifiers:
        notes.append(f"identifiers, all records differ: {_sets(result.identifiers)}")
    if result.near_identifiers:
        notes.append(f"near-identifiers, 99% differ: {_sets(result.near_identifiers)}")
    notes += [f"{name} has one value only" for name in result.constant_columns]
    for name, others in result.determined_by.items():
        if name not in result.constant_columns:
            notes.append(f"{name} follows from {' or from '.join(others[:4])}: protect both or neither")
    if not result.contributions_exact and result.sample is None:
        error = percent(result.contributions_error)
        notes.append(f"parts are estimated from drawn orders, standard error up to {error}")
    notes.append(_proof(result))
    if result.removed_rows:
        notes.append(f"{counted(result.removed_rows, 'record')} with a missing value set aside")
    return notes + result.notes


def _sets(sets: list[list[str]]) -> str:
    shown = "; ".join(" + ".join(columns) for columns in sets[:_MOST_SETS])
    return shown + (f" and {len(sets) - _MOST_SETS:,} more" if len(sets) > _MOST_SETS else "")


def _proof(result: Detection) -> str:
    examined = f"{counted(result.sets_examined, 'set')} examined"
    if result.exact and result.best is not None:
        return f"proven best; {examined}"
    limit = f"no set singles out more than {counted(result.bound.uniques, 'record')}"
    if result.sample is not None:
        confidence = "" if result.bound.confidence == 1 else " (95% confidence)"
        return f"searched on {result.sample:,} drawn records; {limit}{confidence}; {examined}"
    return f"bounded search: proven up to sets of {result.proven_size}; {limit}; {examined}"
