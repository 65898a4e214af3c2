"""What a change of rows on disk cost, and whether it keeps the policy: from counted tuples and blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import InputError, Message
from shoal.policy import Policy
from shoal.ranges.columns import ReleasedColumns
from shoal.storage import Table
from shoal.storage.reading import Options, Overflow
from shoal.storage.reading.files import SMALL_TABLE
from shoal.storage.spill import Spill, memory_budget
from shoal.storage.tuples import counted_tuples
from shoal.wording import in_units, in_words

if TYPE_CHECKING:
    from shoal.methods.base import Method
    from shoal.methods.results import Anonymized
    from shoal.policy.conditions import ColumnCondition


_SHOWN, _WAS = "shown: ", "was: "


def needed_columns(policy: Policy, conditions: Sequence[ColumnCondition]) -> list[str]:
    """The columns that models and conditions look at beside what is released."""
    needed = [name for model in policy.models for name in model.needs]
    return list(dict.fromkeys([*needed, *(condition.column for condition in conditions)]))


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
    return method is not None and method.past_memory and _refused(policy) is None and method.refused_on_disk() is None


def changed_on_disk(
    method: Method, table: Table, policy: Policy, conditions: Sequence[ColumnCondition], options: Options
) -> Anonymized:
    """What a method makes of rows on disk; its files have no name any more once it is made, and end with it."""
    with Spill(options.memory, options.spill_dir) as spill:
        spill.start(table.rows * (_SORTED_PER_ROW + sum(column.codes.itemsize for column in table.columns.values())))
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
