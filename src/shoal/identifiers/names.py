"""Names of people: by header and the form of the values, with lists of frequent names as a second witness."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import WEAK, Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.identifiers.header import words_of
from shoal.identifiers.name_lists import ALL_NAMES

_WORDS = words_of("name")
# One to five words of letters, with the signs that names have; titles and initials included.
_FORM = r"^[\p{L}]['\u2019\p{L}.\-]*(,?\s+['\u2019\p{L}.\-]+){0,4}$"
_LOWER = r"^[a-z\u00df-\u00ff\s.'-]+$"
_ENOUGH_KNOWN = 0.35


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Values of the form of names; how many are known, and how various they are, decides with the header."""
    if not column.is_text or column.filled == 0:
        return
    share = column.share(column.matches(_FORM))
    if share < 0.3:
        return
    strength, word = _WORDS.heard(column.header)
    known_values = _known(column)
    known = column.share(known_values)
    capitals = 1 - column.share(column.matches(_LOWER))
    # Some words are names too: a handful of them is no evidence.
    alone = 0.85 * min(1.0, known / _ENOUGH_KNOWN) * (0.6 + 0.4 * capitals) if int(known_values.sum()) >= 5 else 0.0
    if strength == WEAK and known < 0.05:
        strength *= 0.5
    clause = f"have the form of a name, {known:.0%} hold a frequent one"
    sure = confidence(share * _various(column), alone, strength)
    yield finding("name", "person", clause, share=share, word=word, sure=sure)


def _known(column: ColumnEvidence) -> Mask:
    """Which values hold a frequent name."""
    return np.fromiter((not ALL_NAMES.isdisjoint(value.split()) for value in column.plain), bool, len(column.plain))


def _various(column: ColumnEvidence) -> float:
    """Names are many: few values over many records are labels."""
    if column.filled < 20:
        return 1.0
    return min(1.0, max(column.distinct / 20, column.distinct_share / 0.25))
