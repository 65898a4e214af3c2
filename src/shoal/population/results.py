"""What was found about the population behind a sample: plain numbers, the same names as in JSON and in the docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from shoal.results import Bar, Cell, Exhibit, Figure, Figures, Grid, Headline, Notes, Section, keyed, where_known
from shoal.results.sections import BarPicture, BarRow, Chart
from shoal.wording import counted, in_words, percent

# rows of a grid that people still read
_SHOWN = 8


@dataclass(frozen=True)
class Estimate:
    """What one estimator says: population uniques, their share, and the chance that a match with a unique is right.

    `low` to `high` is a 95% interval of `uniqueness`, of `match_correct` where an estimator gives that alone. An
    estimator that fails has the status `no estimate` and the reason, and no figure.
    """

    estimator: str
    uniques: float | None
    uniqueness: float | None
    match_correct: float | None
    expected_correct: float | None
    low: float | None
    high: float | None
    status: Literal["ok", "no estimate"]
    reason: str | None
    assumes: str


@dataclass(frozen=True)
class Prediction:
    """What an estimator says of the sample's own uniqueness, which is `known`, when it sees a `share` of it only, so
    many `records`."""

    estimator: str
    share: float
    records: int
    known: float
    predicted: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class HouseholdRisk:
    """The risk of records through their household: that anybody of it is re-identified."""

    expected_reidentifications: float
    share: float = keyed("global")


@dataclass(frozen=True)
class GlobalLimit:
    """Records whose risk is above `risk` must be protected for the global risk to stay within `limit`."""

    limit: float
    risk: float
    records: int


@dataclass(frozen=True)
class IndividualRisk:
    """The risk of each record by its weight: the sum over all records, its share of the records, the highest."""

    expected_reidentifications: float
    highest: float
    people: float
    approximate: bool
    share: float = keyed("global")
    household: HouseholdRisk | None = where_known()
    limit: GlobalLimit | None = where_known()


@dataclass(frozen=True)
class ColumnContribution:
    """How much of all scores comes from minimal sample uniques that hold a column."""

    column: str
    share: float


@dataclass(frozen=True)
class PatternContribution:
    """The records that a set of columns singles out while no part of it does, and its share of all scores."""

    columns: list[str]
    records: int
    share: float


@dataclass(frozen=True)
class DisSuda:
    """The chance that a match with a special unique is right: the highest and the average over special uniques."""

    highest: float
    average: float


@dataclass(frozen=True)
class SpecialUniqueFigures:
    """Special uniques: records with a score, the sum and the highest of the scores, and where they come from.

    `size` is the largest number of columns that was searched; `first` are the rows with the highest scores, counted
    from 0.
    """

    records: int
    sum: float
    max: float
    size: int
    contributions: list[ColumnContribution]
    patterns: list[PatternContribution]
    first: list[int]
    dis_suda: DisSuda | None


def population_sections(
    estimates: Sequence[Estimate] | None,
    chosen: str | None,
    chosen_reason: str | None,
    predictions: Sequence[Prediction] | None = None,
) -> list[Section]:
    """The chosen estimate in words, the estimates beside each other, and how well they predict the sample itself."""
    if not estimates:
        return []
    rows = [
        (
            Cell(entry.estimator, "strong" if entry.estimator == chosen else "plain"),
            _amount(entry.uniques),
            _share(entry.uniqueness),
            _share(entry.match_correct),
            _amount(entry.expected_correct),
            "–" if entry.low is None or entry.high is None else f"{_share(entry.low)} to {_share(entry.high)}",
        )
        for entry in estimates
    ]
    heads = ("estimator", "population uniques", "share", "match is right", "right matches", "95% interval")
    notes = [f"{entry.estimator}: no estimate, {entry.reason}" for entry in estimates if entry.status != "ok"]
    notes += [f"{entry.estimator} assumes {entry.assumes}" for entry in estimates if entry.status == "ok"]
    withheld = chosen_reason and all(entry.reason != chosen_reason for entry in estimates)
    tone: Literal["plain", "warning"] = "plain" if chosen else "warning"
    because = [f"{chosen}: {chosen_reason}"] if chosen else [chosen_reason] if withheld and chosen_reason else []
    because += [f"{chosen}: {entry.reason}" for entry in estimates if entry.estimator == chosen and entry.reason]
    return [
        Headline(_population_words(estimates, chosen), tone),
        Grid(heads, rows, title="In the population"),
        *_prediction_sections(predictions or (), chosen),
        Notes([*because, *notes]),
    ]


def _prediction_sections(predictions: Sequence[Prediction], chosen: str | None) -> list[Section]:
    """What the chosen estimator says of the sample from parts of it, beside what is known."""
    own = [entry for entry in predictions if entry.estimator == chosen]
    if not own:
        return []
    rows = [
        (
            f"{entry.records:,}",
            _share(entry.predicted),
            "–" if entry.low is None or entry.high is None else f"{_share(entry.low)} to {_share(entry.high)}",
            _share(entry.known),
        )
        for entry in own
    ]
    table = Grid(("records of the part", "predicted share of uniques", "95% interval", "known"), rows)
    bars = [
        BarRow(f"from {entry.records:,} records", value, kind)
        for entry in own
        for value, kind in ((entry.predicted or 0.0, "predicted"), (entry.known, "known"))
    ]
    words = "; ".join(f"from {row[0]} records {row[1]} are predicted, {row[3]} are known" for row in rows)
    title = f"How well {chosen} predicts the sample"
    picture = Chart(BarPicture(tuple(bars), "unique in the sample"), words, title)
    meaning = (
        "The estimator sees a part of the sample and says how many records of the whole sample are unique, which is "
        "known. What it misses by here, it may miss by in the population, too; the interval includes it."
    )
    return [Exhibit(picture, table, meaning, small=True)]


def _population_words(estimates: Sequence[Estimate], chosen: str | None) -> str:
    best = next((entry for entry in estimates if entry.estimator == chosen), None)
    if best is None:
        return "No estimator gives an estimate of the population that can be relied on."
    if best.uniqueness is None:
        return f"A match with a sample unique is right with a chance of {_share(best.match_correct)}."
    words = f"About {_share(best.uniqueness)} of the population are unique on these columns"
    if best.low is not None and best.high is not None:
        words += f" (95% interval {_share(best.low)} to {_share(best.high)})"
    if best.match_correct is None:
        return f"{words}."
    return f"{words}; a match with a sample unique is right with a chance of {_share(best.match_correct)}."


def individual_sections(found: IndividualRisk | None) -> list[Section]:
    """Expected re-identifications first, then how they come about."""
    if found is None:
        return []
    figures = [
        Figure("expected re-identifications", _amount(found.expected_reidentifications)),
        Figure("global risk (share of the records)", _small(found.share)),
        Figure("highest individual risk", _small(found.highest)),
        Figure("people that the records stand for", f"{found.people:,.0f}"),
    ]
    if found.household is not None:
        figures += [
            Figure(
                "expected re-identifications through households", _amount(found.household.expected_reidentifications)
            ),
            Figure("global risk through households", _small(found.household.share)),
        ]
    notes = [] if found.limit is None else [_limit_words(found.limit)]
    if found.approximate:
        notes.append("individual risk by sdcMicro's approximation p / (f - (1 - p)) for classes of three and more")
    return [Figures(figures, title="Individual risk, by weight"), Notes(notes)]


def _limit_words(limit: GlobalLimit) -> str:
    if not limit.records:
        return f"the global risk keeps the limit {_small(limit.limit)}"
    over = f"{counted(limit.records, 'record')} over an individual risk of {_small(limit.risk)}"
    return f"to keep a global risk of {_small(limit.limit)}, protect the {over}"


def special_sections(found: SpecialUniqueFigures | None) -> list[Section]:
    """Where scores come from: columns, then sets of columns."""
    if found is None:
        return []
    figures = [
        Figure("special uniques", f"{found.records:,}"),
        Figure("sum of scores", f"{found.sum:,.0f}"),
        Figure("highest score", f"{found.max:,.0f}"),
    ]
    if found.dis_suda is not None:
        figures.append(Figure("highest chance that a match is right", _share(found.dis_suda.highest)))
    columns = [(entry.column, percent(entry.share), Bar(entry.share)) for entry in found.contributions]
    patterns = [
        (in_words(entry.columns), f"{entry.records:,}", percent(entry.share)) for entry in found.patterns[:_SHOWN]
    ]
    sections: list[Section] = [Figures(figures, title=f"Special uniques of up to {counted(found.size, 'column')}")]
    if found.records:
        sections.append(Grid(("column", "part of all scores", ""), columns))
        sections.append(Grid(("columns that single out", "records", "part of all scores"), patterns, wrap=(0,)))
        first = ", ".join(str(row) for row in found.first[:_SHOWN])
        sections.append(Notes([f"rows to look at first, counted from 0: {first}"]))
    return sections


def _amount(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _small(value: float) -> str:
    return f"{value:.4g}"


def _share(value: float | None) -> str:
    if value is not None and 0 < value < 0.001:
        return f"{100 * value:.2g}%"
    return "–" if value is None else percent(value)
