"""SQLite's files by ADBC: a column has no type of its own there, so one pass over its values finds it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import polars as pl

from shoal.errors import InputError
from shoal.storage.databases import Address
from shoal.storage.databases.base import (
    ColumnRead,
    DatabaseObject,
    DatabaseRows,
    FileDatabase,
    Staged,
    TypeNames,
    arrow_of,
    check_order,
    check_table,
    needs,
    quoted_name,
    refusals,
    selection,
    words_behind,
)

# by the length of their texts: what SQLite's own functions write, and what it is
_DATES: dict[int, tuple[str, pl.DataType]] = {10: ("date", pl.Date()), 19: ("datetime", pl.Datetime("us"))}
# texts that this module wrote: SQLite itself has neither decimals nor parts of seconds; TEXT in the name keeps texts
_OWN = re.compile(r"DECIMAL_TEXT\((\d+), (\d+)\)|TIMESTAMP(TZ)?_TEXT")
# columns whose values are looked at by one statement; SQLite has 2,000 results at most
_AT_ONCE = 150
# what one pass finds of a column: classes, lengths of texts, values beside 0 and 1, whole numbers that floats merge
_ABOUT = ("first", "last", "short", "long", "other", "beyond")
_EXACT = 2**53
_TYPES = {
    pl.Int8: "INTEGER", pl.Int16: "INTEGER", pl.Int32: "INTEGER", pl.Int64: "INTEGER", pl.UInt8: "INTEGER",
    pl.UInt16: "INTEGER", pl.UInt32: "INTEGER", pl.Float32: "REAL", pl.Float64: "REAL", pl.Boolean: "BOOLEAN",
    pl.Date: "DATE", pl.String: "TEXT",
}  # fmt: skip


class _Staged(Staged):
    def found(self) -> DatabaseObject:
        return DatabaseObject(SQLITE.kind(self.connection, self.address), "", None)

    def run(self, statement: str) -> None:
        _run(self.connection, statement)

    def fill(self, frame: pl.DataFrame, columns: str) -> None:
        """The transaction keeps others from writing."""
        _table(self.connection, "PRAGMA secure_delete = ON")  # what is replaced stays in no free page
        self.run(f"CREATE TABLE {self.name} ({columns})")
        self.check()
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(self.draft, arrow_of(_as_stored(frame)), mode="append")

    def in_order(self) -> DatabaseRows:
        return _rows(self.connection, self.address, self.name, _names(self.connection, self.name), True)


class SQLite(FileDatabase):
    """Files of SQLite."""

    name = "SQLite"
    types = TypeNames(_TYPES, "DECIMAL_TEXT({}, {})", "TIMESTAMPTZ_TEXT", "TIMESTAMP_TEXT")
    staged = _Staged

    def connect(self, address: Address, read_only: bool) -> Any:
        """The file, made where it is written and not there."""
        try:
            import pyarrow  # noqa: F401
            from adbc_driver_sqlite import dbapi
        except ImportError:
            raise needs("adbc-driver-sqlite", "sqlite", "SQLite") from None
        if read_only and not (address.file is not None and address.file.is_file()):
            raise InputError(
                f"There is no file {address.database}.",
                "Check the name; sqlite://// with four slashes is an absolute path.",
            )
        with refusals(address):
            return dbapi.connect(f"file:{quote(address.database)}?mode={'ro' if read_only else 'rwc'}")

    def rows_of(self, connection: Any, address: Address, source: str, ordered: bool) -> DatabaseRows:
        """Its columns by the values that they hold."""
        names = _names(connection, source)
        check_order(address, names, ("rowid",))
        return _rows(connection, address, source, names, ordered)

    def kind(self, connection: Any, address: Address) -> str | None:
        """What has the name: a table of its own pages, or something that gives other rows than it keeps."""
        statement = (
            "SELECT type, rootpage FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)"
        )
        found = _table(connection, statement, (check_table(address),)).to_pylist()
        if not found:
            return None
        if found[0]["type"] == "table" and not found[0]["rootpage"]:
            return "virtual table"
        triggers = "SELECT count(*) AS found FROM sqlite_master WHERE type = 'trigger' AND lower(tbl_name) = lower(?)"
        if _table(connection, triggers, (check_table(address),))["found"][0].as_py():
            return f"{found[0]['type']} with triggers"
        return str(found[0]["type"])

    def names(self, connection: Any) -> list[str]:
        """Whatever has a name: tables, views, indexes, triggers."""
        return [str(one["name"]) for one in _table(connection, "SELECT name FROM sqlite_master").to_pylist()]

    def leads_to(self, connection: Any, words: Collection[str], source: Address, target: Address) -> bool:
        """By the definitions of views."""
        views = _table(connection, "SELECT name, sql FROM sqlite_master WHERE type = 'view'").to_pylist()
        definitions = {str(view["name"]).lower(): str(view["sql"]) for view in views}
        return check_table(target).lower() in words_behind(words, definitions)


def _run(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _table(connection: Any, statement: str, parameters: Sequence[str] | None = None) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetch_arrow_table()


def _names(connection: Any, source: str) -> list[str]:
    return [str(name) for name in _table(connection, f"SELECT * FROM {source} LIMIT 0").column_names]


def _columns(
    connection: Any, source: str, names: Sequence[str], declared: Mapping[str, str]
) -> tuple[list[ColumnRead], int]:
    """The columns by the classes of all their values, and the number of rows."""
    found: list[ColumnRead] = []
    rows = 0
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        parts = ["count(*) AS rows"]
        for number, name in enumerate(some):
            value = quoted_name(name)
            kind = f"CASE WHEN {value} IS NOT NULL THEN typeof({value}) END"
            parts += [f"min({kind}) AS first_{number}", f"max({kind}) AS last_{number}"]
            parts += [f"min(length({value})) AS short_{number}", f"max(length({value})) AS long_{number}"]
            parts += [f"max({value} NOT IN (0, 1)) AS other_{number}"]
            whole = f"CASE WHEN typeof({value}) = 'integer' THEN {value} END"
            parts += [f"max({whole} NOT BETWEEN -{_EXACT} AND {_EXACT}) AS beyond_{number}"]
        counted = _table(connection, f"SELECT {', '.join(parts)} FROM {source}").to_pylist()[0]
        rows = int(counted["rows"])
        for number, name in enumerate(some):
            about = {word: counted[f"{word}_{number}"] for word in _ABOUT}
            found.append(_column(connection, source, name, about, declared.get(name, "")))
    return found, rows


def _column(connection: Any, source: str, name: str, about: Mapping[str, Any], declared: str) -> ColumnRead:
    """How a column is asked for: numbers if all are, dates if all texts are ISO dates, otherwise text."""
    quoted = quoted_name(name)
    if about["first"] == "blob":  # classes are compared as words, and this is the first
        return ColumnRead(name, quoted, refused="bytes (BLOB) are not read")
    if about["last"] == "integer":
        boolean = declared in ("BOOLEAN", "BOOL") and not about["other"]
        return ColumnRead(name, quoted, dtype=pl.Boolean() if boolean else pl.Int64())
    if about["last"] == "real":
        if about["beyond"]:
            return ColumnRead(
                name, quoted, refused="whole numbers beyond 2^53 and fractions have no common number type"
            )
        return ColumnRead(name, f"CAST({quoted} AS REAL)", dtype=pl.Float64())
    dtype: pl.DataType = pl.String()
    if about["first"] == "text" and (own := _OWN.fullmatch(declared)):
        dtype = pl.Decimal(int(own[1]), int(own[2])) if own[1] else pl.Datetime("us", "UTC" if own[3] else None)
    elif about["first"] == "text" and about["short"] == about["long"] and about["long"] in _DATES:
        function, kind = _DATES[about["long"]]
        odd = f"SELECT count(*) AS odd FROM {source} WHERE {function}({quoted}) IS NOT {quoted}"  # null is null
        dtype = dtype if _table(connection, odd)["odd"][0].as_py() else kind
    return ColumnRead(name, _text(quoted), dtype=dtype)


def _text(value: str) -> str:
    """A value as text; a number whose short text is another number's too is written with all its digits."""
    text = f"CAST({value} AS TEXT)"
    return (
        f"CASE WHEN typeof({value}) = 'real' AND CAST({text} AS REAL) <> {value} "
        f"THEN printf('%!.17g', {value}) ELSE {text} END"
    )


def _declared(connection: Any, source: str) -> dict[str, str]:
    """What the columns of a table are declared as; those of a query have no declaration."""
    if source.startswith("("):
        return {}
    found = _table(connection, f"PRAGMA table_info({source})").to_pylist()
    return {str(entry["name"]): str(entry["type"]).upper() for entry in found}


def _rows(connection: Any, address: Address, source: str, names: Sequence[str], ordered: bool) -> DatabaseRows:
    columns, count = _columns(connection, source, names, _declared(connection, source))

    def batches(wanted: list[ColumnRead]) -> Iterator[pl.DataFrame]:
        # the driver takes the type of a column from its first rows: one row with the right types comes first
        first = ", ".join(f"{_sample(column)} AS {quoted_name(column.name)}" for column in wanted)
        statement = f"SELECT {first} UNION ALL SELECT * FROM ({selection(wanted, source, address)})"
        with refusals(address), connection.cursor() as cursor:
            cursor.execute(statement)
            skip = 1
            for batch in cursor.fetch_record_batch():
                _check_texts(batch, address)
                frame = pl.from_arrow(batch.slice(skip))
                assert isinstance(frame, pl.DataFrame)
                skip = 0
                yield frame

    return DatabaseRows(columns, batches, ordered, count, connection.close)


def _check_texts(batch: Any, address: Address) -> None:
    """Refuse a damaged file: its texts come as bytes that are none, on which others end the process."""
    try:
        batch.validate(full=True)
    except ValueError:
        raise InputError(
            f"{address.shown} cannot be read to its end: it is damaged, or its texts are not UTF-8.",
            "Copy or export it again.",
        ) from None


def _sample(column: ColumnRead) -> str:
    return "0" if column.dtype in (pl.Int64(), pl.Boolean()) else "0.5" if column.dtype == pl.Float64() else "''"


def _as_stored(frame: pl.DataFrame) -> pl.DataFrame:
    """Decimals and times as texts."""
    found = []
    for series in frame.get_columns():
        if isinstance(series.dtype, pl.Datetime):
            at = series if series.dtype.time_zone is None else series.dt.convert_time_zone("UTC")
            series = at.dt.strftime("%Y-%m-%d %H:%M:%S%.6f")
        elif isinstance(series.dtype, pl.Decimal):
            series = series.cast(pl.String)
        found.append(series)
    return pl.DataFrame(found)


SQLITE = SQLite()
