"""Rank swapping: values change places with others whose rank is near."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from shoal.compiled import compiled
from shoal.dataclasses import dataclass
from shoal.errors import InputError
from shoal.perturbation.operator import Operator, as_numbers
from shoal.table import Array


@dataclass(frozen=True)
class Swap(Operator):
    """Each value changes places with one at most `share` of the ranks away (Moore 1996).

    The values of the column stay exactly those that were there. Equal values have ranks in random order. Nothing else
    is done to the column: no rare value is averaged away.
    """

    word: ClassVar[str] = "swap"

    share: float

    @property
    def setting(self) -> str:
        """The share of ranks."""
        return f"{100 * self.share:g}%"

    def change(
        self, columns: Sequence[pl.Series], original: Sequence[pl.Series], random: np.random.Generator
    ) -> list[pl.Series]:
        """One column with its values in other rows."""
        series = columns[0]
        there = np.flatnonzero(series.is_not_null().to_numpy())
        window = int(self.share * len(there) + 1e-9)
        if window < 1:
            raise InputError(
                f"{self.setting} of the {len(there):,} values of '{series.name}' is less than one rank.",
                "Use a larger share.",
            )
        order = there[np.lexsort((random.random(len(there)), as_numbers(series)[there]))]
        partner = swap_partners(window, random.random(len(order)))
        rows = np.arange(len(series))
        rows[order] = order[partner]
        return [series.gather(rows)]


def swap_partners(window: int, draws: Array) -> Array:
    """For each rank the rank that it changes places with, at most `window` above or below; itself if none is left.

    From the lowest rank on, each that is still free takes one of the free ranks above it: the first from a random place
    on. `draws` are uniform, one for each rank.

    >>> partner = swap_partners(2, np.array([0.1, 0.9, 0.5, 0.5, 0.2, 0.7]))
    >>> partner.tolist()
    [1, 0, 4, 5, 2, 3]
    """
    return np.asarray(_partners(window, draws))


@compiled
def _partners(window: int, draws: Array) -> Array:
    count = len(draws)
    partner = np.full(count, -1, np.int64)
    for rank in range(count):
        if partner[rank] >= 0:
            continue
        above = min(window, count - 1 - rank)
        start = int(draws[rank] * above)
        partner[rank] = rank
        for step in range(above):
            other = rank + 1 + (start + step) % above
            if partner[other] < 0:
                partner[rank] = other
                partner[other] = rank
                break
    return partner
