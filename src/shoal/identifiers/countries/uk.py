"""United Kingdom: NHS numbers (modulo 11), national insurance numbers and postcodes."""

from shoal.identifiers.countries.pack import Country, national_id, postal_code
from shoal.identifiers.header import words
from shoal.identifiers.shape import stdnum

PACK = Country(
    "GB",
    (
        national_id(
            "uk-nhs",
            "an NHS number",
            r"^\d{3}[ -]?\d{3}[ -]?\d{4}$",
            words("nhs, nhs no, nhs number, nhsno, nhs num"),
            check=stdnum("gb.nhs"),
            chance=1 / 11,
            alone=0.85,
            width=10,
        ),
        national_id(
            "uk-nino",
            "a national insurance number",
            r"(?i)^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]$",
            words("nino, ni number, ni no, national insurance, national insurance number, nat ins no"),
            alone=0.9,
        ),
    ),
    (
        postal_code(
            "uk-postcode", "a UK postcode", r"(?i)^[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}$", "postcode, post code", 0.9
        ),
        postal_code(
            "uk-outward", "the first half of a UK postcode", r"(?i)^[A-Z]{1,2}\d[A-Z\d]?$",
            "postcode, post code, outcode, postcode district, postcode area", 0.0,
        ),
    ),
)  # fmt: skip
