"""What every engine does: count tuples, give each row what its tuple becomes, write rows.

A verb that works on an engine never sees a row. It sees tuples of values with the number of records of each, which is
small where a table is large, and which every engine gives in the same order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from shoal.reading.files import Options
from shoal.table import Array, Column, Table
from shoal.table.classes import Coded, CountTable
from shoal.table.rows import Rows


@dataclass(frozen=True)
class Counted:
    """The distinct tuples of some columns in the order of their values, and the records of each.

    `columns[name].codes` has one entry per tuple. With a person column every record is a tuple of its own, because
    persons are told apart by all their records.
    """

    columns: Mapping[str, Column]
    counts: Array
    person: Column | None = None
    # how errors call the source, what was noticed on reading, and all columns that it has
    name: str = "table"
    notes: tuple[str, ...] = ()
    source_names: tuple[str, ...] = field(default=())

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    @property
    def table(self) -> CountTable:
        """The tuples without their values."""
        return CountTable(
            {name: Coded(column.codes, column.cardinality) for name, column in self.columns.items()}, self.counts
        )

    @property
    def rows(self) -> Rows:
        """The tuples as rows that stand for their records."""
        if self.person is not None:
            return Rows(list(self.columns.values()), None, self.person)
        return Rows(list(self.columns.values()), self.counts, None, distinct=True, in_order=True)


class Engine(Protocol):
    """Where rows are stored and how they are worked on: nothing above knows."""

    name: str

    def count(
        self,
        source: Any,
        columns: Sequence[str] | None = None,
        *,
        without: Collection[str] = (),
        count: str | None = None,
        person: str | None = None,
        options: Options | None = None,
    ) -> Counted:
        """Count the tuples of `columns` (all but `without`); `count` says how many records a row stands for."""

    def rows(self, source: Any, columns: Sequence[str], options: Options | None = None) -> Table:
        """Rows one by one, where something belongs to each of them: weights, households."""

    def apply(
        self, source: Any, columns: Sequence[str], becomes: Mapping[str, pl.Series], options: Options | None = None
    ) -> Any:
        """The table in which each row has, in the columns of `becomes`, what its tuple of `columns` becomes.

        A series of `becomes` has one entry for each tuple that `count(source, columns)` gives, in that order.
        """

    def write(self, table: Any, path: str | Path) -> None:
        """Write what `apply` gave, in the format that the name of the file says."""


def tuples_of(columns: Mapping[str, Column], weights: Array | None) -> tuple[dict[str, Column], Array]:
    """The distinct tuples of columns, in the order of their values, and the records of each."""
    counted = CountTable.of(columns, weights)
    tuples = {}
    for name, column in columns.items():
        codes = counted.tuples[name].codes
        nulls = int(np.count_nonzero(codes == len(column.values))) if column.nulls else 0
        tuples[name] = Column(name, codes, column.values, nulls, column.dtype, declared=column.declared)
    return tuples, counted.counts
