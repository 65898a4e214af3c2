"""Brazil: CPF (two check digits modulo 11) and CEP."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "BR",
    (
        national_id(
            "br-cpf",
            "a Brazilian CPF",
            r"^\d{3}\.?\d{3}\.?\d{3}-?\d{2}$",
            words("cpf, numero cpf"),
            check=stdnum("br.cpf"),
            chance=0.01,
            alone=0.9,
            width=11,
        ),
    ),
    (postal_code("br-cep", "a Brazilian CEP", r"^\d{5}-\d{3}$", "cep, codigo postal", 0.5),),
)
