"""What a sample says about its population, from the rows of the table: individual risk and special uniques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.exposure.journalist import Sample, SampleFigures
from shoal.policy.judgement.shown_classes import Shown, shown_in
from shoal.policy.survey import population_size, size_notes
from shoal.population.individual import approximate_risk, expected_risk, household_risk, threshold_for
from shoal.population.results import (
    ColumnContribution,
    DisSuda,
    Estimate,
    GlobalLimit,
    HouseholdRisk,
    IndividualRisk,
    PatternContribution,
    SpecialUniqueFigures,
)
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, first_row_of_each_class
from shoal.storage.rows import Rows, record_weights, weight_notes
from shoal.vocabulary import Generalized, NullRule

if TYPE_CHECKING:
    from shoal.exposure.measure import ClassHistogram
    from shoal.population.base import SampleClasses
    from shoal.population.choice import Chosen
    from shoal.population.suda import SpecialUniques


# rows to look at first, and column sets that are named
_FIRST = 20
_PATTERNS = 50


@dataclass(frozen=True)
class SampleRows:
    """The rows of a table that are counted, one by one: `places` says where they stand in the table."""

    table: Table
    places: Array
    shown: Shown
    # all rows of the table, also those that are not counted
    total: int

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.shown.rows.columns]


def sample_rows(
    table: Table,
    names: Sequence[str],
    measured: Sequence[str],
    count: str | None,
    reading: tuple[NullRule, Generalized],
) -> SampleRows:
    """The rows that `risk` counts: not those of a count of zero, nor under `drop` those with a missing value."""
    rule, generalized = reading
    keep = np.ones(table.rows, bool)
    if rule == "drop":
        keep &= ~np.logical_or.reduce([column.is_null() for column in table.select(measured)])
    if count is not None:
        counts = table[count].values.cast(pl.Float64).to_numpy()[table[count].codes]
        keep &= counts > 0
    left = table if keep.all() else table.take(keep)
    shown = shown_in(Rows.of(left, names, count), rule, generalized=generalized)
    return SampleRows(left, np.flatnonzero(keep), shown, table.rows)


@dataclass(frozen=True)
class Weighted:
    """The records that stand in a class, each with its weight, its risk and that of its household."""

    weights: Array
    risk: Array
    household_risk: Array | None
    notes: tuple[str, ...]


def weighted(rows: SampleRows, sample: Sample) -> Weighted | None:
    """The risk of each row by its weight; NaN where a row stands in no class.

    f records of a class stand for F^ = sum of their weights people; with wildcards, those that match, of which one
    with missing values counts as `wildcard_alpha` of one, in f and in F^.
    """
    if sample.weight is None:
        return None
    table, shown = rows.table, rows.shown
    weights = record_weights(table[sample.weight])
    household = None if sample.household is None else _whole(table[sample.household])
    notes = weight_notes(sample.weight, weights, household)
    classes = shown.class_of_row
    kept = classes >= 0
    alpha = sample.wildcard_alpha
    summed = np.bincount(classes[kept], weights[kept], len(shown.members))
    sizes, people = shown.matched(shown.members, alpha), shown.matched(summed, alpha)
    risks = (approximate_risk if sample.approximate else expected_risk)(sizes, people)
    if under := int(np.count_nonzero(people < sizes)):
        where = "1 class" if under == 1 else f"{under:,} classes"
        notes.append(f"in {where} the weights sum to less than the records: they count as all there are")
    risk = np.full(len(classes), np.nan)
    risk[kept] = risks[classes[kept]]
    through = None if household is None else household_risk(np.where(kept, risk, 0.0), household)
    return Weighted(weights, risk, through, tuple(notes))


def _whole(household: Column) -> Column:
    if household.nulls:
        raise InputError(
            f"Household column '{household.name}' is empty in {household.nulls:,} rows.",
            "Fill it: somebody who lives alone has a household too.",
        )
    return household


def individual_risk(found: Weighted, sample: Sample) -> IndividualRisk | None:
    """The figures over all records that stand in a class; None where none does."""
    kept = ~np.isnan(found.risk)
    risk, count = found.risk[kept], int(np.count_nonzero(kept))
    if not count:
        return None
    expected = float(risk.sum())
    household = limit = None
    if found.household_risk is not None:
        total = float(found.household_risk[kept].sum())
        household = HouseholdRisk(total, total / count)
    if sample.global_limit is not None:
        threshold = threshold_for(risk, float(sample.global_limit))
        limit = GlobalLimit(float(sample.global_limit), threshold.risk, threshold.records)
    return IndividualRisk(
        expected_reidentifications=expected,
        share=expected / count,
        highest=float(risk.max()),
        people=float(found.weights[kept].sum()),
        approximate=sample.approximate,
        household=household,
        limit=limit,
    )


@dataclass(frozen=True)
class Special:
    """The special uniques with their scores, row by row."""

    figures: SpecialUniqueFigures
    scores: Array
    dis_suda: Array | None


def special(rows: SampleRows, sample: Sample, share: float | None) -> Special | None:
    """Special uniques, and with a known share of the population the chance that a match with one is right."""
    if sample.suda is False:
        return None
    shown = rows.shown
    if shown.matching:
        raise InputError(
            Message("Special uniques ({suda}) are searched by equal values: a missing value cannot match everything."),
            Message("Use the null rule value or drop ({null_rule})."),
        )
    kept = np.flatnonzero(~shown.suppressed)
    first = kept[first_row_of_each_class(shown.class_of_row[kept], len(shown.members))]
    columns = [Coded(column.codes[first], column.cardinality) for column in shown.columns]
    from shoal.population.suda import dis_suda, special_uniques

    suda = special_uniques(columns, shown.members, None if sample.suda is True else sample.suda)
    chances = None
    if share is not None:
        uniques, pairs = (int(np.count_nonzero(shown.members == size)) for size in (1, 2))
        chances = dis_suda(suda.scores, uniques, 2 * pairs, share, len(columns))
    order = np.argsort(-suda.scores, kind="stable")[: min(_FIRST, int(np.count_nonzero(suda.scores)))]
    figures = _special_figures(suda, rows.names, rows.places[first[order]], chances)
    of_row = np.where(shown.class_of_row >= 0, shown.class_of_row, len(suda.scores))
    return Special(
        figures, np.append(suda.scores, 0.0)[of_row], None if chances is None else np.append(chances, 0.0)[of_row]
    )


def _special_figures(
    found: SpecialUniques, names: Sequence[str], first: Array, chances: Array | None
) -> SpecialUniqueFigures:
    special = found.scores > 0
    patterns = [
        PatternContribution([names[place] for place in members], records, found.share_of_set(members, records))
        for members, records in found.sets
    ]
    return SpecialUniqueFigures(
        records=int(np.count_nonzero(special)),
        sum=float(found.total),
        max=float(found.scores.max(initial=0.0)),
        size=found.size,
        contributions=[ColumnContribution(name, found.share_of_column(place)) for place, name in enumerate(names)],
        patterns=sorted(patterns, key=lambda entry: -entry.share)[:_PATTERNS],
        first=[int(row) for row in first],
        dis_suda=None
        if chances is None or not special.any()
        else DisSuda(float(chances[special].max()), float(chances[special].mean())),
    )


def per_record(rows: SampleRows, risk: Weighted | None, unique: Special | None, chosen: Chosen | None) -> pl.DataFrame:
    """What is known of each row of the table; null where a row is not counted."""
    columns: dict[str, Array | None] = {
        "risk": None if risk is None else risk.risk,
        "household_risk": None if risk is None else risk.household_risk,
        "suda_score": None if unique is None else unique.scores,
        "dis_suda": None if unique is None else unique.dis_suda,
        "match_correct": None if chosen is None else _chances(rows, chosen),
    }
    series_by_name = {}
    for name, values in columns.items():
        if values is not None:
            whole = np.full(rows.total, np.nan)
            whole[rows.places] = values
            series_by_name[name] = pl.Series(name, whole).fill_nan(None)
    return pl.DataFrame(series_by_name)


def _chances(rows: SampleRows, chosen: Chosen) -> Array | None:
    """The chance that a match is right for each row that is unique, by the chosen estimator; NaN for the others."""
    shown = rows.shown
    best = next((entry for entry in chosen.estimates if entry.estimator == chosen.name), None)
    if best is None or best.match_correct is None:
        return None
    of_class = np.where(shown.sizes == 1, best.match_correct, np.nan)
    if chosen.chances is not None and len(chosen.chances) == len(of_class):
        of_class = chosen.chances
    return np.asarray(np.append(of_class, np.nan)[shown.class_of_row])


def sample_figures(sample: Sample, rows: SampleRows | None, cells: ClassHistogram, tuples: Rows) -> SampleFigures:
    """All that is asked about the population behind a sample: `cells` of its classes, `tuples` that it has."""
    records = cells.measured
    risk = None if rows is None else weighted(rows, sample)
    weights = None if risk is None else risk.weights
    size, sampling = sample.population_size, None if sample.sampling is None else float(sample.sampling)
    # suppressed records stand for people too: the share is of those that are measured, above and below the line
    kept = None if risk is None else risk.weights[~np.isnan(risk.risk)]
    people = population_size(records, kept, size, sampling)
    if people is not None and size is not None:
        suppressed = cells.suppressed_rows if tuples.person is None else cells.suppressed_persons
        people = max(people * records / max(records + suppressed, 1), records)
    estimated = _estimated(sample, cells, tuples, people, rows, weights)
    unique = None if rows is None else special(rows, sample, records / people if people else None)
    individual = None if risk is None else individual_risk(risk, sample)
    unmeasured = ["no record stands in a class: individual risk is not measured"] if risk and not individual else []
    # whether an estimate of the population leaves households out, which it was told of
    unused_household = list[str]()
    estimates = [] if estimated is None else estimated.estimates
    together = any(found.assumes.endswith(_TOGETHER) for found in estimates)
    if sample.household is not None and estimated is not None and not together:
        unused_household = ["the estimate of the population does not know that households are drawn together"]
    return SampleFigures(
        individual=individual,
        suda=None if unique is None else unique.figures,
        population=None if estimated is None else estimated.estimates,
        chosen=None if estimated is None else estimated.name,
        chosen_reason=None if estimated is None else estimated.reason,
        predictions=None if estimated is None else estimated.predictions,
        per_record=None if rows is None else per_record(rows, risk, unique, estimated),
        notes=(
            *(() if risk is None else (*unmeasured, *risk.notes, *size_notes(records, weights, size, sampling))),
            *unused_household,
        ),
    )


def _estimated(
    sample: Sample,
    cells: ClassHistogram,
    tuples: Rows,
    people: float | None,
    rows: SampleRows | None,
    weights: Array | None,
) -> Chosen | None:
    """What estimators say, where they are asked for: by name, or by a size of the population."""
    if sample.estimate is None and sample.population_size is None and sample.sampling is None:
        return None
    if people is None:
        raise InputError(
            "Nothing says how large the population is.",
            Message("Give {population_size}, {sampling}, or a {weight} column."),
        )
    from shoal.population.base import SampleClasses
    from shoal.population.choice import estimate_population

    classes = SampleClasses(cells.sizes, cells.classes, people)
    if tuples.person is None and cells.readings is None:  # classes are tuples: a model may look into them
        codes = [Coded(column.codes, column.cardinality) for column in tuples.columns]
        counted = CountTable.of({str(place): column for place, column in enumerate(codes)}, tuples.weights)
        classes = replace(classes, tuples=list(counted.tuples.values()), counts=counted.counts)
        if rows is not None and not rows.shown.matching and len(rows.shown.sizes) == len(counted):
            if weights is not None:
                # the people that a record of each tuple stands for, scaled to all of them
                summed = rows.shown.sum_of(weights)
                each = np.maximum(summed / counted.counts * (people / summed.sum()), 1.0)
                classes = replace(classes, weights=each)
            if sample.household is not None and sample.estimate in (None, "all", "network"):
                return _through_households(classes, rows, sample.household, sample.estimate)
    return estimate_population(classes, sample.estimate)


def _through_households(persons: SampleClasses, rows: SampleRows, name: str, wanted: str | None) -> Chosen:
    """The estimate where the members of a household are drawn together.

    Members who share a combination are found together whatever the share that is drawn, so they say nothing of how
    often others share it: they count as one. Households are drawn apart. A combination of one household is unique if it
    has one member of it; how many have, is seen in the sample.
    """
    from shoal.population.choice import estimate_population

    assert persons.counts is not None
    class_of_row = rows.shown.class_of_row
    kept = np.flatnonzero(class_of_row >= 0)
    household = _whole(rows.table[name])
    pairs = CountTable.of(
        {
            "class": Coded(class_of_row[kept], len(persons.counts)),
            "household": Coded(household.codes[kept], household.cardinality),
        }
    )
    households = np.bincount(pairs.tuples["class"].codes, minlength=len(persons.counts))
    stand_for = persons.weights if persons.weights is not None else np.full(len(households), persons.people)
    # the part of all people who are left when members who share a combination count as one
    left = float(stand_for @ households) / float(stand_for @ persons.counts)
    in_one = households == 1
    single = in_one & (persons.counts == 1)
    histogram = np.bincount(households)
    sizes = np.flatnonzero(histogram)
    drawn_together = len(pairs) / max(len(np.unique(household.codes[kept])), 1)
    units = replace(
        persons,
        sizes=sizes,
        classes=histogram[sizes],
        people=max(persons.people * left, float(len(pairs))),
        counts=households,
        drawn_together=drawn_together,
    )
    chosen = estimate_population(units, None if wanted == "all" else wanted)
    part = left * float(stand_for @ single) / max(float(stand_for @ in_one), 1e-300)
    chances = None if chosen.chances is None else np.where(single, chosen.chances, np.nan)
    uniques = int(np.count_nonzero(single))
    estimates = [_of_persons(found, part, persons.people, uniques) for found in chosen.estimates]
    if wanted == "all":  # the others know nothing of households
        shown = {found.estimator for found in estimates}
        others = estimate_population(persons, "all").estimates
        estimates += [found for found in others if found.estimator not in shown]
    return replace(chosen, estimates=estimates, chances=chances)


_TOGETHER = "members of a household are drawn together, and those alike count as one"


def _of_persons(found: Estimate, part: float, people: float, uniques: int) -> Estimate:
    """An estimate of combinations of households as one of persons, of which so large a part is unique with them."""
    low, share, high = (None if end is None else end * part for end in (found.low, found.uniqueness, found.high))
    return replace(
        found,
        uniqueness=share,
        uniques=None if share is None else share * people,
        expected_correct=None if found.match_correct is None else found.match_correct * uniques,
        low=low,
        high=high,
        assumes=f"{found.assumes}; {_TOGETHER}",
    )
