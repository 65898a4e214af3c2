"""United States: social security numbers, which have no check digit but forbidden ranges, and ZIP codes."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.countries.pack import Country, postal_code
from shoal.identifiers.header import words

_WORDS = words(
    "ssn, social security, social security number, soc sec, soc sec no, socsec, ssa number, us ssn, social sec"
)
_WRITTEN = r"^\d{3}-\d{2}-\d{4}$|^\d{3} \d{2} \d{4}$"
_DIGITS = r"^\d{9}$"
# Areas 000, 666 and 900 to 999, group 00 and serial 0000 are never given out (Social Security Administration, 2011).
_ALLOWED = (
    r"^(00[1-9]|0[1-9]\d|[1-57-8]\d{2}|6[0-57-9]\d|66[0-57-9])[- ]?(0[1-9]|[1-9]\d)[- ]?"
    r"(000[1-9]|00[1-9]\d|0[1-9]\d{2}|[1-9]\d{3})$"
)
_ALLOWED_BY_CHANCE = 0.89


def ssn(column: ColumnEvidence) -> Iterator[Finding]:
    """Written 3-2-4, or nine digits under a header that says so; forbidden numbers speak against it."""
    written = column.matches(_WRITTEN)
    nine = written | column.matches(_DIGITS, 9)
    share = column.share(nine)
    if share < 0.1:
        return
    strength, word = _WORDS.heard(column.header)
    allowed = column.share(nine & column.matches(_ALLOWED, 9)) / share
    above = max(0.0, (allowed - _ALLOWED_BY_CHANCE) / (1 - _ALLOWED_BY_CHANCE))
    if column.share(written) / share >= 0.5:
        sure = confidence(share * (0.6 + 0.4 * above), 0.85, strength)
    else:
        sure = confidence(share * (0.4 + 0.6 * above), 0.05, strength)
    clause = "have the form of a US social security number" + (
        " and none lies in a forbidden range" if allowed == 1 else ", some of them in forbidden ranges"
    )
    yield finding("national-id", "us-ssn", clause, share=share, word=word, sure=sure)


_ZIP = "zip, zip code, zipcode, zip5, us zip, postal zip, zcta, zip cd, zipcd"
PACK = Country(
    "US",
    (ssn,),
    (
        postal_code("us-zip", "a ZIP code", r"^\d{5}$", _ZIP, 0.05, 5),
        postal_code("us-zip-plus-4", "a ZIP+4 code", r"^\d{5}-\d{4}$", _ZIP + ", zip4, zip plus 4", 0.85),
        postal_code("us-zip-3", "a three-digit ZIP prefix", r"^\d{3}(\*\*|[xX]{2})?$", _ZIP + ", zip3", 0.0),
    ),
)
