"""A result as a chart: the one that its sections name, or bars of the numbers that they show. Drawn with altair."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.results.sections import Bar, Cell, Chart, Content, Figures, Grid, Headline, Section

if TYPE_CHECKING:
    from shoal.results.result import Result

# where the charts of sections are drawn, by their names
_DRAWN_IN = "shoal.reports.charts"
_BLUE = "#2a6f97"
_NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?%?")
_MOST_BARS = 60


def plot(result: Result) -> Any:
    """The chart of a result, as altair knows it."""
    _check_altair()
    sections = result.sections()
    charts = [drawn(section) for section in sections if isinstance(section, Chart)]
    if charts:
        return charts[0]
    found = [(section, rows) for section in sections if (rows := _rows_of(section))]
    if not found:
        return _words(sections, result)
    # shares of one kind can be compared, counts of several things cannot: the first of those that can
    section, rows = next((entry for entry in found if all(row["share"] for row in entry[1])), found[0])
    return _bars(rows, getattr(section, "title", "") or result.name)


def _rows_of(section: Section) -> list[dict[str, Any]]:
    return _of_grid(section) if isinstance(section, Grid) else _of_figures(section)


def drawn(section: Chart) -> Any:
    """The chart of a section, as altair knows it."""
    drawings = import_module(_DRAWN_IN).DRAWINGS
    return drawings[section.name](**section.data)


def picture(section: Chart) -> str | None:
    """The chart of a section as a piece of a page; None where the libraries for it are absent."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        return None
    text = io.StringIO()
    drawn(section).save(text, format="svg")
    return f'<figure class="wide" role="img" aria-label="{escape(section.alternative)}">{text.getvalue()}</figure>'


def harmless(name: str) -> str:
    """A name that may be anything: in a page it must not open a tag, and drawing ends at a control character.

    >>> harmless("<b>")
    '‹b›'
    """
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return name.replace("<", "\u2039").replace(">", "\u203a").replace("&", "\uff06")


def _check_altair() -> None:
    try:
        import altair  # noqa: F401
    except ImportError:
        raise InputError("A chart needs altair.", "pip install 'shoal[charts]'") from None


def _of_grid(grid: Grid) -> list[dict[str, Any]]:
    """What the first column of shares or of numbers says of each row."""
    places = range(1, len(grid.heads))
    shares = [place for place in places if grid.rows and all(isinstance(row[place], Bar) for row in grid.rows)]
    numbers = [place for place in places if any(_number(row[place]) is not None for row in grid.rows)]
    if not shares and not numbers:
        return []
    place = (shares or numbers)[0]
    rows = [(_words_of(row[: max(grid.left, 1)]), row[place]) for row in grid.rows[:_MOST_BARS]]
    return _rows(
        [(name, _number(cell), _is_share(cell)) for name, cell in rows],
        grid.heads[place] or ("share" if shares else "number"),
    )


def _of_figures(section: Section) -> list[dict[str, Any]]:
    if not isinstance(section, Figures):
        return []
    figures = [(figure.name, _number(figure.value), _is_share(figure.value)) for figure in section.figures]
    shares = [figure for figure in figures if figure[2]]
    return _rows(shares or figures, "share" if shares else "number")


def _rows(found: Sequence[tuple[str, float | None, bool]], head: str) -> list[dict[str, Any]]:
    return [
        {"name": harmless(name), "value": value, "share": share, "head": harmless(head)}
        for name, value, share in found
        if value is not None
    ]


def _number(cell: Content) -> float | None:
    """The number in a cell.

    >>> [_number(cell) for cell in ("74.8%", "1,234", Cell("5"), Bar(0.5), "–")]
    [0.748, 1234.0, 5.0, 0.5, None]
    """
    if isinstance(cell, Bar):
        return cell.share
    text = (cell.text if isinstance(cell, Cell) else cell).strip()
    if not _NUMBER.fullmatch(text):
        return None
    plain = text.replace(",", "")
    return round(float(plain[:-1]) / 100, 12) if plain.endswith("%") else float(plain)


def _is_share(cell: Content) -> bool:
    return isinstance(cell, Bar) or (cell.text if isinstance(cell, Cell) else cell).strip().endswith("%")


def _words_of(cells: Sequence[Content]) -> str:
    return ", ".join(cell.text if isinstance(cell, Cell) else str(cell) for cell in cells if not isinstance(cell, Bar))


def _bars(rows: list[dict[str, Any]], title: str) -> Any:
    import altair as alt

    form = "%" if all(row["share"] for row in rows) else "~s"
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("value:Q", title=rows[0]["head"], axis=alt.Axis(format=form)),
        y=alt.Y("name:N", title=None, sort=[row["name"] for row in rows]),
        tooltip=["name:N", alt.Tooltip("value:Q", format="~g")],
    )
    return base.mark_bar(color=_BLUE).properties(width=420, height=alt.Step(20), title=harmless(title))


def _words(sections: Sequence[Section], result: Result) -> Any:
    """What was found in words, where there is no number to draw."""
    import altair as alt

    said = [section.text for section in sections if isinstance(section, Headline)] or [result.summary()]
    rows = alt.InlineData(values=[{"text": harmless(said[0])}])
    return alt.Chart(rows).mark_text(align="left", fontSize=14).encode(x=alt.value(0), text="text:N")
