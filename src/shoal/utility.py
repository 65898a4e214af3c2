"""What the change cost: information loss and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.table import Array, Column
from shoal.transform.boxed import Boxed, numbers, spread


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """Eqs 3-4 in total and by column."""

    total: float
    by_column: dict[str, float]


def information_loss(columns: Sequence[Column], boxed: Boxed) -> InformationLoss:
    """Sánchez et al., Eqs 3-4: the distance of each record to the farthest corner of its box.

    loss = sum over records of the root of the sum over columns of (max(high - a, a - low) / spread) squared, / (n m)

    By column: the mean of max(high - a, a - low) / spread.

    >>> from shoal.table import Table
    >>> from shoal.transform.sorted_clusters import sorted_clusters
    >>> columns = Table.of({"age": [30, 34]}).select(["age"])
    >>> round(information_loss(columns, sorted_clusters(columns, 2)).total, 6)
    1.414214
    """
    rows = len(boxed.box_of_row)
    squares = np.zeros(rows)
    by_column = {}
    for column in columns:
        sigma = spread(column)
        if sigma == 0:
            by_column[column.name] = 0.0
            continue
        farthest = _farthest(numbers(column)[column.codes], column.name, boxed) / sigma
        by_column[column.name] = float(farthest.mean())
        squares += farthest**2
    return InformationLoss(float(np.sqrt(squares).sum()) / (rows * len(columns)), by_column)


def _farthest(values: Array, name: str, boxed: Boxed) -> Array:
    side = boxed.sides[name]
    low, high = side.scale[side.low][boxed.box_of_row], side.scale[side.high][boxed.box_of_row]
    return np.asarray(np.maximum(high - values, values - low))


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Eq 5: of the records that meet a condition, those in classes where everybody does."""

    records: int
    disclosed: int

    @property
    def share(self) -> float | None:
        """Undefined where no record meets the condition."""
        return self.disclosed / self.records if self.records else None


def attribute_disclosure(class_of_row: Array, classes: int, meets: Array) -> Disclosure:
    """Sánchez et al., Eq 5: records in classes all of whose members meet the condition, over records that meet it.

    >>> attribute_disclosure(np.array([0, 0, 1, 1]), 2, np.array([True, True, True, False]))
    Disclosure(records=3, disclosed=2)
    """
    sizes = np.bincount(class_of_row, minlength=classes)
    meeting = np.bincount(class_of_row[meets], minlength=classes)
    return Disclosure(int(meeting.sum()), int(sizes[sizes == meeting].sum()))
