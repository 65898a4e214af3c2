"""National numbers from the packs of `shoal.identifiers.countries`: those with a check digit or a telling form."""

from __future__ import annotations

import re
from functools import cache

from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.shape import Identifier
from shoal.storage import Array
from shoal.text.base import Note, NoteByNote, Span, TextKind
from shoal.text.block import Block

# ten signs or more, in groups or not, of which most are digits; shorter numbers pass checks by chance too often
_CANDIDATE = re.compile(
    r"(?<![\w.-])(?:[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]|(?:[A-Z]{0,2}|[A-Z]{2} )\d(?:[ .-]?[\dA-Z]){6,19})(?![\w-])",
    re.IGNORECASE,
)
_RARE_CHANCE = 0.1
_TELLING = 0.9


@cache
def _checked() -> tuple[tuple[re.Pattern[str], Identifier], ...]:
    """The numbers of all country packs whose check digit a random number seldom has, or whose form nothing else has."""
    return tuple(
        (re.compile(shape.pattern), shape)
        for country in COUNTRIES
        for shape in country.national_ids
        if isinstance(shape, Identifier)
        and (shape.chance <= _RARE_CHANCE if shape.check is not None else shape.alone >= _TELLING)
    )


@cache
def _any_checked() -> re.Pattern[str]:
    """All those shapes in one pattern: most numbers have none of them."""
    parts = (pattern.pattern for pattern, _ in _checked())
    forms = [f"(?i:{part[4:]})" if part.startswith("(?i)") else f"(?:{part})" for part in parts]
    return re.compile("|".join(forms))


def _at(text: str, place: int) -> list[Span]:
    """A number in the form of a country's number, with a right check digit if it has one."""
    match = _CANDIDATE.match(text, place)
    if match is None or _any_checked().match(match[0]) is None:
        return []
    for pattern, shape in _checked():
        if pattern.match(match[0]) and (shape.check is None or shape.check(match[0])):
            how = "form of " if shape.check is None else "right check digit of "
            return [Span(*match.span(), "national_id", 0.85 if shape.check is None else 0.9, how + shape.noun)]
    return []


class NationalRecogniser(NoteByNote):
    """Numbers of a state for its people."""

    name = "national numbers"
    kinds: tuple[TextKind, ...] = ("national_id",)

    def worth(self, block: Block) -> Array:
        """Notes with digits."""
        return block.has_digits

    def find(self, note: Note) -> list[Span]:
        """Numbers in the form of a country's number."""
        if not note.has_digits:
            return []
        text, found = note.folded, []
        if any(digits > 5 for _, _, digits in note.chains):
            for place in note.code_starts:
                found += _at(text, place)
        return found


RECOGNISER = NationalRecogniser()
