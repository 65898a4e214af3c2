"""The loss of all columns (docs/quality.md) straight from boxes: no text is read again, so none can be misread."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.ranges.boxed import ALL_MISSING, Boxed, Sets, Side, places
from shoal.table import Array, Column


def loss_of_boxes(columns: Sequence[Column], boxed: Boxed) -> float:
    """The share of a column's values that a released cell stands for: per column x = (mean share - 1/h) / (1 - 1/h).

    h is the number of the column's values, a missing one among them; the loss is the product of (1 + x), root, minus 1.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.transforms.sorted_clusters import sorted_clusters
    >>> columns = read({"age": [30, 34, 51, 51]}).select(["age"])
    >>> round(loss_of_boxes(columns, sorted_clusters(columns, 2)), 4)
    0.25
    """
    records = np.bincount(boxed.box_of_row, minlength=boxed.boxes)
    shares = [(_values(column, boxed.sides[column.name]) * records).sum() / records.sum() for column in columns]
    return loss_of_shares([column.cardinality for column in columns], shares)


def loss_of_shares(values: Sequence[int], held: Sequence[float]) -> float:
    """The loss, from how many values each column has and how many of them a cell stands for on average.

    >>> loss_of_shares([3, 1], [2.0, 1.0])
    0.22474487139158894
    """
    parts = [(mean - 1) / (count - 1) if count > 1 else 0.0 for count, mean in zip(values, held, strict=True)]
    return float(np.prod(np.maximum(parts, 0.0) + 1) ** (1 / len(parts)) - 1)


def _values(column: Column, side: Side) -> Array:
    """How many of a column's values each box stands for; `*` stands for all, a missing value for itself."""
    if not len(side.scale):  # nothing but missing values
        return np.ones(len(side.low))
    if isinstance(side, Sets):
        held = np.diff(side.starts)[side.set_of_box]
    else:
        scale = places(column)
        held = np.searchsorted(scale, side.scale[side.high], side="right") - np.searchsorted(
            scale, side.scale[side.low]
        )
    if side.missing is None:
        return np.asarray(held)
    return np.where(side.starred, column.cardinality, np.where(side.missing == ALL_MISSING, 1, held))
