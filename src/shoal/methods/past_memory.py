"""What a change of rows on disk cost, and whether it keeps the policy: from counted tuples and blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal import progress
from shoal.engine.base import CellsOf
from shoal.errors import InputError, Message
from shoal.policy import Policy
from shoal.ranges.boxed import Boxed, BoxedByColumn, Side, united
from shoal.ranges.columns import ReleasedColumns
from shoal.storage import Array, Column, Table, smallest_unsigned
from shoal.storage.reading import Options, Overflow
from shoal.storage.reading.files import SMALL_TABLE
from shoal.storage.spill import Spill, forget, memory_budget, remove
from shoal.storage.table import blocks_of
from shoal.storage.tuples import counted_tuples
from shoal.wording import in_units, in_words

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.methods.results import Anonymized
    from shoal.policy.conditions import ColumnCondition


_SHOWN, _WAS = "shown: ", "was: "


def needed_columns(policy: Policy, conditions: Sequence[ColumnCondition]) -> list[str]:
    """The columns that models and conditions look at beside what is released."""
    return list(dict.fromkeys([*policy.needed, *(condition.column for condition in conditions)]))


def counted_release(
    table: Table, released: Mapping[str, ReleasedColumns], needed: Sequence[str]
) -> tuple[Table, dict[str, ReleasedColumns]]:
    """The distinct tuples of what is released and what is needed beside it: a table of the latter, whose rows stand for
    records, and what is released of each."""
    labels = {f"{_SHOWN}{column.name}": column for entry in released.values() for column in entry.encoded}
    named = {**labels, **{f"{_WAS}{name}": table[name] for name in needed}}
    together = Table({new: replace(column, name=new) for new, column in named.items()}, table.rows, memory=table.memory)
    tuples = counted_tuples(together, together.names)
    columns = {name: replace(tuples[f"{_WAS}{name}"], name=name) for name in needed}
    shown = {}
    for name, entry in released.items():
        held = [replace(tuples[f"{_SHOWN}{one}"], name=one) for one in entry.names]
        shown[name] = ReleasedColumns.in_codes(held, entry.nature, np.zeros(tuples.rows, bool), entry.form)
    return replace(tuples, columns=columns), shown


# Which methods and policies rows on disk can be anonymised by, and what the others are told.


# measured at 4 and 16 million rows × 9: 450 and more
BYTES_PER_ROW = 300
# on disk: how often the codes are there at once (read, released, both in order, read back twice), and what a row needs
# beside them for its place in an order; while rows are sorted by distance, what a row needs then
COPIES, DISK_PER_ROW, _SORTED_PER_ROW = 6, 24, 40
# of each column that is released: which range a row has
_RANGE = 5


def past_memory(method: Method | None, table: Table, policy: Policy, options: Options | None) -> bool:
    """Whether changing and measuring a table in memory would take more than there is: by its rows, whatever the method.

    A small table is never past memory unless an amount was said; one that came in memory stays there for a method that
    could work on disk.
    """
    asked = (None if options is None else options.memory) or os.environ.get("SHOAL_MEMORY") or None
    needed = table.rows * BYTES_PER_ROW
    if needed <= memory_budget(asked):
        return False
    if table.on_disk():
        return True
    return not _works_on_disk(method, policy) and (asked is not None or needed >= SMALL_TABLE)


def _works_on_disk(method: Method | None, policy: Policy) -> bool:
    return (
        method is not None
        and method.past_memory
        and _refused(policy) is None
        and method.refused_on_disk(policy) is None
    )


def changed_on_disk(
    method: Method, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], options: Options
) -> Anonymized:
    """What a method makes of rows on disk; its files have no name any more once it is made, and end with it."""
    with Spill(options.memory, options.spill_dir) as spill:
        codes = sum(column.codes.itemsize for column in table.columns.values())
        spill.start(table.rows * (_SORTED_PER_ROW + codes + _RANGE * len(policy.quasi_identifiers)))
        return replace(method.run(table, policy, conditions, spill=spill), reading=options)


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
    if (why := method.refused_on_disk(policy)) is not None:
        raise InputError(
            Message("{}; on disk {}.", takes, why), Message("Leave it out, or set `{memory}` on a machine with more.")
        )


def _refused(policy: Policy) -> str | None:
    """What a policy asks that belongs to single rows."""
    for setting in ("count", "person", "household", "weight", "population_size", "sampling"):
        if getattr(policy, setting) is not None:
            return f"the policy's `{setting}` is not supported"
    if policy.risk_over == "population":
        return "risk over a population is not supported"
    if policy.with_role("text"):
        return "columns of free text are not scrubbed"
    odd = [model.model for model in policy.models if model.needs_files or model.needs_keys or model.needs_population]
    return f"the model {odd[0]} is not supported" if odd else None


# Rows on disk that are changed part by part: cells are counted block by block, parts lie side by side, ranges go back.


@dataclass(frozen=True)
class DiskRows:
    """Columns on disk, and each by itself; what `Table.elsewhere` is of rows that an engine has."""

    columns: Sequence[Column]
    alone: Sequence[Column]
    spill: Spill

    @classmethod
    def of(cls, table: Table, names: Sequence[str], spill: Spill) -> Table:
        """A table of columns by themselves, whose rows are on disk."""
        columns = table.select(names)
        alone = {}
        for column in columns:
            records = np.append(column.frequencies(), column.nulls)[: column.cardinality]
            codes = np.arange(column.cardinality).astype(smallest_unsigned(len(column.values) + 1))
            alone[column.name] = replace(column, codes=codes, written=None, records=records)
        return replace(table, columns=alone, elsewhere=cls(columns, list(alone.values()), spill))

    def _block(self, rows: slice) -> list[Column]:
        return [one.part(np.asarray(whole.codes[rows])) for one, whole in zip(self.alone, self.columns, strict=True)]

    def counted(self, cells_of: CellsOf) -> tuple[Array, Array]:
        """The cells that rows are in, and the records of each."""
        cells, records = np.zeros(0, np.int64), np.zeros(0, np.int64)
        for block in blocks_of(len(self.columns[0].codes)):
            found, many = np.unique(cells_of(self._block(block)), return_counts=True)
            together, which = np.unique(np.append(cells, found), return_inverse=True)
            cells, records = together, np.bincount(which, np.append(records, many)).astype(np.int64)
        return cells, records

    def boxed(self, part_of: CellsOf, parts: int, sides_of: Callable[[Sequence[Column]], Boxed]) -> BoxedByColumn:
        """The boxes that `sides_of` makes of the columns of each part, column by column."""
        from shoal.storage.external import DiskOrder

        rows = len(self.columns[0].codes)

        def keys(block: slice) -> tuple[Array, list[Array]]:
            return part_of(self._block(block)), [np.arange(block.start, block.stop, dtype=np.uint32)]

        order = DiskOrder.by(rows, parts, keys, self.spill)
        ordered = [order.apply(column.codes) for column in self.columns]
        ranges = [self.spill.array("ranges", np.uint32, rows) for _ in self.columns]
        sides: list[list[Side]] = [[] for _ in self.columns]
        spans = [(start, stop) for start, stop in pairwise(order.starts.tolist()) if start < stop]
        for number, (start, stop) in enumerate(spans):
            codes = [np.asarray(array[start:stop]) for array in ordered]
            boxed = sides_of([one.part(own) for one, own in zip(self.alone, codes, strict=True)])
            for place, column in enumerate(self.columns):
                along = boxed.along(column.name)
                ranges[place][start:stop] = along.box_of_row
                sides[place].append(along.sides[column.name])
            for array in (*ordered, *ranges):
                forget(array)
            progress.report("grouping", number + 1, len(spans))
        by_column = {}
        for place, column in enumerate(self.columns):
            remove(ordered[place])
            side, numbers = united(sides[place])
            which = self.spill.array("ranges", smallest_unsigned(len(side.low)), rows)
            for own, (start, stop) in zip(numbers, spans, strict=True):
                which[start:stop] = own[np.asarray(ranges[place][start:stop])]
            remove(ranges[place])
            by_column[column.name] = Boxed(order.undo(which), {column.name: side})
            remove(which)
        order.remove()
        return BoxedByColumn.of(by_column)
