"""The ledger: every answer and its price, appended before the answer leaves; nothing is ever changed or removed.

One SQLite file (write-ahead log, synced at every commit). An answer and its price are one row, written in one
transaction that takes the write lock first and checks the sum afterwards: two processes at once cannot overspend, and
a crash leaves either nothing (nothing was answered) or the row (asked again, the stored answer is free).

Each row holds a keyed hash over itself and the row before it (the first one: over the desk's terms), and the sums so
far. Marks say how far the ledger goes: `head.json` beside it and, where there is one, the witness elsewhere. They
are written before an answer leaves, so that no answer was ever seen that a mark does not know of. What this finds and
what it does not: below.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from shoal.dp.terms import Price, Terms
from shoal.errors import InputError, ShoalError
from shoal.keys import SecretKey
from shoal.policy.amounts import written
from shoal.storage.writing import write_json
from shoal.systems.files import open_at_once

# Keyed hashes: the chain of the ledger, and the marks that say how far it goes.
#
# With the secret of the ledger key, an entry's hash is HMAC-SHA-256 over all that the entry says and the hash before
# it; the first one follows the desk's terms. A *mark* says how many entries there are and the hash of the last one,
# signed with the same secret: `head.json` in the desk's folder, and the witness, which is kept elsewhere. Entries can
# be cut off a chain without breaking it, so a mark has a signature of its own that no entry shows: whoever cuts entries
# off cannot sign the mark that would fit. Putting back an old ledger together with its old `head.json` is found by the
# witness only.


LARGEST_MARK = 4096
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Chain:
    """The secret of a desk's ledger; what is printed of it never shows it."""

    __slots__ = ("_secret", "desk", "start")

    def __init__(self, key: SecretKey, terms: Terms) -> None:
        self._secret = key.secret_for("desk ledger")
        self.desk = terms.desk
        self.start = self.digest("terms", terms.to_bytes().decode())

    def digest(self, *parts: Any) -> str:
        """HMAC-SHA-256 of the parts in one unmistakable writing."""
        return hmac.digest(self._secret, json.dumps(parts, ensure_ascii=False).encode(), "sha256").hex()


def key_check(key: SecretKey, desk: str) -> str:
    """What the terms say of the ledger key: enough to know a wrong one by, and nothing of the key."""
    return hmac.digest(key.secret_for("desk check"), desk.encode(), "sha256").hex()


@dataclass(frozen=True)
class Mark:
    """How far the ledger of a desk goes, signed."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    desk: Annotated[str, Field(max_length=64)]
    entries: Annotated[int, Field(ge=0, le=2**53)]
    hash: Digest
    signature: Digest

    @classmethod
    def of(cls, chain: Chain, entries: int, digest: str) -> Mark:
        """A mark, signed."""
        return cls(chain.desk, entries, digest, chain.digest("mark", chain.desk, entries, digest))

    @classmethod
    def read(cls, path: Path, chain: Chain) -> Mark:
        """A mark from its file, if it is one of this desk and its signature is right."""
        try:
            mark = _MARK.validate_json(read_limited(path, LARGEST_MARK))
        except (ValidationError, InputError):
            raise tampered(f"{path.name} is missing or damaged") from None
        if mark.desk != chain.desk:
            raise tampered(f"{path.name} is of another desk")
        if not hmac.compare_digest(mark.signature, cls.of(chain, mark.entries, mark.hash).signature):
            raise tampered(f"{path.name} was changed")
        return mark

    def write(self, path: Path) -> None:
        """Into its file, whole or not at all."""
        content = {"desk": self.desk, "entries": self.entries, "hash": self.hash, "signature": self.signature}
        write_json(path, content, 0o600)


_MARK = TypeAdapter(Mark)


def tampered(how: str) -> InputError:
    """What a desk says of a ledger that is not as it was written."""
    return InputError(
        f"The ledger was tampered with, or belongs to another desk: {how}.",
        "Nothing is answered from it. Restore the ledger, or open a new desk and count what was spent.",
    )


def read_limited(path: Path, most: int) -> bytes:
    """The bytes of an ordinary file, if it is not larger than `most`."""
    try:
        handle = open_at_once(path)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise InputError(f"{path} is not an ordinary file.", "Restore it.")
            content = file.read(most + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.", "Restore it, or check its rights.") from None
    if len(content) > most:
        raise InputError(f"{path} is larger than {most:,} bytes.", "Restore it: a desk does not write such a file.")
    return content


def default_key_file(folder: Path) -> Path:
    """Where the ledger key of a desk is if nobody says where: beside its folder, never in it.

    >>> default_key_file(Path("desks/visits")).name
    'visits.ledger-key'
    """
    folder = folder.absolute()
    return folder.with_name(f"{folder.name}.ledger-key")


SECONDS_TO_WAIT = 60
# others write in milliseconds, and nobody who reads waits for them: a first look that takes longer is at a damaged file
SECONDS_TO_OPEN = 5
LONGEST_FIELD = 1 << 28
_SCHEMA = """
CREATE TABLE entries (
  number INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  key TEXT NOT NULL UNIQUE,
  query TEXT NOT NULL,
  loss TEXT NOT NULL,
  delta TEXT NOT NULL,
  spent_loss TEXT NOT NULL,
  spent_delta TEXT NOT NULL,
  answer TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER no_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
CREATE TRIGGER no_removal BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'append only'); END;
"""
_COLUMNS = "number, at, key, query, loss, delta, spent_loss, spent_delta, answer, previous, hash"
_ROW = TypeAdapter(tuple[int, str, str, str, str, str, str, str, str, str, str], config=ConfigDict(strict=True))
_OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class BudgetRefused(ShoalError):
    """Not enough budget: what was requested, what remains, and the difference. Nothing was spent."""

    exit_code = 3

    def __init__(self, requested: Price, remaining: Price, unit: str = "epsilon") -> None:
        self.requested, self.remaining, self.unit = requested, remaining, unit
        self.difference = Price(
            max(requested.minus(remaining).loss, Decimal(0)), max(requested.minus(remaining).delta, Decimal(0))
        )
        short = []
        if self.difference.loss:
            short.append(_short_of(unit, requested.loss, remaining.loss, self.difference.loss))
        if self.difference.delta:
            short.append(_short_of("delta", requested.delta, remaining.delta, self.difference.delta))
        super().__init__(f"Not enough budget: {'; '.join(short)}. Nothing was spent and nothing was answered.")


class BudgetTooSmall(InputError):
    """A budget that nothing can be learned with. Nothing was written."""

    exit_code = 3


def _short_of(name: str, requested: Decimal, remaining: Decimal, difference: Decimal) -> str:
    return f"{name} {written(requested)} requested, {written(remaining)} remaining, {written(difference)} short"


@dataclass(frozen=True)
class LedgerEntry:
    """One row: a query, its price, the sums up to it, the stored answer, and its place in the chain."""

    number: int
    at: str
    key: str
    query: str
    price: Price
    spent: Price
    answer: str
    previous: str
    hash: str


@dataclass(frozen=True)
class Asked:
    """A query that was paid for, without its answer; `loss` is an epsilon, or a rho under zCDP."""

    entry: int
    at: str
    query: dict[str, Any]
    loss: str
    delta: str


class Ledger:
    """An open ledger. Rows are verified when they are first seen: all at the start, then those that others added."""

    def __init__(self, folder: Path, terms: Terms, key: SecretKey, witness: Path | None = None) -> None:
        self._folder, self._terms = folder, terms
        self._unit = "rho" if terms.accounting == "zcdp" else "epsilon"
        if not hmac.compare_digest(key_check(key, terms.desk), terms.key_check):
            raise InputError(
                "This is not the ledger key of this desk.", "Name the key file that was made when the desk was opened."
            )
        self._chain = Chain(key, terms)
        self._places = [folder / "head.json", *([] if witness is None else [witness])]
        # before the ledger, so that rows added in between do not look like a mark without rows
        marks = self._marks(new_witness=not terms.witnessed)
        self._number, self._hash, self._spent = 0, self._chain.start, Price(Decimal(0), Decimal(0))
        with _as_ours():
            self._connection = _connect(folder / "ledger.sqlite")
            try:
                self._catch_up()
                self._check_marks(marks)
                self._connection.execute(f"PRAGMA busy_timeout={SECONDS_TO_WAIT * 1000}")
            except BaseException:
                self._connection.close()
                raise
            self._marked = min(mark.entries for mark in marks)
        if self._marked < self._number or len(marks) < len(self._places):
            self._remember()

    @staticmethod
    def create(folder: Path, terms: Terms, key: SecretKey, witness: Path | None = None) -> None:
        """A new ledger without entries, readable by its owner only."""
        path = folder / "ledger.sqlite"
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(_SCHEMA)
        finally:
            connection.close()
        chain = Chain(key, terms)
        for place in [folder / "head.json", *([] if witness is None else [witness])]:
            Mark.of(chain, 0, chain.start).write(place)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    @property
    def head(self) -> str:
        """The hash of the newest entry that was verified."""
        return self._hash

    @property
    def queries(self) -> int:
        """How many answers were given and paid for."""
        return self._number

    @property
    def spent(self) -> Price:
        """All that was spent, as far as seen."""
        return self._spent

    def remaining(self) -> Price:
        """What is left now."""
        with _as_ours():
            self._catch_up()
        return self._terms.limit.minus(self._spent)

    def find(self, key: str) -> LedgerEntry | None:
        """The stored answer to a query, if it was asked before; no answer leaves that a mark does not know of."""
        with _as_ours():
            self._catch_up()
            entry = self._stored(key)
        if entry is not None and entry.number > self._marked:
            self._remember()
        return entry

    def check(self, price: Price) -> None:
        """Refuse a price that does not fit, before any work is done for it."""
        left = self.remaining()
        if not price.within(left):
            raise BudgetRefused(price, left, self._unit)

    def spend(self, key: str, query: str, price: Price, answer: str) -> tuple[LedgerEntry, bool]:
        """Commit the price together with the answer; the answer of whoever was first, and whether that was not us."""
        with _as_ours():
            with self._locked():
                self._catch_up()
                self._check_marks(self._marks())
                earlier = self._stored(key)
                if earlier is None:
                    left = self._terms.limit.minus(self._spent)
                    if not price.within(left):
                        raise BudgetRefused(price, left, self._unit)
                    entry = self._append(key, query, price, answer)
            # the commit is on disk from here on
            if earlier is None:
                self._accept(entry)
        if self._marked < self._number:
            self._remember()
        return (entry, False) if earlier is None else (earlier, True)

    def history(self) -> list[Asked]:
        """The queries that were paid for, oldest first, without their answers."""
        with _as_ours():
            rows = self._connection.execute("SELECT number, at, query, loss, delta FROM entries ORDER BY number")
            return [Asked(number, at, _OBJECT.validate_json(query), *price) for number, at, query, *price in rows]

    def _remember(self) -> None:
        """Under the lock, so that a slower process does not put an older mark over a newer one."""
        try:
            with self._locked():
                self._catch_up()
                self._check_marks(self._marks(new_witness=not self._terms.witnessed))
                for draft in self._folder.glob(".head.json.*"):  # of a process that was killed while it held the lock
                    draft.unlink(missing_ok=True)
                for place in self._places:
                    Mark.of(self._chain, self._number, self._hash).write(place)
                self._marked = self._number
        except (OSError, sqlite3.Error):
            raise InputError(
                "How far the ledger goes could not be written (head.json, or the witness).",
                "The answer was paid for and is stored: make space and ask again, it is free.",
            ) from None

    def _marks(self, new_witness: bool = False) -> list[Mark]:
        """The marks as they are now; a witness may be missing only where the desk was opened without one."""
        head, *witness = self._places
        marks = [Mark.read(head, self._chain)]
        there = [place for place in witness if place.exists() or not new_witness]
        return marks + [Mark.read(place, self._chain) for place in there]

    def _check_marks(self, marks: list[Mark]) -> None:
        """Every mark must be of an entry that is there."""
        for mark in marks:
            if mark.entries > self._number:
                raise tampered("entries are missing at its end, or an old copy was put back")
            if mark.hash != self._hash_of(mark.entries):
                raise tampered(f"entry {mark.entries:,} is not the one that was written")

    def _hash_of(self, number: int) -> str:
        if number in (0, self._number):
            return self._hash if number else self._chain.start
        row = self._connection.execute("SELECT hash FROM entries WHERE number = ?", (number,)).fetchone()
        return "" if row is None else str(row[0])

    def _stored(self, key: str) -> LedgerEntry | None:
        row = self._connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._entry(row)

    def _append(self, key: str, query: str, price: Price, answer: str) -> LedgerEntry:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        number, spent = self._number + 1, self._spent.plus(price)
        row = (
            number, at, key, query, written(price.loss), written(price.delta), written(spent.loss),
            written(spent.delta), answer, self._hash,
        )  # fmt: skip
        digest = self._chain.digest("entry", *row)
        self._connection.execute(
            f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, digest)
        )
        return LedgerEntry(number, at, key, query, price, spent, answer, self._hash, digest)

    def _entry(self, row: tuple[Any, ...]) -> LedgerEntry:
        """A row as it was written: nothing of it is looked at before its keyed hash was found right."""
        try:
            checked = _ROW.validate_python(row)
        except ValidationError:
            raise tampered("an entry is damaged") from None
        number, at, key, query, loss, delta, spent_loss, spent_delta, answer, previous, digest = checked
        if not hmac.compare_digest(self._chain.digest("entry", *checked[:-1]).encode(), digest.encode()):
            raise tampered(f"entry {number:,} was changed")
        price, spent = Price(Decimal(loss), Decimal(delta)), Price(Decimal(spent_loss), Decimal(spent_delta))
        return LedgerEntry(number, at, key, query, price, spent, answer, previous, digest)

    def _catch_up(self) -> None:
        """Verify the entries that are new since the last look."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE number > ? ORDER BY number", (self._number,)
        )
        for row in rows:
            entry = self._entry(row)
            right = (
                entry.number == self._number + 1
                and entry.previous == self._hash
                and entry.key == hashlib.sha256(entry.query.encode()).hexdigest()
                and entry.price.loss >= 0 <= entry.price.delta
                and entry.spent == self._spent.plus(entry.price)
                and entry.spent.within(self._terms.limit)
            )
            if not right:
                raise tampered(f"entry {entry.number:,} does not follow from the one before it")
            self._accept(entry)

    def _accept(self, entry: LedgerEntry) -> None:
        self._number, self._hash, self._spent = entry.number, entry.hash, entry.spent

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """A transaction that holds the write lock from its first moment."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def _connect(path: Path) -> sqlite3.Connection:
    """The database, opened as it was made. A file with another header would make SQLite wait for a lock."""
    if not path.is_file():
        raise InputError(f"{path} is missing.", "A desk cannot answer without its ledger; restore it.")
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != b"SQLite format 3\0" or header[18:20] != b"\2\2":
        raise _damaged("it is not a SQLite file with a write-ahead log")
    connection = sqlite3.connect(path, timeout=SECONDS_TO_OPEN, isolation_level=None)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_FIELD)
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            raise _damaged("its write-ahead log cannot be used")
        connection.execute("PRAGMA synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _damaged(how: str) -> InputError:
    return InputError(f"The ledger is damaged: {how}.", "Restore it. Nothing is answered from it.")


@contextmanager
def _as_ours() -> Iterator[None]:
    """SQLite's refusals in our words, without what the file says."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if "LOCKED" in name or "BUSY" in name:
            raise InputError(
                "The ledger is in use by others for too long, or damaged.", "Ask again. Nothing was spent."
            ) from None
        if isinstance(error, sqlite3.OperationalError) and "CORRUPT" not in name:
            raise InputError(
                f"The ledger cannot be used ({name}).",
                "Nothing was answered. Check the disk and the rights; the state of the desk says what was spent.",
            ) from None
        raise _damaged(name) from None
    except (UnicodeError, ArithmeticError, RecursionError, ValidationError):
        raise _damaged("an entry cannot be read") from None
