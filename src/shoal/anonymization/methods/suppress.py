"""`suppress`: few cells are suppressed, so that every record reaches k by one of two readings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.anonymization.findings import evidence_of_result, findings_of, judged
from shoal.anonymization.households import households_of, of_households, one_of_them
from shoal.anonymization.methods.base import NEEDS_K, Importance, Method, closeness_told, k_of
from shoal.anonymization.methods.boxes import with_members
from shoal.anonymization.outcomes import ReadingFigures, SubsetFigures, SuppressionOutcome
from shoal.anonymization.results import Anonymized
from shoal.anonymization.suppression import Reading, Suppressed, suppress
from shoal.anonymization.suppression.shown import boxes_of, shown
from shoal.anonymization.suppression.together import suppressed_together
from shoal.anonymization.units import Units, units_of, varies_within_persons
from shoal.errors import InputError
from shoal.models import KAnonymity, KMatching
from shoal.models.k_matching import readings_of
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded
from shoal.utility.box_loss import loss_of_shares
from shoal.utility.loss import change_of, information_loss


class Suppress(Method):
    """Local suppression: as few cells as needed become `*`.

    >>> Suppress(reading="strict").reading
    'strict'
    """

    name: ClassVar[str] = "suppress"
    does: ClassVar[str] = "few cells are suppressed, so that every record matches or looks like k others"
    source: ClassVar[str] = "[Local suppression](suppression.md)"

    reading: Reading | None = Field(
        default=None, description="A suppressed cell matches anything (with k), or is a value of its own (k-anonymity)."
    )
    importance: Importance = Field(
        default={}, description="What a cell of a column is worth; the policy's, otherwise 1."
    )
    subset_size: int | None = Field(
        default=None,
        ge=1,
        description="Protect every combination of so many quasi-identifiers, not all of them together.",
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, by either reading."""
        matching = [model for model in policy.models if isinstance(model, KMatching)]
        if k_of(policy) is None and not matching:
            return NEEDS_K
        if policy.person is not None and (self.reading == "wildcard" or matching):
            return "reads `*` as a value where rows belong to persons (`person`): k-matching has no meaning for them"
        sizes = [self.subset_size, *(model.m for model in matching)]
        if policy.household is not None and any(size is not None for size in sizes):
            return "protects combinations of columns (`subset_size`) of single records, not of households (`household`)"
        return one_of_them(policy) or varies_within_persons(table, policy, policy.quasi_identifiers)

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Suppress, and measure by both readings."""
        reading = "strict" if policy.person is not None else self.reading
        policy, k, kept, size = policy_to_keep(policy, k_without_policy, reading, self.subset_size)
        columns, units = table.select(policy.quasi_identifiers), units_of(table, policy)
        importance = self.relative_importance(policy)

        def few_cells(columns: Sequence[Column], people: Array | None = None) -> Suppressed:
            return suppress(columns, k, kept, importance, size, policy.null_rule, people)

        cells = few_cells(columns, units.people) if units.stratum is None else by_person(columns, units, k, few_cells)
        homes, weights = households_of(table, policy), units.weights_of_rows
        if homes is not None:
            shared = [column.name for column in of_households(columns, homes)]
            together = Coded(homes.of_row, homes.count)
            cells = suppressed_together(cells, shared, together, k, kept, policy.null_rule)
        released, classes = shown(cells)
        evidence = evidence_of_result(table, policy, released, classes[0], shown_values=True)
        models = judged(policy, evidence)
        close = closeness_told(policy)
        findings = findings_of(table, columns, None, released, classes, conditions, close, weights=weights)
        if not units.plain:
            findings = with_members(findings, evidence)
        readings = {name: ReadingFigures(**figures) for name, figures in readings_of(evidence).items()}
        if policy.person is not None:
            readings = {"strict": ReadingFigures(findings.k, findings.uniques)}
        boxed = boxes_of(cells)
        if boxed is not None:
            loss = information_loss(columns, boxed, weights)
            findings = replace(
                findings,
                information_loss=loss.total,
                information_loss_by_column=loss.by_column,
                change=change_of(columns, boxed),
            )
        # the fewest matches on any combination of so many columns
        subset = None if size is None else SubsetFigures(size, models[0].worst["matches"])
        findings = replace(
            findings,
            k=readings[kept].k,
            uniques=readings[kept].uniques,
            loss=_loss(cells, weights),
            suppression=SuppressionOutcome(kept, readings, cells.cells_by_column, cells.least_cells, subset),
        )
        parameters = {"k": k, "reading": kept, "importance": self.importance_by(policy), "subset_size": size}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)


def by_person(
    columns: Sequence[Column], units: Units, k: int, few_cells: Callable[[Sequence[Column]], Suppressed]
) -> Suppressed:
    """Cells suppressed in all rows of a person; persons whom fewer than k share their number of rows, throughout."""
    own = units.columns(columns)
    masks, least = np.full(units.count, (1 << len(columns)) - 1, np.int64), 0
    for some in units.strata():
        rows = len(units.rows_of(some)[0])
        if len(some) < k:
            least += rows
            continue
        found = few_cells([column.take(some) for column in own])
        masks[some] = found.masks
        least += found.least_cells * (rows // len(some))
    return Suppressed(columns, masks[units.of_row], least)


def _loss(cells: Suppressed, weights: Array | None) -> float:
    """The loss of all columns: a suppressed cell stands for every value, the others for themselves."""
    counts = [column.cardinality for column in cells.columns]
    stars = [float(np.average(cells.cells(place), weights=weights)) for place in range(len(counts))]
    return loss_of_shares(counts, [1 + star * (count - 1) for star, count in zip(stars, counts, strict=True)])


def policy_to_keep(
    policy: Policy, k_without_policy: bool, reading: Reading | None, subset_size: int | None
) -> tuple[Policy, int, Reading, int | None]:
    """The policy with the model that suppression is to keep, its k, the reading, and the size of subsets.

    A policy that asks for k-anonymity means classes of equal records. A k without such a policy is read as survey
    statisticians do, where a suppressed cell matches anything; the model is then called so.

    >>> asked = Policy(models=[KAnonymity(k=3)])
    >>> policy_to_keep(asked, False, None, None)[2], policy_to_keep(asked, True, None, None)[2]
    ('strict', 'wildcard')
    """
    about_k = [model for model in policy.models if isinstance(model, (KAnonymity, KMatching))]
    if not about_k:  # another model implies a k, in classes of equal records
        about_k = [KAnonymity(k=k_of(policy) or 2)]
    k = max([*(model.k for model in about_k), k_of(policy) or 2])
    others = [model for model in policy.models if model not in about_k]
    asked = [model for model in about_k if isinstance(model, KMatching)]
    by_policy = "strict" if len(asked) < len(about_k) and not k_without_policy else "wildcard"
    if reading == "wildcard" and by_policy == "strict":
        raise InputError(
            "The policy names k-anonymity, which a suppressed cell that matches anything does not keep.",
            "Name k-matching in the policy, or leave out `reading`.",
            settings=["reading"],
        )
    if (reading or by_policy) == "strict":
        return policy.model_copy(update={"models": [KAnonymity(k=k), *asked, *others]}), k, "strict", subset_size
    size = subset_size if subset_size is not None or not asked else asked[0].m
    return policy.model_copy(update={"models": [KMatching(k=k, m=size), *others]}), k, "wildcard", size
