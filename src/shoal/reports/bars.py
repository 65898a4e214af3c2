"""Bars of a report: shares or records, before and after, with their numbers at their ends."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from typing import Any

from shoal.reports.chart_style import BLUE, COLOURS, INK, styled
from shoal.reports.pictures import data
from shoal.wording import percent

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


def shares(content: Mapping[str, Any], width: int) -> Any:
    """Shares of bars that lie below each other, those of before and after together."""
    rows = [{**row, "text": percent(row["share"])} for row in content["rows"]]
    return _lying(rows, "share", "%", content["title"], width)


def classes(content: Mapping[str, Any], width: int) -> Any:
    """Records by the size of their class, before and after."""
    rows = [{**row, "text": f"{row['records']:,}"} for row in content["rows"]]
    return _lying(rows, "records", ",d", "records", width, "records with the same values")


def _lying(rows: list[dict[str, Any]], value: str, form: str, title: str, width: int, names: str | None = None) -> Any:
    import altair as alt

    rows = [{**row, "label": wrapped(row["label"], 18)} for row in rows]
    order = list(dict.fromkeys(row["label"] for row in rows))
    kinds = list(dict.fromkeys(row["when"] for row in rows))
    most = max((row[value] for row in rows), default=0) or 1
    scale = alt.Scale(domain=[0, most * (1.22 if width < 400 else 1.12)], nice=False)
    axis = alt.Axis(format=form, values=ticks(most)) if form == "%" else alt.Axis(format=form, tickCount=4)
    # long names below each other
    columns = 0 if sum(map(len, kinds)) * 8 < width else 1
    legend = alt.Legend(title=None, orient="top", columns=columns)
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("label:N", sort=order, title=names, axis=alt.Axis(labelExpr=LINES, domain=False, ticks=False)),
        x=alt.X(f"{value}:Q", title=title, scale=scale, axis=axis),
        yOffset=alt.YOffset("when:N", sort=kinds),
    )
    colour = alt.Color(
        "when:N", sort=kinds, legend=legend,
        scale=alt.Scale(domain=kinds, range=COLOURS[: len(kinds)] if len(kinds) > 1 else [BLUE]),
    )  # fmt: skip
    numbers = base.mark_text(align="left", dx=4, fontSize=11, color=INK).encode(text="text:N")
    high = sum(max(12 * len(kinds) + 8, 14 * (name.count("\n") + 1) + 6) for name in order)
    above = 84 + 18 * columns * len(kinds)
    return styled(alt.layer(base.mark_bar().encode(color=colour), numbers), width, high + above)


def steps(content: Mapping[str, Any], width: int) -> Any:
    """Shares of bars that stand side by side, named by numbers."""
    import altair as alt

    rows = content["rows"]
    base = alt.Chart(data(rows)).encode(
        x=alt.X("label:N", sort=[row["label"] for row in rows], title=content["x"], axis=alt.Axis(labelAngle=0)),
        y=alt.Y("share:Q", title=content["title"], scale=alt.Scale(domain=[0, 1.08], nice=False),
                axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])),
    )  # fmt: skip
    few = len(rows) <= (6 if width < 400 else 12)
    numbers = base.mark_text(dy=-8, fontSize=11, color=INK).encode(text=alt.Text("share:Q", format=".0%"))
    layers = [base.mark_bar(color=BLUE)] + ([numbers] if few else [])
    return styled(alt.layer(*layers), width, 260)
