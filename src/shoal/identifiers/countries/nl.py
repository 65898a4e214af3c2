"""Netherlands: burgerservicenummer (modulo 11) and postcode."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "NL",
    (
        national_id(
            "nl-bsn",
            "a Dutch burgerservicenummer",
            r"^\d{9}$",
            words("bsn, burgerservicenummer, sofinummer, sofi nummer, bsn nummer"),
            check=stdnum("nl.bsn"),
            chance=1 / 11,
            alone=0.8,
            width=9,
        ),
    ),
    (postal_code("nl-postcode", "a Dutch postcode", r"(?i)^[1-9]\d{3}\s?[A-Z]{2}$", "postcode, post code", 0.8),),
)
