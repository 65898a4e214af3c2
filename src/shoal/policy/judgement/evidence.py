"""From a released table and a policy to the evidence that models are judged by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.models import Evidence, KMap
from shoal.models.base import PeopleEstimate
from shoal.models.evidence import evidence_of_persons, evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.population import people_in_classes, population_of_margins, read_population
from shoal.policy.judgement.shown_classes import Shown, shown_in
from shoal.policy.survey import APART, population_size
from shoal.ranges.hierarchy import fit_all
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded
from shoal.storage.rows import Rows, counted_rows, record_weights


def evidence_of(
    table: Table,
    names: Sequence[str],
    policy: Policy,
    levels: Mapping[str, int] | None = None,
    starred: Collection[str] | None = None,
    drawn: int | None = None,
) -> tuple[Evidence, int]:
    """Classes of equal texts of a released table; rows that were suppressed throughout are counted apart.

    With a count column a row stands for many records; with a person column classes are of persons, and a person is
    suppressed whose rows all are. `starred` names the columns in which `*` is a suppressed cell, as the manifest of the
    release says; in others it is a text as any. Without it every text column may have suppressed cells. `drawn`: rows
    of the sample, with those that a release leaves out; otherwise the rows of the table. No row that is there is set
    aside: under the null rule `drop` a missing value is a value as any.

    >>> from shoal.storage.reading import read
    >>> table = read({"a": ["*", "x", "x"]})
    >>> [evidence_of(table, ["a"], Policy(), starred=starred)[0].sizes.tolist() for starred in ([], ["a"])]
    [[1, 2], [2]]
    """
    table = table.expanded() if policy.set_columns else table
    if not names:  # nothing that others know but items: no classes
        return _of_everybody(table, policy), 0
    table.select(names)
    if table.elsewhere is not None:
        sizes, classes, suppressed = table.elsewhere.sizes(names, names if starred is None else starred)
        return Evidence(sizes, classes, records=table.rows), suppressed
    table, policy = _tuples(table, names, policy)
    table, _ = counted_rows(table, names, policy.count, "value")
    rows = Rows.of(table, names, policy.count) if table.rows else Rows(table.select(names))
    shown = shown_in(rows, policy.null_rule, starred)
    suppressed = rows.records_in(shown.suppressed)
    if not table.rows or (policy.person is not None and policy.person not in table.columns):
        # whose rows they are is not shown, and what is not shown does not hold
        return Evidence(np.zeros(0, np.int64)), suppressed
    needed = sorted(name for name in policy.needed if name in table.columns)
    sensitive = {name: table[name] for name in needed}
    trees = trees_of(policy, list(sensitive.values()))
    if policy.person is not None:
        person = table[policy.person]
        shown = replace(shown, rows=replace(rows, person=person))
        evidence = _of_persons(shown, names, policy, sensitive, trees)
        evidence = _with_sets(evidence, table, policy, shown.class_of_person)
    else:
        evidence = evidence_of_rows(
            shown.class_of_row,
            sensitive,
            keys={name: column.codes for name, column in zip(names, shown.columns, strict=True)},
            stars=dict(zip(names, shown.stars, strict=True)),
            weights=rows.weights,
            trees=trees,
            populations=people_of_models(
                table.select(names), policy, shown.class_of_row, policy.quasi_identifiers, levels
            ),
        )
        if shown.matching:
            evidence = replace(evidence, sizes=shown.sizes, members=shown.members)
        evidence = _with_sets(evidence, table, policy, shown.class_of_row)
    estimate = estimated_people(table, policy, shown, evidence.sizes, drawn)
    return replace(evidence, estimate=estimate, risk_over=policy.risk_over), suppressed


def _of_everybody(table: Table, policy: Policy) -> Evidence:
    if not policy.set_columns:
        return Evidence(np.zeros(0, np.int64))
    from shoal.policy.judgement.sets import evidence_of_everybody

    return evidence_of_everybody(table, policy)


def _with_sets(evidence: Evidence, table: Table, policy: Policy, class_of: Array) -> Evidence:
    """The evidence with the items or events of each class, where the policy has such columns."""
    if not policy.set_columns:
        return evidence
    from shoal.policy.judgement.sets import with_sets

    return with_sets(evidence, table, policy, class_of)


def _tuples(table: Table, names: Sequence[str], policy: Policy) -> tuple[Table, Policy]:
    """The distinct tuples of a table on disk with their records, where nothing belongs to single rows."""
    sampled = (policy.weight, policy.household, policy.population_size, policy.sampling)
    by_row = (policy.person, policy.item_column, *sampled)
    if any(setting is not None for setting in by_row) or not table.on_disk(names):
        return table, policy
    from shoal.storage.tuples import counted_tuples

    needed = sorted(name for name in policy.needed if name in table.columns)
    return counted_tuples(table, [*names, *needed], policy.count), policy.model_copy(update={"count": None})


def _of_persons(
    shown: Shown,
    names: Sequence[str],
    policy: Policy,
    sensitive: Mapping[str, Column],
    trees: Mapping[str, tuple[Array, ...]],
) -> Evidence:
    if any(model.needs_files for model in policy.models):
        raise InputError("A population is not counted where a person has many rows.", "Use one row a person.")
    person = shown.rows.person
    assert person is not None
    # `*` never is the one value that happens to be left to see: it has a code of its own
    keys = {name: Coded(column.codes, column.cardinality) for name, column in zip(names, shown.columns, strict=True)}
    whose = Coded(person.codes, person.cardinality)
    return evidence_of_persons(shown.class_of_person, whose, shown.combinations, sensitive, keys=keys, trees=trees)


def people_of_models(
    columns: Sequence[Column],
    policy: Policy,
    class_of_row: Array,
    names: Sequence[str],
    levels: Mapping[str, int] | None = None,
) -> dict[str, Array]:
    """People in the classes of each population that a model of the policy names: a table, or margins.

    `names`: what the columns are called in the population.
    """
    people = {}
    given = given_hierarchies(policy.hierarchies, names)
    for source in sorted({model.needs_population for model in policy.models if model.needs_population is not None}):
        population, fitting = read_population(source, names), trees_in_values(given, columns)
        people[source] = people_in_classes(columns, class_of_row, population, fitting, names, levels)
    for model in policy.models:
        if isinstance(model, KMap) and model.margins is not None:
            fitted = population_of_margins(model.margins, names)
            people[model.margins_name] = people_in_classes(
                columns, class_of_row, fitted.table, given, names, levels, fitted.people
            )
    return people


class RowPeople(NamedTuple):
    """The people of the population that each row is estimated to stand for, and what the estimate is made by.

    `draws`: where households are drawn whole, each of m members counts as 1 / m of a draw: a class then has at most as
    many draws as households, whatever rows are in it.
    """

    people: Array
    by: str
    draws: Array | None = None

    @property
    def population(self) -> float:
        """All people whom the rows stand for."""
        return float(self.people.sum())


def draws_of_members(household: Column) -> Array:
    """1 / the members of its household for each row; one that names none lives alone.

    >>> from shoal.storage.reading import read
    >>> draws_of_members(read({"hid": [7, 7, 9]})["hid"]).tolist()
    [0.5, 0.5, 1.0]
    """
    members = np.bincount(household.codes, minlength=household.cardinality)
    return np.where(household.is_null(), 1.0, 1 / np.maximum(members, 1)[household.codes])


def people_of_rows(table: Table, policy: Policy, records: int) -> RowPeople | None:
    """The weight of each row, or N / n for each of its records, n of a population of N; None where nothing says so.

    >>> from shoal.storage.reading import read
    >>> people_of_rows(read({"a": [1, 1, 2]}), Policy(sampling=0.1), 3).people.tolist()
    [10.0, 10.0, 10.0]
    """
    draws = None
    if policy.household is not None and policy.household in table.columns:
        draws = draws_of_members(table[policy.household])
    if policy.weight is not None:  # where it was dropped, a size of the population does not take its place
        weighted = policy.weight in table.columns
        return RowPeople(record_weights(table[policy.weight]), "weights", draws) if weighted else None
    total = population_size(records, None, policy.population_size, policy.sampling)
    if total is None:
        return None
    ones = (np.ones(table.rows) if table.records is None else table.records) if policy.count is None else None
    ones = Rows.of(table, [], policy.count).ones if ones is None else ones
    by = "sampling" if policy.population_size is None else "population_size"
    return RowPeople(ones * (total / max(records, 1)), by, draws)


def estimated_people(
    table: Table, policy: Policy, shown: Shown, sizes: Array, drawn: int | None = None
) -> PeopleEstimate | None:
    """The people of the population behind each class: the sum of its weights, or its share of the population.

    f records of a sample of n stand for f N / n people, n with the rows that were left out: `drawn`. None where the
    policy says nothing of a sample.

    >>> from shoal.storage.reading import read
    >>> table = read({"a": [1, 1, 2], "w": [10, 30, 5]})
    >>> policy = Policy(weight="w")
    >>> shown = shown_in(Rows.of(table, ["a"]), "value")
    >>> estimated_people(table, policy, shown, shown.sizes).people.tolist()
    [40.0, 5.0]
    """
    by_row = policy.person is None and policy.count is None
    if not by_row and policy.population_size is not None and drawn is not None and drawn != table.rows:
        return PeopleEstimate(None, reason="rows were left out, and how many persons or records they were is not known")
    if shown.rows.person is None:
        found = people_of_rows(table, policy, shown.rows.records if drawn is None or not by_row else drawn)
        if found is not None:
            draws = None if found.draws is None else shown.sum_of(found.draws)
            behind = PeopleEstimate(shown.sum_of(found.people), found.by, found.population, draws=draws)
            return _held_against(policy, found, behind)
        absent = f"the weight column {policy.weight} is not in the table"
        return None if policy.weight is None else PeopleEstimate(None, reason=absent)
    persons = shown.rows.person.cardinality
    total = population_size(persons, None, policy.population_size, policy.sampling)
    if total is not None:
        by = "sampling" if policy.population_size is None else "population_size"
        return PeopleEstimate(sizes * (total / persons), by, total)
    reason = "weights of records say nothing of persons with several rows: give population_size or sampling"
    return None if policy.weight is None else PeopleEstimate(None, reason=reason)


def _held_against(policy: Policy, rows: RowPeople, found: PeopleEstimate) -> PeopleEstimate:
    """Weights beside the size of the population: none of them can stand for more people than there are."""
    size = policy.population_size
    if rows.by != "weights" or size is None or found.people is None:
        return found
    total = rows.population
    if total > size * (1 + APART) or float(found.people.max(initial=0.0)) > size:
        reason = f"the weights sum to {total:,.0f} people, population_size says {size:,}"
        return PeopleEstimate(None, reason=reason)
    apart = size - total > size * APART
    note = f"the weights sum to {total:,.0f} people, population_size says {size:,}: the weights were used"
    return replace(found, note=note if apart else "")


def trees_of(policy: Policy, columns: Sequence[Column]) -> dict[str, tuple[Array, ...]]:
    """The hierarchies of sensitive columns as nodes of their codes."""
    given = trees_in_values(given_hierarchies(policy.hierarchies, [column.name for column in columns]), columns)
    found = [column for column in columns if column.name in given]
    return {fitted.column: tuple(fitted.codes) for fitted in fit_all(given, found, complete=True)}
