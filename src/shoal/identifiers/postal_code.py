"""Postal codes of all country packs, and any short code under a header that says postal code."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.countries import COUNTRIES
from shoal.identifiers.header import words
from shoal.identifiers.shape import Shape

_ANY = Shape(
    kind="postal-code",
    rule="by-header",
    noun="a postal code",
    pattern=r"(?i)^([a-z]{1,2}-)?\d{3,7}$|^[a-z\d]{2,5}[ -][a-z\d]{2,4}$|^\d{2,5}[*x]{1,4}$",
    words=words(
        """postal code, postcode, post code, postalcode, zip postal, zip, zip code, zip or postal code, code
        postal, codigo postal, codice postale, code post, cod post, codpost, plz, postleitzahl, cep, postnummer,
        pincode, pin code, area postal""",
        weak="postal, post, cp, pin",
        block="office, box, date, blog",
    ),
    alone=0.0,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Each country's form, then the form that all share."""
    if column.numbers is not None and not column.whole:
        return
    for country in COUNTRIES:
        for rule in country.postal_codes:
            yield from rule(column)
    yield from _ANY(column)
