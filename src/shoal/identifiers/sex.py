"""Sex and gender, in words, letters, or codes under a header that says so."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words_of
from shoal.identifiers.shape import Vocabulary, values_of, vocabulary

_WORDS = words_of("sex", flags=True)
# Under its header a code of a few signs will do.
_SPELLED = Vocabulary(
    kind="sex",
    rule="words",
    noun="sex or gender",
    words=_WORDS,
    values=values_of("sex"),
    alone=0.9,
    form=r"(?i)^[a-z0-9]{1,2}$|^\d{1,4}$|^(true|false)$",
)
_LETTERS = Vocabulary(
    kind="sex",
    rule="letters",
    noun="sex or gender",
    words=_WORDS,
    values=vocabulary("m, f, w, h, x, d, u, o"),
    alone=0.75,
    form=r"^[\p{L}]{1,12}$",
)
_PAIRS = ({"m", "f"}, {"m", "w"}, {"h", "f"}, {"h", "m"}, {"m", "v"})
_MOST_VALUES = 12


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Few values, all of them words, letters or codes for sex; letters alone need the right pair."""
    if column.distinct > _MOST_VALUES:
        return
    yield from _SPELLED(column)
    letters = set(column.plain)
    # One-letter codes are common: without the pair of a language they say nothing.
    if len(letters) <= 4 and any(pair <= letters for pair in _PAIRS):
        yield from _LETTERS(column)
