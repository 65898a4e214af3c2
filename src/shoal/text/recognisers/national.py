"""National numbers with check digits, from the packs of `shoal.identifiers.countries`; US numbers by form."""

from __future__ import annotations

import re
from functools import cache

from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.shape import Shape
from shoal.storage import Array
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block

_SSN = re.compile(r"(?<![\d.-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])")
_MASK_SIGN = re.compile(r"[xX*]-\d{4}")
_MASKED = re.compile(r"(?i)(?<![\w])[x*]{3}-[x*]{2}-\d{4}\b")
# ten signs or more, in groups or not, of which most are digits; shorter numbers pass checks by chance too often
_CANDIDATE = re.compile(
    r"(?<![\w.-])(?:[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|[A-Z]{0,2}\d(?:[ .-]?[\dA-Z]){7,19})(?![\w-])", re.IGNORECASE
)
_NINO = re.compile(r"(?<!\w)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?!\w)")
_RARE_CHANCE = 0.1


@cache
def _checked() -> tuple[tuple[re.Pattern[str], Shape], ...]:
    """The shapes of all country packs whose check digit a random number seldom has."""
    return tuple(
        (re.compile(shape.pattern), shape)
        for country in COUNTRIES
        for shape in country.national_ids
        if isinstance(shape, Shape) and shape.check is not None and shape.chance <= _RARE_CHANCE
    )


@cache
def _any_checked() -> re.Pattern[str]:
    """All those shapes in one pattern: most numbers have none of them."""
    parts = (pattern.pattern for pattern, _ in _checked())
    forms = [f"(?i:{part[4:]})" if part.startswith("(?i)") else f"(?:{part})" for part in parts]
    return re.compile("|".join(forms))


def _at(text: str, place: int) -> list[Span]:
    """A number in the form of a country's number with a right check digit, or of a UK number."""
    match = _NINO.match(text, place)
    if match is not None:
        return [Span(*match.span(), "national_id", 0.85, "form of a UK number")]
    match = _CANDIDATE.match(text, place)
    if match is None or _any_checked().match(match[0]) is None:
        return []
    for pattern, shape in _checked():
        if pattern.match(match[0]) and shape.check is not None and shape.check(match[0]):
            return [Span(*match.span(), "national_id", 0.9, f"{shape.noun} with its check digit")]
    return []


class NationalRecogniser(NoteByNote):
    """Numbers of a state for its people."""

    name = "national numbers"
    kinds: tuple[TextKind, ...] = ("national_id",)

    def worth(self, block: Block) -> Array:
        """Notes with digits."""
        return block.has_digits

    def find(self, note: Note) -> list[Span]:
        """Numbers in the form of a country's number with a right check digit, and US and UK numbers by form."""
        if not note.has_digits:
            return []
        text, found = note.folded, []
        for start, end in note.digits:
            match = _SSN.match(text, start) if end - start == 3 and text[end : end + 1] == "-" else None
            if match is not None:
                found.append(Span(*match.span(), "national_id", 0.93, "form of a US number"))
        if 4 in note.run_lengths and _MASK_SIGN.search(text):
            found += [Span(*match.span(), "national_id", 0.8, "masked US number") for match in _MASKED.finditer(text)]
        if any(digits > 5 for _, _, digits in note.chains):
            for place in note.code_starts:
                found += _at(text, place)
        return found


RECOGNISER = NationalRecogniser()
