"""The form that most recognisers take: a pattern that is tried only where a sign of it is in the note."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from shoal.text.base import Note, Span
from shoal.text.kinds import TextKind


@dataclass(frozen=True)
class Pattern:
    """One pattern. Its identifier is the group `id`, else all of the match.

    What is cheap is asked first: `digits`, whether the note must hold one; `parts`, of which one must be in the note
    in lower case; `near`, bits of words around which the pattern is tried, with `reach` characters before and behind,
    or at whose start it is tried if it is `anchored`; `gate`, a look at the note; `sign`, a simpler pattern that must
    be found.
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
    compiled: re.Pattern[str] = field(init=False, repr=False)
    searched: re.Pattern[str] | None = field(init=False, repr=False)
    group: str | int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))
        object.__setattr__(self, "searched", re.compile(self.sign) if self.sign else None)
        object.__setattr__(self, "group", "id" if "id" in self.compiled.groupindex else 0)

    def possible(self, note: Note) -> bool:
        """Whether all that the pattern needs is in the note."""
        if self.near and not self.near & note.any_signs:
            return False
        if self.parts:
            lower = note.lower
            for part in self.parts:
                if part in lower:
                    break
            else:
                return False
        if self.gate is not None and not self.gate(note):
            return False
        return self.searched is None or self.searched.search(note.folded) is not None

    def matches(self, note: Note) -> Iterator[re.Match[str]]:
        """Matches, around the words that it needs."""
        text = note.folded
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

    def __init__(self, name: str, *patterns: Pattern) -> None:
        self.name = name
        self.patterns = patterns
        self.without_digits = tuple(pattern for pattern in patterns if not pattern.digits)
        self.kinds: tuple[TextKind, ...] = tuple(dict.fromkeys(pattern.kind for pattern in patterns))

    def find(self, note: Note) -> list[Span]:
        """The spans of all patterns."""
        found = []
        for pattern in self.patterns if note.digits else self.without_digits:
            if not pattern.possible(note):
                continue
            for match in pattern.matches(note):
                if pattern.check is None or pattern.check(match[pattern.group]):
                    start, end = match.span(pattern.group)
                    found.append(Span(start, end, pattern.kind, pattern.score, pattern.reason))
        return found
