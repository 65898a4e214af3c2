"""A reproduced paper as one HTML file without scripts and without a single address to load from."""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace as with_changes
from html import escape
from pathlib import Path

from shoal import __version__, progress
from shoal.errors import InputError, Message
from shoal.reproduction.results import Number, PaperPart, Reproduction
from shoal.results.html import markup
from shoal.storage.writing import give_usual_rights
from shoal.systems.files import replace, sync

# the bytes of a file, or who writes it
Content = bytes | Callable[[Path], None]


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


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1b1f24; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin-top: 2.5rem; border-top: 1px solid #ddd; padding-top: 1rem; }
p { max-width: 46rem; } .source, footer { color: #667; } nav a { margin-right: .8rem; white-space: nowrap; }
.wide { overflow-x: auto; margin: .8rem 0; } table { border-collapse: collapse; font-size: .9rem; }
th { text-align: left; color: #667; font-weight: 600; vertical-align: bottom; }
th, td { padding: .2rem .8rem .2rem 0; } td { vertical-align: top; }
th.number, td.number { text-align: right; } td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.compared table { min-width: 38rem; } .compared td { overflow-wrap: break-word; }
tr + tr td { border-top: 1px solid #eee; }
.good { color: #1a7040; } .bad { color: #a3333f; } .warning { color: #8a5a00; } .dim { color: #667; }
.choice > input { margin: 0 .2rem 0 .8rem; } .choice > .picture { display: none; }
.strong { font-weight: 600; } code { overflow-wrap: anywhere; }
img { max-width: 100%; height: auto; } summary { color: #2a6f97; cursor: pointer; }
@media (max-width: 40rem) { .picture img { max-width: none; } }
"""

# longer tables are folded away; they are in the CSV file as well
_FEW_ROWS = 20


def page(result: Reproduction, pictures: Mapping[str, str]) -> str:
    """The whole page; `pictures` holds the SVG of the exhibits that have one.

    >>> made = Reproduction.of("a", "A title", "A source", "What it is.", {}, [PaperPart("t", "Table 1", "It.")])
    >>> html = page(made, {})
    >>> html.startswith("<!doctype html>"), "<h2" in html, "<script" in html
    (True, True, False)
    """
    links = "".join(f'<a href="#{escape(key)}">{escape(name)}</a> ' for key, name in _names(result.exhibits))
    parts = [
        f"<h1>{escape(result.title)}</h1>",
        f'<p class="source">{escape(result.source)}</p>',
        f"<p>{escape(result.text)}</p>",
        f"<p><strong>{escape(result.summary())}</strong></p>",
        f"<nav>{links}</nav>",
        *(_exhibit(exhibit, pictures) for exhibit in result.exhibits),
        f"<footer><p>Made by shoal {escape(__version__)} with <code>{escape(result.command)}</code>. "
        "Nothing on this page is loaded from elsewhere.</p></footer>",
    ]
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">"
        f'<link rel="icon" href="data:,"><title>{escape(result.title)}</title><style>{_STYLE}</style>'
    )
    body = "\n".join(parts)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _names(exhibits: Sequence[PaperPart]) -> list[tuple[str, str]]:
    """What links call exhibits: the heading up to its colon, or after it where several begin alike.

    >>> titles = {"a": "Fig 1: one", "b": "Beside: two", "c": "Beside: three"}
    >>> _names([PaperPart(name, title, "") for name, title in titles.items()])
    [('a', 'Fig 1'), ('b', 'two'), ('c', 'three')]
    """
    first = [exhibit.heading.partition(": ")[0] for exhibit in exhibits]
    return [
        (exhibit.key, name if first.count(name) == 1 else exhibit.heading.partition(": ")[2])
        for exhibit, name in zip(exhibits, first, strict=True)
    ]


def _exhibit(exhibit: PaperPart, pictures: Mapping[str, str]) -> str:
    parts = [f'<h2 id="{escape(exhibit.key)}">{escape(exhibit.heading)}</h2>', f"<p>{escape(exhibit.text)}</p>"]
    if exhibit.key in pictures:
        parts.append(_picture(exhibit.heading, pictures[exhibit.key]))
    parts += _choice(exhibit, pictures)
    if exhibit.lines:  # the heading above is its title
        parts.append(f'<div class="compared">{markup([with_changes(exhibit.comparison(), title="")])}</div>')
    if exhibit.rows:
        parts.append(_table(exhibit.header, exhibit.rows))
    return "\n".join(parts)


def _picture(alternative: str, svg: str, more: str = "") -> str:
    coded = base64.b64encode(svg.encode()).decode()
    picture = f'<img alt="{escape(alternative)}" src="data:image/svg+xml;base64,{coded}">'
    return f'<div class="wide picture"{more}>{picture}</div>'


def _choice(exhibit: PaperPart, pictures: Mapping[str, str]) -> list[str]:
    """Pictures of which the chosen one is shown: a row of buttons, without a script."""
    names = [step_key(exhibit, number) for number in range(len(exhibit.steps))]
    if not names or names[0] not in pictures:
        return []
    rules = "".join(f"#{name}:checked ~ .{name} {{ display: block; }}" for name in names)
    first = len(names) // 2
    buttons = [
        f'<input type="radio" name="{escape(exhibit.key)}" id="{name}"{" checked" if number == first else ""}>'
        f'<label for="{name}">{escape(label)}</label>'
        for number, (name, label) in enumerate(zip(names, exhibit.steps, strict=True))
    ]
    shown = [
        _picture(f"{exhibit.heading}, {label}", pictures[name]).replace('class="wide', f'class="{name} wide', 1)
        for name, label in zip(names, exhibit.steps, strict=True)
    ]
    return [f'<style>{rules}</style><div class="choice">{"".join([*buttons, *shown])}</div>']


def step_key(exhibit: PaperPart, number: int) -> str:
    """The name of one of the pictures to choose from, which its files have too."""
    return f"{exhibit.key}-{number + 1}"


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


# A reproduction as files: JSON, CSV, pictures and the page, all of them or none.
#
# Names start with the paper's name, so that several papers share a folder: `a.html`, `a.json`, `a-fig-1.svg`.


def check_folder(folder: Path, names: Sequence[str], force: bool, charts: bool) -> None:
    """Refuse a folder that cannot be filled, before any work is done for it."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file.", "Name a folder.")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise InputError(f"There is no folder {folder.absolute().parent}.", "Make it first.")
    if not os.access(folder if folder.exists() else folder.absolute().parent, os.W_OK):
        raise InputError(f"{folder} cannot be written to.", "Choose another folder.")
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise InputError(f"{folder / there[0]} exists already.", Message("Replace it with `{force}`."))
    if charts:
        from shoal.reports.charts import check_drawing

        check_drawing()


def contents(result: Reproduction, charts: bool = True) -> dict[str, Content]:
    """All files of a paper by name, the page last: where it is, all the others are."""
    key = result.paper
    lines = [(line.what, line.ours, line.printed, line.tolerance, line.verdict) for line in result.comparison]
    text = json.dumps(result.to_dict(), ensure_ascii=False, indent=1)
    files: dict[str, Content] = {**result.files, f"{key}.json": f"{text}\n".encode()}
    files[f"{key}-comparison.csv"] = _csv(("what", "ours", "printed", "tolerance", "verdict"), lines)
    for exhibit in result.exhibits:
        if exhibit.rows:
            files[f"{key}-{exhibit.key}.csv"] = _csv(exhibit.header, exhibit.rows)
    pictures: dict[str, str] = {}
    if charts:
        for name, svg, png in _drawn(result.exhibits):
            pictures[name] = svg
            files[f"{key}-{name}.svg"] = svg.encode()
            files[f"{key}-{name}.png"] = png
    files[f"{key}.html"] = page(result, pictures).encode()
    return files


def _drawn(exhibits: Sequence[PaperPart]) -> Iterable[tuple[str, str, bytes]]:
    from shoal.reproduction.charts import draw

    with_chart = [(exhibit.key, exhibit.chart) for exhibit in exhibits if exhibit.chart is not None]
    for exhibit in exhibits:
        with_chart += [(step_key(exhibit, number), chart) for number, chart in enumerate(exhibit.steps.values())]
    for number, (name, chart) in enumerate(with_chart):
        progress.report("drawing", number, len(with_chart))
        picture = draw(chart())
        yield name, picture.svg, picture.png


def write_folder(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files into a folder, made if it is not there: all take their names at the end, or none does.

    Drafts are written beside the targets. What was replaced comes back if a later file cannot take its name.
    """
    made = not folder.exists()
    drafts: dict[Path, Path] = {}
    kept: dict[Path, Path] = {}
    placed: list[Path] = []
    try:
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            drafts[folder / name] = _draft(folder, content)
        for target, draft in drafts.items():
            if target.exists():
                kept[target] = _draft(folder, b"")
                replace(target, kept[target])
            replace(draft, target)
            placed.append(target)
    except BaseException as error:
        for target in placed:
            target.unlink(missing_ok=True)
        for target, old in kept.items():
            replace(old, target)
        kept.clear()
        if isinstance(error, OSError):
            raise InputError(f"{folder} could not be written: {error.strerror}.", "Nothing was written.") from None
        raise
    finally:
        for leftover in (*drafts.values(), *kept.values()):
            leftover.unlink(missing_ok=True)
        if made and folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _draft(folder: Path, content: Content) -> Path:
    handle, name = tempfile.mkstemp(prefix=".draft-", dir=folder)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            if isinstance(content, bytes):
                file.write(content)
        if not isinstance(content, bytes):
            content(draft)
        sync(draft)
        give_usual_rights(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _csv(header: Sequence[str], rows: Iterable[Sequence[Number]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()
