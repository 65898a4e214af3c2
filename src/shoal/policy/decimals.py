"""Numbers exactly as they were typed."""

from __future__ import annotations

from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow

from shoal.errors import InputError

# at most 30 digits before and after the point; squares (zCDP) and long sums of them need room
MOST_DIGITS = 30
EXACT = Context(prec=200, traps=[Inexact, InvalidOperation, Overflow, DivisionByZero])


def decimal_of(given: Decimal | str | float, name: str) -> Decimal:
    """A number as typed; a float stands for the shortest text that gives it.

    >>> decimal_of("0.10", "epsilon"), decimal_of(0.1, "epsilon")
    (Decimal('0.1'), Decimal('0.1'))
    """
    cure = f"Write {name} as a decimal number, such as 0.1 or 1e-7."
    try:
        value = Decimal(str(given).strip())
    except DecimalException:
        raise InputError(f"{name} '{given}' is not a number.", cure) from None
    if not value.is_finite():
        raise InputError(f"{name} '{given}' is not a finite number.", cure)
    if abs(value.adjusted()) > MOST_DIGITS or len(value.as_tuple().digits) > MOST_DIGITS:
        raise InputError(f"{name} '{given}' has more digits than are kept exactly ({MOST_DIGITS}).", cure)
    return value.normalize(EXACT)


def written(value: Decimal) -> str:
    """A decimal as people write it, every digit kept.

    >>> written(Decimal("1E-7")), written(Decimal("2E+1")), written(Decimal("0.3"))
    ('1e-7', '20', '0.3')
    """
    if value == 0:
        return "0"
    return f"{value:f}" if value.adjusted() >= -4 else str(value.normalize(EXACT)).lower()
