"""The terms of a desk: whose rows, how many of each person, what budget, how it is counted. Fixed when it opens."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal

from shoal.dp.exact import decimal_of, half_square, minus, plus, share
from shoal.errors import InputError

FORMAT = 1
Accounting = Literal["basic", "zcdp"]
ACCOUNTINGS: tuple[Accounting, ...] = ("basic", "zcdp")
# a private list of keys spends this part of the desk's delta unless the query says how much
DELTA_SHARES = 10


@dataclass(frozen=True, slots=True)
class Price:
    """What a query costs: `loss` is an epsilon (basic accounting) or a rho (zCDP), beside it a delta.

    >>> Price(Decimal("0.1"), Decimal(0)).plus(Price(Decimal("0.2"), Decimal("1e-9"))).loss
    Decimal('0.3')
    """

    loss: Decimal
    delta: Decimal

    def plus(self, other: Price) -> Price:
        """Sequential composition: prices add up, exactly."""
        return Price(plus(self.loss, other.loss), plus(self.delta, other.delta))

    def minus(self, other: Price) -> Price:
        """What is left."""
        return Price(minus(self.loss, other.loss), minus(self.delta, other.delta))

    def within(self, limit: Price) -> bool:
        """Whether neither the loss nor the delta is over the limit."""
        return self.loss <= limit.loss and self.delta <= limit.delta


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column of the desk's table: its type in a word, the file that holds it, the hash of that file."""

    name: str
    type: str
    file: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What was fixed when the desk opened; numbers as the texts that were given."""

    format: int
    desk: str
    opened: str
    epsilon: str
    delta: str
    accounting: Accounting
    rho: str | None
    person: str | None
    max_rows_per_person: int
    source: str
    source_sha256: str | None
    columns: tuple[StoredColumn, ...]
    persons: StoredColumn | None

    @property
    def types(self) -> dict[str, str]:
        """Column names and types: public."""
        return {column.name: column.type for column in self.columns}

    @property
    def limit(self) -> Price:
        """All that may ever be spent. zCDP keeps half of delta for the conversion of rho into an epsilon."""
        if self.accounting == "zcdp":
            assert self.rho is not None
            return Price(Decimal(self.rho), share(Decimal(self.delta), 2))
        return Price(Decimal(self.epsilon), Decimal(self.delta))

    @property
    def delta_of_a_query(self) -> Decimal:
        """The delta that a query takes if it needs one and names none: a tenth of what queries may spend."""
        return share(self.limit.delta, DELTA_SHARES)

    def price(self, epsilon: Decimal, delta: Decimal) -> Price:
        """The price of an answer with this epsilon and delta."""
        return Price(half_square(epsilon) if self.accounting == "zcdp" else epsilon, delta)

    def to_bytes(self) -> bytes:
        """The file that says it."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2).encode()

    def digest(self) -> str:
        """The hash that the ledger's chain begins with."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    @classmethod
    def from_bytes(cls, content: bytes) -> Terms:
        """Read them back."""
        try:
            found: dict[str, Any] = json.loads(content)
            if found.get("format") != FORMAT:
                raise InputError("This desk was written by another version of shoal.", "Use that version.")
            found["columns"] = tuple(StoredColumn(**column) for column in found["columns"])
            found["persons"] = None if found["persons"] is None else StoredColumn(**found["persons"])
            return cls(**found)
        except InputError:
            raise
        except (ValueError, TypeError, KeyError, AttributeError):
            raise InputError("desk.json is damaged.", "Restore it; a desk cannot be mended by hand.") from None


def checked_epsilon(given: Decimal | str | float, name: str = "--epsilon") -> Decimal:
    """An epsilon: above zero, finite.

    >>> checked_epsilon("0.1")
    Decimal('0.1')
    """
    epsilon = decimal_of(given, name)
    if epsilon <= 0:
        raise InputError(f"{name} must be above 0, not {given}.", "Usual values lie between 0.01 and 10.")
    if epsilon > 1_000_000:
        raise InputError(f"{name} {given} protects nobody.", "Usual values lie between 0.01 and 10.")
    return epsilon


def checked_delta(given: Decimal | str | float) -> Decimal:
    """A delta: from 0 to below 1.

    >>> checked_delta("1e-7")
    Decimal('1E-7')
    """
    delta = decimal_of(given, "--delta")
    if not 0 <= delta < 1:
        raise InputError(
            f"--delta must be at least 0 and below 1, not {given}.", "Take less than 1 / persons, such as 1e-7."
        )
    return delta
