"""What the release is still good for."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.reports.chapters.base import Chapter, listing
from shoal.reports.findings import ColumnPicture, CorrelationPair, ReportFindings
from shoal.results import Chart, Exhibit, Grid, Headline, Meaning, Notes, Section
from shoal.results.sections import BarPicture, BarRow, PairPicture, PairRow
from shoal.utility.analysis import Analysis, mean_name
from shoal.wording import figure, percent

_MEASURES = {
    "loss": "how much less a cell says: 0 nothing lost, 1 nothing left",
    "entropy": "the share of all bits that are missing to tell the value of a cell",
    "precision": "the mean height in the hierarchies",
    "discernibility": "the mean share of the table that a record cannot be told from",
    "average_class_size": "records per class, as a share of all records",
    "information_loss": "the mean width of a range, in spreads of its column",
}
_SHARES = (
    "Shares of the records whose value is known. Numbers and dates in bins between round edges; a released range is "
    "spread evenly over what it covers, a set or a named group evenly over its members. Half the sum of all changes is "
    "the part of the records that would have to move to another bar."
)
_JOINED = (
    "A value or bin that fewer than 11 people have is not shown by itself: it is joined with its neighbour or, as 'all "
    "others', with the next value, even where that is a frequent one."
)
_NAMES = {"r": "Pearson's r", "eta": "correlation ratio", "V": "Cramér's V"}
_ASSOCIATIONS = (
    "Two numbers: Pearson's r, -1 to 1. A number and a category: the correlation ratio (eta), 0 to 1. Two categories: "
    "Cramér's V, 0 to 1. A released range counts as its middle, a set or a named group as equal shares over its "
    "members."
)


def utility(found: ReportFindings) -> Chapter | None:
    """Measures of loss, each column before and after, correlations before and after, what an analyst would get."""
    measured = found.utility
    if measured is None:
        return None
    sections: list[Section] = []
    columns, pairs = measured.columns or [], _known(measured.correlations or [])
    if columns:
        worst = max(columns, key=lambda one: one.total_variation)
        sections.append(Headline(
            f"The distribution of {worst.column} changed most: {percent(worst.total_variation)} of its records "
            "would have to move to another bar."
        ))  # fmt: skip
    rows = [(name.replace("_", " "), figure(value), words) for name, words in _MEASURES.items()
            if (value := getattr(measured, name)) is not None]  # fmt: skip
    sections.append(Grid(("measure", "value", "what it says"), rows, title="Measures of loss", wrap=(2,)))
    sections += [Notes([_JOINED]), *(column_exhibit(one) for one in columns)] if columns else []
    sections += [_correlations(pairs)] if pairs else []
    sections += [] if measured.analysis is None else _analyst(measured.analysis)
    return Chapter("utility", "Utility", "What the release is still good for.", sections)


def column_exhibit(one: ColumnPicture) -> Exhibit:
    """The shares of a column's values, before and after."""
    bars = tuple(
        row
        for bar in one.bars
        for row in (BarRow(bar.label, bar.before, "before"), BarRow(bar.label, bar.after, "after"))
    )
    rows = [(bar.label, percent(bar.before), percent(bar.after)) for bar in one.bars]
    meaning = "Counted in the release instead of the original, the shares are the same."
    if one.total_variation:
        meaning = (
            f"Counted in the release instead of the original, {percent(one.total_variation)} of the people fall into "
            "another bar."
        )
    alternative = listing("Shares before and after", rows)
    return Exhibit(
        Chart(BarPicture(tuple(bars), "of the records"), alternative, f"{one.column} before and after"),
        Grid((one.column, "before", "after"), rows),
        meaning,
        _SHARES,
        small=True,
    )


def _known(pairs: Sequence[CorrelationPair]) -> list[tuple[str, PairRow]]:
    """The pairs of which both figures are known, each with the name of its measure."""
    return [
        (_NAMES.get(pair.measure, pair.measure), PairRow(pair.first, pair.second, pair.before, pair.after))
        for pair in pairs
        if pair.before is not None and pair.after is not None
    ]


def _correlations(pairs: list[tuple[str, PairRow]]) -> Exhibit:
    by_change = sorted(pairs, key=lambda pair: -abs(pair[1].after - pair[1].before))
    rows = [
        (f"{pair.first}, {pair.second}", measure, f"{pair.before:.3f}", f"{pair.after:.3f}")
        for measure, pair in by_change
    ]
    measure, most = by_change[0]
    alternative = listing("Correlation before and after", [(row[0], *row[2:]) for row in rows])
    return Exhibit(
        Chart(PairPicture(tuple(pair for _, pair in pairs)), alternative, "Correlations before and after"),
        Grid(("pair of columns", "measure", "before", "after"), rows, 2, wrap=(0,)),
        "Where the two maps look alike, what goes together in people's data still does in the release. The pair that "
        f"changed most is {most.first} and {most.second}: {measure} went from {most.before:.3f} to {most.after:.3f}.",
        _ASSOCIATIONS,
    )


def _analyst(analysis: Analysis) -> list[Section]:
    shown: list[Section] = []
    if analysis.means:
        means = [
            (one.column, mean_name(one.original, one.kind), mean_name(one.released, one.kind)) for one in analysis.means
        ]
        shown.append(Grid(("mean of", "original", "released"), means, title="What an analyst would get"))
    if analysis.largest_correlation_change is not None:
        shown.append(
            Meaning(
                "The map has one figure for each pair of columns. Looked at value by value (each category as a column "
                "of its own), no correlation between two columns changes by more than "
                f"{analysis.largest_correlation_change:.3f}.",
                "Pearson's r of numbers and of the shares of single categories, all pairs of different columns.",
            )
        )
    return shown
