"""What stands in a note where an identifier was: a tag, a mask, or a surrogate."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from shoal.text.base import Span
from shoal.text.tags import MASK, TAG, tag_of

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
