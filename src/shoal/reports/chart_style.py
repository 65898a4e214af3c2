"""One style for the pictures of a report: colours with enough contrast, by day and by night."""

from __future__ import annotations

import io
from typing import Any

INK, SOFT, LINE, BLUE, GREY, RED = "#1b1f24", "#56606c", "#d8dee4", "#2a6f97", "#8a939c", "#b3263a"
ORANGE = "#a65a00"
# the colours of several things beside each other
COLOURS = [GREY, BLUE, RED, ORANGE]
# the same by night
_NIGHT = {INK: "#e6eaee", SOFT: "#a9b4bf", LINE: "#38414a", BLUE: "#6db3dc", RED: "#ff9ba5", ORANGE: "#f0b060"}
# the widths of its letters are those that the layout is measured with; shown elsewhere, texts keep their length
FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"


def styled(chart: Any, width: int | None, height: int | None) -> Any:
    """A chart in the style of the report; with a width, everything in it takes that width and no more."""
    import altair as alt

    if width is not None:
        chart = chart.properties(
            width=width, height=height, autosize=alt.AutoSizeParams(type="fit", contains="padding", resize=True)
        )
    return (
        chart.configure(font=FONT, background="transparent", padding=4)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=LINE, domainColor=SOFT, tickColor=SOFT, labelColor=INK, titleColor=SOFT, labelFontSize=12,
            titleFontSize=12, titleFontWeight="normal", labelLimit=0, titleLimit=0, titlePadding=8,
        )
        .configure_legend(labelColor=INK, labelFontSize=12, labelLimit=0, titleLimit=0, symbolOpacity=1)
        .configure_title(limit=0, color=INK, fontSize=13, fontWeight="normal", anchor="start")
    )  # fmt: skip


def svg_text(chart: Any) -> str:
    """Draw a chart as SVG."""
    text = io.StringIO()
    chart.save(text, format="svg")
    return text.getvalue()


def in_both_lights(svg: str) -> str:
    """The same picture, which follows whoever reads by night.

    >>> "#e6eaee" in in_both_lights('<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>')
    True
    """
    rules = "".join(
        f'[fill="{day}"]{{fill:{night}}}[stroke="{day}"]{{stroke:{night}}}' for day, night in _NIGHT.items()
    )
    head, rest = svg.split(">", 1)
    return f"{head}><style>@media screen and (prefers-color-scheme: dark){{{rules}}}</style>{rest}"
