"""Portugal: NIF (modulo 11) and código postal."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "PT",
    (
        national_id(
            "pt-nif",
            "a Portuguese NIF",
            r"^[1-35689]\d{2} ?\d{3} ?\d{3}$",
            words("nif, contribuinte, numero de contribuinte, numero fiscal"),
            check=stdnum("pt.nif"),
            chance=1 / 11,
            alone=0.75,
            width=0,
        ),
    ),
    (
        postal_code(
            "pt-codigo-postal",
            "a Portuguese código postal",
            r"^[1-9]\d{3}-\d{3}$",
            "codigo postal, cod postal",
            0.5,
        ),
    ),
)
