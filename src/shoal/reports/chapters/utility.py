"""What the release is still good for."""

from __future__ import annotations

from typing import Any

from shoal.reports.chapters.base import Chapter, JsonFindings, Meaning, Part, ReportExhibit, figure, listing
from shoal.results import Chart, Grid, Headline, Notes
from shoal.utility.analysis import mean_name
from shoal.wording import percent

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


def utility(found: JsonFindings) -> Chapter | None:
    """Measures of loss, each column before and after, correlations before and after, what an analyst would get."""
    measured = found["utility"]
    if measured is None:
        return None
    sections: list[Part] = []
    columns, pairs = measured.get("columns") or [], _known(measured.get("correlations") or [])
    if columns:
        worst = max(columns, key=lambda one: one["total_variation"])
        sections.append(Headline(
            f"The distribution of {worst['column']} changed most: {percent(worst['total_variation'])} of its records "
            "would have to move to another bar."
        ))  # fmt: skip
    rows = [(name.replace("_", " "), figure(measured.get(name)), words) for name, words in _MEASURES.items()
            if measured.get(name) is not None]  # fmt: skip
    sections.append(Grid(("measure", "value", "what it says"), rows, title="Measures of loss", wrap=(2,)))
    sections += [Notes([_JOINED]), *(_column(one) for one in columns)] if columns else []
    sections += [_correlations(pairs)] if pairs else []
    sections += _analyst(measured.get("analysis") or {})
    return Chapter("utility", "Utility", "What the release is still good for.", sections)


def _column(one: dict[str, Any]) -> ReportExhibit:
    chart = [{"label": bar["label"], "when": when, "share": bar[when]} for bar in one["bars"]
             for when in ("before", "after")]  # fmt: skip
    rows = [(bar["label"], percent(bar["before"]), percent(bar["after"])) for bar in one["bars"]]
    return ReportExhibit(
        Chart("shares", {"rows": chart, "title": "of the records"}, listing("Shares before and after", rows),
              f"{one['column']} before and after"),
        Grid((one["column"], "before", "after"), rows),
        f"Counted in the release instead of the original, {percent(one['total_variation'])} of the people fall into "
        "another bar."
        if one["total_variation"]
        else "Counted in the release instead of the original, the shares are the same.",
        _SHARES,
        small=True,
    )  # fmt: skip


def _known(pairs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [pair for pair in pairs if pair["before"] is not None and pair["after"] is not None]


def _correlations(pairs: list[dict[str, Any]]) -> ReportExhibit:
    by_change = sorted(pairs, key=lambda pair: -abs(pair["after"] - pair["before"]))
    rows = [
        (
            f"{pair['first']}, {pair['second']}",
            _NAMES.get(pair["measure"], pair["measure"]),
            *(f"{pair[when]:.3f}" for when in ("before", "after")),
        )
        for pair in by_change
    ]
    most = by_change[0]
    return ReportExhibit(
        Chart("pairs", {"rows": pairs}, listing("Correlation before and after", [(row[0], *row[2:]) for row in rows]),
              "Correlations before and after"),
        Grid(("pair of columns", "measure", "before", "after"), rows, 2, wrap=(0,)),
        "Where the two maps look alike, what goes together in people's data still does in the release. The pair that "
        f"changed most is {most['first']} and {most['second']}: {_NAMES.get(most['measure'], most['measure'])} went "
        f"from {most['before']:.3f} to {most['after']:.3f}.",
        _ASSOCIATIONS,
    )  # fmt: skip


def _analyst(analysis: JsonFindings) -> list[Part]:
    shown: list[Part] = []
    if analysis.get("means"):
        means = [
            (one["column"], *(mean_name(one[side], one.get("kind", "number")) for side in ("original", "released")))
            for one in analysis["means"]
        ]
        shown.append(Grid(("mean of", "original", "released"), means, title="What an analyst would get"))
    if analysis.get("largest_correlation_change") is not None:
        change = analysis["largest_correlation_change"]
        shown.append(
            Meaning(
                "The map has one figure for each pair of columns. Looked at value by value (each category as a column "
                f"of its own), no correlation between two columns changes by more than {change:.3f}.",
                "Pearson's r of numbers and of the shares of single categories, all pairs of different columns.",
            )
        )
    return shown
