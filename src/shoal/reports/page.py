"""The page of a paper: one HTML file without scripts and without a single address to load from."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from shoal import __version__
from shoal.reports.exhibit import Cell, Exhibit, Line, Reproduction, shown

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
p { max-width: 46rem; } .source, footer { color: #667; } nav a { margin-right: .8rem; }
table { border-collapse: collapse; margin: .8rem 0; font-size: .9rem; display: block; overflow-x: auto; }
th { text-align: left; color: #667; font-weight: 600; } th, td { padding: .2rem .8rem .2rem 0; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; } tr + tr td { border-top: 1px solid #eee; }
.match { color: #2a7f4f; } .differs { color: #a3333f; } .none { color: #667; }
img { max-width: 100%; height: auto; margin: .6rem 0; } summary { color: #2a6f97; cursor: pointer; }
"""

# longer tables are folded away; they are in the CSV file as well
_FEW_ROWS = 20


def page(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` holds the SVG of the exhibits that have one.

    >>> html = page(Reproduction("a", "A title", "A source", "What it is.", {}, [Exhibit("t", "Table 1", "It.")]), {})
    >>> html.startswith("<!doctype html>"), "<h2" in html, "<script" in html
    (True, True, False)
    """
    links = "".join(f'<a href="#{exhibit.key}">{escape(_short(exhibit.heading))}</a> ' for exhibit in found.exhibits)
    parts = [
        f"<h1>{escape(found.title)}</h1>",
        f'<p class="source">{escape(found.source)}</p>',
        f"<p>{escape(found.text)}</p>",
        f"<p><strong>{escape(found.summary())}</strong></p>",
        f"<nav>{links}</nav>",
        *(_exhibit(exhibit, pictures.get(exhibit.key)) for exhibit in found.exhibits),
        f"<footer><p>Made by shoal {escape(__version__)}, command <code>shoal reproduce "
        f"{escape(found.paper)}</code>. "
        "Nothing on this page is loaded from elsewhere.</p></footer>",
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f'<link rel="icon" href="data:,"><title>{escape(found.title)}</title><style>{_STYLE}</style>'
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _short(heading: str) -> str:
    return heading.partition(":")[0]


def _exhibit(exhibit: Exhibit, svg: str | None) -> str:
    parts = [f'<h2 id="{escape(exhibit.key)}">{escape(exhibit.heading)}</h2>', f"<p>{escape(exhibit.text)}</p>"]
    if svg is not None:
        coded = base64.b64encode(svg.encode()).decode()
        parts.append(f'<img alt="{escape(exhibit.heading)}" src="data:image/svg+xml;base64,{coded}">')
    if exhibit.lines:
        parts.append(_comparison(exhibit.lines))
    if exhibit.rows:
        parts.append(_table(exhibit.header, exhibit.rows))
    return "\n".join(parts)


def _comparison(lines: Sequence[Line]) -> str:
    rows = []
    for line in lines:
        kind = "none" if line.printed is None else "match" if line.match else "differs"
        cells = f'<td>{escape(line.what)}</td><td class="number">{escape(line.ours)}</td>'
        cells += f'<td class="number">{escape(line.printed or "–")}</td><td class="{kind}">{escape(line.verdict)}</td>'
        rows.append(f"<tr>{cells}</tr>")
    head = "<tr><th></th><th>ours</th><th>printed</th><th>match, or the reason</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _table(header: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    table = f"<table><tr>{head}</tr>{body}</table>"
    if len(rows) <= _FEW_ROWS:
        return table
    return f"<details><summary>{len(rows):,} rows of numbers</summary>{table}</details>"


def _cell(cell: Cell) -> str:
    kind = "" if isinstance(cell, str) else ' class="number"'
    return f"<td{kind}>{escape(shown(cell))}</td>"
