"""X as scikit-learn hands it over, a frame or an array, as one frame; and whether it came before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from sklearn.utils.validation import check_array

from shoal.errors import InputError
from shoal.reading.frames import batches, column_names, is_frame

Fingerprint = tuple[int, int, int]


def default_names(width: int) -> list[str]:
    """Names of columns that have none, as scikit-learn calls them.

    >>> default_names(2)
    ['x0', 'x1']
    """
    return [f"x{number}" for number in range(width)]


def as_table(X: Any, names: Sequence[str] | None) -> pl.DataFrame:
    """X as a polars frame: NaN is a missing value. `names` are those of an array's columns, where they are known.

    >>> as_table([[1.5, float("nan")], [2.5, 4.0]], None).rows()
    [(1.5, None), (2.5, 4.0)]
    """
    if is_frame(X):
        parts = list(batches(X, column_names(X)))
        return pl.concat(parts) if parts else pl.DataFrame({name: [] for name in column_names(X)})
    array = check_array(X, dtype=None, ensure_all_finite="allow-nan")
    # of another width than the fitted table, which is refused afterwards
    known = list(names) if names is not None and len(names) == array.shape[1] else default_names(array.shape[1])
    return pl.DataFrame([_series(name, array[:, place]) for place, name in enumerate(known)])


def _series(name: str, values: np.ndarray[Any, Any]) -> pl.Series:
    if values.dtype.kind in "fiub":
        wide = values.astype(np.float64) if values.dtype.kind == "f" else np.ascontiguousarray(values)
        return pl.Series(name, wide, nan_to_null=True)
    # a NaN among texts or objects is not equal to itself
    plain = [None if value is None or value != value else value for value in values.tolist()]
    try:
        return pl.Series(name, plain, strict=False) if _mixed(plain) else pl.Series(name, plain)
    except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
        raise InputError(
            f"Column '{name}' mixes types that cannot stand in one column.", "Give it one type first."
        ) from None


def _mixed(values: Sequence[Any]) -> bool:
    """Whether numbers stand beside each other as integers and floats."""
    kinds = {type(value) for value in values if value is not None}
    return kinds <= {int, float}


def fingerprint(table: pl.DataFrame) -> Fingerprint:
    """By which a table is known again, in whatever order its rows are: their number, and two sums of their hashes."""
    sums = [int(table.hash_rows(seed).to_numpy().sum(dtype=np.uint64)) for seed in (1, 2)] if table.width else [0, 0]
    return table.height, sums[0], sums[1]
