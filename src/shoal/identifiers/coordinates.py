"""Coordinates: latitude or longitude as numbers with decimals, pairs of them, and points in well-known text."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import HeaderWords, words_of
from shoal.identifiers.shape import Identifier

_LATITUDE = words_of("latitude")
_LONGITUDE = words_of("longitude")
_PAIR_WORDS = words_of("coordinates")
_DEGREES = r"[+-]?\d{1,3}\.\d{2,15}°?\s*[NSEWO]?"
_PAIR = Identifier(
    kind="coordinates",
    rule="pair",
    noun="a pair of coordinates",
    form=(
        rf"^[(\[]?{_DEGREES}\s*[,; ]\s*{_DEGREES}[)\]]?$|^(?i:point)\s?z?\s?\(.+\)$"
        r"|^\d{1,3}°\s?\d{1,2}['\u2032].*$"
    ),
    words=_PAIR_WORDS,
    alone=0.85,
)


def _axis(column: ColumnEvidence, rule: str, book: HeaderWords, limit: float) -> Iterator[Finding]:
    """Numbers within the limits of an axis; whole numbers may be degrees, but seldom are coordinates."""
    strength, word = book.heard(column.header)
    if column.numbers is None or not strength:
        return
    within = np.abs(column.numbers) <= limit
    hundredths = np.clip(column.numbers, -limit, limit) * 100
    fine = np.abs(hundredths - np.round(hundredths)) > 1e-6
    share = column.share(within)
    precise = column.share(within & fine)
    sure = confidence(share * (0.4 + 0.6 * precise), 0.0, strength)
    clause = f"hold a number within ±{limit:.0f}, with three decimals or more"
    yield finding("coordinates", rule, clause, share=precise, word=word, sure=sure)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Pairs by their form; a single axis by header and range."""
    if column.numbers is None:
        yield from _PAIR(column)
    yield from _axis(column, "latitude", _LATITUDE, 90.0)
    yield from _axis(column, "longitude", _LONGITUDE, 180.0)
