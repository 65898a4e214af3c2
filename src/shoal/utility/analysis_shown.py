"""What an analyst would get, as sections."""

from __future__ import annotations

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
            (entry.column, _figure(entry.original), _figure(entry.released), _signed(entry.in_spreads))
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


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.6g}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}"
