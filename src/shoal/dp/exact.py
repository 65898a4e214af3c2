"""Budgets are decimal numbers, exactly as they were typed: ten queries of 0.1 fit into 1.

Sums and differences are exact (an inexact one raises). What has to be rounded (a share, a binary number for the
mechanism) is rounded down, so that no mechanism ever gets more than was paid for it.
"""

from __future__ import annotations

import math
from decimal import ROUND_FLOOR, Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from shoal.policy.decimals import EXACT

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
