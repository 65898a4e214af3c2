"""Sweden: personnummer (Luhn, opening with a date of birth) and postnummer."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "SE",
    (
        national_id(
            "se-personnummer",
            "a Swedish personnummer",
            r"^(19|20)?\d{2}(0[1-9]|1[0-2])([06][1-9]|[1278]\d|[39][01])[-+]?\d{4}$",
            words("personnummer, person nr, pnr, personnr"),
            check=stdnum("se.personnummer"),
            chance=0.1,
            alone=0.9,
            width=0,
        ),
    ),
    (postal_code("se-postnummer", "a Swedish postnummer", r"^[1-9]\d{2} \d{2}$", "postnummer, postnr", 0.3),),
)
