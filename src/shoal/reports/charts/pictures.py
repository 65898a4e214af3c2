"""The pictures of a report, by their types: each for a wide and for a narrow page, light and dark."""

from __future__ import annotations

import math
import textwrap
from functools import lru_cache
from typing import Any

from shoal.reports.charts.style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    ORANGE,
    RED,
    as_text,
    in_both_lights,
    inline,
    styled,
    with_lengths,
)
from shoal.results.sections import BarPicture, LinePicture, PairPicture, Picture, RatePicture

WIDE, NARROW = 620, 330


@lru_cache(maxsize=256)
def drawing(picture: Picture, width: int = WIDE) -> str:
    """A picture as SVG; drawn once where several editions of a report show the same."""
    return in_both_lights(with_lengths(as_text(chart_of(picture, width))))


def chart_of(picture: Picture, width: int) -> Any:
    """A picture as altair knows it."""
    match picture:
        case BarPicture():
            return _steps(picture, width) if picture.upright else _lying(picture, width)
        case LinePicture():
            return _loss(picture, width) if picture.figures else _curve(picture, width)
        case RatePicture():
            return _rates(picture, width)
        case PairPicture():
            return _pairs(picture, width)
    raise TypeError(f"{type(picture).__name__} is drawn where its results are.")


# Bars: shares or records, before and after, with their numbers at their ends.


# an axis shows a label in the lines that it was wrapped into
LINES = "split(datum.label, '\\n')"


def wrapped(label: str, width: int, lines: int = 3) -> str:
    """A label in lines of so many letters; what does not fit ends in …, the table has it whole.

    >>> wrapped("a long column name", 8), wrapped("x" * 30, 8, 2)
    ('a long\\ncolumn\\nname', 'xxxxxxxx\\nxxxxxxx…')
    """
    found = textwrap.wrap(" ".join(label.split()), width, break_long_words=True, break_on_hyphens=True) or ["–"]
    if len(found) > lines:
        found = [*found[: lines - 1], found[lines - 1][: width - 1] + "…"]
    return "\n".join(found)


def ticks(most: float) -> list[float]:
    """Round shares for an axis, none of them above the largest that can be: 100%.

    >>> ticks(0.912), ticks(0.07), ticks(1.0)
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.02, 0.04, 0.06, 0.08], [0.0, 0.25, 0.5, 0.75, 1.0])
    """
    steps = [size * 10.0**power for power in range(-5, 0) for size in (1, 2, 2.5, 5)]
    step = next((step for step in steps if most / step <= 4.0), 0.25)
    count = math.ceil(round(most / step, 6))
    return [round(place * step, 9) for place in range(count + 1) if place * step <= 1 + 1e-9]


def _lying(picture: BarPicture, width: int) -> Any:
    """Bars below each other, those of before and after together."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"label": wrapped(row.label, 18), "when": row.kind, "value": row.value,
         "text": picture.number(row.value)}
        for row in picture.rows
    ]  # fmt: skip
    order = list(dict.fromkeys(row["label"] for row in rows))
    kinds = list(dict.fromkeys(row.kind for row in picture.rows))
    most = max((row.value for row in picture.rows), default=0) or 1
    scale = alt.Scale(domain=[0, most * (1.22 if width < 400 else 1.12)], nice=False)
    axis = (
        alt.Axis(format=",d", tickCount=4)
        if picture.counts
        else alt.Axis(format=".3~f" if picture.plain else "%", values=ticks(most))
    )
    # long names below each other
    columns = 0 if sum(map(len, kinds)) * 8 < width else 1
    legend = alt.Legend(title=None, orient="top", columns=columns)
    labels = alt.Axis(labelExpr=LINES, domain=False, ticks=False)
    base = alt.Chart(inline(rows)).encode(
        y=alt.Y("label:N", sort=order, title=picture.labels or None, axis=labels),
        x=alt.X("value:Q", title=picture.axis, scale=scale, axis=axis),
        yOffset=alt.YOffset("when:N", sort=kinds),
    )
    colour = alt.Color(
        "when:N", sort=kinds, legend=legend,
        scale=alt.Scale(domain=kinds, range=COLOURS[: len(kinds)] if len(kinds) > 1 else [BLUE]),
    )  # fmt: skip
    numbers = base.mark_text(align="left", dx=4, fontSize=11, color=INK).encode(text="text:N")
    high = sum(max(12 * len(kinds) + 8, 14 * (str(name).count("\n") + 1) + 6) for name in order)
    above = 84 + 18 * columns * len(kinds)
    return styled(alt.layer(base.mark_bar().encode(color=colour), numbers), width, high + above)


def _steps(picture: BarPicture, width: int) -> Any:
    """Bars side by side, named by numbers."""
    import altair as alt

    rows: list[dict[str, Any]] = [{"label": row.label, "share": row.value} for row in picture.rows]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("label:N", sort=[row["label"] for row in rows], title=picture.labels, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title=picture.axis, scale=alt.Scale(domain=[0, 1.08], nice=False),
                axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])),
    )  # fmt: skip
    few = len(rows) <= (6 if width < 400 else 12)
    numbers = base.mark_text(dy=-8, fontSize=11, color=INK).encode(text=alt.Text("share:Q", format=".0%"))
    layers = [base.mark_bar(color=BLUE)] + ([numbers] if few else [])
    return styled(alt.layer(*layers), width, 260)


# Lines: a probability over a share, or what was lost for each highest risk.


def _curve(picture: LinePicture, width: int) -> Any:
    import altair as alt

    base = alt.Chart(inline([{"x": point.x, "y": point.y} for point in picture.points])).encode(
        x=alt.X("x:Q", title=picture.x, axis=alt.Axis(format="%", tickCount=5)),
        y=alt.Y("y:Q", title=picture.y, axis=alt.Axis(format="%", tickCount=5)),
    )
    return styled(base.mark_line(point={"color": BLUE, "size": 40}, color=BLUE), width, 260)


def _loss(picture: LinePicture, width: int) -> Any:
    """The diamond is the release."""
    import altair as alt

    own = picture.own
    rows = [{"x": point.x, "y": point.y, "own": False} for point in picture.points]
    rows += [] if own is None else [{"x": own.x, "y": own.y, "own": True}]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("x:Q", title=picture.x, axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(zero=True)),
        y=alt.Y("y:Q", title=picture.y, axis=alt.Axis(tickCount=5)),
    )
    line = base.transform_filter("!datum.own").mark_line(point={"color": GREY, "size": 40}, color=GREY)
    mark = base.transform_filter("datum.own").mark_point(size=160, filled=True, color=RED, shape="diamond", opacity=1)
    # the words stay inside: left of a point on the right half
    right = own is not None and own.x > max(row["x"] for row in rows) / 2
    words = base.transform_filter("datum.own").mark_text(
        align="right" if right else "left", dx=-10 if right else 10, dy=12, text="this release", fontSize=12, color=INK
    )
    return styled(alt.layer(line, mark, words), width, 260)


_RATES = ("rate", "high", "twin", "control", "baseline")


def _rates(picture: RatePicture, width: int) -> Any:
    """Each attack: its rate with the interval, the rate on the twin, the control, and what guessing gives."""
    import altair as alt

    rows: list[dict[str, Any]] = [{**vars(row), "label": wrapped(row.label, 22)} for row in picture.rows]
    kinds = [
        "attack on the release, 95% interval",
        "attack on the twin",
        "control: people not in the data",
        "guessing without the data",
    ]
    colours = alt.Scale(domain=kinds, range=[BLUE, ORANGE, RED, GREY])
    columns = 1 if width < WIDE else 2
    legend = alt.Legend(title=None, orient="top", columns=columns, symbolType="square", symbolSize=80)
    order = [row["label"] for row in rows]
    base = alt.Chart(inline(rows)).encode(y=alt.Y("label:N", title=None, sort=order, axis=alt.Axis(labelExpr=LINES)))
    most = max(value for row in rows for key in _RATES if (value := row[key]) is not None)
    axis = alt.Axis(format="%", values=ticks(most))
    scale = alt.Scale(domain=[0, max(most * 1.06, 0.01)], nice=False)

    def across(field: str) -> Any:
        return alt.X(f"{field}:Q", title="success", axis=axis, scale=scale)

    def layer(field: str, place: int) -> Any:
        known = base.transform_filter(f"isValid(datum.{field})").transform_calculate(kind=f"'{kinds[place]}'")
        return known.encode(x=across(field), color=alt.Color("kind:N", scale=colours, legend=legend))

    layers = [layer(*kind).mark_tick(thickness=3, size=16, opacity=1) for kind in (("baseline", 3), ("control", 2))]
    layers.append(layer("twin", 1).mark_point(filled=False, size=90, strokeWidth=2, opacity=1))
    span = layer("low", 0).encode(x2="high:Q").mark_rule(strokeWidth=2.5)
    rate = layer("rate", 0).mark_point(filled=True, size=80, opacity=1)
    return styled(alt.layer(*layers, span, rate), width, 30 * len(order) + 110 + (40 if width < WIDE else 0))


def _pairs(picture: PairPicture, width: int) -> Any:
    """How strongly columns go together, before beside (on a narrow page above) after."""
    import altair as alt

    names = list(dict.fromkeys(name for pair in picture.pairs for name in (pair.first, pair.second)))
    short = {name: wrapped(name, 12, 2) for name in names}
    order = [short[name] for name in names]
    cell = min(46, (width - 90 if width < WIDE else (width - 130) // 2) // max(len(names), 1))
    maps = []
    for when in ("before", "after"):
        rows = [
            {"a": short[one], "b": short[other], "r": getattr(pair, when)}
            for pair in picture.pairs
            for one, other in ((pair.first, pair.second), (pair.second, pair.first))
        ]
        labels = None if when == "after" and width >= WIDE else alt.Axis(labelExpr=LINES, domain=False, ticks=False)
        base = alt.Chart(inline(rows), title=when).encode(
            x=alt.X("a:N", sort=order, title=None,
                    axis=alt.Axis(labelAngle=-60, labelExpr=LINES, domain=False, ticks=False)),
            y=alt.Y("b:N", sort=order, title=None, axis=labels),
        )  # fmt: skip
        scale = alt.Scale(scheme="redblue", domain=[-1, 1])
        squares = base.mark_rect().encode(color=alt.Color("r:Q", scale=scale, legend=None))
        text = base.mark_text(fontSize=10).encode(
            text=alt.Text("r:Q", format=".2f"),
            color=alt.condition("abs(datum.r) > 0.6", alt.value("white"), alt.value("black")),
        )
        layers = (squares, text) if cell >= 27 else (squares,)
        maps.append(alt.layer(*layers).properties(width=cell * len(names), height=cell * len(names)))
    whole = alt.vconcat(*maps) if width < WIDE else alt.hconcat(*maps)
    return styled(whole, None, None)
