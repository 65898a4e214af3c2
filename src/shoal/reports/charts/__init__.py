"""Pictures of results and reports, as SVG, PNG or one self-contained page. Drawn with altair, which is an extra."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from shoal.errors import InputError
from shoal.reports.charts.pictures import WIDE, chart_of
from shoal.reports.charts.results import DRAWINGS, choice_chart, frontier_chart
from shoal.reports.charts.style import BLUE, as_text, harmless, inline, with_texts
from shoal.results import Bar, Cell, Chart, Content, Exhibit, Figures, Grid, Headline, Result, Section
from shoal.results.sections import ResultPicture
from shoal.storage.writing import check_target, write_text, write_whole

__all__ = [
    "check_chart", "check_drawing", "choice_chart", "drawn", "figure_of", "frontier_chart", "plot", "save_chart",
    "with_chart",
]  # fmt: skip

ENDINGS = (".svg", ".png", ".html")
_NUMBER = re.compile(r"-?[0-9][0-9,]*(\.[0-9]+)?%?")
_MOST_BARS = 60


def check_chart(path: Path, force: bool) -> None:
    """Refuse a chart that could not be drawn or written, before any work is done for it."""
    check_target(path, force, ENDINGS)
    check_drawing()


def check_drawing() -> None:
    """Refuse to draw where the libraries for it are absent."""
    if not _can_draw():
        raise InputError("Charts need altair and vl-convert.", "pip install 'shoal[charts]'")


def _can_draw() -> bool:
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        return False
    return True


def save_chart(chart: Any, path: Path) -> None:
    """Write a chart in the format of the file's ending; HTML carries all it needs inside."""
    kind = path.suffix.lower()[1:]
    if kind == "png":
        write_whole(path, lambda draft: chart.save(str(draft), format=kind))
    else:
        write_text(path, as_text(chart, kind, **({"inline": True} if kind == "html" else {})))


# Measure and draw: the one order of steps for every verb that can draw what it found.


R = TypeVar("R", bound=Result)


def with_chart(
    measure: Callable[[], R], chart: str | Path | None, *, force: bool = False, sources: Iterable[str | Path] = ()
) -> R:
    """What `measure` finds, and its chart in a file, whose name is checked before any work is done.

    A chart does not replace one of the `sources`. The result has a field `chart`, which then holds the path.

    >>> from shoal.detection import detect
    >>> with_chart(lambda: detect({"age": [30, 30, 41]}), None).chart is None
    True
    """
    if chart is None:
        return measure()

    target = Path(chart)
    check_chart(target, force)
    if any(target.resolve() == Path(source).resolve() for source in sources):
        raise InputError(f"The chart {target} would replace the table.", "Give it another name.")
    result = measure()
    save_chart(drawn(result), target)
    return replace(result, chart=str(target))  # type: ignore[type-var]


def drawn(result: Result) -> Any:
    """The chart of a result, as altair knows it; refused where its sections name none."""
    charts = _charts(result.sections())
    if not charts:
        raise InputError(f"A result of {result.name} has no chart here.", "Leave the chart out.")
    return _as_altair(charts[0])


def figure_of(chart: Chart) -> str | None:
    """The chart of a section as a piece of a page; None where the libraries for it are absent."""
    if not _can_draw():
        return None
    svg = as_text(_as_altair(chart))
    return f'<figure class="wide" role="img" aria-label="{escape(chart.alternative)}">{svg}</figure>'


def _charts(sections: Sequence[Section]) -> list[Chart]:
    shown = [section.chart if isinstance(section, Exhibit) else section for section in sections]
    return [section for section in shown if isinstance(section, Chart)]


def _as_altair(chart: Chart) -> Any:
    if isinstance(chart.picture, ResultPicture):
        return DRAWINGS[chart.picture.name](chart.picture.of)
    return chart_of(with_texts(chart.picture, harmless), WIDE)


# A result as a chart: the one that its sections name, or bars of the numbers that they show.


def plot(result: Result) -> Any:
    """The chart of a result, as altair knows it."""
    try:
        import altair  # noqa: F401
    except ImportError:
        raise InputError("A chart needs altair.", "pip install 'shoal[charts]'") from None
    sections = result.sections()
    if charts := _charts(sections):
        return _as_altair(charts[0])
    found = [(section, rows) for section in sections if (rows := _rows_of(section))]
    if not found:
        return _words(sections, result)
    # shares of one kind can be compared, counts of several things cannot: the first of those that can
    section, rows = next((entry for entry in found if all(row["share"] for row in entry[1])), found[0])
    return _bars(rows, getattr(section, "title", "") or result.name)


def _rows_of(section: Section) -> list[dict[str, Any]]:
    return _of_grid(section) if isinstance(section, Grid) else _of_figures(section)


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
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("value:Q", title=rows[0]["head"], axis=alt.Axis(format=form)),
        y=alt.Y("name:N", title=None, sort=[row["name"] for row in rows]),
        tooltip=["name:N", alt.Tooltip("value:Q", format="~g")],
    )
    return base.mark_bar(color=BLUE).properties(width=420, height=alt.Step(20), title=harmless(title))


def _words(sections: Sequence[Section], result: Result) -> Any:
    """What was found in words, where there is no number to draw."""
    import altair as alt

    said = [section.text for section in sections if isinstance(section, Headline)] or [result.summary()]
    return (
        alt.Chart(inline([{"text": harmless(said[0])}]))
        .mark_text(align="left", fontSize=14)
        .encode(x=alt.value(0), text="text:N")
    )
