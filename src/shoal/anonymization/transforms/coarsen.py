"""Sánchez et al., Algorithm S3: each attribute cut into r intervals of its labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from shoal.errors import InputError
from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.table import Array, Column
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack

Labels = Literal["range", "labels"]


def intervals(values: Array, resolution: int, labels: Labels = "range") -> tuple[Array, Array]:
    """The ends of the intervals: of N ordered labels, interval i holds floor((i-1) N / r) .. floor(i N / r) - 1.

    Labels are every integer from smallest to largest (`range`) or the values that occur (`labels`). Empty intervals are
    left out.

    >>> low, high = intervals(np.arange(86), 4)
    >>> low.tolist(), high.tolist()
    ([0, 21, 43, 64], [20, 42, 63, 85])
    """
    if resolution < 1:
        raise InputError(f"A resolution of {resolution} leaves nothing.", "Use 1 or more.")
    if labels == "range":
        first, last = _whole(values[0]), _whole(values[-1])
        cuts = _cuts(last - first + 1, resolution)
        return first + cuts[:-1], first + cuts[1:] - 1
    cuts = _cuts(len(values), resolution)
    return values[cuts[:-1]], values[cuts[1:] - 1]


def _whole(value: float) -> int:
    if value != int(value):
        raise InputError("Every integer from smallest to largest: a column with fractions has none.", "Use --labels.")
    return int(value)


def _cuts(count: int, resolution: int) -> Array:
    """Where intervals start, and the end; exact integers, empty intervals dropped."""
    if resolution >= count:  # every label is an interval of its own
        return np.arange(count + 1)
    return np.array([i * count // resolution for i in range(resolution + 1)])


def coarsen(columns: Sequence[Column], resolution: int | Mapping[str, int], labels: Labels = "range") -> Boxed:
    """Algorithm S3: every value becomes the interval that holds it."""
    sides: dict[str, tuple[Array, Array, Array]] = {}
    for column in columns:
        wanted = resolution if isinstance(resolution, int) else resolution.get(column.name)
        values = numbers(column)
        low, high = (values, values) if wanted is None else intervals(values, wanted, labels)
        which = np.searchsorted(low, values, side="right") - 1
        sides[column.name] = (low, high, which[column.codes])
    coded = [Coded(which, len(low)) for low, _, which in sides.values()]
    box_of_row, count = class_of_each_row(pack(coded))
    first = first_row_of_each_class(box_of_row, count)
    return Boxed(box_of_row, {name: _side(low, high, which[first]) for name, (low, high, which) in sides.items()})


def _side(low: Array, high: Array, which: Array) -> Side:
    scale = np.unique(np.concatenate([low, high]).astype(np.float64))
    return Side(scale, np.searchsorted(scale, low)[which], np.searchsorted(scale, high)[which])
