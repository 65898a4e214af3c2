"""What must stay: eponyms, drugs, body parts, states, countries, doses and plain numbers."""

from __future__ import annotations

import re
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
    LOWER,
    MONTH,
    ORG_END,
    ORG_START,
    PLACE,
    REGION,
    ROLE,
    SMALL,
    STAYS,
    STREET_DE,
    SURE,
    SURNAME,
    TITLE,
    UNKNOWN,
    WORD,
    WRITTEN_AS_NAME,
    is_word_of,
    lexicon,
)  # fmt: skip

_LINKS = frozenset(("de", "d'", "d’", "di", "del", "von", "nach", "of", "du"))
# a grade behind a name: `Ib`, `C1M3`, `type 6`; `IV` is a drip more often
_GRADE = re.compile(
    r"['’]?s? (?:(?!IV\b|I\b|VI?\b)[IVX]{1,4}[abc]?(?![\w.])|[A-Z]\d[A-Z]?\d?(?!\w)|(?:[a-z]{3,12} )?(?:cat|category"
    r"|type|grade|class|stage|score|risk|level|typ|grad|klasse|stadium|stade|classe|tipo|grado|clase|stadio|estadio"
    r"|índice)\.? (?:of )?(?:\d|[IVX]+\b|[A-D]\b))",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"[IVX]{1,4}[abc]?")
_ADJECTIVE = re.compile(r"[a-zäöüß]['’]?sche[nmrs]?$")  # Pfeiffersches Drüsenfieber
_GRADE_WORDS = terms.words_set(
    """
    cat category type grade class stage score risk level typ grad klasse stadium stade classe tipo grado clase stadio
    estadio índice
    """
)
# ends of words of medicine
_MEDICAL = tuple(
    terms.words_set(
        """
        pathy pathie patia itis oma osis ose emia ämie plasty plastik ectomy ectomie ectomia ostomy ostomie ostomia
        otomy otomie otomia algia plegia paresis parese trophy dystrophie sclerosis sklerose stenosis stenose scopy
        infarct seizure seizures nystagmus aneurysm haemangioma hydrocele respiration respirations facies pneumonia
        """
    )
)
_LIKE = ("-like", "-type", "-artig", "-artige", "-Typ")
_RESULTS = terms.words_set("positive negative pos neg positiv negativ positif négatif positivo negativo")
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
    found.update(_graded(note))
    found.update(_of_two_names(note))
    heads, scales = terms.rule("eponym_heads_of_any_name"), terms.rule("scales")
    for head in note.marked(HEAD):
        before, after = head - 1, head + 1
        named = head > 1 and words[head].lower() in scales and signs[head - 1] & WORD and not signs[head - 1] & SMALL
        if named and signs[head - 2] & WRITTEN_AS_NAME and not _after_title(note, head - 2):
            found.add(head - 2)  # Bristol stool scale
        if head and signs[before] & WRITTEN_AS_NAME and words[head] in heads and not _after_title(note, before):
            found.add(before)
        for place in (after, after + 1):
            if place < len(signs) and signs[place] & WRITTEN_AS_NAME and _after_head(note, place):
                found.add(place)
    found.update([place + 1 for place in found if _NUMERAL.fullmatch("".join(words[place + 1 : place + 2]))])
    return found


def _graded(note: Note) -> set[int]:
    """Names that a grade, a word of medicine or an ending makes eponyms.

    `Hinchey Ib`, `Payne-Martin cat 2`, `Takotsubo cardiomyopathy`, `Barrett's without dysplasia`, `Geiger-like`.
    """
    text, german = note.folded, note.language == "de"
    own_words = note.any_signs & COMMON_EPONYM and ("'s" in text or "\u2019s" in text)
    hyphens = german and "-" in text
    adjectives = german and "sche" in text
    heads = terms.rule("heads_before_names") if note.language in ("fr", "it", "es") else frozenset()
    alike = any(end in text for end in _LIKE)
    found, words = set(), note.words
    for place in note.marked(WRITTEN_AS_NAME):
        bits, word, end = note.signs[place], words[place], note.pieces[place][1]
        behind = words[place + 1 : place + 3]
        after = note.signs[place + 1] if place + 1 < len(note.signs) else 0
        before_bits = note.signs[place - 1] if place else 0
        beside = text[end : end + 1] == " "
        graded = (after & WRITTEN_AS_NAME or not _GRADE_WORDS.isdisjoint(behind)) and _GRADE.match(text, end)
        medical = after & LOWER and beside and behind[0].endswith(_MEDICAL)
        compound = hyphens and "-" in word and _is_compound(word) and not before_bits & GIVEN
        headed = place and heads and note.gap(place) == " " and note.words[place - 1] in heads
        adjective = adjectives and after & WRITTEN_AS_NAME and _ADJECTIVE.search(word)
        own = own_words and bits & COMMON_EPONYM and word[-2:] in ("'s", "\u2019s") and not after & ROLE
        if (
            graded or medical or own or compound or headed or adjective or (alike and word.endswith(_LIKE))
        ) and not _after_title(note, place):
            found.add(place)
            if adjective and after & WORD:
                found.add(place + 1)
            if place and note.words[place - 1] in ("Le", "La", "De", "Von", "Van") and note.gap(place) == " ":
                found.add(place - 1)
    return found


def _of_two_names(note: Note) -> set[int]:
    """`Child Pugh C`, `Ziehl-Neelsen`: eponyms that the list has with a hyphen; and a test by its result."""
    found, words, listed = set[int](), note.words, terms.by_key("eponyms")["alone"]
    for place in note.marked(WRITTEN_AS_NAME):
        behind = words[place + 1] if place + 1 < len(words) else ""
        if _after_title(note, place) or note.gap(place + 1) not in (" ", "-", " - ", "/"):
            continue
        if f"{words[place]}-{behind}".lower() in listed:
            found.update((place, place + 1))
        person = (note.signs[place] | note.signs[place - 1 if place else 0]) & (GIVEN | ROLE)
        follows = words[place + 2 : place + 3]
        if behind in _RESULTS and not person and follows not in (["for"], ["per"], ["auf"], ["à"], ["para"]):
            found.add(place)
    return found


def _is_compound(word: str) -> bool:
    """`Nash-Kurve`: a German word that no surname is stands behind the hyphen."""
    last = word.rsplit("-", 1)[1]
    return is_word_of(last.lower(), "de") and not lexicon()[last] & (SURNAME | ORG_START | ORG_END | STREET_DE | PLACE)


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
    found = []
    for span in spans:
        if span.kind in _WORDY and span.score < SURE_CONTEXT:
            span = _without_kept(note, span, kept)
        if span.start < span.end:
            found.append(span)
    return found


def _without_kept(note: Note, span: Span, kept: set[int]) -> Span:
    """A span without the words at its ends that stay; an empty one where all do."""
    first, last = bisect_left(note.pieces, (span.start,)), bisect_left(note.pieces, (span.end,))
    if first >= last or not (first in kept or last - 1 in kept):
        return span
    numbers = [number for number in range(first, last) if number not in kept]
    if not numbers:
        return span._replace(end=span.start)
    start = span.start if numbers[0] == first else note.pieces[numbers[0]][0]
    end = span.end if numbers[-1] == last - 1 else note.pieces[numbers[-1]][1]
    return span._replace(start=start, end=end)
