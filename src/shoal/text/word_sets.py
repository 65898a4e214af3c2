"""Sets of words, written as text."""

from __future__ import annotations


def words_set(text: str) -> frozenset[str]:
    """Words set apart by blanks.

    >>> sorted(words_set("van von der"))
    ['der', 'van', 'von']
    """
    return frozenset(text.split())
