"""The form that most recognisers take: a pattern that is tried only where a sign of it is in the note."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from shoal.text.base import Note, Span
from shoal.text.kinds import TextKind


@dataclass(frozen=True)
class Pattern:
    """One pattern: `sign` is a character without which it cannot match, `group` the part that is the identifier."""

    pattern: str
    score: float
    reason: str
    kind: TextKind
    sign: str = ""
    check: Callable[[str], bool] | None = None
    compiled: re.Pattern[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "compiled", re.compile(self.pattern))


class Patterns:
    """A recogniser of some patterns. The identifier is the group `id` of a pattern, else all of its match."""

    def __init__(self, name: str, *patterns: Pattern, digits: bool = False) -> None:
        self.name = name
        self.patterns = patterns
        self.kinds: tuple[TextKind, ...] = tuple(dict.fromkeys(pattern.kind for pattern in patterns))
        self.digits = digits

    def find(self, note: Note) -> list[Span]:
        """The spans of all patterns."""
        if self.digits and not note.has_digits:
            return []
        text, found = note.folded, []
        for pattern in self.patterns:
            if pattern.sign and pattern.sign not in text:
                continue
            group = "id" if "id" in pattern.compiled.groupindex else 0
            for match in pattern.compiled.finditer(text):
                if pattern.check is None or pattern.check(match[group]):
                    start, end = match.span(group)
                    found.append(Span(start, end, pattern.kind, pattern.score, pattern.reason))
        return found
