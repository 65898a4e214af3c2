"""Surrogates for the notes of many people: each person has names, numbers and a shift of dates of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal import progress
from shoal.keys import SecretKey
from shoal.methods.pseudonyms.pseudonymize import texts_of
from shoal.methods.pseudonyms.shift_dates import RANGE, allowed_shifts, shifts_by
from shoal.methods.scrubbing.knowledge import PersonKnowledge
from shoal.methods.scrubbing.scrubbed_column import ScrubbedColumn, SearchedColumn
from shoal.storage import Column
from shoal.text.base import Note, Span
from shoal.text.known_values import parts_of
from shoal.text.replace import replaced
from shoal.text.surrogates import PersonSurrogates
from shoal.text.written_dates import end_with_weekday, order_of
from shoal.vocabulary import DateOrder


@dataclass(frozen=True)
class Surrogates:
    """The key, whose notes they are (None: each row is a person of its own), and how dates are read."""

    key: SecretKey
    whose: Column | None = field(repr=False)
    order: DateOrder | None = None
    century_from: int = 1930

    def write(self, found: Sequence[SearchedColumn], knowledge: PersonKnowledge) -> list[ScrubbedColumn]:
        """The notes of each column with surrogates for what was found in them."""
        by_person: dict[int, list[tuple[int, int]]] = {}
        for place, column in enumerate(found):
            for number in np.flatnonzero(column.spans.has_spans()).tolist():
                by_person.setdefault(int(column.people[number]), []).append((place, number))
        texts = [column.column.values.gather(column.codes).to_list() for column in found]
        persons = sorted(by_person)
        names = self._names(persons)
        secret = self.key.secret_for("surrogates in notes")
        shifts = dict(zip(persons, shifts_by(names, self.key.secret_for("dates"), allowed_shifts(RANGE)), strict=True))
        order = self.order or order_of(
            originals[number][span.start : span.end]
            for column, originals in zip(found, texts, strict=True)
            for number in np.flatnonzero(column.spans.has_spans()).tolist()
            for span in column.spans[number]
            if span.kind == "date"
        )
        altered = [np.zeros(len(originals), bool) for originals in texts]
        for done, (person, name) in enumerate(zip(persons, names, strict=True)):
            progress.report("writing surrogates", done, len(persons))
            made = PersonSurrogates(
                secret, name, int(shifts[person]), order, self.century_from, _words(knowledge, person)
            )
            notes = [
                (texts[place][number], _with_weekdays(texts[place][number], found[place].spans[number]))
                for place, number in by_person[person]
            ]
            for value in sorted(knowledge.known[person], key=lambda value: value.text):
                if parts_of(value).kind == "name":
                    made.know(value.text)
            for text, spans in notes:
                made.see(text, spans)
            for (place, number), (text, spans) in zip(by_person[person], notes, strict=True):
                language = Note(text).language
                new = [made.of(text, span, language) for span in spans]
                written = replaced(text, spans, lambda _text, _spans, new=new: new)  # type: ignore[misc]
                texts[place][number], altered[place][number] = written, written != text
        return [
            ScrubbedColumn(column.column.name, column.rows, column.spans, pl.Series(new, dtype=pl.String), changed)
            for column, new, changed in zip(found, texts, altered, strict=True)
        ]

    def _names(self, persons: list[int]) -> list[bytes]:
        """What the key sees of each person: the value of the person column, else the number of the row."""
        if self.whose is None:
            return [f"row {person}".encode() for person in persons]
        texts = texts_of(self.whose.values).to_list()
        return [texts[person] for person in persons]


def _with_weekdays(text: str, spans: list[Span]) -> list[Span]:
    """Spans in which a date has the weekday that stands behind it, so that both move."""
    starts = [*(span.start for span in spans[1:]), len(text)]
    ends = [end_with_weekday(text, span.end) if span.kind == "date" else span.end for span in spans]
    return [
        span._replace(end=end) if span.end < end <= start else span
        for span, end, start in zip(spans, ends, starts, strict=True)
    ]


def _words(knowledge: PersonKnowledge, person: int) -> frozenset[str]:
    """All words of what is known of a person: none of them may come out as a surrogate."""
    return frozenset(word for value in knowledge.known[person] for word in parts_of(value).words)
