"""Which column costs most: each column's share of the uniques, as in a game where columns join one by one.

Shapley value of a column = the uniques that it adds, averaged over all orders in which columns can join. The values sum
up to the uniques of all columns together.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

from shoal.detection.counted_sets import CountedSets, Tuples, uniques_of_all_sets
from shoal.storage import Array, Column
from shoal.storage.classes import CountTable, class_sizes

# Past so many (set, tuple) pairs, orders are drawn instead of all sets counted.
MOST_CELLS = 40_000_000
MOST_COLUMNS = 16
FEWEST_PAIRS_OF_ORDERS, MOST_PAIRS_OF_ORDERS = 3, 16
MOST_DRAWN_CELLS = 100_000_000


class Contributions(NamedTuple):
    """Shares of the uniques by column, summing up to 1; `error` is the largest standard error, 0 if exact."""

    shares: dict[str, float]
    exact: bool
    error: float


def contributions(table: CountTable, names: Sequence[str], sets: CountedSets | None = None) -> Contributions:
    """The share of the uniques that each of these columns brings; `sets` is what is known of sets of the table.

    >>> from shoal.storage.classes import Coded
    >>> table = CountTable.of({"a": Coded(np.array([0, 1, 2]), 3), "b": Coded(np.array([0, 0, 0]), 1)})
    >>> contributions(table, ["a", "b"]).shares
    {'a': 1.0, 'b': 0.0}
    """
    if not names:
        return Contributions({}, True, 0.0)
    part = table if list(names) == list(table.tuples) else table.roll_up(names)
    if len(names) <= MOST_COLUMNS and len(part) << len(names) <= MOST_CELLS:
        values = _shapley(uniques_of_all_sets(part), len(names))
        return Contributions(_shares(names, values), True, 0.0)
    places = [list(table.tuples).index(name) for name in names]
    orders = _drawn(sets or CountedSets(Tuples.of(table)), places, len(part))
    total = max(float(orders.sum(axis=1).max()), 1.0)
    error = float((orders.std(axis=0, ddof=1) / np.sqrt(len(orders))).max()) / total
    return Contributions(_shares(names, orders.mean(axis=0)), False, error)


def shares_of_all_sets(uniques: Sequence[int] | None, names: Sequence[str]) -> dict[str, float] | None:
    """The shares of columns from the uniques of every set, by the bits of their places; None where they are not known.

    >>> shares_of_all_sets([0, 3, 0, 3], ["a", "b"])
    {'a': 1.0, 'b': 0.0}
    """
    return None if uniques is None else _shares(names, _shapley(np.asarray(uniques, np.float64), len(names)))


def _shares(names: Sequence[str], values: Array) -> dict[str, float]:
    total = float(values.sum())
    shares = values / total if total else np.zeros(len(values))
    return dict(zip(names, shares.tolist(), strict=True))


def _shapley(uniques: Array, columns: int) -> Array:
    """Exact, from the uniques of every set."""
    sets = np.arange(len(uniques))
    sizes = np.bitwise_count(sets).astype(np.int64)
    weights = np.array([factorial(s) * factorial(columns - s - 1) / factorial(columns) for s in range(columns)])
    values = np.empty(columns)
    for column in range(columns):
        without = sets[sets >> column & 1 == 0]
        values[column] = (weights[sizes[without]] * (uniques[without | 1 << column] - uniques[without])).sum()
    return values


def _drawn(sets: CountedSets, places: Sequence[int], tuples: int) -> Array:
    """What each column adds in drawn orders; each order is also gone through backwards, which halves the error."""
    draw = np.random.default_rng(0)
    columns = len(places)
    affordable = MOST_DRAWN_CELLS // (2 * columns * max(tuples, 1))
    found = np.zeros((min(max(affordable, FEWEST_PAIRS_OF_ORDERS), MOST_PAIRS_OF_ORDERS), columns))
    for pair in found:
        order = draw.permutation(columns)
        for turned in (order, order[::-1]):
            chosen, before = 0, sets.uniques(0)
            for place, column in enumerate(turned.tolist(), 1):
                chosen |= 1 << places[column]
                after = sets.uniques(chosen, goes_on=place < columns)
                pair[column] += (after - before) / 2
                before = after
    return found


# Columns that others determine: who knows the municipality knows the province.


# Tuples looked at to discard most pairs of columns before the whole table is asked.
SAMPLE = 2000
# A column that is nearly an identifier determines everything, which tells nothing.
TELLS_NOTHING = 0.99


def determined_by(table: CountTable) -> dict[str, list[str]]:
    """For each column the columns that alone determine it: equal there means equal here.

    A determines B exactly if (A, B) has as many classes as A.

    >>> from shoal.storage.classes import Coded
    >>> town, province = Coded(np.array([0, 1, 2, 2]), 3), Coded(np.array([0, 0, 1, 1]), 2)
    >>> determined_by(CountTable.of({"town": town, "province": province, "row": Coded(np.arange(4), 4)}))
    {'province': ['town']}
    """
    names = list(table.tuples)
    matrix = np.stack([table.tuples[name].codes[_some(len(table))].astype(np.int64) for name in names], axis=1)
    distinct = {name: len(class_sizes([table.tuples[name]])) for name in names}
    found: dict[str, list[str]] = {}
    for index, name in enumerate(names):
        if distinct[name] >= TELLS_NOTHING * table.records:
            continue
        for other in np.flatnonzero(_constant_within(matrix, index)).tolist():
            target = names[other]
            if target == name or distinct[target] > distinct[name]:
                continue
            if len(class_sizes([table.tuples[name], table.tuples[target]])) == distinct[name]:
                found.setdefault(target, []).append(name)
    return {name: found[name] for name in names if name in found}


def _some(count: int) -> Array:
    return np.arange(count) if count <= SAMPLE else np.random.default_rng(0).choice(count, SAMPLE, replace=False)


def _constant_within(matrix: Array, column: int) -> Array:
    """Which columns of a sample have one value within each value of a column."""
    ordered = matrix[np.argsort(matrix[:, column], kind="stable")]
    same = ordered[1:, column] == ordered[:-1, column]
    return np.asarray(~(ordered[1:][same] != ordered[:-1][same]).any(axis=0))


def determines(column: Column, other: Column) -> bool:
    """Whether equal values of a column always go with equal values of another; the first rows rule most pairs out.

    >>> from shoal.storage.reading import read
    >>> table = read({"town": ["Bari", "Bari", "Pisa"], "province": ["BA", "BA", "PI"], "age": [1, 2, 3]})
    >>> determines(table["town"], table["province"]), determines(table["town"], table["age"])
    (True, False)
    """
    last = np.zeros(column.cardinality, other.codes.dtype)
    for rows in (slice(0, 50 * SAMPLE), slice(None)):
        codes, told = column.codes[rows], other.codes[rows]
        last[codes] = told
        if not np.array_equal(last[codes], told):
            return False
    return True
