"""The distinct tuples of some columns, each with its records, wherever the rows are: what counts rows counts these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from shoal.storage.classes import Coded, Codes, Distinct
from shoal.storage.encode import encode
from shoal.storage.external import PackedWords, count_on_disk
from shoal.storage.rows import weights_of
from shoal.storage.spill import Spill
from shoal.storage.table import ROWS_AT_ONCE, Array, Column, DeferredColumn, Table, on_disk


def tuples_of(
    columns: Mapping[str, Column], weights: Array | None = None, spill: Spill | None = None
) -> tuple[dict[str, Column], Array]:
    """The distinct tuples of columns, in the order of their values, and the records of each; with `spill` on disk.

    >>> found, records = tuples_of({"sex": encode(pl.Series("sex", ["m", "f", "m"]))})
    >>> found["sex"].decode().to_list(), records.tolist()
    (['f', 'm'], [1, 2])
    """
    if spill is not None:
        counted = count_on_disk(columns, weights, spill)
        return {name: as_tuples(one, counted.tuples[name].codes) for name, one in columns.items()}, counted.counts
    found = Distinct.of(list(columns.values()), weights)
    tuples: dict[str, Column] = {}
    for number, (name, column) in enumerate(columns.items()):
        nulls = int(np.count_nonzero(found.codes_of(number) == len(column.values))) if column.nulls else 0
        like = Column(name, column.codes, column.values, nulls, column.dtype, declared=column.declared)
        tuples[name] = DeferredColumn.of(partial(found.codes_of, number), like)
    return tuples, found.counts


def tuples_on_disk(table: Table, names: Sequence[str], count: str | None) -> tuple[Table, str | None]:
    """The table of the tuples of some columns and the name of its count column; a table in memory as it is.

    >>> from shoal.storage.reading import Options, read
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
        tuples, records = tuples_of(columns, weights, spill)
    name = count or "records of a tuple"
    tuples[name] = encode(pl.Series(name, np.asarray(records)))
    return replace(table, columns=tuples, rows=len(records)), name


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


# Which of some counted tuples each row on disk is: looked up by the words that its codes are packed into.


class TupleOfRow:
    """The tuples of some columns, in their order, and the place among them of any row.

    >>> tuples, rows = Coded(np.array([3, 7]), 9), Coded(np.array([7, 3, 7]), 9)
    >>> TupleOfRow([tuples], [rows]).of(slice(0, 3)).tolist()
    [1, 0, 1]
    """

    def __init__(self, tuples: Sequence[Codes], rows: Sequence[Codes]) -> None:
        self._rows = PackedWords.of(rows)
        self._steps: list[tuple[Array, Array]] = []
        found = PackedWords.of([Coded(one.codes, other.cardinality) for one, other in zip(tuples, rows, strict=True)])
        count = len(tuples[0].codes)
        rank = np.zeros(count, np.uint64)
        for word in found.of_rows(slice(0, count)):
            distinct, places = np.unique(word, return_inverse=True)
            together = rank * np.uint64(len(distinct)) + places.astype(np.uint64)
            pairs, ranks = np.unique(together, return_inverse=True)
            self._steps.append((distinct, pairs))
            rank = ranks.astype(np.uint64)
        # the first of the tuples that are equal in these columns
        self.first = np.full(int(rank.max(initial=0)) + 1, count, np.int64)
        np.minimum.at(self.first, rank.astype(np.int64), np.arange(count))

    def of(self, rows: slice) -> Array:
        """The number of the tuple of each row: of a tuple that is there."""
        rank = np.zeros(rows.stop - rows.start, np.uint64)
        for (distinct, pairs), word in zip(self._steps, self._rows.of_rows(rows), strict=True):
            rank = rank * np.uint64(len(distinct)) + np.searchsorted(distinct, word).astype(np.uint64)
            if len(self._steps) > 1:
                rank = np.searchsorted(pairs, rank).astype(np.uint64)
        return self.first[rank.astype(np.int64)]
