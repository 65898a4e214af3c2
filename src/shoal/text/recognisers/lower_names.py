"""Names in lower case: after an introduction, a word for a call or a relative, or as given name and surname."""

from __future__ import annotations

from functools import cache

from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.words import (
    ACTS,
    EITHER,
    EPONYM,
    GIVEN,
    HEAD,
    INTRODUCES,
    LOWER,
    MONTH,
    ORG_END,
    ORG_START,
    PARTICLE,
    PLACE,
    RARE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    SURE,
    SURNAME,
    TITLE,
    TOWN,
    UNKNOWN,
    WORD,
    is_inflected,
    is_word_of,
)  # fmt: skip

_NOT_NAMES = STAYS | ROLE | TITLE | MONTH | REGION | SMALL | ACTS | HEAD
_NOT_FREQUENT = _NOT_NAMES | WORD | PLACE | EPONYM | TOWN | ORG_END | ORG_START
_GAPS = frozenset((" ", "-", ": ", "/ "))
_MOST_WORDS = 4


class LowerNamesRecogniser(NoteByNote):
    """Names that are written without capitals, as people type who are in a hurry."""

    name = "lower names"
    kinds: tuple[TextKind, ...] = ("name",)

    def worth(self, block: Block) -> Array:
        """Notes with a word that announces a person, or a frequent name."""
        return block.marked(INTRODUCES) | block.marked(SURE)

    def find(self, note: Note) -> list[Span]:
        """Names in lower case."""
        found, signs = [], note.signs
        for place in note.marked(INTRODUCES):
            here = place + 1
            if here >= len(signs) or not signs[here] & LOWER or note.gap(here) not in _GAPS:
                continue
            strength = _announced(note, place)
            if strength == "persons" and not note.in_lower_case:
                continue
            last = _last(note, here, strength) if strength else None
            if last is not None:
                found.append(_span(note, here, last, 0.86, "in lower case after words that announce a person"))
        if note.in_lower_case:
            found += _frequent(note)
        return found + _pairs(note)


def _frequent(note: Note) -> list[Span]:
    """`vu avec stéphanie`: where all is in lower case, a frequent name that is not a word of the five languages."""
    found, signs = [], note.signs
    for place in note.lower_names:
        bits = signs[place]
        if not bits & _NOT_FREQUENT:
            long = 5 if bits & GIVEN else 6
            if len(note.words[place]) >= long and not note.folded.startswith(("'", "’"), note.pieces[place][1]):
                found.append(_span(note, place, place, 0.7, "frequent name in lower case"))
    return found


@cache
def _phrases() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Phrases before a name and what kind they are of, by their last word, longer ones first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind in ("introductions", "presentations", "contacts", "kin", "persons"):
        for phrase in terms.rule(kind):
            words = tuple(phrase.replace("'", "' ").replace("/", " ").split())
            found.setdefault(words[-1], []).append((words, kind))
    return {word: sorted(phrases, key=lambda entry: -len(entry[0])) for word, phrases in found.items()}


def _announced(note: Note, place: int) -> str | None:
    for phrase, kind in _phrases().get(note.words[place].lower(), ()):
        first = place + 1 - len(phrase)
        if first >= 0 and tuple(word.lower() for word in note.words[first : place + 1]) == phrase:
            return kind
    return None


def _last(note: Note, here: int, kind: str) -> int | None:
    """The last word of a name that starts here, if there is one."""
    bits = note.signs[here]
    word = note.words[here]
    strange = bits & UNKNOWN and note.in_lower_case and len(word) > 3 and word.isalpha()
    if (
        bits & _NOT_NAMES
        or (note.language == "en" and not bits & GIVEN and is_inflected(word))
        or not (bits & (GIVEN | SURNAME | RARE | SURE) or strange)
    ):
        return None
    last = _surname_behind(note, here)
    listed = bool(bits & (SURE | RARE) or strange) and len(word) > 2
    listed = listed or bool(bits & EITHER and bits & GIVEN and len(word) > 3 and not is_word_of(word, note.language))
    if kind == "introductions" and (bits & GIVEN or listed):
        return last
    if last > here and bits & GIVEN and (listed or note.signs[last] & SURNAME):
        return last
    if last > here and listed and note.signs[last] & (SURE | RARE):
        return last
    alone = listed and (bits & GIVEN or len(note.words[here]) > 4)
    return here if alone and (kind != "presentations" or bits & GIVEN) else None


def _surname_behind(note: Note, here: int) -> int:
    """The number of the last word of the surname behind a given name, or of the given name."""
    last, number = here, here + 1
    while number < len(note.signs) and number - here < _MOST_WORDS and note.gap(number) in (" ", "-", ""):
        bits = note.signs[number]
        if not bits & LOWER:
            break
        if bits & (SURE | RARE | EITHER | UNKNOWN) and not bits & _NOT_NAMES:
            if bits & EITHER and not bits & SURNAME:
                break
            last = number
            if not bits & GIVEN:
                break
        elif not bits & PARTICLE:
            break
        number += 1
    return last


def _pairs(note: Note) -> list[Span]:
    """`carmen diaz`: a given name and a surname side by side, neither of them a word of the five languages."""
    found, signs = [], note.signs
    last = len(signs) - 1
    for place in note.lower_names:
        bits = signs[place]
        if bits & GIVEN and not bits & (_NOT_NAMES | WORD) and place < last:
            after = signs[place + 1]
            listed = after & LOWER and after & SURNAME and after & SURE and not after & _NOT_NAMES
            if listed and note.gap(place + 1) == " " and note.words[place + 1][-1].isalpha():
                found.append(_span(note, place, place + 1, 0.85, "given name and surname in lower case"))
    return found


def _span(note: Note, first: int, last: int, score: float, reason: str) -> Span:
    return Span(note.pieces[first][0], note.pieces[last][1], "name", score, reason)


RECOGNISER = LowerNamesRecogniser()
