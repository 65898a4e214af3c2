"""Tags that stand where an identifier was: `[NAME]`, `[DATE]`. A tag is never taken for an identifier again."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.text.base import TEXT_KINDS, Span, TextKind

MASK = "***"


def tag_of(kind: TextKind) -> str:
    """The tag of a kind.

    >>> tag_of("record_number")
    '[RECORD_NUMBER]'
    """
    return f"[{kind.upper()}]"


TAG = re.compile("|".join(re.escape(tag_of(kind)) for kind in TEXT_KINDS))


def without_tags(text: str, spans: Sequence[Span]) -> list[Span]:
    """Spans without the tags that the text has already; what is left of a span must hold a letter or digit.

    >>> [(span.start, span.end) for span in without_tags("Dr. [NAME] Lee", [Span(0, 14, "name", 1.0, "")])]
    [(0, 2), (11, 14)]
    """
    if "[" not in text:
        return list(spans)
    tags = [match.span() for match in TAG.finditer(text)]
    return [piece for span in spans for piece in _outside(text, span, tags)] if tags else list(spans)


def _outside(text: str, span: Span, tags: Sequence[tuple[int, int]]) -> list[Span]:
    pieces, start = [], span.start
    for left, right in [*(tag for tag in tags if tag[0] < span.end and span.start < tag[1]), (span.end, span.end)]:
        if start < left:
            pieces += _trimmed(text, span, start, left)
        start = max(start, right)
    return pieces


def _trimmed(text: str, span: Span, start: int, end: int) -> list[Span]:
    if (start, end) == (span.start, span.end):
        return [span]
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return [Span(start, end, span.kind, span.score, span.reason)] if start < end else []


@dataclass(frozen=True)
class Tagged:
    """A text with tags for its spans, and where each stretch of it comes from."""

    text: str
    # start in the tagged text, start and end in the original; only what was kept
    kept: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, text: str, spans: Sequence[Span]) -> Tagged:
        """A text with a tag in place of each span."""
        parts: list[str] = []
        kept: list[tuple[int, int, int]] = []
        last = length = 0
        for span in spans:
            if last < span.start:
                kept.append((length, last, span.start))
            parts += [text[last : span.start], tag_of(span.kind)]
            length += len(parts[-2]) + len(parts[-1])
            last = span.end
        if last < len(text):
            kept.append((length, last, len(text)))
        return cls("".join(parts) + text[last:], tuple(kept))

    def back(self, span: Span) -> list[Span]:
        """Where a span of the tagged text lies in the original: one piece for each stretch that was kept."""
        pieces = []
        for start, first, last in self.kept:
            low, high = max(span.start, start), min(span.end, start + last - first)
            if low < high and any(sign.isalnum() for sign in self.text[low:high]):
                pieces.append(Span(low - start + first, high - start + first, span.kind, span.score, span.reason))
        return pieces
