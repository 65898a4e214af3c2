"""Slow and plain: what the fast code must agree with. Nothing here is shared with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product
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
