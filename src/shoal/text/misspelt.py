"""Names that are misspelt by one edit: a letter added, left out or exchanged, or two neighbours swapped.

All words of the notes are held against all long names at once, through the words that either becomes without one of its
letters; the work grows with the words, not with words times names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from shoal.text.known_values import LONG
from shoal.text.words import is_word

_LONGEST = 40


def misspelt(parts: Iterable[str], vocabulary: Mapping[str, int], notes: int) -> dict[str, list[str]]:
    """For each long, rare name the words of the notes that are one edit away from it.

    `vocabulary` counts the notes that hold each folded word. A word of the dictionary, or one that many notes hold, is
    not a misspelling; a name that is itself a word of the dictionary is not looked for in other spellings.

    >>> misspelt(["okonkwo", "brown"], {"okonkow": 1, "okonkwo": 3, "browne": 1}, 10)
    {'okonkwo': ['okonkow']}
    """
    rare = [
        part for part in dict.fromkeys(parts) if LONG <= len(part) <= _LONGEST and part.isalpha() and not is_word(part)
    ]
    shortened: dict[str, list[str]] = {}
    for part in rare:
        for form in _without_one(part):
            shortened.setdefault(form, []).append(part)
    most = max(3, notes // 1000)
    found: dict[str, list[str]] = {}
    for word, count in vocabulary.items():
        if not LONG - 1 <= len(word) <= _LONGEST + 1 or count > most:
            continue
        near = {part for form in _without_one(word) for part in shortened.get(form, ())}
        near = {part for part in near if part != word and within_one_edit(part, word)}
        if near and word.isalpha() and not is_word(word):
            for part in near:
                found.setdefault(part, []).append(word)
    return found


def _without_one(word: str) -> set[str]:
    """The word itself, and what it becomes without one of its letters."""
    return {word, *(word[:place] + word[place + 1 :] for place in range(len(word)))}


def within_one_edit(first: str, second: str) -> bool:
    """Whether two words are equal but for one letter added, left out or exchanged, or two neighbours swapped.

    >>> within_one_edit("meyer", "meier"), within_one_edit("brown", "borwn"), within_one_edit("brown", "bronx")
    (True, True, False)
    """
    if abs(len(first) - len(second)) > 1:
        return False
    start = 0
    while start < min(len(first), len(second)) and first[start] == second[start]:
        start += 1
    left, right = first[start:], second[start:]
    if len(left) == len(right):
        return left[1:] == right[1:] or (left[2:] == right[2:] and left[:2] == right[1::-1])
    return left[1:] == right if len(left) > len(right) else left == right[1:]
