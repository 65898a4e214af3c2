"""The leak section of a policy, held against a released table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from shoal.errors import InputError
from shoal.judgement.persons import linked_classes
from shoal.leakage.inverse import exact_limit, keeps_threshold
from shoal.leakage.persons import People
from shoal.leakage.results import in_figures
from shoal.leakage.several import several_persons
from shoal.policy import Policy
from shoal.policy.amounts import parse_leaks
from shoal.policy.thresholds import find_threshold
from shoal.table import Table
from shoal.table.rows import Rows
from shoal.table.table import on_disk
from shoal.wording import counted


def leak_check(
    table: Table, names: Sequence[str], policy: Policy, starred: Collection[str] | None = None
) -> tuple[bool, str]:
    """Whether a leak of the policy's size keeps its threshold, and in words why; what cannot be measured does not hold.

    `starred` names the columns in which `*` is a suppressed cell; without it, any text column.

    >>> from shoal.reading import read
    >>> table = read({"age": [30, 30, 41, 41]})
    >>> policy = Policy.model_validate({"leak": {"leaked": "100%", "threshold": 0.5}})
    >>> leak_check(table, ["age"], policy)
    (True, '4 of 4 persons leaked, 1 target: probability 0.5 (50.0%), at most 0.5 is allowed')
    """
    wanted = policy.leak
    if wanted is None:
        return True, "no limit"
    try:
        needed = [name for name in (policy.person, policy.count) if name is not None]
        table.select(needed)
        count = policy.count
        if policy.person is None and any(on_disk(column.codes) for column in table.select(names)):
            from shoal.table.tuples import tuples_on_disk

            table, count = tuples_on_disk(table, names, count)
        rows = Rows.of(table, names, count, policy.person)
        if rows.person is not None:
            rows = replace(rows, linked=linked_classes(rows.person, policy.linked))
        rows, _ = rows.without_nulls(policy.null_rule)
        classes = People.of(rows, policy.null_rule, "auto", starred).sizes()
        (leaked,) = parse_leaks(wanted.leaked, classes.persons)
        limit = find_threshold(wanted.threshold)
        probability = several_persons(classes, leaked, wanted.targets).probability
        holds = keeps_threshold(classes, leaked, wanted.targets, exact_limit(limit.value))
    except InputError as error:
        return False, f"it cannot be measured: {error.what}"
    who = f"{leaked:,} of {counted(classes.persons, 'person')} leaked, {counted(wanted.targets, 'target')}"
    return holds, f"{who}: probability {in_figures(probability)}, at most {limit.value:.4g} is allowed"
