"""Ireland: personal public service number (check letter modulo 23) and Eircode."""

from shoal.kinds.countries.pack import Country, national_id, postal_code
from shoal.kinds.header import words
from shoal.kinds.shape import stdnum

PACK = Country(
    "IE",
    (
        national_id(
            "ie-pps",
            "an Irish PPS number",
            r"(?i)^\d{7}[A-W][A-IW]?$",
            words("pps, ppsn, pps number, pps no"),
            check=stdnum("ie.pps"),
            chance=1 / 23,
            alone=0.9,
            width=0,
        ),
    ),
    (
        postal_code(
            "ie-eircode",
            "an Eircode",
            r"(?i)^[AC-FHKNPRTV-Y](\d{2}|6W) ?[0-9AC-FHKNPRTV-Y]{4}$",
            "eircode, postcode",
            0.7,
        ),
    ),
)
