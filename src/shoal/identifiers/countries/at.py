"""Austria: social insurance number (modulo 11, ending in a date of birth) and Postleitzahl."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "AT",
    (
        national_id(
            "at-vnr",
            "an Austrian social insurance number",
            r"^[1-9]\d{3} ?(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])\d{2}$",
            words("versicherungsnummer, sozialversicherungsnummer, svnr, sv nummer, vsnr"),
            check=stdnum("at.vnr"),
            chance=1 / 11,
            alone=0.9,
            width=0,
        ),
    ),
    (postal_code("at-plz", "an Austrian Postleitzahl", r"^(A-)?[1-9]\d{3}$", "plz, postleitzahl", 0.0),),
)
