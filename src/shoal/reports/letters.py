"""How wide texts are in a picture, so that every browser gives them the space that was laid out for them.

A picture is laid out with the letters of one typeface (Helvetica's widths, which Arial and Liberation Sans share). A
browser may have a wider one: each text is therefore written with the length that it has in the layout.
"""

from __future__ import annotations

import re
from html import unescape
from unicodedata import east_asian_width

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
