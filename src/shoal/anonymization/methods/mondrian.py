"""`mondrian`: groups of k near records, of any columns, under any model that is judged group by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from shoal.anonymization.cut_plan import CutPlan
from shoal.anonymization.grouping import MakeGroups, boxes_by_unit, is_plain
from shoal.anonymization.methods.base import Importance, k_of, needs_k, takes_records_only
from shoal.anonymization.methods.boxes import fits_groups, groups_persons, groups_that_fail
from shoal.anonymization.methods.categories import CategoryMethod
from shoal.anonymization.partition import Cuts, Effort, FailsPolicy, coordinates_of, counted_groups, grouped, partition
from shoal.anonymization.results import Anonymized
from shoal.anonymization.units import GroupUnits, Units, about
from shoal.hierarchy.on_columns import Labelling
from shoal.models import KAnonymity
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.boxed import Boxed, check_k
from shoal.ranges.nodes import ColumnTree
from shoal.table import Array, Column, Table

if TYPE_CHECKING:
    from shoal.compiled import Rehearsal

# records from which on a table of tuples is cut into parts, which are grouped side by side
_IN_PARTS = 1 << 22


class Mondrian(CategoryMethod):
    """Groups of k records that are near each other in all columns at once, each released as its box.

    >>> Mondrian(effort="best").effort
    'best'
    """

    name: ClassVar[str] = "mondrian"
    does: ClassVar[str] = "groups of k near records, any columns, least loss"
    page: ClassVar[str] = "least-loss.md"
    source: ClassVar[str] = "LeFevre et al., improved"
    by_default: ClassVar[bool] = True

    effort: Effort = Field(
        default="default",
        description="How much time to spend on less loss: no pass of exchanges, one, or several thorough ones.",
    )
    cuts: Cuts = Field(default="best", description="Cut by least loss, or at medians as published (strict, relaxed).")
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")
    plan: bool = Field(
        default=False,
        description="Boxes between cuts that are kept (private), so that new data can be released alike (`apply`).",
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, and models that are judged group by group."""
        if self.plan and (self.cuts == "relaxed" or self.interval == "mean"):
            return "has no plan with relaxed cuts or means: new records have no place there"
        if self.plan and (reason := takes_records_only(policy)) is not None:
            return f"with a `plan` {reason}"
        if policy.count is not None and self.cuts != "best":
            return "cuts tables of counts (`count`) by least loss only: leave out `cuts`"
        return needs_k(policy) or fits_groups(policy) or groups_persons(policy, table)

    def rehearsals(self) -> Sequence[Rehearsal]:
        """Grouping and exchanging; other ways of cutting are compiled as they are used."""
        from shoal.anonymization.partition.rehearsals import EXCHANGE, GROUP

        searched = self.cuts == "best" and self.effort != "fast" and not self.plan
        return [EXCHANGE, GROUP] if searched else []

    def grouped(self, table: Table, policy: Policy, near: Mapping[str, Labelling]) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of the groups."""
        k, importance = k_of(policy) or 0, self.relative_importance(policy)
        trees = {name: labelling.on_column for name, labelling in near.items()}
        if is_plain(table, policy):
            boxed = partition(
                table.select(policy.quasi_identifiers),
                k,
                self.effort,
                cuts=self.cuts,
                importance=importance,
                fails_policy=groups_that_fail(table, policy),
                trees=trees,
            )
        else:
            make: MakeGroups = partial(self._groups, policy=policy, trees=trees)
            boxed = boxes_by_unit(table, policy, k, make)
        return boxed, self._parameters(policy)

    def by_tuple(self, policy: Policy) -> int | None:
        """Large tables are cut into parts, where k-anonymity is all that is asked for."""
        alone = all(isinstance(model, KAnonymity) for model in policy.models)
        return _IN_PARTS if alone and self.cuts == "best" and not self.plan else None

    def parted(
        self, table: Table, policy: Policy, near: Mapping[str, Labelling]
    ) -> tuple[Table, Boxed, dict[str, Any]]:
        """A table of tuples is cut into parts, each grouped by itself."""
        if table.records is None:
            return super().parted(table, policy, near)
        from shoal.anonymization.partition.in_parts import partition_tuples

        k, importance = k_of(policy) or 0, self.relative_importance(policy)
        trees = {name: labelling.on_column for name, labelling in near.items()}
        parted, boxed = partition_tuples(table, policy.quasi_identifiers, k, self.effort, importance, trees)
        return parted, boxed, self._parameters(policy)

    def _groups(
        self, columns: Sequence[Column], units: Units, k: int, *, policy: Policy, trees: Mapping[str, ColumnTree]
    ) -> GroupUnits:
        """Groups of some units by some columns."""
        points = coordinates_of(columns, about(columns, self.relative_importance(policy)), about(columns, trees))

        def group(some: Array, fails_policy: FailsPolicy | None) -> Array:
            if units.people is not None:
                return counted_groups(points[some], units.people[some], k, self.effort, fails_policy)
            return grouped(points[some], k, self.effort, self.cuts, 0, fails_policy).group_of_each_row()[0]

        return group

    def planned(
        self, table: Table, policy: Policy, near: Mapping[str, Labelling], conditions: Sequence[ColumnCondition]
    ) -> Anonymized | None:
        """The rows in the boxes of the cuts, if these are to be kept."""
        plan = self.cut_plan(table, policy, near)
        return None if plan is None else self.by_plan(table, plan, conditions)

    def cut_plan(self, table: Table, policy: Policy, near: Mapping[str, Labelling]) -> CutPlan | None:
        """Where the table is cut, if that is to be kept: no records change groups afterwards."""
        if not self.plan:
            return None
        from shoal.anonymization.methods.by_cuts import find_cuts

        columns, fails = table.select(policy.quasi_identifiers), groups_that_fail(table, policy)
        k, importance = k_of(policy) or 0, self.relative_importance(policy)
        check_k(k, table.rows)
        cells, cuts = find_cuts(columns, k, self.cuts, importance, fails, near)
        options = self.model_dump(mode="json", exclude_defaults=True, exclude={"hierarchies", "importance", "plan"})
        return CutPlan(policy, cells, **cuts, options=options)

    def by_plan(self, table: Table, plan: CutPlan, conditions: Sequence[ColumnCondition] = ()) -> Anonymized:
        """The rows of a table in the boxes of a plan; what fits nowhere, or breaks the policy here, is suppressed."""
        from shoal.anonymization.methods.by_cuts import fill

        boxed, nowhere = fill(plan, table, groups_that_fail, self.largest_set)
        parameters = {"k": k_of(plan.policy), "cuts": self.cuts, "plan": True}
        result = self.measured(table, plan.policy, conditions, boxed, parameters)
        return replace(result, plan=plan, findings=replace(result.findings, unseen_rows=nowhere))

    def _parameters(self, policy: Policy) -> dict[str, Any]:
        importance = self.importance_by(policy)
        return {"k": k_of(policy) or 0, "effort": self.effort, "cuts": self.cuts, "importance": importance}
