"""Budgets are decimal numbers, exactly as they were typed: ten queries of 0.1 fit into 1.

Sums and differences are exact (an inexact one raises). What has to be rounded (a share, a binary number for the
mechanism) is rounded down, so that no mechanism ever gets more than was paid for it.
"""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow

from shoal.errors import InputError

# a price has at most 30 digits before and after the point; squares (zCDP) and long sums of them need room
MOST_DIGITS = 30
_EXACT = Context(prec=200, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])
_DOWN = Context(prec=30, rounding=ROUND_FLOOR, traps=[InvalidOperation, Overflow, DivisionByZero])


def decimal_of(given: Decimal | str | float, name: str) -> Decimal:
    """A number as typed; a float stands for the shortest text that gives it.

    >>> decimal_of("0.10", "--epsilon"), decimal_of(0.1, "--epsilon")
    (Decimal('0.1'), Decimal('0.1'))
    """
    cure = f"Write {name} as a decimal number, such as 0.1 or 1e-7."
    try:
        value = Decimal(str(given).strip())
    except DecimalException:
        raise InputError(f"{name} '{given}' is no number.", cure) from None
    if not value.is_finite():
        raise InputError(f"{name} '{given}' is no finite number.", cure)
    if abs(value.adjusted()) > MOST_DIGITS or len(value.as_tuple().digits) > MOST_DIGITS:
        raise InputError(f"{name} '{given}' has more digits than a ledger keeps exactly ({MOST_DIGITS}).", cure)
    return value.normalize(_EXACT)


def plus(first: Decimal, second: Decimal) -> Decimal:
    """The exact sum.

    >>> plus(Decimal("0.1"), Decimal("0.2"))
    Decimal('0.3')
    """
    return _EXACT.add(first, second).normalize(_EXACT)


def minus(first: Decimal, second: Decimal) -> Decimal:
    """The exact difference.

    >>> minus(Decimal(1), Decimal("0.9"))
    Decimal('0.1')
    """
    return _EXACT.subtract(first, second).normalize(_EXACT)


def half_square(epsilon: Decimal) -> Decimal:
    """The rho of zCDP that an epsilon pays for: epsilon² / 2 (Bun and Steinke 2016, Proposition 1.4), exactly.

    >>> half_square(Decimal("0.1"))
    Decimal('0.005')
    """
    return _EXACT.divide(_EXACT.multiply(epsilon, epsilon), Decimal(2)).normalize(_EXACT)


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


def written(value: Decimal) -> str:
    """A decimal as people write it, every digit kept.

    >>> written(Decimal("1E-7")), written(Decimal("2E+1")), written(Decimal("0.3"))
    ('1e-7', '20', '0.3')
    """
    if value == 0:
        return "0"
    return f"{value:f}" if value.adjusted() >= -4 else str(value.normalize(_EXACT)).lower()
