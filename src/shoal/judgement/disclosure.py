"""Attribute disclosure: what everybody in a class has, whoever finds the class learns of each of them."""

from __future__ import annotations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array


@dataclass(frozen=True)
class Disclosure:
    """Eq 5: of the records that meet a condition, those in classes where everybody does."""

    records: int
    disclosed: int

    @property
    def share(self) -> float | None:
        """Undefined where no record meets the condition."""
        return self.disclosed / self.records if self.records else None


def attribute_disclosure(class_of_row: Array, classes: int, meets: Array, weights: Array | None = None) -> Disclosure:
    """Sánchez et al., Eq 5: records in classes all of whose members meet the condition, over records that meet it.

    >>> attribute_disclosure(np.array([0, 0, 1, 1]), 2, np.array([True, True, True, False]))
    Disclosure(records=3, disclosed=2)
    """
    sizes = np.bincount(class_of_row, weights, classes).astype(np.int64)
    meeting = np.bincount(class_of_row[meets], None if weights is None else weights[meets], classes).astype(np.int64)
    return Disclosure(int(meeting.sum()), int(sizes[sizes == meeting].sum()))
