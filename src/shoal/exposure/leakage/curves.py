"""Curves: how the probability moves with the leak, with k and with the number of targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal import progress
from shoal.errors import InputError
from shoal.exposure.leakage.inverse import smallest_k
from shoal.exposure.leakage.one_person import equation_5, log_missed
from shoal.exposure.leakage.several import MOST_TARGETS, several_persons
from shoal.exposure.leakage.sizes import ClassSizes
from shoal.policy.thresholds import find_threshold


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
    sizes = _reachable(classes, targets)
    place = {size: index for index, size in enumerate(sizes)}
    given = classes.to_dict()
    states = {tuple(given.get(size, 0) for size in sizes): 1.0}
    for step in range(targets):
        progress.report("recursion", step, targets)
        chances = _chances(classes.persons - step, leaked - step, sizes, weights)
        after: dict[tuple[int, ...], float] = {}
        for state, probability in states.items():
            _check_room(len(after) * len(sizes), len(given), targets)
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


def _check_room(numbers: int, sizes: int, targets: int) -> None:
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"The recursion has too many states for {sizes} class sizes and {targets} targets.",
            "Use the method exact: it has no such limit.",
        )


def _reachable(classes: ClassSizes, targets: int) -> list[int]:
    """Sizes that a class may come to have while targets leave."""
    found: set[int] = set()
    for size in classes.sizes.tolist():
        found.update(range(max(1, size - targets), size + 1))
    return sorted(found)


def _chances(persons: int, leaked: int, sizes: list[int], weights: Weights) -> list[float]:
    """Eq 5 by size; for weights by persons times i / D, so that the count of classes is all that is left."""
    # a size that no class can have any more at this step is never asked for
    hit = -np.expm1(log_missed(persons, leaked, np.minimum(np.array(sizes), persons)))
    share = hit / persons if weights == "persons" else hit / np.array(sizes)
    return [float(value) for value in share]
