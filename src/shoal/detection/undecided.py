"""Columns that nobody decided on: what each looks like, whether it may leave, and what to warn about."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import polars as pl

from shoal.detection.column_types import kinds_that_join, propose_text_type, propose_type
from shoal.detection.context import (
    LONG_CODES,
    NEARLY_ALL,
    Context,
    context_of_table,
    is_household,
    looks_like_weights,
    propose_role,
)
from shoal.detection.counted_sets import determines
from shoal.detection.numbers import RECORDS_THAT_TELL
from shoal.detection.profiles import yaml_key
from shoal.identifiers import DECIDED, ColumnView, Finding, find_kinds
from shoal.policy import Policy
from shoal.policy.manifest import decided_names
from shoal.ranges.hierarchy.given import columns_with_trees
from shoal.storage import Array, Column, Table
from shoal.storage.column_type import ColumnType
from shoal.storage.declare import ROUNDED
from shoal.storage.rows import record_weights, weight_notes
from shoal.systems.console import shell_line
from shoal.vocabulary import Role
from shoal.wording import counted, in_words

if TYPE_CHECKING:
    from shoal.policy.manifest import ColumnEntry

# What a policy could say of a table and does not: persons, households, weights, types.


# More distinct values than these are looked at by a sample of them; the most frequent ones are always in it.
_LOOKED_AT = 20_000
_HEAVY = 300
# the recognisers of free text and of postal codes, which no other finds
_FILES_THAT_CHANGE_A_TYPE = ("free_text", "postal_code")


def view_of(column: Column, counts: Array, records: int) -> ColumnView:
    """A column for the recognisers: where it has very many values a sample of them, as frequent as they all are."""
    if len(counts) <= _LOOKED_AT:
        return ColumnView(column.name, column.values, counts, records)
    heavy = np.flatnonzero(counts > np.partition(counts, -_HEAVY)[-_HEAVY])
    rest = np.setdiff1d(np.arange(len(counts)), heavy, assume_unique=True)
    drawn = np.random.default_rng(0).choice(rest, _LOOKED_AT - _HEAVY, replace=False)
    share = len(drawn) / len(rest)
    values = pl.concat([column.values.gather(heavy), column.values.gather(drawn)])
    scaled = np.maximum(1, np.rint(counts[heavy] * share)).astype(counts.dtype)
    return ColumnView(column.name, values, np.concatenate([scaled, counts[drawn]]), records)


def repeated_identifiers(table: Table, policy: Policy) -> list[str]:
    """Identifiers that repeat may be persons with several records: then a class of k records is fewer persons."""
    if policy.person is not None or policy.count is not None:
        return []
    names = [name for name in policy.with_role("identifier") if name != policy.household]
    columns = [table[name] for name in names if table.has(name)]
    repeated = [
        column.name
        for column in columns
        if 1 < len(column.values) < NEARLY_ALL * (table.total - column.nulls) and not _is_dated(column, table.total)
    ]
    homes = [name for name in repeated if policy.household is None and is_household(name)]
    people = [name for name in repeated if name not in homes]
    notes = []
    if people:
        which = f"{in_words(people)} {'repeats' if len(people) == 1 else 'repeat'}"
        notes.append(
            f"{which}: if a value stands for a person with several records, name it as `person`; k counts records"
        )
    if homes:
        which = f"{in_words(homes)} {'repeats' if len(homes) == 1 else 'repeat'}"
        notes.append(f"{which}: if a value stands for people who live together, name it as `household`")
    return notes


def _is_dated(column: Column, records: int) -> bool:
    """Whether a column holds dates or moments: they repeat, and are not persons."""
    if column.declared is not None or column.values.dtype != pl.String:
        return column.values.dtype.is_temporal()
    counts = column.frequencies()
    found = propose_type(column, counts, records, [])
    return (found.type is not None and found.type.type == "date") or found.reason.startswith("Dates, but")


def other_weights(table: Table, policy: Policy, leaving: Sequence[str]) -> list[str]:
    """Columns that leave, look like sampling weights, and are not the weight that the policy names."""
    return [
        f"{name} looks like sampling weights: name it as `weight`, or remove it if nobody needs it"
        for name in leaving
        if name != policy.weight and looks_like_weights(table[name]) is not None
    ]


def types_to_declare(table: Table, policy: Policy, with_trees: Collection[str] = ()) -> list[str]:
    """Quasi-identifiers of text that seem to be something else: as texts they are generalised by their letters.

    Those for which the policy gives a hierarchy, or that have one beside it (`with_trees`), are generalised by it.
    """
    notes = []
    known = columns_with_trees(policy.hierarchies, policy.quasi_identifiers).union(with_trees)
    for name in policy.quasi_identifiers:
        column = table.columns.get(name)
        if column is None or column.declared is not None or column.values.dtype != pl.String or not len(column.values):
            continue
        if name not in known and (looks := _looks_like(column, table.total)) is not None:
            notes.append(
                f"{name} {looks}: declare it in `types` (docs/types.md); it was read as texts without an order"
            )
    return notes


def _looks_like(column: Column, records: int) -> str | None:
    """What a column of text seems to be, without a value of it; None where it is a text without an order.

    Of all kinds only free text, postal codes and sexes change that: all recognisers are asked only where one of these
    may be the kind of the column and would make a difference.
    """
    counts = column.frequencies()
    said = {_in_words(propose_text_type(column, counts, kind).type) for kind in (None, *kinds_that_join(column))}
    if said == {None}:
        return None
    view = view_of(column, counts, records)
    if len(said) == 1 and not any(kind.confidence >= DECIDED for kind in find_kinds(view, _FILES_THAT_CHANGE_A_TYPE)):
        return said.pop()
    return _in_words(propose_type(column, counts, records, find_kinds(view)).type)


def _in_words(found: ColumnType | None) -> str | None:
    if found is None:
        return None
    if found.type == "date":
        return f"looks like dates written {' and '.join(found.format or ())}"
    looks = {"number": "looks like numbers with separators", "band": "looks like bands that can be joined"}
    looks["ordered"] = "looks like words that come in an order"
    if found.type in looks:
        return looks[found.type]
    return "has values that are spelled in several ways, which `map` joins" if found.map else None


# so many cells that are unlike all others are a kind of their own
_OF_A_KIND = 2
LEAVES = "leaves as it is"
UNKNOWN = "No rule knows what its values are: you know that they identify nobody."
# A hint of identifiers counts where a column has many different values: this confidence, this share of the records.
HINTED = 0.3
MANY = 0.1


@dataclass(frozen=True)
class UndecidedColumn:
    """A column without a role: what detection takes it for, and why; `stops` the release if that points at people.

    `records`: how many hold it. `doubt`: what a person must know of a column that leaves, where no rule knows what
    its values are.
    """

    column: str
    looks_like: Role
    kind: str | None
    confidence: float
    reason: str
    stops: bool
    records: int = 0
    doubt: str | None = None

    @classmethod
    def of(cls, column: Column, role: Role, confidence: float, reasons: Sequence[str]) -> UndecidedColumn:
        """What a column seems to be, before its values were looked at alone."""
        known = int(column.frequencies().sum())
        return cls(column.name, role, None, round(confidence, 3), reasons[0], False, known)

    def in_words(self) -> str:
        """One line of the list: the column, what it looks like, why."""
        kind = f" ({self.kind})" if self.kind else ""
        what = f"{_ARTICLE[self.looks_like]} {self.looks_like}{kind} in {counted(self.records, 'record')}"
        return f"{self.column} looks like {what}: {self.reason}"


@dataclass(frozen=True)
class Decisions:
    """What was not decided about the columns of a table, and what to warn about those of the role `other`."""

    undecided_columns: list[UndecidedColumn] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def stopping(self) -> list[UndecidedColumn]:
        """The columns that must be decided before anything is released."""
        return [entry for entry in self.undecided_columns if entry.stops]

    def proposed(self) -> str:
        """The roles that detection proposes, as `decide` takes them on the command line."""
        return ",".join(_pair(entry.column, entry.looks_like) for entry in self.stopping)

    def policy_line(self) -> str:
        """The same as a line of a policy."""
        pairs = [f"{yaml_key(entry.column)}: {entry.looks_like}" for entry in self.stopping]
        return f"columns: {{{', '.join(pairs)}}}"

    def until_decided(self) -> str:
        """One sentence for a summary."""
        names = [entry.column for entry in self.stopping]
        return f"It cannot be released until {in_words(names)} {'are' if len(names) > 1 else 'is'} decided."

    def refusal(self) -> str:
        """The list of what must be decided, and the cure."""
        several = len(self.stopping) > 1
        lines = "".join(f"\n  {entry.in_words()}" for entry in self.stopping)
        return (
            f"Nobody decided on {in_words([entry.column for entry in self.stopping])}, and "
            f"{'they look' if several else 'it looks'} like something that points at people:{lines}\n"
            f"Decide each as identifier (removed), quasi-identifier, sensitive or other: "
            f"--decide {shell_line(self.proposed())} on the command line, decide={{...}} in Python, or in a policy\n"
            f"  {self.policy_line()}"
        )


_ARTICLE = {"identifier": "an", "quasi-identifier": "a", "sensitive": "a", "other": "an"}


def _pair(name: str, role: str) -> str:
    """A pair for the command line; a name with a comma or a quote stands in quotes."""
    pair = f"{name}={role}"
    return '"' + pair.replace('"', '""') + '"' if any(sign in name for sign in ',"') else pair


def decisions_about(
    table: Table, undecided: Collection[str], others: Collection[str], quasi_identifiers: Sequence[str]
) -> Decisions:
    """Look at the columns that nobody decided on, and warn about those that leave as they are.

    >>> from shoal.storage.reading import read
    >>> found = decisions_about(read({"mail": ["a@b.org", "c@d.org"], "ward": ["x", "y"]}), ["mail", "ward"], [], [])
    >>> [(entry.column, entry.looks_like, entry.stops) for entry in found.undecided_columns]
    [('mail', 'identifier', True), ('ward', 'other', False)]
    """
    there = [name for name in undecided if table.has(name)]
    context = context_of_table(table) if there else None
    looked = [look_at(table[name], table.total, context) for name in there]
    stopped = {entry.column for entry in looked if entry.stops}
    leaving = [table[name] for name in [*others, *undecided] if table.has(name) and name not in stopped]
    known = [table[name] for name in quasi_identifiers if name in table.columns]
    # of a column that stayed where the rows are, nobody knows here what it tells about others
    apart = [column for column in leaving if column.name in table.beside]
    leaving = [column for column in leaving if column.name not in table.beside]
    notes = [*_warnings(leaving, known, table.total), *_warnings(apart, [], table.total)]
    return Decisions(looked, notes)


def undecided_in(table: Table, policy: Policy, known: Collection[str] = ()) -> list[UndecidedColumn]:
    """The columns of a table on which a policy is silent, each looked at; those in `known` were decided elsewhere.

    >>> from shoal.policy import Policy
    >>> from shoal.storage.reading import read
    >>> table = read({"dosage": ["a@b.org", "c@d.org"], "ward": ["x", "y"]})
    >>> [(entry.column, entry.stops) for entry in undecided_in(table, Policy(columns={"ward": "other"}))]
    [('dosage', True)]
    """
    decided = decided_names(policy) | set(known)
    names = [name for name in [*table.names, *table.beside] if name not in decided]
    context = context_of_table(table) if names else None
    return [look_at(table[name], table.total, context) for name in names]


def identifiers_beside(table: Table, changed: Collection[str]) -> list[str]:
    """Columns that leave as they are, and by header or values say who people are, whatever was changed in others."""
    found = undecided_in(table, Policy(), changed)
    return [entry.column for entry in found if entry.stops and entry.looks_like == "identifier"]


class Decidable(Protocol):
    """A changed table: the original, its policy, and what is said of each column."""

    @property
    def table(self) -> Table: ...
    @property
    def policy(self) -> Policy: ...
    def manifest_columns(self) -> list[ColumnEntry]: ...


def decisions_of(result: Decidable, with_trees: Collection[str] = ()) -> Decisions:
    """What was not decided about the columns of a changed table; for some of them hierarchies were given."""
    entries = [entry for entry in result.manifest_columns() if entry.form.kind == "as-it-was"]
    undecided = [entry.name for entry in entries if entry.decided_by == "detection"]
    others = [entry.name for entry in entries if entry.role == "other" and entry.decided_by != "detection"]
    found = decisions_about(result.table, undecided, others, result.policy.quasi_identifiers)
    sensitive = [result.table[entry.name] for entry in entries if entry.role == "sensitive"]
    notes = [
        *(note for note in result.table.notes if ROUNDED in note),
        *_told_of_people(result, [entry.name for entry in entries]),
        *found.notes,
        *_warnings(sensitive, [], result.table.total),
        *repeated_identifiers(result.table, result.policy),
        *_of_survey(result.table, result.policy),
        *other_weights(result.table, result.policy, [entry.name for entry in entries]),
        *types_to_declare(result.table, result.policy, with_trees),
    ]
    return replace(found, notes=notes)


def _told_of_people(result: Decidable, leaving: Sequence[str]) -> list[str]:
    """Columns that leave as they are and hold values of the policy's identifiers."""
    table = result.table
    identifiers = [table[name] for name in result.policy.with_role("identifier") if name in table.columns]
    if not identifiers:
        return []
    told = [values_inside(table[name], identifiers) for name in leaving if name in table.columns]
    return [note for note in told if note is not None]


def _of_survey(table: Table, policy: Policy) -> list[str]:
    """What a weight and a household number that leave tell about people."""
    notes = []
    household = None if policy.household is None else table.columns.get(policy.household)
    if household is not None and policy.columns.get(household.name) != "identifier":
        notes.append(f"{household.name} leaves as it is and says who lives together: pseudonymise it before")
    if policy.weight is None or policy.weight not in table.columns:
        return notes
    column = table[policy.weight]
    notes += weight_notes(column.name, record_weights(column), household)
    if policy.columns.get(column.name) != "identifier":
        alone = int(np.count_nonzero(column.frequencies() == 1))
        if alone:
            who = f"{alone:,} record{'s' if alone > 1 else ''}"
            notes.append(f"{column.name} {LEAVES}, and singles out {who} by a weight that nobody else has: round it")
    return notes


def decision_notes(decisions: Decisions) -> list[str]:
    """What a result tells about columns that nobody decided on, and about those that leave as they are."""
    notes = [entry.in_words() for entry in decisions.stopping]
    leaving = [entry for entry in decisions.undecided_columns if not entry.stops]
    if harmless := [entry.column for entry in leaving if entry.doubt is None]:
        notes.append(f"nobody decided on {in_words(harmless)}: nothing there points at people by detection alone")
    for doubt in dict.fromkeys(entry.doubt for entry in leaving if entry.doubt is not None):
        names = [entry.column for entry in leaving if entry.doubt == doubt]
        notes.append(f"nobody decided on {in_words(names)}: {doubt[:1].lower()}{doubt[1:].removesuffix('.')}")
    return notes + decisions.notes


def look_at(column: Column, records: int, context: Context | None = None) -> UndecidedColumn:
    """What a column that nobody decided on is taken for, by its header and its values, and then by its values alone.

    What is known by both, with confidence, as an identifier or a quasi-identifier stops a release. A header never
    makes a column safe: the check by values that safe harbor makes stops it too, under whatever header, and so do a
    few cells among others that hold an identifier: one of a form that nothing else has, one whose check digit is
    right, or two that are unlike all others.
    """
    counts = column.frequencies()
    view = view_of(column, counts, records)
    if context is not None:
        view = context.around(view)
    kinds = find_kinds(view) if len(view.counts) else []
    role, confidence, reasons = propose_role(column, counts, records, kinds)
    kind = kinds[0].kind if kinds and kinds[0].confidence >= DECIDED else None
    sure = confidence >= DECIDED or reasons[0] == LONG_CODES
    if not sure and role == "identifier" and confidence >= HINTED and len(column.values) >= MANY * records:
        sure, kind = True, kinds[0].kind if kinds else None
    if sure and role in ("identifier", "quasi-identifier"):
        return replace(UndecidedColumn.of(column, role, confidence, reasons), kind=kind, stops=True)
    found = UndecidedColumn.of(column, role if sure else "other", confidence, reasons)
    found = replace(found, kind=kind)
    return look_at_values(column, view, kinds, role, found)


def look_at_values(
    column: Column, view: ColumnView, kinds: list[Finding], role: Role, found: UndecidedColumn
) -> UndecidedColumn:
    """A column that seems harmless by its header, by its values: whether it stops a release after all, and why."""
    if not len(view.counts):
        return found
    from shoal.detection.treatments import by_values

    looked = column
    if len(view.counts) < len(column.values):
        looked = Column(column.name, np.zeros(0, np.uint8), view.values, column.nulls, column.dtype)
    few = len(column.values) < MANY * found.records
    counting = [kind for kind in kinds if kind.confidence >= DECIDED] if few else kinds
    treated = by_values(looked, view.counts, counting, role)
    # that all values of a few records differ says nothing
    if treated.action != "kept" and (treated.recognised or found.records >= RECORDS_THAT_TELL):
        return replace(found, looks_like=treated.role, kind=treated.kind, reason=treated.reason, stops=True)
    cells = stray_identifiers(view)
    if cells is not None:
        told = replace(found, kind=cells.kind, reason=cells.reason, records=cells.records)
        return replace(told, looks_like="identifier", stops=True) if cells.proven else replace(told, doubt=cells.reason)
    return replace(found, doubt=treated.doubt or (None if treated.recognised else UNKNOWN))


@dataclass(frozen=True)
class StrayIdentifiers:
    """Identifiers in few cells of a column: their kind where it is known, a sentence without a value, and whether they
    are surely that."""

    kind: str | None
    reason: str
    proven: bool
    records: int


def stray_identifiers(view: ColumnView) -> StrayIdentifiers | None:
    """Identifiers inside the texts of a column, or in few cells that are unlike the others; None where there are none.

    >>> stray_identifiers(ColumnView("remark", pl.Series(["stable", "call 617-555-0172"]), np.array([8, 1]), 9)).reason
    '1 of 9 records holds a phone.'
    """
    from shoal.detection.outliers import inside_cells, outliers

    kinds = inside_cells(view.values, view.counts)
    if kinds:
        words = in_words([f"a {kind.replace('-', ' ')}" for kind in kinds])
        return _in_cells(view, list(kinds.values()), words, next(iter(kinds)) if len(kinds) == 1 else None, True)
    odd = outliers(view.values, view.counts)
    if not odd:
        return None
    hits = np.logical_or.reduce(list(odd.values()))
    rare = ColumnView("", view.values.filter(pl.Series(hits)), view.counts[hits], int(view.counts[hits].sum()))
    checked = [entry.kind for entry in find_kinds(rare) if entry.checksum and entry.confidence >= DECIDED]
    if checked:
        return _in_cells(view, [hits], f"a {checked[0].replace('-', ' ')} by its check digits", checked[0], True)
    several = any(int(view.counts[those].sum()) >= _OF_A_KIND for those in odd.values())
    names = "A" in odd
    words = "what is written as a name" if names else "a number or code unlike the others"
    return _in_cells(view, list(odd.values()), words, "name" if names else None, several)


def _in_cells(view: ColumnView, hits: Sequence[Array], words: str, kind: str | None, proven: bool) -> StrayIdentifiers:
    """How many records hold something, in a sentence."""
    records = int(view.counts[np.logical_or.reduce(hits)].sum())
    said = f"{records:,} of {view.records:,} records {'holds' if records == 1 else 'hold'} {words}."
    return StrayIdentifiers(kind, said, proven, records)


def _warnings(leaving: Sequence[Column], quasi_identifiers: Sequence[Column], records: int) -> list[str]:
    """Columns that leave as they are and nearly tell records apart, or tell what a quasi-identifier was."""
    notes = []
    for column in leaving:
        known, distinct = records - column.nulls, len(column.values)
        if known < RECORDS_THAT_TELL:
            continue
        if distinct >= NEARLY_ALL * known:
            notes.append(f"{column.name} {LEAVES}, and nearly every record has a value of its own there")
            continue
        told = [other.name for other in quasi_identifiers if len(other.values) > 1 and determines(column, other)]
        if told:
            notes.append(f"{column.name} {LEAVES}, and whoever knows it knows {in_words(told)}")
    return notes


# Columns of text that leave as they are and hold values of identifiers of the same record.

# so many records are looked at, evenly spread: a warning needs no more
_RECORDS_LOOKED_AT = 20_000
# words and codes of so many letters or digits; shorter ones stand in a text by chance
_WORD = r"[\p{L}\p{N}]{4,}"


def values_inside(column: Column, identifiers: Sequence[Column]) -> str | None:
    """A warning where texts of a column hold words of the identifiers of the same record; None where none does.

    >>> from shoal.storage.reading import read
    >>> table = read({"name": ["Ann Okonkwo", "Bo Li"], "note": ["okonkwo has fever", "better"]})
    >>> values_inside(table["note"], [table["name"]])
    'note leaves as it is, and holds values of name in 1 of 2 records looked at: with the role text it is scrubbed'
    """
    if column.values.dtype != pl.String or not column.values.str.contains(r"\S\s+\S").any():
        return None
    rows = len(column.codes)
    some = np.unique(np.linspace(0, rows - 1, min(rows, _RECORDS_LOOKED_AT)).astype(np.int64)) if rows else np.arange(0)
    texts = _words(column, some)
    hits = {entry.name: _shared(texts, _words(entry, some)) for entry in identifiers if entry.name != column.name}
    found = [name for name, hit in hits.items() if hit.any()]
    if not found:
        return None
    count = int(np.logical_or.reduce([hits[name] for name in found]).sum())
    return (
        f"{column.name} leaves as it is, and holds values of {in_words(found)} in {count:,} of "
        f"{counted(len(some), 'record')} looked at: with the role text it is scrubbed"
    )


def _words(column: Column, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """The words of each row's value, in lower case."""
    codes, inverse = np.unique(column.codes[rows].astype(np.int64), return_inverse=True)
    there = codes[(codes >= 0) & (codes < len(column.values))]
    values = column.values.gather(there).cast(pl.String, strict=False)
    words = values.fill_null("").str.to_lowercase().str.extract_all(_WORD)
    places = np.searchsorted(there, codes)
    known = np.isin(codes, there)
    every = words.extend(pl.Series([[]], dtype=pl.List(pl.String)))
    return every.gather(np.where(known, places, len(there))[inverse.ravel()])


def _shared(first: pl.Series, second: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Row by row, whether two lists of words have one in common."""
    shared = pl.DataFrame({"first": first, "second": second}).select(
        pl.col("first").list.set_intersection("second").list.len() > 0
    )
    return shared.to_series().to_numpy()
