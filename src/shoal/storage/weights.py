"""Survey weights: how many people of the population each record of a sample stands for."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.storage.classes import Codes, first_row_of_each_class
from shoal.storage.table import Array, Column

# the largest weight: above it a float counts no single people
MOST_PEOPLE = 2**53
_CURE = "A weight is the number of people that a record stands for: a number above 0 in every row."


def record_weights(column: Column) -> Array:
    """The weight of each record; what is not a weight is refused.

    The weights of a sample sum to the size of the population, which is never below the number of records.

    >>> from shoal.storage.reading import read
    >>> record_weights(read({"w": [20.5, 3, 20.5]})["w"]).tolist()
    [20.5, 3.0, 20.5]
    """
    if column.nulls:
        raise InputError(f"Weight column '{column.name}' is empty in {column.nulls:,} rows.", _CURE)
    if not column.values.dtype.is_numeric():
        raise InputError(f"Weight column '{column.name}' does not hold numbers.", _CURE)
    values = column.values.cast(pl.Float64).to_numpy()
    if not np.isfinite(values).all():
        raise InputError(f"Weight column '{column.name}' has values that are not finite numbers.", _CURE)
    if (values > MOST_PEOPLE).any():
        raise InputError(
            f"Weight column '{column.name}' has weights above {MOST_PEOPLE:,}: nobody stands for as many people.", _CURE
        )
    if (values < 0).any():
        raise InputError(f"Weight column '{column.name}' has negative numbers.", _CURE)
    if (values == 0).any():
        raise InputError(f"Weight column '{column.name}' is 0 in some rows: such a record stands for nobody.", _CURE)
    weights = np.asarray(values[column.codes])
    # a sum of floats may miss its last digits
    if len(weights) and float(weights.sum()) < len(weights) * (1 - 1e-9):
        raise InputError(
            f"The weights of column '{column.name}' sum to less than the {len(weights):,} records of the sample.",
            "Use weights that sum to the size of the population, not weights scaled to a mean of 1 or below, or take "
            "`weight` out of the policy.",
        )
    return weights


def weight_notes(name: str, weights: Array, household: Codes | None = None) -> list[str]:
    """What is odd about weights that are still used: some under 1, some that vary within a household.

    >>> from shoal.storage.classes import Coded
    >>> weight_notes("w", np.array([0.5, 3.0]), Coded(np.array([0, 0]), 1))
    ["1 weight of column 'w' is under 1: ...", "the weights of column 'w' vary within 1 household: ..."]
    """
    notes = []
    if under := int(np.count_nonzero(weights < 1)):
        what = f"1 weight of column '{name}' is" if under == 1 else f"{under:,} weights of column '{name}' are"
        notes.append(f"{what} under 1: a record stands for at least itself")
    if household is not None and len(weights):
        first = first_row_of_each_class(household.codes, household.cardinality)
        differs = weights != weights[first[household.codes]]
        if varied := len(np.unique(household.codes[differs])):
            which = f"{varied:,} household{'s' if varied > 1 else ''}"
            notes.append(f"the weights of column '{name}' vary within {which}: each record keeps its own")
    return notes
