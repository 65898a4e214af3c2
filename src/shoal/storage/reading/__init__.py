"""A path, several paths, a folder, a glob or a data frame -> the encoded table, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from shoal import progress
from shoal.errors import InputError, Message, quoted
from shoal.storage import Table, check_names
from shoal.storage.databases import Address, database_of, is_database
from shoal.storage.encode import ColumnEncoder
from shoal.storage.reading.bytes import damage_as_error
from shoal.storage.reading.csv import NotInEncoding
from shoal.storage.reading.files import (
    InputFile,
    Options,
    Overflow,
    TableFile,
    check_unchanged,
    declaring,
    find_files,
    open_file,
    states_of,
)
from shoal.storage.texts import has_decimal_commas, has_missing_words

if TYPE_CHECKING:
    from shoal.storage.databases.base import DatabaseRows
    from shoal.storage.formats import ColumnLabels
    from shoal.storage.spill import Spill


__all__ = ["Options", "Overflow", "Spill", "declared_table", "declaring", "read", "read_rows"]

# A wider table is read only by naming the columns: each column costs some memory of its own.
MOST_COLUMNS = 10_000
NO_ORDER = "rows of a database have no order unless the address asks for one (order=COLUMN): they have no row map"
# cells of a batch from which threads pay
_WORTH_THREADS = 1 << 19
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")


def read(
    source: Any, columns: Sequence[str] | None = None, options: Options | None = None, overflow: Overflow | None = None
) -> Table:
    """Read a table into codes; only `columns` if given. The raw table is never held whole.

    Codes that do not fit in memory are on disk (`options.memory`, `options.spill_dir`), in files that have no name any
    more and end with the table; or in `overflow`, whose files the caller removes.

    `source` is a path, a list of paths, a folder, a glob, the address of a table in a database, a polars, pandas or
    pyarrow frame, or a dict of lists.

    >>> read(pl.DataFrame({"zip": ["02139", "10001"], "age": [41, 29]}), ["zip"]).names
    ['zip']
    """
    if overflow is None and options is not None:
        overflow = options.overflow
    if overflow is None:
        with Overflow(options) as own:
            return read(source, columns, options, own)
    table = _read(source, columns, options, overflow)
    if options is None:
        return table
    return declared_table(table if options.memory is None else replace(table, memory=options.memory), options)


def declared_table(table: Table, options: Options) -> Table:
    """A table that was read, with the types that its columns are declared as."""
    types = options.declared_types
    if not types:
        return table
    from shoal.storage.declare import declare_table

    asked = [] if options.released else list(options.types or ())
    if unknown := [name for name in asked if name not in (table.source_names or table.names)]:
        raise InputError.missing_columns(
            unknown, table.source_names or table.names, Message("{}, of which `{types}` tells,", table.name)
        )
    return declare_table(table, types, options.released, options.only_empty)


def _read(source: Any, columns: Sequence[str] | None, options: Options | None, overflow: Overflow) -> Table:
    if isinstance(source, Table):
        return source
    if (options is not None and options.engine == "spark") or type(source).__module__.startswith("pyspark."):
        raise InputError(
            "This command reads tables of one machine, not those of a Spark cluster.",
            "docs/spark.md says which commands run on Spark; write the table to a file for this one.",
        )
    if is_database(source):
        address = Address.of(source)
        table = read_rows(database_of(address).open(address), address.shown, columns, overflow)
        return _with_unmet(replace(table, address=address), {*(options or Options()).missing})
    if is_path(source):
        files = find_files(source)
        before = states_of(file.path for file in files)
        table = _read_any_encoding(files, columns, options or Options(), overflow)
        check_unchanged(before)
        return replace(table, files=before)
    table = _read_frame(_frame_of(source) if isinstance(source, dict) else source, columns, overflow)
    return _with_unmet(table, {*(options or Options()).missing})


def is_path(source: Any) -> bool:
    """Whether a source is in files: a path, or several."""
    if isinstance(source, (list, tuple)):
        return all(isinstance(item, (str, Path)) for item in source)
    return isinstance(source, (str, Path)) and not is_database(source)


def _frame_of(columns: dict[str, Any]) -> pl.DataFrame:
    """A dict of lists as a frame; a single value would be repeated without a word."""
    if any(isinstance(values, str) or not hasattr(values, "__len__") for values in columns.values()):
        raise InputError("A dict of single values is not a table.", "Give a list of values for each column.")
    try:
        return pl.DataFrame(columns)
    except UnicodeEncodeError:  # its message shows the value
        from shoal.storage.reading.frames import CLEAN_IT, HALF_A_SIGN

        raise InputError(HALF_A_SIGN, CLEAN_IT) from None


def to_frame(table: Table) -> Any:
    """The values of a table as the kind of frame that came in: polars, pandas (index and types kept) or pyarrow."""
    from shoal.storage.reading.frames import to_native

    return to_native(table.to_polars(), table.native)


def _read_frame(frame: Any, columns: Sequence[str] | None, overflow: Overflow) -> Table:
    from shoal.storage.reading import frames

    if not frames.is_frame(frame):
        raise InputError(
            f"A {type(frame).__name__} is not a table.",
            "Give a path, a list of paths, or a polars, pandas or pyarrow frame.",
        )
    names = frames.column_names(frame)
    wanted = _wanted(columns, names, "The frame")
    encoders = _Encoders(wanted, overflow, from_text_file=False)
    for batch in frames.batches(frame, wanted):
        encoders.add(batch)
    return encoders.finish("The frame", tuple(names), [], frame)


def read_rows(
    rows: DatabaseRows, name: str, columns: Sequence[str] | None = None, overflow: Overflow | None = None
) -> Table:
    """The rows that a database gives, encoded; they are closed at the end."""
    if overflow is None:
        with Overflow(None) as own:
            return read_rows(rows, name, columns, own)
    try:
        names = [column.name for column in rows.columns]
        wanted = _wanted(columns, names, name)
        numbers = {column.name for column in rows.columns if column.number}
        encoders = _Encoders(wanted, overflow, from_text_file=False, numbers=numbers)
        done = 0
        for batch in rows.read(wanted, name):
            done += len(batch)
            encoders.add(batch, max(rows.estimate, done) / max(done, 1))
            progress.report("reading", done, max(rows.estimate, done))
    finally:
        rows.close()
    notes = [] if rows.ordered else [NO_ORDER]
    return replace(encoders.finish(name, tuple(names), notes, None), ordered=rows.ordered)


def _read_any_encoding(
    files: list[InputFile], columns: Sequence[str] | None, options: Options, overflow: Overflow
) -> Table:
    """As UTF-8, and if it is not, as Windows-1252; which letter a byte stands for does not change any class."""
    try:
        return _read_files(files, columns, options, overflow)
    except NotInEncoding:
        if options.encoding is not None:
            raise
        try:
            return _read_files(files, columns, replace(options, encoding="cp1252"), overflow)
        except NotInEncoding:
            raise InputError(
                f"{files[0].path} is written neither in UTF-8 nor in Windows-1252.",
                Message("Name its `{encoding}`, for example utf-16 or shift_jis; or it is not a text file."),
            ) from None


def _read_files(files: list[InputFile], columns: Sequence[str] | None, options: Options, overflow: Overflow) -> Table:
    paths = [file.path for file in files]
    name = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more files"
    total = sum(path.stat().st_size for path in paths)
    encoders: _Encoders | None = None
    notes: list[str] = []
    labels: dict[str, ColumnLabels] = {}
    names: dict[str, None] = {}
    met = set[str]()
    for number, path in enumerate(paths):
        source = open_file(files[number], options)
        wanted = _wanted(columns, source.names, str(path), source.header_in_doubt, source.elsewhere)
        names.update(dict.fromkeys(source.names))
        if encoders is None:
            found_types = source.from_text_file and not options.as_text
            encoders = _Encoders(wanted, overflow, found_types, options.missing, source.columns_may_come_late)
        elif columns is None and set(wanted) != set(encoders.names) and not source.columns_may_come_late:
            raise InputError(
                f"{path} has other columns than {paths[0]}{_difference(source, encoders.names)}.",
                "Name the columns that all files share, or read the files one by one.",
            )
        _add_labels(labels, source, path)
        before = sum(path.stat().st_size for path in paths[:number])
        with damage_as_error(path):
            batches = source.batches if options.as_text else source.typed_batches or source.batches
            for batch, done in batches(wanted):
                encoders.add(batch, total / max(before + done, 1))
                progress.report("reading", before + done, total)
                del batch  # not in memory while the next one is read
        met |= source.met
        notes = list(dict.fromkeys([*notes, *source.notes]))
    assert encoders is not None
    table = encoders.finish(name, tuple(names), notes, None)
    return replace(_with_unmet(table, {*options.missing} - met - encoders.met), labels=labels)


def _with_unmet(table: Table, words: set[str]) -> Table:
    """A table with a note on the words for missing that it does not have: a code that stays a value is not missing."""
    unmet = sorted(words - {"user-missing"})
    if not unmet:
        return table
    told = (
        f"{', '.join(unmet)} as missing: no cell of a text or survey file that was read is written so; "
        "the types of a policy name the codes of a column (docs/types.md)"
    )
    return replace(table, notes=(*table.notes, told))


def _add_labels(labels: dict[str, ColumnLabels], source: TableFile, path: Path) -> None:
    """The labels of one more file; a code that means two things in two files is refused."""
    for name, own in source.labels.items():
        known = labels.setdefault(name, own)
        if any(own.values.get(code, label) != label for code, label in known.values.items()):
            raise InputError(
                f"{path}: codes of column '{name}' have other labels than in the files before.",
                "Give the codes one meaning first, or read the files one by one.",
            )
        if known is not own:
            labels[name] = replace(known, values={**own.values, **known.values})


def _difference(source: TableFile, names: Sequence[str]) -> str:
    """Which columns a file lacks or has beside those of the first; a header that may be a record is not shown."""
    if source.header_in_doubt:
        return ""
    lacks = [name for name in names if name not in source.names]
    more = [name for name in source.names if name not in names]
    told = [f"{word} {quoted(found[:8])}" for word, found in (("it lacks", lacks), ("it has also", more)) if found]
    return ": " + ", and ".join(told)


def _wanted(
    columns: Sequence[str] | None, names: Sequence[str], where: str, in_doubt: bool = False, elsewhere: str = ""
) -> list[str]:
    check_names(names, where, in_doubt)
    if columns is None:
        if len(names) > MOST_COLUMNS:
            raise InputError(
                f"{where} has {len(names):,} columns; at most {MOST_COLUMNS:,} are read at once.",
                "Name the columns that matter.",
            )
        return list(names)
    wanted = list(dict.fromkeys(map(str, columns)))
    there = set(names)
    missing = [name for name in wanted if name not in there]
    if missing and in_doubt:
        raise InputError(
            f"{where} has no columns {quoted(missing)}: its first line looks like a record, not like a header.",
            "Put a line with the names of the columns first.",
        )
    if missing:
        raise InputError.missing_columns(missing, names, where, elsewhere)
    return wanted


class _Encoders:
    """One encoder per column, all at the same row."""

    def __init__(
        self,
        names: Iterable[str],
        overflow: Overflow,
        from_text_file: bool,
        missing: Iterable[str] = (),
        columns_may_come_late: bool = False,
        numbers: Collection[str] = (),
    ) -> None:
        self._numbers = numbers
        self._text, self._missing = from_text_file, frozenset(missing)
        self._late = columns_may_come_late
        self._overflow = overflow
        self._encoders = {name: self._new(name) for name in names}
        self._rows = 0

    @property
    def names(self) -> list[str]:
        return list(self._encoders)

    @property
    def met(self) -> set[str]:
        """The words for missing that there were; known at the end."""
        return {word for encoder in self._encoders.values() for word in encoder.met}

    def _new(self, name: str) -> ColumnEncoder:
        encoder = ColumnEncoder(name, self._text or name in self._numbers, self._missing)
        if self._overflow.spill is not None:
            encoder.move_to(self._overflow.spill)
        return encoder

    def add(self, batch: pl.DataFrame, times: float = 1.0) -> None:
        """One more batch; `times`: how often what was read so far fits into the source."""
        try:
            self._add(batch, times)
        except OSError as error:  # not a fault of the source, which would be told as one
            raise InputError(
                f"Temporary files of this run cannot be read or written: {error.strerror}.",
                Message("Run it again; set `{spill_dir}` (SHOAL_SPILL) to a folder that nobody else clears."),
            ) from None

    def _add(self, batch: pl.DataFrame, times: float) -> None:
        if self._late:
            self._fit(batch)

        def add(name: str) -> None:
            if name in batch.columns:
                self._encoders[name].add(batch[name])
            else:
                self._encoders[name].add_nulls(len(batch))

        _of_each(add, self.names, len(batch))
        self._rows += len(batch)
        if self._overflow.spill is None:
            codes = sum(encoder.nbytes for encoder in self._encoders.values())
            spill = self._overflow.spill_of(codes, self._rows, max(times, 1.0))
            if spill is not None:
                for encoder in self._encoders.values():
                    encoder.move_to(spill)

    def _fit(self, batch: pl.DataFrame) -> None:
        for name in batch.columns:
            if name not in self._encoders:
                self._encoders[name] = self._new(name)
                self._encoders[name].add_nulls(self._rows)

    def finish(self, name: str, names: tuple[str, ...], notes: list[str], native: Any) -> Table:
        if self._rows == 0:
            raise InputError(f"{name} has no rows.", "Nothing can be measured on an empty table.")
        found = _of_each(ColumnEncoder.finish, list(self._encoders.values()), self._rows)
        columns = dict(zip(self._encoders, found, strict=True))
        if any(column.values.dtype.is_temporal() for column in found):
            from shoal.storage.texts import check_dates

            check_dates(found)
        if self._text and (
            doubtful := [column.name for column in columns.values() if has_missing_words(column.values)]
        ):
            notes.append(
                f"{', '.join(doubtful)}: words such as NA are read as text; --missing NA reads them as missing"
            )
        if self._text and (commas := [one.name for one in columns.values() if has_decimal_commas(one.values)]):
            notes.append(
                f"{', '.join(commas)}: numbers with a decimal comma are read as text; the type number reads them as "
                "numbers (docs/types.md)"
            )
        return Table(columns, self._rows, name, tuple(notes), native, names)


def _of_each(work: Callable[[_Task], _Result], tasks: Sequence[_Task], rows: int) -> list[_Result]:
    """Work on each column, so many rows of it; on threads where they are many."""
    if rows * len(tasks) < _WORTH_THREADS:
        return [work(task) for task in tasks]
    from shoal.threads import in_threads

    return in_threads(work, tasks)
