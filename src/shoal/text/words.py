"""What is known of a word: its shape, whether it is a name and how frequent, a dictionary word, a term that stays."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

from shoal.identifiers.letters import plain
from shoal.identifiers.lists import GIVEN_NAMES, SURNAMES
from shoal.text import terms

# letters, with apostrophes and hyphens inside; what is elided (d'Alzheimer, L'avvocato) is a word apart
_ELIDED = r"(?:[ldsncjmt]|qu|dell|all|nell|sull|dall|un|quest|lorsqu|jusqu|puisqu)"
SPLIT = re.compile(
    rf"(\b{_ELIDED}['’](?=[^\W\d_])|\b[LDSNCJMT]['’](?=[a-zà-öø-ÿœ])|[^\W\d_]+(?:['’\-][^\W\d_]+)*)", re.UNICODE
)
SPLIT_PLAIN = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)")
SPLIT_ASCII = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)*)")

# shape
CAPITAL, UPPER, LOWER, INITIAL = (1 << n for n in range(4))
# what the lists say: one of the first five, by which evidence is needed to call a word a name
SURE, EITHER, RARE, UNKNOWN, WORD = (1 << n for n in range(4, 9))
GIVEN, SURNAME = (1 << n for n in range(9, 11))
# vocabulary
STAYS, EPONYM, COMMON_EPONYM, HEAD, TITLE, ROLE, PARTICLE, ACTS, PLACE, REGION, MONTH, SMALL = (
    1 << n for n in range(11, 23)
)
# starts of longer places and regions; words of dates, streets and organisations; words before a place; degrees
LONG_PLACE, LONG_REGION, DATE_WORD, STREET_EN, STREET_DE, STREET_START, STREET_ROMANCE, POST_WORD = (
    1 << n for n in range(23, 31)
)
ORG_END, ORG_START, COMPANY, LOCATIVE, DEGREE, INTRODUCES, TOWN, LONG_TOWN = (1 << n for n in range(31, 39))
WRITTEN_AS_NAME = CAPITAL | UPPER
_FIRST_TRIGGER = 39
_TRIGGERS: list[tuple[int, frozenset[str]]] = []
_PARTS: list[tuple[int, re.Pattern[str]]] = []


def trigger(words: Iterable[str]) -> int:
    """A bit of its own for some words in lower case: a pattern that needs one of them asks for the bit.

    Of a phrase its last word counts. To be called while modules are loaded, before a word is looked up.
    """
    bit = 1 << (_FIRST_TRIGGER + len(_TRIGGERS))
    _TRIGGERS.append((bit, frozenset(words)))
    return bit


def trigger_part(parts: Iterable[str], words: Iterable[str] = ()) -> int:
    """A bit of its own for words that hold one of some parts of words in lower case, and for some whole words."""
    bit = trigger(words)
    _PARTS.append((bit, re.compile("|".join(map(re.escape, parts)))))
    return bit


def widest_sign() -> int:
    """How many bits a word's signs may have."""
    return _FIRST_TRIGGER + len(_TRIGGERS)


PLAIN_WORD = LOWER | EITHER | RARE | UNKNOWN | SURE | WORD | GIVEN | SURNAME | SMALL | ACTS | TOWN | LONG_TOWN
MAYBE_NAME = SURE | EITHER | RARE | UNKNOWN
_GERMAN_STREETS = (
    "straße", "strasse", "str", "weg", "platz", "allee", "gasse", "ring", "damm", "ufer", "steig", "pfad",
)  # fmt: skip
_STREETS_IN_LOWER_CASE = frozenset(("street", "avenue", "road", "boulevard", "lane", "drive"))
_ENDINGS = ("s", "es", "n", "en", "e", "er", "em", "ed", "ing", "ly", "d", "t", "lich", "liche", "lichen", "licher",
            "isch", "ische", "ischen", "ischer")  # fmt: skip
# German: vorbekannt, gutachterlich
_PREFIXES = ("vor", "ab", "an", "auf", "aus", "ein", "mit", "um", "un", "nach", "über", "unter", "wieder", "zu", "be",
             "ver", "er", "ent", "zer", "nicht", "durch", "hin", "her", "gegen", "zurück", "weiter")  # fmt: skip
# ends of German nouns: those of people are roles too (Schlossermeister, Schulsozialarbeiterin)
_PERSON_ENDINGS = (
    "arbeiter", "arbeiterin", "leiter", "leiterin", "pfleger", "pflegerin", "helfer", "helferin", "berater",
    "beraterin", "anwalt", "anwältin", "ärztin", "arzt", "meister", "meisterin", "lehrer", "lehrerin", "führer",
    "führerin", "pädagogin", "pädagoge", "therapeut", "therapeutin", "beauftragte", "beauftragter", "betreuer",
    "betreuerin", "schwester", "bruder", "mutter", "vater", "sohn", "tochter", "freund", "freundin", "händler",
    "händlerin", "verwalter", "verwalterin",
)  # fmt: skip
_NOUN_ENDINGS = (
    *_PERSON_ENDINGS, "gespräch", "träger", "nummer", "schein", "verfahren", "bericht", "antrag", "heit", "keit",
    "ung", "schaft", "tion",
)  # fmt: skip
_ARTICLED = re.compile(r"(?:a[ldnrstz]|ash|el|ibn|bin|ben|abu)-[A-Z]")  # al-Masri
_MIXED = re.compile(r"^[A-Za-z]*(?:[A-Z]{2}[A-Za-z]*[a-z]|[a-z][A-Z]{2})[A-Za-z]*$")
_FREQUENT = 3  # a power of ten: borne by a thousand people or more
LONGEST = 60  # longer runs of letters are not words


@cache
def load(name: str) -> list[str]:
    """The lines of a packed list that ships."""
    raw = files("shoal.text").joinpath("lists", f"{name}.txt.gz").read_bytes()
    return gzip.decompress(raw).decode().split("\n")


def is_inflected(word: str) -> bool:
    """Whether a word is one of the dictionary but for an English ending.

    >>> is_inflected("Findings"), is_inflected("flies"), is_inflected("Okonkwo")
    (True, True, False)
    """
    stems = {word.lower().removesuffix(end) for end in ("s", "es", "ies", "ed", "ing", "ings", "d", "ly", "er")}
    forms = {stem + end for stem in stems - {word.lower()} if len(stem) > 1 for end in ("", "e", "y")}
    return len(word) > 4 and any(form in dictionary() for form in forms if len(form) > 2)


@cache
def dictionary() -> frozenset[str]:
    """Lower-case words of five languages."""
    words = {word for language in ("en", "de", "fr", "it", "es") for word in load(f"words_{language}")}
    words |= terms.terms("extra_words")
    words -= more_names("given") | more_names("surnames") | (terms.towns_alone() - terms.rule("words_not_towns"))
    return frozenset(words | terms.terms("either") | set(terms.small_words()))


@cache
def more_names(part: str) -> frozenset[str]:
    """Names, `given` or `surnames`, that the census lacks or that the dictionaries hold as words."""
    return frozenset(terms.by_key("more_names")[part]) - terms.terms("either")


@cache
def towns() -> frozenset[str]:
    """Towns, without accents, in words; many are words or names too, and count only where something says a place."""
    return frozenset(load("towns"))


@cache
def strata(name: str) -> dict[str, int]:
    """Names of the US Census 2020 with the power of ten of the people who bear them."""
    found = {line[:-1]: int(line[-1]) for line in load(name)}
    more = {plain(part): _FREQUENT for part in more_names("given" if name == "given_names" else "surnames")}
    return found | {part: max(power, found.get(part, 0)) for part, power in more.items()}


@cache
def first_words_of_towns() -> dict[str, list[tuple[str, ...]]]:
    """Towns of several words, by the first of them."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for name in towns():
        words = tuple(name.split(" "))
        if len(words) > 1:
            found.setdefault(words[0], []).append(words)
    return found


def is_word(word: str) -> bool:
    """Whether a lower-case word, its stem, or the two words that it is made of are in the dictionary.

    >>> is_word("walking"), is_word("schenkelhalsfraktur"), is_word("okonkwo")
    (True, True, False)
    """
    book = dictionary()
    if word in book:
        return True
    if word in more_names("given") or word in more_names("surnames"):
        return False
    if len(word) > 8 and word.endswith(_NOUN_ENDINGS):
        return True
    if word[-1:] == "s" and (word[:-1] in book or (word[-2:] == "es" and word[:-2] in book)) and len(word) > 3:
        return True
    for joins in _joining():
        if any(word.endswith(end) and len(word) - len(end) > 2 and word[: -len(end)] in joins for end in _ENDINGS):
            return True
    german = _joining()[0]
    if any(
        word.startswith(start) and word[len(start) :] in german and len(word) - len(start) > 3 for start in _PREFIXES
    ):
        return True
    return 9 < len(word) < LONGEST and any(_compound(word, words) for words in _joining())


@cache
def _words_of(language: str) -> frozenset[str]:
    """The words of one language."""
    return frozenset(load(f"words_{language}")) & dictionary()


def is_word_of(word: str, language: str) -> bool:
    """Whether a lower-case word, or what is left of it without a plain ending, is a word of one language.

    >>> is_word_of("hunde", "de"), is_word_of("pagliacci", "de")
    (True, False)
    """
    forms = {word, *(word.removesuffix(end) for end in ("s", "es", "e", "n", "en"))}
    if not forms.isdisjoint(_words_of(language)) or not forms.isdisjoint(terms.terms("extra_words")):
        return True
    return language == "de" and 9 < len(word) < LONGEST and _compound(word, _joining()[0])


@cache
def _joining() -> tuple[frozenset[str], ...]:
    """The words of German and of English, which join words; what two Italian words make is a name: `Mantegazza`."""
    own = terms.terms("extra_words") | terms.terms("either")
    return tuple((frozenset(load(f"words_{language}")) | own) & dictionary() for language in ("de", "en"))


def _compound(word: str, book: frozenset[str]) -> bool:
    """German compounds: two or three known words of four letters or more, with a joining s, n, en or es."""
    for cut in range(4, len(word) - 3):
        if word[:cut] in book or (word[cut - 1] in "sn" and word[: cut - 1] in book and cut > 4):
            rest = word[cut:]
            if rest in book or any(rest.endswith(end) and rest[: -len(end)] in book for end in ("s", "n", "en", "e")):
                return True
            if len(rest) > 7 and _compound(rest, book):
                return True
    return False


class Lexicon(dict[str, int]):
    """The bits of each word form, made when the word is first seen."""

    def __missing__(self, word: str) -> int:
        bits = _shape(word) | _lists(word) if len(word) < LONGEST else LOWER | WORD
        bits |= sum(bit for bit, pattern in _PARTS if pattern.search(word.lower()))
        if len(self) < 1_000_000:
            self[word] = bits
        return bits

    def language(self, words: Sequence[str], languages: tuple[str, ...]) -> str:
        """The language whose small words are most frequent.

        >>> lexicon().language("der Patient klagt über Schmerzen".split(), ("en", "de"))
        'de'
        """
        small = terms.small_words()
        counts = dict.fromkeys(languages, 0)
        spoken = Counter(map(small.get, words))
        if len(spoken) < 2 and 2 * sum(map(str.isupper, words)) > len(words):
            spoken = Counter(small.get(word.lower()) for word in words)
        for found, times in spoken.items():
            for language in found or ():
                if language in counts:
                    counts[language] += times
        return max(counts, key=lambda language: counts[language])


def _shape(word: str) -> int:
    if word.islower():
        return LOWER
    if len(word) == 1:
        return INITIAL | CAPITAL
    if word.isupper():
        return UPPER
    return CAPITAL if word[0].isupper() or _ARTICLED.match(word) else LOWER


def without_genitive(word: str) -> str:
    """A word without 's or a lone apostrophe behind."""
    return word[:-2] if word[-2:] in ("'s", "’s", "'S", "’S") else word


def _lists(word: str) -> int:
    base = without_genitive(word.lower())
    parts = [part for part in re.split(r"['’\-]", base) if len(part) > 1] or [base]
    bits = _vocabulary(base)
    if base in terms.street_words("en") and (word[0].isupper() or base in _STREETS_IN_LOWER_CASE):
        bits |= STREET_EN
    if word[0].isupper() and base in terms.street_starts():
        bits |= STREET_START
    plains = {plain(part).replace(" ", "") for part in (*parts, base.replace("'", "").replace("-", ""))}
    given = max(4 if part in GIVEN_NAMES else strata("given_names").get(part, 0) for part in plains)
    surname = max(4 if part in SURNAMES else strata("surnames").get(part, 0) for part in plains)
    bits |= (GIVEN if given >= _FREQUENT else 0) | (SURNAME if surname >= _FREQUENT else 0)
    frequent = max(given, surname) >= _FREQUENT
    listed = plain(base) in GIVEN_NAMES and base not in terms.terms("either")
    if not listed and (is_word(base) or (len(parts) > 1 and all(is_word(part) for part in parts))):
        bits |= EITHER if frequent else WORD
    else:
        bits |= SURE if frequent else RARE if given or surname else UNKNOWN
    if "-" in word and bits & (UNKNOWN | RARE) and any(part.isupper() and len(part) < 5 for part in word.split("-")):
        bits |= STAYS if any(is_word(part) and len(part) > 4 for part in parts) else 0  # AP-Beschwerden
    bits |= ROLE if len(base) > 8 and base.endswith(_PERSON_ENDINGS) and bits & WORD else 0
    bits |= STAYS if (base.endswith("nr") and len(base) > 4) or _MIXED.search(word) else 0  # Personalnr., PVCs
    medical = not frequent and len(base) > 5 and base.endswith(terms.endings())
    return bits | (STAYS if medical else 0)


@cache
def _books() -> tuple[tuple[int, frozenset[str]], ...]:
    eponyms = terms.by_key("eponyms")
    return (
        (STAYS, terms.terms("stays") | terms.terms("drugs")),
        (EPONYM, frozenset(eponyms["alone"])),
        (COMMON_EPONYM, frozenset(eponyms["common"])),
        (HEAD, terms.terms("eponym_heads")),
        (TITLE, terms.terms("titles")),
        (ROLE, terms.terms("roles")),
        (PARTICLE, terms.terms("particles")),
        (ACTS, terms.terms("acts")),
        (MONTH, terms.months()),
        (SMALL, frozenset(terms.small_words())),
        (DATE_WORD, terms.date_words()),
        (STREET_DE, terms.street_words("de")),
        (STREET_ROMANCE, terms.street_words("fr", "it", "es")),
        (POST_WORD, terms.rule("post_words")),
        (ORG_END, terms.last_words_of_organisations()),
        (ORG_START, frozenset(terms.first_words_of_organisations())),
        (COMPANY, terms.companies() | {"s", "e"}),
        (LOCATIVE, frozenset().union(*(terms.rule(f"in_{language}") for language in ("en", "de", "fr", "it", "es")))),
        (INTRODUCES, terms.introducing_words()),
        (DEGREE, frozenset(word.lower() for word in terms.rule("credentials"))),
    )


@cache
def _bits_of_lists() -> dict[str, int]:
    """The bits of all words of the books and triggers: one look-up instead of one for each list."""
    found: dict[str, int] = {}
    for bit, book in (*_books(), *_TRIGGERS):
        for word in book:
            found[word] = found.get(word, 0) | bit
    return found


def _vocabulary(base: str) -> int:
    bits = _bits_of_lists().get(base, 0)
    bare = plain(base).replace("-", " ")
    bits |= (PLACE if bare in terms.places() else 0) | (REGION if bare in terms.regions() else 0)
    bits |= _bits_of_lists().get(bare, 0) & (EPONYM | COMMON_EPONYM)  # Menière
    first = bare.split(" ")[0]
    bits |= (LONG_PLACE if first in terms.long_places() else 0) | (LONG_REGION if first in terms.long_regions() else 0)
    bits |= (TOWN if bare in towns() else 0) | (LONG_TOWN if first in first_words_of_towns() else 0)
    bits |= STREET_DE if base.endswith(_GERMAN_STREETS) else 0
    if "-" in base and base.split("-")[0] in _books()[1][1]:
        bits |= EPONYM
    return bits


@cache
def lexicon() -> Lexicon:
    """The one lexicon of this process."""
    return Lexicon()
