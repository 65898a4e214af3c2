"""What a change cost, and whether what it gave keeps the models of the policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shoal.methods.outcomes import (
    LatticeOutcome,
    MethodChoice,
    ModelCost,
    SetsOutcome,
    StrategyFigures,
    SuppressionOutcome,
)
from shoal.models import Evidence, TCloseness, Verdict
from shoal.models.distances import Labels, farthest_class
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.evidence import evidence_of, trees_of
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.ranges.boxed import Boxed
from shoal.ranges.columns import ReleasedColumns, modified_rows
from shoal.ranges.coverage import fit
from shoal.results import fields_as_json, merged, where_known
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row
from shoal.utility.cost import ColumnCost, cost_of_boxes, cost_of_labels
from shoal.utility.loss import Change, change_of, information_loss

if TYPE_CHECKING:
    from shoal.policy.conditions import ColumnCondition


@dataclass(frozen=True)
class Disclosed:
    """Eq 5 for one condition; `share` is null where no record meets it."""

    condition: str
    records: int
    disclosed: int
    share: float | None


@dataclass(frozen=True)
class Findings:
    """What was done to the table and what it cost. `information_loss` is not defined for texts, `loss` for means."""

    records: int
    k: int
    classes: int
    uniques: int
    undecided: int
    information_loss: float | None
    information_loss_by_column: dict[str, float]
    modified_rows: int
    removed_rows: int
    suppressed_rows: int
    suppressed_cells: int
    attribute_disclosure: list[Disclosed]
    change: Change | None
    cost: list[ColumnCost]
    closeness: dict[str, float] | None = where_known()
    strategies: list[StrategyFigures] | None = where_known()
    sse_ratio: float | None = where_known()  # within groups, as a share of the whole table's: SSE / SST
    loss: float | None = where_known()  # docs/quality.md
    cost_by_model: list[ModelCost] | None = where_known()  # where several models were asked for
    unseen_rows: int | None = where_known()  # suppressed because they lie in no box of a plan
    sets: SetsOutcome | None = where_known()  # of items or events
    search: LatticeOutcome | None = merged(default=None)
    suppression: SuppressionOutcome | None = merged(default=None)
    choice: MethodChoice | None = merged(default=None)

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what only some methods find is there where it was found."""
        return fields_as_json(self)


def findings_of(
    table: Table,
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: dict[str, ReleasedColumns],
    classes: tuple[Array, int],
    conditions: Sequence[ColumnCondition],
    close: TCloseness | None,
    means: bool = False,
    cost: list[ColumnCost] | None = None,
    weights: Array | None = None,
) -> Findings:
    """What a change cost, from the boxes or the released columns and the class of each row (-1: suppressed).

    `cost`: what it cost in words, where that is known already. `weights`: the people that each row stands for.
    """
    records = table.records
    class_of_row, count = classes
    stars = [column.suppressed for column in released.values()]
    lost = np.asarray(np.logical_and.reduce(stars))
    near = None
    if close is not None:
        near = _closeness(np.where(lost, -1, class_of_row), count, table[close.sensitive], records)
    kept = class_of_row >= 0
    if everywhere := bool(kept.all()):
        sizes = np.bincount(class_of_row, records, count).astype(np.int64)
    else:
        sizes = np.bincount(class_of_row[kept], None if records is None else records[kept], count).astype(np.int64)
    if not everywhere:
        # suppressed rows are alike: for what is learnt about them they are one class
        class_of_row, count = np.where(kept, class_of_row, count), count + 1
    uniques, undecided = int((sizes == 1).sum()), 0
    if boxed is not None:
        uniques, undecided = _uniques(columns, boxed, sizes, records)
    loss = None if boxed is None else information_loss(columns, boxed, weights)
    disclosed = []
    for condition in conditions:
        disclosure = attribute_disclosure(class_of_row, count, condition.meets(table[condition.column]), records)
        disclosed.append(Disclosed(condition.text, disclosure.records, disclosure.disclosed, disclosure.share))
    return Findings(
        records=table.total if weights is None else int(weights.sum()),
        k=int(sizes.min()) if len(sizes) else 0,
        classes=len(sizes),
        uniques=uniques,
        undecided=undecided,
        information_loss=None if loss is None else loss.total,
        information_loss_by_column={} if loss is None else loss.by_column,
        modified_rows=table.records_in(modified_rows(list(released.values()))),
        removed_rows=0,
        suppressed_rows=table.records_in(lost) if weights is None else int(weights[lost].sum()),
        suppressed_cells=sum(table.records_in(star) for star in stars),
        attribute_disclosure=disclosed,
        closeness=near,
        change=None if boxed is None else change_of(columns, boxed, means, records),
        cost=cost or _cost(columns, boxed, released, means, weights),
    )


def _closeness(class_of_row: Array, classes: int, column: Column, records: Array | None) -> dict[str, float] | None:
    """How far the farthest class is, as t-closeness judges them: suppressed rows are in none."""
    if not (column.dtype.is_numeric() or column.dtype.is_temporal()):
        return None
    ways = get_args(Labels) if records is None else ("values",)
    far = {labels: farthest_class(class_of_row, classes, column, labels, records) for labels in ways}
    return {labels: figure for labels, figure in far.items() if figure is not None} or None


def _cost(
    columns: Sequence[Column],
    boxed: Boxed | None,
    released: Mapping[str, ReleasedColumns],
    means: bool,
    weights: Array | None,
) -> list[ColumnCost]:
    if boxed is None:
        return cost_of_labels(columns, released, weights=weights)
    return cost_of_boxes(columns, boxed, means, weights)


def _uniques(columns: Sequence[Column], boxed: Boxed, sizes: Array, records: Array | None) -> tuple[int, int]:
    """By Eq 1; classes of two and more need no look."""
    if (sizes > 1).all():
        return 0, 0
    found = fit([boxed.ranges(column) for column in columns], records)
    return int(found.unique.sum()), int(found.undecided.sum())


def judged(policy: Policy, evidence: Evidence) -> list[Verdict]:
    """The verdict of every model."""
    return [model.judge(evidence) for model in policy.models]


def evidence_of_result(
    table: Table,
    policy: Policy,
    released: Mapping[str, ReleasedColumns],
    class_of_row: Array,
    levels: Mapping[str, int] | None = None,
    shown_values: bool = False,
) -> Evidence:
    """What the models look at, as `verify` will see it in the file; `shown_values`: as the file shows them, always."""
    across = [model for model in policy.models if model.needs_files or model.needs_keys]
    sampled = policy.weight or policy.population_size or policy.sampling or policy.risk_over == "population"
    if (
        shown_values or across or sampled or policy.count or policy.person
    ):  # these look at the released values themselves
        shown = {entry.name: entry for column in released.values() for entry in column.encoded}
        names = list(shown)
        needed = {*policy.needed, policy.count, policy.person, policy.weight}
        beside = {name: column for name, column in table.columns.items() if name in needed - set(names)}
        # where nothing was changed, `*` is a text of the original
        starred = [name for column in released.values() if column.nature != "unchanged" for name in column.names]
        read = Table({**shown, **beside}, table.rows, records=table.records)
        return evidence_of(read, names, policy, levels, starred)[0]
    stars = np.logical_and.reduce([column.suppressed for column in released.values()])
    cardinality = int(class_of_row.max(initial=0)) + 1
    if stars.any():
        rows = class_of_each_row(Coded(class_of_row[~stars], cardinality))[0]
        class_of_row = np.full(table.rows, -1, np.int64)
        class_of_row[~stars] = rows
    else:
        class_of_row = class_of_each_row(Coded(class_of_row, cardinality))[0]
    sensitive = {name: table[name] for name in policy.needed}
    trees = trees_of(policy, list(sensitive.values()))
    return evidence_of_rows(class_of_row, sensitive, weights=table.records, trees=trees)
