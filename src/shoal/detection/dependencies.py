"""Columns that others determine: who knows the municipality knows the province."""

from __future__ import annotations

import numpy as np

from shoal.table import Array, Column
from shoal.table.classes import CountTable, class_sizes

# Tuples looked at to discard most pairs of columns before the whole table is asked.
SAMPLE = 2000
# A column that is nearly an identifier determines everything, which tells nothing.
TELLS_NOTHING = 0.99


def determined_by(table: CountTable) -> dict[str, list[str]]:
    """For each column the columns that alone determine it: equal there means equal here.

    A determines B exactly if (A, B) has as many classes as A.

    >>> from shoal.table.classes import Coded
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

    >>> from shoal.reading import read
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
