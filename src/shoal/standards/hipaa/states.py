"""Places that are not smaller than a state: states and territories of the USA, census regions, countries."""

from __future__ import annotations

import polars as pl

from shoal.kinds.letters import plain
from shoal.kinds.place_lists import COUNTRIES, STATE_CODES

_STATES = """
    alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii, idaho,
    illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
    mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north carolina,
    north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota, tennessee, texas,
    utah, vermont, virginia, washington, west virginia, wisconsin, wyoming, district of columbia, puerto rico, guam,
    american samoa, northern mariana islands, us virgin islands, virgin islands, northeast, midwest, south, west, new
    england, middle atlantic, east north central, west north central, south atlantic, east south central, west south
    central, mountain, pacific, foreign, abroad, outside us, other, unknown, missing"""
_WORDS = frozenset(" ".join(word.split()) for word in _STATES.split(","))
_CODES = STATE_CODES | {"gu", "as", "mp", "vi", "us", "usa", "xx", "zz", "na"}
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
        word in _WORDS or word in _CODES or word in COUNTRIES or (word.isdecimal() and int(word) in _FIPS)
        for word in words
    ]


def are_states(values: pl.Series) -> bool:
    """Whether nearly all values are; the others are emptied."""
    known = is_state(values)
    return bool(known) and sum(known) >= LEAST_KNOWN * len(known)
