"""Bands such as `20-29`, `90+`, `under 5` and `[20, 30)`: intervals on a number line that can be joined."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

from shoal.errors import InputError

_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_BELOW = r"under|below|less than|up to|younger than|bis|unter|moins de|menos de|fino a|<=|≤|<"
_ABOVE = (
    r"\+|and over|and above|and older|or more|or over|or older|and more|plus|und mehr|und älter|et plus|y más|e oltre"
)
_OVER = r"over|above|more than|at least|older than|über|ab|plus de|>=|≥|>"
_UNIT = r"(?:\s*(?:years?|yrs?|y|months?|days?|jahre?|ans?|años?|anni|anno|old|%|€|\$|k|kg|cm|hours?)\.?)*\s*"
# one word for the words of a unit; `old` says nothing more
_UNITS = {
    word: unit
    for unit, words in {
        "year": "year years yr yrs y jahr jahre an ans año años anno anni",
        "month": "month months",
        "day": "day days",
        "hour": "hour hours",
        "": "old",
    }.items()
    for word in words.split()
}
_ABOVE_ALONE = re.compile(_ABOVE, re.IGNORECASE)
_WITH_END = re.compile(r"\s*(?:<=|≤|up to|bis|fino a)", re.IGNORECASE)
_WITHOUT_END = re.compile(r"\s*(?:over|above|more than|older than|über|plus de|>(?!=))", re.IGNORECASE)
_SHAPES = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        # the two ends with what stands around and between them
        rf"^(?P<head>[\[(]?\s*)(?P<low>{_NUMBER})(?P<between>\s*(?:-|–|—|to|bis|,|;|\.\.)\s*)(?P<high>{_NUMBER})"
        rf"(?P<tail>\s*[\])]?{_UNIT})$",
        rf"^(?P<head>(?:{_BELOW})\s*)(?P<high>{_NUMBER})(?P<tail>{_UNIT})$",
        rf"^(?P<head>(?:{_OVER})\s*)(?P<low>{_NUMBER})(?P<tail>{_UNIT})$",
        rf"^(?P<head>)(?P<low>{_NUMBER})(?P<tail>{_UNIT}\s*(?:{_ABOVE}){_UNIT})$",
        rf"^(?P<head>)(?P<low>{_NUMBER})(?P<tail>{_UNIT})$",
    )
)


class Band(NamedTuple):
    """One band: its ends as numbers (None where it is open) and as they are written, with the signs around them."""

    text: str
    low: Decimal | None
    high: Decimal | None
    head: str
    low_text: str
    between: str
    high_text: str
    tail: str

    @property
    def has_brackets(self) -> bool:
        """Whether brackets say which ends it holds."""
        return self.head.strip() in ("[", "(")

    @property
    def without_low(self) -> bool:
        """Whether it begins behind its lower number: `over 64`, `(64, 90]`."""
        return self.head.strip() == "(" or _WITHOUT_END.match(self.head) is not None

    @property
    def units(self) -> frozenset[str]:
        """What its numbers count, in a word of each unit: years, months, k."""
        words = re.findall(r"[^\W\d_]+|[%€$]", _ABOVE_ALONE.sub(" ", self.tail.casefold()))
        return frozenset(_UNITS.get(word, word) for word in words) - {""}


def parse_band(text: str) -> Band | None:
    """A text as a band; None where it is none.

    >>> [(band.low, band.high) for text in ("20-29", "90+", "under 5") if (band := parse_band(text))]
    [(Decimal('20'), Decimal('29')), (Decimal('90'), None), (None, Decimal('5'))]
    >>> parse_band("soon") is None
    True
    """
    for number, shape in enumerate(_SHAPES):
        if found := shape.match(text.strip()):
            parts = found.groupdict()
            low, high = parts.get("low"), parts.get("high")
            if number == len(_SHAPES) - 1:  # one value
                high = low
            ends = [None if end is None else Decimal(end.replace(",", "")) for end in (low, high)]
            if None not in ends and ends[0] > ends[1]:  # type: ignore[operator]
                return None
            between = parts.get("between") or ""
            return Band(text, ends[0], ends[1], parts["head"], low or "", between, high or "", parts["tail"])
    return None


def sorted_bands(texts: Sequence[str], name: str) -> list[Band]:
    """Bands in the order of the number line; one that is not a band, or that lies over another, is an error.

    >>> [band.text for band in sorted_bands(["90+", "under 5", "5-89"], "age")]
    ['under 5', '5-89', '90+']
    """
    found = [parse_band(text) for text in texts]
    unreadable = sum(band is None for band in found)
    if unreadable:
        raise InputError(
            f"Column '{name}' is declared as bands, and {unreadable:,} of its different values are not.",
            "Name those under `missing` or `map` in its type, or declare it ordered with its order.",
        )
    _check_units([band for band in found if band is not None], name)
    bands = sorted((band for band in found if band is not None), key=_place)
    for one, other in pairwise(bands):
        if one.high is None or other.low is None or other.low < one.high or other.low == one.low:
            raise InputError(
                f"Column '{name}' has bands that lie over each other.",
                "Map them to bands that do not, or declare the column nominal.",
            )
    return bands


def _check_units(bands: Sequence[Band], name: str) -> None:
    """Months and years do not lie on one number line; a band without a unit has that of the others, but not a `k`."""
    units = {band.units for band in bands}
    said = units - {frozenset()}
    if len(said) > 1 or (len(units) > 1 and any("k" in unit for unit in said)):
        raise InputError(
            f"Column '{name}' has bands in several units, which do not lie on one number line.",
            "Declare the column ordered with its order, or map them to bands in one unit.",
        )


def _place(band: Band) -> tuple[bool, Decimal, bool, Decimal]:
    low, high = band.low or Decimal(0), band.high or Decimal(0)
    return band.low is not None, low, band.high is None, high


def joined(first: Band, last: Band, after: Band | None) -> str:
    """The band from one to another, written as they are; `after` follows the last.

    >>> bands = sorted_bands(["under 5", "5-9", "10-14", "15+"], "age")
    >>> [joined(bands[i], bands[j], bands[j + 1] if j < 3 else None) for i, j in ((1, 2), (0, 1), (2, 3))]
    ['5-14', 'under 10', '10+']
    """
    if first is last:
        return first.text
    return _as_one(first, last, after) or f"[{first.text};{last.text}]"


def _as_one(first: Band, last: Band, after: Band | None) -> str | None:
    """The text of one band that holds exactly what the bands from one to another hold; None where none is sure to."""
    if first.low is None and last.high is None:
        return None
    if last.high is None:  # `over 20` and `(20, 30]` do not hold 20
        return None if last.without_low or first.without_low else f"{last.head}{first.low_text}{last.tail}"
    if first.low is None:
        if _WITH_END.match(first.head):
            # `[0, 10)` ends before its upper number
            return None if last.tail.strip().startswith(")") else f"{first.head}{last.high_text}{first.tail}"
        # `under 10` ends where the next begins, unless that begins behind its own number
        if after is None or after.without_low:
            return None
        return f"{first.head}{after.low_text}{first.tail}"
    styled = first if first.between else last
    if styled.has_brackets and not (first.between and last.between and first.has_brackets == last.has_brackets):
        return None
    if first.has_brackets != last.has_brackets and last.between:
        return None
    head, tail = (first.head if first.between else ""), (last.tail if last.between else styled.tail)
    return f"{head}{first.low_text}{styled.between or '-'}{last.high_text}{tail}"


def joined_texts(bands: Sequence[Band], name: str) -> dict[tuple[int, int], str]:
    """The text of every run of bands; two runs with one text are an error.

    >>> joined_texts(sorted_bands(["0-4", "5-9"], "age"), "age")
    {(0, 0): '0-4', (0, 1): '0-9', (1, 1): '5-9'}
    """
    last = len(bands) - 1
    found = {
        (i, j): joined(bands[i], bands[j], bands[j + 1] if j < last else None)
        for i in range(len(bands))
        for j in range(i, len(bands))
    }
    if len(set(found.values())) < len(found):
        raise InputError(
            f"Column '{name}' has bands whose joins cannot be told apart.",
            "Write them in one way, or declare the column ordered with its order.",
        )
    return found
