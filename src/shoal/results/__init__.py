"""What every verb returns: typed, JSON-ready, and able to describe itself in sections."""

from shoal.results.result import Result, beside, fields_as_json, known_with, left_out, merged, results, where_known
from shoal.results.sections import (
    Bar,
    Cell,
    Chart,
    Commands,
    Content,
    Figure,
    Figures,
    Files,
    Grid,
    Headline,
    Notes,
    Section,
    Tone,
    without_unknown,
)

__all__ = [
    "Bar",
    "Cell",
    "Chart",
    "Commands",
    "Content",
    "Figure",
    "Figures",
    "Files",
    "Grid",
    "Headline",
    "Notes",
    "Result",
    "Section",
    "Tone",
    "beside",
    "fields_as_json",
    "known_with",
    "left_out",
    "merged",
    "results",
    "where_known",
    "without_unknown",
]
