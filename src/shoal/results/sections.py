"""What a terminal, a notebook, a page and a PDF all render: headlines, figures, grids, charts, notes.

A section holds finished words and numbers and no rule of any medium. A renderer knows these types and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, TypeAlias

from shoal.dataclasses import dataclass

Tone = Literal["plain", "good", "bad", "warning", "dim", "strong"]


@dataclass(frozen=True)
class Bar:
    """A share between 0 and 1, drawn as a bar."""

    share: float


@dataclass(frozen=True)
class Cell:
    """A text with a tone, in a grid."""

    text: str
    tone: Tone = "plain"


Content: TypeAlias = "str | Cell | Bar"


@dataclass(frozen=True)
class Headline:
    """One sentence that says what was found."""

    text: str
    tone: Tone = "strong"


@dataclass(frozen=True)
class Figure:
    """A number with its name."""

    name: str
    value: str
    tone: Tone = "plain"


@dataclass(frozen=True)
class Figures:
    """Numbers with their names, one per line."""

    figures: Sequence[Figure]
    title: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows under column heads; the first `left` columns are words, the rest numbers; `wrap` columns may break lines.

    Where a medium is too narrow for a row, it shows the cells of a row below each other: nothing is cut off.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[Content]]
    left: int = 1
    title: str = ""
    wrap: Sequence[int] = ()


def without_unknown(grid: Grid, unknown: str = "–") -> Grid:
    """A grid without the columns in which nothing is known.

    >>> without_unknown(Grid(("method", "loss", "score"), [("a", "–", "1"), ("b", "–", "2")])).heads
    ('method', 'score')
    """
    known = [place for place in range(len(grid.heads)) if any(row[place] != unknown for row in grid.rows)]
    if len(known) == len(grid.heads) or not grid.rows:
        return grid
    return Grid(
        tuple(grid.heads[place] for place in known),
        [tuple(row[place] for place in known) for row in grid.rows],
        sum(place < grid.left for place in known),
        grid.title,
        tuple(known.index(place) for place in grid.wrap if place in known),
    )


@dataclass(frozen=True)
class Chart:
    """A picture by its name in `reports/charts.py`, what it draws, and words for who cannot see it.

    Its numbers stand in a grid too: a terminal does not draw it.
    """

    name: str
    data: Mapping[str, Any]
    alternative: str
    title: str = ""


@dataclass(frozen=True)
class Notes:
    """Remarks below what they are about."""

    notes: Sequence[str]


@dataclass(frozen=True)
class Files:
    """What was written, each with its path: `{"policy": "policy.yaml"}`."""

    files: Mapping[str, str]


@dataclass(frozen=True)
class Commands:
    """What to do next, as commands that can be copied."""

    commands: Sequence[str] = field(default_factory=tuple)
    title: str = "Next"


Section: TypeAlias = Headline | Figures | Grid | Chart | Notes | Files | Commands
