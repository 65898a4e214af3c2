"""Names of columns that are a value known of a person: they would leave with the table."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.errors import InputError
from shoal.scrubbing.knowledge import Knowledge
from shoal.text.known_values import folded_words

_LEAST = 6


def check_headers(names: Sequence[str], leaving: Sequence[str], knowledge: Knowledge) -> None:
    """Refuse columns in whose name a known value stands: whole, in any order, of two words, of a long word or number.

    A single word of letters counts only where it is all of the name: people are called `Page` and `Field` too.
    """
    values = {frozenset(folded_words(value.text)) for entry in knowledge.known for value in entry}
    for number, name in enumerate(names, 1):
        if name in leaving and any(part in values for part in _parts(name)):
            raise InputError(
                f"The name of column {number:,} is a value that is known of a person, and it would leave.",
                "Rename the column, or name it in `keep`.",
            )


def _parts(name: str) -> list[frozenset[str]]:
    """The stretches of words of a name that say enough to be a person's."""
    words = folded_words(name)
    parts = []
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            some = words[start:end]
            alone = len(some) == 1 and some[0].isalpha() and len(words) > 1
            if not alone and sum(map(len, some)) >= _LEAST:
                parts.append(frozenset(some))
    return parts
