"""One style for all pictures: colours with enough contrast, by day and by night, and texts that keep their place.

Pictures are drawn with altair, which is an extra.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from html import unescape
from typing import Any
from unicodedata import east_asian_width

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


def inline(rows: list[dict[str, Any]]) -> Any:
    """Rows of a chart, carried inside it."""
    import altair as alt

    return alt.InlineData(values=rows)


def as_text(chart: Any, form: str = "svg", **how: Any) -> str:
    """Draw a chart as SVG, or as a page."""
    text = io.StringIO()
    chart.save(text, format=form, **how)
    return text.getvalue()


def with_texts(found: Any, change: Callable[[str], str]) -> Any:
    """The same document or picture with every text changed, keys included.

    >>> with_texts({"a": [("b", 1)]}, str.upper)
    {'A': [('B', 1)]}
    """
    if isinstance(found, str):
        return change(found)
    if isinstance(found, dict):
        return {with_texts(key, change): with_texts(value, change) for key, value in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(with_texts(value, change) for value in found)
    if is_dataclass(found) and not isinstance(found, type):
        return replace(found, **{entry.name: with_texts(getattr(found, entry.name), change) for entry in fields(found)})
    return found


def harmless(name: str) -> str:
    """A name that may be anything: in a page it must not open a tag, and drawing ends at a control character.

    >>> harmless("<b>")
    '‹b›'
    """
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return name.replace("<", "\u2039").replace(">", "\u203a").replace("&", "\uff06")


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


# How wide texts are in a picture, so that every browser gives them the space that was laid out for them.
#
# A picture is laid out with the letters of one typeface (Helvetica's widths, which Arial and Liberation Sans share). A
# browser may have a wider one: each text is therefore written with the length that it has in the layout.


# widths of the letters from space to tilde, in thousandths of the size (Helvetica, Adobe font metrics)
# fmt: off
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)
# fmt: on
_OTHER, _FULL, _BOLD = 584, 1000, 1.07
_TEXT = re.compile(r"<text\b([^>]*)>((?:[^<]+|<tspan\b[^>]*>[^<]*</tspan>)+)</text>")
_LINE = re.compile(r"<tspan\b([^>]*)>([^<]+)</tspan>")
_SIZE = re.compile(r'font-size="([\d.]+)px"')


def width(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is, in pixels.

    >>> round(width("k = 10", 10), 2), width("", 10)
    (27.52, 0.0)
    """
    return sum(map(_letter, text)) * size / 1000 * (_BOLD if bold else 1)


def _letter(letter: str) -> int:
    if 32 <= ord(letter) < 127:
        return _WIDTHS[ord(letter) - 32]
    return _FULL if east_asian_width(letter) in "WF" else _OTHER


def with_lengths(svg: str) -> str:
    """The same picture, each text with its length.

    >>> with_lengths('<text font-size="10px">k = 10</text>')
    '<text font-size="10px" textLength="27.5" lengthAdjust="spacingAndGlyphs">k = 10</text>'
    """

    def measured(match: re.Match[str]) -> str:
        attributes, text = match.groups()
        size = _SIZE.search(attributes)
        if size is None or "textLength" in attributes:
            return match.group()

        def length(words: str) -> str:
            wide = width(unescape(words), float(size[1]), 'font-weight="bold"' in attributes)
            return f'textLength="{wide:.1f}" lengthAdjust="spacingAndGlyphs"'

        if "<tspan" in text:  # several lines, each with its own length
            lines = _LINE.sub(lambda line: f"<tspan{line[1]} {length(line[2])}>{line[2]}</tspan>", text)
            return f"<text{attributes}>{lines}</text>"
        return f"<text{attributes} {length(text)}>{text}</text>"

    return _TEXT.sub(measured, svg)
