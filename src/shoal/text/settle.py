"""Identifiers of many notes, searched until nothing more is found: what is tagged may show what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence

from shoal import progress
from shoal.errors import ShoalError
from shoal.text.base import Note, Span
from shoal.text.find import find_spans
from shoal.text.known import find_known
from shoal.text.known_values import KnownSet
from shoal.text.model import TextModel
from shoal.text.tags import Tagged, without_tags

MOST_ROUNDS = 12


def settled_spans(
    texts: Sequence[str | None], known: Sequence[KnownSet | None], model: TextModel | None = None
) -> list[list[Span]]:
    """The identifiers of each text, known values first; a text whose spans are tagged has no identifier left.

    `known[n]` is what is known of the person of text n. After the first round only texts that changed are searched
    again, with their tags, until a round finds nothing.

    >>> from shoal.text.known_values import KnownValue
    >>> text = "Rose wrote from a.b@c.org"
    >>> [text[span.start : span.end] for span in settled_spans([text], [KnownSet([KnownValue("Rose")])])[0]]
    ['Rose', 'a.b@c.org']
    """
    found = _searched(texts, known, model)
    open_ = [number for number, spans in enumerate(found) if spans]
    for _ in range(MOST_ROUNDS):
        if not open_:
            return found
        progress.report("searching notes again", 0)
        tagged = [Tagged.of(texts[number] or "", found[number]) for number in open_]
        more = _searched([entry.text for entry in tagged], [known[number] for number in open_], model)
        still = []
        for number, entry, spans in zip(open_, tagged, more, strict=True):
            pieces = [piece for span in spans for piece in entry.back(span)]
            if pieces:
                found[number] = sorted([*found[number], *pieces], key=lambda span: span.start)
                still.append(number)
        open_ = still
    raise ShoalError("A note shows something new whenever it is searched again. Nothing was written; remove the note.")


def _searched(
    texts: Sequence[str | None], known: Sequence[KnownSet | None], model: TextModel | None
) -> list[list[Span]]:
    def extra(number: int, note: Note) -> list[Span]:
        mine = known[number]
        return [] if mine is None or not note.text else find_known(note.text, mine)

    found = find_spans(texts, model=model, extra=extra if any(entry is not None for entry in known) else None)
    return [without_tags(text or "", spans) for text, spans in zip(texts, found, strict=True)]
