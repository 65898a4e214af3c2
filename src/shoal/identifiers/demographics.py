"""Traits that people around somebody know: ethnicity, marital status, education, occupation and the like."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words_of
from shoal.identifiers.shape import Vocabulary, values_of

# A trait is a category: words or short codes, no long numbers.
_CATEGORY = (
    r"^[\p{L}][\p{L}\d\s.'\u2019,()/&+<>=:\-]{0,80}$|^\d{1,4}$|^\d{1,2}(st|nd|rd|th)\b"
    r"|^\d[\d\-]{0,6}[\p{L}]|^(true|false)$"
)
_MOST_VALUES = 1_500

# the noun of each kind, what a column of its words is worth without a header, and how many of them there must be
_KINDS = (
    ("ethnicity", "ethnicity", 0.0, 2),
    ("marital-status", "marital status", 0.8, 3),
    ("education", "education", 0.75, 4),
    ("occupation", "occupation", 0.75, 5),
    ("relationship", "place in the household", 0.7, 4),
    ("nationality", "nationality", 0.75, 5),
)
_FLAGGED = ("marital-status", "occupation")
RULES = tuple(
    Vocabulary(kind, "category", noun, words_of(kind, flags=kind in _FLAGGED), values_of(kind), worth, _CATEGORY, least)
    for kind, noun, worth, least in _KINDS
)


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """Each trait in turn; a column with thousands of values is no list of categories."""
    if column.distinct > _MOST_VALUES or (column.numbers is not None and not column.whole):
        return
    for rule in RULES:
        yield from rule(column)
