"""Tables of databases (PostgreSQL, SQLite, DuckDB): read in Arrow batches, written in one transaction.

Here is where a table is (`postgresql://host/db?table=visits`, without credentials) and who reads and writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from shoal.errors import InputError, Message

if TYPE_CHECKING:
    from shoal.storage.databases.base import Database

SYSTEMS = {"postgresql": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}
_START = re.compile(r"(postgres(?:ql)?|sqlite3?|duckdb):", re.IGNORECASE)
_SAME = {"postgres": "postgresql", "sqlite3": "sqlite"}
# what an address may say; a server's own settings have libpq's names, and none of them is a secret
_OURS = ("table", "schema", "query", "order", "manifest")
_LIBPQ = ("host", "port", "user", "service", "sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout")
_SECRET = "A password in an address would stand in the history of the shell and in the list of processes."
_CURE = "Set PGPASSWORD, write it to ~/.pgpass, or name a service of pg_service.conf: ?service=NAME."
_LONGEST = 100_000


def is_database(source: Any) -> bool:
    """Whether a source is the address of a table in a database.

    >>> is_database("sqlite:///visits.db?table=visits"), is_database("visits.db"), is_database("s3://bucket/visits")
    (True, False, False)
    """
    return isinstance(source, (Address, str)) and (isinstance(source, Address) or _START.match(source) is not None)


@dataclass(frozen=True)
class Address:
    """A table, or the result of a query, of a database. Credentials are no part of it: the system's library finds them.

    >>> Address.of("postgresql://clinic.example/hospital?table=visits&order=id")
    postgresql://clinic.example/hospital?table=visits
    """

    system: str
    # the name of the database, or the path of its file
    database: str
    table: str | None = None
    schema: str | None = None
    query: str | None = None
    order: tuple[str, ...] = ()
    manifest: str | None = None
    connection: tuple[tuple[str, str], ...] = field(default=())

    @classmethod
    def of(cls, source: str | Address) -> Address:
        """An address as it is written; one with a password is refused."""
        if isinstance(source, Address):
            return source
        scheme, _, rest = source.partition(":")
        system = _SAME.get(scheme.lower(), scheme.lower())
        place, _, asked = rest.partition("?")
        if not place.startswith("//") or len(source) > _LONGEST or not source.isprintable():
            raise InputError(
                f"This is not an address of {SYSTEMS[system]}.", f"Write {_example(system)}, in one line, as text."
            )
        ours, theirs = _parameters(asked, system)
        if system == "postgresql":
            database, connection = _server(place[2:])
            connection = tuple({**dict(connection), **theirs}.items())
        else:
            database, connection = unquote(place[3:]), ()
            if place[2:3] != "/" or not database:
                raise InputError(
                    f"The address names no file of {SYSTEMS[system]}.",
                    f"Write {_example(system)}; four slashes start an absolute path.",
                )
        schema, table = ours.get("schema"), ours.get("table")
        if schema is None and table is not None and "." in table and system != "sqlite":
            schema, table = table.split(".", 1)
        order = tuple(name for name in ours.get("order", "").split(",") if name)
        return cls(system, database, table, schema, ours.get("query"), order, ours.get("manifest"), connection)

    @property
    def shown(self) -> str:
        """The address for people: no user, no password, and of a query only that it is one."""
        where = dict(self.connection)
        host, port = where.get("host", ""), f":{where['port']}" if "port" in where else ""
        if self.system == "postgresql":
            text = f"postgresql://{host if host[:1] != '/' else ''}{port}/{self.database}"
        else:
            text = f"{self.system}:///{self.database}"
        if self.query is not None:
            return f"a query of {text}"
        return text if self.table is None else f"{text}?table={f'{self.schema}.' if self.schema else ''}{self.table}"

    def __repr__(self) -> str:
        return self.shown

    __str__ = __repr__

    @property
    def file(self) -> Path | None:
        """The file of the database, where it is one."""
        return None if self.system == "postgresql" else Path(self.database)

    @property
    def beside(self) -> Path:
        """The path from which manifest and private record take their names: they say which table of which file, or of a
        server.

        >>> Address.of("sqlite:///clinic.db?table=safe").beside.stem, Address.of("postgresql:///?table=safe").beside.stem
        ('safe.clinic.db', 'safe.postgresql')
        """
        if self.manifest is not None:
            path = Path(self.manifest)
            return path.with_name(f"{path.name.removesuffix('.json').removesuffix('.manifest')}.{self.system}")
        name = re.sub(r"[^\w.-]+", "_", self.table or "query").lstrip(".") or "table"
        if self.file is None:
            return Path(f"{name}.{self.system}.{self.system}")
        return self.file.with_name(f"{name}.{self.file.name}.{self.system}")


def with_query(source: Any, query: str | None) -> Any:
    """The address of a database with a query instead of a table.

    >>> with_query("sqlite:///visits.db", "select age from visits")
    'sqlite:///visits.db?query=select%20age%20from%20visits'
    """
    if query is None:
        return source
    if not isinstance(source, str) or not is_database(source):
        raise InputError(
            "A query is given, and the source is not a database.",
            "Name one, such as postgresql://host/db or sqlite:///visits.db.",
        )
    return f"{source}{'&' if '?' in source else '?'}query={quote(query, safe='')}"


def without_password(text: str) -> str:
    """An address of any kind for a message: what stands before @ and behind ? may be a secret.

    >>> without_password("mysql://clerk:secret@host/db?token=secret")
    'mysql://host/db'
    """
    return re.sub(r"(?<=//)[^/?#]*@|\?.*", "", text, flags=re.DOTALL)


def _example(system: str) -> str:
    return "postgresql://host/db?table=visits" if system == "postgresql" else f"{system}:///visits.db?table=visits"


def _parameters(text: str, system: str) -> tuple[dict[str, str], dict[str, str]]:
    """What an address says after `?`: about the table, and to the server's library."""
    found: dict[str, str] = {}
    known = (*_OURS, *(_LIBPQ if system == "postgresql" else ()))
    for part in text.split("&") if text else []:
        name, _, value = part.partition("=")
        if name.lower() in ("password", "sslpassword", "passfile"):
            raise InputError(_SECRET, _CURE)
        if name not in known:
            raise InputError("The address has a setting that is not known.", f"Known ones: {', '.join(known)}.")
        if name in found or not value:
            raise InputError(f"The address names '{name}' twice, or without a value.", "Name it once, with its value.")
        found[name] = unquote(value)
    if "table" in found and "query" in found:
        raise InputError("The address names a table and a query.", Message("Give one of them ({query})."))
    if "query" in found and {"schema", "order"} & set(found):
        raise InputError("A query has its own schema and order.", "Write them in the query: … order by id.")
    ours = {name: value for name, value in found.items() if name in _OURS}
    return ours, {name: value for name, value in found.items() if name not in _OURS}


def _server(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """User, host, port and database of a server."""
    place, _, database = text.partition("/")
    who, at, host = place.rpartition("@")
    if ":" in who:
        raise InputError(_SECRET, _CURE)
    found = {"user": unquote(who)} if at and who else {}
    name, _, port = host.partition(":") if not host.startswith("[") else (host.strip("[]"), "", "")
    if port and not port.isdigit():
        raise InputError("The port of the address is not a number.", "Write postgresql://host:5432/db?table=visits.")
    found |= {key: unquote(value) for key, value in (("host", name), ("port", port)) if value}
    return unquote(database), tuple(found.items())


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
