"""The terms of a desk: whose rows, how many of each person, what budget, how it is counted. Fixed when it opens."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from decimal import ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from shoal.errors import InputError, Message
from shoal.policy.amounts import EXACT, decimal_of
from shoal.vocabulary import Accounting

# Budgets are decimal numbers, exactly as they were typed: ten queries of 0.1 fit into 1.
#
# Sums and differences are exact (an inexact one raises). What has to be rounded (a share, a binary number for the
# mechanism) is rounded down, so that no mechanism ever gets more than was paid for it.


_DOWN = Context(prec=30, rounding=ROUND_FLOOR, traps=[InvalidOperation, Overflow, DivisionByZero])


def plus(first: Decimal, second: Decimal) -> Decimal:
    """The exact sum.

    >>> plus(Decimal("0.1"), Decimal("0.2"))
    Decimal('0.3')
    """
    return EXACT.add(first, second).normalize(EXACT)


def minus(first: Decimal, second: Decimal) -> Decimal:
    """The exact difference.

    >>> minus(Decimal(1), Decimal("0.9"))
    Decimal('0.1')
    """
    return EXACT.subtract(first, second).normalize(EXACT)


def half_square(epsilon: Decimal) -> Decimal:
    """The rho of zCDP that an epsilon pays for: epsilon² / 2 (Bun and Steinke 2016, Proposition 1.4), exactly.

    >>> half_square(Decimal("0.1"))
    Decimal('0.005')
    """
    return EXACT.divide(EXACT.multiply(epsilon, epsilon), Decimal(2)).normalize(EXACT)


def share(whole: Decimal, parts: int) -> Decimal:
    """One of equal parts, rounded down: together they never cost more than the whole.

    >>> share(Decimal("0.3"), 2), share(Decimal(1), 3) * 3 <= 1
    (Decimal('0.15'), True)
    """
    return _DOWN.divide(whole, Decimal(parts))


def float_below(value: Decimal) -> float:
    """The largest binary number that is not above the decimal.

    >>> Decimal(float_below(Decimal("0.1"))) <= Decimal("0.1")
    True
    """
    nearest = float(value)
    return nearest if Decimal(nearest) <= value else math.nextafter(nearest, -math.inf)


FORMAT: Literal[2] = 2
LARGEST_TERMS = 1 << 24
ACCOUNTINGS: tuple[Accounting, ...] = ("basic", "zcdp")
MOST_ROWS_OF_A_PERSON = 1_000_000
# a private list of keys spends this part of the desk's delta unless the query says how much
DELTA_SHARES = 10


@dataclass(frozen=True)
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


_Text = Annotated[str, Field(max_length=100_000)]
_Number = Annotated[str, Field(max_length=100)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class StoredColumn:
    """A column of the desk's table: its declared type, the file that holds it, the hash of that file."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    name: _Text
    type: Literal["integer", "number", "text", "date", "datetime", "boolean", "person"]
    file: Annotated[str, Field(pattern=r"^([0-9]{1,9}|persons)\.parquet$")]
    sha256: _Digest


@dataclass(frozen=True)
class Terms:
    """What was fixed when the desk opened; numbers as the texts that were given."""

    __pydantic_config__ = ConfigDict(extra="forbid", strict=True)

    format: Literal[2]
    desk: Annotated[str, Field(max_length=64)]
    opened: Annotated[str, Field(max_length=64)]
    epsilon: _Number
    delta: _Number
    accounting: Accounting
    rho: _Number | None
    person: _Text | None
    max_rows_per_person: Annotated[int, Field(ge=1, le=MOST_ROWS_OF_A_PERSON)]
    source: _Text
    source_sha256: _Digest | None
    columns: tuple[StoredColumn, ...]
    persons: StoredColumn | None
    key_check: _Digest
    witnessed: bool

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
        """The terms, serialised as the file that holds them."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> Terms:
        """Read them back."""
        try:
            terms = _TERMS.validate_json(content)
            checked_epsilon(terms.epsilon)
            checked_delta(terms.delta)
            if (terms.rho is None) != (terms.accounting == "basic"):
                raise ValueError("rho belongs to zCDP")
            if terms.rho is not None:
                Decimal(terms.rho)
        except (ValidationError, InputError, ValueError, ArithmeticError):
            raise InputError(
                "desk.json is damaged, or was written by another version of shoal.",
                "Restore it; a desk cannot be repaired by hand.",
            ) from None
        return terms


_TERMS = TypeAdapter(Terms)


def checked_epsilon(given: Decimal | str | float, name: str = "epsilon") -> Decimal:
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
    delta = decimal_of(given, "delta")
    if not 0 <= delta < 1:
        raise InputError(
            f"delta must be at least 0 and below 1, not {given}.", "Take less than 1 / persons, such as 1e-7."
        )
    return delta


def rows_of_a_person(person: str | None, most: int | None) -> int:
    """How many rows of a person count: said by the owner, and 1 where each row is a person."""
    if person is None:
        if most is not None:
            raise InputError(Message("{max_rows_per_person} says nothing without {person}."), "Name the person column.")
        return 1
    if most is None:
        raise InputError(
            "How many rows of one person may count? It is never taken from the data.",
            Message("Give {max_rows_per_person}: more rows lose less, fewer rows need less noise."),
        )
    if not 1 <= most <= MOST_ROWS_OF_A_PERSON:
        raise InputError(Message("{max_rows_per_person} is a whole number from 1 to 1,000,000."), "Usual: 1 to 20.")
    return most
