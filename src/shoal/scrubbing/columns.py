"""Columns of text with their identifiers replaced: each pair of a note and what is known of its person once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError, ShoalError
from shoal.scrubbing.knowledge import Knowledge
from shoal.scrubbing.surrogates import Surrogates
from shoal.table import Array, Column, Table
from shoal.text.base import Span
from shoal.text.known import REASON, KnownSets
from shoal.text.model import TextModel
from shoal.text.replace import by_mask, by_tag, replaced
from shoal.text.settle import UnsettledError, settled_spans
from shoal.vocabulary import Replacing

_STEP = 4_000
_PLACES = {
    "note": pl.Int64, "column": pl.String, "start": pl.Int64, "end": pl.Int64, "kind": pl.String, "score": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class ScrubbedColumn:
    """A column of notes: which distinct note each row holds (-1: none), what was found in it, what it became."""

    name: str
    rows: Array
    originals: list[str]
    spans: list[list[Span]]
    texts: list[str]

    def series(self) -> pl.Series:
        """The notes with their identifiers replaced, row by row."""
        found = pl.Series([*self.texts, None], dtype=pl.String)
        return found.gather(np.where(self.rows < 0, len(self.texts), self.rows)).alias(self.name)

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
        other = np.array([new != old for new, old in zip(self.texts, self.originals, strict=True)], bool)
        return int(self.weights[other].sum()) if len(other) else 0

    def counts(self) -> Counter[str]:
        """How many identifiers of each kind were replaced, over all rows."""
        found: Counter[str] = Counter()
        for spans, weight in zip(self.spans, self.weights.tolist(), strict=True):
            for span in spans:
                found[span.kind] += weight
        return found

    def records(self) -> Counter[str]:
        """How many rows hold an identifier of each kind."""
        found: Counter[str] = Counter()
        for spans, weight in zip(self.spans, self.weights.tolist(), strict=True):
            for kind in {span.kind for span in spans}:
                found[kind] += weight
        return found

    def known_found(self) -> int:
        """How many of the identifiers are values that the table has of the person."""
        known = (sum(span.reason == REASON for span in spans) for spans in self.spans)
        return sum(count * weight for count, weight in zip(known, self.weights.tolist(), strict=True))

    def places(self) -> pl.DataFrame:
        """Row, start, end, kind and score of every span: no text."""
        spans = [(number, span) for number, found in enumerate(self.spans) for span in found]
        frame = pl.DataFrame(
            {
                "note": [number for number, _ in spans],
                "column": [self.name] * len(spans),
                "start": [span.start for _, span in spans],
                "end": [span.end for _, span in spans],
                "kind": [span.kind for _, span in spans],
                "score": [round(span.score, 4) for _, span in spans],
            },
            schema=_PLACES,
        )
        rows = pl.DataFrame({"row": np.arange(len(self.rows)), "note": self.rows.astype(np.int64)})
        return rows.join(frame, on="note", how="inner").sort("row", "start").drop("note")


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
    knowledge: Knowledge,
    replace: Replacing = "tag",
    surrogates: Surrogates | None = None,
    model: TextModel | None = None,
) -> list[ScrubbedColumn]:
    """The text columns of a table with their identifiers replaced."""
    columns = table.select(names)
    check_texts(columns)
    vocabulary = (text for column in columns for text in column.values.to_list())
    sets = knowledge.sets(vocabulary)
    found = [_found(column, knowledge.persons, sets, surrogates is not None, model) for column in columns]
    if surrogates is not None:
        return surrogates.write(found, knowledge)
    replacement = by_tag if replace == "tag" else by_mask
    made = []
    for column, _ in found:
        pairs = zip(column.originals, column.spans, strict=True)
        texts = [replaced(text, spans, replacement) for text, spans in pairs]
        made.append(ScrubbedColumn(column.name, column.rows, column.originals, column.spans, texts))
    return made


def _found(
    column: Column, persons: Array, sets: KnownSets, by_person: bool, model: TextModel | None
) -> tuple[ScrubbedColumn, list[int]]:
    """The spans of each distinct note, and the person of it; notes of different persons are one where all is alike."""
    alike = np.arange(len(sets)) if by_person else np.array(sets.alike, np.int64)
    there = np.flatnonzero(~column.is_null())
    who = alike[persons[there]]
    codes = column.codes[there].astype(np.int64)
    _, first, inverse = np.unique(np.stack([codes, who]), axis=1, return_index=True, return_inverse=True)
    rows = np.full(len(column.codes), -1, np.int64)
    rows[there] = inverse.ravel()
    people = persons[there][first]
    texts = column.values.gather(codes[first]).to_list()
    spans: list[list[Span]] = [[]] * len(texts)
    order = np.argsort(people, kind="stable").tolist()  # what is known of a person is made ready once
    for start in range(0, len(texts), _STEP):
        progress.report("searching notes", start, len(texts))
        some = order[start : start + _STEP]
        try:
            found = settled_spans([texts[note] for note in some], [sets[int(people[note])] for note in some], model)
        except UnsettledError as error:
            row = int(there[first[some[error.number]]]) + 1
            raise ShoalError(
                f"The note in row {row:,} of column '{column.name}' shows something new whenever it is searched again. "
                "Nothing was written; remove the note."
            ) from None
        for note, mine in zip(some, found, strict=True):
            spans[note] = mine
    return ScrubbedColumn(column.name, rows, texts, spans, texts), people.tolist()
