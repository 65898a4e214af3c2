"""DuckDB's own files: rows come and go as Arrow batches."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import suppress
from typing import Any

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

_ROWS_PER_BATCH = 1 << 18
# nothing is fetched from the network, and no variable of Python is taken for a table
_SETTINGS: dict[str, Any] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "python_enable_replacements": False,
}
# a query reads this file alone: no other file of the machine, no address, and it cannot change that
_LOCKED = ("enable_external_access = false", "lock_configuration = true")
_NESTED = re.compile(r"STRUCT|MAP|UNION|.*\[\d*\]$|VARIANT", re.DOTALL)
_AS_TEXT = re.compile(r"UUID|JSON|INTERVAL|TIME( |_NS|$)|ENUM|BIT|INET")
_AS_NUMBER = re.compile(r"U?HUGEINT|BIGNUM|VARINT")
_TYPES = {
    pl.Int8: "TINYINT", pl.Int16: "SMALLINT", pl.Int32: "INTEGER", pl.Int64: "BIGINT", pl.UInt8: "UTINYINT",
    pl.UInt16: "USMALLINT", pl.UInt32: "UINTEGER", pl.Float32: "FLOAT", pl.Float64: "DOUBLE", pl.Boolean: "BOOLEAN",
    pl.Date: "DATE", pl.String: "VARCHAR",
}  # fmt: skip


class _Staged(Staged):
    def found(self) -> DatabaseObject:
        return DatabaseObject(DUCKDB.kind(self.connection, self.address), "", None)

    def run(self, statement: str) -> None:
        self.connection.execute(statement)

    def fill(self, frame: pl.DataFrame, columns: str) -> None:
        """In a transaction of its own."""
        self.run("BEGIN")
        self.check()
        self.run(f"CREATE TABLE {self.name} ({columns})")
        self.connection.register("shoal_frame", arrow_of(frame))
        self.run(f"INSERT INTO {self.name} SELECT * FROM shoal_frame")
        self.connection.unregister("shoal_frame")

    def in_order(self) -> DatabaseRows:
        return _rows(self.connection, self.address, self.name, _columns(self.connection, self.name), True)

    def commit(self) -> None:
        self.run("COMMIT")
        with suppress(Exception):  # others read the file: it happens when they are done
            self.run("CHECKPOINT")

    def roll_back(self) -> None:
        self.run("ROLLBACK")


class DuckDB(FileDatabase):
    """Files of DuckDB."""

    name = "DuckDB"
    schema = "main"
    types = TypeNames(_TYPES, "DECIMAL({}, {})", "TIMESTAMPTZ", "TIMESTAMP")
    staged = _Staged

    def connect(self, address: Address, read_only: bool) -> Any:
        """The file alone: no other file, no address."""
        try:
            import duckdb
            import pyarrow  # noqa: F401
        except ImportError:
            raise needs("duckdb", "duckdb", "DuckDB") from None
        if read_only and not (address.file is not None and address.file.is_file()):
            raise InputError(
                f"There is no file {address.database}.",
                "Check the name; duckdb:////file is an absolute path.",
            )
        with refusals(address):
            connection = duckdb.connect(address.database, read_only=read_only, config=_SETTINGS)
            for setting in _LOCKED:
                connection.execute(f"SET {setting}")
            return connection

    def rows_of(self, connection: Any, address: Address, source: str, ordered: bool) -> DatabaseRows:
        """Its columns by their types; how many rows a table has is counted."""
        columns = _columns(connection, source)
        check_order(address, [column.name for column in columns], ("rowid",))
        rows = _rows(connection, address, source, columns, ordered)
        if address.query is None:
            rows.estimate = int(connection.execute(f"SELECT count(*) FROM {source}").fetchall()[0][0])
        return rows

    def kind(self, connection: Any, address: Address) -> str | None:
        """What has the name, by the catalogue."""
        found = connection.execute(
            "SELECT table_type FROM information_schema.tables WHERE lower(table_name) = lower(?) "
            "AND lower(table_schema) = lower(?) AND table_catalog = current_database()",
            [address.table, address.schema or "main"],
        ).fetchall()
        return None if not found else {"BASE TABLE": "table"}.get(found[0][0], str(found[0][0]).lower())

    def names(self, connection: Any) -> list[str]:
        """Tables and views of all schemas."""
        found = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
        return [str(name) for (name,) in found]

    def leads_to(self, connection: Any, words: Collection[str], source: Address, target: Address) -> bool:
        """By the definitions of views and macros."""
        if source.query is None and self.kind(connection, source) == "table":
            return _named(source) == _named(target)
        found = connection.execute(
            "SELECT view_name, sql FROM duckdb_views() WHERE NOT internal UNION ALL "
            "SELECT function_name, macro_definition FROM duckdb_functions() WHERE macro_definition IS NOT NULL "
            "AND NOT internal"
        ).fetchall()
        definitions: dict[str, str] = {}
        for name, text in found:  # one name may be that of several, in schemas of their own
            definitions[str(name).lower()] = f"{definitions.get(str(name).lower(), '')} {text}"
        return bool(words_behind(words, definitions) & {check_table(target).lower(), "query", "query_table"})


def _named(address: Address) -> tuple[str, str]:
    """Schema and table, without regard to upper and lower case."""
    return (address.schema or "main").lower(), check_table(address).lower()


def _columns(connection: Any, source: str) -> list[ColumnRead]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    return [_column(name, str(kind).upper()) for name, kind, *_ in described]


def _column(name: str, kind: str) -> ColumnRead:
    quoted = quoted_name(name)
    if _NESTED.match(kind):
        return ColumnRead(name, quoted, refused="arrays, lists and structures are not values of one cell")
    if kind.startswith("BLOB"):
        return ColumnRead(name, quoted, refused="bytes (BLOB) are not read")
    if _AS_NUMBER.match(kind):
        return ColumnRead(name, f"{quoted}::VARCHAR", number=True)
    return ColumnRead(name, f"{quoted}::VARCHAR" if _AS_TEXT.match(kind) else quoted)


def _rows(connection: Any, address: Address, source: str, columns: list[ColumnRead], ordered: bool) -> DatabaseRows:
    def batches(wanted: list[ColumnRead]) -> Iterator[pl.DataFrame]:
        with refusals(address):
            relation = connection.sql(selection(wanted, source, address))
            for batch in relation.to_arrow_reader(_ROWS_PER_BATCH):
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                yield frame

    return DatabaseRows(columns, batches, ordered, close=connection.close)


DUCKDB = DuckDB()
