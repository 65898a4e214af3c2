"""Counting a table that is on disk, for the local engine."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.engine.base import Counted
from shoal.storage import Table
from shoal.storage.external import count_on_disk
from shoal.storage.rows import weights_of
from shoal.storage.spill import Spill
from shoal.storage.tuples import as_tuples


def counted_on_disk(table: Table, names: Sequence[str], count: str | None, spill: Spill) -> Counted:
    """The tuples of a table whose codes are on disk: what `tuples_of` gives for one in memory."""
    columns = {column.name: column for column in table.select(names)}
    weights = None if count is None else weights_of(table[count])
    found = count_on_disk(columns, weights, spill)
    tuples = {name: as_tuples(column, found.tuples[name].codes) for name, column in columns.items()}
    return Counted(tuples, found.counts, None, table.name, table.notes, table.source_names)
