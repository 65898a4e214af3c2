"""A document as one HTML file without scripts and without a single address to load from."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from shoal import __version__
from shoal.reports.exhibit import Document, Exhibit, Number, shown
from shoal.results import Bar, Cell, Content, Grid

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
p { max-width: 46rem; } .source, footer { color: #667; } nav a { margin-right: .8rem; white-space: nowrap; }
.wide { overflow-x: auto; margin: .8rem 0; } table { border-collapse: collapse; font-size: .9rem; }
th { text-align: left; color: #667; font-weight: 600; vertical-align: bottom; }
th, td { padding: .2rem .8rem .2rem 0; } td { vertical-align: top; }
th.number, td.number { text-align: right; } td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.compared { min-width: 38rem; } .compared td { overflow-wrap: break-word; } tr + tr td { border-top: 1px solid #eee; }
.good { color: #1a7040; } .bad { color: #a3333f; } .warning { color: #8a5a00; } .dim { color: #667; }
.strong { font-weight: 600; } code { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; } summary { color: #2a6f97; cursor: pointer; }
@media (max-width: 40rem) { .picture img { max-width: none; } }
"""

# longer tables are folded away; they are in the CSV file as well
_FEW_ROWS = 20


def page(document: Document, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` holds the SVG of the exhibits that have one.

    >>> exhibits = [Exhibit("t", "Table 1", "It.")]
    >>> html = page(Document("a", "A title", "A source", "What it is.", "All well.", exhibits, "shoal --help"), {})
    >>> html.startswith("<!doctype html>"), "<h2" in html, "<script" in html, "<code>shoal --help</code>" in html
    (True, True, False, True)
    """
    links = "".join(f'<a href="#{escape(key)}">{escape(name)}</a> ' for key, name in _names(document.exhibits))
    parts = [
        f"<h1>{escape(document.title)}</h1>",
        f'<p class="source">{escape(document.source)}</p>',
        f"<p>{escape(document.text)}</p>",
        f"<p><strong>{escape(document.summary)}</strong></p>",
        f"<nav>{links}</nav>",
        *(_exhibit(exhibit, pictures.get(exhibit.key)) for exhibit in document.exhibits),
        f"<footer><p>Made by shoal {escape(__version__)} with <code>{escape(document.command)}</code>. "
        "Nothing on this page is loaded from elsewhere.</p></footer>",
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f'<link rel="icon" href="data:,"><title>{escape(document.title)}</title><style>{_STYLE}</style>'
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _names(exhibits: Sequence[Exhibit]) -> list[tuple[str, str]]:
    """What links call exhibits: the heading up to its colon, or after it where several begin alike.

    >>> _names([Exhibit("a", "Fig 1: one", ""), Exhibit("b", "Beside: two", ""), Exhibit("c", "Beside: three", "")])
    [('a', 'Fig 1'), ('b', 'two'), ('c', 'three')]
    """
    first = [exhibit.heading.partition(": ")[0] for exhibit in exhibits]
    return [
        (exhibit.key, name if first.count(name) == 1 else exhibit.heading.partition(": ")[2])
        for exhibit, name in zip(exhibits, first, strict=True)
    ]


def _exhibit(exhibit: Exhibit, svg: str | None) -> str:
    parts = [f'<h2 id="{escape(exhibit.key)}">{escape(exhibit.heading)}</h2>', f"<p>{escape(exhibit.text)}</p>"]
    if svg is not None:
        coded = base64.b64encode(svg.encode()).decode()
        picture = f'<img alt="{escape(exhibit.heading)}" src="data:image/svg+xml;base64,{coded}">'
        parts.append(f'<div class="wide picture">{picture}</div>')
    parts += [_grid(grid) for grid in exhibit.grids]
    if exhibit.rows:
        parts.append(_table(exhibit.header, exhibit.rows))
    return "\n".join(parts)


def _grid(grid: Grid) -> str:
    """Words and numbers to read: words may break lines."""

    def kind(column: int) -> str:
        return "" if column < grid.left or column in grid.wrap else ' class="number"'

    head = "".join(f"<th{kind(j)}>{escape(name)}</th>" for j, name in enumerate(grid.heads))
    body = "".join(
        f"<tr>{''.join(f'<td{kind(j)}>{_content(content)}</td>' for j, content in enumerate(row))}</tr>"
        for row in grid.rows
    )
    title = f"<h3>{escape(grid.title)}</h3>" if grid.title else ""
    return f'{title}<div class="wide"><table class="compared"><tr>{head}</tr>{body}</table></div>'


def _content(content: Content) -> str:
    if isinstance(content, Bar):
        return f'<meter min="0" max="1" value="{content.share:.4f}">{content.share:.1%}</meter>'
    if isinstance(content, Cell):
        return f'<span class="{content.tone}">{escape(content.text)}</span>'
    return escape(content)


def _table(header: Sequence[str], rows: Sequence[Sequence[Number]]) -> str:
    words = {j for row in rows for j, cell in enumerate(row) if isinstance(cell, str)}
    kinds = ["" if j in words else ' class="number"' for j in range(len(header))]
    head = "".join(f"<th{kind}>{escape(name)}</th>" for kind, name in zip(kinds, header, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{escape(shown(cell))}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>"
        for row in rows
    )
    table = f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'
    if len(rows) <= _FEW_ROWS:
        return table
    return f"<details><summary>{len(rows):,} rows of numbers</summary>{table}</details>"
