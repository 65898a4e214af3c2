"""What must stay: eponyms, drugs, body parts, states, countries, doses and plain numbers."""

from __future__ import annotations

from shoal.text.base import Note, Span


def without_what_stays(note: Note, spans: list[Span]) -> list[Span]:
    """The spans that are not of such words."""
    return spans
