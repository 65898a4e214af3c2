"""Dates read from a column in any of the usual ways of writing, without guessing between day and month."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from shoal.identifiers.column import ColumnEvidence, Mask
from shoal.storage.dates import Written, whole_dates

_CENTURY = r"(?:1[89]|20)\d{2}"
_YEAR = rf"({_CENTURY})"
# what every whole date starts as: not worth to be taken apart without
_LIKE_DATES = (
    r"^\d{1,4}[-/. ]\d{1,2}[-/. ]\d\d|^\d{8}|^\d{1,2}(?:\W|st|nd|rd|th|de){0,6}[^\W\d_]{3}.*\d\d"
    r"|^[^\W\d_]{3,12}\W+\d{1,2}\D+\d{4}"
)
# Less than a day, in two orders where there are two; the year is the first group that is there.
_PARTIAL = {
    "year-month": (rf"^{_YEAR}[-/.](?:0[1-9]|1[0-2])$", rf"^(?:0[1-9]|1[0-2])[-/.]{_YEAR}$"),
    "week": (rf"^{_YEAR}-?[Ww]\d{{2}}(?:-?[1-7])?$",),
    "compact-year-month": (rf"^{_YEAR}(?:0[1-9]|1[0-2])$",),
}


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
    texts = pl.Series(column.text, dtype=pl.String)
    written = whole_dates(texts) if column.matches(_LIKE_DATES).any() else None
    masks = {rule: np.logical_or.reduce([column.matches(one) for one in forms]) for rule, forms in _PARTIAL.items()}
    masks = masks if written is None else _whole(written) | masks
    rule = max(masks, key=lambda rule: column.share(masks[rule]))
    share = column.share(masks[rule])
    if share < 0.1:
        return None
    years = _years(texts, _PARTIAL[rule]) if written is None or rule in _PARTIAL else _whole_years(written)
    both = ("day-month-year", "month-day-year")
    # where every date can be read both ways, the rule says so
    loose = rule in both and all(column.share(masks[other]) >= share for other in both)
    return ColumnDates("day-or-month-first" if loose else rule, masks[rule] & np.isfinite(years), years)


def _whole(written: Written) -> dict[str, Mask]:
    """Which texts are whole dates, by their way of writing; parts that a calendar cannot have are none."""
    first, second, third = (
        written.parts[part].cast(pl.Int64, strict=False).fill_null(0).to_numpy() for part in ("p", "q", "r")
    )
    form, day, month = written.form, (1, 31), (1, 12)

    def within(numbers: npt.NDArray[np.int64], limits: tuple[int, int]) -> Mask:
        inside: Mask = (numbers >= limits[0]) & (numbers <= limits[1])
        return inside

    numeric = np.isin(form, (1, 2))
    return {
        "iso": (form == 0) & within(second, month) & within(third, day),
        "day-month-year": numeric & within(first, day) & within(second, month),
        "month-day-year": numeric & within(first, month) & within(second, day),
        "month-name": np.isin(form, (3, 4, 5)),
        "compact": form == 6,
        "compact-day-first": (form == 7) & within(first, day) & within(second, month),
    }


def _whole_years(written: Written) -> npt.NDArray[np.float64]:
    """Four-digit years; two digits above 29 are of the last century."""
    year_first = pl.Series(np.isin(written.form, (0, 6)))
    texts = written.parts["p"].zip_with(year_first, written.parts["r"])
    years = texts.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    return np.where(years < 30, years + 2000, np.where(years < 100, years + 1900, years))


def _years(texts: pl.Series, patterns: tuple[str, ...]) -> npt.NDArray[np.float64]:
    """The year that one of some patterns takes out of each text."""
    found = pl.select(pl.coalesce(*(pl.lit(texts.str.extract(pattern, 1)) for pattern in patterns))).to_series()
    return found.cast(pl.Float64).fill_null(float("nan")).to_numpy()
