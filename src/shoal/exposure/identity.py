"""Identity risk: whose record could be told from all others, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from shoal import progress
from shoal.engine import TooManyTuples, engine_of
from shoal.errors import InputError, Message, Setting, as_names, check_choice, quoted
from shoal.exposure.journalist import attacker_risk, journalist_risk, read_sample, sampled_classes
from shoal.exposure.measure import ClassHistogram, measure, readings_of_missing
from shoal.exposure.results import IdentityRisk, Knowledge, SizeCount
from shoal.exposure.sample import Sample, SampleFigures, asked_sample, check_sample
from shoal.exposure.sensitive import SensitiveQuestions, asked, judged, sensitive_figures
from shoal.policy.default_policy import DefaultPolicy, written
from shoal.policy.thresholds import find_threshold
from shoal.ranges.parsing import forms_in
from shoal.storage import Column
from shoal.storage.reading import Options
from shoal.storage.rows import Rows
from shoal.vocabulary import Domain, Generalized, NullRule

if TYPE_CHECKING:
    from shoal.exposure.sample_figures import SampleRows
    from shoal.policy import Policy


class GeneralizedText(NamedTuple):
    """How generalised texts are read (`auto`, `yes`, `no`), and whether `*` is the whole range or what was seen."""

    reading: Generalized = "auto"
    domain: Domain = "range"


class MissingKeys(NamedTuple):
    """How missing quasi-identifiers count: the rule, and for how much of a record (`alpha`, from 0 to 1) a record with
    missing values counts where it matches another one. The figures by `alpha` are the reading `weighted`."""

    rule: NullRule | None = None
    alpha: float | str | None = None


# 2^12 - 1 combinations are as many as anyone reads
MOST_GROUPS = 12


def risk(
    source: Any,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    knowledge: Mapping[str, Sequence[str]] | None = None,
    null_rule: NullRule | MissingKeys | None = None,
    count: str | None = None,
    person: str | None = None,
    threshold: float | str | None = None,
    population: Any = None,
    generalized: Generalized | GeneralizedText = "auto",
    sensitive: Sequence[str] | str | SensitiveQuestions | None = None,
    policy: Policy | str | Path | None = None,
    options: Options | None = None,
) -> IdentityRisk:
    """Measure how exposed the people in a table are.

    risk of a record = 1 / size of its class: for the prosecutor the class in the table, for the journalist the
    class in the population; the marketer's average is the share re-identified when everybody is linked.

    `knowledge` names groups of columns that an attacker may know; every combination of them is measured. `population`
    is a table of records, a `PopulationCounts`, `PopulationMargins`, or, where the table is a sample, a `Sample`:
    weights, households, the size of the population and what to estimate of it. For `sensitive` columns the result says
    which l, t, alpha, beta and delta hold; `SensitiveQuestions` adds conditions whose disclosure is measured.
    `generalized` says how texts such as `[20;29]` are read; `null_rule` is the rule for missing values, or
    `MissingKeys` with the `alpha` of a match. What is given here overrides the policy.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> found = risk(table, quasi_identifiers=["age", "sex"])
    >>> found.k, found.uniques, found.prosecutor.highest, round(found.marketer.average, 3)
    (1, 1, 1.0, 0.667)
    """
    given = written(policy)
    groups = _groups(knowledge) if knowledge is not None else given.knowledge
    names = _quasi_identifiers(quasi_identifiers, given, groups)
    keys = null_rule if isinstance(null_rule, MissingKeys) else MissingKeys(null_rule)
    rule: NullRule = keys.rule or given.null_rule
    check_choice(Setting("null_rule"), rule, get_args(NullRule))
    alpha = given.wildcard_alpha if keys.alpha is None else _alpha(keys.alpha)
    text = generalized if isinstance(generalized, GeneralizedText) else GeneralizedText(generalized)
    generalized, domain = text.reading, text.domain
    check_choice(Setting("generalized"), generalized, get_args(Generalized))
    check_choice(Setting("domain"), domain, get_args(Domain))
    questions = asked(sensitive)
    # an option overrides the policy, also when it names the other way of counting
    count = count or (given.count if person is None else None)
    person = person or (given.person if count is None else None)
    limit = find_threshold(threshold if threshold is not None else given.threshold)
    sample = asked_sample(population, given)
    _check_roles(names, groups, count, person)
    _check_sensitive(questions.columns, count, person)

    measured = list(dict.fromkeys([*names, *(name for columns in groups.values() for name in columns)]))
    together = list(dict.fromkeys([*measured, *questions.columns]))
    options = replace(options or Options(), types_of_policy=given.types)
    check_sample(sample, together, count, person)
    if sample.needs_rows:  # weights, households and row numbers belong to rows: then the table is read once and kept
        source, sample = read_sample(source, [*together, *filter(None, (count, person))], sample, options)
    engine = engine_of(source, options)
    try:
        counted = engine.count(source, together, count=count, person=person, options=options)
    except TooManyTuples as error:
        from shoal.exposure.rolled_up import refuse_beyond_equality, rolled_up

        beyond = (person, sample.population, sample.estimate, sample.suda, questions.columns)
        refuse_beyond_equality(error, given, rule, *beyond)
        settings: dict[str, Any] = {"count": count, "limit": limit, "policy": given, "sample": sample}
        return rolled_up(engine, source, names, groups, reading=(rule, generalized), options=options, **settings)
    rows = counted.rows
    if rows.person is not None and person == given.person and given.linked:
        from shoal.policy.judgement.shown_classes import linked_classes

        rows = replace(rows, linked=linked_classes(rows.person, given.linked))
    kept, removed = rows.without_nulls(rule, measured)
    progress.report("counting", 0)
    main = kept.select(names)
    cells = measure(main, rule, generalized, domain)
    persons = None if person is None else cells.measured + cells.suppressed_persons
    total = kept.records if persons is None else persons
    row_by_row = sample.needs_rows and person is None
    single = _single(source, names, measured, count, (rule, generalized)) if row_by_row else None
    estimated = _estimated(sample, single, cells, main)
    drawn = total + removed if person is None else total
    classes = sampled_classes(sample, cells, single, drawn)
    journalist = journalist_risk(main, sample.population, classes, (rule, generalized), limit, options)
    prosecutor = attacker_risk(cells.members, 1 / cells.sizes, limit)
    forms = {column.name: column_forms for column in main.columns if (column_forms := forms_in(column, generalized))}
    return IdentityRisk(
        records=kept.records,
        removed_rows=removed,
        persons=persons,
        classes=int(cells.classes.sum()),
        uniques=cells.uniques,
        uniqueness=cells.uniques / total,
        k=cells.k,
        null_rule=rule,
        quasi_identifiers=names,
        undecided=cells.undecided,
        suppressed_rows=cells.suppressed_rows,
        prosecutor=prosecutor,
        journalist=journalist.risk,
        journalist_by=journalist.by,
        risk_over=sample.over,
        marketer=journalist.risk or prosecutor,
        histogram=_histogram(cells),
        knowledge=_knowledge(kept, groups, total, rule, generalized, domain) if groups else None,
        sensitive=sensitive_figures(kept, names, questions, rule, generalized, given) if questions.columns else None,
        models=judged(given, main, classes, (rule, generalized), sample.over, drawn),
        generalized=forms,
        readings={**(readings_of_missing(main, alpha) if not forms else {}), **(cells.readings or {})},
        population_table=journalist.table,
        threshold_name=limit.name,
        missing={column.name: missing for column in main.columns if (missing := _missing(main, column))},
        notes=[*counted.notes, *given.remarks(counted), *_remarks(forms, rule, main), *estimated.notes],
        population=estimated.population,
        chosen=estimated.chosen,
        chosen_reason=estimated.chosen_reason,
        individual=estimated.individual,
        suda=estimated.suda,
        per_record=estimated.per_record,
    )


def _single(
    table: Any, names: Sequence[str], measured: Sequence[str], count: str | None, reading: tuple[NullRule, Generalized]
) -> SampleRows:
    from shoal.exposure.sample_figures import sample_rows

    return sample_rows(table, names, measured, count, reading)


def _estimated(sample: Sample, rows: SampleRows | None, cells: ClassHistogram, tuples: Rows) -> SampleFigures:
    if not sample.asks_figures:
        return SampleFigures()
    from shoal.exposure.sample_figures import sample_figures

    return sample_figures(sample, rows, cells, tuples)


def _missing(rows: Rows, column: Column) -> int:
    return rows.records_in(column.is_null()) if column.nulls else 0


def _remarks(forms: Mapping[str, tuple[str, ...]], rule: NullRule, rows: Rows) -> list[str]:
    if forms and rule == "wildcard" and any(column.nulls for column in rows.columns):
        return ["beside generalised values a null is read as *, the whole range: classes are of equal boxes"]
    return []


def _alpha(given: float | str) -> float:
    from shoal.policy.amounts import share_of

    try:
        return share_of(given)
    except ValueError:
        raise InputError(Message("{wildcard_alpha} is not a share from 0 to 1."), "Use 0.5, for example.") from None


def _groups(knowledge: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    if not isinstance(knowledge, Mapping):
        raise InputError("Knowledge is given as names with columns.", 'Write {"census": ["age", "sex"]}.')
    return {name: as_names(columns) for name, columns in knowledge.items()}


def _quasi_identifiers(
    given: Sequence[str] | None, policy: Policy | DefaultPolicy, groups: Mapping[str, list[str]]
) -> list[str]:
    names = as_names(given) or policy.quasi_identifiers
    if not names:
        names = [name for columns in groups.values() for name in columns]
    if not names:
        raise InputError(
            "No quasi-identifiers are named: what could an attacker know about a person?",
            Message(
                "Name the columns in {quasi_identifiers}, in {knowledge}, or in a policy; `shoal detect` proposes them."
            ),
        )
    return list(dict.fromkeys(names))


def _check_roles(names: list[str], groups: Mapping[str, list[str]], count: str | None, person: str | None) -> None:
    if count is not None and person is not None:
        raise InputError(
            "A count column and a person column exclude each other.",
            Message("Give {count} if a row stands for many records, {person} if somebody has many rows."),
        )
    both = [name for name in (count, person) if name in names or any(name in group for group in groups.values())]
    if both:
        raise InputError(
            f"Column {quoted(map(str, both))} is counted and compared at once.",
            "Take it out of the quasi-identifiers.",
        )
    if len(groups) > MOST_GROUPS:
        raise InputError(
            f"{len(groups)} groups of knowledge give too many combinations.", f"Use at most {MOST_GROUPS}."
        )
    empty = [name for name, columns in groups.items() if not columns]
    if empty:
        raise InputError(
            f"Knowledge group {quoted(empty)} has no columns.",
            Message("Name at least one column for each group ({knowledge})."),
        )


def _check_sensitive(columns: Sequence[str], count: str | None, person: str | None) -> None:
    both = [name for name in (count, person) if name is not None and name in columns]
    if both:
        raise InputError(
            f"Column {quoted(both)} says how rows are counted: it is not a sensitive one.",
            Message("Take it out of the {sensitive} columns."),
        )


def _histogram(cells: ClassHistogram) -> list[SizeCount]:
    rows = zip(cells.sizes.tolist(), cells.classes.tolist(), cells.members.tolist(), strict=True)
    return [SizeCount(*row) for row in rows]


def _knowledge(
    rows: Rows, groups: Mapping[str, list[str]], total: int, rule: NullRule, generalized: Generalized, domain: Domain
) -> list[Knowledge]:
    """Uniques of every combination of groups, small combinations first."""
    found = []
    chosen = [names for size in range(1, len(groups) + 1) for names in combinations(groups, size)]
    for number, names in enumerate(chosen):
        progress.report("combining knowledge", number, len(chosen))
        columns = list(dict.fromkeys(column for name in names for column in groups[name]))
        cells = measure(rows.select(columns), rule, generalized, domain)
        found.append(Knowledge(list(names), cells.uniques, cells.uniques / total, cells.undecided))
    return found
