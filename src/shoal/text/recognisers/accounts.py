"""IBANs, payment cards, and vehicle identification numbers: by their form and check digits."""

import re

from shoal.identifiers.shape import stdnum
from shoal.identifiers.vehicle_number import vin_check
from shoal.text.base import Note
from shoal.text.recognisers.pattern import ANY_LENGTH, CAPITAL, Pattern, Patterns, digits_together, either, run


def _is_card(text: str) -> bool:
    return stdnum("luhn")(re.sub(r"[ -]", "", text))


def _is_vin(text: str) -> bool:
    return text.isalnum() and not text.isdigit() and not text.isalpha() and vin_check(text)


_IBAN = r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){2,7}(?:[ -]?[A-Z\d]{1,3})?(?!\w)"
_CARD = r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])"
_VIN = r"(?<!\w)[A-HJ-NPR-Z\d]{17}(?!\w)"

_GROUPS = r"(?<![\w-])\d{4}(?:[ -]\d{4}){3}(?![\w-])"


def _starts_as_iban(note: Note) -> bool:
    """Whether two capitals with two digits behind them start a code."""
    text = note.folded
    return any(
        text[place : place + 2].isupper() and text[place + 2 : place + 4].isdigit() for place in note.code_starts
    )


def _long_code(note: Note) -> bool:
    return any(note.folded[start : start + 17].isalnum() for start in note.code_starts)


_BEHIND_CAPITALS = run(2, ANY_LENGTH, second_before=CAPITAL, before=CAPITAL)
_BESIDE_CAPITAL = either(run(1, 16, before=CAPITAL), run(1, 16, behind=CAPITAL))
_MANY_DIGITS = digits_together(13)

RECOGNISER = Patterns(
    "accounts",
    Pattern(
        _IBAN, 0.96, "form of an IBAN", "account_number", asks=_BEHIND_CAPITALS, gate=_starts_as_iban, digits=True,
    ),
    Pattern(
        _CARD, 0.9, "card number with its check digit", "account_number", check=_is_card, asks=_MANY_DIGITS,
        digits=True,
    ),
    Pattern(_GROUPS, 0.88, "form of a card number", "account_number", asks=_MANY_DIGITS, digits=True),
    Pattern(
        _VIN, 0.9, "vehicle number with its check digit", "vehicle_number", check=_is_vin, asks=_BESIDE_CAPITAL,
        gate=_long_code, digits=True,
    ),
)  # fmt: skip
