"""What a page shows, whatever it is about: exhibits with words, grids, numbers and a picture each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from shoal.dataclasses import dataclass
from shoal.results import Grid

Number = str | int | float | None


@dataclass(frozen=True)
class Exhibit:
    """One part of a page: its words, grids to read, a table of numbers (a CSV file too) and a picture.

    `chart` makes the picture when it is drawn, so that nothing is loaded for it before.
    """

    key: str
    heading: str
    text: str
    header: Sequence[str] = ()
    rows: Sequence[Sequence[Number]] = ()
    grids: Sequence[Grid] = ()
    chart: Callable[[], Any] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Document:
    """A page and its files: `key` begins their names, `command` is what made it, `data` the numbers as JSON.

    `tables` are further CSV files by name, each with its header and rows.
    """

    key: str
    title: str
    source: str
    text: str
    summary: str
    exhibits: Sequence[Exhibit]
    command: str
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Number]]]] = field(default_factory=dict, repr=False)


def share(value: float | None, digits: int = 2) -> str:
    """A share as a percentage of so many digits; undefined is a dash.

    >>> share(0.7484), share(None)
    ('74.84%', '–')
    """
    return "–" if value is None else f"{100 * value:.{digits}f}%"


def shown(value: Number) -> str:
    """A number as the page writes it.

    >>> shown(3985166), shown(0.31862511), shown(None), shown("S2"), shown(1.2e-09)
    ('3,985,166', '0.3186', '–', 'S2', '1.2e-09')
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else value
