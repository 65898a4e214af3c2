"""The other way round: the smallest k that keeps a threshold at a leak, the largest leak that a k can stand.

The probability falls with k and grows with the leak, so both are found by bisection. Where it comes within rounding of
the threshold (at L = D and k = 20 it *is* 0.05), exact fractions decide.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from shoal import progress
from shoal.exposure.leakage.one_person import equation_5
from shoal.exposure.leakage.several import several_persons
from shoal.exposure.leakage.sizes import ClassSizes
from shoal.policy.thresholds import Threshold, find_threshold

_DOUBT = 1e-11


def smallest_k(persons: int, leaked: int, threshold: float | str | Threshold, targets: int = 1) -> int | None:
    """The smallest class size with a probability of at most the threshold; None if not even one class of all will do.

    >>> [smallest_k(10_000, leaked, 0.09) for leaked in (1_000, 4_000, 10_000)]
    [4, 12, 12]
    """
    limit = _limit(threshold)
    if not keeps_equal(persons, leaked, persons, targets, limit):
        return None
    # low is too small (or 0), high will do
    low, high = 0, persons
    while high - low > 1:
        middle = (low + high) // 2
        if keeps_equal(persons, leaked, middle, targets, limit):
            high = middle
        else:
            low = middle
    return high


def largest_leak(
    classes: ClassSizes | int, threshold: float | str | Threshold, targets: int = 1, persons: int | None = None
) -> int:
    """The largest leak at which a probability stays within the threshold: for class sizes, or for one k and `persons`.

    >>> largest_leak(5, 0.09, persons=10_000)
    1126
    """
    limit = _limit(threshold)

    def keeps(leaked: int) -> bool:
        if isinstance(classes, ClassSizes):
            return keeps_threshold(classes, leaked, targets, limit)
        return keeps_equal(persons or classes, leaked, classes, targets, limit)

    low, high = 0, classes.persons if isinstance(classes, ClassSizes) else persons or classes
    if keeps(high):
        return high
    while high - low > 1:  # low keeps, high does not
        middle = (low + high) // 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class InverseRow:
    """One leak: the smallest k by threshold."""

    leaked: int
    smallest_k: dict[float, int | None]


def inverse_table(
    persons: int, leaks: Sequence[int], thresholds: Sequence[float | str] = ("trusted", "ema", "public")
) -> list[InverseRow]:
    """The smallest k for every leak and threshold.

    >>> [row.smallest_k for row in inverse_table(10_000, [1_000, 10_000])]
    [{0.33: 1, 0.09: 4, 0.05: 17}, {0.33: 4, 0.09: 12, 0.05: 20}]
    """
    limits = [find_threshold(threshold) for threshold in thresholds]
    found = []
    for number, leaked in enumerate(leaks):
        progress.report("smallest k", number, len(leaks))
        found.append(InverseRow(leaked, {limit.value: smallest_k(persons, leaked, limit) for limit in limits}))
    return found


def keeps_threshold(classes: ClassSizes, leaked: int, targets: int, limit: Fraction) -> bool:
    """Whether the exact probability is at most the limit; within rounding, exact fractions decide if they can."""
    probability = several_persons(classes, leaked, targets).probability

    def exact() -> bool:
        if leaked == classes.persons and targets <= classes.k:
            above = math.prod(Fraction(classes.classes, classes.persons - i) for i in range(targets))
            return above <= limit
        if targets == 1:
            return _exact_sum(classes, leaked) <= limit
        return Fraction(probability) <= limit

    return _decide(probability, limit, exact)


def exact_limit(threshold: float) -> Fraction:
    """The fraction that a threshold stands for: the simplest that is written with this double.

    >>> exact_limit(0.09), exact_limit(1 / 11)
    (Fraction(9, 100), Fraction(1, 11))
    """
    simple = Fraction(threshold).limit_denominator(1_000_000)
    return simple if float(simple) == threshold else Fraction(repr(threshold))


def _limit(threshold: float | str | Threshold) -> Fraction:
    found = threshold if isinstance(threshold, Threshold) else find_threshold(threshold)
    return exact_limit(found.value)


def _decide(probability: float, limit: Fraction, exact: Callable[[], bool]) -> bool:
    if abs(probability - float(limit)) > _DOUBT * float(limit):
        return probability < float(limit)
    return exact()


def keeps_equal(persons: int, leaked: int, size: int, targets: int, limit: Fraction) -> bool:
    """The same for one class size: Eq 5 for one person, whether it divides the persons or not.

    >>> keeps_equal(10_000, 10_000, 20, 1, Fraction(1, 20)), keeps_equal(10_000, 10_000, 19, 1, Fraction(1, 20))
    (True, False)
    """
    if targets > 1:
        return keeps_threshold(ClassSizes.equal(persons, size), leaked, targets, limit)
    probability = equation_5(persons, leaked, size)
    return _decide(probability, limit, lambda: (1 - _missed(persons, leaked, size)) / size <= limit)


def _exact_sum(classes: ClassSizes, leaked: int) -> Fraction:
    persons = classes.persons
    hit = [count * (1 - _missed(persons, leaked, size)) for size, count in classes.to_dict().items()]
    return Fraction(sum(hit), persons)


def _missed(persons: int, leaked: int, size: int) -> Fraction:
    """C(D-k, L) / C(D, L), exactly."""
    few, many = sorted((size, leaked))
    if few + many > persons:
        return Fraction(0)
    return Fraction(_product(persons - many - few + 1, persons - many), _product(persons - few + 1, persons))


def _product(first: int, last: int) -> int:
    """first · (first + 1) · … · last, halves first: the numbers stay of equal length."""
    if last - first < 32:
        return math.prod(range(first, last + 1))
    middle = (first + last) // 2
    return _product(first, middle) * _product(middle + 1, last)
