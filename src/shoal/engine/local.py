"""The engine for one machine: rows are read batch by batch into codes and counted, in memory or on disk."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from shoal.engine.base import (
    Counted,
    Engine,
    OrderParts,
    Pairs,
    PairsAsked,
    RecordRuns,
    RowMap,
    SizeHistogram,
    names_to_count,
)
from shoal.errors import InputError
from shoal.storage import Array, Table
from shoal.storage.classes import class_sizes
from shoal.storage.encode import encode
from shoal.storage.reading import Options, Overflow, read
from shoal.storage.rows import Rows, weights_of
from shoal.storage.tuples import tuples_of

if TYPE_CHECKING:
    from shoal.storage.spill import Spill


class LocalEngine(Engine):
    """Files and data frames of this machine."""

    name = "local"
    keeps_rows = False

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

        with Overflow(options) as overflow:
            table = read(source, wanted, options, overflow)
            return self._counted(
                table, names_to_count(table.names, columns, {*without, *extra}), count, person, overflow.spill
            )

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
            weights = None if count is None else weights_of(table[count])
            tuples, records = tuples_of({name: table[name] for name in names}, weights, spill)
            return Counted(tuples, records, None, *about)
        rows = Rows.of(table, names, count, person)
        by_name = {column.name: column for column in rows.columns}
        if rows.person is not None:
            return Counted(by_name, rows.ones, rows.person, *about)
        tuples, records = tuples_of(by_name, rows.weights)
        return Counted(tuples, records, None, *about)

    def sizes(
        self,
        source: Any,
        sets: Sequence[Sequence[str]],
        *,
        count: str | None = None,
        without_nulls: Sequence[str] = (),
        options: Options | None = None,
    ) -> list[SizeHistogram]:
        """Histograms of class sizes, all from one count table.

        >>> LOCAL.sizes({"age": [34, 51, 34], "sex": ["f", "m", "f"]}, [["age", "sex"]])[0].sizes.tolist()
        [1, 2]
        """
        names = list(dict.fromkeys([*(name for names in sets for name in names), *without_nulls]))
        rows = self.count(source, names, count=count, options=options).rows
        kept, removed = rows.without_nulls("drop", without_nulls) if without_nulls else (rows, 0)
        found = []
        for columns in sets:
            sizes = class_sizes(kept.select(columns).columns, kept.weights)
            found.append(SizeHistogram(*np.unique(sizes, return_counts=True), removed))
        return found

    def rows(
        self,
        source: Any,
        columns: Sequence[str] | None = None,
        options: Options | None = None,
        *,
        needed: Sequence[str] | None = None,
        by_tuple: int | None = None,
        by_part: int | None = None,
    ) -> Table:
        """The encoded table of some columns, in the order of the source.

        >>> LOCAL.rows({"age": [34, 51, 34], "w": [1.5, 2, 3]}, ["w"])["w"].codes.tolist()
        [0, 1, 2]
        """
        return read(source, columns, options)

    def cut(self, table: Table, rank: Array, parts: OrderParts) -> RecordRuns:
        """Row by row, each by itself where it stands for one record.

        >>> found = LOCAL.cut(LOCAL.rows({"age": [34, 51, 34]}), np.array([1, 0, 1]), OrderParts(2, 2))
        >>> found.row.tolist(), found.position.tolist()
        ([1, 0, 2], [0, 1, 2])
        """
        order = np.argsort(rank, kind="stable")
        records = np.ones(table.rows, np.int64) if table.records is None else table.records[order]
        return RecordRuns(order, np.cumsum(records) - records, records)

    def assign(
        self,
        table: Table,
        frame: pl.DataFrame,
        *,
        changed: Collection[str] = (),
        dropped: Collection[str] = (),
        kept: Array | None = None,
        numbered: bool = False,
    ) -> Any:
        """The frame itself, as the kind of frame that came in.

        >>> LOCAL.assign(LOCAL.rows({"age": [34, 51]}), pl.DataFrame({"age": ["30-39", "50-59"]}))["age"].to_list()
        ['30-39', '50-59']
        """
        from shoal.storage.reading.frames import to_native

        frame = frame.drop(dropped, strict=False)
        return to_native(frame if kept is None else frame.filter(kept), table.native, changed)

    def is_ordered(self, table: Table) -> bool:
        """A table of a database may have no order."""
        return table.ordered

    def pairs(
        self,
        released: Table,
        original: Table,
        row_map: RowMap,
        asked: Sequence[PairsAsked],
        starred: Sequence[str],
        options: tuple[Options | None, Options | None] = (None, None),
    ) -> Iterator[Pairs]:
        """From the rows in memory.

        >>> was, shown = LOCAL.rows({"age": [34, 51, 34]}), LOCAL.rows({"age": ["30-39", "50-59", "30-39"]})
        >>> found = next(LOCAL.pairs(shown, was, RowMap(), [PairsAsked(["age"], ["age"])], ["age"]))
        >>> found.shown["age"].decode().to_list(), found.was["age"].decode().to_list(), found.records.tolist()
        (['30-39', '50-59'], [34, 51], [2, 1])
        """
        from shoal.ranges.parsing import STAR
        from shoal.storage.order import released_order

        order = released_order(original.rows, *row_map)
        rows = np.arange(original.rows) if order is None else order
        stars = [(column.decode() == STAR).fill_null(False).to_numpy() for column in released.select(starred)]
        flags = encode(pl.Series("starred", np.logical_and.reduce(stars) if stars else np.zeros(released.rows, bool)))
        for shown, was, _ in asked:
            sides = {f"shown {name}": released[name] for name in shown}
            sides |= {f"was {name}": original[name].take(rows) for name in was}
            found, records = tuples_of({**sides, "starred": flags}, None)
            mask = found.pop("starred").decode().to_numpy()
            yield Pairs(
                {name: replace(found[f"shown {name}"], name=name) for name in shown},
                {name: replace(found[f"was {name}"], name=name) for name in was},
                mask,
                records,
            )


LOCAL = LocalEngine()
