"""Names of people: by titles, roles, phrases, capitals, lists with frequencies and the shape of the sentence."""

from __future__ import annotations

import re

from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.name_seeds import Seeds, seeds_of
from shoal.text.words import (
    ACTS,
    CAPITAL,
    EITHER,
    GIVEN,
    HEAD,
    INITIAL,
    LOWER,
    MAYBE_NAME,
    MONTH,
    PARTICLE,
    PLACE,
    RARE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    SURNAME,
    TITLE,
    UNKNOWN,
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    is_word_of,
    without_genitive,
)  # fmt: skip

_INITIALS = re.compile(r"(?<![\w.])[A-Z]\.\s?[A-Z]\.(?:\s?[A-Z]\.)?(?![\w])")
_BEFORE_INITIALS = re.compile(
    r"(?i)\b(?:by|with|minor|child|witness|victim|defendant|von|zeuge|zeugin|kind|par|mineur|enfant|da|minore|menor"
    r"|por),?\s$"
)
_JOINED = frozenset((" ", ". ", ".", "-", "", ", ", "  ", ' "', '" ', " “", "” ", ' ("', '") '))
_ONE_LETTER_WORDS = frozenset("AIEYOÀ")
_ZIP = re.compile(r",?\s(?:\d{5}(?!\d)|\[)")  # or its tag
_BEFORE_NAMES = {"fr": "MV", "es": "DV", "it": "DV"}  # titles of one letter, and the V. between parties
_AROUND_NICKNAMES = frozenset((' "', '" ', " “", "” ", ' ("', '") '))
_MOST_WORDS = 6


class NamesRecogniser(NoteByNote):
    """Seeds are words that something says are names; names grow from seeds to both sides."""

    name = "names"
    kinds: tuple[TextKind, ...] = ("name",)

    def worth(self, block: Block) -> Array:
        """Notes with a word."""
        return block.marked(WRITTEN_AS_NAME | TITLE | LOWER)

    def find(self, note: Note) -> list[Span]:
        """Names in the note."""
        seeds = seeds_of(note)
        found = _grown(note, seeds) if seeds else []
        return found + _initials(note) if note.any_signs & INITIAL and "." in note.folded else found


def _grown(note: Note, seeds: Seeds) -> list[Span]:
    """Seeds joined with their neighbours into whole names."""
    taken: Seeds = dict(seeds)
    for place in sorted(seeds):
        if not note.signs[place] & LOWER or note.signs[place] & PARTICLE:
            _grow(note, place, taken, 1)
            _grow(note, place, taken, -1)
    spans: list[Span] = []
    for place in sorted(taken):
        score, reason = taken[place]
        start, end = note.pieces[place]
        end -= len(note.words[place]) - len(without_genitive(note.words[place]))
        if spans and place - 1 in taken and note.folded[spans[-1].end : start] in _JOINED:
            before = spans[-1]
            if note.gap(place) != ", " or before.reason == "surname, given name":
                best = max((before.score, before.reason), (score, reason))
                spans[-1] = Span(before.start, end, "name", best[0], best[1])
                continue
        spans.append(Span(start, end, "name", score, reason))
    return spans


def _grow(note: Note, place: int, taken: Seeds, step: int) -> None:
    """Further words of the name on one side; particles only between words of the name."""
    signs, seed = note.signs, taken[place]
    shape = UPPER if signs[place] & UPPER else WRITTEN_AS_NAME
    here, pending = place + step, list[int]()
    while 0 <= here < len(signs) and abs(here - place) < _MOST_WORDS:
        bits = signs[here]
        if not _joins(note, here, step) or (here in taken and not pending):
            break
        if here in taken:
            taken.update(dict.fromkeys(pending, seed))
            break
        if (bits & PARTICLE and not bits & (UPPER | INITIAL)) or (step > 0 and _short_particle(note, here)):
            pending.append(here)
            if bits & CAPITAL and step < 0 and len(pending) == 1:
                taken[here] = seed
        elif bits & (shape | INITIAL) and (
            _continues(note, here, bits, step) or _word_as_surname(note, here, bits, step, pending)
        ):
            taken.update(dict.fromkeys([*pending, here], seed))
            pending = []
        else:
            break
        here += step


def _joins(note: Note, here: int, step: int) -> bool:
    """Whether nothing but a blank, a hyphen or the dot of an initial stands between a word and the name beside it."""
    left = here - 1 if step > 0 else here
    gap = note.gap(left + 1)
    if gap in _AROUND_NICKNAMES and note.signs[left] & CAPITAL and note.signs[left + 1] & CAPITAL:
        return bool(note.signs[left] & note.signs[left + 1] & MAYBE_NAME or note.signs[left] & GIVEN)
    if gap in (" ", "", "-", " - "):
        return step > 0 or not (note.signs[here] & INITIAL and note.words[here] in _ONE_LETTER_WORDS and gap == " ")
    short = note.words[left] in ("St", "Ste") or (step > 0 and _short_particle(note, left))
    return gap in (". ", ".") and bool(note.signs[left] & INITIAL or short)


def _short_particle(note: Note, here: int) -> bool:
    """`v.` and `d.` before a capital or another of them: `Moritz v. Alvensloh`, `Anna v. d. Heide`."""
    if (
        note.language != "de"
        or note.words[here] not in ("v", "d", "z")
        or not note.folded.startswith(". ", note.pieces[here][1])
    ):
        return False
    after = note.signs[here + 1] if here + 1 < len(note.signs) else 0
    return bool(after & CAPITAL) or note.words[here + 1 : here + 2] == ["d"]


def _continues(note: Note, here: int, bits: int, step: int) -> bool:
    """Whether a word written as a name goes on with the name beside it."""
    end = note.pieces[here][1]
    if bits & INITIAL and note.folded.startswith(".", end):
        return step > 0 or note.words[here] not in _BEFORE_NAMES.get(note.language, "V")
    if bits & UPPER and _ZIP.match(note.folded, end):  # Fremont CA 94536
        return False
    if here in note.protected and not bits & (GIVEN | SURNAME):
        return False
    if bits & (ROLE | TITLE | MONTH) and not (step > 0 and bits & SURNAME and note.signs[here - 1] & (GIVEN | INITIAL)):
        return False
    if bits & STAYS and not bits & (GIVEN | SURNAME):
        return False
    if bits & INITIAL:
        return True
    if bits & WORD and step < 0 and not bits & (UPPER | SMALL | ACTS | HEAD | PLACE | REGION):  # Beat, Grit in German
        return 3 < len(note.words[here]) < 10 and not is_word_of(note.words[here].lower(), note.language)
    if step < 0 and note.starts(here) and bits & EITHER and not bits & GIVEN:
        return False
    if bits & (ACTS | SMALL) and bits & (WORD | EITHER) and note.language != "de" and not bits & GIVEN:
        return False
    return bool(bits & MAYBE_NAME)


def _word_as_surname(note: Note, here: int, bits: int, step: int, pending: list[int]) -> bool:
    """After a given name or a particle, a dictionary word in capitals is a surname: `Ansgar Kaltwasser`."""
    if step < 0 or not bits & WORD or here in note.protected:
        return False
    if bits & (STAYS | ROLE | TITLE | ACTS | SMALL | MONTH | HEAD | REGION | PLACE):
        return False
    if note.words[here].lower() in terms.last_words_of_organisations():
        return False
    if (
        bits & UPPER
        and note.words[here].endswith(("ED", "ING", "TO", "TA", "DO", "DA"))
        and note.signs[here - 1] & SURNAME
    ):
        return False  # NIAMH DELANEY CONTACTED
    before = note.signs[here - 1]
    return (
        (bool(pending) and note.language != "de")
        or bool(before & (GIVEN | INITIAL))
        or bool(before & (RARE | UNKNOWN) and not before & SURNAME)
    )


def _initials(note: Note) -> list[Span]:
    """People that courts call by their initials: `L.T.`"""
    found = []
    for match in _INITIALS.finditer(note.folded):
        letters = re.sub(r"[\s.]", "", match[0])
        if letters not in terms.rule("not_initials") or _BEFORE_INITIALS.search(
            note.folded, max(0, match.start() - 24), match.start()
        ):
            found.append(Span(match.start(), match.end(), "name", 0.6, "initials"))
    return found


RECOGNISER = NamesRecogniser()
