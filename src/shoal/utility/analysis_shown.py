"""What an analyst would get, as sections."""

from __future__ import annotations

import math
from datetime import date, timedelta

from shoal.results import Figure, Figures, Grid, Section
from shoal.utility.analysis import Analysis
from shoal.wording import percent


def analysis_sections(found: Analysis) -> list[Section]:
    """Means, shares, correlations and coefficients, before and after.

    >>> len(analysis_sections(Analysis([], [], 0.25, 0.1, None, None)))
    1
    """
    shown: list[Section] = []
    if found.means:
        rows = [
            (
                entry.column,
                mean_name(entry.original, entry.kind),
                mean_name(entry.released, entry.kind),
                _signed(entry.in_spreads),
            )
            for entry in found.means
        ]
        shown.append(Grid(("mean of", "original", "released", "change in spreads"), rows))
    if found.shares:
        shares = [(entry.column, percent(entry.largest), percent(entry.total_variation)) for entry in found.shares]
        shown.append(Grid(("shares of", "largest change", "total variation"), shares))
    if found.regression:
        coefficients = [
            (entry.column, f"{entry.coefficients:,}", f"{entry.largest_change:.4f}") for entry in found.regression
        ]
        shown.append(Grid(("regression on", "coefficients", "largest change"), coefficients))
    figures = {
        "largest change of a correlation": found.largest_correlation_change,
        "mean change of correlations": found.mean_correlation_change,
        "correlation of coefficients, before and after": found.coefficients_alike,
    }
    known = [Figure(name, f"{value:.4f}") for name, value in figures.items() if value is not None]
    return [*shown, Figures(known)] if known else shown


def mean_name(value: float | None, kind: str) -> str:
    """A mean as people write it: a date as a day.

    >>> mean_name(1705.2, "date"), mean_name(44.55, "number"), mean_name(123456.7, "number"), mean_name(None, "date")
    ('1974-09-02', '44.55', '123,457', 'not known')
    """
    if value is None or not math.isfinite(value):
        return "not known"
    if kind == "date":
        return str(date(1970, 1, 1) + timedelta(days=math.floor(value)))
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:,.4g}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}"
