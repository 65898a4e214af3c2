"""What must stay: eponyms, drugs, body parts, states, countries, doses and plain numbers."""

from __future__ import annotations

from bisect import bisect_left

from shoal.identifiers.letters import plain
from shoal.text import terms
from shoal.text.base import Note, Span
from shoal.text.words import (
    ACTS,
    CAPITAL,
    COMMON_EPONYM,
    EITHER,
    EPONYM,
    GIVEN,
    HEAD,
    LONG_REGION,
    MONTH,
    REGION,
    STAYS,
    SURE,
    SURNAME,
    TITLE,
    UNKNOWN,
    WRITTEN_AS_NAME,
)  # fmt: skip

_LINKS = frozenset(("de", "d'", "d’", "di", "del", "von", "nach", "of", "du"))
_SINGLE_HEADS = frozenset(("morbus", "m"))
SURE_CONTEXT = 0.86
_WORDY = frozenset(("name", "place", "organisation"))


def protected(note: Note) -> set[int]:
    """The numbers of the words that stay, by the lists and by what stands beside them."""
    found: set[int] = set()
    signs, words = note.signs, note.words
    kept = STAYS | EPONYM | COMMON_EPONYM | REGION | MONTH
    for place in note.marked(kept):
        if signs[place] & WRITTEN_AS_NAME and _stays(note, place, signs[place]):
            found.add(place)
    for place in note.marked(CAPITAL) if "Washington" in words else ():
        if words[place] == "Washington" and place and note.gap(place) == ", " and signs[place - 1] & WRITTEN_AS_NAME:
            found.add(place)  # Yakima, Washington
    for place in note.marked(LONG_REGION):
        if signs[place] & WRITTEN_AS_NAME:
            found.update(_long_region(words, place, plain(words[place])))
    heads = terms.rule("eponym_heads_of_any_name")
    for head in note.marked(HEAD):
        before, after = head - 1, head + 1
        if head and signs[before] & WRITTEN_AS_NAME and words[head] in heads and not _after_title(note, before):
            found.add(before)
        for place in (after, after + 1):
            if place < len(signs) and signs[place] & WRITTEN_AS_NAME and _after_head(note, place):
                found.add(place)
    return found


def _long_region(words: list[str], place: int, first: str) -> set[int]:
    for region in terms.long_regions().get(first.split("-")[0], ()):
        here = " ".join(plain(word).replace("-", " ") for word in words[place : place + len(region)]).split()
        if tuple(here[: len(region)]) == region:
            return set(range(place, place + len(region) - first.count("-")))
    return set()


def _after_title(note: Note, place: int) -> bool:
    return place > 0 and bool(note.signs[place - 1] & TITLE) and len(note.words[place - 1]) > 1


def _after_head(note: Note, place: int) -> bool:
    """`morbo di X`, `signe de X`, `Morbus X`."""
    before = note.words[place - 1].lower()
    if before in _SINGLE_HEADS:
        return before == "morbus" or (
            note.words[place - 1] == "M" and bool(note.signs[place] & (EPONYM | COMMON_EPONYM))
        )
    return before in _LINKS and place > 1 and bool(note.signs[place - 2] & HEAD)


def _stays(note: Note, place: int, bits: int) -> bool:
    """Whether a word of the lists is what the list says here, not somebody's name."""
    signs = note.signs
    if _after_title(note, place):
        return False
    after = signs[place + 1] if place + 1 < len(signs) else 0
    before = signs[place - 1] if place else 0
    beside = place + 1 < len(signs) and note.gap(place + 1) == " "
    near = bool(after & HEAD) or (place + 2 < len(signs) and bool(signs[place + 2] & HEAD))
    if bits & COMMON_EPONYM:
        return near or (place > 0 and _after_head(note, place))
    given_before = before & GIVEN and before & CAPITAL and not before & (EPONYM | STAYS) and note.gap(place) == " "
    if bits & EPONYM:
        return near or not given_before
    if bits & (GIVEN | SURNAME) and bits & (REGION | STAYS):
        if given_before and bits & SURNAME and before & (SURE | EITHER):
            return False
        if (
            bits & GIVEN
            and beside
            and after & CAPITAL
            and after & (SURE | UNKNOWN | SURNAME)
            and not after & (STAYS | HEAD)
        ):
            return False
        if (
            bits & GIVEN
            and after & ACTS
            and not (place and note.words[place - 1].lower() in terms.rule("before_regions"))
        ):
            return False
    return True


def without_what_stays(note: Note, spans: list[Span]) -> list[Span]:
    """The spans but those that cover only words that stay; a span that strong context carries is kept."""
    kept = note.protected
    if not kept:
        return spans
    return [
        span
        for span in spans
        if span.kind not in _WORDY or span.score >= SURE_CONTEXT or not _only_kept(note, span, kept)
    ]


def _only_kept(note: Note, span: Span, kept: set[int]) -> bool:
    first, last = bisect_left(note.pieces, (span.start,)), bisect_left(note.pieces, (span.end,))
    return first < last and all(number in kept for number in range(first, last))
