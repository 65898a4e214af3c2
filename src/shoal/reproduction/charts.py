"""How figures are drawn: bars, lines, heat maps. Drawn with altair, which is an extra.

Every chart is given its axis titles, and the space that its texts need (`letters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.reports.charts.style import BLUE as BLUE
from shoal.reports.charts.style import as_text, with_lengths
from shoal.reports.charts.style import inline as data
from shoal.reports.charts.style import width as text_width

RED, GREY = "#d1495b", "#888888"
Rows = list[dict[str, Any]]
_LABEL_SIZE, _BETWEEN = 9, 6
# more groups than this lie on their side, one below the other
_MOST_UPRIGHT = 8


@dataclass(frozen=True)
class DrawnChart:
    """A chart as SVG text and PNG bytes."""

    svg: str
    png: bytes


def draw(chart: Any) -> DrawnChart:
    """Draw a chart; the PNG is made from the SVG, so that both show the same."""
    import vl_convert

    text = svg_of(chart)
    return DrawnChart(with_lengths(text), vl_convert.svg_to_png(text, scale=2))


def svg_of(chart: Any) -> str:
    """Draw a chart as SVG, in one style."""
    return as_text(
        chart.configure_view(stroke=None)
        .configure_axis(gridColor="#eee", labelLimit=0, titleLimit=0)
        .configure_legend(labelLimit=0, titleLimit=0)
        .configure_title(limit=0)
    )


def bars(
    rows: Rows,
    x: str,
    y: str,
    title: str,
    *,
    x_title: str,
    y_title: str,
    label: str = "~g",
    colour: str | None = None,
    format: str = "~g",
    width: int = 460,
) -> Any:
    """Bars in the order of the rows, each with its number at its end; `colour` names a field that tells kinds apart.

    Few groups stand upright, several kinds of one group side by side; many lie below each other. The chart is as wide
    as the numbers need.
    """
    import altair as alt

    order = list(dict.fromkeys(row[x] for row in rows))
    kinds = list(dict.fromkeys(row[colour] for row in rows)) if colour else []
    upright, several = len(order) <= _MOST_UPRIGHT, len(rows) > len(order)
    groups: dict[str, Any] = {"sort": order, "title": x_title}
    most = max(row[y] for row in rows)
    numbers: dict[str, Any] = {"title": y_title, "axis": alt.Axis(format=format)}
    if most > 0:  # the number of the longest bar has its place inside the chart
        room = 1.08 if upright else 1 + (_longest(rows, y, label) + _BETWEEN) / width
        numbers["scale"] = alt.Scale(domainMax=most * room, nice=False)
    base = alt.Chart(data(rows))
    if upright:
        base = base.encode(x=alt.X(f"{x}:N", axis=alt.Axis(labelAngle=0), **groups), y=alt.Y(f"{y}:Q", **numbers))
        offset: dict[str, Any] = {"xOffset": alt.XOffset(f"{colour}:N", sort=kinds)} if several else {}
    else:
        base = base.encode(y=alt.Y(f"{x}:N", **groups), x=alt.X(f"{y}:Q", **numbers))
        offset = {"yOffset": alt.YOffset(f"{colour}:N", sort=kinds)} if several else {}
    base = base.encode(**offset)
    drawn = base.mark_bar(color=BLUE) if colour is None else base.mark_bar().encode(color=_legend(colour, kinds))
    place: dict[str, Any] = {"dy": -6} if upright else {"dx": 3, "align": "left"}
    text = base.mark_text(fontSize=_LABEL_SIZE, **place).encode(text=alt.Text(f"{y}:Q", format=label))
    per_group = max(1, len(kinds)) if several else 1
    space = _space(rows, order, x, y, label, per_group) if upright else 0
    height = 240 if upright else (12 * per_group + 8) * len(order)
    return alt.layer(drawn, text).properties(width=max(width, space), height=height, title=title)


def _space(rows: Rows, order: list[Any], x: str, y: str, label: str, per_group: int) -> int:
    """How wide upright bars must be, so that neither their numbers nor their names touch each other."""
    numbers = _longest(rows, y, label) + _BETWEEN
    names = max(text_width(str(name), 10) for name in order) + _BETWEEN
    return round(len(order) * max(names, 1.3 * per_group * numbers))


def _longest(rows: Rows, y: str, label: str) -> float:
    """How wide the longest number is."""
    return max(text_width(_written(row[y], label), _LABEL_SIZE) for row in rows)


def _written(value: float | None, label: str) -> str:
    """A number about as a chart writes it.

    >>> _written(0.123, ".1%"), _written(1234, ",d"), _written(2.5, "~g")
    ('12.3%', '1,234', '2.5')
    """
    if value is None:
        return ""
    return f"{value:{',.0f' if label.endswith('d') else label.replace('~', '')}}"


def _legend(field: str, names: list[Any]) -> Any:
    import altair as alt

    return alt.Color(f"{field}:N", title=None, sort=names, legend=alt.Legend(symbolLimit=0))


def heat_map(
    rows: Rows,
    x: str,
    y: str,
    value: str,
    title: str,
    *,
    x_title: str,
    y_title: str,
    legend: str,
    format: str,
    signed: bool = False,
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
    key = alt.Legend(format=format, title=legend)
    cells = base.mark_rect().encode(color=alt.Color(f"{value}:Q", scale=scale, legend=key))
    text = base.mark_text(fontSize=10).encode(
        text=alt.Text(f"{value}:Q", format=format),
        color=alt.condition(f"abs(datum['{value}']) > {dark}", alt.value("white"), alt.value("black")),
    )
    wide = max(text_width(name, 10) for name in (*across, *(_written(row[value], format) for row in rows))) + _BETWEEN
    size: dict[str, Any] = {"width": max(300, round(wide * len(across))), "height": max(240, 26 * len(down))}
    return alt.layer(cells, text).properties(title=title, **size)


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
    dotted: Sequence[str] = (),
    limit: str | None = None,
    width: int = 380,
) -> Any:
    """Lines by name, those in `dotted` dotted; `points` is a field drawn as dots, `low` and `high` its interval.

    `limit` is a field with a level for each line, drawn as a dotted line of its colour. Rows without a field are left
    out of what it draws.
    """
    import altair as alt

    names = list(dict.fromkeys(row[line] for row in rows))
    colour = _legend(line, names)
    scale = alt.Scale(type="log") if log else alt.Scale(zero=True)
    across = alt.X(
        f"{x}:Q",
        title=x_title,
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(
            format=",d", tickMinStep=1, tickCount=6, labelFlush=False, labelOverlap="greedy", labelSeparation=6
        ),
    )
    form = y_format or (".0e" if log else "~g")
    known = [row for row in rows if row.get(y) is not None]
    up = alt.Y(f"{y}:Q", title=y_title, scale=scale, axis=alt.Axis(format=form))
    dashes = alt.StrokeDash(f"{line}:N", sort=names, legend=None).scale(
        domain=names, range=[[2, 3] if name in dotted else [1, 0] for name in names]
    )
    parts = [alt.Chart(data(known)).mark_line(strokeWidth=1.5).encode(x=across, y=up, color=colour, strokeDash=dashes)]
    if limit is not None:
        levels = [row for row in rows if row.get(limit) is not None]
        flat = alt.Chart(data(levels)).mark_line(strokeWidth=1, strokeDash=[1, 3])
        parts.append(flat.encode(x=across, y=alt.Y(f"{limit}:Q", title=y_title, scale=scale), color=colour))
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


def tree(nodes: Rows, title: str, *, width: int = 460) -> Any:
    """A tree from its root down: each node has a `name`, a `number`, and the place of its `parent` in the list."""
    import altair as alt

    below = {place: [at for at, node in enumerate(nodes) if node["parent"] == place] for place in range(len(nodes))}
    across: dict[int, float] = {}
    for place in range(len(nodes) - 1, -1, -1):  # a node stands over the middle of those below it
        known = [across[at] for at in below[place]]
        across[place] = sum(known) / len(known) if known else -float(sum(not below[at] for at in across))
    depth: list[int] = []
    for node in nodes:
        depth.append(0 if node["parent"] is None else depth[node["parent"]] + 1)
    rows = [
        {"x": across[at], "y": -depth[at], "text": f"{node['name']} = {node['number']:.4f}"}
        for at, node in enumerate(nodes)
    ]
    edges = [
        {"x": across[node["parent"]], "y": -depth[node["parent"]], "x2": across[at], "y2": -depth[at]}
        for at, node in enumerate(nodes)
        if node["parent"] is not None
    ]
    room: dict[str, Any] = {"scale": alt.Scale(padding=70), "axis": None}
    end: dict[str, Any] = {"x": alt.X("x:Q", **room), "y": alt.Y("y:Q", scale=alt.Scale(padding=24), axis=None)}
    drawn = alt.Chart(data(edges)).mark_rule(color=GREY).encode(**end, x2="x2:Q", y2="y2:Q")
    base = alt.Chart(data(rows)).encode(**end)
    plate = base.mark_point(shape="square", size=2600, filled=True, color="white", opacity=1)
    return alt.layer(drawn, plate, base.mark_text(fontSize=11).encode(text="text:N")).properties(
        width=width, height=80 * (max(depth) + 1), title=title
    )


def beside(charts: Sequence[Any], columns: int = 2) -> Any:
    """Charts side by side, so many in a row, each with its own colours and scales."""
    import altair as alt

    own: dict[str, Any] = {
        "color": "independent",
        "xOffset": "independent",
        "yOffset": "independent",
        "strokeDash": "independent",
    }
    rows = [
        alt.hconcat(*charts[start : start + columns]).resolve_scale(**own) for start in range(0, len(charts), columns)
    ]
    return alt.vconcat(*rows).resolve_scale(**own)
