"""From a released table and a policy to the evidence that models are judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.hierarchy import fit_all
from shoal.hierarchy.chosen import given_hierarchies
from shoal.judgement.persons import classes_of_persons, linked_classes
from shoal.judgement.population import people_in_classes, read_population
from shoal.models import Evidence
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.ranges.parsing import as_ranges
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, class_of_each_row, pack
from shoal.table.rows import Rows


def evidence_of(
    table: Table, names: Sequence[str], policy: Policy, levels: Mapping[str, int] | None = None
) -> tuple[Evidence, int]:
    """Classes of equal boxes of a released table; rows that are `*` everywhere are counted apart.

    With a count column a row stands for many records; with a person column classes are of persons, and a person is
    suppressed whose rows all are.
    """
    if not names:  # nothing that others know: no classes
        return Evidence(np.zeros(0, np.int64)), 0
    ranges = [as_ranges(column, "yes", policy.null_rule == "wildcard") for column in table.select(names)]
    suppressed = np.logical_and.reduce([column.star for column in ranges])
    classes = np.full(table.rows, -1, np.int64)
    kept = np.flatnonzero(~suppressed)
    if len(kept):
        columns = [Coded(column.codes[kept], column.cardinality) for column in ranges]
        # `*` stands for all values of the original: never for the one that happens to be left to see
        columns += [Coded(column.star[kept], 2) for column in ranges if column.star.any()]
        classes[kept], _ = class_of_each_row(pack(columns))
    weights = Rows.of(table, names, policy.count).weights if policy.count else None
    sizes = None
    if policy.person is not None and policy.person not in table.columns:
        # whose rows they are is not shown, and what is not shown does not hold
        return Evidence(np.zeros(0, np.int64)), int(suppressed.sum())
    if policy.person is not None:
        person = table.select([policy.person])[0]
        classes, sizes = _by_person(classes, suppressed, person, linked_classes(person, policy.linked))
    models = policy.models
    needed = sorted({name for model in models for name in model.needs if name in table.columns})
    trees = trees_of(policy, table.select(needed))
    people = {}
    for source in sorted({model.needs_population for model in models if model.needs_population is not None}):
        population = read_population(source, policy.quasi_identifiers)
        given = given_hierarchies(policy.hierarchies, policy.quasi_identifiers)
        people[source] = people_in_classes(
            table.select(names), classes, population, given, policy.quasi_identifiers, levels
        )
    evidence = evidence_of_rows(
        classes,
        {name: table[name] for name in needed},
        keys={name: column.codes for name, column in zip(names, ranges, strict=True)},
        stars={name: column.star for name, column in zip(names, ranges, strict=True)},
        weights=weights,
        trees=trees,
        populations=people,
        sizes=sizes,
    )
    if policy.person is not None:  # members are persons, those who are suppressed too
        evidence = replace(evidence, records=table[policy.person].cardinality)
    return evidence, int(suppressed.sum() if weights is None else weights[suppressed].sum())


def _by_person(class_of_row: Array, suppressed: Array, person: Column, linked: Coded | None) -> tuple[Array, Array]:
    """The person's class in each row (-1: all rows of the person are suppressed), and the persons of each class."""
    stars = int(class_of_row.max(initial=-1)) + 1
    rows = np.where(suppressed, stars, class_of_row)
    classes, _ = classes_of_persons(rows, stars + 1, person, linked)
    shown = np.zeros(person.cardinality, bool)
    shown[person.codes[~suppressed]] = True
    dense = np.full(person.cardinality, -1, np.int64)
    if shown.any():
        dense[shown], _ = class_of_each_row(Coded(classes[shown], int(classes.max()) + 1))
    return dense[person.codes], np.bincount(dense[shown])


def trees_of(policy: Policy, columns: Sequence[Column]) -> dict[str, tuple[Array, ...]]:
    """The hierarchies of sensitive columns as nodes of their codes."""
    given = given_hierarchies(policy.hierarchies, [column.name for column in columns])
    found = [column for column in columns if column.name in given]
    return {fitted.column: tuple(fitted.codes) for fitted in fit_all(given, found, complete=True)}
