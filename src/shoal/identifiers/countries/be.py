"""Belgium: national number (modulo 97) and postcode."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "BE",
    (
        national_id(
            "be-nn",
            "a Belgian national number",
            r"^\d{2}\.?\d{2}\.?\d{2}[- ]?\d{3}[. -]?\d{2}$",
            words("rijksregisternummer, numero national, registre national, niss, insz, nationaal nummer"),
            check=stdnum("be.nn"),
            chance=1 / 97,
            alone=0.9,
            width=11,
        ),
    ),
    (
        postal_code(
            "be-postcode",
            "a Belgian postcode",
            r"^(B-)?[1-9]\d{3}$",
            "postcode, code postal, postnummer",
            0.0,
        ),
    ),
)
