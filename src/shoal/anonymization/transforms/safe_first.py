"""Keep what is already safe: records whose class has k members stay as they are, the rest is anonymised."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.table import Array, Column
from shoal.table.classes import class_of_each_row, first_row_of_each_class, pack


def untouched_if_safe(columns: Sequence[Column], k: int, way: Callable[[Sequence[Column]], Boxed]) -> Boxed:
    """Apply a way of anonymising only to records in classes under k.

    Fewer than k such records cannot protect each other: then the smallest safe classes join them.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 30, 41, 55]}).select(["age"])
    >>> boxed = untouched_if_safe(columns, 2, lambda some: sorted_clusters(some, 2))
    >>> boxed.sides["age"].scale[boxed.sides["age"].high][boxed.box_of_row].tolist()
    [30.0, 30.0, 55.0, 55.0]
    """
    classes, count = class_of_each_row(pack(columns))
    sizes = np.bincount(classes, minlength=count)
    safe = _safe_classes(sizes, k)
    changed = np.flatnonzero(~safe[classes])
    if not len(changed):
        return _points(columns, classes, count)
    points = _points(columns, classes, count)
    some = way([column.take(changed) for column in columns])
    box_of_row = points.box_of_row.copy()
    box_of_row[changed] = some.box_of_row + count
    # the points of changed records are boxes of nobody now
    used, box_of_row = np.unique(box_of_row, return_inverse=True)
    sides = {name: _joined(points.sides[name], some.sides[name]) for name in points.sides}
    return Boxed(box_of_row, {name: Side(s.scale, s.low[used], s.high[used]) for name, s in sides.items()})


def _safe_classes(sizes: Array, k: int) -> Array:
    safe = sizes >= k
    for smallest in np.argsort(sizes, kind="stable"):
        left = sizes[~safe].sum()
        if left == 0 or left >= k:
            break
        safe[smallest] = False
    return np.asarray(safe)


def _points(columns: Sequence[Column], classes: Array, count: int) -> Boxed:
    """Every row as it is; rows of a class share a box."""
    first = first_row_of_each_class(classes, count)
    sides = {column.name: Side(numbers(column), column.codes[first], column.codes[first]) for column in columns}
    return Boxed(classes, sides)


def _joined(one: Side, two: Side) -> Side:
    """Two lists of ranges on one scale."""
    scale = np.union1d(one.scale, two.scale)
    place_one, place_two = np.searchsorted(scale, one.scale), np.searchsorted(scale, two.scale)
    low = np.concatenate([place_one[one.low], place_two[two.low]])
    return Side(scale, low, np.concatenate([place_one[one.high], place_two[two.high]]))
