"""The gauge of a budget: half a circle, drawn on the server; the words beside it say the same."""

from __future__ import annotations

from markupsafe import Markup, escape

_ARC = "M 14 90 A 76 76 0 0 1 166 90"


def gauge(spent: float, middle: str, below: str, words: str) -> Markup:
    """How much of something is spent, between 0 and 1, with what is left in the middle.

    >>> drawn = gauge(0.25, "0.75", "<b>", "a quarter is spent")
    >>> 'stroke-dasharray="25.00 200"' in drawn, "<b>" in drawn, 'aria-label="a quarter is spent"' in drawn
    (True, False, True)
    """
    share = 100 * min(max(spent, 0.0), 1.0)
    used = f'<path class="used" d="{_ARC}" pathLength="100" stroke-dasharray="{share:.2f} 200"/>' if share else ""
    return Markup(
        f'<svg class="gauge" viewBox="0 0 180 104" role="img" aria-label="{escape(words)}">'
        f'<path class="left" d="{_ARC}"/>{used}'
        f'<text class="middle" x="90" y="76" text-anchor="middle">{escape(middle)}</text>'
        f'<text x="90" y="97" text-anchor="middle">{escape(below)}</text></svg>'
    )
