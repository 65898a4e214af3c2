"""Norway: fødselsnummer (two check digits modulo 11) and postnummer."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "NO",
    (
        national_id(
            "no-fodselsnummer",
            "a Norwegian fødselsnummer",
            r"^\d{6} ?\d{5}$",
            words("fodselsnummer, fodselsnr, fnr, personnummer"),
            check=stdnum("no.fodselsnummer"),
            chance=0.01,
            alone=0.9,
            width=11,
        ),
    ),
    (postal_code("no-postnummer", "a Norwegian postnummer", r"^\d{4}$", "postnummer, postnr", 0.0),),
)
