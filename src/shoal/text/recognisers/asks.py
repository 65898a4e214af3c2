"""What patterns ask of a block of notes before any note of it is looked at: an array with a truth for each note.

What a pattern asks for, it cannot match without. Characters are compared as numbers, for all notes at once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.table import Array
from shoal.text.block import Block

Ask = Callable[[Block], Array]
# whether a character, as a number, is one of some
Class = Callable[[Array], Array]


def one_of(signs: str) -> Class:
    """A class of some characters of ASCII."""
    codes = sorted(map(ord, signs))

    def among(characters: Array) -> Array:
        found: Array = np.isin(characters, codes)
        return found

    return among


def between(first: str, last: str) -> Class:
    """A class of neighbouring characters."""

    def among(characters: Array) -> Array:
        found: Array = (characters >= ord(first)) & (characters <= ord(last))
        return found

    return among


def blank(characters: Array) -> Array:
    """Blanks, and what lies beyond ASCII, where there are blanks too."""
    found: Array = (characters <= ord(" ")) | (characters > 127)
    return found


CAPITAL, LOWER, DIGIT = between("A", "Z"), between("a", "z"), between("0", "9")


def any_of(*classes: Class) -> Class:
    """A class of what is in one of some classes."""
    return lambda characters: np.logical_or.reduce([among(characters) for among in classes])


def other_than(*classes: Class) -> Class:
    """A class of what is in none of some classes."""
    return lambda characters: ~any_of(*classes)(characters)


ANY_LENGTH = 1 << 60


def run(low: int, high: int, **beside: Class) -> Ask:
    """A run of `low` to `high` digits, and what stands `before` and `behind` it, or beside that (`second_before`)."""
    places = {"before": -1, "second_before": -2, "behind": 0, "second_behind": 1}

    def ask(block: Block) -> Array:
        lengths = block.run_ends - block.run_starts
        found = (lengths >= low) & (lengths <= high)
        for name, among in beside.items():
            found = found & among(block.beside_runs(places[name]))
        return block.with_run(found)

    return ask


def sign(before: Class | None, signs: str, *behind: Class) -> Ask:
    """One of some signs, with what stands right before it and behind it."""
    among = one_of(signs)

    def ask(block: Block) -> Array:
        places = block.marks[among(block.codes[block.marks])]
        for offset, beside in ([(-1, before)] if before is not None else []) + list(enumerate(behind, 1)):
            places = places[beside(block.characters(places + offset))]
        return block.with_places(places)

    return ask


def either(*asks: Ask) -> Ask:
    """One of some asks."""
    return lambda block: np.logical_or.reduce([ask(block) for ask in asks])


def count(sign_: str, least: int) -> Ask:
    """A sign, so many times at least."""
    among = one_of(sign_)

    def ask(block: Block) -> Array:
        return block.with_places(block.marks[among(block.codes[block.marks])], least)

    return ask


def digits_together(least: int) -> Ask:
    """So many digits with one sign at most between each two of them."""

    def ask(block: Block) -> Array:
        gaps = block.run_starts[1:] - block.run_ends[:-1]
        apart = (gaps > 1) | (np.diff(block.run_notes) != 0)
        first = np.flatnonzero(np.append(True, apart)) if len(block.run_starts) else np.zeros(0, np.int64)
        together = np.add.reduceat(block.run_ends - block.run_starts, first) if len(first) else first
        return block.with_places(block.run_starts[first[together >= least]])

    return ask
