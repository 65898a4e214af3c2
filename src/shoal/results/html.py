"""Sections as HTML: what a notebook and the app show. No script, no outside address, all texts escaped."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.results.sections import Bar, Cell, Chart, Commands, Content, Figures, Files, Grid, Headline, Notes, Section

if TYPE_CHECKING:
    from shoal.results.result import Result


_STYLE = (
    "<style>.shoal{font-size:14px}.shoal table{border-collapse:collapse;margin:.6em 0}"
    ".shoal th,.shoal td{padding:.15em .8em .15em 0;text-align:right;border:0}.shoal .w{text-align:left}"
    ".shoal .good{color:#1a7f37}.shoal .bad{color:#b42318}.shoal .warning{color:#925f00}.shoal .dim{opacity:.75}"
    ".shoal .strong,.shoal h4{font-weight:600}.shoal meter{width:8em}"
    ".shoal .wide{overflow-x:auto;margin:.6em 0}</style>"
)


def fragment(sections: Sequence[Section]) -> str:
    """A piece of a page.

    >>> fragment([Headline("All <well>.", "good")]).endswith('<p class="strong good">All &lt;well&gt;.</p></div>')
    True
    """
    return f'{_STYLE}<div class="shoal">{markup(sections, _picture)}</div>'


def markup(sections: Sequence[Section], draw: Callable[[Chart], str] | None = None) -> str:
    """Sections without a style of their own: a page's style sheet has one; `draw` gives the picture of a chart.

    >>> markup([Notes(["a <b>"])])
    '<ul class="dim"><li>a &lt;b&gt;</li></ul>'
    """
    return "".join(
        draw(section) if draw is not None and isinstance(section, Chart) else _html(section) for section in sections
    )


def _picture(chart: Chart) -> str:
    """The chart inline, or its words where the libraries that draw are absent."""

    drawn = picture(chart)
    return _html(chart) if drawn is None else f"{_title(chart.title)}{drawn}"


def _html(section: Section) -> str:
    match section:
        case Headline(text, tone):
            return f'<p class="strong {tone}">{escape(text)}</p>'
        case Figures(figures, title):
            rows = "".join(
                f'<tr><th class="w dim" scope="row">{escape(figure.name)}</th>'
                f'<td class="{figure.tone}">{escape(figure.value)}</td></tr>'
                for figure in figures
            )
            return f"{_title(title)}<table>{rows}</table>"
        case Grid():
            return _grid(section)
        case Chart(_, _, alternative, title):
            return f"{_title(title)}<p>{escape(alternative)}</p>"
        case Notes(notes):
            return '<ul class="dim">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>" if notes else ""
        case Files(files):
            return "".join(
                f"<p>{escape(what)} written to <code>{escape(path)}</code></p>" for what, path in files.items()
            )
        case Commands(commands, title):
            return _title(title) + "".join(f"<pre>{escape(command)}</pre>" for command in commands)


def _title(title: str) -> str:
    return f"<h4>{escape(title)}</h4>" if title else ""


def _grid(grid: Grid) -> str:
    heads = "".join(
        f'<th scope="col"{_side(grid, j)}>{escape(head)}</th>' if head else "<td></td>"
        for j, head in enumerate(grid.heads)
    )
    rows = "".join(
        "<tr>" + "".join(f"<td{_side(grid, j)}>{_cell(content)}</td>" for j, content in enumerate(row)) + "</tr>"
        for row in grid.rows
    )
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    label = escape(grid.title or ", ".join(head for head in grid.heads if head) or "table")
    return f'{_title(grid.title)}<div class="wide" tabindex="0" role="region" aria-label="{label}">{table}</div>'


def _side(grid: Grid, column: int) -> str:
    return ' class="w"' if column < grid.left else ""


def _cell(content: Content) -> str:
    if isinstance(content, Bar):
        return f'<meter min="0" max="1" value="{content.share:.4f}">{content.share:.1%}</meter>'
    if isinstance(content, Cell):
        return f'<span class="{content.tone}">{escape(content.text)}</span>'
    return escape(content)


# A result as a chart: the one that its sections name, or bars of the numbers that they show. Drawn with altair.


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
