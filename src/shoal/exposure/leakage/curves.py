"""How the probability moves with the leak, k and the targets; the other way round, which k keeps a limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.exposure.leakage.law import MOST_TARGETS, ClassSizes, equation_5, log_missed, several_persons
from shoal.policy.thresholds import Threshold, find_threshold

# The other way round: the smallest k that keeps a threshold at a leak, the largest leak that a k can stand.
#
# The probability falls with k and grows with the leak, so both are found by bisection. Where it comes within rounding
# of the threshold (at L = D and k = 20 it *is* 0.05), exact fractions decide.

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
            hit = [many * (1 - _missed(classes.persons, leaked, size)) for size, many in classes.to_dict().items()]
            return Fraction(sum(hit), classes.persons) <= limit
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


@dataclass(frozen=True)
class Curve:
    """A named line: one y for every x."""

    name: str
    x: list[int]
    y: list[float]


def over_leaks(classes: ClassSizes | int, persons: int, leaks: Sequence[int], targets: int = 1) -> Curve:
    """The probability against the size of the leak, for class sizes or for one k.

    >>> [round(value, 4) for value in over_leaks(5, 10_000, [1_000, 4_000]).y]
    [0.0819, 0.1845]
    """
    name = f"k = {classes}" if isinstance(classes, int) else "these classes"
    return Curve(name, list(leaks), [_probability(classes, persons, leaked, targets) for leaked in leaks])


def over_k(persons: int, leaked: int, sizes: Sequence[int], targets: int = 1) -> Curve:
    """The probability against the class size: it falls fast at first, then hardly.

    >>> [round(value, 4) for value in over_k(10_000, 4_000, [1, 5, 10, 20]).y]
    [0.4, 0.1845, 0.0994, 0.05]
    """
    return Curve(f"{leaked:,} leaked", list(sizes), [_probability(size, persons, leaked, targets) for size in sizes])


def over_targets(classes: ClassSizes, leaked: int, most: int = 20) -> Curve:
    """The probability against the number of targets.

    >>> [round(value, 6) for value in over_targets(ClassSizes.of({5: 2000}), 10_000, 3).y]
    [0.2, 0.040004, 0.008002]
    """
    targets = list(range(1, min(most, leaked, MOST_TARGETS) + 1))
    return Curve("targets", targets, [several_persons(classes, leaked, number).probability for number in targets])


def needed_k(persons: int, leaks: Sequence[int], threshold: float | str, targets: int = 1) -> Curve:
    """The smallest k that keeps a threshold against the size of the leak; leaks without one are left out.

    >>> needed_k(10_000, [1_000, 4_000], 0.09).y
    [4, 12]
    """
    found = [(leaked, smallest_k(persons, leaked, threshold, targets)) for leaked in leaks]
    known = [(leaked, size) for leaked, size in found if size is not None]
    limit = find_threshold(threshold)
    name = f"{limit.value:.2g}" + (f" ({limit.name})" if limit.name else "")
    return Curve(name, [leaked for leaked, _ in known], [size for _, size in known])


def _probability(classes: ClassSizes | int, persons: int, leaked: int, targets: int) -> float:
    progress.report("curves", leaked, None)
    if not isinstance(classes, int):
        return several_persons(classes, leaked, targets).probability
    if targets == 1:
        return equation_5(persons, leaked, classes)
    return several_persons(ClassSizes.equal(persons, classes), leaked, targets).probability


# The published recursion for several persons (Antoniou, Eq 10), its misprint repaired: an approximation.
#
# One target after the other: the next is in a class of i persons with probability i a_i / D, is re-identified by Eq 5,
# and leaves; the class then has i - 1 persons (the paper prints a_i + 1 where a_i - 1 is meant), D and L are one less:
#
#     P(n; a, D, L) = sum over i of (i a_i / D) · Eq5(D, L, i) · P(n-1; a with one class of i now of i-1, D-1, L-1)
#
# It forgets what finding a target tells about the rest of the leak, so it is exact only for n = 1 or L = D. With
# classes of equal size it is a little too high; with unequal ones it can be too low: for classes of 1 and 3, L = 3 and
# n = 2 it gives 29/144, the exact law 5/24. Eq 10 as printed weighs by classes, a_i / M, not by persons.

Weights = Literal["persons", "classes"]
# numbers that describe the states of the classes at one step
MOST_NUMBERS = 5_000_000


def recursion(classes: ClassSizes, leaked: int, targets: int, weights: Weights = "persons") -> float:
    """The recursion with weights by persons (repaired) or by classes (as Eq 10 is printed).

    States of the classes that are reached in several orders are joined, so that each is worked out once.

    >>> round(recursion(ClassSizes.of({2: 2}), 3, 2), 6)  # 5/18; the exact law gives 1/4
    0.277778
    >>> round(recursion(ClassSizes.of({2: 2}), 3, 2, "classes"), 6)  # 7/24
    0.291667
    """
    if targets > leaked:
        return 0.0
    # sizes that a class may come to have while targets leave
    sizes = sorted({left for size in classes.sizes.tolist() for left in range(max(1, size - targets), size + 1)})
    place = {size: index for index, size in enumerate(sizes)}
    given = classes.to_dict()
    states = {tuple(given.get(size, 0) for size in sizes): 1.0}
    for step in range(targets):
        progress.report("recursion", step, targets)
        chances = _chances(classes.persons - step, leaked - step, sizes, weights)
        after: dict[tuple[int, ...], float] = {}
        for state, probability in states.items():
            if len(after) * len(sizes) > MOST_NUMBERS:
                raise InputError(
                    f"The recursion has too many states for {len(given)} class sizes and {targets} targets.",
                    "Use the method exact: it has no such limit.",
                )
            total = sum(state)
            for size, chance in zip(sizes, chances, strict=True):
                count = state[place[size]]
                if not count:
                    continue
                left = list(state)
                left[place[size]] -= 1
                if size > 1:
                    left[place[size - 1]] += 1
                part = count * chance if weights == "persons" else count * chance / total
                key = tuple(left)
                after[key] = after.get(key, 0.0) + probability * part
        states = after
    return math.fsum(states.values())


def _chances(persons: int, leaked: int, sizes: list[int], weights: Weights) -> list[float]:
    """Eq 5 by size; for weights by persons times i / D, so that the count of classes is all that is left."""
    # a size that no class can have any more at this step is never asked for
    hit = -np.expm1(log_missed(persons, leaked, np.minimum(np.array(sizes), persons)))
    share = hit / persons if weights == "persons" else hit / np.array(sizes)
    return [float(value) for value in share]
