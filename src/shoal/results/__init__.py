"""What every verb returns: typed, JSON-ready, and able to describe itself in sections."""

from shoal.results.result import (
    Result,
    beside,
    fields_as_json,
    keyed,
    known_with,
    left_out,
    merged,
    results,
    where_known,
)
from shoal.results.sections import (
    Bar,
    Cell,
    Chart,
    Commands,
    Content,
    Exhibit,
    Figure,
    Figures,
    Files,
    Grid,
    Headline,
    Meaning,
    Notes,
    Section,
    Tone,
    without_unknown,
)

__all__ = [
    "Bar", "Cell", "Chart", "Commands", "Content", "Exhibit", "Figure", "Figures", "Files", "Grid", "Headline",
    "Meaning", "Notes", "Result", "Section", "Tone", "beside", "fields_as_json", "keyed", "known_with", "left_out",
    "merged", "results", "where_known", "without_unknown",
]  # fmt: skip
