"""Spain: DNI and NIE (check letter modulo 23) and código postal."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "ES",
    (
        national_id(
            "es-dni-nie",
            "a Spanish DNI or NIE",
            r"(?i)^[\dXYZKLM][ .-]?\d{1,2}\.?\d{3}\.?\d{2,3}[ -]?[A-Z]$",
            words(
                """dni, nie, nif, documento de identidad, numero de identidad, dni nie, documento nacional de
                identidad"""
            ),
            check=stdnum("es.nif"),
            chance=1 / 23,
            alone=0.95,
            form_alone=0.3,
        ),
    ),
    (
        postal_code(
            "es-codigo-postal", "a Spanish código postal", r"^(E-)?(0[1-9]|[1-4]\d|5[0-2])\d{3}$",
            "codigo postal, cod postal, cp, c p, codigopostal, codpostal", 0.05, 5,
        ),
    ),
)  # fmt: skip
