"""The encoded table: each column as small integer codes beside the dictionary of its distinct values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.storage.declare import Declared
    from shoal.storage.formats import Labels


Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"


# rows of a column that are worked on at once where the whole is on disk
ROWS_AT_ONCE = 1 << 22


def rows_counted_at_once(values: int) -> int:
    """Rows of which so many values are counted at once: they stay in the cache, where the counts are not larger.

    >>> rows_counted_at_once(10), rows_counted_at_once(1_000_000)
    (65536, 4000000)
    """
    return min(max(1 << 16, 4 * values), ROWS_AT_ONCE)


def blocks_of(rows: int) -> list[slice]:
    """Rows in blocks that are worked on at once: a table in memory has few of them, one on disk as many as it takes.

    >>> blocks_of(3)
    [slice(0, 3, None)]
    """
    return [slice(start, min(start + ROWS_AT_ONCE, rows)) for start in range(0, rows, ROWS_AT_ONCE)]


def records_with(codes: Array, code: int, records: Array | None = None) -> int:
    """How many rows have a code, or the records that they stand for; block by block.

    >>> records_with(np.array([2, 0, 2]), 2), records_with(np.array([2, 0, 2]), 2, np.array([5, 1, 2]))
    (2, 7)
    """
    found = 0
    for block in blocks_of(len(codes)):
        rows = codes[block] == code
        found += int(np.count_nonzero(rows) if records is None else records[block][rows].sum())
    return found


def on_disk(array: Array) -> bool:
    """Whether an array is read from the disk as it is used; what was computed from such a one is in memory.

    >>> on_disk(np.zeros(2))
    False
    """
    # numpy gives its results the class of their arguments, and those that are no part of a file no name of one
    return isinstance(array, np.memmap) and array.filename is not None


def smallest_unsigned(count: int) -> np.dtype[Any]:
    """The narrowest unsigned type that holds the codes 0 .. count-1.

    >>> smallest_unsigned(256), smallest_unsigned(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(count - 1, 0))


@dataclass(frozen=True)
class Column:
    """One column: `codes[row]` is the position of the row's value in `values`; a null has the code len(values).

    `values` are the distinct values in value order, without null; `dtype` is the type that came in.
    """

    name: str
    codes: Array
    values: pl.Series
    nulls: int
    dtype: pl.DataType
    # as the cells came in, where that is more than their values say: texts of a text file, or floats with -0.0
    written: tuple[Array, pl.Series] | None = None
    # distinct texts of a text file that are not how their values are written again
    respelled: int = 0
    # what it was declared as, and how its values are written
    declared: Declared | None = None
    # the records that each row stands for, where equal ones were put together; `nulls` counts records then
    records: Array | None = None

    @property
    def cardinality(self) -> int:
        """How many codes there are: distinct values, and one more if there are nulls."""
        return len(self.values) + (self.nulls > 0)

    def is_null(self) -> Array:
        """Which rows are null."""
        if self.nulls == 0:
            return np.zeros(len(self.codes), bool)
        return np.asarray(self.codes == len(self.values))

    def take(self, rows: Array | slice) -> Column:
        """The same column on some rows (positions, a mask or a stretch); the dictionary stays whole."""
        return self._with(self.codes[rows], rows, None if self.records is None else self.records[rows])

    def _with(self, codes: Array, rows: Array | slice, records: Array | None) -> Column:
        null = codes == len(self.values) if self.nulls else np.zeros(0, bool)
        nulls = int(np.count_nonzero(null) if records is None or not self.nulls else records[null].sum())
        written = None if self.written is None else (self.written[0][rows], self.written[1])
        return replace(self, codes=codes, nulls=nulls, written=written, records=records)

    def counting(self, rows: Array, records: Array | None) -> Column:
        """The same column on some rows (positions) that stand for so many records each (none: for one).

        >>> from shoal.storage.reading import read
        >>> ages = read({"age": [34, None]})["age"].counting(np.array([0, 1]), np.array([5, 7]))
        >>> ages.nulls, ages.frequencies().tolist()
        (7, [5])
        """
        return self._with(self.codes[rows], rows, records)

    def part(self, codes: Array) -> Column:
        """Some rows of a table of which this is a column by itself: they know its dictionary and its frequencies.

        >>> from shoal.storage.reading import read
        >>> rows = read({"age": [34, 51, 51]})["age"].part(np.array([1]))
        >>> rows.decode().to_list(), rows.frequencies().tolist()
        ([51], [1, 2])
        """
        found: dict[str, Any] = {entry.name: getattr(self, entry.name) for entry in fields(Column)}
        return PartColumn(**{**found, "codes": codes, "records": None}, whole=self.frequencies())

    def frequencies(self) -> Array:
        """How many records have each value, nulls apart; a block of rows at a time."""
        found = np.zeros(len(self.values) + 1, np.int64)
        block = rows_counted_at_once(len(found))
        for start in range(0, len(self.codes), block):
            here = slice(start, start + block)
            records = None if self.records is None else self.records[here]
            found += np.bincount(self.codes[here], records, minlength=len(found)).astype(np.int64)
        return found[:-1]

    def decode(self) -> pl.Series:
        """The values row by row, in the type that came in."""
        if self.written is not None and self.written[1].dtype.is_float() and self.declared is None:
            return self.as_written()
        dictionary = self.values if self.nulls == 0 else self.values.extend_constant(None, 1)
        return dictionary.gather(self.codes).cast(self.dtype).alias(self.name)

    def as_written(self) -> pl.Series:
        """The cells as they came in, byte by byte where the source was text."""
        if self.written is None:
            return self.decode()
        codes, texts = self.written
        return texts.gather(codes).alias(self.name)

    def as_it_came(self) -> pl.Series:
        """The values row by row as the source had them, whatever the column was declared as; `map` has its say."""
        if self.declared is None:
            return self.decode()
        return self.declared.spell(self.decode()) if self.written is None else self.as_written()


@dataclass(frozen=True)
class PartColumn(Column):
    """A column of a part of a table: its frequencies and nulls are those of the whole table."""

    whole: Array = None  # type: ignore[assignment]

    def frequencies(self) -> Array:
        """How many records of the whole table have each value."""
        return self.whole

    def _with(self, codes: Array, rows: Array | slice, records: Array | None) -> Column:
        return replace(self, codes=codes)


class DeferredColumn(Column):
    """A column whose codes are made when somebody asks for them: many questions are answered by the values alone.

    >>> like = Column("age", np.zeros(0, np.uint8), pl.Series([34, 51]), 0, pl.Int64())
    >>> ages = DeferredColumn.of(lambda: np.array([1, 0]), like)
    >>> ages.values.to_list(), ages.codes.tolist()
    ([34, 51], [1, 0])
    """

    __slots__ = ("_make",)
    _make: Callable[[], Array]

    @classmethod
    def of(cls, make: Callable[[], Array], like: Column) -> DeferredColumn:
        """What `make` gives as the codes of a column that is otherwise like another one."""
        column = object.__new__(cls)
        object.__setattr__(column, "_make", make)
        for field_ in fields(like):
            if field_.name != "codes":
                object.__setattr__(column, field_.name, getattr(like, field_.name))
        return column

    def __getattr__(self, name: str) -> Any:
        if name != "codes":
            raise AttributeError(name)
        codes = self._make()
        object.__setattr__(self, "codes", codes)
        return codes


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in the order that came in.

    >>> from shoal.storage.reading import read
    >>> table = read({"age": [34, 51, None], "sex": ["f", "m", "f"]})
    >>> table["age"].codes.tolist(), table["age"].values.to_list(), table["age"].nulls
    ([0, 1, 2], [34, 51], 1)
    """

    columns: Mapping[str, Column]
    rows: int
    name: str = "table"
    notes: tuple[str, ...] = ()
    # the frame that came in (for pandas its index and types), so that the same kind can go out
    native: Any = field(default=None, repr=False, compare=False)
    # all columns of the source, also those that were not read
    source_names: tuple[str, ...] = ()
    # columns that stayed where the rows are: brought one by one, each in an order of its own
    beside: Mapping[str, Column] = field(default_factory=dict, repr=False, compare=False)
    # whether the rows would come in the same order again; a table of a database has none that nobody asked for
    ordered: bool = True
    # the records that each row stands for, where equal ones were put together; and of which row each is a part, where
    # records of a row were parted again
    records: Array | None = field(default=None, repr=False, compare=False)
    part_of: Array | None = field(default=None, repr=False, compare=False)
    # what the source says of its columns beside their values: labels, names of codes, codes that mean missing
    labels: Labels = field(default_factory=dict, repr=False, compare=False)
    # the address in a database from which it was read
    address: Any = field(default=None, repr=False, compare=False)
    # the files from which it was read, as they were then (`shoal.storage.reading.files`)
    files: Mapping[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    # the memory that work on it may take, where it was asked for (`Options.memory`)
    memory: str | int | None = field(default=None, repr=False, compare=False)
    # the rows, where an engine keeps all of them: then each column here is by itself, its values with their records
    elsewhere: Any = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> Column:
        return self.beside[name] if name in self.beside else self.select([name])[0]

    def has(self, name: str) -> bool:
        """Whether there is such a column, here or where the rows are."""
        return name in self.columns or name in self.beside

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    def select(self, names: Sequence[str]) -> list[Column]:
        """The columns of these names; one clear error for all that are not there."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InputError.missing_columns(missing, self.columns, self.name)
        return [self.columns[name] for name in names]

    def on_disk(self, names: Sequence[str] | None = None) -> bool:
        """Whether rows of some columns (all) are on disk."""
        return any(on_disk(column.codes) for column in self.select(self.names if names is None else names))

    def take(self, rows: Array) -> Table:
        """The same table on some rows (positions or a mask)."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        count = int(np.count_nonzero(rows)) if rows.dtype == bool else len(rows)
        records, part_of = (None if array is None else array[rows] for array in (self.records, self.part_of))
        return replace(self, columns=columns, rows=count, records=records, part_of=part_of)

    @property
    def total(self) -> int:
        """How many records there are: one per row, where rows do not stand for several."""
        return self.rows if self.records is None else int(self.records.sum())

    def records_in(self, rows: Array) -> int:
        """The records that some rows (a mask) stand for."""
        return int(np.count_nonzero(rows) if self.records is None else self.records[rows].sum())

    def counting(self, rows: Array, records: Array | None) -> Table:
        """The same table on some rows (positions), each of which stands for so many records (none: for one).

        >>> from shoal.storage.reading import read
        >>> ages = read({"age": [34, 51]}).counting(np.array([0, 1]), np.array([5, 7]))
        >>> ages.total, ages.expanded()["age"].frequencies().tolist()
        (12, [5, 7])
        """
        columns = {name: column.counting(rows, records) for name, column in self.columns.items()}
        part_of = rows if self.part_of is None else self.part_of[rows]
        return replace(self, columns=columns, rows=len(rows), records=records, part_of=part_of)

    def expanded(self) -> Table:
        """The same with one row per record."""
        return self if self.records is None else self.counting(np.repeat(np.arange(self.rows), self.records), None)

    def to_polars(self) -> pl.DataFrame:
        """The values as a polars frame, in the types that came in."""
        return pl.DataFrame({name: column.decode() for name, column in self.columns.items()})


def check_names(names: Iterable[str], where: str, in_doubt: bool = False) -> None:
    """Refuse a table whose columns cannot be told apart by name; names `in_doubt` may be data and are not shown."""
    seen: set[str] = set()
    twice = sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
    if twice:
        shown = "" if in_doubt else ": " + ", ".join(f"'{name}'" for name in twice[:10])
        raise InputError(f"{where} has {len(twice)} column name(s) more than once{shown}.", "Rename them first.")
