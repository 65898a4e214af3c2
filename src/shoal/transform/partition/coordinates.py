"""Records as points: each column in units of its spread, so that the distances of Eq 2 are plain distances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import InputError
from shoal.table import Array, Column
from shoal.transform.boxed import places, spread


def coordinates(columns: Sequence[Column], weights: Mapping[str, float] | None = None) -> Array:
    """A matrix with a row per record, (value - mean) / spread times the column's weight, in single precision.

    Numbers and dates lie by their value, categories by their order. A missing value lies a whole range behind the
    largest: it mixes with others only where nothing else is left, for such a group is released as `*`.

    >>> from shoal.table import Table
    >>> coordinates(Table.of({"age": [30, 34, None]}).select(["age"])).astype(float).round(3).tolist()
    [[-0.707], [0.707], [2.121]]
    """
    weights = dict(weights or {})
    _check_weights(weights, columns)
    rows = np.empty((len(columns[0].codes), len(columns)), np.float32)
    for j, column in enumerate(columns):
        rows[:, j] = (_along(column) * weights.get(column.name, 1.0)).astype(np.float32)[column.codes]
    return rows


def _along(column: Column) -> Array:
    """Where each code lies."""
    found, sigma = places(column), spread(column)
    found = (found - found.mean()) / sigma if sigma > 0 else np.zeros(len(found))
    if not column.nulls:
        return found
    if not len(found):
        return np.zeros(1)
    return np.append(found, found[-1] + max(found[-1] - found[0], 1.0))


def _check_weights(weights: dict[str, float], columns: Sequence[Column]) -> None:
    names = [column.name for column in columns]
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise InputError.missing_columns(unknown, names, "The list of quasi-identifiers")
    wrong = [name for name, weight in weights.items() if not (weight >= 0 and np.isfinite(weight))]
    if wrong:
        raise InputError(f"The weight of '{wrong[0]}' is not a number from 0 on.", "Use 1 for as much as the others.")
