"""Poland: PESEL (modulo 10, opening with a date of birth) and kod pocztowy."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "PL",
    (
        national_id(
            "pl-pesel",
            "a PESEL",
            r"^\d{11}$",
            words("pesel, numer pesel"),
            check=stdnum("pl.pesel"),
            chance=0.1,
            alone=0.9,
            width=11,
        ),
    ),
    (
        postal_code(
            "pl-kod-pocztowy",
            "a Polish kod pocztowy",
            r"^\d{2}-\d{3}$",
            "kod pocztowy, kod, postal code",
            0.4,
        ),
    ),
)
