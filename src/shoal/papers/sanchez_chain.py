"""From the masked table to Tables S4 and S5: what is masked by value, correlations before and after Algorithm S1.

A cell is masked when it is no longer its own value: `*`, an age group, a ZIP code without its last digits. The authors
know how often each value was masked (their v[a][e]); here the original table says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal import progress
from shoal.anonymization.transforms.mask import Masked
from shoal.anonymization.transforms.regenerate import regenerate
from shoal.ranges.boxed import numbers
from shoal.table import Array, Column

_BLOCK = 1 << 18


def masked_cells(columns: Sequence[Column], masked: Masked) -> dict[str, Array]:
    """Which cells of each column are masked."""
    box = masked.boxed.box_of_row
    return {column.name: np.asarray(masked.boxed.sides[column.name].wide[box]) for column in columns}


def by_value(column: Column, hidden: Array) -> list[dict[str, int]]:
    """How many records have each value, and how many of them are masked, in the order of the values.

    >>> from shoal.reading import read
    >>> by_value(read({"race": [1, 1, 2]})["race"], np.array([False, True, True]))
    [{'value': 1, 'records': 2, 'masked': 1}, {'value': 2, 'records': 1, 'masked': 1}]
    """
    values = numbers(column)
    total = np.bincount(column.codes, minlength=len(values))
    gone = np.bincount(column.codes[hidden], minlength=len(values))
    return [
        {"value": int(values[j]), "records": int(total[j]), "masked": int(gone[j])} for j in np.argsort(values).tolist()
    ]


def rank_correlation(counts: Sequence[dict[str, int]]) -> float | None:
    """Spearman's correlation of how frequent a value is with the share of it that is masked; None if all are alike.

    >>> rank_correlation([{"records": 9, "masked": 1}, {"records": 4, "masked": 2}, {"records": 2, "masked": 2}])
    -1.0
    """
    there = [entry for entry in counts if entry["records"]]
    records = np.array([entry["records"] for entry in there], float)
    shares = np.array([entry["masked"] / entry["records"] for entry in there])
    if len(there) < 2 or np.ptp(records) == 0 or np.ptp(shares) == 0:
        return None
    return round(float(np.corrcoef(_ranks(records), _ranks(shares))[0, 1]), 12)


def _ranks(values: Array) -> Array:
    """Ranks, those of equal values averaged."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[place])


def chain(columns: Sequence[Column], hidden: dict[str, Array], seed: int) -> dict[str, Any]:
    """Correlations where both cells are unmasked (Table S4), and after masked cells were filled (Table S5).

    `columns` stand in the order of the tables. Each column is filled by Algorithm S1 from the values that were masked
    in it, so its distribution is that of the original.
    """
    progress.report("masked, filled, correlated", 0)
    values = [numbers(column) for column in columns]
    known = [~hidden[column.name] for column in columns]
    before = _correlations([(column.codes, of) for column, of in zip(columns, values, strict=True)], known)
    filled = [_filled(column, hidden[column.name], seed + place) for place, column in enumerate(columns)]
    after = _correlations(list(zip(filled, values, strict=True)), None)
    names = [column.name for column in columns]
    pairs = list(zip(*np.triu_indices(len(names), 1), strict=True))

    def as_pairs(matrix: Array) -> dict[str, float | None]:
        """Undefined where no record has both cells, or where all of them are alike."""
        found = {f"{names[i]},{names[j]}": float(matrix[i, j]) for i, j in pairs}
        return {pair: value if np.isfinite(value) else None for pair, value in found.items()}

    return {
        "unmasked_cells": {name: int(cells.sum()) for name, cells in zip(names, known, strict=True)},
        "correlations_unmasked": as_pairs(before),
        "correlations_filled": as_pairs(after),
    }


def _filled(column: Column, hidden: Array, seed: int) -> Array:
    """Codes of a column after Algorithm S1."""
    counts = np.bincount(column.codes[hidden], minlength=len(column.values))
    wanted = {code: int(counts[code]) for code in np.flatnonzero(counts).tolist()}
    drawn = regenerate(hidden, wanted, seed)
    return np.where(drawn >= 0, drawn, column.codes)


def _correlations(columns: Sequence[tuple[Array, Array]], known: Sequence[Array] | None) -> Array:
    """Of every pair of columns given as codes and values, over the rows in which both are known."""
    rows, width = len(columns[0][0]), len(columns)
    middle = np.array([values.mean() for _, values in columns])
    count, total, squares, products = (np.zeros((width, width)) for _ in range(4))
    apart = [(codes, values - own) for (codes, values), own in zip(columns, middle.tolist(), strict=True)]
    whole, cells_there = np.empty((min(_BLOCK, rows), width)), np.ones((min(_BLOCK, rows), width))
    for start in range(0, rows, _BLOCK):
        part = slice(start, min(start + _BLOCK, rows))
        block, there = whole[: part.stop - start], cells_there[: part.stop - start]
        for place, (codes, values) in enumerate(apart):
            block[:, place] = np.take(values, codes[part], mode="clip")
            if known is not None:
                there[:, place] = known[place][part]
        block *= there
        count += there.T @ there
        total += block.T @ there  # the sum of column i where j is known
        squares += (block * block).T @ there
        products += block.T @ block
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - total**2 / count
        return np.asarray((products - total * total.T / count) / np.sqrt(spread * spread.T))
