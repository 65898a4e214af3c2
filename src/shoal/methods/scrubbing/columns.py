"""Columns of text with their identifiers replaced: each pair of a note and what is known of its person once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from shoal import progress
from shoal.errors import InputError
from shoal.methods.scrubbing.knowledge import PersonKnowledge
from shoal.methods.scrubbing.scrubbed_column import FoundSpans, ScrubbedColumn, SearchedColumn
from shoal.methods.scrubbing.surrogates import Surrogates
from shoal.storage import Array, Column, Table
from shoal.text.base import Span
from shoal.text.find import settled_spans
from shoal.text.known import KnownSets
from shoal.text.model import TextModel
from shoal.text.replace import Replacement, by_mask, by_tag, replaced
from shoal.text.shapes import recurring_shapes
from shoal.vocabulary import Replacing

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
