"""Phone and fax numbers: by a word before them, by the form, or by the ranges of libphonenumber."""

from __future__ import annotations

import re
from functools import lru_cache

from shoal.identifiers.catalogue import AMERICAN_PHONE, SSN
from shoal.identifiers.form import compiled
from shoal.storage import Array
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block
from shoal.text.terms import alternation, rule

_EXTENSION = r"(?:\s?(?:x|ext\.?|extension|Durchwahl|poste|int\.)\s?\d{1,5})?"
_NUMBER = re.compile(
    rf"(?<![\w.+/-])(?:\+\s?|00)?(?:\(\+?\s?\d{{1,5}}\)|\d)[\d ().\-/]{{4,22}}\d{_EXTENSION}(?!\w|[-/]\d)"
)
_LABEL = re.compile(rf"\b{alternation('phone_words')}\b[^\d\n]{{0,25}}$", re.IGNORECASE)
_PHONE_WORDS = rule("phone_words")
_WORDS = re.compile(r"\w+")
_FAX = re.compile(rf"\b{alternation('fax_words')}\b[^\d\n]{{0,20}}$", re.IGNORECASE)
_FAX_PARTS = ("fax", "copi")  # each word for fax has one of them
_AMERICAN = re.compile(AMERICAN_PHONE.note)
_LOCAL = re.compile(r"^\d{3}[-.]\d{4}$")
_DATE = re.compile(
    r"^\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|^\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?!\d|[-/.]\d)"
    r"|^\d{1,2} \d{1,2} (?:19|20)\d{2}$"
)
_NATIONAL = re.compile(r"^\(?0\d{1,5}\)?[ /.\-]+\d|^0\d(?:[ .]\d{2}){4}$")
_SPANISH = re.compile(
    r"^[6789]\d{2}[ .-]\d{3}[ .-]\d{3}$|^[6789]\d{1,2}[ .-]\d{2,3}[ .-]\d{2}[ .-]\d{2}$|^9\d[ .-]\d{3}[ .-]\d{4}$"
)
_ITALIAN = re.compile(r"^3\d{2}[ ./-]?\d{3}[ .-]?\d{3,4}$|^3\d{2}[ ./-]\d{2}[ .-]\d{2}[ .-]\d{2,3}$")
_REGIONS = {
    "en": ("GB", "US"),
    "de": ("DE", "AT", "CH"),
    "fr": ("FR", "CH", "BE"),
    "it": ("IT", "CH"),
    "es": ("ES", "MX"),
}
_SSN = compiled(SSN.cell)


@lru_cache(100_000)
def _valid(number: str, regions: tuple[str, ...]) -> bool:
    """Whether a number written nationally is in use in one of the regions."""
    import phonenumbers

    for region in regions:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(number, region)):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False


def _prefix(text: str, start: int) -> int:
    """Where a number starts whose first digits are here: before a bracket or a plus."""
    while (start and text[start - 1] in "(+") or (start > 1 and text[start - 2 : start] == "+ "):
        start -= 1
    return start


class PhonesRecogniser(NoteByNote):
    """Phone and fax numbers."""

    name = "phones"
    kinds: tuple[TextKind, ...] = ("phone", "fax")

    def worth(self, block: Block) -> Array:
        """Notes with digits."""
        return block.has_digits

    def find(self, note: Note) -> list[Span]:
        """Numbers of seven digits or more that something says are phone numbers."""
        if not note.has_digits:
            return []
        found: list[Span] = []
        text, last = note.folded, 0
        for start, end, digits in note.chains:
            near = digits < 6 and not text.startswith((") ", " (", "/ ", " /"), end)
            if start < last or near:
                continue
            plus = start - 1 if text[start - 1 : start] == "+" else start
            match = _NUMBER.match(text, _prefix(text, start)) or _NUMBER.match(text, plus)
            span = None if match is None else self._judged(note, match)
            if span is not None:
                found.append(span)
                last = span.end
        return found

    def _judged(self, note: Note, match: re.Match[str]) -> Span | None:
        number, (start, end) = match[0], match.span()
        digits = sum(map(str.isdigit, number.split("x")[0].split("e")[0]))
        if not 6 <= digits <= 15 or _DATE.match(number) or _SSN.match(number):
            return None
        before = note.folded[max(0, start - 45) : start]
        lower = note.lower
        if any(part in lower for part in _FAX_PARTS) and _FAX.search(before):
            return Span(start, end, "fax", 0.95, "after a word for fax")
        score, reason = self._worth(note.language, number, digits, before)
        return Span(start, end, "phone", score, reason) if score else None

    def _worth(self, language: str, number: str, digits: int, before: str) -> tuple[float, str]:
        if number[0] == "+" or number.startswith("(+") or (number.startswith("00") and digits > 9):
            return 0.95, "international phone number"
        if _AMERICAN.match(number):
            return 0.92, "phone number in American form"
        if not _PHONE_WORDS.isdisjoint(_WORDS.findall(before.lower())) and _LABEL.search(before):
            return 0.92, "after a word for phone"
        if _NATIONAL.match(number) and 8 <= digits <= 13:
            return 0.85, "phone number with area code"
        if _LOCAL.match(number):
            return 0.75, "local phone number"
        if (language == "es" and _SPANISH.match(number)) or (language == "it" and _ITALIAN.match(number)):
            return 0.8, "phone number in national form"
        if number[0] == "0" and digits > 8 and _valid(number, _REGIONS.get(language, ())):
            return 0.8, "phone number in use"
        return 0.0, ""


RECOGNISER = PhonesRecogniser()
