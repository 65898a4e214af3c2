"""Identifiers of many notes, searched until nothing more is found: what is tagged may show what stands beside it."""

from __future__ import annotations

import gc
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from shoal import progress
from shoal.text.base import Note, Span
from shoal.text.everywhere import without_what_it_says
from shoal.text.find import find_spans
from shoal.text.known import find_known
from shoal.text.known_values import KnownSet
from shoal.text.model import TextModel
from shoal.text.tags import Tagged, without_tags

MOST_ROUNDS = 12
# from this round on all of a word goes of which a part is found: a note that shows one piece after another settles
_WHOLE_WORDS = 6


class UnsettledError(Exception):
    """The text of this number shows something new whenever it is searched again."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


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
    for turn in range(MOST_ROUNDS):
        if not open_:
            return found
        progress.report("searching notes again", 0)
        tagged = [Tagged.of(texts[number] or "", found[number]) for number in open_]
        more = _searched([entry.text for entry in tagged], [known[number] for number in open_], model)
        still = []
        for number, entry, spans in zip(open_, tagged, more, strict=True):
            pieces = [piece for span in spans for piece in entry.back(span)]
            if pieces:
                if turn >= _WHOLE_WORDS:
                    pieces = _whole_words(texts[number] or "", pieces, found[number])
                found[number] = sorted([*found[number], *pieces], key=lambda span: span.start)
                still.append(number)
        open_ = still
    if open_:
        raise UnsettledError(open_[0])
    return found


def _whole_words(text: str, pieces: Sequence[Span], found: Sequence[Span]) -> list[Span]:
    """Spans up to the next blank or span on either side.

    >>> [(span.start, span.end) for span in _whole_words("an abcdef", [Span(5, 6, "name", 1.0, "")], [])]
    [(3, 9)]
    """
    taken = bytearray(len(text))
    for span in found:
        taken[span.start : span.end] = b"\1" * (span.end - span.start)
    grown = []
    for span in pieces:
        start, end = span.start, span.end
        if taken.find(1, start, end) >= 0:  # a piece before it went over this one
            continue
        while start and not (taken[start - 1] or text[start - 1].isspace()):
            start -= 1
        while end < len(text) and not (taken[end] or text[end].isspace()):
            end += 1
        taken[start:end] = b"\1" * (end - start)
        grown.append(Span(start, end, span.kind, span.score, span.reason))
    return grown


def _searched(
    texts: Sequence[str | None], known: Sequence[KnownSet | None], model: TextModel | None
) -> list[list[Span]]:
    def extra(number: int, note: Note) -> list[Span]:
        mine = known[number]
        return [] if not mine or not note.text else without_what_it_says(note, find_known(note.text, mine))

    with without_collecting():
        found = find_spans(texts, model=model, extra=extra if any(known) else None)
    return [without_tags(text or "", _with_marks(text or "", spans)) for text, spans in zip(texts, found, strict=True)]


@contextmanager
def without_collecting() -> Iterator[None]:
    """Without looking for cycles of objects: notes make many small objects and no cycles; looking costs a quarter."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _with_marks(text: str, spans: list[Span]) -> list[Span]:
    """Spans with the accents that are signs of their own behind the last letter.

    >>> [span.end for span in _with_marks("Jose\u0301 came", [Span(0, 4, "name", 1.0, "")])]
    [5]
    """
    if text.isascii():
        return spans
    grown = []
    for span in spans:
        end = span.end
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        grown.append(span if end == span.end else Span(span.start, end, span.kind, span.score, span.reason))
    return grown
