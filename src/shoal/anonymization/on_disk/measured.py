"""What a change of rows on disk cost, and whether it keeps the policy: from counted tuples and blocks of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.anonymization.findings import Disclosed, Findings
from shoal.dataclasses import dataclass
from shoal.judgement.disclosure import attribute_disclosure
from shoal.judgement.evidence import trees_of
from shoal.models import Evidence, TCloseness
from shoal.models.distances import farthest_class
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.conditions import ColumnCondition
from shoal.ranges.columns import ReleasedColumns
from shoal.ranges.on_disk import BoxedByColumn
from shoal.ranges.parsing import STAR
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, class_of_each_row, pack
from shoal.table.rows import weights_of
from shoal.table.tuples import tuples_on_disk
from shoal.utility.box_loss import loss_of_boxes
from shoal.utility.cost import cost_of_boxes
from shoal.utility.loss import change_of, information_loss

_SHOWN, _WAS = "shown: ", "was: "


@dataclass(frozen=True)
class CountedClasses:
    """The tuples of what is released and of what models look at: the class and the records of each (-1: suppressed)."""

    class_of_tuple: Array
    classes: int
    records: Array
    columns: Mapping[str, Column]

    @property
    def sizes(self) -> Array:
        """The records of each class."""
        kept = self.class_of_tuple >= 0
        return np.bincount(self.class_of_tuple[kept], self.records[kept], self.classes).astype(np.int64)

    def evidence(self, policy: Policy) -> Evidence:
        """What the models look at."""
        sensitive = {name: self.columns[name] for model in policy.models for name in model.needs}
        trees = trees_of(policy, list(sensitive.values()))
        return evidence_of_rows(self.class_of_tuple, sensitive, weights=self.records, trees=trees)

    def disclosed(self, conditions: Sequence[ColumnCondition]) -> list[Disclosed]:
        """Eq 5 for each condition; suppressed rows are alike, so they are one class."""
        classes = np.where(self.class_of_tuple < 0, self.classes, self.class_of_tuple)
        found = []
        for condition in conditions:
            meets = condition.meets(self.columns[condition.column])
            told = attribute_disclosure(classes, self.classes + 1, meets, self.records)
            found.append(Disclosed(condition.text, told.records, told.disclosed, told.share))
        return found

    def closeness(self, close: TCloseness | None) -> dict[str, float] | None:
        """The farthest class; over the ranks of records, which take the order of all rows, it is not measured."""
        column = None if close is None else self.columns[close.sensitive]
        if column is None or not (column.dtype.is_numeric() or column.dtype.is_temporal()):
            return None
        far = farthest_class(self.class_of_tuple, self.classes, column, "values", self.records)
        return None if far is None else {"values": far}


def counted_classes(
    table: Table, released: Mapping[str, ReleasedColumns], policy: Policy, conditions: Sequence[ColumnCondition]
) -> CountedClasses:
    """Count what is released together with what models and conditions look at."""
    shown = [column for entry in released.values() for column in entry.encoded]
    needed = [name for model in policy.models for name in model.needs]
    needed = list(dict.fromkeys([*needed, *(condition.column for condition in conditions)]))
    named = [replace(column, name=f"{_SHOWN}{column.name}") for column in shown]
    named += [replace(table[name], name=f"{_WAS}{name}") for name in needed]
    together = Table({column.name: column for column in named}, table.rows, memory=table.memory)
    tuples, count = tuples_on_disk(together, together.names, None)
    assert count is not None, "rows are on disk"
    labels = tuples.select([f"{_SHOWN}{column.name}" for column in shown])
    columns = {name: replace(tuples[f"{_WAS}{name}"], name=name) for name in needed}
    return classes_of(labels, weights_of(tuples[count]), columns, released)


def classes_of(
    labels: Sequence[Column],
    records: Array,
    columns: Mapping[str, Column],
    released: Mapping[str, ReleasedColumns],
) -> CountedClasses:
    """The classes of tuples by what is released of them; those that are `*` throughout are in none."""
    classes, number = class_of_each_row(pack(labels))
    starred = [entry.form.generalizes for entry in released.values() for _ in entry.names]
    stars = [
        is_star(label) if may else np.zeros(len(records), bool) for label, may in zip(labels, starred, strict=True)
    ]
    lost = np.asarray(np.logical_and.reduce(stars))
    if lost.any():
        kept, number = class_of_each_row(Coded(classes[~lost], number)) if not lost.all() else (classes[:0], 0)
        classes = np.full(len(classes), -1, np.int64)
        classes[~lost] = kept
    return CountedClasses(classes, number, records, columns)


def is_star(column: Column) -> Array:
    """Per row: whether it is written as `*`."""
    if column.values.dtype != pl.String:
        return np.zeros(len(column.codes), bool)
    return np.append((column.values == STAR).to_numpy(), False)[column.codes]


def findings_of_boxes(
    table: Table,
    columns: Sequence[Column],
    boxed: BoxedByColumn,
    released: Mapping[str, ReleasedColumns],
    counted: CountedClasses,
    conditions: Sequence[ColumnCondition],
    close: TCloseness | None,
) -> Findings:
    """What boxes cost: the same figures as in memory. Ranges of a column are equal or apart, or have k records and
    more, so that a class of one record is unique."""
    sizes, loss = counted.sizes, information_loss(columns, boxed)
    truthful = all(entry.nature in ("truthful", "unchanged") for entry in released.values())
    return Findings(
        records=table.rows,
        k=int(sizes.min()) if len(sizes) else 0,
        classes=len(sizes),
        uniques=int(np.count_nonzero(sizes == 1)),
        undecided=0,
        information_loss=loss.total,
        information_loss_by_column=loss.by_column,
        modified_rows=boxed.modified_rows(),
        removed_rows=0,
        suppressed_rows=0,
        suppressed_cells=0,
        attribute_disclosure=counted.disclosed(conditions),
        change=change_of(columns, boxed),
        cost=cost_of_boxes(columns, boxed),
        closeness=counted.closeness(close),
        loss=loss_of_boxes(columns, boxed) if truthful else None,
    )
