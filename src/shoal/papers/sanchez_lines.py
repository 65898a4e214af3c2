"""Lines that several exhibits of Sánchez et al. need: a printed number or sentence beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from shoal.anonymization.transforms.coarsen import CutOver
from shoal.papers import sanchez_printed as printed
from shoal.papers.results import Line, quoted

Found = dict[str, Any]


def other_table(found: Found) -> str:
    """Why a number of the authors' table is not ours."""
    if found["records"] != printed.ROWS:
        return f"measured on {found['records']:,} synthetic records, not on the authors' {printed.ROWS:,}"
    return "measured on a synthetic table, not on the authors'"


def near(found: Found, what: str, ours: float | None, value: float, within: float, *texts: str) -> Line:
    """A number of the paper beside ours, `texts` as both are written: equal up to what rounding of the print allows."""
    shown, text = texts
    if ours is None:
        return Line(what, shown, text, None, "undefined at this size")
    return Line(what, shown, text, abs(ours - value) <= within, other_table(found))


def claim(what: str, ours: str, sentence: str, holds: bool | None, otherwise: str) -> Line:
    """A sentence of the paper, verbatim, and whether what was measured bears it out."""
    return Line(what, ours, quoted(sentence), holds, otherwise)


def labelled(values: Mapping[CutOver, str]) -> str:
    """Figures by what the labels of coarsening are.

    >>> labelled({"range": "0.626", "labels": "0.449"})
    '0.626 (range), 0.449 (labels)'
    """
    return ", ".join(f"{value} ({mode})" for mode, value in values.items())
