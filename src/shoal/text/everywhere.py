"""Names found once by strong context are found everywhere in the same note."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from shoal.text import terms
from shoal.text.base import Note, Span
from shoal.text.words import (
    ACTS,
    CAPITAL,
    COMMON_EPONYM,
    DATE_WORD,
    EITHER,
    EPONYM,
    HEAD,
    LOWER,
    MONTH,
    PARTICLE,
    RARE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    SURE,
    TITLE,
    UNKNOWN,
    WRITTEN_AS_NAME,
    lexicon,
    without_genitive,
)

STRONG = 0.84
_SHORTEST = 3


def everywhere(note: Note, spans: list[Span]) -> list[Span]:
    """Other places of the parts of names that are sure; everyday words only in capitals."""
    parts = _parts(note, spans)
    if not parts:
        return []
    lower = note.lower
    parts = {part: particle for part, particle in parts.items() if lower.count(part) > 1}
    if not parts:
        return []
    covered = bytearray(len(note.folded))
    for span in spans:
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
    found = []
    for number in _numbers(note, parts):
        word = note.words[number]
        form = without_genitive(word).lower()
        if form not in parts:
            form = form.removesuffix("s")
        start, end = note.pieces[number]
        if form not in parts or (covered[start] and not _has_particle(note, number, parts[form], covered)):
            continue
        bits = note.signs[number]
        if (bits & WRITTEN_AS_NAME and not (note.starts(number) and bits & (SMALL | ACTS))) or bits & (
            SURE | RARE | UNKNOWN
        ):
            end -= len(word) - len(without_genitive(word))
            if _is_what_it_says(note, number):
                continue
            while number and note.words[number - 1] == parts[form] and note.gap(number) in (" ", ""):
                number -= 1
                start = note.pieces[number][0]
            found.append(Span(start, end, "name", 0.85, "part of a name found elsewhere in the note"))
    return found


def _numbers(note: Note, parts: Iterable[str]) -> list[int]:
    """The numbers of the words that start with one of the parts, in order."""
    lower, pieces, found = note.lower, note.pieces, set()
    for part in parts:
        place = lower.find(part)
        while place >= 0:
            number = bisect_left(pieces, (place,))
            if number < len(pieces) and pieces[number][0] == place:
                found.add(number)
            place = lower.find(part, place + 1)
    return sorted(found)


def _is_what_it_says(note: Note, number: int) -> bool:
    """`Bell's palsy`, `from Georgia`, `Brown sputum`, `früher Koch`: the word, though somebody is called so."""
    bits = note.signs[number]
    after = note.signs[number + 1] if number + 1 < len(note.signs) else 0
    before = note.words[number - 1].lower() if number and note.gap(number) == " " else ""
    if note.signs[number - 1 if number else 0] & TITLE:
        return False
    if _is_eponym_or_region(note, number):
        return True
    if not bits & EITHER:
        return False
    if before in terms.rule("before_occupations") or (
        bits & DATE_WORD and before in ("im", "in", "en", "last", "this")
    ):
        return True
    described = after & LOWER and not after & (ACTS | SMALL | PARTICLE) and note.gap(number + 1) in (" ", ", ")
    return bool(number and not before and described)


def without_what_it_says(note: Note, spans: list[Span]) -> list[Span]:
    """Known values but single everyday words that stand as eponyms or regions: `Bell's palsy` of a Mr Bell.

    A name that is no word (`Parkinson`) goes, whatever stands beside it.
    """
    if note.folded is not note.text or not note.any_signs & (EPONYM | COMMON_EPONYM | REGION):
        return spans
    return [span for span in spans if span.kind != "name" or not _stays_though_known(note, span)]


def _stays_though_known(note: Note, span: Span) -> bool:
    number = bisect_left(note.pieces, (span.start,))
    if number >= len(note.pieces) or note.pieces[number][0] != span.start or not note.signs[number] & EITHER:
        return False
    whole = span.end >= note.pieces[number][1] - 2 and span.end <= note.pieces[number][1]
    return whole and bool(note.signs[number] & CAPITAL) and _is_eponym_or_region(note, number)


def _is_eponym_or_region(note: Note, number: int) -> bool:
    after = note.signs[number + 1] if number + 1 < len(note.signs) else 0
    before = note.words[number - 1].lower() if number and note.gap(number) == " " else ""
    if number and note.signs[number - 1] & TITLE:
        return False
    if note.signs[number] & (EPONYM | COMMON_EPONYM) and after & HEAD and note.gap(number + 1) == " ":
        return True
    return bool(note.signs[number] & REGION and before in terms.rule("before_regions"))


def _has_particle(note: Note, number: int, particle: str, covered: bytearray) -> bool:
    """Whether the particle of the name stands before a word and was not taken for a part of it."""
    return bool(particle and number) and note.words[number - 1] == particle and not covered[note.pieces[number - 1][0]]


def _parts(note: Note, spans: list[Span]) -> dict[str, str]:
    """Words of strong names in lower case, each with the particle before it, if there is one."""
    strong = [span for span in spans if span.kind == "name" and span.score >= STRONG]
    if not strong:
        return {}
    found: dict[str, str] = {}
    for span in strong:
        before = ""
        for word in note.folded[span.start : span.end].split():
            word = word.strip(".,'’")
            bits = lexicon()[word]
            if len(word) >= _SHORTEST and not bits & (PARTICLE | TITLE | ROLE | MONTH | STAYS):
                found[word.lower()] = before
            before = word if bits & PARTICLE else ""
    return found
