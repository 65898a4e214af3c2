"""Methods that give every row a box: how boxes are written, measured and judged."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from shoal.errors import InputError, Message
from shoal.methods.base import Method, closeness_told
from shoal.methods.results import Anonymized, Findings, evidence_of_result, findings_of, judged, with_members
from shoal.methods.units import (
    GroupCheck,
    Nested,
    is_plain,
    mean_weights,
    one_of_them,
    suppressed_rows_of,
    units_of,
    varies_within_persons,
)
from shoal.models import XYAnonymity
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, BoxedByColumn, Side, has_order
from shoal.ranges.columns import Form, ReleasedColumns, released_columns
from shoal.ranges.forms import as_nodes, with_short_sets
from shoal.ranges.hierarchy.given import given_hierarchies, trees_in_values
from shoal.ranges.hierarchy.on_columns import CategoryLabels, ColumnLabelling, labellings
from shoal.ranges.hierarchy.outside import check_labels
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.rows import counting_records
from shoal.utility.cost import cost_of_boxes
from shoal.utility.loss import change_of, information_loss, loss_of_boxes
from shoal.wording import counted

if TYPE_CHECKING:
    from shoal.methods.search.generalize import LatticePlan
    from shoal.policy.conditions import ColumnCondition
    from shoal.ranges.hierarchy import Hierarchy
    from shoal.storage.spill import Spill


# boxes as a function of columns, and the parameters for the manifest
MakeBoxes = Callable[[Sequence[Column]], Boxed]


class BoxMethod(Method):
    """A method that makes boxes."""

    interval: Form = Field(
        default="bracket",
        description="How ranges are written: [20;29], 20-29, two columns, the middle, or the records' mean.",
    )

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
        columns, means = table.select(policy.quasi_identifiers), self.interval == "mean"
        weights, plain = units_of(table, policy).weights_of_rows, is_plain(table, policy)
        weights = table.records if weights is None else weights
        lost = suppressed_rows_of(boxed)
        if self.interval in ("mean", "midpoint", "columns") and not plain and lost.any():
            raise InputError(
                f"{counted(int(lost.sum()), 'row')} of persons who cannot be hidden would be `*`, not a number.",
                Message("Set `{interval}` to bracket, or remove those persons first."),
            )
        by = mean_weights(table, policy) if means else None
        released = {
            column.name: released_columns(column, around(boxed, column), self.interval, by) for column in columns
        }
        # boxes that are equal may have different means
        shown = [column.encoded[0] for column in released.values()] if means else []
        classes = class_of_each_row(pack(shown)) if shown else boxed.class_of_each_row()
        classes = without_suppressed(classes, list(released.values()))
        close = closeness_told(policy)
        findings = findings_of(table, columns, boxed, released, classes, conditions, close, means, weights=weights)
        findings = without_order(findings, columns)
        if all(column.nature in ("truthful", "unchanged") for column in released.values()):
            findings = replace(findings, loss=loss_of_boxes(columns, boxed, leaves, weights))
        evidence = evidence_of_result(table, policy, released, classes[0])
        if not plain:
            findings = with_members(findings, evidence)
        models = judged(policy, evidence)
        parameters = {**parameters, "interval": self.interval}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)

    def measured_on_disk(
        self,
        table: Table,
        policy: Policy,
        conditions: Sequence[ColumnCondition],
        boxed: BoxedByColumn,
        parameters: dict[str, Any],
        leaves: Mapping[str, Array] | None = None,
    ) -> Anonymized:
        """The same of rows on disk, block by block."""
        from shoal.methods.past_memory import counted_release, needed_columns

        columns = table.select(policy.quasi_identifiers)
        released = {column.name: released_columns(column, boxed, self.interval) for column in columns}
        tuples, shown = counted_release(table, released, needed_columns(policy, conditions))
        labels = [column for entry in shown.values() for column in entry.encoded]
        classes = without_suppressed(class_of_each_row(pack(labels)), list(shown.values()))
        cost, loss = cost_of_boxes(columns, boxed), information_loss(columns, boxed)
        # ranges of a column are equal or apart, or have k records and more, so that a class of one record is unique
        findings = replace(
            findings_of(tuples, columns, None, shown, classes, conditions, closeness_told(policy), cost=cost),
            modified_rows=boxed.modified_rows(),
            information_loss=loss.total,
            information_loss_by_column=loss.by_column,
            change=change_of(columns, boxed),
        )
        findings = without_order(findings, columns)
        if all(column.nature in ("truthful", "unchanged") for column in released.values()):
            findings = replace(findings, loss=loss_of_boxes(columns, boxed, leaves))
        models = judged(policy, evidence_of_result(tuples, policy, shown, classes[0]))
        parameters = {**parameters, "interval": self.interval}
        return Anonymized(self.name, models, findings, table, policy, parameters, released)

    def refused_on_disk(self, policy: Policy) -> str | None:
        """The mean of a box takes the values of its records."""
        return Message("means of records are not supported (`{interval}` mean)") if self.interval == "mean" else None


class BoxesByColumn(BoxMethod):
    """A method whose boxes are a function of the columns alone, whatever trees there are."""

    @abstractmethod
    def boxes(self, table: Table, policy: Policy) -> tuple[MakeBoxes, dict[str, Any]]:
        """The boxes of some columns as a function, and the parameters for the manifest."""

    def boxed(self, table: Table, policy: Policy) -> tuple[Boxed, dict[str, Any]]:
        """The boxes of a table, and the parameters for the manifest."""
        make, parameters = self.boxes(table, policy)
        return make(table.select(policy.quasi_identifiers)), parameters

    def change(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition] = (), k_without_policy: bool = False
    ) -> Anonymized:
        """Make the boxes, write them, measure what was written."""
        table, boxed, parameters = self.parted(table, policy)
        return self.measured(table, policy, conditions, boxed, parameters)

    def parted(self, table: Table, policy: Policy) -> tuple[Table, Boxed, dict[str, Any]]:
        """The table whose rows lie in one box each, the boxes, and the parameters for the manifest."""
        return table, *self.boxed(table, policy)


class BoxesOnDisk(BoxesByColumn):
    """A method that also makes boxes of rows on disk: the ranges of each column, and which of them each row has."""

    past_memory: ClassVar[bool] = True

    @abstractmethod
    def boxed_on_disk(self, table: Table, policy: Policy, spill: Spill) -> BoxedByColumn:
        """The boxes of a table whose rows are on disk."""

    def change_on_disk(
        self, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], spill: Spill
    ) -> Anonymized:
        """Make the boxes, write them, measure what was written, block by block."""
        boxed = self.boxed_on_disk(table, policy, spill)
        return self.measured_on_disk(table, policy, conditions, boxed, self.parameters_of(policy))

    @abstractmethod
    def parameters_of(self, policy: Policy) -> dict[str, Any]:
        """The parameters for the manifest."""


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


def without_order(findings: Findings, columns: Sequence[Column]) -> Findings:
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


def around(boxed: Boxed, column: Column) -> Boxed:
    """The boxes of which a column is one side: those of households for what their members share."""
    return boxed.around(column) if isinstance(boxed, Nested) else boxed


def groups_that_fail(table: Table, policy: Policy) -> GroupCheck | None:
    """Which groups of rows break a model other than k-anonymity, which the partition keeps by itself."""
    return GroupCheck.of(table, policy, units_of(table, policy))


def groups_persons(policy: Policy, table: Table, more: Sequence[str] = ()) -> str | None:
    """Why persons cannot be grouped; `more` are columns beside the quasi-identifiers that are the same in all rows."""
    return one_of_them(policy) or varies_within_persons(table, policy, [*policy.quasi_identifiers, *more])


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
        boxed, parameters = self.grouped(table, policy, near)
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
            from shoal.methods.search.generalize import embedded

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
    from shoal.methods.search.generalize import LatticePlan

    return LatticePlan(policy, dict(trees), [])
