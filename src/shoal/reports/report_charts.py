"""The pictures of a report, by their names in the chapters: each for a wide and for a narrow page, light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from shoal.errors import InputError
from shoal.reports.bars import LINES, classes, shares, steps, ticks, wrapped
from shoal.reports.chart_style import BLUE, GREY, INK, ORANGE, RED, in_both_lights, styled, svg_text
from shoal.reports.letters import with_lengths
from shoal.reports.pictures import data

Content = Mapping[str, Any]
WIDE, NARROW = 620, 330
_RATES = ("rate", "high", "twin", "control", "baseline")


def drawing(name: str, content: Content, width: int = WIDE) -> str:
    """A picture as SVG; drawn once where several editions of a report show the same."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise InputError("A report needs altair.", "Install it with: pip install 'shoal[report]'.") from None
    return _drawn(name, json.dumps(content), width)


@lru_cache(maxsize=256)
def _drawn(name: str, content: str, width: int) -> str:
    return in_both_lights(with_lengths(svg_text(CHARTS[name](json.loads(content), width))))


def _loss(content: Content, width: int) -> Any:
    """What was lost for each highest risk; the diamond is the release."""
    import altair as alt

    base = alt.Chart(data(content["rows"])).encode(
        x=alt.X("risk:Q", title="highest risk", axis=alt.Axis(format="%", tickCount=5), scale=alt.Scale(zero=True)),
        y=alt.Y("loss:Q", title="loss", axis=alt.Axis(tickCount=5)),
    )
    line = base.transform_filter("!datum.chosen").mark_line(point={"color": GREY, "size": 40}, color=GREY)
    own = base.transform_filter("datum.chosen").mark_point(size=160, filled=True, color=RED, shape="diamond", opacity=1)
    # the words stay inside: left of a point on the right half
    risks = [row["risk"] for row in content["rows"]]
    right = any(row["chosen"] and row["risk"] > max(risks) / 2 for row in content["rows"])
    words = base.transform_filter("datum.chosen").mark_text(
        align="right" if right else "left", dx=-10 if right else 10, dy=12, text="this release", fontSize=12, color=INK
    )
    return styled(alt.layer(line, own, words), width, 260)


def _attacks(content: Content, width: int) -> Any:
    """Each attack: its rate with the interval, the rate on the twin, the control, and what guessing gives."""
    import altair as alt

    rows = [{**row, "label": wrapped(row["label"], 22)} for row in content["rows"]]
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
    base = alt.Chart(data(rows)).encode(y=alt.Y("label:N", title=None, sort=order, axis=alt.Axis(labelExpr=LINES)))
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


def _curve(content: Content, width: int) -> Any:
    """A probability over a share."""
    import altair as alt

    base = alt.Chart(data(content["rows"])).encode(
        x=alt.X("x:Q", title=content["x"], axis=alt.Axis(format="%", tickCount=5)),
        y=alt.Y("y:Q", title=content["y"], axis=alt.Axis(format="%", tickCount=5)),
    )
    return styled(base.mark_line(point={"color": BLUE, "size": 40}, color=BLUE), width, 260)


def _pairs(content: Content, width: int) -> Any:
    """How strongly columns go together, before beside (on a narrow page above) after."""
    import altair as alt

    names = list(dict.fromkeys(name for pair in content["rows"] for name in (pair["first"], pair["second"])))
    short = {name: wrapped(name, 12, 2) for name in names}
    order = [short[name] for name in names]
    cell = min(46, (width - 90 if width < WIDE else (width - 130) // 2) // max(len(names), 1))
    maps = []
    for when in ("before", "after"):
        rows = [{"a": short[pair[one]], "b": short[pair[other]], "r": pair[when]} for pair in content["rows"]
                for one, other in (("first", "second"), ("second", "first"))]  # fmt: skip
        labels = None if when == "after" and width >= WIDE else alt.Axis(labelExpr=LINES, domain=False, ticks=False)
        base = alt.Chart(data(rows), title=when).encode(
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


CHARTS: dict[str, Callable[[Content, int], Any]] = {
    "attacks": _attacks,
    "classes": classes,
    "curve": _curve,
    "loss": _loss,
    "pairs": _pairs,
    "shares": shares,
    "steps": steps,
}
