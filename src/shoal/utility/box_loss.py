"""The loss of all columns (docs/quality.md) straight from boxes: no text is read again, so none can be misread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.ranges.boxed import ALL_MISSING, Boxed, Sets, Side, places
from shoal.ranges.nodes import Nodes
from shoal.table import Array, Column


def loss_of_boxes(
    columns: Sequence[Column],
    boxed: Boxed,
    leaves: Mapping[str, Array] | None = None,
    weights: Array | None = None,
) -> float:
    """The share of a column's values that a released cell stands for: per column x = (mean share - 1/h) / (1 - 1/h).

    h is the number of the column's values, a missing one among them; of a column that is released as nodes of a tree,
    the number of the tree's leaves (ARX's measure), and likewise where the `leaves` of a tree over numbers are given.
    The loss is the product of (1 + x), root, minus 1. `weights` are the people that each row stands for.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 51]}).select(["age"])
    >>> round(loss_of_boxes(columns, sorted_clusters(columns, 2)), 4)
    0.25
    """
    counts, held, boxes, records = [], [], None, np.zeros(0)
    for column in columns:
        along = boxed.along(column.name)
        if along is not boxes:
            boxes, records = along, along.records(weights)
        values, count = _values(column, along.sides[column.name], (leaves or {}).get(column.name))
        counts.append(count)
        held.append((values * records).sum() / records.sum())
    return loss_of_shares(counts, held)


def loss_of_shares(values: Sequence[int], held: Sequence[float]) -> float:
    """The loss, from how many values each column has and how many of them a cell stands for on average.

    >>> loss_of_shares([3, 1], [2.0, 1.0])
    0.22474487139158894
    """
    parts = [(mean - 1) / (count - 1) if count > 1 else 0.0 for count, mean in zip(values, held, strict=True)]
    return float(np.prod(np.maximum(parts, 0.0) + 1) ** (1 / len(parts)) - 1)


def _values(column: Column, side: Side, leaves: Array | None) -> tuple[Array, int]:
    """How many values each box stands for, and of how many; `*` stands for all, a missing value for itself."""
    if not len(side.scale):  # nothing but missing values
        return np.ones(len(side.low)), column.cardinality
    count = column.cardinality
    if isinstance(side, Nodes):
        held, count = side.leaves[side.set_of_box], side.total
    elif isinstance(side, Sets):
        held = np.diff(side.starts)[side.set_of_box]
    else:
        scale = places(column) if leaves is None else leaves
        count += len(scale) - len(column.values)
        held = np.searchsorted(scale, side.scale[side.high], side="right") - np.searchsorted(
            scale, side.scale[side.low]
        )
    if side.missing is None:
        return np.asarray(held), count
    return np.where(side.starred, count, np.where(side.missing == ALL_MISSING, 1, held)), count
