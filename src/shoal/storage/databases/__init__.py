"""Tables of databases (PostgreSQL, SQLite, DuckDB): read in Arrow batches, written in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.storage.databases.address import Address, is_database, with_query

if TYPE_CHECKING:
    from shoal.storage.databases.base import Database


__all__ = ["Address", "database_of", "is_database", "with_query"]


def database_of(address: Address) -> Database:
    """What reads and writes the tables of an address."""
    if address.system == "sqlite":
        from shoal.storage.databases.sqlite import SQLITE

        return SQLITE
    if address.system == "duckdb":
        from shoal.storage.databases.duckdb import DUCKDB

        return DUCKDB
    from shoal.storage.databases.postgresql import POSTGRESQL

    return POSTGRESQL
