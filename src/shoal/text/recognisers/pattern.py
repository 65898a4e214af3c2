"""The form that most recognisers take: a pattern that is tried only where a sign of it is in the note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from shoal.text.base import Note, Span
from shoal.text.kinds import TextKind


@dataclass(frozen=True)
class Pattern:
    """One pattern. Its identifier is the group `id`, else all of the match; `sign` must be found in the note first.

    `gate` is a cheap look at the note before the pattern is tried. `near` are bits of words around which it is tried,
    with `reach` characters before and behind, or at whose start it is tried if it is `anchored`.
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
    compiled: re.Pattern[str] = field(init=False, repr=False)
    searched: re.Pattern[str] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))
        object.__setattr__(self, "searched", re.compile(self.sign) if self.sign else None)

    def matches(self, note: Note) -> Iterator[re.Match[str]]:
        """Matches, where the sign is there and around the words that it needs."""
        text = note.folded
        if self.gate is not None and not self.gate(note):
            return
        if self.searched is not None and self.searched.search(text) is None:
            return
        if self.anchored:
            for number in note.marked(self.near):
                match = self.compiled.match(text, note.pieces[number][0])
                if match is not None:
                    yield match
        elif not self.near:
            yield from self.compiled.finditer(text)
        else:
            for low, high in note.windows(self.near, *self.reach):
                yield from self.compiled.finditer(text, low, high)


class Patterns:
    """A recogniser of some patterns."""

    def __init__(self, name: str, *patterns: Pattern, gate: Callable[[Note], bool] | None = None) -> None:
        self.name = name
        self.patterns = patterns
        self.kinds: tuple[TextKind, ...] = tuple(dict.fromkeys(pattern.kind for pattern in patterns))
        self.gate = gate

    def find(self, note: Note) -> list[Span]:
        """The spans of all patterns."""
        if self.gate is not None and not self.gate(note):
            return []
        found = []
        for pattern in self.patterns:
            group = "id" if "id" in pattern.compiled.groupindex else 0
            for match in pattern.matches(note):
                if pattern.check is None or pattern.check(match[group]):
                    start, end = match.span(group)
                    found.append(Span(start, end, pattern.kind, pattern.score, pattern.reason))
        return found
