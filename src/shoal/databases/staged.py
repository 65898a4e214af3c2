"""A table inside an open transaction, of whatever database: read back, then named and committed, or never there."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import Any

from shoal.databases.address import Address
from shoal.databases.base import Found, Rows, check_table, refusals
from shoal.databases.sql import quoted_name


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

    @abstractmethod
    def qualified(self, table: str) -> str:
        """A table beside the draft as SQL names it."""

    @abstractmethod
    def found(self) -> Found:
        """What has the name of the target now."""

    @abstractmethod
    def run(self, statement: str) -> None:
        """A statement of the transaction."""

    @abstractmethod
    def in_order(self) -> Rows:
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

    def rows(self) -> Rows:
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
