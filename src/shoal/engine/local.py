"""The engine for one machine: rows are read batch by batch into codes and counted, in memory or on disk."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engine.base import Counted, tuples_of
from shoal.errors import InputError
from shoal.reading import Options, Overflow, read
from shoal.table import Table
from shoal.table.classes import class_of_each_row, pack
from shoal.table.rows import Rows

if TYPE_CHECKING:
    from shoal.table.spill import Spill


class LocalEngine:
    """Files and data frames of this machine."""

    name = "local"

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
        """Count the tuples of columns.

        >>> found = LOCAL.count({"age": [34, 51, 34], "sex": ["f", "m", "f"]}, ["age", "sex"])
        >>> found.columns["age"].values.to_list(), found.counts.tolist()
        ([34, 51], [2, 1])
        """
        extra = [name for name in (count, person) if name is not None]
        wanted = None if columns is None else [*columns, *extra]

        def stamp() -> str | None:
            from shoal.engine.local_disk import stamp_of

            return stamp_of(source, wanted, count, options)

        with Overflow(options, stamp) as overflow:
            table = read(source, wanted, options, overflow)
            return self._counted(table, _names(table, columns, {*without, *extra}), count, person, overflow.spill)

    def _counted(
        self, table: Table, names: Sequence[str], count: str | None, person: str | None, spill: Spill | None
    ) -> Counted:
        extra = [name for name in (count, person) if name is not None]
        if missing := [name for name in extra if name not in table.columns]:
            raise InputError.missing_columns(missing, table.names, table.name)
        about = (table.name, table.notes, table.source_names)
        if not names:
            return Counted({}, np.zeros(0, np.int64), None, *about)
        if spill is not None and person is None:
            from shoal.engine.local_disk import counted_on_disk

            return counted_on_disk(table, names, count, spill)
        rows = Rows.of(table, names, count, person)
        by_name = {column.name: column for column in rows.columns}
        if rows.person is not None:
            return Counted(by_name, rows.ones, rows.person, *about)
        tuples, counts = tuples_of(by_name, rows.weights)
        return Counted(tuples, counts, None, *about)

    def rows(self, source: Any, columns: Sequence[str], options: Options | None = None) -> Table:
        """The encoded table of some columns.

        >>> LOCAL.rows({"age": [34, 51, 34], "w": [1.5, 2, 3]}, ["w"])["w"].codes.tolist()
        [0, 1, 2]
        """
        return read(source, columns, options)

    def apply(
        self, source: Any, columns: Sequence[str], becomes: Mapping[str, pl.Series], options: Options | None = None
    ) -> pl.DataFrame:
        """Each row with what its tuple becomes.

        >>> LOCAL.apply({"age": [34, 51, 34]}, ["age"], {"age": pl.Series(["30-39", "50-59"])})["age"].to_list()
        ['30-39', '50-59', '30-39']
        """
        table = read(source, None, options)
        # classes are numbered in the order of the tuples
        tuple_of_row, tuples = class_of_each_row(pack(table.select(columns)))
        wrong = [name for name, values in becomes.items() if len(values) != tuples]
        if wrong:
            raise InputError(
                f"Column '{wrong[0]}' has {len(becomes[wrong[0]]):,} new values for {tuples:,} tuples.",
                "Give one for each tuple that the engine counts.",
            )
        frame = table.to_polars()
        return frame.with_columns(values.gather(tuple_of_row).alias(name) for name, values in becomes.items())

    def write(self, table: pl.DataFrame, path: str | Path) -> None:
        """Write a frame, whole or not at all."""
        from shoal.writing import write_frame

        write_frame(table, path)


def _names(table: Table, columns: Sequence[str] | None, without: Collection[str]) -> list[str]:
    """The columns to count, each once."""
    return [name for name in dict.fromkeys(table.names if columns is None else columns) if name not in without]


LOCAL = LocalEngine()
