"""Sections as HTML: what a notebook and the app show. No script, no outside address, all texts escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module

from shoal.results.sections import (
    Bar,
    Cell,
    Chart,
    Commands,
    Content,
    Exhibit,
    Figures,
    Files,
    Grid,
    Headline,
    Meaning,
    Notes,
    Section,
)

# where charts are drawn: above this package, and with libraries that may be absent
CHARTS = "shoal.reports.charts"
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
    return "".join(_html(section, draw) for section in sections)


def _picture(chart: Chart) -> str:
    """The chart inline, or its words where the libraries that draw are absent."""

    drawn = import_module(CHARTS).figure_of(chart)
    return _html(chart) if drawn is None else f"{_title(chart.title)}{drawn}"


def _html(section: Section, draw: Callable[[Chart], str] | None = None) -> str:
    match section:
        case Chart() if draw is not None:
            return draw(section)
        case Exhibit(chart, table, meaning, formula):
            figures = f"<details><summary>The figures as a table</summary>{_grid(table)}</details>"
            return f"{_html(chart, draw)}<p>{escape(meaning)}</p>{figures}{_formula(formula)}"
        case Meaning(text, formula):
            return f"<p>{escape(text)}</p>{_formula(formula)}"
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
        case Chart(_, alternative, title):
            return f"{_title(title)}<p>{escape(alternative)}</p>"
        case Notes(notes):
            return '<ul class="dim">' + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>" if notes else ""
        case Files(files):
            return "".join(
                f"<p>{escape(what)} written to <code>{escape(path)}</code></p>" for what, path in files.items()
            )
        case Commands(commands, title):
            return _title(title) + "".join(f"<pre>{escape(command)}</pre>" for command in commands)


def _formula(formula: str) -> str:
    return f"<details><summary>How it is computed</summary><p>{escape(formula)}</p></details>" if formula else ""


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
