"""The form that most recognisers take: a pattern that is tried only where a sign of it is in the note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.text.base import Note, Span
from shoal.text.block import Block
from shoal.text.kinds import TextKind
from shoal.text.recognisers.asks import Ask

_DIGITS_BEFORE = re.compile(r"(?<!\d)\d{1,2}[.\s]{0,2}$")


@dataclass(frozen=True)
class Pattern:
    """One pattern. Its identifier is the group `id`, else all of the match.

    What is cheap is asked first, of many notes at once: `words`, a bit of `shoal.text.words.trigger` that a word must
    have; `digits`, whether the note must hold one (`at_digits`: it is tried at their starts only); `asks`, what must
    stand beside digits or signs (`shoal.text.recognisers.asks`); `languages`, of which the note must be; `parts`, of
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
