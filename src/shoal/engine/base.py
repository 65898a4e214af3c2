"""What every engine does: count tuples, roll them up, give rows what they become, write.

A verb that counts never sees a row. It sees tuples of values with the number of records of each, which is small where a
table is large, and which every engine gives in the same order. What belongs to each row takes all codes (`rows`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, CountTable
from shoal.storage.reading.files import Options
from shoal.storage.rows import Rows


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


# from the path of a draft, the SHA-256 of its data and the rows that were left out to the files beside it
CheckDraft = Callable[[str, str, Sequence[int]], Mapping[str, bytes]]


# of the columns of some rows the cell (or part) of each row; keys that are counted need not be one for each row
CellsOf: TypeAlias = "Callable[[Sequence[Column]], Array]"


class ChangedPart(NamedTuple):
    """What the rows of a part become, which of them are its own (None: all), how many own records have the box of each
    (told once for each box, 0 for its other rows), and what was found."""

    becomes: Mapping[str, pl.Series]
    own: Array | None
    members: Array
    found: bytes


# of a part's number and columns what they become
ChangePart: TypeAlias = "Callable[[int, Sequence[Column]], ChangedPart]"


class TooManyTuples(InputError):
    """The tuples do not fit the memory of the one machine that would search them."""


class SizeHistogram(NamedTuple):
    """How many classes (`classes[i]`) have so many records (`sizes[i]`), smallest first, and the records set aside."""

    sizes: Array
    classes: Array
    removed: int = 0


@dataclass(frozen=True)
class OrderParts:
    """Where an order of records is cut: after every `step` of them into `count` parts, the last takes the rest; or
    where `starts` say.

    >>> OrderParts(3, 2).of(np.array([0, 2, 3, 9])).tolist()
    [0, 0, 1, 1]
    >>> OrderParts(0, 3, np.array([0, 5, 6])).of(np.array([4, 5])).tolist()
    [0, 1]
    """

    step: int
    count: int
    starts: Array | None = None

    def of(self, positions: Array) -> Array:
        """The part of each position."""
        if self.starts is None:
            return np.asarray(np.minimum(positions // self.step, self.count - 1))
        return np.searchsorted(self.starts, positions, side="right") - 1

    def start(self, parts: Array) -> Array:
        """Where parts start."""
        return parts * self.step if self.starts is None else self.starts[parts]


class TupleRecoding(NamedTuple):
    """What tuples become: each series has one entry for each tuple that `count(source, columns)` gives, in order."""

    columns: Sequence[str]
    becomes: Mapping[str, pl.Series]


class RecordRuns(NamedTuple):
    """Records in an order: of row `row[i]` of a table, `records[i]` from `position[i]` on. Positions rise."""

    row: Array
    position: Array
    records: Array


class RowMap(NamedTuple):
    """Which row of a table each row of its release is: some are removed (numbers from 0), the others are in the secret
    order of a seed, or without one in their own."""

    seed: int | None = None
    removed: Sequence[int] = ()


class PairsAsked(NamedTuple):
    """Columns of a release and those of its original that are looked at together; of columns that should be equal
    the `differing` pairs suffice."""

    shown: Sequence[str]
    was: Sequence[str]
    differing: bool = False


class Pairs(NamedTuple):
    """What was and what is shown, each distinct pair once: whether it is `*` throughout, and of how many rows."""

    shown: Mapping[str, Column]
    was: Mapping[str, Column]
    starred: Array
    records: Array


class Engine(Protocol):
    """Where rows are stored and how they are worked on: nothing above knows.

    `recode` and `write` are asked of engines that keep their rows (`keeps_rows`) alone.
    """

    name: str
    # whether rows and columns stay where they are, so that a table that was read may lack columns of its source
    keeps_rows: bool

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
        """Count the tuples of `columns` (all but `without`); `count` says how many records a row stands for.

        Raises `TooManyTuples` where they are too many to be brought together.
        """

    def sizes(
        self,
        source: Any,
        sets: Sequence[Sequence[str]],
        *,
        count: str | None = None,
        without_nulls: Sequence[str] = (),
        options: Options | None = None,
    ) -> list[SizeHistogram]:
        """How many classes of each size every set of columns has, rolled up where the rows are.

        Only histograms leave the engine: for tables whose tuples are too many to be brought together (`TooManyTuples`).
        Records with a null in one of the columns `without_nulls` are set aside.
        """

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
        """Codes row by row, where something belongs to each row: weights, households, groups of a method.

        Other columns than those that are `needed` may stay where the rows are (`beside`). Rows are in the order of the
        source. Where equal rows are treated alike, from so many on (`by_tuple`) an engine may put them together
        (`Table.records`); `assign` takes what belongs to them, also where records of a row were parted again. From
        `by_part` rows on, if that is given, an engine that keeps its rows may leave all of them (`Table.elsewhere`).
        """

    def cut(self, table: Table, rank: Array, parts: OrderParts) -> RecordRuns:
        """The records of a table (from `rows`) in the order of `rank`, those of equal rank in the order of the source.

        `rank` has an entry for each row of the table. Runs of rows that have equal ranks and are parted lie within a
        part each; within one part, and where all are in one, their order is not told.
        """

    def recode(
        self,
        source: Any,
        steps: Sequence[TupleRecoding],
        names: Sequence[str] | None = None,
        options: Options | None = None,
    ) -> Any:
        """The table in which each row has what its tuples become, step by step; of its columns those of `names`.

        A step may look at columns that an earlier one added, not at ones that it replaced.
        """
        raise TypeError(f"the engine {self.name} keeps no rows")

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
        """The whole table with the columns of `frame`, which has a row for each row of `table` (from `rows`).

        Columns beside those that were read stay as they are; those that are `dropped` are left out. It is of the kind
        that came in, with the types that came in where nothing was `changed`. Rows that are not `kept` (a mask) go.
        Rows that are `numbered` are written in an order that leads back to them.
        """

    def is_ordered(self, table: Table) -> bool:
        """Whether its rows would come in the same order again, so that each is known by its number."""

    def pairs(
        self,
        released: Table,
        original: Table,
        row_map: RowMap,
        asked: Sequence[PairsAsked],
        starred: Sequence[str],
        options: tuple[Options | None, Options | None] = (None, None),
    ) -> Iterator[Pairs]:
        """What became of columns of the original (tables from `rows`), by the rows that the map makes one.

        `starred` names the columns of the release that are `*` in suppressed rows; `options` are those by which the two
        were read.
        """

    def write(
        self,
        table: Any,
        path: str | Path,
        *,
        check: CheckDraft | None = None,
        shuffle: int | None = None,
        rows: int | None = None,
        left_out: int = 0,
    ) -> None:
        """Write what `recode` or `assign` gave, whole or not at all.

        `check` reads what was written before it takes its name: it raises where that must not be, and gives the files
        that belong beside it. `shuffle` is the seed of a new order of rows; where they are numbered, `rows` says how
        many the source has, and `left_out` how many of them are not in it.
        """
        raise TypeError(f"the engine {self.name} keeps no rows")


def names_to_count(there: Sequence[str], columns: Sequence[str] | None, without: Collection[str] = ()) -> list[str]:
    """The columns to count, each once; all that are there where none are named."""
    return [name for name in dict.fromkeys(there if columns is None else columns) if name not in without]
