"""Payment cards: 13 to 19 digits under a known issuer prefix, with a Luhn check digit (ISO/IEC 7812), or masked."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape, stdnum

_WORDS = words(
    """credit card, debit card, card number, card no, card num, payment card, ccnum, cc number, cc num, pan, ccn,
    carta di credito, numero carta, numero di carta, kreditkarte, kreditkartennummer, kartennummer, carte
    bancaire, carte de credit, numero de carte, tarjeta, tarjeta de credito, numero de tarjeta, creditcard,
    kaartnummer""",
    weak="card, cc, carta, karte, carte, kaart",
)
# Visa, Mastercard, American Express, Discover, Diners, JCB, Maestro, UnionPay.
_PREFIX = r"(4|5[0-8]|2(22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)|3[47]|6(011|4[4-9]|5|2)|3(0[0-5]|[689])|35)"
_FULL = Shape(
    kind="payment-card",
    rule="luhn",
    noun="a payment card number",
    pattern=rf"^{_PREFIX}[\d]{{0,3}}([ -]?\d){{9,15}}$",
    words=_WORDS,
    alone=0.9,
    check=lambda value: _luhn(value),
    chance=0.1,
)
_MASKED = Shape(
    kind="payment-card",
    rule="masked",
    noun="a masked payment card number",
    pattern=r"(?i)^(\d{4}|[*x•]{4})[ -]?(\d{2}[*x•]{2}|[*x•]{4})[ -]?[*x•]{4}[ -]?\d{4}$",
    words=_WORDS,
    alone=0.8,
)


# First digits of an issuer and the lengths its numbers have.
_LENGTHS = {"4": (13, 16, 19), "5": (16,), "2": (16,), "34": (15,), "37": (15,), "30": (14,), "36": (14,), "38": (14,),
            "35": (16, 17, 18, 19), "6": (16, 17, 18, 19), "39": (14,)}  # fmt: skip


def _luhn(value: str) -> bool:
    """As many digits as the issuer's numbers have, the last of them the Luhn check digit of the others."""
    digits = value.replace(" ", "").replace("-", "")
    lengths = _LENGTHS.get(digits[:2]) or _LENGTHS.get(digits[:1], ())
    return len(digits) in lengths and stdnum("luhn")(digits)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Full numbers, then masked ones."""
    yield from _FULL(column)
    yield from _MASKED(column)
