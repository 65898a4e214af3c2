"""Numbers and shares as people write them: `5%`, `0.05`, `4000`, `1,5,10`, `1000..10000`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Context, Decimal, DecimalException, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction
from numbers import Integral
from typing import Any

from shoal.errors import InputError, Message, Setting

Amount = float | str
Amounts = Amount | Iterable[Amount]

# `1000..10000` stands for so many equal steps
STEPS = 10
MOST_AMOUNTS = 1000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.IGNORECASE | re.ASCII)
_SHARE = re.compile(r"\d{1,15}(\.\d{1,15})?\s*%", re.ASCII)


def number_of(given: object) -> Fraction:
    """A number as it is written, exactly; with a percent sign it is divided by 100.

    >>> number_of("2.5%"), number_of(" 3 "), number_of(0.5)
    (Fraction(1, 40), Fraction(3, 1), Fraction(1, 2))
    """
    text = str(given).strip()
    digits = text.removesuffix("%").strip()
    if isinstance(given, bool) or len(digits) > 400 or not _NUMBER.fullmatch(digits):
        raise ValueError("not a number")
    return Fraction(digits) / (100 if text.endswith("%") else 1)


def share_of(given: Any) -> float:
    """A share as a number or written as a percentage, from 0 to 1.

    >>> share_of("5%"), share_of(0.05)
    (0.05, 0.05)
    """
    if isinstance(given, bool):
        raise ValueError("a share is a number such as 0.05 or 5%, not yes or no")
    try:
        share = number_of(given)
    except ValueError:
        raise ValueError("a share is a number such as 0.05 or 5%") from None
    if 1 < share <= 100:
        raise ValueError(f"a share lies between 0 and 1, or between 0% and 100%: write {float(share):g}% for percent")
    if not 0 <= share <= 1:
        raise ValueError("a share lies between 0 and 1, or between 0% and 100%")
    return float(share)


def parse_leaks(given: Amounts, total: int, noun: str = "persons") -> list[int]:
    """Sizes of leaks of `total` persons; a share (`"10%"`, or 0.1 in Python) is rounded up, the safe side.

    >>> parse_leaks("10%", 10_003), parse_leaks("1000..10000", 10_000)[:3], parse_leaks([0, "100%"], 50)
    ([1001], [1000, 2000, 3000], [0, 50])
    >>> parse_leaks(0.1, 10_003), parse_leaks([0.5, 1.0], 50)
    ([1001], [25, 50])
    """
    found = _parse(given, total, "leak", Message("Write 4000, 10%, 1000,2000 or 1000..10000 ({leaked})."))
    over = [amount for amount in found if amount > total]
    if over:
        raise InputError(
            f"A leak of {over[0]:,} {noun} is larger than the {total:,} {noun} there are.",
            f"Use up to {total:,}, or a share such as 10%.",
        )
    return found


def parse_targets(given: Amounts, setting: str = "targets") -> list[int]:
    """Numbers of targets, one and more.

    >>> parse_targets("1,5,10"), parse_targets(3)
    ([1, 5, 10], [3])
    """
    found = _parse(given, None, "number of targets", Message("Write 3, 1,5,10 or 1..10 ({}).", Setting(setting)))
    if min(found) < 1:
        raise InputError("There are no targets: nobody could be re-identified.", "Use 1 or more.")
    return found


def parse_share(given: float | str, setting: Setting) -> float:
    """A share of something, above 0 and up to 100%.

    >>> parse_share("50%", Setting("history")), parse_share(0.5, Setting("history"))
    (0.5, 0.5)
    """
    try:
        share = share_of(given)
    except ValueError:
        share = 0.0
    if not share:
        raise InputError(
            Message("{} '{}' is not a share above 0 and up to 100%.", setting, given), Message("Write {} 50%.", setting)
        )
    return share


def is_several(given: Amounts | None) -> bool:
    """Whether a list was given, also one of one: then a list comes back.

    >>> is_several("1,5"), is_several([4000]), is_several("10%"), is_several(0.1)
    (True, True, False, False)
    """
    if isinstance(given, str):
        return "," in given or ".." in given
    return given is not None and not isinstance(given, (Integral, float))


def _parse(given: Amounts, total: int | None, what: str, cure: str) -> list[int]:
    parts = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    found: list[int] = []
    for part in parts:
        for text in part.split(",") if isinstance(part, str) else [part]:
            found += _range_or_one(text, total, what, cure)
    if not found:
        raise InputError(f"No {what} is given.", cure)
    if len(found) > MOST_AMOUNTS:
        raise InputError(f"{len(found):,} values are too many at once.", f"Use up to {MOST_AMOUNTS:,}.")
    return list(dict.fromkeys(found))


def _range_or_one(given: object, total: int | None, what: str, cure: str) -> list[int]:
    if isinstance(given, str) and ".." in given:
        ends = given.split("..")
        if len(ends) not in (2, 3):
            raise InputError(f"The {what} '{given}' cannot be read.", cure)
        first, last, *step = (_one(text, total, what, cure) for text in ends)
        if last < first or step == [0]:
            raise InputError(f"The {what} '{given}' runs nowhere.", cure)
        if step:
            many = (last - first) // step[0] + 1
            return [first + number * step[0] for number in range(min(many, MOST_AMOUNTS + 1))]
        return [round(first + Fraction(number * (last - first), STEPS - 1)) for number in range(STEPS)]
    return [_one(given, total, what, cure)]


def _one(given: object, total: int | None, what: str, cure: str) -> int:
    if isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 0:
        return int(given)
    if isinstance(given, float) and total is not None and 0 < given <= 1:  # a share; numpy's floats are floats
        return math.ceil(number_of(given) * total)
    text = given.strip() if isinstance(given, str) else ""
    if _SHARE.fullmatch(text) and total is not None:
        share = number_of(text)
        if share > 1:
            raise InputError(f"A {what} of '{text}' is more than all.", "A share is at most 100%.")
        return math.ceil(share * total)
    if not re.fullmatch(r"\d{1,18}", text):
        raise InputError(f"The {what} '{given}' is not a whole number.", cure)
    return int(text)


# Numbers exactly as they were typed.


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
