"""Italy: codice fiscale (16 signs, the last a check letter) and CAP."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

# Digits may be replaced by the letters LMNPQRSTUV where two people would share a code (omocodia).
_DIGIT = r"[\dLMNP-V]"

PACK = Country(
    "IT",
    (
        national_id(
            "it-codice-fiscale",
            "a codice fiscale",
            rf"(?i)^[A-Z]{{6}}{_DIGIT}{{2}}[A-EHLMPR-T]{_DIGIT}{{2}}[A-Z]{_DIGIT}{{3}}[A-Z]$",
            words("codice fiscale, cod fiscale, cod fisc, codfisc, cf, fiscal code, codicefiscale"),
            check=stdnum("it.codicefiscale"),
            chance=1 / 26,
            alone=0.98,
            form_alone=0.85,
        ),
    ),
    (
        postal_code(
            "it-cap",
            "an Italian CAP",
            r"^(I-)?\d{5}$",
            "cap, codice avviamento postale, cap residenza",
            0.05,
            5,
        ),
    ),
)
