"""Names of people and places, as columns and notes hold them: short lists that lend weight, and need not know all.

Surnames that are also everyday words (Brown, King, Young, White) are left out: a column of colours is no column of
names. Names are written without accents.
"""

from importlib.resources import files

import polars as pl

from shoal.identifiers.header import sections_of
from shoal.identifiers.letters import plain
from shoal.identifiers.shape import values_of


def _names(file: str) -> frozenset[str]:
    """Names set apart by blanks."""
    return frozenset(files("shoal.identifiers").joinpath(file).read_text("utf-8").split())


GIVEN_NAMES, SURNAMES = _names("given_names.txt"), _names("surnames.txt")
ALL_NAMES = GIVEN_NAMES | SURNAMES


COUNTRIES = values_of("countries")
# ISO 3166 codes; short codes need their header.
COUNTRY_CODES = values_of("country-codes")
REGIONS = values_of("regions")
STATE_CODES = values_of("state-codes")
CITIES = values_of("cities")


# Places that are not smaller than a state: states and territories of the USA, census regions, countries.


_STATE_WORDS = frozenset(" ".join(word.split()) for word in sections_of("words.ini")["states"]["values"].split(","))
_STATE_MARKS = STATE_CODES | {"gu", "as", "mp", "vi", "us", "usa", "xx", "zz", "na"}
# FIPS codes of states and territories
_NO_FIPS = {3, 7, 14, 43, 52, 57, 58, 59, 61, 62, 63, 64, 65, 67, 68, 70, 71, 73, 74, 75, 76, 77}
_FIPS = frozenset(set(range(1, 79)) - _NO_FIPS)
LEAST_KNOWN = 0.9


def is_state(values: pl.Series) -> list[bool]:
    """Which values are known not to be smaller than a state.

    >>> is_state(pl.Series(["NY", "New York", "Springfield"]))
    [True, True, False]
    """
    if values.dtype.is_numeric():
        return [value in _FIPS for value in values.to_list()]
    words = [
        " ".join(plain(text).replace(".", "").replace("-", " ").split()) for text in values.cast(pl.String).to_list()
    ]
    return [
        word in _STATE_WORDS or word in _STATE_MARKS or word in COUNTRIES or (word.isdecimal() and int(word) in _FIPS)
        for word in words
    ]


def are_states(values: pl.Series) -> bool:
    """Whether nearly all values are; the others are emptied."""
    known = is_state(values)
    return bool(known) and sum(known) >= LEAST_KNOWN * len(known)
