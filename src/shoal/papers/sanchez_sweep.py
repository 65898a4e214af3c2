"""Figs S5 and S6: uniques and loss at every pair of resolutions, spatiotemporal by census attributes (Algorithm S3).

Each set of attributes is packed once per resolution; a pair of resolutions is then two keys and two sums of squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shoal import progress
from shoal.anonymization.transforms.coarsen import CutOver, intervals
from shoal.dataclasses import dataclass
from shoal.papers.sanchez_methods import Discharges, disclosed_by
from shoal.ranges.boxed import numbers, spread
from shoal.sample.discharges import CENSUS, SPATIAL, TEMPORAL
from shoal.table import Array, Column, smallest_unsigned
from shoal.table.classes import Coded, class_sizes, pack

# None: as it is
RESOLUTIONS: Mapping[str, int | None] = {"max": None, "32": 32, "16": 16, "8": 8, "4": 4, "2": 2}
COARSENED = ("32", "16", "8", "2")
# rows that stay in the cache while something is done with them
_BLOCK = 1 << 16
MODES: tuple[CutOver, ...] = ("range", "labels")


@dataclass(frozen=True)
class Part:
    """Some columns at one resolution: a key per row, and its squared distance to the farthest corner."""

    key: Coded
    squares: Array


def part(
    columns: Sequence[Column], resolution: int | None, labels: CutOver, spreads: Mapping[str, float] | None = None
) -> Part:
    """Coarsen columns; `spreads` are theirs, where they are known.

    >>> from shoal.reading import read
    >>> found = part(read({"age": [0, 1, 2, 3]}).select(["age"]), 2, "range")
    >>> found.key.codes.tolist(), found.squares.round(2).tolist()
    ([0, 0, 1, 1], [0.6, 0.6, 0.6, 0.6])
    """
    squares = np.zeros(len(columns[0].codes))
    if resolution is None:
        return Part(pack(columns), squares)
    keys: list[Coded] = []
    for column in columns:
        values, sigma = numbers(column), spread(column) if spreads is None else spreads[column.name]
        low, high = intervals(values, resolution, labels)
        which = np.searchsorted(low, values, side="right") - 1
        key = Coded(np.empty(len(squares), smallest_unsigned(len(low))), len(low))
        keys.append(key)
        _spread_over(which.astype(key.codes.dtype), column.codes, key.codes)
        if sigma > 0:
            _add_to(squares, (np.maximum(high[which] - values, values - low[which]) / sigma) ** 2, column.codes)
    return Part(pack(keys), squares)


def _spread_over(of_code: Array, codes: Array, found: Array) -> None:
    """What belongs to the code of each row, block by block."""
    for start in range(0, len(codes), _BLOCK):
        here = slice(start, start + _BLOCK)
        np.take(of_code, codes[here], out=found[here], mode="clip")


def _add_to(total: Array, of_code: Array, codes: Array) -> None:
    """The same, added to what is there."""
    for start in range(0, len(codes), _BLOCK):
        here = slice(start, start + _BLOCK)
        total[here] += np.take(of_code, codes[here], mode="clip")


def sweep(table: Discharges) -> tuple[dict[str, Any], dict[str, Any]]:
    """Uniques and loss by labels and pair of resolutions; and S3 at one resolution for all, with disclosure."""
    spacetime, census = table.select(SPATIAL + TEMPORAL), table.select(CENSUS)
    as_is = part(spacetime, None, "range"), part(census, None, "range")
    found: dict[str, Any] = {}
    coarse: dict[str, Any] = {}
    for place, labels in enumerate(MODES):
        inner = {
            name: as_is[1] if r is None else part(census, r, labels, table.spreads) for name, r in RESOLUTIONS.items()
        }
        uniques, loss = {}, {}
        coarse[labels] = {}
        for number, (first, resolution) in enumerate(RESOLUTIONS.items()):
            progress.report("resolutions", number + place * len(RESOLUTIONS), len(MODES) * len(RESOLUTIONS))
            outer = as_is[0] if resolution is None else part(spacetime, resolution, labels, table.spreads)
            for second, other in inner.items():
                uniques[f"{first},{second}"] = int(np.count_nonzero(class_sizes([outer.key, other.key]) == 1))
                loss[f"{first},{second}"] = _loss(outer, other, len(table.columns))
            if first in COARSENED:
                figures = disclosed_by(table, [outer.key, inner[first].key])
                coarse[labels][first] = {**figures, "information_loss": loss[f"{first},{first}"]}
        found[labels] = {"uniques": uniques, "information_loss": loss}
    return found, coarse


def _loss(one: Part, other: Part, columns: int) -> float:
    """Eqs 3-4, from both sums of squares."""
    total = one.squares + other.squares
    return float(np.sqrt(total, out=total).sum()) / (len(total) * columns)
