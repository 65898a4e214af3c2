"""The distinct tuples of some columns, each with its records, wherever the rows are: what counts rows counts these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shoal.storage.classes import Distinct
from shoal.storage.rows import weights_of
from shoal.storage.table import Array, Column, DeferredColumn, Table, on_disk, records_with

if TYPE_CHECKING:
    from shoal.storage.spill import Spill


def tuples_of(
    columns: Mapping[str, Column], weights: Array | None = None, spill: Spill | None = None
) -> tuple[dict[str, Column], Array]:
    """The distinct tuples of columns, in the order of their values, and the records of each; with `spill` on disk.

    >>> from shoal.storage.reading import read
    >>> found, records = tuples_of(read({"sex": ["m", "f", "m"]}).columns)
    >>> found["sex"].decode().to_list(), records.tolist()
    (['f', 'm'], [1, 2])
    """
    if spill is not None:
        from shoal.storage.external import count_on_disk

        counted = count_on_disk(columns, weights, spill)
        return {name: as_tuples(one, counted.tuples[name].codes) for name, one in columns.items()}, counted.counts
    found = Distinct.of(list(columns.values()), weights)
    tuples: dict[str, Column] = {}
    for number, (name, column) in enumerate(columns.items()):
        nulls = int(np.count_nonzero(found.codes_of(number) == len(column.values))) if column.nulls else 0
        like = Column(name, column.codes, column.values, nulls, column.dtype, declared=column.declared)
        tuples[name] = DeferredColumn.of(partial(found.codes_of, number), like)
    return tuples, found.counts


def counted_tuples(table: Table, names: Sequence[str], count: str | None = None) -> Table:
    """The distinct tuples of some columns as a table whose rows stand for their records; of rows on disk by blocks.

    >>> from shoal.storage.reading import Options, read
    >>> tuples = counted_tuples(read({"age": [34, 51, 34]}, None, Options(memory=1)), ["age"])
    >>> tuples["age"].decode().to_list(), tuples.records.tolist(), tuples.total
    ([34, 51], [2, 1], 3)
    """
    columns = {column.name: column for column in table.select(list(dict.fromkeys(names)))}
    weights = None if count is None else weights_of(table[count])
    stored = [column.codes for column in columns.values() if on_disk(column.codes)]
    if stored:
        from shoal.storage.spill import Spill

        with Spill(table.memory, folder_of(stored[0])) as spill:
            spill.start(table.rows * (sum(column.codes.dtype.itemsize for column in columns.values()) + 20))
            tuples, records = tuples_of(columns, weights, spill)
    else:
        tuples, records = tuples_of(columns, weights)
    counted = {name: as_tuples(column, column.codes, records) for name, column in tuples.items()}
    return replace(table, columns=counted, rows=len(records), records=records)


def as_tuples(column: Column, codes: Array, records: Array | None = None) -> Column:
    """A column with the codes of the tuples, each of which stands for so many records."""
    nulls = records_with(codes, len(column.values), records) if column.nulls else 0
    return Column(column.name, codes, column.values, nulls, column.dtype, declared=column.declared, records=records)


def folder_of(codes: Array) -> Path | None:
    """Where folders of codes on disk are; None for codes in memory."""
    if not on_disk(codes):
        return None
    folder = Path(str(getattr(codes, "filename", ""))).parent.parent
    return folder if folder.is_dir() else None
