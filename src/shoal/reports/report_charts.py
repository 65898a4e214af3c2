"""The pictures of a report, by their names in the chapters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from shoal.errors import InputError
from shoal.reports.letters import with_lengths
from shoal.reports.pictures import BLUE, GREY, RED, bars, data, svg_of


def drawing(name: str, content: Mapping[str, Any]) -> str:
    """A picture as SVG; drawn once where several editions of a report show the same."""
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise InputError("A report needs altair.", "Install it with: pip install 'shoal[report]'.") from None
    return _drawn(name, json.dumps(content["rows"]))


@lru_cache(maxsize=64)
def _drawn(name: str, rows: str) -> str:
    return with_lengths(svg_of(CHARTS[name](json.loads(rows))))


def _classes(rows: list[dict[str, Any]]) -> Any:
    """Records by the size of their class, before and after."""
    return bars(
        rows,
        "size",
        "records",
        "",
        x_title="records that share their values",
        y_title="records",
        label=",d",
        colour="when",
    )


def _knowledge(rows: list[dict[str, Any]]) -> Any:
    return bars(rows, "known", "share", "", x_title="what is known", y_title="singled out", label=".1%", format="%")


def _frontier(rows: list[dict[str, Any]]) -> Any:
    return bars(rows, "columns", "share", "", x_title="columns known", y_title="singled out", label=".1%", format="%")


def _loss(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    known = [row for row in rows if row["loss"] is not None]
    base = alt.Chart(data(known)).encode(
        x=alt.X("risk:Q", title="highest risk", axis=alt.Axis(format="%"), scale=alt.Scale(zero=True)),
        y=alt.Y("loss:Q", title="loss"),
    )
    line = base.transform_filter("!datum.chosen").mark_line(point=True, color=GREY)
    own = base.transform_filter("datum.chosen").mark_point(size=140, filled=True, color=RED, shape="diamond")
    words = base.transform_filter("datum.chosen").mark_text(align="left", dx=10, text="this release", fontSize=11)
    return alt.layer(line, own, words).properties(width=460, height=240)


def _attacks(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    order = [row["name"] for row in rows]
    base = alt.Chart(data(rows)).encode(y=alt.Y("name:N", title=None, sort=order))
    scale = alt.X("rate:Q", title="success", axis=alt.Axis(format="%"), scale=alt.Scale(domainMin=0))
    span = base.mark_rule(strokeWidth=2, color=BLUE).encode(x=alt.X("low:Q", title="success"), x2="high:Q")
    rate = base.mark_point(filled=True, size=70, color=BLUE).encode(x=scale)
    control = (
        base.transform_filter("isValid(datum.control)")
        .mark_tick(thickness=3, size=16, color=RED)
        .encode(x=alt.X("control:Q", title="success (a red mark: people who are not in the data)"))
    )
    return alt.layer(span, rate, control).properties(width=460, height=28 * len(order) + 10)


def _leak(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    base = alt.Chart(data(rows)).encode(
        x=alt.X("leaked:Q", title="part that leaks", axis=alt.Axis(format="%")),
        y=alt.Y("probability:Q", title="a person is re-identified", axis=alt.Axis(format="%")),
    )
    return base.mark_line(point=True, color=BLUE).properties(width=460, height=240)


CHARTS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "classes": _classes,
    "knowledge": _knowledge,
    "frontier": _frontier,
    "loss": _loss,
    "attacks": _attacks,
    "leak": _leak,
}
