"""France: social security number (NIR, modulo 97) and code postal."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

_PERSON = r"[1-478] ?\d{2} ?(0[1-9]|1[0-2]|[2-9]\d) ?(\d{2}|2[ABab]) ?\d{3} ?\d{3}"
_WORDS = words(
    """nir, numero de securite sociale, numero securite sociale, no secu, num secu, numero secu, nss, secu,
    securite sociale, insee, numero insee"""
)

PACK = Country(
    "FR",
    (
        national_id(
            "fr-nir",
            "a French social security number",
            rf"^{_PERSON} ?\d{{2}}$",
            _WORDS,
            check=stdnum("fr.nir"),
            chance=1 / 97,
            alone=0.95,
        ),
        national_id("fr-nir-13", "a French social security number without its key", rf"^{_PERSON}$", _WORDS, alone=0.1),
    ),
    (
        postal_code(
            "fr-code-postal",
            "a French code postal",
            r"^(F-)?\d{5}$",
            "code postal, cp, codepostal, cpostal",
            0.05,
            5,
        ),
    ),
)
