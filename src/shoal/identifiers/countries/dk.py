"""Denmark: CPR number (opening with a date of birth) and postnummer."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "DK",
    (
        national_id(
            "dk-cpr",
            "a Danish CPR number",
            r"^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])\d{2}-?\d{4}$",
            words("cpr, cpr nummer, cprnr, cpr nr, personnummer"),
            check=stdnum("dk.cpr"),
            chance=0.9,
            alone=0.4,
            width=10,
        ),
    ),
    (postal_code("dk-postnummer", "a Danish postnummer", r"^(DK-)?[1-9]\d{3}$", "postnummer, postnr", 0.0),),
)
