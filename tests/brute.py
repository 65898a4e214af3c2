"""Slow and plain: what the fast code must agree with. Nothing here is shared with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import fsum, perm
from typing import Any

Row = tuple[Any, ...]


def class_sizes(rows: Sequence[Row], weights: Sequence[int] | None = None) -> list[int]:
    """The sizes of the classes of equal rows, sorted."""
    counts: Counter[Row] = Counter()
    for row, weight in zip(rows, weights or [1] * len(rows), strict=True):
        counts[row] += weight
    return sorted(counts.values())


def matches(rows: Sequence[Row]) -> list[int]:
    """For each row, how many rows agree with it wherever neither is None."""
    return [
        sum(all(a is None or b is None or a == b for a, b in zip(row, other, strict=True)) for other in rows)
        for row in rows
    ]


def unique_boxes(boxes: Sequence[Sequence[set[Any]]]) -> list[bool]:
    """Eq 1 by looking at every point of every box."""
    found = []
    for index, box in enumerate(boxes):
        others = [other for number, other in enumerate(boxes) if number != index]
        found.append(
            not all(
                any(all(value in side for value, side in zip(point, other, strict=True)) for other in others)
                for point in product(*box)
            )
        )
    return found


def person_sizes(rows: Sequence[Row], persons: Sequence[Any]) -> list[int]:
    """The sizes of the classes of persons with equal multisets of rows, sorted."""
    histories: dict[Any, list[Row]] = {}
    for row, person in zip(rows, persons, strict=True):
        histories.setdefault(person, []).append(row)
    return sorted(Counter(tuple(sorted(history, key=repr)) for history in histories.values()).values())


def leak_probability(sizes: Sequence[int], leaked: int, targets: int) -> Fraction:
    """The probability that all targets are named, over every leak and every choice of targets."""
    classes = [number for number, size in enumerate(sizes) for _ in range(size)]
    persons = range(len(classes))
    total, cases = Fraction(0), 0
    for leak in map(set, combinations(persons, leaked)):
        there = Counter(classes[person] for person in leak)
        for chosen in combinations(persons, targets):
            cases += 1
            if set(chosen) <= leak:
                wanted = Counter(classes[person] for person in chosen)
                ways = 1  # to deal the names of a class's targets among its leaked members
                for number, count in wanted.items():
                    ways *= perm(there[number], count)
                total += Fraction(1, ways)
    return total / cases


def leaked_records_probability(histories: Sequence[Sequence[Any]], leaked: int) -> Fraction:
    """The same for one target, where records leak and whoever's leaked records all fit the target is a candidate."""
    records = [(person, kind) for person, history in enumerate(histories) for kind in history]
    total, cases = Fraction(0), 0
    for leak in combinations(range(len(records)), leaked):
        shown: dict[int, Counter[Any]] = {}
        for number in leak:
            shown.setdefault(records[number][0], Counter())[records[number][1]] += 1
        for target, history in enumerate(histories):
            cases += 1
            if target in shown:
                total += Fraction(1, sum(part <= Counter(history) for part in shown.values()))
    return total / cases


def mdav(points: Any, k: int) -> list[int]:
    """MDAV as it is written down; sums are exact, ties go to the smaller row number."""
    left = list(range(len(points)))
    group = [-1] * len(points)
    groups = 0

    def distance(row: int, centre: Sequence[float]) -> float:
        return sum(((float(a) - b) ** 2 for a, b in zip(points[row], centre, strict=True)), 0.0)

    def farthest(centre: Sequence[float]) -> int:
        return min(left, key=lambda row: (-distance(row, centre), row))

    def mean() -> list[float]:
        return [fsum(float(points[row][j]) for row in left) / len(left) for j in range(len(points[0]))]

    def take(row: int) -> None:
        nonlocal groups
        centre = [float(value) for value in points[row]]
        others = sorted((other for other in left if other != row), key=lambda other: (distance(other, centre), other))
        for member in [row, *others[: k - 1]]:
            group[member] = groups
            left.remove(member)
        groups += 1

    while len(left) >= 3 * k:
        one = farthest(mean())
        take(one)
        take(farthest([float(value) for value in points[one]]))
    if len(left) >= 2 * k:
        take(farthest(mean()))
    for row in left:
        group[row] = groups
    return group


def all_partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """Every way to put items into groups of k to 2k-1; larger groups are never needed."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, min(2 * k - 2, len(rest)) + 1):
        for others in combinations(rest, size):
            left = [item for item in rest if item not in others]
            for groups in all_partitions(left, k):
                yield [[first, *others], *groups]
