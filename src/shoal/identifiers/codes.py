"""Codes that stand for one person or one record: customer numbers, case numbers, keys, user names."""

from collections.abc import Iterator

from shoal.identifiers.base import Finding, confidence, finding
from shoal.identifiers.column import ColumnEvidence
from shoal.identifiers.header import words_of

_PERSON = words_of("person")
_RECORD = words_of("record")
_USER = words_of("user")
_CODE = r"^[\p{L}\d#_./:\-]{1,40}$"
_DIGIT = r"\d"
_HANDLE = r"^@?[\p{L}\d._\-]{2,40}$"
_AT_HANDLE = r"^@[A-Za-z0-9_.]{2,30}$"


def recognise(column: ColumnEvidence) -> Iterator[Finding]:
    """A person's code may come again, a record's code must not."""
    if column.filled == 0 or (column.numbers is not None and not column.whole) or column.dtype.is_temporal():
        return
    share = column.share(column.matches(_CODE) & column.matches(_DIGIT))
    own = column.distinct_share
    strength, word = _PERSON.heard(column.header)
    if strength:
        sure = confidence(share * min(1.0, own / 0.02), 0.0, strength)
        yield finding("unique-code", "person", "have the form of a code", share=share, word=word, sure=sure)
    strength, word = _RECORD.heard(column.header)
    if strength and own >= 0.9:
        clause = f"have the form of a code, {own:.0%} as many codes as records"
        yield finding(
            "unique-code",
            "record",
            clause,
            share=share,
            word=word,
            sure=confidence(share, 0.0, strength * 0.9),
        )
    yield from _user_names(column)


def _user_names(column: ColumnEvidence) -> Iterator[Finding]:
    """Names that people give themselves, or handles that open with @."""
    handles = column.share(column.matches(_AT_HANDLE))
    strength, word = _USER.heard(column.header)
    readable = column.numbers is None or column.whole
    share = column.share(column.matches(_HANDLE)) if strength and readable else handles
    sure = confidence(share * min(1.0, column.distinct_share / 0.02), 0.7 * handles, strength)
    yield finding("username", "handle", "have the form of a user name", share=share, word=word, sure=sure)
