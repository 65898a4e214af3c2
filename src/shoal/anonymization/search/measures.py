"""What a generalisation costs, as the search counts it: a cost per column, level and value, and how columns add up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from shoal.dataclasses import dataclass
from shoal.hierarchy.fit import Fitted
from shoal.table import Array
from shoal.utility.class_measures import average_class_size, discernibility


@dataclass(frozen=True)
class Costs:
    """One column's costs: `levels[l][code]` of a record with that code kept at level l, `suppressed[code]` of one not
    kept. The column's part in the score is x = (sum of costs - base) / scale, at least 0."""

    levels: list[Array]
    suppressed: Array
    base: float
    scale: float


@dataclass(frozen=True)
class ColumnMeasure:
    """A measure that sums over cells; `geometric`: score = (product of (1 + x)^w)^(1 / sum w) - 1, else the mean."""

    name: str
    costs: Callable[[Fitted, Array], Costs]
    geometric: bool

    def score(self, product: float, importance: float) -> float:
        """The score of a product of factors."""
        if not np.isfinite(product):
            return float("inf")
        return float(product ** (1 / importance) - 1 if self.geometric else np.log(product) / importance)


def _loss(fitted: Fitted, records: Array) -> Costs:
    """The share of the hierarchy's leaves that a value stands for (ARX's Loss)."""
    levels = [shares[codes] for shares, codes in zip(fitted.shares, fitted.codes, strict=True)]
    total = float(records.sum())
    base = total / fitted.leaves
    return Costs(levels, np.ones(len(records)), base, total - base)


def _precision(fitted: Fitted, records: Array) -> Costs:
    """The height to which a value was raised (Sweeney): 1 - Prec."""
    top = len(fitted.codes) - 1
    levels = [np.full(len(records), level / max(top, 1)) for level in range(top + 1)]
    return Costs(levels, np.ones(len(records)), 0.0, float(records.sum()))


def _entropy(fitted: Fitted, records: Array) -> Costs:
    """How many bits are missing to tell the value from those it was joined with (Gionis and Tassa)."""
    levels = []
    for codes in fitted.codes:
        joined = np.bincount(codes, records)[codes]
        with np.errstate(divide="ignore", invalid="ignore"):
            levels.append(np.where(records > 0, np.log2(joined / records), 0.0))
    total = float(records.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        suppressed = np.where(records > 0, np.log2(total / records), 0.0)
    return Costs(levels, suppressed, 0.0, float((suppressed * records).sum()))


# measures with a bound from marginals; the others need every node to be looked at
COLUMN_MEASURES = {
    "loss": ColumnMeasure("loss", _loss, True),
    "precision": ColumnMeasure("precision", _precision, False),
    "entropy": ColumnMeasure("entropy", _entropy, False),
}


CLASS_MEASURES: dict[str, Callable[[Array, int, int], float]] = {
    "discernibility": discernibility,
    "average-class-size": average_class_size,
}


def least_possible(minimize: str, k: int, records: int) -> float:
    """What no table with classes of at least k can go below.

    A record shares its class with k - 1 others at least; at most (records - 1) // k classes stand beside one of
    suppressed records, which counts as a class.

    >>> least_possible("discernibility", 5, 11), least_possible("average-class-size", 5, 11)
    (0.45454545454545453, 0.3333333333333333)
    """
    return k / records if minimize == "discernibility" else 1 / ((records - 1) // k + 1)
