"""Sánchez et al., Algorithm S1: masked cells are filled so that a column's known distribution comes out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shoal.errors import InputError
from shoal.table import Array


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
