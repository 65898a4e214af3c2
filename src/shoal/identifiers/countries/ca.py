"""Canada: social insurance number (Luhn) and postal code."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "CA",
    (
        national_id(
            "ca-sin",
            "a Canadian social insurance number",
            r"^[1-79]\d{2}[ -]?\d{3}[ -]?\d{3}$",
            words("sin, social insurance, social insurance number, nas"),
            check=stdnum("ca.sin"),
            chance=0.1,
            alone=0.45,
            width=0,
        ),
    ),
    (
        postal_code(
            "ca-postal-code",
            "a Canadian postal code",
            r"(?i)^[ABCEGHJ-NPRSTVXY]\d[A-Z][ -]?\d[A-Z]\d$",
            "postal code, code postal, postcode",
            0.9,
        ),
    ),
)
