"""What stands in a note where an identifier was: a tag such as `[NAME]`, a mask, or a surrogate.

A tag is never taken for an identifier again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

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


# from a text and its spans to what stands in place of each
Replacement = Callable[[str, Sequence[Span]], list[str]]


def by_tag(text: str, spans: Sequence[Span]) -> list[str]:
    """The tag of each span's kind."""
    return [tag_of(span.kind) for span in spans]


def by_mask(text: str, spans: Sequence[Span]) -> list[str]:
    """The same three asterisks for each: neither the kind nor the length is told."""
    return [MASK] * len(spans)


def replaced(text: str, spans: Sequence[Span], replacement: Replacement) -> str:
    """A text with its spans replaced; spans are in order and do not overlap.

    >>> replaced("call 555-0182 now", [Span(5, 13, "phone", 1.0, "")], by_tag)
    'call [PHONE] now'
    """
    parts, last = [], 0
    for span, new in zip(spans, replacement(text, spans), strict=True):
        parts += [text[last : span.start], new]
        last = span.end
    return "".join(parts) + text[last:]


def only_replaced_in(shown: pl.Series, originals: pl.Series, mark: str) -> pl.Series:
    """Pair by pair, whether a text is the original with stretches replaced."""
    pairs = zip(shown.to_list(), originals.to_list(), strict=True)
    return pl.Series([only_replaced(new, old, mark) for new, old in pairs], dtype=pl.Boolean)


def only_replaced(shown: str | None, original: str | None, mark: str = "tag") -> bool:
    """Whether a text is the original with stretches replaced by tags or masks, the rest in its order.

    >>> only_replaced("call [PHONE] now", "call 555-0182 now"), only_replaced("call [PHONE] soon", "call 555-0182 now")
    (True, False)
    """
    if shown is None or original is None:  # an emptied note tells nothing
        return shown is None
    pieces = TAG.split(shown) if mark == "tag" else shown.split(MASK)
    if len(pieces) == 1:
        return shown == original
    if not original.startswith(pieces[0]):
        return False
    place = len(pieces[0])
    for piece in pieces[1:-1]:
        found = original.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return len(original) - len(pieces[-1]) >= place and original.endswith(pieces[-1])
