"""How strongly each pair of columns goes together, before and after.

Two numbers: Pearson's r. A number and a category: the correlation ratio η, the root of the share of the variance that
lies between the categories. Two categories: Cramér's V = sqrt(χ² / n / (min(rows, columns) - 1)). A released range
counts as its middle, a set as equal shares over its members, as in `analysis`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.dataclasses import dataclass
from shoal.table import Array
from shoal.utility.analysis import Features, looked_at

# more columns than this are not read in a picture
_MOST_COLUMNS = 12


@dataclass(frozen=True)
class Association:
    """A pair of columns: the measure (`r`, `eta` or `V`) before and after; null where a column does not vary."""

    first: str
    second: str
    measure: str
    before: float | None
    after: float | None


def associations_of(features: Sequence[Features]) -> list[Association]:
    """Every pair of the first twelve columns, with three digits.

    >>> from shoal.reading import read
    >>> from shoal.utility.analysis import features_of
    >>> table = read({"a": [1, 2, 3, 4], "b": [2, 4, 6, 8], "c": ["x", "x", "y", "y"]})
    >>> [(one.measure, one.before) for one in associations_of([features_of(table[n], table[n]) for n in "abc"])]
    [('r', 1.0), ('eta', 0.894), ('eta', 0.894)]
    """
    features = features[:_MOST_COLUMNS]
    if len(features) < 2:
        return []
    rows = looked_at(features, None)
    sides = [(one.before[one.old.codes[rows]], one.after[one.new.codes[rows]]) for one in features]
    found = []
    for (first, one), (second, other) in combinations(zip(features, sides, strict=True), 2):
        ordered = first.ordered + second.ordered
        measure = ("V", "eta", "r")[ordered]
        figures = [_strength(a, b, first.ordered, second.ordered) for a, b in zip(one, other, strict=True)]
        found.append(Association(first.old.name, second.old.name, measure, *figures))
    return found


def _strength(first: Array, second: Array, first_ordered: bool, second_ordered: bool) -> float | None:
    if first_ordered and second_ordered:
        figure = _pearson(first[:, 0], second[:, 0])
    elif first_ordered or second_ordered:
        figure = _ratio(first[:, 0], second) if first_ordered else _ratio(second[:, 0], first)
    else:
        figure = _cramer(first, second)
    return None if figure is None or not np.isfinite(figure) else round(figure, 3)


def _pearson(first: Array, second: Array) -> float | None:
    if not first.std() or not second.std():
        return None
    return float(np.corrcoef(first, second)[0, 1])


def _ratio(numbers: Array, shares: Array) -> float | None:
    total, sizes = float(numbers.var() * len(numbers)), shares.sum(axis=0)
    if not total or (sizes > 0).sum() < 2:
        return None
    means = np.divide(shares.T @ numbers, sizes, out=np.full(len(sizes), numbers.mean()), where=sizes > 0)
    between = float((sizes * (means - numbers.mean()) ** 2).sum())
    return min(1.0, float(np.sqrt(between / total)))


def _cramer(first: Array, second: Array) -> float | None:
    table = first.T @ second
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / smaller))
