"""What a change of rows on disk cost, and whether it keeps the policy: from counted tuples and blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from shoal.errors import InputError, Message
from shoal.methods.findings import Disclosed, Findings
from shoal.models import Evidence, TCloseness
from shoal.models.distances import farthest_class
from shoal.models.evidence import evidence_of_rows
from shoal.policy import Policy
from shoal.policy.judgement.evidence import trees_of
from shoal.policy.judgement.shown_classes import attribute_disclosure
from shoal.ranges.columns import ReleasedColumns
from shoal.ranges.on_disk import BoxedByColumn
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, pack
from shoal.storage.reading import Options, Overflow
from shoal.storage.reading.files import SMALL_TABLE
from shoal.storage.rows import weights_of
from shoal.storage.spill import Spill, memory_budget
from shoal.storage.table import on_disk
from shoal.storage.tuples import tuples_on_disk
from shoal.utility.cost import cost_of_boxes
from shoal.utility.loss import change_of, information_loss, loss_of_boxes
from shoal.wording import in_units, in_words

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.methods.results import Anonymized
    from shoal.policy.conditions import ColumnCondition


_SHOWN, _WAS = "shown: ", "was: "


class CountedClasses(NamedTuple):
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


# Which methods and policies rows on disk can be anonymised by, and what the others are told.


# measured at 4 and 16 million rows × 9: 450 and more
BYTES_PER_ROW = 300
# on disk: how often the codes are there at once (read, released, both in order, read back twice), and what a row needs
# beside them for its place in an order; while rows are sorted by distance, what a row needs then
COPIES, DISK_PER_ROW, _SORTED_PER_ROW = 6, 24, 40


def past_memory(method: Method | None, table: Table, policy: Policy, options: Options | None) -> bool:
    """Whether changing and measuring a table in memory would take more than there is: by its rows, whatever the method.

    A small table is never past memory unless an amount was said; one that came in memory stays there for a method that
    could work on disk.
    """
    asked = (None if options is None else options.memory) or os.environ.get("SHOAL_MEMORY") or None
    needed = table.rows * BYTES_PER_ROW
    if needed <= memory_budget(asked):
        return False
    if any(on_disk(column.codes) for column in table.columns.values()):
        return True
    return not _works_on_disk(method, policy) and (asked is not None or needed >= SMALL_TABLE)


def _works_on_disk(method: Method | None, policy: Policy) -> bool:
    return method is not None and method.past_memory and _refused(policy) is None and method.refused_on_disk() is None


def changed_on_disk(
    method: Method, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], options: Options
) -> Anonymized:
    """What a method makes of rows on disk; its files have no name any more once it is made, and end with it."""
    with Spill(options.memory, options.spill_dir) as spill:
        spill.start(table.rows * (_SORTED_PER_ROW + sum(column.codes.itemsize for column in table.columns.values())))
        return replace(method.run_on_disk(table, policy, conditions, spill), reading=options)


@contextmanager
def job_overflow(method: Method | None, policy: Policy, options: Options | None) -> Iterator[Options]:
    """How a table is read: to disk already where changing it would not fit in memory, and the method works there."""
    options = options or Options()
    overflow = options.overflow or Overflow(options)
    if _works_on_disk(method, policy):
        overflow.memory_per_row = BYTES_PER_ROW
    if options.overflow is not None:  # the job's own, which goes on
        yield options
        return
    with overflow:
        yield replace(options, overflow=overflow)


def check_past_memory(method: Method | None, table: Table, policy: Policy, options: Options | None) -> None:
    """Refuse what takes all rows at once, before the work."""
    from shoal.methods import METHODS

    able = in_words([name for name, kind in METHODS.items() if kind.past_memory])
    needed, budget = table.rows * BYTES_PER_ROW, memory_budget(None if options is None else options.memory)
    takes = (
        f"Anonymising {table.rows:,} rows takes at least {in_units(needed)} of memory, "
        f"and {in_units(budget)} may be used"
    )
    if method is None or not method.past_memory:
        who = "without a named method" if method is None else f"by the method {method.name}"
        raise InputError(
            f"{takes} {who}.",
            Message(
                "Name a `{method}` that works on disk ({}), set `{memory}` on a machine with more, or release the "
                "table in parts by a plan (`shoal apply`).",
                able,
            ),
        )
    if (why := _refused(policy)) is not None:
        raise InputError(f"{takes}; on disk {why}.", Message("Set `{memory}` on a machine with more, or leave it out."))
    if (why := method.refused_on_disk()) is not None:
        raise InputError(
            Message("{}; on disk {}.", takes, why), Message("Leave it out, or set `{memory}` on a machine with more.")
        )


def _refused(policy: Policy) -> str | None:
    """What a policy asks that belongs to single rows."""
    for setting in ("count", "person", "household", "weight", "population_size", "sampling"):
        if getattr(policy, setting) is not None:
            return f"the policy's `{setting}` is not supported"
    if policy.risk_over == "population" or policy.linked:
        return "risk over a population and linked tables are not supported"
    if policy.with_role("text"):
        return "columns of free text are not scrubbed"
    odd = [model.model for model in policy.models if model.needs_files or model.needs_keys or model.needs_population]
    return f"the model {odd[0]} is not supported" if odd else None
