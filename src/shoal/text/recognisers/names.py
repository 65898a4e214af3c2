"""Names of people: by titles, roles, phrases, capitals, lists with frequencies and the shape of the sentence."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

from shoal.storage import Array
from shoal.text import terms
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.words import (
    ACTS,
    CAPITAL,
    COMMON_EPONYM,
    DEGREE,
    EITHER,
    EPONYM,
    GIVEN,
    HEAD,
    INITIAL,
    INTRODUCES,
    LOWER,
    MAYBE_NAME,
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
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    is_inflected,
    is_word_of,
    without_genitive,
)

# Words that something says are names: a title, a role, a phrase, a degree, the lists, the shape of the sentence.

STRONG, GOOD, FAIR, WEAK = 0.95, 0.88, 0.7, 0.55
Seeds = dict[int, tuple[float, str]]
Seed = tuple[float, str]

_AFTER_TITLE = frozenset((" ", ". ", ".", "  ", ".  ", ": "))
_AFTER_ROLE = frozenset((
    " ", ", ", ": ", " (", ":", ",\n", ",\n\n", ": \n", ":\n", " - ", "  ", ". ", ":  ", " : ", " « ", " «", " „",
    ': "', ' "', ":\t", ", \n",
))  # fmt: skip
# titles that are common words or letters: only in their language and form
_ONE_LANGUAGE = {
    "m": "fr", "mm": "fr", "me": "fr", "pr": "fr", "d": "es", "don": "es it", "hr": "de", "sor": "es", "fr": "de",
    "ra": "de", "oa": "de", "oä": "de", "sta": "de", "rä": "de", "rain": "de", "ing": "it de es", "arch": "it",
    "père": "fr", "rag": "it", "geom": "it", "lic": "es", "fdo": "es", "sto": "es", "gen": "en it de",
    "col": "en es", "maj": "en",
}  # fmt: skip
# titles that are something else in capitals or in lower case
_EXACT = {
    "lt": ("Lt",), "col": ("Col",), "maj": ("Maj",), "gen": ("Gen", "gen"), "pc": ("PC",), "fr": ("Fr",), "ra": ("RA",),
    "oa": ("OA",), "oä": ("OÄ",), "sta": ("StA",), "det": ("Det",), "ing": ("Ing", "ing"), "arch": ("Arch", "arch"),
    "sto": ("Sto",), "coach": ("Coach",), "principal": ("Principal",),
}  # fmt: skip
_DEGREES = frozenset(
    ["med", "Med", "univ", "Psych", "Ing", "Päd", "Soz", "ra", "ssa", "dent", "phil", "jur", "rer", "nat", "h", "c"]
)
_CREDENTIAL = re.compile(r",\s(?:M\.D\.|R\.N\.|Ph\.D\.|D\.O\.|Esq\b)")
# titles behind which one letter is a name
_WHOLE_TITLES = frozenset(
    ("mr", "mrs", "ms", "miss", "herr", "frau", "mme", "mlle", "sig", "sra", "señor", "señora", "signora")
)
_LISTING = re.compile(r"^\s*(?:\([^()]{1,12}\))?,?\s*$")
_AGED = re.compile(r"^ \(\d{1,2}\), $")
_ANDS = frozenset(("and", "und", "et", "e", "ed", "y", "v", "vs"))
_MOST_TITLES = 6  # `Herr Prof. Dr. Dr. h. c.`; a bound keeps hostile text linear
_NOT_GIVEN = frozenset(("See", "Per", "Case", "Ask", "Call", "Vue", "Vu", "Lee", "Son", "Dal", "Dai"))
_NOT_NAMES = STAYS | ROLE | MONTH | REGION | TITLE


@cache
def _phrases() -> dict[str, list[tuple[str, ...]]]:
    """Phrases before a name, by their last word."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in terms.phrases("before_name"):
        words = tuple(re.split(r"[ /.]", phrase))
        found.setdefault(words[-1], []).append(words)
    return found


def seeds_of(note: Note) -> Seeds:
    """The numbers of the words that are names by themselves, each with its score and reason."""
    signs, seeds = note.signs, Seeds()
    shouting = len(note.marked(UPPER)) * 2 > len(signs)
    titles_end = 0
    for place in note.marked(WRITTEN_AS_NAME | TITLE):
        bits = signs[place]
        title = False
        if bits & TITLE and _is_title(note, place):
            if place >= titles_end:  # else it is one of the titles of which the end is known
                titles_end = _titles_end(note, place + 1)
            title = _after_title(note, place, titles_end, seeds)
        if title or not bits & WRITTEN_AS_NAME or place in seeds:
            continue
        behind_role = place and (signs[place - 1] | signs[place - 2 if place > 1 else 0]) & ROLE
        if not bits & (MAYBE_NAME | INITIAL | GIVEN) and not behind_role:  # a word: it needs somebody before it
            continue
        if place in note.protected and (not bits & GIVEN or bits & (EPONYM | COMMON_EPONYM)):
            continue
        start, end = note.pieces[place]
        if note.folded[end : end + 1].isdigit() or (start and note.folded[start - 1].isdigit()):  # SpO2, 98F
            continue
        seed = _by_context(note, place, bits) or _by_shape(note, place, bits, shouting)
        if seed is not None and not (place in note.protected and seed[0] < GOOD):
            seeds[place] = seed
    _by_lines(note, seeds)
    _by_credentials(note, seeds)
    _beside_names(note, seeds)
    _at_the_end(note, seeds)
    return seeds


def _by_lines(note: Note, seeds: Seeds) -> None:
    """A name on a line of its own behind a line that ends with a comma: `Cordialement,` and `Leire`."""
    if ",\n" not in note.folded:
        return
    for place in note.marked(CAPITAL):
        if place < 2 or place in seeds or note.gap(place) not in (",\n", ",\n\n", ", \n"):
            continue
        line = note.folded[note.pieces[place][0] :].split("\n", 1)[0]
        bits = note.signs[place]
        if len(line.split()) < 4 and bits & MAYBE_NAME and not bits & (_NOT_NAMES | SMALL | ACTS | ROLE):
            seeds[place] = (GOOD - 0.03, "signs a note")


def _at_the_end(note: Note, seeds: Seeds) -> None:
    """A name that signs: the last words of a note or line, alone or behind a greeting (`Dein Bruno`, `- Bob`)."""
    last = len(note.signs) - 1
    if last < 4 or last in seeds or note.folded[note.pieces[last][1] :].strip(" .\n)"):
        return
    bits, gap = note.signs[last], note.gap(last)
    if bits & LOWER and note.words[last - 1].lower() in terms.rule("closings") and gap in (" ", ", ", ",\n", "\n"):
        if bits & MAYBE_NAME and not bits & (EITHER | SMALL | _NOT_NAMES | ACTS) and len(note.words[last]) > 2:
            seeds[last] = (GOOD - 0.03, "signs a note")
        return
    if not bits & CAPITAL or bits & (INITIAL | SMALL | STAYS | REGION | MONTH | ROLE) or not bits & (GIVEN | SURNAME):
        return
    ended = (" ", ", ", ",\n", "\n", ". ", "! ", " - ")
    closing = note.words[last - 1].lower() in terms.rule("closings") and gap in ended
    if closing or (gap.strip(" ,-–") == "\n" or gap in (" -", " - ", "\n\n", ",\n", ".\n", "\n-", "\n- ")):
        seeds[last] = (GOOD - 0.03, "signs a note")


def _is_title(note: Note, place: int) -> bool:
    word = note.words[place]
    lower = word.lower()
    if lower in _ONE_LANGUAGE:
        if note.lower.startswith(".ssa", note.pieces[place][1]):
            return True
        if note.language not in _ONE_LANGUAGE[lower]:
            return False
        shouted = word.islower() and not note.in_lower_case
        if len(word) == 1 and (shouted or not note.folded.startswith(".", note.pieces[place][1])):
            return False
        if len(word) == 1 and word.islower():
            return True
    if lower == "fam" and note.language != "de":
        return False
    if lower in _EXACT and (word not in _EXACT[lower] or not _surely_behind(note, place)):
        return False
    before = note.signs[place - 1] if place else 0
    if before & GIVEN and before & CAPITAL and note.gap(place) == " " and note.signs[place] & SURNAME:
        return False
    return word[0].isupper() or lower in terms.rule("titles_in_lower_case")


def _surely_behind(note: Note, place: int) -> bool:
    """Whether what stands behind a title that may be something else can hardly be a word: `PC Hargreaves`."""
    after = note.signs[place + 1] if place + 1 < len(note.signs) else 0
    if note.words[place].isupper() and note.gap(place + 1) != " ":
        return False
    return bool(
        after & WRITTEN_AS_NAME and after & (MAYBE_NAME | TITLE | INITIAL) and not after & (STAYS | SMALL | ACTS)
    )


def _titles_end(note: Note, here: int) -> int:
    """Where the titles end that follow each other from here on."""
    signs, last = note.signs, len(note.signs)
    while here < last and signs[here] & TITLE and not signs[here] & (SURE | SURNAME) and note.gap(here) in _AFTER_TITLE:
        here += 1
    return here


def _after_title(note: Note, place: int, titles_end: int, seeds: Seeds) -> bool:
    """Marks the word after a title, past further titles and particles; whether there is one."""
    signs, words, last = note.signs, note.words, len(note.signs)
    most = min(last, place + _MOST_TITLES)
    here = max(place + 1, min(titles_end, most))
    while here < most and (words[here] in _DEGREES or words[here] in ("MED", "SSA", "RA", "DENT", "PHIL", "JUR")):
        here += 1
    first = here
    while here + 1 < last and here - first < 3 and _is_particle(note, here):
        here += 1
    if here >= last or note.gap(first) not in _AFTER_TITLE:
        return False
    bits = signs[here]
    if bits & WRITTEN_AS_NAME:
        good = (
            (bits & INITIAL and words[place].lower() in _WHOLE_TITLES)
            or (bits & MAYBE_NAME and (not bits & ROLE or bits & SURNAME))
            or not bits & (SMALL | ROLE | ACTS | TITLE | STAYS | MONTH)
        )
        if good and not (here > first and bits & WORD and words[first].islower() and note.language == "de"):
            seeds.update(dict.fromkeys(range(first, here + 1), (STRONG, "after a title")))
            return True
    elif bits & LOWER and (first == here or note.in_lower_case) and not bits & (SMALL | ACTS | ROLE | HEAD | WORD):
        lower = words[place].lower() in terms.rule("titles_in_lower_case") or words[place] == "m"
        if lower and (bits & (SURE | RARE | UNKNOWN) or bits & SURNAME) and not bits & STAYS:
            behind = signs[here + 1] if here + 1 < last and note.gap(here + 1) == " " else 0
            if behind & LOWER and behind & (SURE | RARE | UNKNOWN) and not behind & (_NOT_NAMES | SMALL | ACTS):
                here += 1  # mrs wendy achterberg
            seeds.update(dict.fromkeys(range(first, here + 1), (STRONG, "after a title")))
            return True
    return False


def _is_particle(note: Note, here: int) -> bool:
    """A small word of a surname with more of the name behind it."""
    bits, after = note.signs[here], note.signs[here + 1]
    return (
        bool(bits & PARTICLE)
        and note.gap(here + 1) in (" ", "", ". ")
        and bool(after & (WRITTEN_AS_NAME | PARTICLE) or (note.in_lower_case and after & SURNAME and after & SURE))
    )


def _by_context(note: Note, place: int, bits: int) -> Seed | None:
    """By a role, a label or a phrase before the word."""
    if not place or _is_numbered(note, place):
        return None
    gap, word = note.gap(place), note.words[place - 1].lower()
    social = word in ("social", "sociale", "sociali") and place > 1 and note.signs[place - 2] & ROLE
    if (
        (note.signs[place - 1] & ROLE or social)
        and gap in _AFTER_ROLE
        and (gap != ". " or word in terms.rule("role_abbreviations"))
    ):
        named = word in terms.rule("labels_of_names") and ":" in gap
        least = 5 if bits & UNKNOWN else 4
        short = bits & UPPER and not named and len(note.words[place]) < least and not note.signs[place - 1] & UPPER
        maybe = bits & MAYBE_NAME and not bits & (ACTS | ROLE | TITLE | SMALL)
        if (maybe or (named and not bits & (ROLE | TITLE | SMALL | STAYS))) and not short:
            return GOOD, "after a word for a person"
        if _word_after_role(note, place, bits, gap):
            return GOOD - 0.03, "after a word for a person"
    if (
        bits & MAYBE_NAME
        and gap in (" ", ": ", ". ", "/ ", "/", ' "', " '", " “", " «", " « ", " (")
        and not bits & (ROLE | ACTS | TITLE | REGION | PLACE | SMALL)
    ):
        for phrase in _phrases().get(word, ()):
            words = tuple(found.lower() for found in note.words[place - len(phrase) : place])
            least = 7 if bits & UNKNOWN and not note.signs[place - 1] & UPPER else 5
            if words == phrase and not (bits & UPPER and len(note.words[place]) < least):
                return GOOD, "after a phrase that announces a person"
    return None


def _word_after_role(note: Note, place: int, bits: int, gap: str) -> bool:
    """`her friend Hope`, `la educadora Inmaculada`: a word in capitals behind a role in lower case."""
    if note.language == "de" or gap not in (" ", ' "', " «", " “"):
        return False
    if not note.signs[place - 1] & LOWER and is_word_of(note.words[place].lower(), note.language):
        return False
    if (
        not bits & CAPITAL
        or bits & INITIAL
        or bits & (_NOT_NAMES | SMALL | PLACE | HEAD | ORG_END | ORG_START | EPONYM)
    ):
        return False
    after = note.signs[place + 1] if place + 1 < len(note.signs) else 0
    return bool(bits & (WORD | EITHER)) and not (after & CAPITAL and after & (ORG_END | ROLE))


def _by_shape(note: Note, place: int, bits: int, shouting: bool) -> Seed | None:
    """By the word itself, its neighbours and its place in the sentence."""
    after = note.signs[place + 1] if place + 1 < len(note.signs) else 0
    gap = note.gap(place + 1) if after else ""
    if bits & INITIAL:
        return _initial(note, place, after, gap)
    if bits & _NOT_NAMES and not bits & GIVEN:
        return None
    follows = gap == " " and bool(after & WRITTEN_AS_NAME) and bool(bits & UPPER) == bool(after & UPPER)
    open_after = (after & MAYBE_NAME and not after & (_NOT_NAMES | INITIAL | SMALL)) or (
        after & SURNAME and after & TITLE
    )
    sure = bits & SURE or after & (SURE | RARE | UNKNOWN | SURNAME) or not note.starts(place)
    kin = bits & ROLE and after & GIVEN  # Oma Hilde
    if follows and bits & GIVEN and open_after and sure and not bits & SMALL and not kin and not _plainly(note, place):
        return GOOD, "given name and surname"
    shouted = bits & UPPER and after & UPPER and bits & SURE and bits & SURNAME
    turned = gap == ", " and after & GIVEN and (after & SURE or shouted) and note.starts(place)
    if turned and bits & (SURE | RARE | UNKNOWN):
        return FAIR, "surname, given name"
    if bits & UPPER:
        frequent = bits & SURE and (shouting or len(note.words[place]) > 3) and not bits & PLACE
        return (FAIR, "frequent name") if frequent else None
    return _alone(note, place, bits, after, bool(follows and open_after))


def _initial(note: Note, place: int, after: int, gap: str) -> Seed | None:
    start = note.pieces[place][0]
    if start > 1 and (note.folded[start - 1].isalnum() or note.folded[start - 2].isdigit()):
        return None
    near = (
        gap == ". " and after & CAPITAL and after & MAYBE_NAME and not after & (STAYS | INITIAL | SMALL | ACTS | ROLE)
    )
    loud = (
        gap == ". "
        and after & UPPER
        and after & (SURE | RARE | UNKNOWN | SURNAME)
        and not after & (STAYS | SMALL | ACTS | ROLE)
    )
    loud = loud and len(note.words[place + 1]) > 4 and note.words[place] not in "DV"
    return (GOOD - 0.03, "initial and surname") if near or loud else None


def _alone(note: Note, place: int, bits: int, after: int, follows: bool) -> Seed | None:
    """A single word: frequent names anywhere; rare and unknown ones where capitals mean something."""
    word = note.words[place]
    german, start = note.language == "de", note.starts(place)
    acts = bool(after & ACTS and after & LOWER) or word[-2:] in ("'s", "’s")
    if _plainly(note, place):
        return None
    if word[-3:] in ("n't", "n’t") or (bits & SMALL and (start or german) and not _has_auxiliary(note, place)):
        return None
    if bits & SURE:
        return FAIR, "frequent name"
    if bits & EITHER:
        return _either(note, place, bits, acts, follows)
    if bits & RARE:
        return (FAIR - 0.1, "rare name") if not start or acts or follows or german else None
    if bits & UNKNOWN and german:
        return (WEAK, "unknown word, not a noun") if not _after_article(note, place) else None
    if bits & UNKNOWN and (not start or acts or follows) and not (note.language == "en" and is_inflected(word)):
        return WEAK, "unknown word in capitals"
    return None


def _is_numbered(note: Note, place: int) -> bool:
    """`Zi. 214`: a short word with a dot and a number behind it."""
    word, end = note.words[place], note.pieces[place][1]
    return len(word) < 4 and note.folded[end : end + 1] == "." and note.folded[end + 1 : end + 3].strip()[:1].isdigit()


def _plainly(note: Note, place: int) -> bool:
    """`Case No. 4`, `Zi. 214`, `See Smith`: an abbreviation or a word that only looks like a name."""
    word, end = note.words[place], note.pieces[place][1]
    if _is_numbered(note, place):
        return True
    if word in _NOT_GIVEN and note.starts(place):
        return True
    if word[1:2] == "-" and word[2:3].islower():  # X-ray
        return True
    if note.signs[place] & EITHER and note.folded[end : end + 1] == " " and note.folded[end + 1 : end + 2].isdigit():
        return True  # Ward 4
    after = note.words[place + 1].lower() if place + 1 < len(note.words) else ""
    return (
        bool(note.signs[place] & (EITHER | RARE | UNKNOWN))
        and after in ("no", "nr", "number", "nos", "id")
        and note.signs[place + 1] != 0
    )


def _either(note: Note, place: int, bits: int, acts: bool, follows: bool) -> Seed | None:
    """A name that is an everyday word too."""
    german, start = note.language == "de", note.starts(place)
    if bits & SMALL and len(note.words[place]) < 4 and (note.language != "en" or not bits & SURNAME):
        return None
    if bits & SMALL and not start and note.folded[note.pieces[place][0] - 2] == ".":  # bât. C. Les enfants
        return None
    if not german and not start and bits & GIVEN and not follows:
        return FAIR - 0.1, "given name inside a sentence"
    if acts and not german and (not start or bits & GIVEN) and not bits & ROLE:
        return FAIR - 0.1, "name before a verb"
    if acts and german and not start and not _after_article(note, place):
        return WEAK, "name before a verb"
    return None


def _has_auxiliary(note: Note, place: int) -> bool:
    """`Will has`, `May was`: no sentence starts so but with a name."""
    after = note.words[place + 1] if place + 1 < len(note.words) else ""
    modal = note.words[place] in ("Will", "May")
    return modal and after in terms.rule("auxiliaries") and note.gap(place + 1) == " "


def _after_article(note: Note, place: int) -> bool:
    return place > 0 and note.words[place - 1].lower() in terms.rule("articles") and note.gap(place) == " "


def _by_credentials(note: Note, seeds: Seeds) -> None:
    """`Jane Roe, MD`: the words before a degree."""
    degrees = terms.rule("credentials")
    for place in note.marked(DEGREE):
        if place and note.words[place] in degrees and note.gap(place) == ", ":
            seeds.pop(place, None)
            _mark_before(note, place, seeds)
    for match in _CREDENTIAL.finditer(note.folded) if ".D." in note.folded or "Esq" in note.folded else ():
        number = bisect_left(note.pieces, (match.start(), 0))  # the first word behind the comma
        if number and note.pieces[number - 1][1] == match.start():
            _mark_before(note, number, seeds)


def _mark_before(note: Note, place: int, seeds: Seeds) -> None:
    for number in range(place - 1, max(-1, place - 4), -1):
        bits = note.signs[number]
        if not bits & WRITTEN_AS_NAME or (bits & (STAYS | TITLE | ROLE) and not bits & (GIVEN | SURNAME)):
            break
        if number != place - 1 and note.gap(number + 1) not in (" ", ". "):
            break
        seeds.setdefault(number, (GOOD, "before a degree"))


def _beside_names(note: Note, seeds: Seeds) -> None:
    """`Ann, Bo and Cy`: a word written as a name that is listed beside a name."""
    signs, words = note.signs, note.words
    for place in sorted(seeds):
        here = place + 1
        if here + 1 < len(signs) and words[here] in _ANDS:
            if not _LISTING.match(note.gap(here)) or note.gap(here + 1) not in (" ", ". "):
                continue
            here += 1
        elif here >= len(signs) or not (note.gap(here) == ", " or _AGED.match(note.gap(here))):
            continue
        bits = signs[here]
        if bits & UPPER and bits & GIVEN and seeds[place][1] == "surname, given name":
            seeds.setdefault(here, (FAIR, "surname, given name"))
        elif bits & CAPITAL and bits & (SURE | RARE | UNKNOWN | GIVEN) and not bits & (_NOT_NAMES | PLACE):
            seeds.setdefault(here, (FAIR, "listed beside a name"))
        elif bits & CAPITAL and words[here - 1] in ("v", "vs") and not bits & _NOT_NAMES:
            seeds.setdefault(here, (GOOD, "party of a case"))


# Names grow from these words to both sides.

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
_MOST_PARTS = 6


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
        return found + _by_initials(note) if note.any_signs & INITIAL and "." in note.folded else found


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
    while 0 <= here < len(signs) and abs(here - place) < _MOST_PARTS:
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
    beside = note.signs[here - step]
    if bits & UPPER and not beside & (UPPER | INITIAL) and len(note.words[here]) < 5 and not bits & (SURE | SURNAME):
        return False  # Szymanska RVN
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


def _by_initials(note: Note) -> list[Span]:
    """People that courts call by their initials: `L.T.`"""
    found = []
    for match in _INITIALS.finditer(note.folded):
        letters = re.sub(r"[\s.]", "", match[0])
        if letters not in terms.rule("not_initials") or _BEFORE_INITIALS.search(
            note.folded, max(0, match.start() - 24), match.start()
        ):
            found.append(Span(match.start(), match.end(), "name", 0.6, "initials"))
    return found


NAMES = NamesRecogniser()


# Names in lower case: after an introduction, a word for a call or a relative, or as given name and surname.

_NOT_IN_LOWER_CASE = STAYS | ROLE | TITLE | MONTH | REGION | SMALL | ACTS | HEAD
_NOT_FREQUENT = _NOT_IN_LOWER_CASE | WORD | PLACE | EPONYM | TOWN | ORG_END | ORG_START
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
def _announcements() -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Phrases before a name and what kind they are of, by their last word, longer ones first."""
    found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for kind in ("introductions", "presentations", "contacts", "kin", "persons"):
        for phrase in terms.rule(kind):
            words = tuple(phrase.replace("'", "' ").replace("/", " ").split())
            found.setdefault(words[-1], []).append((words, kind))
    return {word: sorted(phrases, key=lambda entry: -len(entry[0])) for word, phrases in found.items()}


def _announced(note: Note, place: int) -> str | None:
    for phrase, kind in _announcements().get(note.words[place].lower(), ()):
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
        bits & _NOT_IN_LOWER_CASE
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
        if bits & (SURE | RARE | EITHER | UNKNOWN) and not bits & _NOT_IN_LOWER_CASE:
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
        if bits & GIVEN and not bits & (_NOT_IN_LOWER_CASE | WORD) and place < last:
            after = signs[place + 1]
            listed = after & LOWER and after & SURNAME and after & SURE and not after & _NOT_IN_LOWER_CASE
            strange = note.in_lower_case and after & LOWER and after & UNKNOWN and len(note.words[place + 1]) > 4
            listed = listed or (strange and not is_inflected(note.words[place + 1]))
            if listed and note.gap(place + 1) == " " and note.words[place + 1][-1].isalpha():
                found.append(_span(note, place, place + 1, 0.85, "given name and surname in lower case"))
    return found


def _span(note: Note, first: int, last: int, score: float, reason: str) -> Span:
    return Span(note.pieces[first][0], note.pieces[last][1], "name", score, reason)


LOWER_NAMES = LowerNamesRecogniser()
