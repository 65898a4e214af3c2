"""The form that most recognisers take: a pattern that is tried only where a sign of it is in the note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from shoal.storage import Array
from shoal.text.base import Note, Span, TextKind
from shoal.text.block import Block

# What patterns ask of a block of notes before any note of it is looked at: an array with a truth for each note.
#
# What a pattern asks for, it cannot match without. Characters are compared as numbers, for all notes at once.


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


_DIGITS_BEFORE = re.compile(r"(?<!\d)\d{1,2}[.\s]{0,2}$")


@dataclass(frozen=True)
class Pattern:
    """One pattern. Its identifier is the group `id`, else all of the match.

    What is cheap is asked first, of many notes at once: `words`, a bit of `shoal.text.words.trigger` that a word must
    have; `digits`, whether the note must hold one (`at_digits`: it is tried at their starts only); `asks`, what must
    stand beside digits or signs (`shoal.text.recognisers.pattern`); `languages`, of which the note must be; `parts`, of
    which one must be in the note in lower case; `near`, bits of words around which the pattern is tried, with `reach`
    characters before and behind, or at whose start it is tried if it is `anchored` (with `words_before`: or at one of
    so many words before). Then, of a note: `gate`, a look at it; `sign`, a simpler pattern that must be found.
    """

    pattern: str
    score: float
    reason: str
    kind: TextKind
    sign: str = ""
    check: Callable[[str], bool] | None = None
    near: int = 0
    reach: tuple[int, int] = (90, 120)
    gate: Callable[[Note], bool] | None = None
    anchored: bool = False
    digits: bool = False
    parts: tuple[str, ...] = ()
    asks: Ask | None = None
    languages: tuple[str, ...] = ()
    words: int = 0
    at_digits: bool = False
    words_before: int = 0
    compiled: re.Pattern[str] = field(init=False, repr=False)
    searched: re.Pattern[str] | None = field(init=False, repr=False)
    group: str | int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))
        object.__setattr__(self, "searched", re.compile(self.sign) if self.sign else None)
        object.__setattr__(self, "group", "id" if "id" in self.compiled.groupindex else 0)

    def worth(self, block: Block) -> Array:
        """Which notes of a block hold all that the pattern needs, as far as that can be asked of all at once."""
        found = block.has_digits if self.digits else np.ones(len(block), bool)
        for bits in (self.near, self.words):
            if bits and found.any():
                found = found & block.marked(bits)
        if self.asks is not None and found.any():
            found = found & self.asks(block)
        if self.languages and found.any():
            found = found & block.speaking(self.languages)
        return found & block.holding_one_of(self.parts, found) if self.parts and found.any() else found

    def possible(self, note: Note) -> bool:
        """Whether what is asked of a note alone holds."""
        if self.gate is not None and not self.gate(note):
            return False
        return self.searched is None or self.searched.search(note.folded) is not None

    def matches(self, note: Note) -> Iterator[re.Match[str]]:
        """Matches, around the words that it needs."""
        text = note.folded
        if self.at_digits:
            last = 0
            for start, _ in note.digits:
                match = self.compiled.match(text, start) if start >= last else None
                if match is not None:
                    last = match.end()
                    yield match
        elif self.anchored:
            for start in self._starts(note):
                match = self.compiled.match(text, start)
                if match is not None:
                    yield match
        elif not self.near:
            yield from self.compiled.finditer(text)
        else:
            for low, high in note.windows(self.near, *self.reach):
                yield from self.compiled.finditer(text, low, high)

    def spans(self, note: Note) -> list[Span]:
        """The spans of its matches that pass the check."""
        return [
            Span(*match.span(self.group), self.kind, self.score, self.reason)
            for match in self.matches(note)
            if self.check is None or self.check(match[self.group])
        ]

    def _starts(self, note: Note) -> list[int]:
        """Where the words that it needs start, or words and numbers shortly before them."""
        pieces = note.pieces
        numbers = note.marked(self.near)
        if not self.words_before:
            return [pieces[number][0] for number in numbers]
        found: set[int] = set()
        for number in numbers:
            for first in range(max(0, number - self.words_before), number + 1):
                start = pieces[first][0]
                before = _DIGITS_BEFORE.search(note.folded, max(0, start - 4), start)
                found.update((start,) if before is None else (start, before.start()))
        return sorted(found)


class Patterns:
    """A recogniser of some patterns."""

    def __init__(self, name: str, *patterns: Pattern) -> None:
        self.name = name
        self.patterns = patterns
        self.kinds: tuple[TextKind, ...] = tuple(dict.fromkeys(pattern.kind for pattern in patterns))

    def find_in(self, block: Block, found: list[list[Span]]) -> None:
        """Adds the spans of all patterns, pattern by pattern."""
        notes = block.notes
        for pattern in self.patterns:
            for number in np.flatnonzero(pattern.worth(block)).tolist():
                if pattern.possible(notes[number]):
                    found[number] += pattern.spans(notes[number])
