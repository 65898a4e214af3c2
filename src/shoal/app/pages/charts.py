"""Charts of the pages as SVG: texts escaped, no style or script inside, points that are links.

The report's charts are pictures; these are parts of a page: their points can be reached by keyboard, their colours and
letters are the style sheet's, and nothing but a few lines of text is needed to draw them. What they show are the same
pictures of sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from shoal.results.sections import Bar, BarPicture, Chart, Grid, LinePicture, RatePicture
from shoal.wording import share

_WIDTH, _HEIGHT = 380, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 16, 24, 40
# a rise of so much between two points would cross words above the first
_STEEP = 40
_TICKS = 5
# how much place a word takes
_WORD = 30


@dataclass(frozen=True)
class Point:
    """One point of a chart: where it is, what is written at it, and where a click on it leads."""

    x: float
    y: float
    label: str = ""
    href: str | None = None
    words: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class ChartAxis:
    """The ends of an axis, its ticks with their words, and what it measures."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    title: str


PERCENT = ChartAxis(0, 1, [(0, "0%"), (0.25, "25%"), (0.5, "50%"), (0.75, "75%"), (1, "100%")], "")


def drawn(chart: Chart) -> Markup:
    """The picture of a section as a part of a page.

    >>> from shoal.results.sections import BarRow
    >>> picture = BarPicture((BarRow("<i>", 0.5, "before"), BarRow("<i>", 0.25, "after")), "share")
    >>> "&lt;i&gt;" in drawn(Chart(picture, "what")), "50.0% → 25.0%" in drawn(Chart(picture, "what"))
    (True, True)
    """
    match chart.picture:
        case BarPicture():
            return paired_bars(chart.picture, chart.alternative)
        case RatePicture():
            return rates(chart.picture, chart.alternative)
        case LinePicture():
            return _line(chart.picture, chart.alternative)
    return Markup(f"<p>{escape(chart.alternative)}</p>")


def _line(picture: LinePicture, words: str) -> Markup:
    """Over shares from nothing to all; where the points have names, from nothing to the last of them."""
    own = picture.own
    points = [
        Point(point.x, point.y, point.label, chosen=own is not None and (own.x, own.y) == (point.x, point.y))
        for point in sorted(picture.points, key=lambda point: point.x)
    ]
    across = ChartAxis(0, 1, PERCENT.ticks, picture.x)
    if any(point.label for point in points):
        ticks = [(point.x, f"{100 * point.x:.3g}%") for point in points]
        across = ChartAxis(0, points[-1].x * 1.12, ticks, picture.x)
    up = shares_up_to(max(point.y for point in points), picture.y if picture.figures else "")
    return line_chart(points, across, up, words)


def line_chart(points: Sequence[Point], across: ChartAxis, up: ChartAxis, words: str, target: str = "") -> Markup:
    """A line through points; each point with an `href` is a link, whose answer replaces the element `target`.

    >>> chart = line_chart([Point(1, 0.5, "<b>", "?set=1", "one")], ChartAxis(0, 2, [], "n"), PERCENT, "what")
    >>> "&lt;b&gt;" in chart, "<b>" in chart, 'href="?set=1"' in chart
    (True, False, True)
    """

    def place(point: Point) -> tuple[float, float]:
        wide = (point.x - across.low) / ((across.high - across.low) or 1)
        high = (point.y - up.low) / ((up.high - up.low) or 1)
        return (
            round(_LEFT + wide * (_WIDTH - _LEFT - _RIGHT), 1),
            round(_HEIGHT - _BOTTOM - high * (_HEIGHT - _TOP - _BOTTOM), 1),
        )

    parts = [_axes(across, up)]
    places = [place(point) for point in points]
    if len(places) > 1:
        path = " ".join(f"{x},{y}" for x, y in places)
        floor = _HEIGHT - _BOTTOM
        parts.append(f'<polygon class="area" points="{places[0][0]},{floor} {path} {places[-1][0]},{floor}"/>')
        parts.append(f'<polyline class="line" points="{path}"/>')
    own = next((spot for point, spot in zip(points, places, strict=True) if point.chosen), None)
    for number, point in enumerate(points):
        x, y = places[number]
        hidden = own is not None and not point.chosen and abs(x - own[0]) < _WORD and abs(y - own[1]) < _WORD
        parts.append(_point(point, places, number, target, hidden))
    role = "group" if any(point.href for point in points) else "img"
    return Markup(
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="{role}" aria-label="{escape(words)}">'
        f"{''.join(parts)}</svg>"
    )


def _axes(across: ChartAxis, up: ChartAxis) -> str:
    parts = []
    floor = _HEIGHT - _BOTTOM
    for value, word in up.ticks:
        y = round(floor - (value - up.low) / ((up.high - up.low) or 1) * (floor - _TOP), 1)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{escape(word)}</text>')
    drawn = float("-inf")
    for value, word in sorted(across.ticks):
        x = round(_LEFT + (value - across.low) / ((across.high - across.low) or 1) * (_WIDTH - _LEFT - _RIGHT), 1)
        if x - drawn < _WORD:  # words would touch
            continue
        drawn = x
        parts.append(f'<text x="{x}" y="{floor + 16}" text-anchor="middle">{escape(word)}</text>')
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{floor}" y2="{floor}"/>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(across.title)}</text>')
    if up.title:
        parts.append(f'<text x="0" y="{_TOP - 8}">{escape(up.title)}</text>')
    return "".join(parts)


def _point(point: Point, places: Sequence[tuple[float, float]], number: int, target: str, hidden: bool) -> str:
    x, y = places[number]
    on = " on" if point.chosen else ""
    dot = f'<circle class="dot{on}" cx="{x}" cy="{y}" r="5"/>'
    across, down, side = _beside_the_line(places, number)
    words = f'<text class="value" x="{x + across:.1f}" y="{y + down:.1f}" text-anchor="{side}">'
    label = f"{words}{escape(point.label)}</text>" if point.label and not hidden else ""
    if point.href is None:
        return dot + label
    href, name = escape(point.href), escape(target)
    swap = f' hx-get="{href}" hx-target="{name}" hx-select="{name}" hx-swap="outerHTML"' if target else ""
    current = ' aria-current="true"' if point.chosen else ""
    return (
        f'<a href="{href}"{swap}{current} aria-label="{escape(point.words or point.label)}">'
        f'<circle class="hit" cx="{x}" cy="{y}" r="13"/>{dot}{label}</a>'
    )


def _beside_the_line(places: Sequence[tuple[float, float]], number: int) -> tuple[float, float, str]:
    """Where the words of a point do not touch the line: below it where the line rises, right of it where it falls."""
    x, y = places[number]
    rises = number + 1 < len(places) and y - places[number + 1][1] > _STEEP
    falls = (number > 0 and places[number - 1][1] < y) or (number + 1 < len(places) and places[number + 1][1] > y)
    if rises and not falls:
        return 10, 6, "start"
    if falls and x < _WIDTH - 70:
        return 6, -8, "start"
    return (4, -10, "end") if x > _WIDTH - 50 else (0, -10, "middle")


def shares_up_to(most: float, title: str = "") -> ChartAxis:
    """An axis of shares from 0 to a little more than `most`, with round ticks.

    >>> [word for _, word in shares_up_to(0.38).ticks]
    ['0%', '10%', '20%', '30%', '40%']
    """
    for step in (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25):
        if step * _TICKS >= most:
            break
    count = next(number for number in range(1, _TICKS + 1) if number * step >= most or number == _TICKS)
    return ChartAxis(0, count * step, [(part * step, f"{100 * part * step:g}%") for part in range(count + 1)], title)


def bars(grid: Grid, words: str, warn_first: bool = False) -> Markup:
    """A grid with a bar in each row, as names, bars and what stands before the bar; the first may be a warning.

    >>> "&lt;i&gt;" in bars(Grid(("", "share", ""), [("<i>", "50%", Bar(0.5))]), "what")
    True
    """
    lines = []
    for place, row in enumerate(grid.rows):
        at, bar = next((number, content) for number, content in enumerate(row) if isinstance(content, Bar))
        length, tone = min(max(bar.share, 0), 1), " bad" if warn_first and not place and bar.share else ""
        track = '<rect class="track" width="100" height="10"/>'
        fill = f'<rect class="fill{tone}" width="{100 * length:.2f}" height="10"/>'
        lines.append(_bar_line(str(row[0]), track + fill, 10, str(row[at - 1])))
    return Markup(f'<ul class="bars" aria-label="{escape(words)}">{"".join(lines)}</ul>')


def _bar_line(name: str, marks: str, height: int, value: str) -> str:
    return (
        f'<li class="barrow"><span><bdi>{escape(name)}</bdi></span><svg viewBox="0 0 100 {height}" '
        f'preserveAspectRatio="none" aria-hidden="true">{marks}</svg><span class="n">{escape(value)}</span></li>'
    )


def paired_bars(picture: BarPicture, words: str) -> Markup:
    """Two bars for each name, before above after, as long as their part of the longest; and both shares."""
    pairs: dict[str, list[float]] = {}
    for row in picture.rows:
        pairs.setdefault(row.label, []).append(row.value)
    most = max((value for values in pairs.values() for value in values), default=1) or 1
    lines = []
    for name, values in pairs.items():
        marks = f'<rect class="fill second" width="{100 * values[0] / most:.2f}" height="4.4"/>'
        marks += f'<rect class="fill" width="{100 * values[-1] / most:.2f}" height="4.4" y="5.6"/>'
        lines.append(_bar_line(name, marks, 10, " → ".join(map(picture.number, values))))
    return Markup(f'<ul class="bars pairs-of-bars" aria-label="{escape(words)}">{"".join(lines)}</ul>')


def rates(picture: RatePicture, words: str) -> Markup:
    """Rates with their intervals between 0% and 100%, whatever they are, beside what guessing and others give."""

    def at(value: float) -> str:
        return f"{100 * min(max(value, 0), 1):.2f}"

    def line(kind: str, first: float, last: float, top: int, bottom: int) -> str:
        return f'<line class="{kind}" x1="{at(first)}" x2="{at(last)}" y1="{top}" y2="{bottom}"/>'

    lines = []
    for row in picture.rows:
        marks = ['<rect class="track" width="100" height="10" y="5"/>']
        marks += [line("grid", part, part, 0, 20) for part in (0, 0.25, 0.5, 0.75, 1)]
        marks += [line("tick guess", row.baseline, row.baseline, 2, 18)] if row.baseline is not None else []
        marks += [line("tick", row.control, row.control, 2, 18)] if row.control is not None else []
        if row.low is not None and row.high is not None:
            marks.append(line("span", row.low, row.high, 10, 10))
        marks += [line("point", row.rate, row.rate, 10, 10)] if row.rate is not None else []
        lines.append(_bar_line(row.label, "".join(marks), 20, share(row.rate)))
    axis = "".join(f"<span>{part}%</span>" for part in (0, 25, 50, 75, 100))
    scale = f'<div class="barrow scale" aria-hidden="true"><span></span><span class="marks">{axis}</span></div>'
    listed = f'<ul class="bars" aria-label="{escape(words)}">{"".join(lines)}</ul>'
    return Markup(f'<div class="rates">{listed}{scale}</div>')
