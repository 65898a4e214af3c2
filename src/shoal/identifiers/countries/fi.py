"""Finland: henkilötunnus (check sign modulo 31) and postinumero."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "FI",
    (
        national_id(
            "fi-hetu",
            "a Finnish henkilötunnus",
            r"^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])\d{2}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]$",
            words("hetu, henkilotunnus, sotu"),
            check=stdnum("fi.hetu"),
            chance=1 / 31,
            alone=0.97,
            width=0,
        ),
    ),
    (postal_code("fi-postinumero", "a Finnish postinumero", r"^\d{5}$", "postinumero", 0.0),),
)
