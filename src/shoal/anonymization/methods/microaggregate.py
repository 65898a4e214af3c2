"""`microaggregate`: means of groups of k near records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from pydantic import Field, field_validator

from shoal.anonymization.grouping import MakeGroups, boxes_by_unit, is_plain
from shoal.anonymization.households import households_of, of_households
from shoal.anonymization.methods.base import Importance, k_of, needs_k, t_closeness_of
from shoal.anonymization.methods.boxes import fits_groups, groups_persons, groups_that_fail
from shoal.anonymization.methods.categories import CategoryMethod
from shoal.anonymization.microaggregation import groups_of_points, microaggregate, sum_of_squares
from shoal.anonymization.partition import counted_groups
from shoal.anonymization.partition.kinds import Effort, FailsPolicy
from shoal.anonymization.units import GroupUnits, Units, about
from shoal.errors import InputError, as_names
from shoal.hierarchy.on_columns import Labelling
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import Form
from shoal.ranges.nodes import ColumnTree
from shoal.table import Array, Column, Table


class Microaggregate(CategoryMethod):
    """Groups of k near records, each value replaced by its group's mean (or, with `interval`, its range).

    >>> Microaggregate(strata="region").strata
    ['region']
    """

    name: ClassVar[str] = "microaggregate"
    does: ClassVar[str] = "means of groups of k near records"
    page: ClassVar[str] = "least-loss.md"
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz, improved"

    interval: Form = Field(
        default="mean",
        description="How groups are written: the records' mean, [20;29], 20-29, two columns, or the middle.",
    )
    effort: Effort = Field(
        default="default", description="How much time to spend on less loss: 1, 2 or 6 passes of exchanges."
    )
    mdav: bool = Field(default=False, description="The published algorithm MDAV, exactly.")
    strata: list[str] = Field(default=[], description="Groups never cross these columns.")
    importance: Importance = Field(default={}, description="How much a column matters; the policy's, otherwise 1.")

    @field_validator("strata", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return as_names(value)

    def lacks(self) -> str | None:
        """MDAV is what it is: it takes no effort."""
        if self.mdav and self.effort != "default":
            return "has no `effort` with `mdav`, which is the published algorithm: leave one of them out"
        return None

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """A k, and models that are judged group by group."""
        if policy.count is not None and self.mdav:
            return "has no MDAV for tables of counts (`count`): leave out `mdav`"
        reason = self.lacks() or needs_k(policy) or fits_groups(policy) or groups_persons(policy, table, self.strata)
        return reason or self._household_reason(table, policy)

    def _household_reason(self, table: Table, policy: Policy) -> str | None:
        homes = households_of(table, policy)
        if homes is None:
            return None
        columns, strata = table.select(policy.quasi_identifiers), table.select(self.strata)
        shared = of_households(columns, homes)
        if shared and len(of_households(strata, homes)) < len(strata):
            return "keeps households together (`household`), and `strata` cuts them apart"
        if 0 < len(shared) < len(columns) and self.interval == "mean":
            return (
                "has a mean either of households or of their members (`household`), and the quasi-identifiers are "
                "about both: set `interval` to bracket"
            )
        return None

    def check_columns(self, table: Table, policy: Policy) -> None:
        """Strata are columns of the table that stay as they are."""
        super().check_columns(table, policy)
        table.select(self.strata)
        both = [name for name in self.strata if name in policy.quasi_identifiers]
        if both:
            raise InputError(f"Column '{both[0]}' is a quasi-identifier and in `strata`.", "Decide on one of them.")

    def grouped(self, table: Table, policy: Policy, near: Mapping[str, Labelling]) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of the groups."""
        trees = _used(near)
        k, close = k_of(policy) or 0, t_closeness_of(policy)
        importance, columns = self.relative_importance(policy), table.select(policy.quasi_identifiers)
        if is_plain(table, policy):
            boxed = microaggregate(
                columns,
                k,
                self.effort,
                mdav=self.mdav,
                strata=table.select(self.strata),
                confidential=table[close.sensitive] if close and not self.strata and not self.mdav else None,
                t=close.t if close else None,
                importance=importance,
                fails_policy=groups_that_fail(table, policy),
                trees=trees,
            )
        else:
            make: MakeGroups = partial(self._groups, importance=importance, trees=trees)
            boxed = boxes_by_unit(table, policy, k, make, table.select(self.strata))
        parameters = {
            "k": k,
            "effort": self.effort,
            "mdav": self.mdav,
            "strata": list(self.strata),
            "importance": self.importance_by(policy),
            **({"t": close.t} if close else {}),
        }
        return boxed, parameters

    def _groups(
        self,
        columns: Sequence[Column],
        units: Units,
        k: int,
        *,
        importance: Mapping[str, float],
        trees: Mapping[str, ColumnTree],
    ) -> GroupUnits:
        """Groups of some units by some columns."""
        from shoal.anonymization.partition.coordinates import coordinates_apart

        points = coordinates_apart(columns, about(columns, importance), about(columns, trees))

        def group(some: Array, fails_policy: FailsPolicy | None) -> Array:
            if units.people is not None:
                return counted_groups(points[some], units.people[some], k, self.effort, fails_policy, squares=True)
            return groups_of_points(points[some], k, self.effort, self.mdav, 0, fails_policy)

        return group

    def more_findings(
        self, columns: Sequence[Column], boxed: Boxed, near: Mapping[str, Labelling], weights: Array | None
    ) -> dict[str, Any]:
        """SSE / SST of the groups, each column in units of its spread; none where nothing varies."""
        from shoal.anonymization.partition.coordinates import coordinates_apart

        within, whole = sum_of_squares(coordinates_apart(columns, trees=_used(near)), boxed.box_of_row, weights)
        return {"sse_ratio": within / whole if whole else None}


def _used(near: Mapping[str, Labelling]) -> dict[str, ColumnTree]:
    """Trees whose nodes are released, and those of columns that are too large for a coordinate per category."""
    from shoal.anonymization.partition.coordinates import MOST_APART

    trees = {name: (labelling.labels, labelling.on_column) for name, labelling in near.items()}
    return {name: tree for name, (labels, tree) in trees.items() if labels == "node" or len(tree.place) > MOST_APART}
