"""All recognisers over all texts: each distinct text once, overlaps resolved, what must stay taken out."""

from __future__ import annotations

import gc
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from shoal import progress
from shoal.text import terms
from shoal.text.base import Note, Span
from shoal.text.block import Block, notes_in_blocks
from shoal.text.joins import joined
from shoal.text.known import find_known
from shoal.text.known_values import KnownSet
from shoal.text.model import TextModel, model_spans
from shoal.text.recognisers import RECOGNISERS
from shoal.text.shapes import recurring_shapes
from shoal.text.stay import without_what_stays
from shoal.text.tags import Tagged, without_tags
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

# Names found once by strong context are found everywhere in the same note.


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


LANGUAGES = ("en", "de", "fr", "it", "es")
Extra = Callable[[int, Note], list[Span]]

_MAY_END_WITH_DOT = frozenset(("date", "age_over_89", "address"))


def find_spans(
    texts: Sequence[str | None],
    *,
    languages: tuple[str, ...] = LANGUAGES,
    model: TextModel | None = None,
    extra: Extra | None = None,
    shapes: frozenset[str] | None = None,
) -> list[list[Span]]:
    """The identifiers in each text, in order and without overlap; offsets in characters of the text as it was given.

    `shapes` are those of codes that recur in the corpus of which the texts are a part, by default the texts' own.

    `extra(number, note)` adds what else is known about the text of that number (its place in `texts`); its spans are in
    characters of `note.text` and go first. `model` is a pipeline of the user's own, whose findings go last.

    >>> [[(span.kind, span.start, span.end) for span in spans] for spans in find_spans(["Mail a.b@c.org", "stable"])]
    [[('email', 5, 14)], []]
    """
    rows: dict[str, list[int]] = {}
    shapes = recurring_shapes(texts) if shapes is None else shapes
    for number, text in enumerate(texts):
        if text:
            rows.setdefault(text, []).append(number)
    found: list[list[Span]] = [[] for _ in texts]
    places = iter(rows.values())
    for notes in notes_in_blocks(rows, languages):
        for note, ours in zip(notes, spans_of(notes, shapes), strict=True):
            theirs = _of_model(model, note) if model is not None else []
            for number in next(places):
                found[number] = _with_known(note, number, [ours, theirs], extra)
    return found


def _of_model(model: TextModel, note: Note) -> list[Span]:
    """What a model finds; a note on which it fails is withheld."""
    try:
        return model_spans(model, note)
    except MemoryError:
        raise
    except Exception:
        return [withheld(note.text, f"{model.name} failed")]


def _with_known(note: Note, number: int, tiers: list[list[Span]], extra: Extra | None) -> list[Span]:
    """Spans of a note with what else is known about its text, without overlap."""
    for tier in tiers:
        if is_withheld(tier):
            return tier
    try:
        found = resolve(note, tiers if extra is None else [extra(number, note), *tiers])
        more = joined(note, found) if found else []
        return resolve(note, [more, found]) if more else found
    except MemoryError:
        raise
    except Exception:
        return [withheld(note.text, "the search for known values failed")]


def withheld(text: str, reason: str) -> Span:
    """All of a note: what could not be searched to its end does not leave."""
    return Span(0, len(text), "withheld", 1.0, reason)


def is_withheld(spans: Sequence[Span]) -> bool:
    """Whether a note is withheld."""
    return any(span.kind == "withheld" for span in spans)


def spans_of(notes: list[Note], shapes: frozenset[str]) -> list[list[Span]]:
    """What the recognisers find in each note, in characters of its original text; spans may overlap.

    Where a recogniser fails, its note is withheld and the others are not: they are searched one by one.
    """
    found: list[list[Span]] = [[] for _ in notes]
    asked = ""
    try:
        block = Block(notes, shapes)
        for recogniser in RECOGNISERS:
            asked = f"the recogniser of {recogniser.name} failed"
            recogniser.find_in(block, found)
        return [_as_written(note, spans) if spans else spans for note, spans in zip(notes, found, strict=True)]
    except MemoryError:
        raise
    except Exception:
        if len(notes) == 1:
            return [[withheld(notes[0].text, asked)]]
        return [spans_of([Note(note.text, note.languages)], shapes)[0] for note in notes]


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


# Identifiers of many notes, searched until nothing more is found: what is tagged may show what stands beside it.


MOST_ROUNDS = 12
# from this round on all of a word goes of which a part is found: a note that shows one piece after another settles
_WHOLE_WORDS = 6


def settled_spans(
    texts: Sequence[str | None],
    known: Sequence[KnownSet | None],
    model: TextModel | None = None,
    shapes: frozenset[str] | None = None,
) -> list[list[Span]]:
    """The identifiers of each text, known values first; a text whose spans are tagged has no identifier left.

    `known[n]` is what is known of the person of text n. After the first round only texts that changed are searched
    again, with their tags, until a round finds nothing. A text that shows something new each time is withheld.

    >>> from shoal.text.known_values import KnownValue
    >>> text = "Rose wrote from a.b@c.org"
    >>> [text[span.start : span.end] for span in settled_spans([text], [KnownSet([KnownValue("Rose")])])[0]]
    ['Rose', 'a.b@c.org']
    """
    shapes = recurring_shapes(texts) if shapes is None else shapes
    found = _searched(texts, known, model, shapes)
    open_ = [number for number, spans in enumerate(found) if spans]
    for turn in range(MOST_ROUNDS):
        if not open_:
            return found
        progress.report("searching notes again", 0)
        tagged = [Tagged.of(texts[number] or "", found[number]) for number in open_]
        more = _searched([entry.text for entry in tagged], [known[number] for number in open_], model, shapes)
        still = []
        for number, entry, spans in zip(open_, tagged, more, strict=True):
            pieces = [piece for span in spans for piece in entry.back(span)]
            if is_withheld(pieces):
                found[number] = [withheld(texts[number] or "", pieces[0].reason)]
            elif pieces:
                if turn >= _WHOLE_WORDS:
                    pieces = _whole_words(texts[number] or "", pieces, found[number])
                found[number] = sorted([*found[number], *pieces], key=lambda span: span.start)
                still.append(number)
        open_ = still
    for number in open_:
        found[number] = [withheld(texts[number] or "", "it shows something new whenever it is searched again")]
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
    texts: Sequence[str | None], known: Sequence[KnownSet | None], model: TextModel | None, shapes: frozenset[str]
) -> list[list[Span]]:
    def extra(number: int, note: Note) -> list[Span]:
        mine = known[number]
        return [] if not mine or not note.text else without_what_it_says(note, find_known(note.text, mine))

    with without_collecting():
        found = find_spans(texts, model=model, extra=extra if any(known) else None, shapes=shapes)
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
