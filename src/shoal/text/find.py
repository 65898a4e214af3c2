"""All recognisers over all texts: each distinct text once, overlaps resolved, what must stay taken out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from shoal.text.base import Note, Span
from shoal.text.block import Block, blocks_of
from shoal.text.everywhere import everywhere
from shoal.text.model import TextModel, model_spans
from shoal.text.recognisers import RECOGNISERS
from shoal.text.stay import without_what_stays

LANGUAGES = ("en", "de", "fr", "it", "es")
Extra = Callable[[int, Note], list[Span]]

_MAY_END_WITH_DOT = frozenset(("date", "age_over_89", "address"))


def find_spans(
    texts: Sequence[str | None],
    *,
    languages: tuple[str, ...] = LANGUAGES,
    model: TextModel | None = None,
    extra: Extra | None = None,
) -> list[list[Span]]:
    """The identifiers in each text, in order and without overlap; offsets in characters of the text as it was given.

    `extra(number, note)` adds what else is known about the text of that number (its place in `texts`); its spans are in
    characters of `note.text` and go first. `model` is a pipeline of the user's own, whose findings go last.

    >>> [[(span.kind, span.start, span.end) for span in spans] for spans in find_spans(["Mail a.b@c.org", "stable"])]
    [[('email', 5, 14)], []]
    """
    rows: dict[str, list[int]] = {}
    for number, text in enumerate(texts):
        if text:
            rows.setdefault(text, []).append(number)
    found: list[list[Span]] = [[] for _ in texts]
    places = iter(rows.values())
    for block in blocks_of(rows, languages):
        for note, ours in zip(block.notes, spans_of(block), strict=True):
            theirs = model_spans(model, note) if model is not None else []
            numbers = next(places)
            resolved = resolve(note, [ours, theirs]) if extra is None else []
            for number in numbers:
                known = extra(number, note) if extra is not None else []
                found[number] = resolve(note, [known, ours, theirs]) if extra is not None else list(resolved)
    return found


def spans_of(block: Block) -> list[list[Span]]:
    """What the recognisers find in each note of a block, in characters of its original text; spans may overlap."""
    found: list[list[Span]] = [[] for _ in block.notes]
    for recogniser in RECOGNISERS:
        recogniser.find_in(block, found)
    return [_as_written(note, spans) if spans else spans for note, spans in zip(block.notes, found, strict=True)]


def _as_written(note: Note, spans: list[Span]) -> list[Span]:
    """Spans without what stays, with the names that are found elsewhere, in characters of the original text."""
    spans = without_what_stays(note, spans)
    spans += everywhere(note, spans)
    return [_moved(note, _without_full_stop(note.folded, span)) for span in spans]


def _without_full_stop(text: str, span: Span) -> Span:
    """A date, an age or an address without the dot behind it, unless the dot is one of several: `y.o.`, `20.2.`"""
    if text[span.end - 1] != "." or span.kind not in _MAY_END_WITH_DOT or "." in text[span.end - 4 : span.end - 1]:
        return span
    return Span(span.start, span.end - 1, span.kind, span.score, span.reason)


def _moved(note: Note, span: Span) -> Span:
    start, end = note.original(span.start, span.end)
    if (start, end) == (span.start, span.end):
        return span
    return Span(start, end, span.kind, span.score, span.reason)


def resolve(note: Note, tiers: Sequence[Sequence[Span]]) -> list[Span]:
    """Spans without overlap: earlier tiers first, then the longer, then the surer; what a loser covers alone stays.

    >>> note = Note("Dr. Ann Lee")
    >>> spans = [Span(4, 7, "name", 0.9, "given name"), Span(4, 11, "name", 0.8, "title")]
    >>> [(span.start, span.end) for span in resolve(note, [spans])]
    [(4, 11)]
    """
    kept: list[Span] = []
    tiers = [tier for tier in tiers if tier]
    if len(tiers) == 1:
        alone = sorted(tiers[0], key=lambda span: span.start)
        if all(first.end <= second.start for first, second in pairwise(alone)):
            return alone
    covered = bytearray(len(note.text))
    for tier in tiers:
        for span in sorted(tier, key=lambda span: (span.start - span.end, -span.score, span.start)):
            free = [span] if covered.find(1, span.start, span.end) < 0 else _uncovered(note.text, span, covered)
            for part in free:
                covered[part.start : part.end] = b"\1" * (part.end - part.start)
            kept += free
    return sorted(kept, key=lambda span: span.start)


def _uncovered(text: str, span: Span, covered: bytearray) -> list[Span]:
    """The parts of a span that no kept one covers, if a letter or digit is in them."""
    parts, start = [], span.start
    while start < span.end:
        left = covered.find(0, start, span.end)
        if left < 0:
            break
        right = covered.find(1, left, span.end)
        start = span.end if right < 0 else right
        if any(sign.isalnum() for sign in text[left:start]):
            parts.append(_trimmed(text, span, left, start))
    return parts


def _trimmed(text: str, span: Span, start: int, end: int) -> Span:
    while not text[start].isalnum():
        start += 1
    while not text[end - 1].isalnum():
        end -= 1
    return Span(start, end, span.kind, span.score, span.reason)
