"""PostgreSQL by ADBC: rows come as Arrow batches from the server's binary COPY, and go there the same way."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import polars as pl

from shoal.errors import InputError
from shoal.storage.databases import Address
from shoal.storage.databases.base import (
    ColumnRead,
    Database,
    DatabaseObject,
    DatabaseRows,
    Staged,
    TypeNames,
    arrow_of,
    check_order,
    check_table,
    needs,
    qualified_name,
    quoted_name,
    read_query,
    refusals,
    selection,
)

_AS_IT_IS = {"int2", "int4", "int8", "float4", "float8", "bool", "date", "timestamp", "timestamptz", "text", "varchar"}
# a name has 63 bytes; longer ones would be cut without a word
_LONGEST_NAME = 63
_TYPES = {
    pl.Int8: "smallint", pl.Int16: "smallint", pl.Int32: "integer", pl.Int64: "bigint", pl.UInt8: "smallint",
    pl.UInt16: "integer", pl.UInt32: "bigint", pl.Float32: "real", pl.Float64: "double precision",
    pl.Boolean: "boolean", pl.Date: "date", pl.String: "text",
}  # fmt: skip

_KINDS = {"r": "table", "v": "view", "m": "materialized view", "f": "foreign table", "p": "partitioned table"}
_KIND = """
SELECT max(c.relkind::text) AS kind, coalesce(bool_or(c.relrowsecurity), false) AS "row security",
    coalesce(bool_or(c.relhasrules AND c.relkind = 'r'), false) AS rules,
    coalesce(bool_or(EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)), false) AS triggers
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind NOT IN ('i', 'I', 't', 'c')
"""
_SERVER = """
SELECT oid::text AS database, pg_postmaster_start_time()::text AS start,
    has_function_privilege('pg_control_system()', 'execute') AS may
FROM pg_database WHERE datname = current_database()
"""
_IDENTIFIER = "SELECT system_identifier::text AS id FROM pg_control_system()"
# from the names on: what the rules of views read, the parents and parts of partitioned tables
_LEADS_TO = """
WITH RECURSIVE edge(above, below) AS (
    SELECT r.ev_class, d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
    WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
    UNION SELECT inhparent, inhrelid FROM pg_inherits UNION SELECT inhrelid, inhparent FROM pg_inherits
), seen(oid) AS (
    SELECT oid FROM pg_class WHERE oid = to_regclass($1) OR lower(relname) = ANY (string_to_array($3, chr(1)))
    UNION SELECT edge.below FROM seen JOIN edge ON edge.above = seen.oid
)
SELECT count(*) > 0 AS found FROM seen WHERE oid = to_regclass($2)
"""


class _Staged(Staged):
    def lock(self) -> None:
        """Keep other releases from this name until the end, and find the one schema in which everything happens."""
        self.address = replace(self.address, schema=self.found().schema)
        asked = "SELECT pg_try_advisory_xact_lock(hashtextextended('shoal ' || $1, 0)) AS free"
        if not _first(self.connection, asked, (qualified_name(self.address),))["free"]:
            raise InputError(f"Another release into {self.address.shown} is being written.", "Try again later.")
        self.check()

    def found(self) -> DatabaseObject:
        return _found(self.connection, self.address)

    def run(self, statement: str) -> None:
        _run(self.connection, statement)

    def fill(self, frame: pl.DataFrame, columns: str) -> None:
        """By COPY."""
        self.lock()
        self.run(f"CREATE TABLE {self.name} ({columns})")
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(self.draft, arrow_of(frame), mode="append", db_schema_name=self.address.schema)

    def in_order(self) -> DatabaseRows:
        """One process reads from the first page on."""
        self.run("SET LOCAL synchronize_seqscans = off")
        self.run("SET LOCAL max_parallel_workers_per_gather = 0")
        return _rows(self.connection, self.address, self.name, _columns(self.connection, self.name), True)


class PostgreSQL(Database):
    """Servers of PostgreSQL; credentials come from PGPASSWORD, ~/.pgpass or a service file, never from an address."""

    name = "PostgreSQL"
    types = TypeNames(_TYPES, "numeric({}, {})", "timestamptz", "timestamp")
    staged = _Staged

    def connect(self, address: Address, read_only: bool) -> Any:
        """A session; a transaction that only reads says so itself."""
        return _connect(address)

    def rows_of(self, connection: Any, address: Address, source: str, ordered: bool) -> DatabaseRows:
        """In a transaction that only reads."""
        _run(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        columns = _columns(connection, source)
        check_order(address, [column.name for column in columns], ("ctid",))
        rows = _rows(connection, address, source, columns, ordered)
        rows.estimate = _estimate(connection, source)
        return rows

    def found(self, address: Address) -> DatabaseObject:
        """What has the name of a table, in the schema into which a new table goes."""
        check_table(address)
        with closing(_connect(address)) as connection, refusals(address):
            return _found(connection, address)

    def reads(self, source: Address, target: Address) -> bool:
        """Whether a table, a view or the names of a query lead to the table of a target, in one database of one server.

        The catalogue says it, whatever the server is called: views by their rules, partitions by their parents.
        """
        with closing(_connect(target)) as connection, refusals(target):
            there, schema = _server_of(connection), _found(connection, target).schema
        with closing(_connect(source)) as connection, refusals(source):
            here = _server_of(connection)
            if here[0] != there[0] or not set(here[1:]) & set(there[1:]) - {None}:
                return False
            start = qualified_name(source) if source.query is None else "pg_catalog.pg_class"
            words = [] if source.query is None else sorted(read_query(source.query).words)
            asked = (start, qualified_name(replace(target, schema=schema)), chr(1).join(words))
            return bool(_first(connection, _LEADS_TO, asked)["found"])

    def check_names(self, frame: pl.DataFrame, address: Address) -> None:
        """Refuse names that the server would cut."""
        if long := [name for name in [*frame.columns, check_table(address)] if len(name.encode()) > _LONGEST_NAME]:
            raise InputError(
                f"'{long[0]}' is longer than the {_LONGEST_NAME} bytes of a name in PostgreSQL.", "Rename it."
            )


def _connect(address: Address) -> Any:
    try:
        import pyarrow  # noqa: F401
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise needs("adbc-driver-postgresql", "postgres", "PostgreSQL") from None
    settings = {"application_name": "shoal", **dict(address.connection)}
    if address.database:
        settings["dbname"] = address.database
    if "connect_timeout" not in settings and "PGCONNECT_TIMEOUT" not in os.environ:
        settings["connect_timeout"] = "10"
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in settings.items())
    try:
        return dbapi.connect(f"postgresql:///?{asked}")
    except Exception as error:  # its message names addresses, users and what the server said
        raise _not_connected(str(error), address) from None


def _not_connected(said: str, address: Address) -> InputError:
    where = address.shown.removeprefix("a query of ").partition("?")[0]
    if "authentication failed" in said or "no password supplied" in said or "pg_hba.conf" in said:
        what, cure = "refused the user or the password", "Set PGUSER and PGPASSWORD, ~/.pgpass, or a service file."
    elif "definition of service" in said or "service file" in said:
        what, cure = "is not a known service", "Name it in ~/.pg_service.conf, or in the file of PGSERVICEFILE."
    elif "database" in said and "does not exist" in said:
        what, cure = "has no such database", "Check the name in the address."
    else:
        what, cure = "cannot be reached", "Check host and port (PGHOST, PGPORT), and that the server runs."
    return InputError(f"PostgreSQL at {where} {what}.", cure)


def _run(connection: Any, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def _first(connection: Any, statement: str, parameters: tuple[str, ...] = ()) -> dict[str, Any]:
    """The first row of what a statement gives."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)
        return dict(cursor.fetch_arrow_table().to_pylist()[0])


def _found(connection: Any, address: Address) -> DatabaseObject:
    """What has a name in the schema that the address names, or in that into which the server writes by itself."""
    where = _first(connection, "SELECT current_database()::text AS database, current_schema()::text AS schema")
    schema = address.schema or where["schema"]
    if schema is None:
        raise InputError(f"{address.shown} names no schema, and search_path has none.", "Name it: ?table=schema.table.")
    about = _first(connection, _KIND, (schema, check_table(address)))
    kind = about["kind"] if about["kind"] is None else _KINDS.get(about["kind"], "object of another kind")
    more = [word for word in ("triggers", "rules", "row security") if about[word]]
    return DatabaseObject(f"{kind} with {more[0]}" if kind and more else kind, str(where["database"]), str(schema))


def _server_of(connection: Any) -> tuple[Any, ...]:
    """The database's number, the server's start, and its system identifier where the user may see it."""
    found = _first(connection, _SERVER)
    known = _first(connection, _IDENTIFIER)["id"] if found["may"] else None
    return found["database"], found["start"], known


def _columns(connection: Any, source: str) -> list[ColumnRead]:
    with connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema(f"SELECT * FROM {source} AS asked")
    return [_column(entry.name, entry.type, entry.metadata or {}) for entry in schema]


def _column(name: str, arrow: Any, about: dict[bytes, bytes]) -> ColumnRead:
    """How a column is asked for, by the server's name of its type."""
    kind, quoted = about.get(b"POSTGRESQL:type", b"").decode(), quoted_name(name)
    shape = str(arrow)
    if kind.startswith("_") or shape.startswith(("list", "large_list")):
        return ColumnRead(name, quoted, refused=f"arrays ({kind.lstrip('_')}[]) are not values of one cell")
    if shape.startswith("struct") or kind == "record":
        return ColumnRead(name, quoted, refused="records within a cell are not read")
    if kind == "bytea":
        return ColumnRead(name, quoted, refused="bytes (bytea) are not read")
    if kind == "numeric":
        return _numeric(name, int(about.get(b"POSTGRESQL:typmod", b"-1")))
    if kind == "money":
        return ColumnRead(name, f"trim_scale({quoted}::numeric)::text", number=True)
    if kind in _AS_IT_IS or (shape == "string" and kind != "bpchar"):
        return ColumnRead(name, quoted)
    return ColumnRead(name, f"{quoted}::text")


def _numeric(name: str, modifier: int) -> ColumnRead:
    """`numeric(p, s)` as a decimal; without precision as numbers of any length."""
    value = f"nullif({quoted_name(name)}, 'NaN')"
    precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
    if modifier >= 4 and precision <= 38 and scale <= precision:
        return ColumnRead(name, f"{value}::text", dtype=pl.Decimal(precision, scale))
    return ColumnRead(name, f"trim_scale({value})::text", number=True)


def _rows(connection: Any, address: Address, source: str, columns: list[ColumnRead], ordered: bool) -> DatabaseRows:
    def batches(wanted: list[ColumnRead]) -> Iterator[pl.DataFrame]:
        with refusals(address), connection.cursor() as cursor:
            cursor.execute(selection(wanted, source, address))
            for batch in cursor.fetch_record_batch():
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                yield frame

    return DatabaseRows(columns, batches, ordered, close=connection.close)


def _estimate(connection: Any, source: str) -> int:
    """How many rows the server's planner expects."""
    import json

    with connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # COPY takes no EXPLAIN
        cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {source} AS asked")
        plan = cursor.fetch_arrow_table().column(0)[0].as_py()
    try:
        return int(json.loads(plan)[0]["Plan"]["Plan Rows"])
    except (ValueError, KeyError, IndexError, TypeError):
        return 0


POSTGRESQL = PostgreSQL()
