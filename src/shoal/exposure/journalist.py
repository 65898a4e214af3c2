"""The journalist's risk: by a table of the population, by its margins, or estimated from the sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np
import polars as pl

from shoal.engine import engine_of
from shoal.errors import InputError, Message, MissingColumns, Setting, check_choice
from shoal.exposure.measure import ClassHistogram
from shoal.exposure.results import AttackerRisk, JournalistBy, PopulationTable
from shoal.policy.judgement.shown_classes import shown_in
from shoal.policy.thresholds import Threshold
from shoal.ranges.parsing import forms_in
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable, class_of_each_row, pack
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.storage.unite import unite
from shoal.verbs.measuring import RiskRequest
from shoal.vocabulary import Generalized, NullRule, RiskOver

if TYPE_CHECKING:
    from shoal.exposure.sample_figures import SampleRows
    from shoal.policy import Policy
    from shoal.policy.default_policy import DefaultPolicy
    from shoal.population.results import Estimate, IndividualRisk, Prediction, SpecialUniqueFigures


@dataclass(frozen=True)
class Sample:
    """The table is a sample, with what is known of its population, and what to estimate.

    `weight`: how many people each record stands for; `household`: who lives together; `population_size` or `sampling`
    (a share such as `5%`): how large the population is. `estimate`: `all` estimators or one by its name. `suda`: search
    special uniques, of up to so many columns if it is a number. `global_limit`: the global risk to keep. `approximate`:
    the individual risk as sdcMicro computes it. `population`: a table of the population, as in `risk`. `risk_over`:
    whether the threshold and limits on risk are about the `sample` or the `population`. `wildcard_alpha`: as what part
    of a record one with missing values counts where it matches another.
    """

    weight: str | None = None
    household: str | None = None
    population_size: int | None = None
    sampling: float | str | None = None
    estimate: str | None = None
    suda: bool | int = False
    global_limit: float | str | None = None
    approximate: bool = False
    population: Any = None
    risk_over: RiskOver | None = None
    wildcard_alpha: float = 1.0
    # whether weight and household are those of a policy, which a released table need not have
    by_policy: bool = False
    # why there is no weight although a policy names one
    absent: str | None = None

    @property
    def over(self) -> RiskOver:
        """What the threshold and the limits of models are about."""
        return self.risk_over or "sample"

    def without(self, missing: Sequence[str]) -> Sample:
        """The same without columns that a policy names and the table does not have."""
        if not self.by_policy:
            return self
        weight = None if self.weight in missing else self.weight
        sized = weight is not None or self.population_size is not None or self.sampling is not None
        household = self.household if sized and self.household not in missing else None
        absent = None if self.weight == weight else f"the weight column {self.weight} is not in the table"
        return replace(self, weight=weight, household=household, absent=absent)

    @property
    def columns(self) -> list[str]:
        """The columns that say something about the records and are not compared."""
        return [name for name in (self.weight, self.household) if name is not None]

    @property
    def needs_rows(self) -> bool:
        """Whether rows must be seen one by one."""
        return bool(self.columns) or self.suda is not False or self.estimate is not None

    @property
    def asks_figures(self) -> bool:
        """Whether anything is asked about the population behind the sample."""
        return self.needs_rows or self.population_size is not None or self.sampling is not None


class SampleFigures(NamedTuple):
    """What was found about the population; None where it was not asked for."""

    individual: IndividualRisk | None = None
    suda: SpecialUniqueFigures | None = None
    population: list[Estimate] | None = None
    chosen: str | None = None
    chosen_reason: str | None = None
    predictions: list[Prediction] | None = None
    per_record: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()


def asked_sample(asked: RiskRequest, population: Any, policy: Policy | DefaultPolicy) -> Sample:
    """What is asked of a sample: as given, else as the policy says; `population` is what is known of the people."""
    if asked.risk_over is not None:
        check_choice(Setting("risk_over"), asked.risk_over, get_args(RiskOver))
    sized: RiskRequest | Policy | DefaultPolicy = policy
    if asked.population_size is not None or asked.sampling is not None:
        sized = asked
    weight = asked.weight or policy.weight
    counts_people = weight is not None or sized.population_size is not None or sized.sampling is not None
    return Sample(
        weight=weight,
        # a policy's household is about the release too: without weights it has no risk here, nor in a population of
        # which nothing is known
        household=asked.household or (policy.household if counts_people else None),
        population_size=sized.population_size,
        sampling=_share("sampling", sized.sampling),
        estimate=asked.estimate,
        suda=asked.suda if asked.suda_size is None else asked.suda_size,
        global_limit=_share("global_limit", asked.global_limit),
        approximate=asked.approximate,
        population=population,
        risk_over=asked.risk_over or policy.risk_over,
        by_policy=asked.weight is None and asked.household is None,
    )


def _share(setting: str, given: float | str | None) -> float | None:
    if given is None:
        return None
    from shoal.policy.amounts import share_of

    try:
        return share_of(given)
    except ValueError as error:
        raise InputError(Message("{}: {}.", Setting(setting), error), "Write 5% or 0.05.") from None


def check_sample(sample: Sample, names: Sequence[str], count: str | None, person: str | None) -> None:
    """Refuse what cannot be asked together."""
    both = [name for name in sample.columns if name in names or name in (count, person)]
    if both or (sample.weight is not None and sample.weight == sample.household):
        name = both[0] if both else sample.weight
        raise InputError(
            f"Column '{name}' is the weight or the household and has another part too.",
            Message("Name a column of its own for each ({weight}, {household})."),
        )
    sized = sample.population_size is not None or sample.sampling is not None
    if sample.household is not None and sample.weight is None and not sized:
        raise InputError(
            "Household risk needs weights, an estimate by households the size of the population.",
            Message("Name {weight}, {population_size} or {sampling}, or leave out the {household}."),
        )
    if sample.weight is not None and (count is not None or person is not None):
        raise InputError(
            "A weight belongs to a record: it excludes a count column and a person column.",
            Message("Measure the records with {weight}, or persons and counts without ({count}, {person})."),
        )
    if sample.suda is not False and person is not None:
        raise InputError(
            "Special uniques are records: there are none of persons with many rows.",
            Message("Leave out the {person} column, or special uniques ({suda})."),
        )
    if sample.approximate and sample.weight is None:
        raise InputError(
            "The approximation is one of the individual risk, which needs weights.",
            Message("Name the {weight} column, or leave out {approximate}."),
        )
    if sample.global_limit is not None and sample.weight is None:
        raise InputError(
            Message("A limit on the global risk ({global_limit}) needs weights."), Message("Name the {weight} column.")
        )


@dataclass(frozen=True)
class PopulationCounts:
    """A population table of counts: a row of `source` stands for as many people as the column `count` says."""

    source: Any
    count: str | None


class PopulationMargins(NamedTuple):
    """A population of which only marginal tables are known: each has some quasi-identifiers, and one more column with
    the people of each row. Its cells are fitted to them, which is an estimate."""

    sources: Sequence[Any]


def population_of(asked: RiskRequest) -> Any:
    """What is known of the population: a table of its people or their counts, its margins, or nothing."""
    if asked.margins:
        if asked.population is not None or asked.population_count is not None:
            raise InputError("A population and its margins are given.", Message("Give {population} or {margins}."))
        return PopulationMargins(asked.margins)
    if asked.population_count is not None:
        return PopulationCounts(asked.population, asked.population_count)
    return asked.population


class Journalist(NamedTuple):
    """The risk, what it comes from, and what was found of a population table."""

    risk: AttackerRisk | None = None
    by: JournalistBy | None = None
    table: PopulationTable | None = None


def read_sample(source: Any, names: Sequence[str], sample: Sample, options: Options | None) -> tuple[Table, Sample]:
    """The table with what a sample needs of it; a released table need not have the columns that a policy names."""
    if isinstance(source, Table):
        sample = sample.without([name for name in sample.columns if name not in source.columns])
    try:
        return engine_of(source, options).rows(source, [*names, *sample.columns], options), sample
    except MissingColumns as error:
        left = sample.without(error.columns)
        if left == sample:
            raise
    return engine_of(source, options).rows(source, [*names, *left.columns], options), left


@dataclass(frozen=True)
class SampledClasses:
    """The classes of a sample: their sizes and members, and the people of the population that each is estimated to
    stand for, by what; none with the reason. `draws` as in `PeopleEstimate`."""

    sizes: Array
    members: Array
    classes: Array | None
    people: Array | None = None
    by: JournalistBy | None = None
    reason: str | None = None
    draws: Array | None = None


def sampled_classes(sample: Sample, cells: ClassHistogram, rows: SampleRows | None, drawn: int) -> SampledClasses:
    """The people behind each class: the sum of its weights, or f N / n for f of n records and a population of N.

    `drawn`: n, with the records that were set aside or are suppressed, which stand for people too.
    """
    draws = None
    if sample.household is not None and rows is not None:
        from shoal.policy.judgement.evidence import draws_of_members

        draws = rows.shown.sum_of(draws_of_members(rows.table[sample.household]))
    if sample.weight is not None and rows is not None:
        from shoal.storage.rows import record_weights

        shown = rows.shown
        people = shown.sum_of(record_weights(rows.table[sample.weight]))
        return SampledClasses(shown.sizes, shown.members, None, people, "weights", draws=draws)
    classes = SampledClasses(cells.sizes, cells.members, cells.classes, reason=sample.absent)
    if sample.population_size is None and sample.sampling is None:
        return classes
    from shoal.policy.survey import population_size

    share = None if sample.sampling is None else float(sample.sampling)
    total = population_size(drawn, None, sample.population_size, share)
    if total is None or sample.absent is not None:
        return classes
    by: JournalistBy = "sampling" if sample.population_size is None else "population_size"
    if draws is not None and rows is not None:
        one_by_one = replace(classes, sizes=rows.shown.sizes, members=rows.shown.members, classes=None)
        classes = replace(one_by_one, draws=draws)
    return replace(classes, people=classes.sizes * (total / max(drawn, 1)), by=by)


def attacker_risk(members: Array, risks: Array, limit: Threshold) -> AttackerRisk:
    """Figures over all records: so many with each risk.

    >>> attacker_risk(np.array([2, 1]), np.array([0.5, 1.0]), Threshold(0.5))
    AttackerRisk(highest=1.0, average=0.6666666666666666, share_over_threshold=0.3333333333333333, threshold=0.5)
    """
    total = int(members.sum())
    if total == 0:
        return AttackerRisk(None, None, None, limit.value)
    return AttackerRisk(
        highest=float(risks.max()),
        average=float((members * risks).sum()) / total,
        share_over_threshold=int(members[~(risks <= limit.value)].sum()) / total,
        threshold=limit.value,
    )


def journalist_risk(
    rows: Rows,
    population: Any,
    classes: SampledClasses,
    reading: tuple[NullRule, Generalized],
    limit: Threshold,
    options: Options | None,
) -> Journalist:
    """The risk of a record = 1 / people of the population with its combination, counted, fitted or estimated."""
    if isinstance(population, PopulationMargins):
        return _by_margins(rows, population, reading, limit)
    if population is not None:
        return _by_table(rows, population, reading, limit, options)
    if classes.people is None:
        return Journalist()
    risks = _estimated(classes, classes.people)
    return Journalist() if risks is None else Journalist(attacker_risk(classes.members, risks, limit), classes.by)


def _estimated(classes: SampledClasses, people: Array) -> Array | None:
    """E[1/F | f] by weights; by the size of the population the greater of it and what estimators say."""
    if classes.by == "weights":
        from shoal.population.individual import expected_risk

        return expected_risk(classes.sizes, people)
    counts = classes.members / classes.sizes
    from shoal.population.individual import sampled_risk

    return sampled_risk(classes.sizes, counts, float(classes.sizes.sum() / people.sum())).risks if len(counts) else None


def _by_margins(
    rows: Rows, population: PopulationMargins, reading: tuple[NullRule, Generalized], limit: Threshold
) -> Journalist:
    """By the cells that fit all margins."""
    from shoal.policy.judgement.population import people_in_classes, population_of_margins

    if rows.person is not None:
        raise InputError(
            Message("Margins of a population ({margins}) are about people, not about persons with many rows."),
            "Measure the journalist's risk on one row per person.",
        )
    shown = shown_in(rows, reading[0], generalized=reading[1])
    fitted = population_of_margins(population.sources, [column.name for column in rows.columns])
    if fitted.size < rows.records * (1 - 1e-9):
        raise InputError(
            f"The table has {rows.records:,} records, its margins {fitted.size:,.0f} people.",
            Message(
                "A sample is no larger than its population: use tables of people, not of shares or "
                "thousands ({margins})."
            ),
        )
    people = people_in_classes(rows.columns, shown.class_of_row, fitted.table, weights=fitted.people)
    outside = int(np.count_nonzero(people < shown.members * (1 - 1e-9)))
    risks = 1 / np.maximum(people, shown.members)
    return Journalist(
        attacker_risk(shown.members, risks, limit), "margins", PopulationTable(round(fitted.size), outside)
    )


def _by_table(
    rows: Rows, population: Any, reading: tuple[NullRule, Generalized], limit: Threshold, options: Options | None
) -> Journalist:
    """By the people that a table of the population counts."""
    people = population if isinstance(population, PopulationCounts) else PopulationCounts(population, None)
    if people.source is None:
        raise InputError("A count column is named but no population.", Message("Name the {population} table."))
    rule, generalized = reading
    if rows.person is not None or rule == "wildcard" or any(forms_in(column, generalized) for column in rows.columns):
        raise InputError(
            "A population is compared by equal values: not by person, not with wildcards, not on generalised text.",
            "Measure the journalist's risk on raw values, with the null rule value or drop.",
        )
    names = [column.name for column in rows.columns]
    theirs = engine_of(people.source, options).count(people.source, names, count=people.count, options=options).rows
    ours = CountTable.of({column.name: column for column in rows.columns}, rows.weights)
    keys = pack(
        [
            _aligned(mine, ours.tuples[mine.name], other)
            for mine, other in zip(rows.columns, theirs.columns, strict=True)
        ]
    )
    group, groups = class_of_each_row(keys)
    mine, them = group[: len(ours)], group[len(ours) :]
    in_population = np.bincount(them, theirs.ones, groups)[mine].astype(np.int64)
    # a released person is in the population: where the table does not show it, the release itself does
    sizes = np.maximum(in_population, ours.counts)
    missing = int(np.count_nonzero(in_population < ours.counts))
    return Journalist(attacker_risk(ours.counts, 1 / sizes, limit), "table", PopulationTable(theirs.records, missing))


def _aligned(column: Column, tuples: Coded, other: Column) -> Coded:
    """Our tuples' codes followed by the population's, in one dictionary."""
    kinds = {
        "numbers" if values.dtype.is_float() else "text" if values.dtype == pl.String else ""
        for values in (column.values, other.values)
    }
    if kinds == {"numbers", "text"}:
        raise InputError(
            f"Column '{column.name}' holds fractions in one table and text in the other.",
            "Give it the same type in the table and in the population.",
        )
    values, codes_of = unite([column.values, other.values])
    null = len(values)
    ours = np.append(codes_of[: len(column.values)], null)[tuples.codes]
    theirs = np.append(codes_of[len(column.values) :], null)[other.codes]
    return Coded(np.concatenate([ours, theirs]), null + 1)
