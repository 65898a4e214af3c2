"""Columns of notes with their identifiers replaced: each pair of a note and what is known of its person once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError
from shoal.methods.scrubbing.knowledge import PersonKnowledge
from shoal.storage import Array, Column, Table
from shoal.text.base import TEXT_KINDS, Span
from shoal.text.find import settled_spans
from shoal.text.known import REASON, KnownSets
from shoal.text.model import TextModel
from shoal.text.shapes import recurring_shapes
from shoal.text.tags import Replacement, by_mask, by_tag, replaced
from shoal.vocabulary import Replacing

if TYPE_CHECKING:
    from shoal.methods.scrubbing.surrogates import Surrogates

# The spans of many notes as arrays: as objects they would take more memory than the notes.


_KINDS = {kind: number for number, kind in enumerate(TEXT_KINDS)}


class FoundSpans:
    """The spans of notes, which are numbered in the order in which they are added; its repr shows how many.

    >>> found = FoundSpans()
    >>> found.add([[Span(0, 4, "name", 0.9, "title")], []])
    >>> found[0], found[1], found.counts(np.array([3, 1]))
    ([Span(start=0, end=4, kind='name', score=0.9, reason='title')], [], Counter({'name': 3}))
    """

    def __init__(self) -> None:
        self._reasons: dict[str, int] = {}
        self._parts: list[tuple[Array, ...]] = []
        self._joined: tuple[Array, ...] | None = None

    def __repr__(self) -> str:
        return f"FoundSpans({len(self):,} notes)"

    def __len__(self) -> int:
        return sum(len(part[0]) for part in self._parts)

    def add(self, found: Sequence[Sequence[Span]]) -> None:
        """Add the spans of some notes."""
        spans = [span for some in found for span in some]
        number = len(spans)
        self._parts.append(
            (
                np.fromiter(map(len, found), np.int32, len(found)),
                np.fromiter((span.start for span in spans), np.int64, number),
                np.fromiter((span.end for span in spans), np.int64, number),
                np.fromiter((_KINDS[span.kind] for span in spans), np.uint8, number),
                np.fromiter((span.score for span in spans), np.float64, number),
                np.fromiter(
                    (self._reasons.setdefault(span.reason, len(self._reasons)) for span in spans), np.int32, number
                ),
            )
        )
        self._joined = None

    def _arrays(self) -> tuple[Array, ...]:
        """Where the spans of each note begin, with the number of all spans at the end; then what spans are."""
        if self._joined is None:
            lengths, *fields = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
            self._joined = (np.append(0, np.cumsum(lengths, dtype=np.int64)), *fields)
            self._parts = [(lengths, *fields)]
        return self._joined

    def __getitem__(self, number: int) -> list[Span]:
        """The spans of a note."""
        if not self._parts:
            raise IndexError(number)
        firsts, *fields = self._arrays()
        low, high = firsts[number], firsts[number + 1]
        reasons = list(self._reasons)
        return [
            Span(start, end, TEXT_KINDS[kind], score, reasons[reason])
            for start, end, kind, score, reason in zip(*(array[low:high].tolist() for array in fields), strict=True)
        ]

    def has_spans(self) -> Array:
        """Which notes have a span."""
        found: Array = np.diff(self._arrays()[0]) > 0 if self._parts else np.zeros(0, bool)
        return found

    def _notes(self) -> Array:
        """The number of the note of each span."""
        firsts = self._arrays()[0]
        return np.repeat(np.arange(len(firsts) - 1), np.diff(firsts))

    def counts(self, weights: Array) -> Counter[str]:
        """How many spans of each kind there are, where each note counts as often as its weight says."""
        if not self._parts:
            return Counter()
        return _counted(self._arrays()[3], weights[self._notes()])

    def records(self, weights: Array) -> Counter[str]:
        """How many notes have a span of each kind, by the weights of the notes."""
        if not self._parts:
            return Counter()
        pairs = np.unique(self._notes() * len(TEXT_KINDS) + self._arrays()[3])
        return _counted(pairs % len(TEXT_KINDS), weights[pairs // len(TEXT_KINDS)])

    def known(self, weights: Array) -> int:
        """How many spans are values that the table has of the person."""
        if not self._parts or REASON not in self._reasons:
            return 0
        return int(weights[self._notes()[self._arrays()[5] == self._reasons[REASON]]].sum())

    def why_withheld(self) -> list[str]:
        """Why notes are withheld, each reason once."""
        if not self._parts:
            return []
        kinds, _, reasons = self._arrays()[3:]
        told = set(reasons[kinds == _KINDS["withheld"]].tolist())
        return [reason for reason, number in self._reasons.items() if number in told]

    def places(self) -> pl.DataFrame:
        """Note, start, end, kind and score of every span."""
        notes = self._notes() if self._parts else np.zeros(0, np.int64)
        _, starts, ends, kinds, scores, _ = self._arrays() if self._parts else [np.zeros(0)] * 6
        names = pl.Series(TEXT_KINDS, dtype=pl.String).gather(kinds.astype(np.int64))
        schema = {"note": pl.Int64, "start": pl.Int64, "end": pl.Int64, "kind": pl.String, "score": pl.Float64}
        rounded = [round(score, 4) for score in scores.tolist()]
        return pl.DataFrame([notes, starts, ends, names, rounded], schema=schema)


def _counted(kinds: Array, weights: Array) -> Counter[str]:
    """The weights of each kind together, kinds in the order in which they are first met."""
    there, first = np.unique(kinds, return_index=True)
    sums = np.bincount(kinds, weights.astype(np.float64), len(TEXT_KINDS)).astype(np.int64)
    return Counter({TEXT_KINDS[kind]: int(sums[kind]) for kind in there[np.argsort(first)].tolist()})


@dataclass(frozen=True, repr=False)
class ScrubbedColumn:
    """A column of notes: which distinct note each row holds (-1: none), what was found in it, what it became.

    `altered`: which notes are not what they were.
    """

    name: str
    rows: Array
    spans: FoundSpans
    texts: pl.Series
    altered: Array

    def series(self) -> pl.Series:
        """The notes with their identifiers replaced, row by row."""
        there = self.rows >= 0
        if not len(self.texts):
            return pl.Series(self.name, [None] * len(self.rows), pl.String)
        found = self.texts.gather(np.where(there, self.rows, 0)).alias(self.name)
        return found if there.all() else found.zip_with(pl.Series(there), pl.Series([None], dtype=pl.String))

    @property
    def weights(self) -> Array:
        """How many rows hold each distinct note."""
        return np.bincount(self.rows[self.rows >= 0], minlength=len(self.texts))

    @property
    def notes(self) -> int:
        """How many rows hold a note."""
        return int(np.count_nonzero(self.rows >= 0))

    @property
    def changed(self) -> int:
        """How many rows have a note that is not the one that it was."""
        return int(self.weights[self.altered].sum())

    def counts(self) -> Counter[str]:
        """How many identifiers of each kind were replaced, over all rows."""
        return self.spans.counts(self.weights)

    def records(self) -> Counter[str]:
        """How many rows hold an identifier of each kind."""
        return self.spans.records(self.weights)

    def known_found(self) -> int:
        """How many of the identifiers are values that the table has of the person."""
        return self.spans.known(self.weights)

    def places(self) -> pl.DataFrame:
        """Row, start, end, kind and score of every span: no text."""
        frame = self.spans.places().select("note", pl.lit(self.name).alias("column"), "start", "end", "kind", "score")
        rows = pl.DataFrame({"row": np.arange(len(self.rows)), "note": self.rows.astype(np.int64)})
        return rows.join(frame, on="note", how="inner").sort("row", "start").drop("note")


@dataclass(frozen=True, repr=False)
class SearchedColumn:
    """A column of notes in which identifiers were found: its distinct notes, whose they are, and which rows hold them.

    Notes are numbered person by person; notes of different persons are one where all is alike.
    """

    column: Column
    rows: Array
    codes: Array
    people: Array
    spans: FoundSpans


_STEP = 4_000


def check_texts(columns: Sequence[Column]) -> None:
    """Refuse columns that hold no text."""
    for column in columns:
        if column.values.dtype != pl.String and len(column.values):
            raise InputError(
                f"Column '{column.name}' holds {column.values.dtype} and not text.", "Name the columns of free text."
            )


def scrubbed_columns(
    table: Table,
    names: Sequence[str],
    knowledge: PersonKnowledge,
    replace: Replacing = "tag",
    surrogates: Surrogates | None = None,
    model: TextModel | None = None,
) -> list[ScrubbedColumn]:
    """The text columns of a table with their identifiers replaced."""
    columns = table.select(names)
    check_texts(columns)
    vocabulary = (text for column in columns for text in column.values.to_list())
    sets = knowledge.sets(vocabulary)
    if surrogates is not None:
        searched = [_searched(column, knowledge.persons, sets, model) for column in columns]
        return surrogates.write(searched, knowledge)
    replacement = by_tag if replace == "tag" else by_mask
    return [_replaced(column, knowledge.persons, sets, model, replacement) for column in columns]


def _replaced(
    column: Column, persons: Array, sets: KnownSets, model: TextModel | None, replacement: Replacement
) -> ScrubbedColumn:
    """A column with its identifiers replaced, some notes after the others: only what they become is kept."""
    notes = _notes_of(column, persons, np.array(sets.alike, np.int64))
    written: list[pl.Series] = []
    altered: list[Array] = []
    for texts, found in _batches(notes, sets, model):
        made = [replaced(text, spans, replacement) for text, spans in zip(texts, found, strict=True)]
        altered.append(np.array([new != old for new, old in zip(made, texts, strict=True)], bool))
        written.append(pl.Series(made, dtype=pl.String))
    together = pl.concat(written) if written else pl.Series([], dtype=pl.String)
    changed = np.concatenate(altered) if altered else np.zeros(0, bool)
    return ScrubbedColumn(column.name, notes.rows, notes.spans, together, changed)


def _searched(column: Column, persons: Array, sets: KnownSets, model: TextModel | None) -> SearchedColumn:
    """A column whose notes are kept apart by person, with its spans."""
    notes = _notes_of(column, persons, np.arange(len(sets)))
    for _ in _batches(notes, sets, model):
        pass
    return notes


def _notes_of(column: Column, persons: Array, alike: Array) -> SearchedColumn:
    """The distinct notes of each number of `alike`, in the order of the persons whose they are first."""
    there = np.flatnonzero(~column.is_null())
    who = alike[persons[there]]
    codes = column.codes[there].astype(np.int64)
    pairs = codes * (int(who.max(initial=0)) + 1) + who
    _, first, inverse = np.unique(pairs, return_index=True, return_inverse=True)
    people = persons[there][first]
    order = np.argsort(people, kind="stable")  # what is known of a person is made ready once
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    rows = np.full(len(column.codes), -1, np.int64)
    rows[there] = number[inverse.ravel()]
    return SearchedColumn(column, rows, codes[first][order], people[order], FoundSpans())


def _batches(
    notes: SearchedColumn, sets: KnownSets, model: TextModel | None
) -> Iterator[tuple[list[str], list[list[Span]]]]:
    """Some notes and their spans, and again; the spans are kept with the notes."""
    total = len(notes.codes)
    shapes = recurring_shapes(notes.column.values.to_list())
    for start in range(0, total, _STEP):
        progress.report("searching notes", start, total)
        texts = notes.column.values.gather(notes.codes[start : start + _STEP]).to_list()
        known = [sets[person] for person in notes.people[start : start + _STEP].tolist()]
        spans = settled_spans(texts, known, model, shapes)
        notes.spans.add(spans)
        yield texts, spans
