"""Sánchez et al., Algorithm S1: masked cells are filled so that a column's known distribution comes out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.ranges.parsing import STAR
from shoal.storage import Array, Column


def regenerate(masked: Array, distribution: Mapping[int, int], seed: int) -> Array:
    """Which value each masked cell gets: for each value in ascending order, as many of the still masked cells.

    `masked` marks the cells; the answer has an entry per cell, -1 where it stays as it was. Fewer cells asked for than
    masked leave the rest masked; more are an error.

    >>> regenerate(np.array([True, False, True]), {1: 1, 4: 1}, seed=0).tolist()
    [1, -1, 4]
    """
    wanted = sum(distribution.values())
    cells = np.flatnonzero(masked)
    if any(count < 0 for count in distribution.values()):
        raise InputError("A distribution cannot ask for fewer than no cells.", "Use counts of zero or more.")
    if wanted > len(cells):
        raise InputError(
            f"The distribution asks for {wanted:,} cells, but {len(cells):,} are masked.", "Lower its counts."
        )
    # drawing the cells of one value after the other without replacement is one shuffle, dealt out in order
    drawn = np.random.default_rng(seed).permutation(cells)[:wanted]
    filled = np.full(len(masked), -1, np.int64)
    filled[drawn] = np.repeat(sorted(distribution), [distribution[value] for value in sorted(distribution)])
    return filled


def fill_column(column: Column, distribution: pl.DataFrame, seed: int) -> tuple[pl.Series, int, int]:
    """Fill the cells of a column that are `*` or null; the column, how many were filled, how many are still masked.

    >>> from shoal.storage.reading import read
    >>> column = read({"race": ["1", "*", None]})["race"]
    >>> fill_column(column, pl.DataFrame({"race": ["2"], "n": [2]}), seed=0)[0].to_list()
    ['1', '2', '2']
    """
    values = column.decode().cast(pl.String)
    masked = (values.is_null() | (values == STAR).fill_null(False)).to_numpy()
    wanted = distribution.sort(distribution.columns[0])
    texts = wanted.to_series(0).cast(pl.String)
    filled = regenerate(masked, dict(enumerate(wanted.to_series(1).to_list())), seed)
    chosen = texts.gather(np.where(filled < 0, 0, filled))
    count = int((filled >= 0).sum())
    return values.zip_with(pl.Series(filled < 0), chosen).alias(column.name), count, int(masked.sum()) - count
