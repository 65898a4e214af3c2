"""Germany: tax identification number (ISO 7064), pension insurance number and Postleitzahl."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "DE",
    (
        national_id(
            "de-steuer-id",
            "a German tax identification number",
            r"^[1-9]\d[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}$",
            words("steuer id, steuerid, steueridentifikationsnummer, idnr, steuer idnr, steuernummer, tin, tax id"),
            check=stdnum("de.idnr"),
            chance=0.1,
            alone=0.85,
        ),
        national_id(
            "de-rentenversicherung",
            "a German pension insurance number",
            r"(?i)^\d{2} ?(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2])\d{2} ?[A-Z] ?\d{3}$",
            words(
                """rentenversicherungsnummer, rvnr, sozialversicherungsnummer, sv nummer, svnr,
                versicherungsnummer, sozialversicherungsnr, rv nummer"""
            ),
            alone=0.85,
        ),
    ),
    (
        postal_code(
            "de-plz",
            "a German Postleitzahl",
            r"^(D-)?\d{5}$",
            "plz, postleitzahl, postleitz, plz ort",
            0.05,
            5,
        ),
    ),
)
