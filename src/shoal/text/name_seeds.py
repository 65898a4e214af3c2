"""Words that something says are names: a title, a role, a phrase, a degree, the lists, the shape of the sentence."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

from shoal.text import terms
from shoal.text.base import Note
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
    UNKNOWN,
    UPPER,
    WORD,
    WRITTEN_AS_NAME,
    is_inflected,
    is_word_of,
)  # fmt: skip

STRONG, GOOD, FAIR, WEAK = 0.95, 0.88, 0.7, 0.55
Seeds = dict[int, tuple[float, str]]
Seed = tuple[float, str]

_AFTER_TITLE = frozenset((" ", ". ", ".", "  ", ".  ", ": "))
_AFTER_ROLE = frozenset(
    (
        " ",
        ", ",
        ": ",
        " (",
        ":",
        ",\n",
        ",\n\n",
        ": \n",
        ":\n",
        " - ",
        "  ",
        ". ",
        ":  ",
        " : ",
        " « ",
        " «",
        " „",
        ': "',
        ' "',
        ":\t",
        ", \n",
    )
)
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
    (
        "med",
        "Med",
        "univ",
        "Psych",
        "Ing",
        "Päd",
        "Soz",
        "ra",
        "ssa",
        "ra",
        "dent",
        "phil",
        "jur",
        "rer",
        "nat",
        "h",
        "c",
    )
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
    closing = note.words[last - 1].lower() in terms.rule("closings") and gap in (
        " ",
        ", ",
        ",\n",
        "\n",
        ". ",
        "! ",
        " - ",
    )
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
    if not place:
        return None
    gap, word = note.gap(place), note.words[place - 1].lower()
    social = word in ("social", "sociale", "sociali") and place > 1 and note.signs[place - 2] & ROLE
    if (
        (note.signs[place - 1] & ROLE or social)
        and gap in _AFTER_ROLE
        and (gap != ". " or word in terms.rule("role_abbreviations"))
    ):
        named = word in terms.rule("labels_of_names") and ":" in gap
        short = bits & UNKNOWN and bits & UPPER and not named and len(note.words[place]) < 5
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
            if words == phrase and not (bits & UPPER and len(note.words[place]) < 5):
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


def _plainly(note: Note, place: int) -> bool:
    """`Case No. 4`, `Zi. 214`, `See Smith`: an abbreviation or a word that only looks like a name."""
    word, end = note.words[place], note.pieces[place][1]
    if len(word) < 4 and note.folded.startswith(".", end) and note.folded[end + 1 : end + 3].strip()[:1].isdigit():
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
