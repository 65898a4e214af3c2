"""What a desk returns: its opening, an answer, the estimate before one, a refusal, the state of its budget."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from shoal.dp.ledger import Asked
from shoal.results import Bar, Commands, Figure, Figures, Grid, Headline, Notes, Result, Section, left_out
from shoal.systems.console import shell_line
from shoal.wording import counted, in_words


def number(value: float | int) -> str:
    """A number as people write it.

    >>> number(13), number(1234.5678), number(0.012345), number(4e12)
    ('13', '1,234.57', '0.01235', '4,000,000,000,000')
    """
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}" if abs(value) >= 100 else f"{value:.4g}"


@dataclass(frozen=True, repr=False)
class Opened(Result):
    """What the owner of the table learns when a desk opens; the counts are exact and for the owner only."""

    name: ClassVar[str] = "desk-open"

    folder: str
    records: int
    kept_rows: int
    persons: int | None
    epsilon: float
    delta: float
    types: dict[str, str]
    unfit_values: dict[str, int]
    ledger_key: str
    ledger_key_is_new: bool
    witness: str | None
    removed_drafts: int

    def summary(self) -> str:
        """One sentence of plain words."""
        delta = f" and delta {self.delta:g}" if self.delta else ""
        return f"Desk {self.folder} is open, with epsilon {self.epsilon:g}{delta}."

    def sections(self) -> list[Section]:
        """Where the desk is, what was left out, what to keep where."""
        kept = f"{self.kept_rows:,} of {counted(self.records, 'row')}"
        people = "" if self.persons is None else f" of {counted(self.persons, 'person')}"
        notes = [
            f"it keeps {kept}{people}: exact numbers, for the owner of the table only",
            *(
                f"{name}: {counted(values, 'value')} did not fit the type {self.types[name]}, taken as missing"
                for name, values in self.unfit_values.items()
            ),
            "the folder holds a copy of the table: whoever can read it needs no desk",
            f"the ledger key is {self.ledger_key}: every question needs it; keep it where those who can write to the "
            "folder cannot read it",
        ]
        if self.witness is None:
            notes.append("there is no witness: an old copy of the folder that is put back will not be noticed")
        else:
            notes.append(f"the witness is {self.witness}: an old copy of the folder that is put back will be refused")
        if self.removed_drafts:
            notes.append(f"{counted(self.removed_drafts, 'draft')} of interrupted openings, with table data, removed")
        types = Grid(("column", "type"), [(name, word) for name, word in self.types.items()], 2)
        return [Headline(self.summary(), "good"), types, Notes(notes), Commands(self._commands())]

    def _commands(self) -> list[str]:
        key = "" if self.ledger_key == str(Path(self.folder).absolute()) + ".ledger-key" else self.ledger_key
        options = {"--ledger-key": key, "--witness": self.witness}
        more = "".join(f" {name} {shell_line(str(path))}" for name, path in options.items() if path)
        folder = shell_line(str(self.folder))
        return [f"shoal desk query {folder} count --epsilon 0.1{more}", f"shoal desk show {folder}{more}"]


@dataclass(frozen=True, repr=False)
class Answer(Result):
    """An answer, its price, its error and what it means."""

    name: ClassVar[str] = "desk-query"

    query: dict[str, Any]
    answer: Any
    epsilon: float
    delta: float
    error_95: float | None
    error_unit: str
    spent: dict[str, float]
    remaining: dict[str, float]
    repeated: bool
    protects: str
    words: list[str]
    warnings: list[str]
    scale: float
    entry: int

    def summary(self) -> str:
        """The answer with its error."""
        if isinstance(self.answer, list):
            return f"The {asked_in_words(self.query)}, by group: {counted(len(self.answer), 'number')}."
        return f"The {asked_in_words(self.query)}: {_with_error(self.answer, _shown_error(self))}."

    def sections(self) -> list[Section]:
        """The answer with its error, a table for groups, the words, what is left."""
        first: Section = _groups(self) if isinstance(self.answer, list) else Headline(self.summary(), "good")
        warnings = [Headline(warning, "warning") for warning in self.warnings]
        price = "asked before: the same answer again, free" if self.repeated else f"cost {_cost(self.query)}"
        return [first, *warnings, Notes([*self.words, f"{price}; left: {_amounts(self.remaining)}"])]


@dataclass(frozen=True, repr=False)
class QueryEstimate(Result):
    """What a query would cost and how far its answer may be off; nothing was spent and no data was read."""

    name: ClassVar[str] = "desk-preview"

    query: dict[str, Any]
    epsilon: float
    delta: float
    error_95: float | None
    error_95_by_rows: dict[str, float]
    error_unit: str
    remaining: dict[str, float]
    affordable: bool
    repeated: bool
    protects: str
    words: list[str]
    scale: float
    answer: None = None
    preview: bool = True

    def summary(self) -> str:
        """One sentence of plain words."""
        return f"Preview of a {asked_in_words(self.query)}: nothing was spent."

    def sections(self) -> list[Section]:
        """The words about the error, then the price."""
        fits = "" if self.affordable else ", which is not enough"
        free = "it was asked before and would be free"
        price = free if self.repeated else f"it would cost {_cost(self.query)}"
        return [Headline(self.summary()), Notes([*self.words, f"{price}; left: {_amounts(self.remaining)}{fits}"])]


@dataclass(frozen=True, repr=False)
class Refusal(Result):
    """A query that the budget cannot pay for; nothing was spent."""

    name: ClassVar[str] = "desk-refusal"

    reason: str
    requested: dict[str, float]
    remaining: dict[str, float]
    difference: dict[str, float]
    answer: None = None
    refused: bool = True

    def summary(self) -> str:
        """What was requested, what remains and how much is short."""
        return self.reason

    def sections(self) -> list[Section]:
        """The same."""
        return [Headline(self.reason, "bad")]


@dataclass(frozen=True, repr=False)
class Budget(Result):
    """The state of a desk: its terms, what was spent and what is left. The whole ledger was verified."""

    name: ClassVar[str] = "desk-show"

    epsilon: float
    delta: float
    rho: float | None
    spent: dict[str, float]
    remaining: dict[str, float]
    queries: int
    accounting: str
    person: str | None
    max_rows_per_person: int
    columns: dict[str, str]
    source: str
    opened: str
    head: str
    witness: bool
    history: list[Asked] = field(default_factory=list)
    protected: str = left_out(default="")

    def summary(self) -> str:
        """How many answers were given, what was spent and what is left."""
        unit = self.unit
        spent, left = self.spent[unit], self.remaining[unit]
        return f"{counted(self.queries, 'answer')} given; {unit} {spent:.6g} spent, {left:.6g} left."

    @property
    def unit(self) -> str:
        """What answers cost: an epsilon, or a rho under zCDP."""
        return "rho" if self.accounting == "zcdp" else "epsilon"

    @property
    def share_spent(self) -> float:
        """The part of the budget that is spent."""
        total = self.spent[self.unit] + self.remaining[self.unit]
        return self.spent[self.unit] / total if total else 1.0

    def sections(self) -> list[Section]:
        """A bar of what is spent, the latest queries, the terms."""
        unit = self.unit
        whole = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        rows = [
            (name, f"{whole[name]:.6g}", f"{self.spent[name]:.6g}", f"{left:.6g}",
             Bar(self.share_spent) if name == unit else "")
            for name, left in self.remaining.items()
        ]  # fmt: skip
        shown: list[Section] = [Headline(self.summary()), Grid(("", "whole", "spent", "left", ""), rows)]
        if self.history:
            latest = [(question_in_words(entry.query), entry.loss) for entry in self.history[-10:]]
            shown.append(Grid(("latest queries", unit), latest))
        columns = in_words([f"{name} ({word})" for name, word in self.columns.items()])
        notes = [self.protected, f"columns: {columns}"]
        if self.accounting == "zcdp":
            notes.append(
                "epsilon left: of the largest single query that fits; epsilon spent: what all answers come to (zCDP)"
            )
        kept = "its head agrees with the witness" if self.witness else "no witness was asked"
        notes.append(f"the ledger is whole; its head begins with {self.head[:16]}; {kept}")
        return [*shown, Figures([Figure("opened", self.opened), Figure("source", self.source)]), Notes(notes)]


def asked_in_words(query: dict[str, Any]) -> str:
    """What was asked, in short.

    >>> asked_in_words({"kind": "mean", "column": "age"})
    'mean of age'
    """
    return str(query["kind"]) + (f" of {query['column']}" if "column" in query else "")


def question_in_words(query: dict[str, Any]) -> str:
    """The whole question: its groups and its condition too.

    >>> question_in_words({"kind": "mean", "column": "age", "by": ["sex"], "where": "age >= 18"})
    'mean age by sex where age >= 18'
    """
    words = [query["kind"], query.get("column", "")]
    words += [f"by {', '.join(query['by'])}"] if "by" in query and query["kind"] != "histogram" else []
    words += [f"where {query['where']}"] if "where" in query else []
    return " ".join(word for word in words if word)


def _shown_error(answer: Answer) -> float | None:
    ranks = answer.error_unit == "rows" and answer.query["kind"] in ("median", "quantile")
    return None if ranks else answer.error_95


def _with_error(value: Any, off: float | None) -> str:
    if value is None:
        return "no answer"
    return number(value) + (f" ± {number(off)}" if off is not None else "")


def _groups(answer: Answer) -> Grid:
    most = max((abs(entry["answer"]) for entry in answer.answer), default=0) or 1
    off = _shown_error(answer)
    rows = []
    for entry in answer.answer:
        error = entry.get("error_95", off)
        size = Bar(abs(entry["answer"]) / most)
        rows.append((_key(entry["key"]), number(entry["answer"]), "" if error is None else number(error), size))
    heads = (", ".join(answer.query.get("by", [])), asked_in_words(answer.query), "" if off is None else "±", "")
    return Grid(heads, rows)


def _key(key: Any) -> str:
    return ", ".join(map(str, key)) if isinstance(key, list) else str(key)


def _cost(query: dict[str, Any]) -> str:
    return f"epsilon {query['epsilon']}" + (f" and delta {query['delta']}" if query["delta"] != "0" else "")


def _amounts(amounts: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in amounts.items())
