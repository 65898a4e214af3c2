"""What a table knows of a person, made ready to be looked for: names by their parts, dates as days, numbers as digits.

A value is taken apart once, whoever bears it. Parts that are words too (`Brown`, `May`) count where they are written as
names are; what is so short that it would be found everywhere is not looked for, and counted.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import isleap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import Literal

from shoal.text.base import TextKind
from shoal.text.terms import words_set
from shoal.text.words import is_word
from shoal.text.written_dates import dates_in

# letters and digits, with marks and signs without width inside
TOKEN = re.compile("[^\\W_]+(?:[\u0300-\u036f\u00ad\u200b-\u200d\u2060\ufeff]+[^\\W_]+)*")
# how a part of a name must be written to count: anyhow, with a capital, or so that nothing else can be meant
Rule = Literal["any", "capital", "weak", "inflected"]

TITLES = words_set(
    """
    mr mrs ms miss mx dr prof professor rev sir lord lady herr frau fraulein dipl ing med phd md rn mme mlle madame
    monsieur mademoiselle maitre sig signor signora signorina dott dottor dottoressa avv don dona sr sra srta senor
    senora jr sen ii iii iv esq
    """
)
PARTICLES = words_set(
    """
    van von der den de del della di da la le les du des dos el al bin ibn ter ten zu zum zur
    """
)
# words that start sentences all the time: as a name only beside another part of it, or within a sentence
_FUNCTION = words_set(
    """
    will may an so in my do no he be we is on or as at by go if it me of to us am are was has had can the and but for
    not his her she they this that with from man april june august see say du es im um zu ist war hat bei er sie wir la
    le les un une il elle en et est sa si se lo da di e una y el los las su al
    """
)
_STREETS = {
    "street": "st", "avenue": "ave", "road": "rd", "boulevard": "blvd", "lane": "ln", "drive": "dr", "court": "ct",
    "place": "pl", "square": "sq", "apartment": "apt", "suite": "ste", "strasse": "str", "platz": "pl",
    "avenida": "ave", "av": "ave", "avda": "ave", "calle": "c", "carrer": "c", "cl": "c", "piazza": "pl",
    "pza": "pl", "pzza": "pl",
    "plaza": "pl", "plza": "pl", "placa": "pl", "north": "n", "south": "s", "east": "e", "west": "w", "gardens": "gdns",
    "garden": "gdns", "gdn": "gdns", "crescent": "cres", "terrace": "ter", "terr": "ter", "close": "c", "circle": "cir",
    "parkway": "pkwy", "highway": "hwy", "grove": "gr", "grv": "gr", "building": "bldg", "floor": "fl", "saint": "st",
    "sankt": "st", "mount": "mt", "chemin": "ch", "che": "ch", "impasse": "imp", "bd": "blvd", "bld": "blvd",
    "bvd": "blvd", "boul": "blvd", "allee": "all", "allees": "all", "route": "rte", "faubourg": "fg", "fbg": "fg",
    "quai": "q", "residence": "res", "lotissement": "lot", "batiment": "bat", "appartement": "apt", "app": "apt",
    "appt": "apt", "viale": "vle", "corso": "cso", "largo": "lgo", "vicolo": "vic", "strada": "str", "localita": "loc",
    "interno": "int", "scala": "sc", "palazzina": "pal", "paseo": "po", "pso": "po", "carretera": "ctra",
    "urbanizacion": "urb", "camino": "cno", "travesia": "trv", "ronda": "rda", "glorieta": "gta", "poligono": "pol",
    "escalera": "esc", "bloque": "bl", "blq": "bl", "izquierda": "izq", "izda": "izq", "derecha": "dcha",
    "santa": "sta", "santo": "sto", "general": "gral", "gen": "gral", "doctor": "dr", "hausnummer": "nr",
    "no": "nr", "num": "nr",
}  # fmt: skip
# small words that a street is often written without: `Carrer de Balmes`, `C/ Balmes`
_LINKS = words_set("de del la las los el du des le les l d di della delle dei degli da")
# given names in the short forms that records use
_SHORT_NAMES = {
    "maria": ("ma", "m"), "francisco": ("fco", "fdo"), "jose": ("j",), "johann": ("joh",), "johannes": ("joh",),
    "william": ("wm",), "thomas": ("thos",), "charles": ("chas",), "george": ("geo",), "robert": ("robt",),
    "giovanni": ("gio",), "giuseppe": ("gius",), "heinrich": ("heinr",), "friedrich": ("friedr",), "wilhelm": ("wilh",),
}  # fmt: skip
UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "ø": "oe"})
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i", "þ": "th", "ð": "d"})
# scripts that set no blanks between words: looked for as they are written
UNSPACED = re.compile("[\u0e00-\u0e7f\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_EMAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+")
_ENDINGS = ("s", "es", "n", "en", "ns")
LEAST_DIGITS = 4
LONG = 6
_LEAST_PHONE = 7
# a value of more words that nobody calls a name is something else
_MOST_NAMES = 6


@lru_cache(maxsize=1 << 20)
def folded(word: str) -> str:
    """A word in small letters without accents and invisible signs.

    >>> folded("MÜLLER"), folded("Straße"), folded("Łukasz")
    ('muller', 'strasse', 'lukasz')
    """
    if word.isascii():
        return word.lower()
    letters = unicodedata.normalize("NFKD", word.casefold())
    if " " not in word:  # of an accent that stands alone Unicode makes a blank with a mark
        letters = letters.replace(" ", "")
    kept = (_plain_sign(sign) for sign in letters if unicodedata.category(sign) not in ("Mn", "Cf"))
    return "".join(kept).translate(_LETTERS) or word


def _plain_sign(sign: str) -> str:
    return str(unicodedata.decimal(sign)) if sign.isdecimal() else sign


def street_word(word: str) -> str:
    """A folded word of an address in its short form."""
    return _STREETS.get(word) or (word[:-6] + "str" if word.endswith("strasse") else word)


_ASCII_TOKEN = re.compile("[a-z0-9]+")


def folded_words(text: str) -> list[str]:
    """The words of a text, folded: letters and digits, as `TOKEN` takes them.

    >>> folded_words("Müllers Hund, 3x")
    ['mullers', 'hund', '3x']
    """
    if text.isascii():
        return _ASCII_TOKEN.findall(text.lower())
    return [word.lower() if word.isascii() else folded(word) for word in TOKEN.findall(text)]


@dataclass(frozen=True)
class KnownValue:
    """A value of an identifier column, and the kind of the column where that is known; its repr does not show it."""

    text: str = field(repr=False)
    kind: TextKind | None = None


@dataclass
class SearchedParts:
    """What is looked for because of one value; `skipped`: nothing, because it is too short."""

    kind: TextKind = "name"
    words: dict[str, Rule] = field(default_factory=dict)
    codes: set[str] = field(default_factory=set)
    cores: set[str] = field(default_factory=set)
    sequences: list[tuple[str, ...]] = field(default_factory=list)
    literals: set[str] = field(default_factory=set)
    # whole names, and parts of them with an apostrophe or hyphen, by the word that each starts with
    wholes: dict[str, set[str]] = field(default_factory=dict)
    days: set[date] = field(default_factory=set)
    initials: list[str] = field(default_factory=list)
    skipped: bool = False
    # made from the others: names with the endings of other cases, and how each code starts
    inflected: dict[str, tuple[TextKind, Rule]] = field(default_factory=dict)
    prefixes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.kind == "name":
            for word, rule in self.words.items():
                if len(word) > 2:
                    form: tuple[TextKind, Rule] = ("name", "inflected" if rule == "any" else rule)
                    self.inflected.update(dict.fromkeys([word + ending for ending in _ENDINGS], form))
        for code in (*self.codes, *self.cores):
            self.prefixes.update(code[:end] for end in range(1, len(code) + 1))


@lru_cache(maxsize=1 << 14)
def parts_of(value: KnownValue) -> SearchedParts:
    """A value taken apart.

    >>> sorted(parts_of(KnownValue("Brown, Rose")).words.items()), parts_of(KnownValue("+49 30 1234567")).kind
    ([('brown', 'capital'), ('rose', 'capital')], 'phone')
    """
    text = unicodedata.normalize("NFC", value.text).strip()
    digits = re.sub(r"\D", "", folded(text))
    if _EMAIL.fullmatch(text):
        return _email(text, value.kind or "email")
    days = _days(text) if value.kind in (None, "date") else set()
    if days:
        compact = {form for day in days for form in _compact(day)}
        return SearchedParts("date", codes=compact, days=days)
    if UNSPACED.search(text):
        return SearchedParts(value.kind or "name", literals={text.lower()}, skipped=len(text) < 2)
    tokens = [folded(token) for token in TOKEN.findall(text)]
    if digits and (len(tokens) == 1 or _numbers_alone(text)):
        return _code(text, digits, value.kind)
    if tokens and (value.kind == "name" or (value.kind is None and not digits and len(tokens) <= _MOST_NAMES)):
        return _name(text, value.kind or "name")
    return _sequence(text, value.kind or ("address" if digits else "organisation"))


def _compact(day: date) -> tuple[str, str, str]:
    """A day without separators, in three orders."""
    year, month, number = f"{day.year:04}", f"{day.month:02}", f"{day.day:02}"
    return year + month + number, number + month + year, month + number + year


def _numbers_alone(text: str) -> bool:
    """Whether a text is one number: digits, signs between them and at most four letters in a row."""
    return re.search(r"[^\W\d_]{5,}", text) is None and sum(map(str.isdigit, text)) >= 0.5 * sum(map(str.isalnum, text))


def _days(text: str) -> set[date]:
    """The days that a whole value can mean: both where day and month could be exchanged; a clock is left out."""
    found = next(dates_in(text), None)
    if found is None or found.start or len(text) - found.end > len(" 10:15:00.000000 a.m."):
        return set()
    days = set()
    for year, month, day in found.readings:
        if year is None or day is None:
            continue
        for full in (year,) if year > 99 else (1900 + year, 2000 + year):
            days |= {date(full, month, day)} if (month, day) != (2, 29) or isleap(full) else set()
    return days


def _email(text: str, kind: TextKind) -> SearchedParts:
    local = folded(text.split("@")[0])
    long = len(re.sub(r"[\W_]", "", local)) >= LONG
    words: dict[str, Rule] = {local: "any"} if long and TOKEN.fullmatch(local) else {}
    alone = {text.split("@")[0].lower()} if long and not words else set()
    return SearchedParts(kind, words=words, literals={text.lower(), *alone})


def _code(text: str, digits: str, kind: TextKind | None) -> SearchedParts:
    """A number or code: with or without separators, a phone also without its country code or leading zero."""
    signs = re.sub(r"[\W_]", "", folded(text))
    phone = kind in ("phone", "fax") or (
        kind is None and _LEAST_PHONE <= len(digits) <= 15 and re.match(r"^[+(]|^0\d+[ /.-]", text) is not None
    )
    if len(signs) < LEAST_DIGITS:
        return SearchedParts(kind or "other_number", skipped=True)
    codes = {signs, re.sub(r"^([a-z]+)0+(?=\d{4})", r"\1", signs)}
    if len(digits) > LEAST_DIGITS and len(signs) - len(digits) <= 4:
        codes.add(digits)
        codes |= {digits.lstrip("0")} if len(digits.lstrip("0")) > LEAST_DIGITS else set()
    cores = set()
    if phone and len(digits) >= _LEAST_PHONE:
        bare = digits.removeprefix("00") if text.startswith("00") else digits
        international = text.startswith(("+", "00"))
        cores |= {bare.lstrip("0")} if len(bare.lstrip("0")) >= _LEAST_PHONE else set()
        if international or (len(bare) == 11 and bare.startswith("1")):
            rests = {bare[size:].lstrip("0") for size in ((1, 2, 3) if international else (1,))}
            cores |= {rest for rest in rests if len(rest) >= _LEAST_PHONE}
    return SearchedParts(kind or ("phone" if phone else "other_number"), codes=codes, cores=cores)


def _name(text: str, kind: TextKind) -> SearchedParts:
    """The parts of a name, each with the way in which it must be written to count."""
    words: dict[str, Rule] = {}
    initials: list[str] = []
    for spelled in dict.fromkeys((text, text.translate(UMLAUTS))):
        for whole in re.split(r"[\s,;/()]+", spelled):
            pieces = [folded(piece) for piece in TOKEN.findall(whole)]
            joined = ["".join(pieces)] if len(pieces) > 1 else []
            for piece in pieces + joined:
                if piece in TITLES or piece in PARTICLES or len(piece) < 2 or not piece.isalpha():
                    continue
                words[piece] = rule_of(piece)
        if not initials:
            found = [folded(piece) for piece in TOKEN.findall(spelled)]
            initials = [
                piece[0] for piece in found if piece.isalpha() and piece not in TITLES and piece not in PARTICLES
            ]
    if not words:  # `Le`, `Van`: names that are particles elsewhere
        found = [folded(piece) for piece in TOKEN.findall(text)]
        words = {piece: "weak" for piece in found if piece in PARTICLES}
    return SearchedParts(kind, words=words, wholes=wholes_of(text), initials=initials, skipped=not words)


def wholes_of(name: str) -> dict[str, set[str]]:
    """A whole name in the orders in which it is written, without signs, by the words that each can start with.

    A part with an apostrophe or a hyphen stands for itself where it is not a word: `O'Dowd`, not `Dell'Acqua`.

    >>> found = wholes_of("Sean O'Dowd")
    >>> sorted(found), sorted(found["o"]), found["sean"]
    (['o', 'odowd', 'sean'], ['odowd', 'odowdsean'], {'seanodowd'})
    """
    found: dict[str, set[str]] = {}
    for spelled in dict.fromkeys((name, name.translate(UMLAUTS))):
        parts = [[folded(piece) for piece in TOKEN.findall(part)] for part in re.split(r"[\s,;/()]+", spelled)]
        parts = [part for part in parts if part and not TITLES.issuperset(part)]
        orders = [parts[cut:] + parts[:cut] for cut in range(len(parts))] + [parts[::-1]]
        for turned in orders if sum(map(len, parts)) > 1 else ():
            joined = "".join(piece for part in turned for piece in part)
            for start in {turned[0][0], "".join(turned[0])}:
                found.setdefault(start, set()).add(joined)
        for first, last in _runs(parts):
            for joined, start in _spellings(parts[first:last]):
                found.setdefault(start, set()).add(joined)
        for part in parts:
            alone = "".join(part)
            if len(part) > 1 and len(alone) > 4 and (part[0] == "o" or not is_word(max(part, key=len))):
                found.setdefault(part[0], set()).add(alone)
    return found


def _runs(parts: list[list[str]]) -> list[tuple[int, int]]:
    """Where two or more neighbouring parts of a longer name start and end: `María del Mar` of `María del Mar Gil`."""
    count = len(parts)
    ends = [number for number, part in enumerate(parts) if part[-1] not in PARTICLES and len(part[0]) > 1]
    return [(first, last + 1) for first in ends for last in ends if last > first and last + 1 - first < count < 7]


def _spellings(parts: list[list[str]]) -> list[tuple[str, str]]:
    """Parts of a name put together, and the word that they start with; the first also in its short forms."""
    rest = "".join(piece for part in parts[1:] for piece in part)
    alone = "".join(parts[0])
    return [(first + rest, first) for first in (alone, *_SHORT_NAMES.get(alone, ())) if len(rest) > 2]


@cache
def rule_of(part: str) -> Rule:
    """How a part of a name must be written to count.

    >>> rule_of("okonkwo"), rule_of("brown"), rule_of("may")
    ('any', 'capital', 'weak')
    """
    if part in _FUNCTION:
        return "weak"
    return "capital" if len(part) < 4 or is_word(part) else "any"


def _sequence(text: str, kind: TextKind) -> SearchedParts:
    """Words in their order; of an address also what stands before its first comma, and both without their numbers."""
    first, *rest = re.split(r"[,;\n]", text)
    whole = dict.fromkeys(_street_words(text))
    short = next(iter(whole), ())
    if not short:
        return SearchedParts(kind, skipped=True)
    if len(short) == 1:
        return SearchedParts(
            kind, words={short[0]: rule_of(short[0])} if len(short[0]) > 2 else {}, skipped=len(short[0]) < 3
        )
    if kind == "address":
        if rest and re.search(r"\d", first):
            whole |= dict.fromkeys(words for words in _street_words(first) if len(words) > 1)
        whole |= dict.fromkeys([stretch for words in whole if (stretch := _lettered(words))])
        bare = [tuple(word for word in words if word not in _LINKS) for words in whole]
        whole |= dict.fromkeys([words for words in bare if len(words) > 1 and len(max(words, key=len)) > 3])
    return SearchedParts(kind, sequences=list(whole))


def _street_words(text: str) -> list[tuple[str, ...]]:
    """The folded words of an address in their short form, parted and not parted by apostrophes."""
    spelled = dict.fromkeys((text, re.sub(r"(?<=\w)['\u2019](?=\w)", "", text)))
    return [tuple(street_word(folded(token)) for token in TOKEN.findall(form)) for form in spelled]


def _lettered(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an address without its numbers, where they stand together; else nothing."""
    lettered = tuple(token for token in words if not any(map(str.isdigit, token)))
    if not 1 < len(lettered) < len(words):
        return ()
    start = words.index(lettered[0])
    return lettered if words[start : start + len(lettered)] == lettered else ()


class KnownSet:
    """All that is known of one person, ready to be found; its repr shows nothing of it."""

    def __init__(self, values: Iterable[KnownValue], misspelt: Mapping[str, Iterable[str]] | None = None) -> None:
        self.words: dict[str, tuple[TextKind, Rule]] = {}
        self.codes: dict[str, TextKind] = {}
        self.cores: dict[str, TextKind] = {}
        self.sequences: dict[str, list[tuple[tuple[str, ...], TextKind]]] = {}
        self.literals: dict[str, TextKind] = {}
        self.wholes: dict[str, set[str]] = {}
        self.days: set[date] = set()
        self.day_words: set[str] = set()
        self.prefixes: set[str] = set()
        self.single_initials: set[str] = set()
        self.skipped = 0
        found = [parts_of(value) for value in values]
        for parts in found:  # inflected forms first: a name itself has the last word
            self.words.update(parts.inflected)
        for parts in found:
            self._add(parts)
        for word in [word for word in self.words if word in misspelt] if misspelt else ():
            for near in misspelt[word]:  # type: ignore[index]
                self.words.setdefault(near, self.words[word])
        initials = [initial for parts in found for initial in parts.initials]
        self.single_initials.update(initials)
        self.initials = self.single_initials if len(initials) > 1 else frozenset()
        self.triggers = frozenset((*self.words, *self.sequences))

    def __bool__(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.triggers or self.literals or self.prefixes or self.wholes or self.days or self.initials)

    def __repr__(self) -> str:
        return f"KnownSet(words={len(self.words)}, codes={len(self.codes)}, days={len(self.days)})"

    def _add(self, parts: SearchedParts) -> None:
        kind = parts.kind
        self.skipped += parts.skipped
        for word, rule in parts.words.items():
            self.words[word] = (kind, rule)
        self.codes.update(dict.fromkeys(parts.codes, kind))
        self.cores.update(dict.fromkeys(parts.cores, kind))
        self.literals.update(dict.fromkeys(parts.literals, kind))
        self.prefixes |= parts.prefixes
        for start, names in parts.wholes.items():
            self.wholes.setdefault(start, set()).update(names)
        self.days |= parts.days
        for day in parts.days:
            self.day_words |= _day_words(day.day)
        for sequence in parts.sequences:
            self.sequences.setdefault(sequence[0], []).append((sequence, kind))


@cache
def _day_words(day: int) -> frozenset[str]:
    """How the number of a day may stand in a text."""
    ends = ("", "st", "nd", "rd", "th", "er", "º", "ª", "o", "a")
    return frozenset(number + end for number in (str(day), f"{day:02d}") for end in ends)
