"""`sorted-clusters`: Sánchez et al., Algorithm S2, with t-closeness S4."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field

from shoal.anonymization.households import refuses_households
from shoal.anonymization.methods.base import k_of, needs_k, needs_numbers, t_closeness_of
from shoal.anonymization.methods.boxes import BoxesOnDisk, MakeBoxes, groups_persons
from shoal.anonymization.transforms.counted_clusters import close_tuples, sorted_tuples
from shoal.anonymization.transforms.safe_first import untouched_if_safe
from shoal.anonymization.transforms.sorted_clusters import Remainder, close_clusters, sorted_clusters
from shoal.anonymization.units import boxes_of_units, groups_in_strata, units_of
from shoal.models import KAnonymity, TCloseness
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, spread
from shoal.ranges.on_disk import BoxedByColumn
from shoal.table import Column, Table
from shoal.table.spill import Spill

# records from which on a t-closeness by their ranks, which are told apart one by one, is not measured
_RANKED = 20_000_000


class SortedClusters(BoxesOnDisk):
    """Records sorted by distance, cut into clusters of k; with t-closeness one record of every stretch of its order.

    >>> SortedClusters(remainder="middle").remainder
    'middle'
    """

    name: ClassVar[str] = "sorted-clusters"
    does: ClassVar[str] = (
        "records sorted by distance and cut into clusters of k, each value becomes its cluster's range"
    )
    source: ClassVar[str] = "Sánchez et al., Algorithms S2 and (with t) S4"
    by_default: ClassVar[bool] = True

    remainder: Remainder = Field(default="top", description="With t: from where in the order records are left over.")
    untouched_if_safe: bool = Field(
        default=False, description="Leave records as they are whose class has k members already (k alone)."
    )

    def allowed(self, table: Table, policy: Policy) -> str | None:
        """Numbers and dates, k-anonymity and the t-closeness of one column."""
        if policy.count is not None:
            return "sorts records, and does not take tables of counts (`count`): use mondrian or the lattice"
        reason = needs_k(policy) or refuses_households(policy, "cuts households apart") or groups_persons(policy, table)
        if reason is not None:
            return reason
        if policy.person is not None and t_closeness_of(policy) is not None:
            return "keeps the t-closeness of records, not of persons (`person`): use mondrian or the lattice"
        others = [model.model for model in policy.models if not isinstance(model, (KAnonymity, TCloseness))]
        if others or sum(isinstance(model, TCloseness) for model in policy.models) > 1:
            return "keeps k-anonymity and the t-closeness of one column only"
        if self.untouched_if_safe and t_closeness_of(policy) is not None:
            return "has the option `untouched_if_safe` with k alone, without t-closeness"
        return needs_numbers(table, policy)

    def boxed(self, table: Table, policy: Policy) -> tuple[Boxed, dict[str, Any]]:
        """The clusters, of all records or of those that are not safe yet."""
        make, parameters = self.boxes(table, policy)
        columns, units, k = table.select(policy.quasi_identifiers), units_of(table, policy), k_of(policy) or 0
        parameters = {**parameters, "untouched_if_safe": self.untouched_if_safe}

        def boxes_around(some: Sequence[Column]) -> Boxed:
            return untouched_if_safe(some, k, make) if self.untouched_if_safe else make(some)

        if units.plain:
            return boxes_around(columns), parameters
        own = units.columns(columns)
        groups = groups_in_strata(
            units, k, None, policy.suppression, lambda some, _: boxes_around([c.take(some) for c in own]).box_of_row
        )
        return boxes_of_units(columns, units, groups), parameters

    def parameters_of(self, policy: Policy) -> dict[str, Any]:
        """k, and with t-closeness what is left over."""
        close = t_closeness_of(policy)
        more = {} if close is None else {"t": close.t, "remainder": self.remainder}
        return {"k": k_of(policy) or 0, **more, "untouched_if_safe": self.untouched_if_safe}

    def refused_on_disk(self) -> str | None:
        """Records that are safe already are told by all records."""
        return "`untouched_if_safe` is not supported" if self.untouched_if_safe else super().refused_on_disk()

    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """Clusters of k by an external sort."""
        from shoal.anonymization.on_disk.clusters import close_clusters_on_disk, sorted_clusters_on_disk

        k, close, columns = k_of(policy) or 0, t_closeness_of(policy), table.select(policy.quasi_identifiers)
        if close is None:
            return sorted_clusters_on_disk(columns, k, spill)
        return close_clusters_on_disk(columns, table[close.sensitive], k, close.t, self.remainder, spill)

    def by_tuple(self, policy: Policy) -> int | None:
        """Records that are equal are parted by their number alone."""
        if self.untouched_if_safe:
            return None
        return 0 if t_closeness_of(policy) is None else _RANKED

    def parted(self, table: Table, policy: Policy) -> tuple[Table, Boxed, dict[str, Any]]:
        """A table of tuples is cut by how often they occur."""
        if table.records is None:
            return super().parted(table, policy)
        names, k, close = policy.quasi_identifiers, k_of(policy) or 0, t_closeness_of(policy)
        parameters = self.parameters_of(policy)
        if close is None:
            spreads = {column.name: spread(column) for column in table.select(names)}
            return *sorted_tuples(table, names, k, spreads), parameters
        return *close_tuples(table, names, close.sensitive, k, close.t, self.remainder), parameters

    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """Clusters of k."""
        k, close = k_of(policy) or 0, t_closeness_of(policy)
        if close is None:
            # distances are in units of the whole table's spread, also where only a part of the rows is changed
            spreads = {column.name: spread(column) for column in table.select(policy.quasi_identifiers)}
            return lambda columns: sorted_clusters(columns, k, spreads), {"k": k}
        confidential, t = table[close.sensitive], close.t
        parameters = {"k": k, "t": t, "remainder": self.remainder}
        return lambda columns: close_clusters(columns, confidential, k, t, self.remainder), parameters
