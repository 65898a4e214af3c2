"""Surrogates: the same name of a person gets the same other name, initials and forms agree, no two become one.

What an identifier becomes is drawn by HMAC-SHA-256 under the key from the person and the identifier, so that it is the
same in every note and run, and nobody without the key can find the way back. Names keep their case, gender and place;
letters of initials are exchanged by a permutation without fixed points, and a name becomes one that starts as its
initial says. Numbers keep their shape, dates move by the person's own days.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

import numpy as np
import polars as pl

from shoal import progress
from shoal.keys import SecretKey
from shoal.methods.pseudonyms.pseudonymize import texts_of
from shoal.methods.pseudonyms.shift_dates import RANGE, allowed_shifts, shifts_by
from shoal.methods.scrubbing.columns import ScrubbedColumn, SearchedColumn
from shoal.methods.scrubbing.knowledge import PersonKnowledge
from shoal.storage import Column
from shoal.text.base import Note, Span
from shoal.text.known_values import PARTICLES, TITLES, TOKEN, UMLAUTS, folded, parts_of, street_word
from shoal.text.tags import replaced, tag_of
from shoal.text.terms import words_set
from shoal.text.words import is_word, strata
from shoal.text.written_dates import cased, end_with_weekday, moved, order_of
from shoal.vocabulary import DateOrder

# Names that stand for names: given names of women and men and surnames for every letter, so that initials agree.


Gender = Literal["f", "m"]

_WOMEN = """
Ada Agnes Alma Amelia Annika Audrey Bianca Blanche Bridget Britta Beryl Carla Cecilia Clara Colette Cora Dagmar Daphne
Delia Doris Dina Edith Elena Elise Esther Eva Fabia Fiona Flora Frieda Francine Gerda Gilda Greta Gwen Gloria Hanna
Harriet Hedda Helene Hilda Ida Ilse Imogen Ines Iris Jana Jasmin Johanna Josie Julia Karla Katja Kirsten Klara Kara Lara
Leona Lidia Lorena Lucia Mabel Marta Melina Mina Miriam Nadia Nelly Nina Nora Norma Odette Olga Olivia Oriana Ottilie
Pamela Paula Petra Phoebe Pia Quinta Quirina Queenie Quilla Questa Ramona Regina Renata Rita Romy Sabine Selma Sonja
Stella Sylvia Tamara Thea Tilda Tonia Tessa Ulla Una Ulrike Undine Ursula Valeria Vanessa Vera Vilma Viola Wanda Wilma
Winona Winifred Waltraud Xenia Ximena Xandra Xaviera Xanthe Yara Yasmin Ylva Yolanda Yvette Zara Zelda Zita Zoe Zuzana
"""
_MEN = """
Aaron Abel Albert Alfred Anton Axel Basil Benno Boris Bruno Bernard Caleb Carlo Cedric Clemens Conrad Damian Dario
Detlef Dominic Duncan Edgar Egon Emil Ernst Enzo Fabian Felix Finn Franco Friedrich Gavin Georg Gideon Gregor Gustav
Hans Hector Hendrik Hugo Horst Ian Igor Ilario Isidor Ivo Jakob Jasper Jerome Joachim Jonas Karl Kaspar Kevin Klaus Kurt
Lars Leander Leo Lorenz Ludwig Malcolm Marco Martin Milo Moritz Nathan Neil Nico Nils Norbert Olaf Oliver Orlando Oscar
Otto Pablo Pascal Paul Peter Philip Quentin Quincy Quirin Quinn Quido Ralf Raoul Reto Roland Rufus Samuel Saul Sergio
Simon Stefan Theo Thomas Tobias Tristan Tyler Ugo Ulf Ulrich Umberto Urban Valentin Victor Vincent Vito Volker Walter
Warren Werner Wilhelm Wolfgang Xander Xaver Xavier Xerxes Ximo Yann Yannick Yorick Yusuf Yves Zachary Zeno Zoltan Zeb
Zane
"""
_RARE_SURNAMES = {"q": "Quigley Quintana Quiroga Quesada Quade", "x": "Xander Xenakis Ximenes Xavier Xiques"}
FEMALE_TITLES = words_set(
    """
    mrs ms miss frau mme madame mlle mademoiselle signora signorina dottoressa sra srta senora lady
    """
)
MALE_TITLES = words_set(
    """
    mr herr monsieur signor sig sr senor sir lord
    """
)
# words of kin that stand before a given name and tell its gender
FEMALE_KIN = words_set(
    """
    wife mother sister daughter aunt grandmother mom mum niece girlfriend ehefrau mutter schwester tochter tante oma
    epouse mere soeur fille moglie madre sorella figlia zia nonna esposa hermana hija tia abuela
    """
)
MALE_KIN = words_set(
    """
    husband father brother son uncle grandfather dad nephew boyfriend ehemann vater bruder sohn onkel opa mari pere
    frere fils marito padre fratello figlio zio nonno esposo marido hermano hijo tio abuelo
    """
)
_COMMON = 4


@cache
def given_names(gender: Gender | None) -> dict[str, list[str]]:
    """Given names by their first letter; of women and men in turn where the gender is not known."""
    women, men = _WOMEN.split(), _MEN.split()
    names = {"f": women, "m": men}.get(gender or "", [name for pair in zip(women, men, strict=False) for name in pair])
    return _by_letter(names)


@cache
def surnames() -> dict[str, list[str]]:
    """Frequent surnames by their first letter, without those that are words too."""
    frequent = [name for name, power in strata("surnames").items() if power >= _COMMON and len(name) > 3]
    names = [name.capitalize() for name in frequent if name.isascii() and not is_word(name)]
    found = _by_letter(sorted(names))
    for letter, rare in _RARE_SURNAMES.items():
        found[letter] = list(dict.fromkeys([*found.get(letter, []), *rare.split()]))
    return found


def _by_letter(names: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name[0].lower(), []).append(name)
    return found


@cache
def gender_of(name: str) -> Gender | None:
    """The gender of a folded given name, where our own lists tell it.

    >>> gender_of("petra"), gender_of("otto"), gender_of("kim")
    ('f', 'm', None)
    """
    women, men = ({entry.lower() for entry in text.split()} for text in (_WOMEN + _MORE_WOMEN, _MEN + _MORE_MEN))
    if (name in women) == (name in men):
        return None
    return "f" if name in women else "m"


_MORE_WOMEN = """
Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Betty Sandra Margaret Ashley
Kimberly Emily Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Sharon Laura Cynthia Kathleen Amy Angela
Shirley Anna Brenda Emma Nicole Helen Samantha Katherine Christine Debra Rachel Carolyn Janet Catherine Maria Heather
Diane Ruth Julie Rose Giulia Chiara Francesca Valentina Alessia Martina Elisa Federica Giovanna Rosa Caterina Paola
Silvia Claudia Monica Helga Monika Renate Ingrid Gisela Brigitte Sabine Susanne Birgit Heike Katrin Anja Lena Mia Lea
Ute Karin Marie Jeanne Francoise Nathalie Isabelle Sylvie Anne Valerie Sandrine Celine Camille Manon Chloe Louise
Carmen Ana Isabel Pilar Marta Raquel Beatriz Alba Irene Fatima Aisha Priya
"""
_MORE_MEN = """
James John Robert Michael William David Richard Joseph Charles Christopher Daniel Matthew Anthony Mark Donald Steven
Andrew Joshua Kenneth Brian George Timothy Ronald Edward Jason Jeffrey Ryan Jacob Gary Nicholas Eric Jonathan Stephen
Larry Justin Scott Brandon Benjamin Gregory Alexander Patrick Frank Raymond Jack Dennis Jerry Jose Henry Adam Douglas
Giuseppe Giovanni Antonio Mario Luigi Francesco Angelo Vincenzo Pietro Paolo Giorgio Stefano Alessandro Matteo Lorenzo
Luca Jurgen Heinz Dieter Gunter Uwe Bernd Andreas Markus Christian Sebastian Florian Lukas Matthias Pierre Michel
Jacques Philippe Louis Alain Nicolas Julien Laurent Guillaume Antoine Hugo Lucas Juan Javier Carlos Alejandro Miguel
Rafael Pedro Fernando Luis Jorge Alberto Mohamed Ahmed Omar Hassan Ibrahim Raj Sanjay
"""


Place = Literal["given", "surname"]
_NUMBERED = words_set(
    """
    phone fax national_id record_number health_plan_number account_number licence_number vehicle_number device_number
    username other_number postal_code
    """
)
_WORDED = frozenset(["name", "organisation", "address", "place"])
# words of places and organisations that tell nobody
_PLAIN = words_set(
    """
    street st avenue ave road rd boulevard blvd lane ln drive dr court ct place pl square sq way hospital clinic
    center centre medical university school college general county city klinik krankenhaus universitat str strasse
    platz weg allee hopital clinique rue chu via viale piazza corso ospedale clinica calle avenida plaza und of the
    and for der die das des la le les de du del della di im am in north south east west n s e w po box apt ste suite
    floor gmbh ag inc ltd llc corp co saint santa san sankt
    """
)
# letters before the digits of a number, and those that only say what number it is
_LABEL = re.compile(r"([^\W\d_]{1,6})[\s:#.\-]*(?=\d[\d\W]{3,}$)")
_LABELS = words_set("mrn mr acct account ssn id no nr num case ref tel fax phone pid enc visit")
_ENDINGS = ("s", "es", "n", "en", "ns")
_MOST_DRAWS = 400
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def name_key(word: str) -> str:
    """The one form of a name that its spellings share: `Müller`, `MUELLER` and `Mueller` are one."""
    return folded(word.translate(UMLAUTS))


@dataclass
class PersonSurrogates:
    """What the identifiers of one person become. First all texts are shown to `see`, then `of` answers.

    `taken`: folded words that must not come out, because the table has them of this person.
    """

    secret: bytes = field(repr=False)
    person: bytes = field(repr=False)
    days: int = field(repr=False)
    order: DateOrder | None = None
    century_from: int = 1930
    taken: frozenset[str] = field(default=frozenset(), repr=False)
    _places: dict[str, Place] = field(default_factory=dict, repr=False)
    _genders: dict[str, Gender] = field(default_factory=dict, repr=False)
    _seen: set[str] = field(default_factory=set, repr=False)
    _numbers: set[str] = field(default_factory=set, repr=False)
    _made: dict[tuple[str, str], str | None] = field(default_factory=dict, repr=False)
    _used: dict[str, str] = field(default_factory=dict, repr=False)

    def see(self, text: str, spans: Iterable[Span]) -> None:
        """Learn which words are given names and surnames, and what must not come out."""
        for span in spans:
            shown = text[span.start : span.end]
            if span.kind in _WORDED:
                self._seen.update(name_key(token) for token in TOKEN.findall(shown))
            if span.kind in _NUMBERED:
                self._numbers.add(_signs(shown))
            if span.kind == "name":
                self._learn(shown, text[max(0, span.start - 14) : span.start])

    def know(self, name: str) -> None:
        """Learn from a whole name that the table has, which of its parts are given names."""
        self._learn(name, "")

    def _learn(self, shown: str, before: str) -> None:
        title = next(iter(re.findall(r"([^\W\d_]+)\.?\s*$", before)), "")
        words = [title, *TOKEN.findall(shown)] if folded(title) in TITLES else TOKEN.findall(shown)
        titles = {folded(word) for word in words} & TITLES
        kin: Gender | None = "f" if folded(title) in FEMALE_KIN else "m" if folded(title) in MALE_KIN else None
        parts = [name_key(word) for word in words if not _kept_in_name(word) and len(word) > 1]
        if not parts:
            return
        if "," in shown and len(parts) > 1:
            first = name_key(next(reversed(TOKEN.findall(shown.split(",")[0])), ""))
            given = parts[parts.index(first) + 1 :] if first in parts else parts[1:]
        else:
            given = parts[:-1]
        if len(parts) > 1:
            self._places.update(dict.fromkeys(parts, "surname"))
            self._places.update(dict.fromkeys(given, "given"))
        elif titles:
            self._places.setdefault(parts[0], "surname")
        elif kin is not None:
            self._places.setdefault(parts[0], "given")
            self._genders.setdefault(parts[0], kin)
        gender: Gender | None = "f" if titles & FEMALE_TITLES else "m" if titles & MALE_TITLES else None
        if gender is not None and len(parts) > 1:
            self._genders.update(dict.fromkeys(given, gender))

    def of(self, text: str, span: Span, language: str = "en") -> str:
        """What stands in place of a span; a tag where nothing else can be promised."""
        shown = text[span.start : span.end]
        made: str | None = None
        if span.kind in _WORDED:
            made = self._words(shown, span.kind)
        elif span.kind == "date":
            made = self._once("date", shown, lambda: moved(shown, self.days, self.order, self.century_from, language))
        elif span.kind in _NUMBERED:
            made = self._number(shown)
        elif span.kind == "email":
            made = self._once("email", shown.lower(), lambda: self._email(shown.lower()))
        elif span.kind == "url":
            made = self._once("url", shown, lambda: f"https://example.org/{self._draw('url', shown, 0).hex()[:10]}")
        elif span.kind == "ip":
            made = self._once("ip", shown, lambda: self._address(shown))
        return tag_of(span.kind) if made is None or _same(made, shown) else made

    def _once(self, what: str, key: str, make: Callable[[], str | None]) -> str | None:
        """Made once for each original; None where another one has it already."""
        place = (what, key)
        if place not in self._made:
            made = make()
            if made is not None and self._used.setdefault(made, key) != key:
                made = None
            self._made[place] = made
        return self._made[place]

    def _draw(self, what: str, key: str, turn: int) -> bytes:
        message = b"\0".join((what.encode(), self.person, key.encode("utf-8", "surrogatepass"), str(turn).encode()))
        return hmac.digest(self.secret, message, "sha256")

    # words

    def _words(self, shown: str, kind: str) -> str | None:
        parts, last, new = [], 0, False
        for match in TOKEN.finditer(shown):
            word = match[0]
            if any(sign.isdigit() for sign in word):
                made = self._number(word) or ""
                new = True
            elif _kept_in_name(word) if kind == "name" else street_word(folded(word)) in _PLAIN | PARTICLES:
                made = word
            elif len(word) == 1:
                made, new = cased(self._letter(name_key(word)), word), True
            else:
                made, new = self._name(word, kind) or "", True
            if not made:
                return None
            parts += [shown[last : match.start()], made]
            last = match.end()
        return "".join(parts) + shown[last:] if new else None

    def _name(self, word: str, kind: str) -> str | None:
        """The other name of a word, with the ending of an inflected one."""
        key, ending = self._stem(name_key(word))
        place: Place = self._places.get(key) or (_likely(key) if kind == "name" else "surname")
        made = self._once("name", key, lambda: self._drawn_name(key, place))
        if made is None:
            return None
        return cased(made + ending if not word.isupper() else (made + ending).upper(), word)

    def _stem(self, key: str) -> tuple[str, str]:
        """A name and the ending that it has here, where the name itself was seen without it."""
        for ending in _ENDINGS:
            stem = key.removesuffix(ending)
            if stem != key and len(stem) > 2 and (stem in self._seen or stem in self.taken):
                return stem, ending
        return key, ""

    def _drawn_name(self, key: str, place: Place) -> str | None:
        gender = self._genders.get(key) or gender_of(key)
        by_letter = given_names(gender) if place == "given" else surnames()
        names = by_letter.get(self._letter(key), [])
        used = {folded(name) for name in self._used} | self._seen | self.taken
        for turn in range(_MOST_DRAWS):
            drawn = self._draw("name", key, turn)
            name = names[int.from_bytes(drawn[:8], "big") % len(names)]
            if turn >= _MOST_DRAWS // 2:  # so many of one letter: two names in one
                name = f"{name}-{names[int.from_bytes(drawn[8:16], 'big') % len(names)]}"
            if folded(name) not in used and not used & set(folded(name).split("-")):
                return name
        return None

    @cached_property
    def _exchanged(self) -> dict[str, str]:
        """A permutation of the letters without fixed points: a keyed order, each letter becomes the next in it."""
        order = sorted(_LETTERS, key=lambda letter: self._draw("letter", letter, 0))
        return dict(zip(order, order[1:] + order[:1], strict=True))

    def _letter(self, key: str) -> str:
        """The letter that a folded name starts with instead; one of another script starts with a letter of its own."""
        letter = next((sign for sign in key if sign.isalpha()), key[0])
        return self._exchanged.get(letter) or self._exchanged[_LETTERS[ord(letter) % 26]]

    # numbers

    def _number(self, shown: str) -> str | None:
        """Other digits and letters in the same shape; a number with other separators, or a prefix, has the same.

        A label before it (`MRN4471093`) stays: a word that says so, or letters before a number that stands alone too.
        """
        label = _LABEL.match(shown)
        if label and (folded(label[1]) in _LABELS or _signs(shown[label.end() :]) in self._numbers):
            rest = self._number(shown[label.end() :])
            return None if rest is None else label[0] + rest
        signs = _signs(shown)
        if not signs:
            return None
        other = self._tail(signs) or self._drawn_number(signs, "number")
        if other is None:
            return None
        fresh = iter(other)
        return "".join(_like(next(fresh), sign) if sign.isalnum() else sign for sign in shown)

    def _tail(self, signs: str) -> str | None:
        """The end of what a longer number became, where this one is its end: a phone without its country code."""
        size = len(signs)
        ends = [
            known for known in self._numbers if size >= 7 and size < len(known) <= size + 4 and known.endswith(signs)
        ]
        ends = [known for known in ends if known.isdigit()]
        made = self._drawn_number(max(ends, key=lambda known: (len(known), known)), "number") if ends else None
        tail = None if made is None else made[-size:]
        return None if tail is None or tail == signs or self._used.setdefault(tail, signs) != signs else tail

    def _drawn_number(self, signs: str, what: str) -> str | None:
        if (what, signs) not in self._made:
            self._made[what, signs] = None
            for turn in range(_MOST_DRAWS):
                made = self._other_signs(signs, what, turn)
                fresh = made != signs and made not in self._numbers
                if fresh and self._used.setdefault(made, signs) == signs:
                    self._made[what, signs] = made
                    break
        return self._made[what, signs]

    def _other_signs(self, signs: str, what: str, turn: int) -> str:
        stream = b"".join(self._draw(what, f"{signs}/{part}", turn) for part in range(len(signs) // 32 + 1))
        out = []
        for place, (sign, byte) in enumerate(zip(signs, stream, strict=False)):
            if sign.isdigit():
                out.append(str(byte % 10) if place or sign == "0" else str(1 + byte % 9))
            else:
                out.append(_LETTERS[byte % 26].upper())
        return "".join(out)

    def _email(self, shown: str) -> str:
        drawn = self._draw("email", shown, 0)
        letter = _LETTERS[drawn[0] % 26]
        names = surnames()[letter]
        name = names[int.from_bytes(drawn[1:5], "big") % len(names)].lower()
        return f"{name}{int.from_bytes(drawn[5:9], 'big') % 10_000:04d}@example.org"

    def _address(self, shown: str) -> str:
        drawn = self._draw("ip", shown, 0)
        return (
            f"2001:db8::{drawn[:2].hex()}:{drawn[2:4].hex()}"
            if ":" in shown
            else f"10.{drawn[0]}.{drawn[1]}.{drawn[2]}"
        )


def _kept_in_name(word: str) -> bool:
    return folded(word) in TITLES or folded(word) in PARTICLES


def _likely(key: str) -> Place:
    """Where a word alone is rather a given name or a surname, by how many people bear it."""
    return "given" if strata("given_names").get(key, 0) >= strata("surnames").get(key, 0) + 1 else "surname"


def _signs(shown: str) -> str:
    return re.sub(r"[\W_]", "", folded(shown)).upper()


def _like(new: str, old: str) -> str:
    return new.lower() if old.islower() else new


def _same(made: str, shown: str) -> bool:
    return _signs(made) == _signs(shown)


# The notes of many people: each person has names, numbers and a shift of dates of their own.


@dataclass(frozen=True)
class Surrogates:
    """The key, whose notes they are (None: each row is a person of its own), and how dates are read."""

    key: SecretKey
    whose: Column | None = field(repr=False)
    order: DateOrder | None = None
    century_from: int = 1930

    def write(self, found: Sequence[SearchedColumn], knowledge: PersonKnowledge) -> list[ScrubbedColumn]:
        """The notes of each column with surrogates for what was found in them."""
        by_person: dict[int, list[tuple[int, int]]] = {}
        for place, column in enumerate(found):
            for number in np.flatnonzero(column.spans.has_spans()).tolist():
                by_person.setdefault(int(column.people[number]), []).append((place, number))
        texts = [column.column.values.gather(column.codes).to_list() for column in found]
        persons = sorted(by_person)
        names = self._names(persons)
        secret = self.key.secret_for("surrogates in notes")
        shifts = dict(zip(persons, shifts_by(names, self.key.secret_for("dates"), allowed_shifts(RANGE)), strict=True))
        order = self.order or order_of(
            originals[number][span.start : span.end]
            for column, originals in zip(found, texts, strict=True)
            for number in np.flatnonzero(column.spans.has_spans()).tolist()
            for span in column.spans[number]
            if span.kind == "date"
        )
        altered = [np.zeros(len(originals), bool) for originals in texts]
        for done, (person, name) in enumerate(zip(persons, names, strict=True)):
            progress.report("writing surrogates", done, len(persons))
            made = PersonSurrogates(
                secret, name, int(shifts[person]), order, self.century_from, _words_known(knowledge, person)
            )
            notes = [
                (texts[place][number], _with_weekdays(texts[place][number], found[place].spans[number]))
                for place, number in by_person[person]
            ]
            for value in sorted(knowledge.known[person], key=lambda value: value.text):
                if parts_of(value).kind == "name":
                    made.know(value.text)
            for text, spans in notes:
                made.see(text, spans)
            for (place, number), (text, spans) in zip(by_person[person], notes, strict=True):
                language = Note(text).language
                new = [made.of(text, span, language) for span in spans]
                written = replaced(text, spans, lambda _text, _spans, new=new: new)  # type: ignore[misc]
                texts[place][number], altered[place][number] = written, written != text
        return [
            ScrubbedColumn(column.column.name, column.rows, column.spans, pl.Series(new, dtype=pl.String), changed)
            for column, new, changed in zip(found, texts, altered, strict=True)
        ]

    def _names(self, persons: list[int]) -> list[bytes]:
        """What the key sees of each person: the value of the person column, else the number of the row."""
        if self.whose is None:
            return [f"row {person}".encode() for person in persons]
        texts = texts_of(self.whose.values).to_list()
        return [texts[person] for person in persons]


def _with_weekdays(text: str, spans: list[Span]) -> list[Span]:
    """Spans in which a date has the weekday that stands behind it, so that both move."""
    starts = [*(span.start for span in spans[1:]), len(text)]
    ends = [end_with_weekday(text, span.end) if span.kind == "date" else span.end for span in spans]
    return [
        span._replace(end=end) if span.end < end <= start else span
        for span, end, start in zip(spans, ends, starts, strict=True)
    ]


def _words_known(knowledge: PersonKnowledge, person: int) -> frozenset[str]:
    """All words of what is known of a person: none of them may come out as a surrogate."""
    return frozenset(word for value in knowledge.known[person] for word in parts_of(value).words)
