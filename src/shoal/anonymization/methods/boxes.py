"""Methods that give every row a box: how boxes are written, measured and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import Field

from shoal.anonymization.findings import Findings, evidence_of_result, findings_of, judged
from shoal.anonymization.methods.base import Method, t_closeness_of
from shoal.anonymization.partition.kinds import FailsPolicy
from shoal.anonymization.results import Anonymized
from shoal.judgement.evidence import trees_of
from shoal.models import KAnonymity, XYAnonymity
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.boxed import Boxed, has_order
from shoal.ranges.columns import Form, ReleasedColumns, released_columns
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, class_of_each_row, pack
from shoal.utility.box_loss import loss_of_boxes

# boxes as a function of columns, and the parameters for the manifest
MakeBoxes = Callable[[Sequence[Column]], Boxed]


class BoxMethod(Method):
    """A method that makes boxes."""

    interval: Form = Field(
        default="bracket",
        description="How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
    )

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """The boxes of some columns as a function, and the parameters for the manifest."""
        raise NotImplementedError

    def boxed(self, table: Table, policy: Policy) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of a table, and the parameters for the manifest."""
        make, parameters = self.boxes(table, policy)
        return make(table.select(policy.quasi_identifiers)), parameters

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Make the boxes, write them, measure what was written."""
        boxed, parameters = self.boxed(table, policy)
        return self.measured(table, policy, conditions, boxed, parameters)

    def measured(
        self,
        table: Table,
        policy: Policy,
        conditions: Sequence[ColumnCondition],
        boxed: Boxed,
        parameters: dict[str, Any],
        leaves: Mapping[str, Array] | None = None,
    ) -> Anonymized:
        """The boxes written, and what was written measured; `leaves`: of trees over columns of numbers."""
        columns = table.select(policy.quasi_identifiers)
        released = {column.name: released_columns(column, boxed, self.interval) for column in columns}
        means = self.interval == "mean"
        # boxes that are equal may have different means
        shown = [column.encoded[0] for column in released.values()] if means else []
        classes = class_of_each_row(pack(shown)) if shown else boxed.class_of_each_row()
        classes = without_suppressed(classes, list(released.values()))
        findings = findings_of(table, columns, boxed, released, classes, conditions, t_closeness_of(policy), means)
        findings = _without_order(findings, columns)
        if all(column.nature in ("truthful", "unchanged") for column in released.values()):
            findings = replace(findings, loss=loss_of_boxes(columns, boxed, leaves))
        models = judged(policy, evidence_of_result(table, policy, released, classes[0]))
        parameters = {**parameters, "interval": self.interval}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)


def without_suppressed(classes: tuple[Array, int], released: Sequence[ReleasedColumns]) -> tuple[Array, int]:
    """The class of each row and their number; rows that are `*` in every column are in none (-1)."""
    class_of_row, count = classes
    stars = np.asarray(np.logical_and.reduce([column.suppressed for column in released]))
    if not stars.any():
        return classes
    kept, count = class_of_each_row(Coded(class_of_row[~stars], count)) if not stars.all() else (class_of_row[:0], 0)
    found = np.full(len(class_of_row), -1, np.int64)
    found[~stars] = kept
    return found, count


def _without_order(findings: Findings, columns: Sequence[Column]) -> Findings:
    """The papers' information loss is a distance between values: categories have none."""
    ordered = {column.name for column in columns if has_order(column)}
    if len(ordered) == len(columns):
        return findings
    by_column = {name: loss for name, loss in findings.information_loss_by_column.items() if name in ordered}
    return replace(findings, information_loss=None, information_loss_by_column=by_column)


def fits_groups(policy: Policy) -> str | None:
    """Why a model cannot be judged group by group."""
    for model in policy.models:
        if model.whole or model.needs_population or isinstance(model, XYAnonymity):
            return f"does not make groups for the model {model.model}"
    return None


def groups_that_fail(table: Table, policy: Policy) -> FailsPolicy | None:
    """Which groups break a model other than k-anonymity, which the partition keeps by itself."""
    models = [model for model in policy.models if not isinstance(model, KAnonymity)]
    if not models:
        return None
    sensitive = {name: table.select([name])[0] for model in models for name in model.needs}
    trees = trees_of(policy, list(sensitive.values()))

    def fails_policy(group_of_row: Array, count: int) -> Array:
        evidence = evidence_of_rows(group_of_row, sensitive, trees=trees)
        return np.asarray(np.logical_or.reduce([~model.good(model.measure(evidence)) for model in models]))

    return fails_policy
