"""Places: countries, regions, counties, municipalities, by header and by lists of their names."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words_of
from shoal.identifiers.place_lists import CITIES, COUNTRIES, COUNTRY_CODES, REGIONS, STATE_CODES
from shoal.identifiers.shape import Vocabulary

# Places are words without many digits, or short codes.
_PLACE = r"^[\p{L}][\p{L}\s.'\u2019,()/&\-]{1,60}$|^\d{1,11}$|^[\p{Lu}]{1,3}$"
_CODE = r"^[\p{L}][\p{L}\s.'\u2019,()/&\-]{1,60}$|^\d{1,11}$|^[A-Z]{1,3}[-.]?[A-Z0-9]{0,6}$"

_COUNTRY = Vocabulary(
    kind="geography",
    rule="country",
    noun="a country",
    words=words_of("country"),
    values=COUNTRIES,
    alone=0.85,
    form=_PLACE,
)
_COUNTRY_CODE = Vocabulary(
    kind="geography",
    rule="country-code",
    noun="a country",
    words=_COUNTRY.words,
    values=COUNTRY_CODES,
    form=_PLACE,
)
_REGION = Vocabulary(
    kind="geography",
    rule="region",
    noun="a region or state",
    words=words_of("region"),
    values=REGIONS,
    alone=0.85,
    form=_CODE,
)
# Smaller than a region: what must go where only the state may stay.
_COUNTY = Vocabulary(
    kind="geography",
    rule="county",
    noun="a county or province",
    words=words_of("county"),
    values=REGIONS,
    form=_CODE,
)
_STATE_CODE = Vocabulary(
    kind="geography", rule="us-state-code", noun="a state of the USA", words=_REGION.words, values=STATE_CODES,
    alone=0.35, least_known=8, form=_CODE,
)  # fmt: skip
_CITY = Vocabulary(
    kind="geography",
    rule="municipality",
    noun="a municipality",
    words=words_of("municipality"),
    values=CITIES,
    alone=0.7,
    form=_PLACE,
    least_known=5,
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """From the largest to the smallest."""
    if column.numbers is not None and not column.whole:
        return
    for rule in (_COUNTRY, _COUNTRY_CODE, _REGION, _STATE_CODE, _COUNTY, _CITY):
        yield from rule(column)
