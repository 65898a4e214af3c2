"""Free text: long values of many words, nearly each its own. What it tells about people is not judged here."""

from collections.abc import Iterator

import numpy as np

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words_of

_WORDS = words_of("free-text")
_MANY_WORDS = 6
_SOME_WORDS = 4


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Values of six words or more; of four under a header that says so."""
    if column.filled == 0 or not column.is_text:
        return
    strength, word = _WORDS.heard(column.header)
    wanted = _SOME_WORDS if strength else _MANY_WORDS
    prose = np.fromiter((_is_prose(value, wanted) for value in column.text), bool, len(column.text))
    share = column.share(prose)
    # Short remarks ("ok") stand between the long ones; labels of many words come again and again.
    own = min(1.0, column.distinct_share / 0.3)
    fit = min(1.0, share / 0.6) * own
    clause = f"hold a text of {wanted} words or more"
    yield finding("free-text", "prose", clause, share=share, word=word, sure=confidence(fit, 0.8, strength))


def _is_prose(value: str, wanted: int) -> bool:
    """So many words, and letters for more than half of the signs."""
    return len(value.split()) >= wanted and sum(map(str.isalpha, value)) > 0.55 * len(value)
