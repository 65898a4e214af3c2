"""Identity risk: whose record could be told from all others, and by whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shoal import progress
from shoal.engine import TooManyTuples, engine_of
from shoal.errors import InputError, Message, Setting, as_names, check_choice, quoted
from shoal.exposure.journalist import (
    SampleFigures,
    asked_sample,
    attacker_risk,
    check_sample,
    journalist_risk,
    population_of,
    read_sample,
    sampled_classes,
)
from shoal.exposure.measure import (
    NOTE,
    ClassHistogram,
    CountedClasses,
    RolledUpClasses,
    readings_of_missing,
    refuse_beyond_equality,
)
from shoal.exposure.results import IdentityRisk, Knowledge, KnownItems
from shoal.exposure.sensitive import checked_questions, judged, sensitive_figures
from shoal.policy.default_policy import DefaultPolicy, written
from shoal.policy.thresholds import find_threshold
from shoal.ranges.parsing import forms_in
from shoal.storage.reading import Options
from shoal.verbs.base import takes
from shoal.verbs.measuring import RiskRequest
from shoal.vocabulary import Domain, Generalized, NullRule
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.policy import Policy
    from shoal.results.sections import Verdict


# 2^12 - 1 combinations are as many as anyone reads
MOST_GROUPS = 12


@takes(RiskRequest)
def risk(source: Any, asked: RiskRequest) -> IdentityRisk:
    """Measure how exposed the people in a table are.

    risk of a record = 1 / size of its class: for the prosecutor the class in the table, for the journalist the
    class in the population; the marketer's average is the share re-identified when everybody is linked.

    `knowledge` names groups of columns that an attacker may know; every combination of them is measured. `population`
    is a table of the people behind the records, with their number in `population_count` where its rows stand for many;
    `margins` are tables of people by some of the columns. Where the table is a sample, `weight`, `household`,
    `population_size` or `sampling` say of what, and `estimate`, `suda` and `global_limit` what to find out about it.
    For `sensitive` columns the result says which l, t, alpha, beta and delta hold; `disclosure` adds conditions whose
    disclosure is measured. `wildcard_alpha` is the part of a record for which one with missing values counts where it
    matches another; the figures by it are the reading `weighted`. `generalized` says how texts such as `[20;29]` are
    read, `domain` whether `*` is the whole range or what was seen. What is given here overrides the policy.

    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [30, 30, 41], "sex": ["f", "f", "m"]})
    >>> found = risk(table, quasi_identifiers=["age", "sex"])
    >>> found.k, found.uniques, found.prosecutor.highest, round(found.marketer.average, 3)
    (1, 1, 1.0, 0.667)
    """
    given, options, person = written(asked.policy), asked.options, asked.person
    if given.relations is not None:
        return _risk_of_tables(source, given, asked)  # type: ignore[arg-type]
    items: list[KnownItems] | None = None
    of_sets: list[Verdict] = []
    if asked.items or asked.items_in or asked.known or getattr(given, "set_columns", []):
        source, given, asked, items, of_sets = _of_items(source, asked)
    groups = _groups(asked.knowledge) if asked.knowledge is not None else given.knowledge
    names = _quasi_identifiers(asked.quasi_identifiers, given, groups)
    rule: NullRule = asked.null_rule or given.null_rule
    check_choice(Setting("null_rule"), rule, get_args(NullRule))
    alpha = given.wildcard_alpha if asked.wildcard_alpha is None else _alpha(asked.wildcard_alpha)
    generalized, domain = asked.generalized, asked.domain
    check_choice(Setting("generalized"), generalized, get_args(Generalized))
    check_choice(Setting("domain"), domain, get_args(Domain))
    questions = checked_questions(asked.sensitive, asked.disclosure)
    # an option overrides the policy, also when it names the other way of counting
    count = asked.count or (given.count if person is None else None)
    person = person or (given.person if count is None else None)
    limit = find_threshold(asked.threshold if asked.threshold is not None else given.threshold)
    sample = replace(asked_sample(asked, population_of(asked), given), wildcard_alpha=alpha)
    _check_roles(names, groups, count, person)
    if both := [name for name in (count, person) if name is not None and name in questions.columns]:
        raise InputError(
            f"Column {quoted(both)} says how rows are counted: it is not a sensitive one.",
            Message("Take it out of the {sensitive} columns."),
        )

    measured = list(dict.fromkeys([*names, *(name for columns in groups.values() for name in columns)]))
    together = list(dict.fromkeys([*measured, *questions.columns]))
    options = replace(options or Options(), types_of_policy=given.types)
    check_sample(sample, together, count, person)
    if sample.needs_rows:  # weights, households and row numbers belong to rows: then the table is read once and kept
        source, sample = read_sample(source, [*together, *filter(None, (count, person))], sample, options)
    engine = engine_of(source, options)
    # the columns of every combination of groups, small combinations first
    chosen = [some for size in range(1, len(groups) + 1) for some in combinations(groups, size)]
    known = {some: list(dict.fromkeys(column for name in some for column in groups[name])) for some in chosen}
    try:
        tuples = engine.count(source, together, count=count, person=person, options=options)
    except TooManyTuples as error:
        beyond = (person, sample.population, sample.estimate, sample.suda, questions.columns)
        refuse_beyond_equality(error, given, rule, *beyond)
        sets = [names, *known.values()]
        rolled_up = RolledUpClasses.counted(engine, source, sets, (rule, generalized), count, options)
        table: CountedClasses | RolledUpClasses = rolled_up
        missing, notes = dict(rolled_up.missing), [NOTE]
    else:
        rows = tuples.rows
        table = CountedClasses(*rows.without_nulls(rule, measured), rule, generalized, domain)
        there = [one for one in table.rows.select(names).columns if one.nulls]
        missing = {one.name: found for one in there if (found := table.rows.records_in(one.is_null()))}
        notes = [*tuples.notes, *given.remarks(tuples)]
    progress.report("counting", 0)
    kept, removed, here = table.rows, table.removed, isinstance(table, CountedClasses)
    main = kept.select(names) if here else kept
    cells = table.of(names)
    persons = None if person is None else cells.measured + cells.suppressed_persons
    total = table.records if persons is None else persons
    row_by_row = sample.needs_rows and person is None and here
    single, estimated = None, SampleFigures()
    if here and sample.asks_figures:
        from shoal.exposure.sample_figures import sample_figures, sample_rows

        if row_by_row:
            single = sample_rows(source, names, measured, count, (rule, generalized))
        estimated = sample_figures(sample, single, cells, main)
    drawn = total + removed if person is None else total
    classes = sampled_classes(sample, cells, single, drawn)
    journalist = journalist_risk(main, sample.population, classes, (rule, generalized), limit, options)
    prosecutor = attacker_risk(cells.members, 1 / cells.sizes, limit)
    forms = {column.name: column_forms for column in main.columns if (column_forms := forms_in(column, generalized))}
    if forms and rule == "wildcard" and any(column.nulls for column in main.columns):
        notes.append("beside generalised values a null is read as *, the whole range: classes are of equal boxes")
    # the verdicts about sets as they were judged on sets
    models = judged(given, main, classes, (rule, generalized), sample.over, drawn)
    about, names_of_sets = iter(of_sets), {verdict.name for verdict in of_sets}
    models = [next(about) if verdict.name in names_of_sets else verdict for verdict in models]
    return IdentityRisk(
        records=table.records,
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
        histogram=cells.counts,
        knowledge=_knowledge(table, known, total) if groups else None,
        known=items,
        sensitive=sensitive_figures(kept, names, questions, rule, generalized, given) if questions.columns else None,
        models=models,
        generalized=forms,
        readings={**(readings_of_missing(main, alpha) if not forms else {}), **(cells.readings or {})},
        population_table=journalist.table,
        threshold_name=limit.name,
        missing=missing,
        notes=[*notes, *estimated.notes],
        population=estimated.population,
        chosen=estimated.chosen,
        chosen_reason=estimated.chosen_reason,
        predictions=estimated.predictions,
        individual=estimated.individual,
        suda=estimated.suda,
        per_record=estimated.per_record,
    )


def _risk_of_tables(source: Any, policy: Policy, asked: RiskRequest) -> IdentityRisk:
    """A person's class is that of the persons with the same view: own row, rows that point at them, how many."""
    from shoal.policy.judgement.linked_tables import LinkedTables, judge_views, read_linked

    relations = policy.relations
    assert relations is not None
    usual = {"policy", "threshold", "options"}
    given = [one.name for one in fields(asked) if one.name not in usual and getattr(asked, one.name) != one.default]
    if given:
        raise InputError(
            Message("`{}` is about one table, and the policy about several.", Setting(given[0])), "Leave it out."
        )
    linked = LinkedTables.of(relations, read_linked(source, relations, asked.options))
    views = judge_views(linked, policy)
    limit = find_threshold(policy.threshold if asked.threshold is None else asked.threshold)
    cells = ClassHistogram.of_classes(views.sizes)
    prosecutor = attacker_risk(cells.members, 1 / np.maximum(cells.sizes, 1), limit)
    orphans = [
        f"{name}: {counted(rows, 'row')} of nobody, not measured" for name, rows in linked.orphans.items() if rows
    ]
    return IdentityRisk(
        records=sum(table.rows for table in linked.tables.values()),
        removed_rows=sum(linked.orphans.values()),
        persons=linked.persons,
        classes=len(views.sizes),
        uniques=cells.uniques,
        uniqueness=cells.uniques / max(linked.persons, 1),
        k=cells.k,
        null_rule="value",
        quasi_identifiers=relations.quasi_identifiers(),
        undecided=0,
        suppressed_rows=0,
        prosecutor=prosecutor,
        journalist=None,
        journalist_by=None,
        risk_over="sample",
        marketer=prosecutor,
        histogram=cells.counts,
        models=views.models,
        generalized={},
        readings={},
        population_table=None,
        threshold_name=limit.name,
        missing={},
        notes=["persons are alike where all rows that point at them are, in all tables, and as many of each", *orphans],
    )


def _of_items(source: Any, asked: RiskRequest) -> tuple[Any, Policy, RiskRequest, list[KnownItems], list[Verdict]]:
    """What few items give away, and the table where whole sets of them are compared: those of a person together."""
    from shoal.exposure.known_points import known_items
    from shoal.policy.judgement.sets import in_order
    from shoal.policy.loading import as_policy, with_sets

    policy = with_sets(as_policy(asked.policy), asked.items, asked.items_in, asked.person, None, None, None)
    names = as_names(asked.quasi_identifiers)
    if names:
        own = {name: role for name, role in policy.columns.items() if role != "quasi-identifier"}
        policy = as_policy({**policy.as_written(), "columns": {**own, **dict.fromkeys(names, "quasi-identifier")}})
    options = replace(asked.options or Options(), types_of_policy=policy.types)
    known, verdicts, table = known_items(source, policy, asked.known or (1, 2, 3), options)
    if policy.quasi_identifiers or asked.knowledge is not None or policy.knowledge:
        return source, policy, asked, known, verdicts
    if policy.separator is not None:
        column = policy.item_column or ""
        table = replace(table, columns={**table.columns, column: in_order(table[column], policy.separator)})
    asked = replace(asked, quasi_identifiers=policy.set_columns)
    return table, policy, asked, known, verdicts


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
            f"Column {quoted(map(str, both))} is counted and compared at once.", "Take it out of the quasi-identifiers."
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


def _knowledge(
    table: CountedClasses | RolledUpClasses, known: Mapping[tuple[str, ...], list[str]], total: int
) -> list[Knowledge]:
    """Uniques of every combination of groups."""
    found = []
    for number, (names, columns) in enumerate(known.items()):
        progress.report("combining knowledge", number, len(known))
        cells = table.of(columns)
        found.append(Knowledge(list(names), cells.uniques, cells.uniques / total, cells.undecided))
    return found
