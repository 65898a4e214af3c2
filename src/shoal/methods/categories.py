"""Methods that group records of any columns: which categories are near, and how a group of them is written."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from shoal.methods.boxes import BoxMethod, around
from shoal.methods.results import Anonymized
from shoal.methods.units import Nested, units_of
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, Side
from shoal.ranges.forms import as_nodes, with_short_sets
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.ranges.hierarchy.on_columns import CategoryLabels, ColumnLabelling, labellings
from shoal.ranges.hierarchy.outside import check_labels
from shoal.storage import Array, Column, Table
from shoal.storage.rows import counting_records

if TYPE_CHECKING:
    from shoal.methods.search.plan import LatticePlan
    from shoal.policy.conditions import ColumnCondition
    from shoal.ranges.hierarchy import Hierarchy


class CategoryMethod(BoxMethod):
    """A method that makes boxes of categories too, by trees that are given, shipped or built."""

    hierarchies: Any = Field(
        default=None, description="A folder (for column c the file c.csv or …_c.csv), or per column a file or its rows."
    )
    complete_hierarchies: bool = Field(default=False, description="Put values without a leaf directly below *.")
    category_labels: CategoryLabels | None = Field(
        default=None,
        description="Groups of categories as the node above them (default where a tree is known) or as sets.",
    )
    largest_set: Annotated[int, Field(ge=2)] = Field(
        default=5, description="A set of more members than this is written as *."
    )

    @abstractmethod
    def grouped(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling]
    ) -> tuple[Boxed, dict[str, Any]]:
        """The boxes around groups of near records, and the parameters for the manifest."""

    def parted(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling]
    ) -> tuple[Table, Boxed, dict[str, Any]]:
        """The table whose rows lie in one box each, the boxes, and the parameters for the manifest."""
        return table, *self.grouped(table, policy, near)

    def planned(
        self, table: Table, policy: Policy, near: Mapping[str, ColumnLabelling], conditions: Sequence[ColumnCondition]
    ) -> Anonymized | None:
        """The rows in the boxes of a plan of cuts, where one is to be kept for new data."""
        return None

    def more_findings(
        self, columns: Sequence[Column], boxed: Boxed, near: Mapping[str, ColumnLabelling], weights: Array | None
    ) -> dict[str, Any]:
        """What only this method finds."""
        return {}

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Lay the categories out by their trees, group, label the groups, measure what was written."""
        names = policy.quasi_identifiers
        policy, labelled, near = self.laid_out(table, policy)
        if (planned := self.planned(table, policy, near, conditions)) is not None:
            return planned
        table, boxed, parameters = self.parted(table, policy, near)
        columns = table.select(names)
        findings = self.more_findings(columns, boxed, near, units_of(table, policy).weights_of_rows)
        if self.interval != "mean":  # the most frequent category stands for its group
            sides = {column.name: self.side_of(labelled, column, around(boxed, column)) for column in columns}
            boxed = boxed.with_sides(sides) if isinstance(boxed, Nested) else Boxed(boxed.box_of_row, sides)
        parameters["category_trees"] = sources_of(labelled)
        result = self.measured(table, policy, conditions, boxed, parameters, leaves_of(labelled))
        result = self.with_nodes(result, policy, labelled)
        return replace(result, findings=replace(result.findings, **findings))

    def laid_out(
        self, table: Table, policy: Policy
    ) -> tuple[Policy, dict[str, ColumnLabelling], dict[str, ColumnLabelling]]:
        """The policy with the trees that were given, how columns are labelled, and which lie along their tree."""
        names = policy.quasi_identifiers
        given = given_hierarchies(self.hierarchies or policy.hierarchies, [*names, *sorted(policy.needed)])
        if given:
            from shoal.methods.search.plan import embedded

            policy = embedded(policy, given)
        columns = table.select(names)
        trees = {name: tree for name, tree in trees_in_values(given, columns).items() if name in names}
        counted = counting_records(table, names, policy.count)
        pairs = None
        if table.elsewhere is not None:
            from shoal.methods.partition.in_parts import pair_counts

            pairs = pair_counts(table, names)
        labelled = labellings(counted, trees, self.category_labels, self.complete_hierarchies, pairs)
        check_labels(
            {name: tree for name, tree in trees.items() if name in labelled and labelled[name].labels == "node"}
        )
        near = {name: labelling for name, labelling in labelled.items() if labelling.labels != "range"}
        return policy, labelled, near

    def with_nodes(self, result: Anonymized, policy: Policy, labelled: Mapping[str, ColumnLabelling]) -> Anonymized:
        """A result with what its nodes hold: for the owner of the release, for they name values of the data."""
        shown = {name: labelled[name].tree for name, column in result.columns.items() if column.form.kind == "node"}
        return replace(result, plan=_plan(policy, shown))

    def side_of(self, labelled: Mapping[str, ColumnLabelling], column: Column, boxed: Boxed) -> Side:
        """A column of boxes as it is labelled."""
        labelling = labelled.get(column.name)
        if labelling is not None and labelling.labels == "node":
            return as_nodes(column, boxed, labelling.on_column)
        return with_short_sets(boxed.sides[column.name], self.largest_set)


def leaves_of(labelled: Mapping[str, ColumnLabelling]) -> dict[str, Array]:
    """The leaves of trees over columns of numbers."""
    leaves = {name: labelling.leaf_numbers for name, labelling in labelled.items()}
    return {name: numbers for name, numbers in leaves.items() if numbers is not None}


def sources_of(labelled: Mapping[str, ColumnLabelling]) -> dict[str, dict[str, str]]:
    """How columns are labelled, for the manifest."""
    return {name: {"labels": labelling.labels, "source": labelling.source} for name, labelling in labelled.items()}


def _plan(policy: Policy, trees: Mapping[str, Hierarchy]) -> LatticePlan | None:
    """What the labels of trees hold, for the owner of a release."""
    if not trees:
        return None
    from shoal.methods.search.plan import LatticePlan

    return LatticePlan(policy, dict(trees), [])
