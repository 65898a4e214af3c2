"""What every database does: give the columns and batches of a table, and take a table inside one transaction."""

from __future__ import annotations

import datetime
import re
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import polars as pl

from shoal.errors import InputError, Message, quoted
from shoal.storage.databases import SYSTEMS, Address
from shoal.threads import ahead

# SQL as far as it is written and read here: quoted names, and whether a query is one that only reads.


# quoted texts and names, dollar quotes, comments, words, everything else sign by sign
_TOKEN = re.compile(
    r"""(?P<text>[eE]'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")*"|`[^`]*`)"""
    r"""|(?P<dollar>\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)"""
    r"""|(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<word>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)|(?P<blank>\s+)|(?P<sign>.)""",
    re.DOTALL,
)
_NAMES = ("word", "name", "text")
_READS = ("select", "with", "values", "table")


@dataclass(frozen=True)
class SqlQuery:
    """A query that only reads, its words (names and texts, unquoted), and whether it says in which order rows come."""

    text: str
    words: frozenset[str]
    ordered: bool


def quoted_name(name: str) -> str:
    """A name of a table or a column as SQL writes it, whatever is in it.

    >>> quoted_name('age"; drop table visits; --')
    '"age""; drop table visits; --"'
    """
    if "\0" in name or not name:
        raise InputError("A name of a table or a column is empty, or holds a NUL character.", "Rename it.")
    return '"' + name.replace('"', '""') + '"'


def read_query(text: str) -> SqlQuery:
    """A query, checked: one statement that only reads. The database is opened for reading only, whatever it says.

    >>> read_query("select age from visits order by id;").ordered
    True
    >>> read_query("select age from (select * from visits order by id) v").ordered
    False
    >>> read_query("select 1; drop table visits")
    Traceback (most recent call last):
    shoal.errors.InputError: The query holds more than one statement. ...
    """
    matches = [match for match in _TOKEN.finditer(text) if match.lastgroup not in ("comment", "blank")]
    while matches and matches[-1].group() == ";":
        text = text[: matches.pop().start()]
    top, words = _outermost(matches)
    first = next((match.group().lower() for match in matches if match.lastgroup == "word"), "")
    if first not in _READS:
        raise InputError("The query does not start with select.", Message("Give one select ({query})."))
    ordered = any(pair == ("order", "by") for pair in pairwise(top))
    return SqlQuery(text, frozenset(words), ordered)


def _outermost(matches: list[re.Match[str]]) -> tuple[list[str], set[str]]:
    """The words outside of all parentheses in their order, and all words and names."""
    depth, top, words = 0, [], set()
    for match in matches:
        kind, token = match.lastgroup, match.group()
        if kind == "sign" and token in "()":
            depth += 1 if token == "(" else -1
        elif kind == "sign" and token == ";":
            raise InputError("The query holds more than one statement.", Message("Give one select ({query})."))
        elif kind == "sign" and token in "'\"`":
            raise InputError("A quote of the query is not closed.", "Close it.")
        elif kind in _NAMES:  # a name may stand in single quotes
            words.add(token.strip("\"`'").lower())
            top += [token.lower()] if depth == 0 and kind == "word" else []
        if depth < 0:
            break
    if depth:
        raise InputError("The parentheses of the query do not match.", "Check them.")
    return top, words


def words_behind(words: Iterable[str], definitions: Mapping[str, str]) -> frozenset[str]:
    """The words of a query and of all views that it reads, by the definitions of the views.

    >>> sorted(words_behind(["v"], {"v": "create view v as select * from w", "w": "select a from t"}) & {"t", "u"})
    ['t']
    """
    found, new = frozenset[str](), frozenset(word.lower() for word in words)
    while new:
        found |= new
        texts = [definitions[word] for word in new if word in definitions]
        matches = [match for text in texts for match in _TOKEN.finditer(text) if match.lastgroup in _NAMES]
        new = frozenset(match.group().strip("\"`'").lower() for match in matches) - found
    return found


# days and microseconds of the years 1 to 9999: what lies outside stands for infinity, or no date library takes it
_DAYS = (datetime.date.min.toordinal() - 719_163, datetime.date.max.toordinal() - 719_163)


@dataclass(frozen=True)
class ColumnRead:
    """A column of a database: how it is asked for, as what it is taken, or why it cannot be.

    `number`: it comes as text and is a number, whose type is found at the end as that of a text file's column is.
    """

    name: str
    expression: str
    dtype: pl.DataType | None = None
    number: bool = False
    refused: str | None = None


@dataclass
class DatabaseRows:
    """An opened table or query: its columns, and its rows in batches."""

    columns: list[ColumnRead]
    batches: Callable[[list[ColumnRead]], Iterator[pl.DataFrame]]
    # whether the rows come in an order that was asked for
    ordered: bool
    # how many rows there may be
    estimate: int = 0
    close: Callable[[], None] = field(default=lambda: None)

    def read(self, names: Sequence[str], where: str) -> Iterator[pl.DataFrame]:
        """Some columns, batch by batch; closed at the end."""
        by_name = {column.name: column for column in self.columns}
        wanted = [by_name[name] for name in names]
        if refused := [column for column in wanted if column.refused]:
            what = f"{quoted([column.name for column in refused[:8]])} of {where}: {refused[0].refused}"
            raise InputError(
                f"Columns cannot be read: {what}.", "Name the other columns, or turn it into text by a query."
            )
        try:
            for batch in ahead(self.batches(wanted)):
                yield pl.DataFrame([_taken(batch[column.name], column) for column in wanted])
        finally:
            self.close()


@dataclass(frozen=True)
class DatabaseObject:
    """What has a name in a database: `kind` is table, view …, or None; database and schema are named in any case."""

    kind: str | None
    database: str
    schema: str | None

    def check_free(self, address: Address) -> None:
        """Refuse a name that is taken."""
        if self.kind is not None:
            raise InputError(f"{address.shown} exists already.", Message("Use `{force}` to replace it."))


def _taken(series: pl.Series, column: ColumnRead) -> pl.Series:
    """A batch of a column in the type that it is taken as."""
    if column.dtype is not None and series.dtype != column.dtype:
        series = _cast(series, column.dtype)
    elif isinstance(series.dtype, (pl.Categorical, pl.Enum)) or series.dtype == pl.Null:
        series = series.cast(pl.String)
    if series.dtype == pl.Date:
        _check_calendar(series, *_DAYS)
    elif isinstance(series.dtype, pl.Datetime):
        unit = {"ms": 10**3, "us": 10**6, "ns": 10**9}[series.dtype.time_unit]
        _check_calendar(series, _DAYS[0] * 86_400 * unit, (_DAYS[1] + 1) * 86_400 * unit - 1)
    return series


def _cast(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """A column in another type; the library's own error would show values."""
    try:
        if series.dtype == pl.String and dtype == pl.Date:
            return series.str.to_date("%Y-%m-%d")
        if series.dtype == pl.String and isinstance(dtype, pl.Datetime):
            found = series.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us")
            return found if dtype.time_zone is None else found.dt.replace_time_zone(dtype.time_zone)
        return series.cast(dtype)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"Column '{series.name}' holds values that are not of its type.", "Read it as text by a query."
        ) from None


def _check_calendar(series: pl.Series, first: int, last: int) -> None:
    low, high = series.to_physical().min(), series.to_physical().max()
    if low is not None and (int(low) < first or int(high) > last):  # type: ignore[arg-type]
        raise InputError(
            f"Column '{series.name}' holds dates outside of the years 1 to 9999, or infinite ones.",
            "Replace them by a query, for example with nullif.",
        )


@contextmanager
def refusals(address: Address, where: str = "") -> Iterator[None]:
    """What a database says as our error: its own message may show values, statements and addresses."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        module = type(error).__module__.split(".")[0]
        drivers = module in ("adbc_driver_manager", "_duckdb", "duckdb", "pyarrow")
        late = isinstance(error, OSError) and error.errno is None  # of a driver's stream, not of the machine
        if drivers or late or isinstance(error, pl.exceptions.PolarsError):
            raise failure(error, address, where) from None
        raise


# the first letters of SQLSTATE, longest first, and what they mean for whoever reads or writes a table
_STATES: dict[str, tuple[str, str]] = {
    "42P01": ("has no such table", "Check the name; a table of another schema is schema.table."),
    "3F000": ("has no such schema", "Check the name."),
    "42703": ("has no such column", "Check the names in the query."),
    "42501": ("does not let this user read or write the table", "Ask its owner for the right."),
    "42601": ("cannot read the query: it is not valid SQL", "Check its syntax."),
    "25006": ("refused to write: a query may only read", "Give one select."),
    "0A000": ("cannot do this inside a query", "Give one select that only reads."),
    "2BP01": ("keeps the table: views or other objects depend on it", "Drop them first, or choose another name."),
    "55P03": ("has locked the table", "Try again later."),
    "57014": ("ended the query before its end", "Raise statement_timeout, or read fewer rows."),
    "53100": ("has no space left", "Free some, or choose another database."),
    "22P05": ("cannot hold a character of the text in its encoding", "Use a database in UTF-8."),
    "22021": ("cannot hold a character of the text in its encoding", "Remove NUL characters, or use UTF-8."),
    "42": ("cannot run the query", "Check its names and types."),
    "22": ("stopped at a value that the query cannot convert or compute", "Check the casts of the query."),
    "08": ("is not connected any more", "Try again."),
    "57": ("is shutting down", "Try again."),
}


# what SQLite and DuckDB say of a file or a folder that the system keeps from them
_NO_RIGHT = ("unable to open", "readonly database", "permission denied")


def failure(error: Exception, address: Address, where: str = "") -> InputError:
    """One sentence about what a database refused, and the cure; never its own words."""
    name = SYSTEMS[address.system]
    state = getattr(error, "sqlstate", None) or _duckdb_state(error)
    for known, (what, cure) in _STATES.items():
        if state and state.startswith(known):
            return InputError(f"{name} {what} ({where or address.shown}).", cure)
    said = str(error).lower()
    if "lock" in said and address.file is not None:
        return InputError(f"{address.database} is in use by another process.", "Close it there, and try again.")
    if "no such table" in said:
        return InputError(f"{name} has no such table ({address.shown}).", "Check the name.")
    if "syntax error" in said:
        return InputError(f"{name} cannot read the query: it is not valid SQL.", "Check its syntax.")
    if "not a database" in said or "not a valid duckdb" in said:
        return InputError(f"{address.database} is not a database of {name}.", "Check the name of the file.")
    if address.file is not None and any(word in said for word in _NO_RIGHT):
        return InputError(
            f"{address.database} cannot be opened, or not be written to.",
            "Check the rights of the file and its folder.",
        )
    told = f" (SQLSTATE {state})" if state else ""
    return InputError(f"{name} could not do this{told}: {where or address.shown}.", "Check the query and its rights.")


def _duckdb_state(error: Exception) -> str | None:
    """The SQLSTATE that an error of DuckDB corresponds to."""
    found = {"CatalogException": "42P01", "ParserException": "42601", "SyntaxException": "42601"}
    found |= {"BinderException": "42703", "ConversionException": "22", "OutOfRangeException": "22"}
    return found.get(type(error).__name__)


def needs(package: str, extra: str, system: str) -> InputError:
    """The error for a driver that is not installed.

    >>> needs("duckdb", "duckdb", "DuckDB").cure
    "Install it: pip install 'shoal[duckdb]'."
    """
    return InputError(f"{system} needs the package {package}.", f"Install it: pip install 'shoal[{extra}]'.")


def check_order(address: Address, names: Sequence[str], hidden: Sequence[str]) -> None:
    """Refuse an order by columns that are not there."""
    if missing := [name for name in address.order if name not in names and name not in hidden]:
        raise InputError.missing_columns(missing, names, address.shown)


def selection(columns: Sequence[ColumnRead], source: str, address: Address) -> str:
    """Columns of a table or a query in the order that the address asks for: that of the values, not of their texts."""
    selected = ", ".join(f"{column.expression} AS {quoted_name(column.name)}" for column in columns)
    order = ", ".join(f"asked.{quoted_name(name)}" for name in address.order)
    return f"SELECT {selected} FROM {source} AS asked" + (f" ORDER BY {order}" if order else "")


def is_same_file(one: Address, other: Address) -> bool:
    """Whether two addresses are one file, whatever its names are."""
    try:
        return one.file is not None and other.file is not None and one.file.samefile(other.file)
    except OSError:
        return False


def check_table(address: Address) -> str:
    """The table that an address names."""
    if address.table is None:
        raise InputError(
            f"{address.shown} names no table.", Message("Add ?table=NAME to the address, or give a {query}.")
        )
    return address.table


def qualified_name(address: Address, table: str | None = None) -> str:
    """A table of the schema that an address names, as SQL writes it."""
    name = quoted_name(table or check_table(address))
    return name if address.schema is None else f"{quoted_name(address.schema)}.{name}"


def for_arrow(frame: pl.DataFrame, system: str, known: Callable[[pl.DataType], str | None]) -> pl.DataFrame:
    """A frame with types that a database has; refused where it has none."""
    found = []
    for series in frame.get_columns():
        if isinstance(series.dtype, (pl.Categorical, pl.Enum)) or series.dtype == pl.Null:
            series = series.cast(pl.String)
        elif isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit != "us":
            series = series.cast(pl.Datetime("us", series.dtype.time_zone))
        elif series.dtype == pl.UInt64:
            series = series.cast(pl.Decimal(20, 0))
        if known(series.dtype) is None:
            raise InputError(f"{system} has no type for column '{series.name}'.", "Write .parquet instead.")
        found.append(series)
    return pl.DataFrame(found)


def arrow_of(frame: pl.DataFrame) -> Any:
    """A frame as Arrow's older layout of text, which drivers take."""
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


# A table inside an open transaction, of whatever database: read back, then named and committed, or never there.


class Staged(ABC):
    """A table that nobody else sees yet; `replace`: it may take the name of one that is there."""

    def __init__(self, connection: Any, address: Address, replace: bool) -> None:
        self.connection, self.address, self._replace = connection, address, replace
        # the name of the draft, which is nobody's
        self.draft = f"shoal_draft_{secrets.token_hex(8)}"

    @property
    def name(self) -> str:
        """The draft as SQL names it."""
        return self.qualified(self.draft)

    def qualified(self, table: str) -> str:
        """A table beside the draft as SQL names it."""
        return qualified_name(self.address, table)

    @abstractmethod
    def fill(self, frame: pl.DataFrame, columns: str) -> None:
        """Make the draft with these columns, and write a frame into it."""

    @abstractmethod
    def found(self) -> DatabaseObject:
        """What has the name of the target now."""

    @abstractmethod
    def run(self, statement: str) -> None:
        """A statement of the transaction."""

    @abstractmethod
    def in_order(self) -> DatabaseRows:
        """The rows of the draft in the order in which they were written."""

    def commit(self) -> None:
        """End the transaction with all that it did."""
        self.connection.commit()

    def roll_back(self) -> None:
        """End the transaction without."""
        self.connection.rollback()

    def check(self) -> bool:
        """Whether something has the name; refused unless it is replaced."""
        found = self.found()
        if not self._replace:
            found.check_free(self.address)
        return found.kind is not None

    def rows(self) -> DatabaseRows:
        """Its rows in the order in which they were written; the transaction goes on."""
        with refusals(self.address):
            found = self.in_order()
        found.close = lambda: None
        return found

    def publish(self) -> None:
        """Drop what it replaces, take its name, commit."""
        with refusals(self.address):
            name = check_table(self.address)
            if self.check():
                self.run(f"DROP TABLE {self.qualified(name)}")
            self.run(f"ALTER TABLE {self.name} RENAME TO {quoted_name(name)}")
            self.commit()
        self.connection.close()

    def discard(self) -> None:
        """End the transaction: the draft was never there."""
        with suppress(Exception):  # there is none, the server ended it, or it is closed already
            self.roll_back()
        with suppress(Exception):
            self.connection.close()


# What every database does: a subclass says how it connects, what it reads of a source, and how a frame gets into it.


@dataclass(frozen=True)
class TypeNames:
    """What types are called: decimals with their precision and scale, times with a zone and without."""

    plain: Mapping[type[pl.DataType], str]
    decimal: str
    zoned: str
    time: str

    def of(self, dtype: pl.DataType) -> str | None:
        """The name of a type; None where there is none."""
        if isinstance(dtype, pl.Decimal):
            return self.decimal.format(dtype.precision, dtype.scale)
        if isinstance(dtype, pl.Datetime):
            return self.zoned if dtype.time_zone else self.time
        return self.plain.get(type(dtype))


class Database(ABC):
    """A kind of database."""

    name: ClassVar[str]
    types: ClassVar[TypeNames]
    staged: ClassVar[type[Staged]]

    @abstractmethod
    def connect(self, address: Address, read_only: bool) -> Any:
        """A connection to what an address names."""

    @abstractmethod
    def rows_of(self, connection: Any, address: Address, source: str, ordered: bool) -> DatabaseRows:
        """The rows of a table or a query; `ordered`: it says in which order they come."""

    @abstractmethod
    def found(self, address: Address) -> DatabaseObject:
        """What has the name of a table: where a release of this name would go."""

    @abstractmethod
    def reads(self, source: Address, target: Address) -> bool:
        """Whether a table, a view or a query may read the table of a target."""

    @abstractmethod
    def check_names(self, frame: pl.DataFrame, address: Address) -> None:
        """Refuse names that the database would not keep apart, or whole."""

    def open(self, address: Address) -> DatabaseRows:
        """A table or a query, opened for reading only."""
        query = None if address.query is None else read_query(address.query)
        source = qualified_name(address) if query is None else f"({query.text}\n)"
        connection = self.connect(address, read_only=True)
        try:
            with refusals(address):
                ordered = bool(address.order) or (query is not None and query.ordered)
                return self.rows_of(connection, address, source, ordered)
        except BaseException:
            connection.close()
            raise

    def stage(self, address: Address, frame: pl.DataFrame, replace: bool = False) -> Staged:
        """Write a frame into a new table of an open transaction; what has the name is refused unless it is replaced."""
        check_table(address)
        frame = for_arrow(frame, self.name, self.types.of)
        self.check_names(frame, address)
        staged = self.staged(self.connect(address, read_only=False), address, replace)
        try:
            with refusals(address):
                columns = [f"{quoted_name(name)} {self.types.of(dtype)}" for name, dtype in frame.schema.items()]
                staged.fill(frame, ", ".join(columns))
        except BaseException:
            staged.discard()
            raise
        return staged


class FileDatabase(Database):
    """A database that is a file."""

    schema: ClassVar[str | None] = None

    @abstractmethod
    def kind(self, connection: Any, address: Address) -> str | None:
        """What has the name of a table."""

    @abstractmethod
    def leads_to(self, connection: Any, words: Collection[str], source: Address, target: Address) -> bool:
        """Whether the words of a query, or the name of a table, lead to the table of a target in the same file."""

    @abstractmethod
    def names(self, connection: Any) -> list[str]:
        """What the file holds, by names."""

    def names_in(self, address: Address) -> list[str]:
        """What a file holds, by names: tables and views."""
        with closing(self.connect(address, read_only=True)) as connection, refusals(address):
            return self.names(connection)

    def found(self, address: Address) -> DatabaseObject:
        """What has the name of a table."""
        name = "" if address.file is None else address.file.name
        schema = None if self.schema is None else address.schema or self.schema
        check_table(address)
        if address.file is None or not address.file.exists():
            return DatabaseObject(None, name, schema)
        with closing(self.connect(address, read_only=True)) as connection, refusals(address):
            return DatabaseObject(self.kind(connection, address), name, schema)

    def reads(self, source: Address, target: Address) -> bool:
        """Whether a query, or a view with all that is behind it, names the table of a target in the same file."""
        if not is_same_file(source, target):
            return False
        words = [check_table(source)] if source.query is None else read_query(source.query).words
        with closing(self.connect(source, read_only=True)) as connection, refusals(source):
            return self.leads_to(connection, words, source, target)

    def check_names(self, frame: pl.DataFrame, address: Address) -> None:
        """Refuse columns whose names differ by upper and lower case alone, which no file keeps apart."""
        folded = [name.lower() for name in frame.columns]
        if twice := [name for name in frame.columns if folded.count(name.lower()) > 1]:
            raise InputError(f"{self.name} does not tell '{twice[0]}' and '{twice[1]}' apart.", "Rename one.")
