"""Curves: how the probability moves with the leak, with k and with the number of targets."""

from __future__ import annotations

from collections.abc import Sequence

from shoal import progress
from shoal.dataclasses import dataclass
from shoal.leakage.inverse import smallest_k
from shoal.leakage.one_person import equation_5
from shoal.leakage.several import MOST_TARGETS, several_persons
from shoal.leakage.sizes import ClassSizes
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
