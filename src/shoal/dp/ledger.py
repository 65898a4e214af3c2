"""The ledger: every answer and its price, appended before the answer leaves; nothing is ever changed or removed.

One SQLite file (write-ahead log, synced at every commit). An answer and its price are one row, written in one
transaction that takes the write lock first and checks the sum afterwards: two processes at once cannot overspend, and
a crash leaves either nothing (nothing was answered) or the row (asked again, the stored answer is free).

Each row holds the hash of the row before it (the first one: of the desk's terms), and the sums so far. `head.json`
beside it remembers the newest row, so that rows cut off at the end are missed too. This reveals accidents, a ledger
that belongs to another desk, and edits by hand. Whoever may write to the folder and knows the program can still put
back an old copy of all of it: note the head that `shoal budget show` prints somewhere else, if you must rule that
out.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from shoal.dp.exact import written
from shoal.dp.terms import Price, Terms
from shoal.errors import InputError, ShoalError
from shoal.writing import write_json

SECONDS_TO_WAIT = 60
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


class BudgetRefused(ShoalError):
    """The budget does not suffice: what was requested, what remains, and the difference. Nothing was spent."""

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
        super().__init__(
            f"The budget does not suffice: {'; '.join(short)}. Nothing was spent and nothing was answered."
        )


def _short_of(name: str, requested: Decimal, remaining: Decimal, difference: Decimal) -> str:
    return f"{name} {written(requested)} requested, {written(remaining)} remaining, {written(difference)} too much"


@dataclass(frozen=True, slots=True)
class Entry:
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

    def digest(self) -> str:
        """The hash over all that the row says and the hash before it."""
        said = [
            self.number, self.at, self.key, self.query, written(self.price.loss), written(self.price.delta),
            written(self.spent.loss), written(self.spent.delta), self.answer, self.previous,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()


class Ledger:
    """An open ledger. Rows are verified when they are first seen: all at the start, then those that others added."""

    def __init__(self, folder: Path, terms: Terms) -> None:
        self._folder, self._terms = folder, terms
        self._unit = "rho" if terms.accounting == "zcdp" else "epsilon"
        path = folder / "ledger.sqlite"
        if not path.is_file():
            raise InputError(f"{path} is missing.", "A desk cannot answer without its ledger; restore it.")
        # before the ledger, so that rows added in between do not look like a head without rows
        self._head = _read_head(folder)
        with _as_ours():
            self._connection = sqlite3.connect(path, timeout=SECONDS_TO_WAIT, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=FULL")
            self._number, self._hash, self._spent = 0, terms.digest(), Price(Decimal(0), Decimal(0))
            self._catch_up()
        if self._number < self._head[0]:
            raise _tampered("entries are missing at its end")
        if self._head == (0, self._head[1]) and self._head[1] != terms.digest():
            raise _tampered("its head is of another desk")

    @staticmethod
    def create(folder: Path, terms: Terms) -> None:
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
        _write_head(folder, 0, terms.digest())

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

    def find(self, key: str) -> Entry | None:
        """The stored answer to a query, if it was asked before."""
        with _as_ours():
            self._catch_up()
            row = self._connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        entry = _entry(row)
        if entry.digest() != entry.hash:
            raise _tampered(f"entry {entry.number:,} was changed")
        return entry

    def check(self, price: Price) -> None:
        """Refuse a price that does not fit, before any work is done for it."""
        left = self.remaining()
        if not price.within(left):
            raise BudgetRefused(price, left, self._unit)

    def spend(self, key: str, query: str, price: Price, answer: str) -> tuple[Entry, bool]:
        """Commit the price together with the answer; the answer of whoever was first, and whether that was not us."""
        with _as_ours():
            with self._locked():
                self._catch_up()
                if (earlier := self.find(key)) is not None:
                    return earlier, True
                left = self._terms.limit.minus(self._spent)
                if not price.within(left):
                    raise BudgetRefused(price, left, self._unit)
                entry = self._append(key, query, price, answer)
            # the commit is on disk from here on
            self._accept(entry)
            self._remember_head()
        return entry, False

    def _remember_head(self) -> None:
        """Under the lock, so that a slower process does not put an older head over a newer one."""
        try:
            with self._locked():
                self._catch_up()
                _write_head(self._folder, self._number, self._hash)
        except (OSError, sqlite3.Error):
            raise InputError(
                "The head of the ledger could not be written.",
                "The answer was paid for and is stored: make room and ask again, it is free.",
            ) from None

    def history(self) -> list[dict[str, Any]]:
        """The queries that were paid for, oldest first, without their answers."""
        with _as_ours():
            rows = self._connection.execute("SELECT number, at, query, loss, delta FROM entries ORDER BY number")
            return [
                {"entry": number, "at": at, "query": json.loads(query), "loss": loss, "delta": delta}
                for number, at, query, loss, delta in rows
            ]

    def _append(self, key: str, query: str, price: Price, answer: str) -> Entry:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        number, spent = self._number + 1, self._spent.plus(price)
        entry = Entry(number, at, key, query, price, spent, answer, self._hash, "")
        entry = Entry(number, at, key, query, price, spent, answer, self._hash, entry.digest())
        self._connection.execute(
            f"INSERT INTO entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, at, key, query, written(price.loss), written(price.delta), written(spent.loss),
             written(spent.delta), answer, entry.previous, entry.hash),
        )  # fmt: skip
        return entry

    def _catch_up(self) -> None:
        """Verify the entries that are new since the last look."""
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE number > ? ORDER BY number", (self._number,)
        )
        for row in rows:
            entry = _entry(row)
            right = (
                entry.number == self._number + 1
                and entry.previous == self._hash
                and entry.hash == entry.digest()
                and entry.key == hashlib.sha256(entry.query.encode()).hexdigest()
                and entry.price.loss >= 0 <= entry.price.delta
                and entry.spent == self._spent.plus(entry.price)
                and entry.spent.within(self._terms.limit)
            )
            if not right:
                raise _tampered(f"entry {entry.number:,} does not follow from the one before it")
            self._accept(entry)

    def _accept(self, entry: Entry) -> None:
        self._number, self._hash, self._spent = entry.number, entry.hash, entry.spent
        if entry.number == self._head[0] and entry.hash != self._head[1]:
            raise _tampered(f"entry {entry.number:,} is not the one that was written")

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


def _entry(row: tuple[int, str, str, str, str, str, str, str, str, str, str]) -> Entry:
    number, at, key, query, loss, delta, spent_loss, spent_delta, answer, previous, digest = row
    try:
        price = Price(Decimal(loss), Decimal(delta))
        spent = Price(Decimal(spent_loss), Decimal(spent_delta))
    except ArithmeticError:
        raise _tampered(f"entry {number:,} names no price") from None
    return Entry(number, at, key, query, price, spent, answer, previous, digest)


def _tampered(how: str) -> InputError:
    return InputError(
        f"The ledger was tampered with, or belongs to another desk: {how}.",
        "Nothing is answered from it. Restore the ledger, or open a new desk and count what was spent.",
    )


@contextmanager
def _as_ours() -> Iterator[None]:
    """SQLite's refusals in our words."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise InputError("The ledger is in use by others for too long.", "Ask again. Nothing was spent.") from None
        raise InputError(
            f"The ledger cannot be used: {error}.",
            "Nothing was answered. Check the disk and the rights; `shoal budget show` says what was spent.",
        ) from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"The ledger is damaged: {error}.", "Restore it. Nothing is answered from it.") from None


def _read_head(folder: Path) -> tuple[int, str]:
    try:
        found = json.loads((folder / "head.json").read_text(encoding="utf-8"))
        return int(found["entries"]), str(found["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        raise _tampered("head.json is missing or damaged") from None


def _write_head(folder: Path, entries: int, digest: str) -> None:
    """The newest entry, whole or not at all."""
    write_json(folder / "head.json", {"entries": entries, "hash": digest}, 0o600)
