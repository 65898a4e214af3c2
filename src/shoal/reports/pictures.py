"""How the papers' figures are drawn: bars, lines, heat maps. Drawn with altair, which is an extra."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

BLUE, RED, GREY = "#2a6f97", "#d1495b", "#888888"
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Picture:
    """A chart as SVG text and PNG bytes."""

    svg: str
    png: bytes


def draw(chart: Any) -> Picture:
    """Draw a chart; the PNG is made from the SVG, so that both show the same."""
    import vl_convert

    text = io.StringIO()
    chart.configure_view(stroke=None).configure_axis(gridColor="#eee").save(text, format="svg")
    return Picture(text.getvalue(), vl_convert.svg_to_png(text.getvalue(), scale=2))


def data(rows: Rows) -> Any:
    """Rows of a chart, carried inside it."""
    import altair as alt

    return alt.InlineData(values=rows)


def bars(
    rows: Rows,
    x: str,
    y: str,
    title: str,
    *,
    label: str = "~g",
    x_title: str | None = None,
    y_title: str | None = None,
    colour: str | None = None,
    format: str = "~g",
    width: int = 460,
) -> Any:
    """Bars in the order of the rows, each with its number on top; `colour` names a field that tells kinds apart."""
    import altair as alt

    order = list(dict.fromkeys(row[x] for row in rows))
    base = alt.Chart(data(rows)).encode(
        x=alt.X(f"{x}:N", sort=order, title=x_title, axis=alt.Axis(labelAngle=-35 if len(order) > 6 else 0)),
        y=alt.Y(f"{y}:Q", title=y_title, axis=alt.Axis(format=format)),
    )
    if colour is None:
        drawn = base.mark_bar(color=BLUE)
    else:
        kinds = list(dict.fromkeys(row[colour] for row in rows))
        drawn = base.mark_bar().encode(color=alt.Color(f"{colour}:N", title=None, sort=kinds))
        if len(rows) > len(order):  # several kinds at one place stand side by side
            base = base.encode(xOffset=alt.XOffset(f"{colour}:N", sort=kinds))
            drawn = drawn.encode(xOffset=alt.XOffset(f"{colour}:N", sort=kinds))
    text = base.mark_text(dy=-6, fontSize=9).encode(text=alt.Text(f"{y}:Q", format=label))
    return alt.layer(drawn, text).properties(width=width, height=240, title=title)


def heat_map(
    rows: Rows, x: str, y: str, value: str, title: str, *, x_title: str, y_title: str, format: str, signed: bool = False
) -> Any:
    """A map of numbered cells, the darker the more; rows come in the order in which both axes read.

    `signed` numbers lie between -1 and 1, and both signs have a colour of their own.
    """
    import altair as alt

    across, down = (list(dict.fromkeys(str(row[name]) for row in rows)) for name in (x, y))
    dark = 0.6 * max(abs(row[value]) for row in rows)
    base = alt.Chart(data(rows)).encode(
        x=alt.X(f"{x}:N", sort=across, title=x_title, axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{y}:N", sort=down, title=y_title),
    )
    scale = alt.Scale(scheme="redblue", domain=[-1, 1]) if signed else alt.Scale(scheme="blues", zero=True)
    cells = base.mark_rect().encode(color=alt.Color(f"{value}:Q", title=None, scale=scale))
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text(f"{value}:Q", format=format),
        color=alt.condition(f"abs(datum['{value}']) > {dark}", alt.value("white"), alt.value("black")),
    )
    return alt.layer(cells, text).properties(width=300, height=240, title=title)


def lines(
    rows: Rows,
    x: str,
    y: str,
    line: str,
    title: str,
    *,
    x_title: str,
    y_title: str,
    log: bool = False,
    y_format: str | None = None,
    low: str | None = None,
    high: str | None = None,
    points: str | None = None,
    width: int = 380,
) -> Any:
    """Lines by name; `points` is a field drawn as dots over them, `low` and `high` its interval.

    Rows without a field are left out of what it draws.
    """
    import altair as alt

    names = list(dict.fromkeys(row[line] for row in rows))
    colour = alt.Color(f"{line}:N", title=None, sort=names)
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    across = alt.X(
        f"{x}:Q",
        title=x_title,
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(format=",d", tickMinStep=1),
    )
    up = alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=alt.Axis(format=y_format or (".0e" if log else "~g")))
    known = [row for row in rows if row.get(y) is not None]
    parts = [alt.Chart(data(known)).mark_line(strokeWidth=1.5).encode(x=across, y=up, color=colour)]
    if points is not None:
        dots = [row for row in rows if row.get(points) is not None]
        base = alt.Chart(data(dots)).encode(x=across, color=colour)
        if low is not None and high is not None:
            ends = alt.Y(f"{low}:Q", title=y_title, scale=scale), alt.Y2(f"{high}:Q")
            parts.append(base.mark_rule(strokeWidth=2).encode(y=ends[0], y2=ends[1]))
        parts.append(base.mark_point(filled=True, size=22).encode(y=alt.Y(f"{points}:Q", title=y_title, scale=scale)))
    else:
        parts.append(alt.Chart(data(known)).mark_point(filled=True, size=22).encode(x=across, y=up, color=colour))
    return alt.layer(*parts).properties(width=width, height=260, title=title)


def beside(charts: Sequence[Any], columns: int = 2) -> Any:
    """Charts side by side, so many in a row, each with its own colours and scales."""
    import altair as alt

    rows = [
        alt.hconcat(*charts[start : start + columns]).resolve_scale(color="independent", xOffset="independent")
        for start in range(0, len(charts), columns)
    ]
    return alt.vconcat(*rows).resolve_scale(color="independent", xOffset="independent")
