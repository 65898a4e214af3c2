"""Dates read from a column in any of the usual ways of writing, without guessing between day and month."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.storage.dates import MONTH_NAMES

_CLOCK = r"([T\s]\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*(?i:[ap]m|z|[+-]\d{2}:?\d{2})?)?"
_DAY, _MONTH = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])"
_MONTH_NAME = rf"{MONTH_NAMES}\.?"
_CENTURY = r"(1[89]|20)\d{2}"
_NUMERIC_YEAR = r"^\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})"
# Rule, pattern, and the pattern that takes the year out of it.
_FORMS = (
    ("iso", rf"^\d{{4}}[-/.]{_MONTH}[-/.]{_DAY}{_CLOCK}$", r"^(\d{4})"),
    ("day-month-year", rf"^{_DAY}[./-]{_MONTH}[./-](\d{{2}}|\d{{4}}){_CLOCK}$", _NUMERIC_YEAR),
    ("month-day-year", rf"^{_MONTH}[./-]{_DAY}[./-](\d{{2}}|\d{{4}}){_CLOCK}$", _NUMERIC_YEAR),
    (
        "month-name",
        rf"^{_DAY}(\.|st|nd|rd|th)?[\s-]+(de\s+)?{_MONTH_NAME}[,\s-]+(de\s+)?(\d{{4}}|\d{{2}}){_CLOCK}$"
        rf"|^{_MONTH_NAME}\s+{_DAY}(st|nd|rd|th)?,?\s+\d{{4}}{_CLOCK}$",
        r".*[\s,-](\d{4}|\d{2})(?:[T\s]|$)",
    ),
    ("compact", rf"^{_CENTURY}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])$", r"^(\d{4})"),
    ("year-month", rf"^{_CENTURY}[-/.](0[1-9]|1[0-2])$|^(0[1-9]|1[0-2])[-/.]{_CENTURY}$", rf"({_CENTURY})"),
    ("week", rf"^{_CENTURY}-?[Ww]\d{{2}}(-?[1-7])?$", r"^(\d{4})"),
    ("compact-day-first", rf"^(0[1-9]|[12]\d|3[01])(0[1-9]|1[0-2]){_CENTURY}$", r"(\d{4})$"),
    ("compact-year-month", rf"^{_CENTURY}(0[1-9]|1[0-2])$", r"^(\d{4})"),
)
_BOTH = ("day-month-year", "month-day-year")


class ColumnDates(NamedTuple):
    """How the dates of a column are written, which sampled values are dates, and their years."""

    rule: str
    mask: Mask
    years: npt.NDArray[np.float64]

    def spread(self, column: ColumnEvidence) -> tuple[float, float]:
        """The years between which nine tenths of the records lie."""
        years, weights = self.years[self.mask], column.weights[self.mask]
        order = np.argsort(years, kind="stable")
        reached = np.cumsum(weights[order]) / weights.sum()
        low, high = np.searchsorted(reached, [0.05, 0.95])
        return float(years[order][low]), float(years[order][min(high, len(order) - 1)])


def read_dates(column: ColumnEvidence) -> ColumnDates | None:
    """The dates of a column, or None where fewer than a tenth of the records hold one."""
    if column.dtype in (pl.Date, pl.Datetime):
        years = column.values.dt.year().cast(pl.Float64).to_numpy()
        rule = "date" if column.dtype == pl.Date else "timestamp"
        return ColumnDates(rule, np.ones(len(years), dtype=bool), years) if len(years) else None
    if column.numbers is not None and not column.whole:
        return None
    best = max(_FORMS, key=lambda form: column.share(column.matches(form[1])))
    mask = column.matches(best[1])
    if column.share(mask) < 0.1:
        return None
    years = _years(column.text, best[2])
    return ColumnDates(_rule(column, best[0], mask), mask & np.isfinite(years), years)


def _rule(column: ColumnEvidence, rule: str, mask: Mask) -> str:
    """Where every date can be read both ways, the rule says so."""
    other = {form[0]: form[1] for form in _FORMS if form[0] in _BOTH}
    if rule in other and all(column.share(column.matches(p)) >= column.share(mask) for p in other.values()):
        return "day-or-month-first"
    return rule


def _years(text: list[str], pattern: str) -> npt.NDArray[np.float64]:
    """Four-digit years; two digits above 29 are of the last century."""
    found = pl.Series(text, dtype=pl.String).str.extract(pattern, 1).cast(pl.Float64, strict=False)
    years = found.fill_null(float("nan")).to_numpy()
    return np.where(years < 30, years + 2000, np.where(years < 100, years + 1900, years))
