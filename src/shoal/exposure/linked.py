"""Identity risk of persons by all tables in which they have rows."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from shoal.errors import InputError, Message, Setting
from shoal.exposure.journalist import attacker_risk
from shoal.exposure.results import IdentityRisk, SizeCount
from shoal.policy import Policy
from shoal.policy.judgement.linked_tables import LinkedTables, judge_views, read_linked
from shoal.policy.thresholds import find_threshold
from shoal.verbs.measuring import RiskRequest
from shoal.wording import counted


def risk_of_tables(source: Any, policy: Policy, asked: RiskRequest) -> IdentityRisk:
    """A person's class is that of the persons with the same view: own row, rows that point at them, how many."""
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
    sizes, classes = np.unique(views.sizes, return_counts=True)
    members = sizes * classes
    prosecutor = attacker_risk(members, 1 / np.maximum(sizes, 1), limit)
    uniques = int(classes[sizes == 1].sum())
    rows = zip(sizes.tolist(), classes.tolist(), members.tolist(), strict=True)
    return IdentityRisk(
        records=sum(table.rows for table in linked.tables.values()),
        removed_rows=sum(linked.orphans.values()),
        persons=linked.persons,
        classes=len(views.sizes),
        uniques=uniques,
        uniqueness=uniques / max(linked.persons, 1),
        k=int(sizes[0]) if len(sizes) else 0,
        null_rule="value",
        quasi_identifiers=relations.quasi_identifiers(),
        undecided=0,
        suppressed_rows=0,
        prosecutor=prosecutor,
        journalist=None,
        journalist_by=None,
        risk_over="sample",
        marketer=prosecutor,
        histogram=[SizeCount(*row) for row in rows],
        models=views.models,
        generalized={},
        readings={},
        population_table=None,
        threshold_name=limit.name,
        missing={},
        notes=[
            "persons are alike where all rows that point at them are, in all tables, and as many of each",
            *(
                f"{name}: {counted(count, 'row')} of nobody, not measured"
                for name, count in linked.orphans.items()
                if count
            ),
        ],
    )
