"""What a country brings: recognisers for its national identifiers and for its postal codes."""

from collections.abc import Callable
from typing import NamedTuple

from shoal.identifiers.base import ColumnRecogniser
from shoal.identifiers.header import HeaderWords, words
from shoal.identifiers.shape import Shape


class Country(NamedTuple):
    """A country pack; `code` is the ISO 3166 code."""

    code: str
    national_ids: tuple[ColumnRecogniser, ...] = ()
    postal_codes: tuple[ColumnRecogniser, ...] = ()


def national_id(
    rule: str,
    noun: str,
    pattern: str,
    book: HeaderWords,
    *,
    check: Callable[[str], bool] | None = None,
    chance: float = 0.0,
    alone: float,
    form_alone: float = 0.0,
    width: int = 0,
) -> Shape:
    """A national identifier; for the arguments see `Shape`."""
    return Shape("national-id", rule, noun, pattern, book, alone, check, chance, form_alone, width)


def postal_code(rule: str, noun: str, pattern: str, header: str, alone: float, width: int = 0) -> Shape:
    """A postal code; `header` adds the country's words to the ones that postal codes share."""
    return Shape("postal-code", rule, noun, pattern, words(header), alone, width=width)
