"""A table on disk as the distinct tuples of some columns, each with its records: what counts rows counts these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.table.encode import encode
from shoal.table.external import count_on_disk
from shoal.table.rows import weights_of
from shoal.table.spill import Spill
from shoal.table.table import ROWS_AT_ONCE, Array, Column, Table, on_disk


def tuples_on_disk(table: Table, names: Sequence[str], count: str | None) -> tuple[Table, str | None]:
    """The table of the tuples of some columns and the name of its count column; a table in memory as it is.

    >>> from shoal.reading import Options, read
    >>> ages = read({"age": [34, 51, 34]}, None, Options(memory=1))
    >>> tuples, count = tuples_on_disk(ages, ["age"], None)
    >>> tuples.to_polars().rows()
    [(34, 2), (51, 1)]
    """
    columns = {column.name: column for column in table.select(list(dict.fromkeys(names)))}
    if not any(on_disk(column.codes) for column in columns.values()):
        return table, count
    weights = None if count is None else weights_of(table[count])
    folder = next(folder_of(column.codes) for column in columns.values() if on_disk(column.codes))
    size = sum(column.codes.dtype.itemsize for column in columns.values()) + 20
    with Spill(table.memory, folder) as spill:
        spill.start(table.rows * size)
        found = count_on_disk(columns, weights, spill)
    name = count or "records of a tuple"
    tuples = {key: as_tuples(column, found.tuples[key].codes) for key, column in columns.items()}
    tuples[name] = encode(pl.Series(name, np.asarray(found.counts)))
    return replace(table, columns=tuples, rows=len(found.counts)), name


def as_tuples(column: Column, codes: Array) -> Column:
    """A column with the codes of the tuples."""
    nulls = 0
    if column.nulls:
        blocks = (codes[start : start + ROWS_AT_ONCE] for start in range(0, len(codes), ROWS_AT_ONCE))
        nulls = sum(int(np.count_nonzero(block == len(column.values))) for block in blocks)
    return Column(column.name, codes, column.values, nulls, column.dtype, declared=column.declared)


def folder_of(codes: Array) -> Path | None:
    """Where folders of codes on disk are; None for codes in memory."""
    if not on_disk(codes):
        return None
    folder = Path(str(getattr(codes, "filename", ""))).parent.parent
    return folder if folder.is_dir() else None
