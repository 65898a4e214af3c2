"""Places: by lists of cities, by words such as `lives in`, before a state, and after a postal code."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from shoal.identifiers.letters import plain
from shoal.identifiers.lists import STATE_CODES
from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.words import (
    ACTS,
    CAPITAL,
    EITHER,
    GIVEN,
    HEAD,
    LOCATIVE,
    LONG_PLACE,
    LONG_REGION,
    LONG_TOWN,
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
    STREET_EN,
    SURE,
    TITLE,
    TOWN,
    UNKNOWN,
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    first_words_of_towns,
    without_genitive,
)  # fmt: skip

_CODE = re.compile(r"(?<![\w.,/-])(?:(?:D|A|CH|F|I|E)-)?\d{4,5}(?= [A-ZÀ-ÖØ-Þ])")
_STATES = "|".join(sorted(code.upper() for code in STATE_CODES))
_STATE = re.compile(rf",\s(?:{_STATES})(?!\w)")
_CODE_BEHIND = re.compile(rf"\s(?:[A-Z]{{1,2}}\d[A-Z\d]? ?\d[A-Z]{{2}}|(?:{_STATES})\s\d{{5}})(?!\w)")
_DOSE = re.compile(rf"\s?{terms.alternation('dose_units')}(?![\w-])")
_ARTICLES = frozenset(("El", "La", "Los", "Las", "Le", "Les", "L'", "L’", "Il", "Lo", "Bad", "Sankt", "St"))
_NOT_PLACES = STAYS | MONTH | ROLE | TITLE | REGION


class PlacesRecogniser(NoteByNote):
    """Cities, towns, villages."""

    name = "places"
    kinds: tuple[TextKind, ...] = ("place", "postal_code")

    def worth(self, block: Block) -> Array:
        """Notes with digits, a place, or a word before one."""
        return block.has_digits | block.marked(PLACE | LONG_PLACE | LOCATIVE | TOWN | REGION | LONG_REGION | UPPER)

    def find(self, note: Note) -> list[Span]:
        """Places in the note."""
        found: list[Span] = []
        signs = note.signs
        before = terms.rule(f"in_{note.language}")
        for place in note.marked(PLACE | LONG_PLACE):
            bits = signs[place]
            if not bits & WRITTEN_AS_NAME:
                continue
            plain_city = not bits & (EITHER | WORD) or (not note.starts(place) and note.language != "de")
            if bits & PLACE and plain_city and not (bits & UPPER and len(note.words[place]) < 4):
                found.append(_span(note, place, place, 0.72, "city of the list"))
            if bits & LONG_PLACE:
                found += _listed(note, place)
        for number in note.marked(LOCATIVE):
            place = number + 1
            if (
                place < len(signs)
                and note.gap(place) == " "
                and (signs[place] & (TOWN | LONG_TOWN) or (note.in_lower_case and signs[place] & LOWER))
            ):
                found += _town(note, place)
            if (
                place < len(signs)
                and signs[place] & CAPITAL
                and note.gap(place) == " "
                and note.words[number].lower() in before
            ):
                found += _with_article(note, place)
                found += _after_preposition(note, place)
        return (
            found
            + _between_commas(note)
            + _shouted(note)
            + _before_state(note)
            + _after_code(note)
            + _before_code(note)
        )


def _span(note: Note, first: int, last: int, score: float, reason: str) -> Span:
    end = note.pieces[last][1] - len(note.words[last]) + len(without_genitive(note.words[last]))
    return Span(note.pieces[first][0], end, "place", score, reason)


def _between_commas(note: Note) -> list[Span]:
    """`Dr. Weber, Kufstein.`: a town of the lists that stands alone behind a comma; in lower case where all is."""
    found = []
    if ", " not in note.folded:
        return []
    for place in note.marked(TOWN | PLACE) if note.any_signs & (TOWN | PLACE) else ():
        bits = note.signs[place]
        behind = note.folded[note.pieces[place][1] : note.pieces[place][1] + 1]
        if note.gap(place) != ", " or behind not in ("", "\n", ".", ",", ";", ")"):
            continue
        if bits & (_NOT_PLACES | SMALL | WORD | EITHER | GIVEN) and not (
            bits & PLACE and bits & CAPITAL and not bits & GIVEN
        ):
            continue
        if bits & WRITTEN_AS_NAME or (note.in_lower_case and bits & PLACE):
            found.append(_span(note, place, place, 0.7, "town of the list behind a comma"))
    return found


def _lives(note: Note, number: int) -> bool:
    return any(word.lower() in terms.rule("lives") for word in note.words[max(0, number - 2) : number])


def _shouted(note: Note) -> list[Span]:
    """`EN YECLA`, `À CHOLET`: in a note in capitals an unknown word behind a word for being somewhere."""
    if len(note.marked(UPPER)) * 2 < len(note.signs):
        return []
    before = terms.rule(f"in_{note.language}")
    return [
        _span(note, number + 1, number + 1, 0.66, "after a word for being somewhere")
        for number in note.marked(LOCATIVE)
        if number + 1 < len(note.signs)
        and note.gap(number + 1) == " "
        and note.words[number].lower() in before
        and note.signs[number + 1] & UPPER
        and (
            note.signs[number + 1] & (UNKNOWN | RARE) or (note.signs[number + 1] & MAYBE_NAME and _lives(note, number))
        )
        and not note.signs[number + 1] & (_NOT_PLACES | SMALL)
        and len(note.words[number + 1]) > 4
    ]


def _with_article(note: Note, place: int) -> list[Span]:
    """`a El Hierro`, `à Le Mans`: an article in capitals inside a sentence, and the word behind it."""
    after = note.signs[place + 1] if place + 1 < len(note.signs) else 0
    if note.words[place] not in _ARTICLES or not after & CAPITAL or note.gap(place + 1) not in (" ", ""):
        return []
    if after & (_NOT_PLACES | SMALL) or place + 1 in note.protected:
        return []
    return [_span(note, place, place + 1, 0.7, "after a word for being somewhere")]


def _town(note: Note, place: int) -> list[Span]:
    """A town of the long list after a word for being somewhere, also in lower case where all of a note is."""
    bits = note.signs[place]
    last = place
    if note.in_lower_case and bits & LOWER and not bits & (TOWN | LONG_TOWN):
        lives = not terms.rule("lives").isdisjoint(word.lower() for word in note.words[max(0, place - 3) : place])
        strange = bits & (UNKNOWN | RARE | SURE) and not bits & (_NOT_PLACES | SMALL) and len(note.words[place]) > 3
        return [_span(note, place, place, 0.7, "after a word for living somewhere")] if lives and strange else []
    for words in first_words_of_towns().get(plain(note.words[place]).split("-")[0], ()) if bits & LONG_TOWN else ():
        if tuple(plain(word) for word in note.words[place : place + len(words)]) == words:
            last = max(last, place + len(words) - 1)
    if last == place and not bits & TOWN:
        return []
    alone = last == place
    if bits & WRITTEN_AS_NAME and not (alone and bits & (_NOT_PLACES | SMALL)) and place not in note.protected:
        return [_span(note, place, last, 0.8, "town of the list after a word for being somewhere")]
    lower = note.in_lower_case and (not alone or (bits & (UNKNOWN | RARE | SURE) and len(note.words[place]) > 4))
    return [_span(note, place, last, 0.75, "town of the list after a word for being somewhere")] if lower else []


def _listed(note: Note, place: int) -> list[Span]:
    for words in terms.long_places().get(plain(note.words[place]).split("-")[0], ()):
        here = [plain(word) for word in note.words[place : place + len(words)]]
        if tuple(here) == words and all(
            note.signs[n] & (WRITTEN_AS_NAME | PARTICLE) for n in range(place, place + len(words))
        ):
            return [_span(note, place, place + len(words) - 1, 0.85, "city of the list")]
    return []


def run_of(note: Note, place: int, most: int = 5) -> int:
    """The last word of a run of words written as names, small words between them allowed."""
    signs, last, here = note.signs, place, place + 1
    while here < len(signs) and here - place < most and note.gap(here) in (" ", "-"):
        bits = signs[here]
        if bits & CAPITAL and not bits & (_NOT_PLACES | SMALL):
            last = here
        elif note.words[here] not in terms.rule("place_joins"):
            break
        here += 1
    return last


def _after_preposition(note: Note, place: int) -> list[Span]:
    bits, end = note.signs[place], note.pieces[place][1]
    if (bits & _NOT_PLACES and not bits & PLACE) or place in note.protected:
        return []
    if bits & (WORD | EITHER) and note.folded[end : end + 1] == " " and note.folded[end + 1 : end + 2].isdigit():
        return []  # Ward 4
    last = run_of(note, place)
    lives = any(word.lower() in terms.rule("lives") for word in note.words[max(0, place - 4) : place])
    some = any(
        note.signs[n] & (SURE | RARE | UNKNOWN | PLACE) and n not in note.protected for n in range(place, last + 1)
    )
    if note.language == "de":
        last = last if some and lives else place
        some = bool(bits & (SURE | RARE | UNKNOWN | PLACE)) and not bits & STAYS
    if bits & MAYBE_NAME and some:
        return [_span(note, place, last, 0.8 if lives else 0.74, "after a word for being somewhere")]
    words = {word.lower() for word in note.words[place : last + 1]}
    named = last > place and note.language == "en" and words.isdisjoint(terms.rule("generic_organisations"))
    if (
        some
        or (named and not bits & (ACTS | HEAD | SMALL))
        or (lives and not bits & (ACTS | HEAD | SMALL) and note.language != "de")
        or (lives and bits & PLACE)
    ):
        return [_span(note, place, last, 0.72, "after a word for living somewhere")]
    return []


def _before_state(note: Note) -> list[Span]:
    """`Mobile, Alabama` and `Dayton, OH`."""
    found = []
    signs = note.signs
    if ", " not in note.folded:
        return []
    for place in note.marked(REGION | LONG_REGION | UPPER):
        if (
            not place
            or not signs[place] & WRITTEN_AS_NAME
            or note.gap(place) != ", "
            or not signs[place - 1] & WRITTEN_AS_NAME
        ):
            continue
        code = _STATE.match(note.folded, note.pieces[place][0] - 2)
        if not (code or (signs[place] & REGION and place in note.protected) or _starts_region(note, place)):
            continue
        first = place - 1
        while (
            first
            and note.gap(first) in (" ", ". ")
            and signs[first - 1] & CAPITAL
            and not signs[first - 1] & (_NOT_PLACES | SMALL)
        ):
            first -= 1
        if not signs[place - 1] & (_NOT_PLACES | SMALL):
            found.append(_span(note, first, place - 1, 0.86, "before a state or country"))
    return found


def _starts_region(note: Note, place: int) -> bool:
    return place in note.protected and place + 1 in note.protected and bool(note.signs[place] & CAPITAL)


def _codes(note: Note) -> Iterator[re.Match[str]]:
    """Codes of four or five digits, with the letter of a country before them or not."""
    text = note.folded
    for start, end in note.digits:
        if 4 <= end - start <= 5 and text[end : end + 1] == " ":
            for left in (start - 3, start - 2, start) if text[start - 1 : start] == "-" else (start,):
                match = _CODE.match(text, left) if left >= 0 else None
                if match is not None:
                    yield match
                    break


def _after_code(note: Note) -> list[Span]:
    """`80331 München`: the code and the place after it."""
    if not note.has_digits:
        return []
    found = []
    for match in _codes(note):
        place = bisect_left(note.pieces, (match.end() + 1,))
        behind = place < len(note.pieces) and note.pieces[place][0] == match.end() + 1
        if not behind or _DOSE.match(note.folded, match.end()):
            continue
        bits = note.signs[place]
        address = note.folded[max(0, match.start() - 2) : match.start()] == ", "
        if (
            bits & STAYS
            or not (bits & (MAYBE_NAME | PLACE) or address)
            or (bits & EITHER and not address and not bits & (PLACE | TOWN))
        ):
            continue
        found.append(Span(*match.span(), "postal_code", 0.9, "before a place"))
        found.append(_span(note, place, run_of(note, place), 0.9, "after a postal code"))
    return found


def _before_code(note: Note) -> list[Span]:
    """`Oxford OX3 9DU`, `Fremont CA 94536`: the words in capitals before a code that closes an address."""
    found = []
    text = note.folded
    near = any(end - start == 5 or text[end : end + 2].isupper() for start, end in note.digits)
    for match in _CODE_BEHIND.finditer(text) if near else ():
        place = bisect_left(note.pieces, (match.start(),)) - 1
        if place < 0 or note.folded[note.pieces[place][1] : match.start()] not in ("", ","):
            continue
        first = place
        while first and note.gap(first) == " " and note.signs[first - 1] & WRITTEN_AS_NAME and place - first < 3:
            first -= 1
        if note.signs[place] & WRITTEN_AS_NAME and not note.signs[place] & (_NOT_PLACES | SMALL | STREET_EN):
            found.append(_span(note, first, place, 0.86, "before a postal code"))
    return found


RECOGNISER = PlacesRecogniser()
