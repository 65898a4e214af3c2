"""Pictures of results and reports, as SVG, PNG or one self-contained page. Drawn with altair, which is an extra."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from shoal.detection.results import Detection
from shoal.errors import InputError, Message
from shoal.exposure.leakage.curves import Curve, needed_k, over_k, over_leaks, over_targets
from shoal.exposure.leakage.results import LeakRisk
from shoal.methods.outcomes import Candidate, FrontierPoint, MethodChoice
from shoal.reports.charts.pictures import WIDE, chart_of
from shoal.reports.charts.style import BLUE, as_text, harmless, inline, with_texts
from shoal.results import Bar, Cell, Chart, Content, Exhibit, Figures, Grid, Headline, Result, Section
from shoal.results.sections import ResultPicture
from shoal.storage.writing import check_target, write_text, write_whole

if TYPE_CHECKING:
    from shoal.methods.solve import SolutionSpace


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
    measure: Callable[[], R],
    chart: str | Path | None,
    *,
    force: bool = False,
    sources: Iterable[str | Path] = (),
    draw: Callable[[R], Any] | None = None,
) -> R:
    """What `measure` finds, and its chart in a file, whose name is checked before any work is done.

    A chart does not replace one of the `sources`. A field `chart` of the result then holds the path.

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
    save_chart((draw or drawn)(result), target)
    return replace(result, chart=str(target)) if hasattr(result, "chart") else result  # type: ignore[type-var]


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


# Charts of single results, for notebooks and `--chart`: what is best known, and what a lower risk costs.


_CHOSEN = "#d1495b"
_LEAST = "least loss at this risk"
_PANEL = 320
_MOST_ROWS = 40


def detection_chart(found: Detection) -> Any:
    """The frontier (who knows n things singles out how many) beside each column's part in it."""
    import altair as alt

    last = len(found.best.columns) if found.best else 0
    frontier = [
        {"columns": len(entry.columns), "uniqueness": entry.uniqueness, "set": harmless(", ".join(entry.columns))}
        for entry in found.by_size
        if len(entry.columns) <= last
    ]
    base = alt.Chart(inline(frontier)).encode(
        x=alt.X("columns:Q", title="number of columns known", axis=alt.Axis(tickMinStep=1, format="d")),
        y=alt.Y("uniqueness:Q", title="records singled out", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
        tooltip=["set:N", alt.Tooltip("uniqueness:Q", format=".1%")],
    )
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=60, filled=True, color=BLUE))
    most = sorted(found.contributions.items(), key=lambda item: -item[1])[:_MOST_ROWS]
    shares = [{"column": harmless(name), "share": share} for name, share in most]
    bars = (
        alt.Chart(inline(shares))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("share:Q", title="part in the uniques", axis=alt.Axis(format="%")),
            y=alt.Y("column:N", title=None, sort="-x"),
            tooltip=["column:N", alt.Tooltip("share:Q", format=".1%")],
        )
    )
    left = line.properties(width=340, height=260, title="What the best-placed attacker singles out")
    right = bars.properties(width=260, height=alt.Step(18), title="Which column costs most")
    return alt.hconcat(left, right).configure_view(stroke=None)


def frontier_chart(found: SolutionSpace) -> Any:
    """What a lower risk costs: the least loss for each highest risk, the chosen node apart."""
    import altair as alt

    rows = [
        {
            "risk": solution.highest_risk,
            "score": solution.score,
            "k": solution.k,
            "suppressed": solution.suppressed_rows,
            "levels": harmless(", ".join(f"{name} {level}" for name, level in solution.levels.items())),
            "what": "chosen" if solution == found.chosen else _LEAST,
        }
        for solution in [*found.frontier, *([] if found.chosen is None else [found.chosen])]
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("risk:Q", title="highest risk of a record (1 / smallest class)", scale=alt.Scale(type="log")),
        y=alt.Y("score:Q", title=found.minimize, scale=alt.Scale(zero=True)),
        tooltip=["levels:N", "k:Q", alt.Tooltip("score:Q", format=".4f"), "suppressed:Q", "what:N"],
    )
    line = base.mark_line(color=BLUE)
    points = base.mark_point(filled=True, size=80, opacity=1).encode(
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=[_CHOSEN, BLUE], domain=["chosen", _LEAST]))
    )
    labels = base.mark_text(align="left", dx=7, dy=-7).encode(text=alt.Text("k:Q", format="d"))
    layered = alt.layer(line, points, labels)
    return layered.properties(width=520, height=320, title="What a lower risk costs (labels: smallest class)")


def choice_chart(method: str, choice: MethodChoice | None) -> Any:
    """What was chosen: the loss for each k, and what the other methods lost at the k that was asked for."""
    import altair as alt

    if choice is None:
        raise InputError(
            "There is a chart only where a method was chosen.",
            Message("Leave out {method}: then the methods are compared."),
        )
    compared = [one for one in choice.candidates if one.rows == choice.candidates[0].rows]
    # the measure that all have: only then their losses can be compared
    tried: list[Candidate | FrontierPoint] = [*choice.frontier, *compared]
    all_have = all(one.information_loss is not None for one in tried if one.loss is not None)
    figure = "information_loss" if all_have else "loss"
    rows = [{"risk": one.highest_risk, "loss": getattr(one, figure), "k": one.k} for one in choice.frontier]
    others = [{"method": one.method, "loss": loss} for one in compared if (loss := getattr(one, figure)) is not None]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("risk:Q", title="highest risk of a record (1 / k)", scale=alt.Scale(type="log")),
        y=alt.Y("loss:Q", title=figure.replace("_", " ")),
        tooltip=["k:Q", alt.Tooltip("loss:Q", format=".4f")],
    )
    line = base.mark_line(color=BLUE, point=alt.OverlayMarkDef(size=60, filled=True, color=BLUE))
    labels = base.mark_text(align="left", dx=7, dy=-7).encode(text=alt.Text("k:Q", format="d"))
    bars = (
        alt.Chart(inline(others))
        .mark_bar(color=BLUE)
        .encode(
            x=alt.X("loss:Q", title=figure.replace("_", " ")),
            y=alt.Y("method:N", title=None, sort="x"),
            tooltip=["method:N", alt.Tooltip("loss:Q", format=".4f")],
        )
    )
    left = alt.layer(line, labels).properties(width=340, height=260, title=f"What a lower risk costs ({method})")
    right = bars.properties(width=260, height=alt.Step(24), title="What each method lost")
    return alt.hconcat(left, right).configure_view(stroke=None)


def leak_chart(found: Sequence[LeakRisk]) -> Any:
    """The probability against the leak, the class size and the number of targets; with thresholds, the k they need."""
    import altair as alt

    first = found[0]
    persons, targets = first.persons, first.targets
    limits = {entry.threshold: entry.threshold_name or "" for entry in found if entry.threshold is not None}
    leaks = sorted({max(round(persons * step / 25), 1) for step in range(1, 26)})
    sizes = sorted({2, 5, 10, 20} | ({first.class_size} if first.class_size else set()))
    by_leak = [over_leaks(size, persons, leaks, targets) for size in sizes if size <= persons]
    if first.class_size is None:
        by_leak.append(over_leaks(first.classes, persons, leaks, targets))
    shown = _few(sorted({entry.leaked for entry in found}))
    by_size = [over_k(persons, leaked, range(1, min(persons, 40) + 1), targets) for leaked in shown]
    by_target = over_targets(first.classes, first.leaked)
    who = "one person" if targets == 1 else f"all of {targets} targets"
    panels = [
        _lines(by_leak, "persons leaked", "probability", f"The larger the leak ({who})", limits),
        _lines(by_size, "class size k", "probability", "What more k buys: less and less", limits),
        _lines([by_target], "targets", "probability", f"All of n targets, {first.leaked:,} leaked", log=True),
    ]
    if limits:
        needed = [needed_k(persons, leaks, name or value, targets) for value, name in limits.items()]
        panels.append(_lines(needed, "persons leaked", "smallest k", "The k that a threshold needs"))
    rows = [alt.hconcat(*panels[:2]).resolve_scale(color="independent"), alt.hconcat(*panels[2:])]
    return alt.vconcat(*rows).resolve_scale(color="independent").configure_view(stroke=None)


def _few(numbers: Sequence[int], most: int = 4) -> list[int]:
    """A few of many, the first and the last among them."""
    steps = min(most, len(numbers))
    return [numbers[round(step * (len(numbers) - 1) / max(steps - 1, 1))] for step in range(steps)]


def _lines(
    curves: Sequence[Curve],
    x: str,
    y: str,
    heading: str,
    limits: Mapping[float, str] = MappingProxyType({}),
    log: bool = False,
) -> Any:
    """Curves in one panel, thresholds as dashed lines across."""
    import altair as alt

    rows = [
        {"x": at, "y": value, "line": curve.name}
        for curve in curves
        for at, value in zip(curve.x, curve.y, strict=True)
        if value > 0 or not log
    ]
    several = len(curves) > 1
    # names of thresholds stand right of the panel, where no curve runs; those of curves below it
    legend = alt.Legend(orient="bottom", columns=3)
    colour: Any = alt.value(BLUE)
    if several:
        colour = alt.Color("line:N", title=None, sort=[curve.name for curve in curves], legend=legend)
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    lines = (
        alt.Chart(inline(rows))
        .mark_line(point=alt.OverlayMarkDef(size=18, filled=True))
        .encode(
            x=alt.X("x:Q", title=x, axis=alt.Axis(format=",d", tickMinStep=1)),
            y=alt.Y("y:Q", title=y, scale=scale, axis=alt.Axis(format=".0e" if log else "~g")),
            color=colour,
            tooltip=["line:N", alt.Tooltip("x:Q", format=","), alt.Tooltip("y:Q", format=".4g")],
        )
    )
    if limits:
        borders = inline([{"y": value, "name": f"{value:.2g} {name}".strip()} for value, name in limits.items()])
        rule = alt.Chart(borders).mark_rule(strokeDash=[4, 3], color="#888").encode(y="y:Q", tooltip=["name:N"])
        label = (
            alt.Chart(borders)
            .mark_text(align="left", color="#666")
            .encode(y="y:Q", x=alt.value(_PANEL + 6), text="name:N")
        )
        lines = alt.layer(lines, rule, label)
    return lines.properties(width=_PANEL, height=240, title=heading)


# the drawing of each picture that is computed from results
DRAWINGS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "detection": lambda found: detection_chart(found[0]),
    "leak": leak_chart,
}
