"""IBANs, payment cards, and vehicle identification numbers: by their form and check digits."""

import re

from shoal.kinds.shape import stdnum
from shoal.kinds.vehicle_number import vin_check
from shoal.text.recognisers.pattern import Pattern, Patterns


def _is_card(text: str) -> bool:
    return stdnum("luhn")(re.sub(r"[ -]", "", text))


def _is_vin(text: str) -> bool:
    return text.isalnum() and not text.isdigit() and not text.isalpha() and vin_check(text)


_IBAN = r"(?<!\w)[A-Z]{2}\d{2}(?:[ -]?[A-Z\d]{4}){2,7}(?:[ -]?[A-Z\d]{1,3})?(?!\w)"
_CARD = r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])"
_VIN = r"(?<!\w)[A-HJ-NPR-Z\d]{17}(?!\w)"

RECOGNISER = Patterns(
    "accounts",
    Pattern(_IBAN, 0.96, "form of an IBAN", "account_number"),
    Pattern(_CARD, 0.9, "card number with its check digit", "account_number", "", _is_card),
    Pattern(r"(?<![\w-])\d{4}(?:[ -]\d{4}){3}(?![\w-])", 0.88, "form of a card number", "account_number"),
    Pattern(_VIN, 0.9, "vehicle number with its check digit", "vehicle_number", "", _is_vin),
    digits=True,
)
