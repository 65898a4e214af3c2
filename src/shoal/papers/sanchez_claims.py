"""The claims of Sánchez et al., each with the value that was measured."""

from __future__ import annotations

from typing import Any

from shoal.papers import sanchez_printed as printed
from shoal.reports.exhibit import Exhibit, Line, share
from shoal.wording import in_words

Found = dict[str, Any]


def near(found: Found, what: str, ours: float, value: float, within: float, text: str, shown: str) -> Line:
    """A number of the text beside ours: they match within what rounding of the print and another table allow."""
    if abs(ours - value) <= within:
        return Line(what, shown, text, True)
    size = f"{found['records']:,} rows instead of {printed.ROWS:,}"
    other = size if found["records"] != printed.ROWS else "the generated table is another one"
    return Line(what, shown, text, False, other)


def claims(found: Found) -> Exhibit:
    """What the text promises, held against the table."""
    s2, s4 = found["s2"], found["s4"]
    worst = max(figures["uniques"] for release in (s2, s4) for figures in release.values())
    lines = [Line("k-anonymity leaves no unique", f"{worst:,} uniques", "none", worst == 0, "a fault")]
    for k, figures in s2.items():
        safe, changed = figures["safe_records"], figures["changed_safe_records"]
        lines.append(
            Line(
                f"records that are already {k}-anonymous stay untouched",
                f"{changed:,} of {safe:,} changed ({share(changed / safe if safe else None, 1)})",
                "none changed",
                changed == 0,
                "S2 sorts all records and cuts every k: a class is cut wherever the count falls",
            )
        )
    over = {k: figures for k, figures in s4.items() if figures["largest_distance_values"] > figures["bound"]}
    lines.append(
        Line(
            "S4 is t-close by Eq 6",
            f"k = {in_words(list(over))} over the bound" if over else "within the bound here",
            "for every k",
            not over,
            "no guarantee: it needs distinct values and a k that divides n. Report what was measured (Fig S7)",
        )
    )
    left = {mode: found["s3"][mode]["2"]["uniques"] for mode in found["s3"]}
    lines.append(
        Line(
            "coarsening to two intervals per attribute leaves uniques",
            " and ".join(f"{count:,} ({mode})" for mode, count in left.items()),
            f"{printed.UNIQUES_AT_RESOLUTION_2}",
            False,
            "the claim holds; the number hangs on a few records of another table",
        )
    )
    lines.append(
        Line(
            "unmasked records on average",
            "–",
            f"{printed.UNMASKED_RECORDS:,}",
            False,
            "it is of the original file, whose masked cells the generated table does not have",
        )
    )
    return Exhibit(
        "claims",
        "Claims, measured",
        "What the text promises and what comes out. A claim that does not hold is no fault of the method's "
        "promise of k: it is "
        "what a reader must not rely on.",
        lines=lines,
    )
