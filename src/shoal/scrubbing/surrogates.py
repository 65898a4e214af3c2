"""Surrogates for the notes of many people: each person has names, numbers and a shift of dates of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal import progress
from shoal.keys import Key
from shoal.pseudonyms.keyed import texts_of
from shoal.pseudonyms.shift_dates import RANGE, allowed_shifts, shifts_by
from shoal.scrubbing.knowledge import Knowledge
from shoal.table import Column
from shoal.text.base import Note, Span
from shoal.text.known_values import parts_of
from shoal.text.moved_dates import end_with_weekday
from shoal.text.replace import replaced
from shoal.text.surrogates import PersonSurrogates
from shoal.text.written_dates import order_of
from shoal.vocabulary import DateOrder

if TYPE_CHECKING:
    from shoal.scrubbing.columns import ScrubbedColumn


@dataclass(frozen=True)
class Surrogates:
    """The key, whose notes they are (None: each row is a person of its own), and how dates are read."""

    key: Key
    whose: Column | None = field(repr=False)
    order: DateOrder | None = None
    century_from: int = 1930

    def write(self, found: Sequence[tuple[ScrubbedColumn, list[int]]], knowledge: Knowledge) -> list[ScrubbedColumn]:
        """The notes of each column with surrogates for what was found in them."""
        by_person: dict[int, list[tuple[int, int]]] = {}
        for place, (column, people) in enumerate(found):
            for number, person in enumerate(people):
                if column.spans[number]:
                    by_person.setdefault(person, []).append((place, number))
        texts = [list(column.originals) for column, _ in found]
        persons = sorted(by_person)
        names = self._names(persons)
        secret = self.key.secret_for("surrogates in notes")
        shifts = dict(zip(persons, shifts_by(names, self.key.secret_for("dates"), allowed_shifts(RANGE)), strict=True))
        order = self.order or order_of(
            column.originals[number][span.start : span.end]
            for column, _ in found
            for number, spans in enumerate(column.spans)
            for span in spans
            if span.kind == "date"
        )
        for done, (person, name) in enumerate(zip(persons, names, strict=True)):
            progress.report("writing surrogates", done, len(persons))
            made = PersonSurrogates(
                secret, name, int(shifts[person]), order, self.century_from, _words(knowledge, person)
            )
            notes = [
                (found[place][0].originals[number], _with_weekdays(found[place][0].originals[number], spans))
                for place, number in by_person[person]
                for spans in [found[place][0].spans[number]]
            ]
            for value in sorted(knowledge.known[person], key=lambda value: value.text):
                if parts_of(value).kind == "name":
                    made.know(value.text)
            for text, spans in notes:
                made.see(text, spans)
            for (place, number), (text, spans) in zip(by_person[person], notes, strict=True):
                language = Note(text).language
                new = [made.of(text, span, language) for span in spans]
                texts[place][number] = replaced(text, spans, lambda _text, _spans, new=new: new)  # type: ignore[misc]
        return [_with_texts(column, new) for (column, _), new in zip(found, texts, strict=True)]

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


def _words(knowledge: Knowledge, person: int) -> frozenset[str]:
    """All words of what is known of a person: none of them may come out as a surrogate."""
    return frozenset(word for value in knowledge.known[person] for word in parts_of(value).words)


def _with_texts(column: ScrubbedColumn, texts: list[str]) -> ScrubbedColumn:
    return type(column)(column.name, column.rows, column.originals, column.spans, texts)
