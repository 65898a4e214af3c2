"""Switzerland: AHV number (EAN-13 under 756) and Postleitzahl."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "CH",
    (
        national_id(
            "ch-ahv",
            "a Swiss AHV number",
            r"^756\.?\d{4}\.?\d{4}\.?\d{2}$",
            words("ahv, ahv nummer, ahvnr, avs, numero avs, sozialversicherungsnummer"),
            check=stdnum("ch.ssn"),
            chance=0.1,
            alone=0.95,
            width=0,
        ),
    ),
    (
        postal_code(
            "ch-plz",
            "a Swiss Postleitzahl",
            r"^(CH-)?[1-9]\d{3}$",
            "plz, postleitzahl, npa, code postal",
            0.0,
        ),
    ),
)
