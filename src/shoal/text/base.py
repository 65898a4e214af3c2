"""What a recogniser of free text sees, and what it answers: a note, and spans in it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
import polars as pl

from shoal.storage import Array
from shoal.storage.folding import fold
from shoal.text.words import (
    CAPITAL,
    INITIAL,
    LOWER,
    PLAIN_WORD,
    ROLE,
    SPLIT,
    SPLIT_ASCII,
    SPLIT_PLAIN,
    SURE,
    TITLE,
    Lexicon,
    lexicon,
)

if TYPE_CHECKING:
    from shoal.text.block import Block


# The kinds of identifiers that are found in free text, and the letter of each in HIPAA's list. `withheld` is a whole
# note that could not be searched to its end.

TextKind = Literal[
    "name", "organisation", "address", "postal_code", "place", "date", "age_over_89", "phone", "fax", "email",
    "national_id", "record_number", "health_plan_number", "account_number", "licence_number", "vehicle_number",
    "device_number", "url", "ip", "username", "other_number", "withheld",
]  # fmt: skip

TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)

# 45 CFR 164.514(b)(2)(i): the letter under which the kind is listed; (R) is any other unique number or code
HIPAA_LETTERS: dict[TextKind, str] = {
    "name": "A", "organisation": "A", "address": "B", "postal_code": "B", "place": "B", "date": "C",
    "age_over_89": "C", "phone": "D", "fax": "E", "email": "F", "national_id": "G", "record_number": "H",
    "health_plan_number": "I", "account_number": "J", "licence_number": "K", "vehicle_number": "L",
    "device_number": "M", "url": "N", "ip": "O", "username": "R", "other_number": "R", "withheld": "R",
}  # fmt: skip


Made = TypeVar("Made")


class Span(NamedTuple):
    """An identifier from `start` to before `end`, in characters of the original text; never its text."""

    start: int
    end: int
    kind: TextKind
    score: float
    reason: str


class TextRecogniser(Protocol):
    """One way of finding identifiers: its name, the kinds that it finds, and the spans in notes."""

    name: str
    kinds: tuple[TextKind, ...]

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds the spans of each note of a block, in characters of the note's folded text."""
        ...


class NoteByNote:
    """A recogniser that looks at each note of a block in which it may find something."""

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds the spans of each note of a block."""
        notes, find = block.notes, self.find
        for number in np.flatnonzero(self.worth(block)).tolist():
            found[number] += find(notes[number])

    def worth(self, block: Block) -> Array:
        """Which notes it may find something in: asked once for all of them, and cheap to answer."""
        raise NotImplementedError

    def find(self, note: Note) -> list[Span]:
        """The spans of one note, in characters of its folded text."""
        raise NotImplementedError


class once(Generic[Made]):
    """A property that is made when it is first asked for; `functools.cached_property` takes a lock for each."""

    def __init__(self, make: Callable[[Any], Made]) -> None:
        self.make = make
        self.name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> Made:
        made = owner.__dict__[self.name] = self.make(owner)
        return made


class _Folds(dict[int, str]):
    """What each character beyond ASCII becomes; `uneven` are those that do not become one character."""

    def __init__(self) -> None:
        self.uneven: set[str] = set()

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        folded = sign if code < 128 else str(fold(pl.Series([sign]))[0])
        self[code] = folded
        if len(folded) != 1:
            self.uneven.add(sign)
        return folded


_FOLDS = _Folds()
_DIGITS = re.compile(r"[0-9]+")
_LONGEST_PREFIX = 24
_ENDS = frozenset('.!?:;•*\t\n"')


class Note:
    """A text with what recognisers need of it, each made when it is first asked for.

    `folded` has plain digits, dashes and blanks (`shoal.storage.rows`); recognisers work on it, and `original`
    leads back.

    >>> note = Note("tel 020\u20117946\u20110018")
    >>> note.folded
    'tel 020-7946-0018'
    """

    def __init__(self, text: str, languages: tuple[str, ...] = ("en", "de", "fr", "it", "es")) -> None:
        self.text = text
        self.languages = languages
        self._places: list[int] | None = None
        self._windows: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self.folded = text if text.isascii() else self._fold()

    def _fold(self) -> str:
        text = self.text
        folded = text.translate(_FOLDS)
        if _FOLDS.uneven.isdisjoint(text) and unicodedata.is_normalized("NFC", text):
            return folded
        parts: list[str] = []
        self._places = []
        start = 0
        while start < len(text):
            end = start + 1
            while end < len(text) and unicodedata.combining(text[end]):
                end += 1
            cluster = unicodedata.normalize("NFC", text[start:end]).translate(_FOLDS)
            parts.append(cluster)
            self._places.extend([start] * len(cluster))
            start = end
        self._places.append(len(text))
        return "".join(parts)

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where a stretch of the folded text lies in the original; a sign of which a part is in it is in it whole."""
        if self._places is None or end <= start:
            return start, end
        return self._places[start], self._places[bisect_right(self._places, self._places[end - 1])]

    @property
    def in_place(self) -> bool:
        """Whether each sign of the folded text stands where it stands in the original."""
        return self._places is None

    @once
    def lower(self) -> str:
        """The folded text in lower case, of the same length."""
        lower = self.folded.lower()
        return lower if len(lower) == len(self.folded) else "".join(c.lower()[0] for c in self.folded)

    @once
    def digits(self) -> list[tuple[int, int]]:
        """Where runs of digits are: what has digits is looked for at their starts only."""
        return [match.span() for match in _DIGITS.finditer(self.folded)]

    @once
    def has_digits(self) -> bool:
        """Whether there is a digit at all: most recognisers have nothing to do without."""
        return bool(self.digits)

    @once
    def behind_digits(self) -> set[str]:
        """The two characters behind each run of digits."""
        text = self.folded
        return {text[end : end + 2] for _, end in self.digits}

    @once
    def run_lengths(self) -> set[int]:
        """How long the runs of digits are."""
        return {end - start for start, end in self.digits}

    @once
    def code_starts(self) -> list[int]:
        """Where the groups of letters, digits, dots, hyphens and slashes start that hold a digit."""
        text, found, last = self.folded, list[int](), -1
        for start, end in self.digits:
            if start - 1 == last and text[last] in "-/.":  # goes on with the group before it
                last = end
                continue
            left = start
            while left and start - left < _LONGEST_PREFIX and (text[left - 1].isalnum() or text[left - 1] in "-/."):
                left -= 1
            if left >= last:
                found.append(left)
            last = end
        return found

    @once
    def chains(self) -> list[tuple[int, int, int]]:
        """Start, end and number of digits of runs of digits with one sign at most between them."""
        found: list[tuple[int, int, int]] = []
        for start, end in self.digits:
            if found and start - found[-1][1] <= 1:
                found[-1] = (found[-1][0], end, found[-1][2] + end - start)
            else:
                found.append((start, end, end - start))
        return found

    @once
    def any_signs(self) -> int:
        """All bits that any word has: what is not in it need not be looked for."""
        return reduce(or_, self.distinct_signs, 0)

    @once
    def distinct_signs(self) -> set[int]:
        """The different bits that words have: few, so that what no word is costs little to find out."""
        return set(self.signs)

    @once
    def notable(self) -> list[tuple[int, int]]:
        """The numbers and bits of the words that are more than plain words of a dictionary."""
        return [(number, bits) for number, bits in enumerate(self.signs) if bits & ~PLAIN_WORD]

    @once
    def lower_names(self) -> list[int]:
        """The numbers of the words in lower case that are frequent names and not words."""
        sure = {bits for bits in self.distinct_signs if bits & LOWER and bits & SURE}
        return [number for number, bits in enumerate(self.signs) if bits in sure] if sure else []

    def marked(self, bits: int) -> list[int]:
        """The numbers of the words that have one of the bits."""
        if not self.any_signs & bits:
            return []
        return [number for number, sign in self.notable if sign & bits]

    def windows(self, bits: int, before: int, after: int) -> list[tuple[int, int]]:
        """Stretches around the words that have one of the bits, joined where they meet."""
        known = self._windows.get((bits, before))
        if known is not None:
            return known
        found: list[tuple[int, int]] = []
        self._windows[bits, before] = found
        for number in self.marked(bits):
            start, end = self.pieces[number]
            low, high = max(0, start - before), min(len(self.folded), end + after)
            if found and low <= found[-1][1]:
                found[-1] = (found[-1][0], high)
            else:
                found.append((low, high))
        return found

    @once
    def _parts(self) -> list[str]:
        """What stands before the first word, the first word, what stands behind it, and so on."""
        text = self.folded
        if "'" in text or "\u2019" in text:
            return SPLIT.split(text)
        return (SPLIT_ASCII if text.isascii() else SPLIT_PLAIN).split(text)

    @once
    def words(self) -> list[str]:
        """The words in their order: letters, with apostrophes and hyphens inside."""
        return self._parts[1::2]

    @once
    def pieces(self) -> list[tuple[int, int]]:
        """Where the words are: where the parts before them end, and where they end."""
        ends = list(accumulate(map(len, self._parts)))
        return list(zip(ends[0::2], ends[1::2], strict=False))

    @once
    def signs(self) -> list[int]:
        """What is known of each word: bits of `shoal.text.words`, looked up once per distinct word."""
        book: Lexicon = lexicon()
        return list(map(book.__getitem__, self.words))

    @once
    def in_lower_case(self) -> bool:
        """Whether hardly a word has a capital, as people type who are in a hurry."""
        return len(self.marked(CAPITAL)) * 12 < len(self.words)

    @once
    def protected(self) -> set[int]:
        """The numbers of the words that stay (`shoal.text.stay`)."""
        from shoal.text.stay import protected

        return protected(self)

    def gap(self, number: int) -> str:
        """What stands between a word and the one before it, or behind the last; a line break before the first."""
        if not number:
            return "\n"
        pieces = self.pieces
        return self.folded[pieces[number - 1][1] : pieces[number][0] if number < len(pieces) else None]

    @once
    def language(self) -> str:
        """The language whose small words are most frequent; the first of the note's languages if there are none."""
        return lexicon().language(self.words, self.languages)

    def starts(self, number: int) -> bool:
        """Whether a word is the first of a sentence or line."""
        if not number:
            return self.folded[: self.pieces[0][0]] != " "
        gap = self.gap(number)
        if gap == " ":
            return False
        abbreviated = gap in (". ", ".") and self.signs[number - 1] & (TITLE | INITIAL | ROLE)
        return not (_ENDS.isdisjoint(gap) or abbreviated)
