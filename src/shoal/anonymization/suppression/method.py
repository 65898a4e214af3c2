"""Local suppression as a method: the model that it keeps, the changed table, both readings of suppressed cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.anonymization.suppression import Reading, suppress
from shoal.anonymization.suppression.shown import boxes_of, shown
from shoal.errors import InputError, check_choice
from shoal.models import KAnonymity, KMatching
from shoal.models.k_matching import readings_of
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.table import Table
from shoal.utility.loss import change_of, information_loss

if TYPE_CHECKING:
    from shoal.anonymization.findings import Anonymized


def policy_to_keep(
    policy: Policy, k_alone: bool, reading: str | None, all_m: int | None
) -> tuple[Policy, int, Reading, int | None]:
    """The policy with the model that suppression is to keep, its k, the reading, and m.

    A policy that asks for k-anonymity means classes of equal records. A k without such a policy is read as survey
    statisticians do, where a suppressed cell matches anything; the model is then called so.

    >>> asked = Policy(models=[KAnonymity(k=3)])
    >>> policy_to_keep(asked, False, None, None)[2], policy_to_keep(asked, True, None, None)[2]
    ('strict', 'wildcard')
    """
    about_k = [model for model in policy.models if isinstance(model, (KAnonymity, KMatching))]
    if not about_k:
        raise InputError("This method needs k.", "Give -k 5, or a k-anonymity model in the policy.")
    check_choice("reading", reading or "strict", ("wildcard", "strict"))
    k = max(model.k for model in about_k)
    others = [model for model in policy.models if model not in about_k]
    asked = [model for model in about_k if isinstance(model, KMatching)]
    by_policy = "strict" if len(asked) < len(about_k) and not k_alone else "wildcard"
    if (reading or by_policy) == "strict":
        return policy.model_copy(update={"models": [KAnonymity(k=k), *asked, *others]}), k, "strict", all_m
    m = all_m if all_m is not None or not asked else asked[0].m
    return policy.model_copy(update={"models": [KMatching(k=k, m=m), *others]}), k, "wildcard", m


def by_suppression(
    table: Table,
    policy: Policy,
    k_alone: bool,
    reading: str | None,
    importance: Mapping[str, float],
    all_m: int | None,
    conditions: Sequence[ColumnCondition] = (),
) -> Anonymized:
    """Few cells suppressed so that every record reaches k by a reading; the other reading stands beside it."""
    from shoal.anonymization.findings import Anonymized, evidence_of_result, findings_of
    from shoal.anonymization.methods import t_closeness_of

    policy, k, kept, m = policy_to_keep(policy, k_alone, reading, all_m)
    columns = table.select(policy.quasi_identifiers)
    found = suppress(columns, k, kept, importance, m, policy.null_rule)
    released, classes = shown(found)
    evidence = evidence_of_result(table, policy, released, classes[0], shown_values=True)
    verdicts = [model.judge(evidence) for model in policy.models]
    readings = readings_of(evidence)
    findings = findings_of(table, columns, None, released, classes, conditions, t_closeness_of(policy), None, False)
    boxed = boxes_of(found)
    if boxed is not None:
        loss = information_loss(columns, boxed)
        findings = replace(
            findings,
            information_loss=loss.total,
            information_loss_by_column=loss.by_column,
            change=change_of(columns, boxed),
        )
    findings = replace(
        findings,
        k=readings[kept]["k"],
        uniques=readings[kept]["uniques"],
        search={
            "reading": kept,
            "readings": readings,
            "suppressed_cells_by_column": found.cells_by_column,
            "least_cells": found.least_cells,
            # the fewest matches on any combination of m columns
            **({} if m is None else {"all_m": {"m": m, "k": verdicts[0].worst["matches"]}}),
        },
    )
    parameters = {"k": k, "reading": kept, "importance": dict(importance), "all_m": m}
    return Anonymized(table, policy, "suppress", parameters, released, findings, verdicts)
