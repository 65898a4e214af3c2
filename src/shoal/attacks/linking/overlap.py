"""Two releases of the same people: which records of one may be which of the other.

Two cells may be of one person where their ranges meet; two records where all their cells do. Each release may keep its
promise alone: linked, what only one of them says is said about both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from shoal.attacks.linking.columns import ReleasedCells
from shoal.attacks.linking.link import MOST_PAIRS, Linkage, ReleasedBoxes
from shoal.errors import InputError
from shoal.ranges.parsing import as_ranges, forms_in
from shoal.releases.readable import Readable
from shoal.storage import Array, Column, Table
from shoal.storage.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.storage.reading import read
from shoal.vocabulary import Generalized, NullRule

# of a class of one release and one of the other, that are compared; and at once
_MOST_COMPARED, _AT_ONCE = 4_000_000_000, 1 << 24


@dataclass(frozen=True)
class Overlap(Linkage):
    """A release against the records of another: its points are the other's distinct records."""

    starts: Array
    listed: Array

    @classmethod
    def between(
        cls,
        released: Readable,
        other: Table,
        on: Mapping[str, str],
        *,
        rule: NullRule = "value",
        generalized: Generalized = "auto",
    ) -> Overlap:
        """Link on released columns, each with the name that it has in the other release.

        >>> from shoal.releases.readable import readable
        >>> first, second = {"age": ["[20;29]", "[30;39]", "*"]}, {"age": ["[25;34]", "[36;44]"]}
        >>> Overlap.between(readable(first), read(second), {"age": "age"}).records.tolist()
        [3.0, 2.0]
        """
        sides = [_side(released.table[name], other[theirs], rule, generalized) for name, theirs in on.items()]
        ours = ReleasedBoxes.of([side[0] for side in sides])
        codes = pack([Coded(side[1].codes, side[1].cardinality) for side in sides])
        point_of_row, points = class_of_each_row(codes)
        first = first_row_of_each_class(point_of_row, points)
        if len(ours.low) * points > _MOST_COMPARED:
            raise InputError(
                f"{len(ours.low):,} classes of one release and {points:,} of the other are too many to compare.",
                "Link on fewer columns, or a part of the second release.",
            )
        ends = [np.stack([side[1].low[side[1].codes[first]], side[1].high[side[1].codes[first]]]) for side in sides]
        low, high = (np.stack([end[place] for end in ends], axis=1) for place in (0, 1))
        starts, listed = _meeting(ours, low, high)
        return cls(ours, low, point_of_row, starts, listed)

    @property
    def by_distance(self) -> bool:
        """Ranges meet or they do not."""
        return False

    @property
    def pairs(self) -> tuple[Array, Array]:
        """The classes that each distinct record of the other release may be in."""
        return self.starts, self.listed

    @cached_property
    def _counted(self) -> tuple[Array, Array]:
        sizes = np.diff(self.starts)
        point = np.repeat(np.arange(len(sizes)), sizes)
        return np.bincount(point, self.boxes.weight[self.listed], minlength=len(sizes)), sizes

    def holds(self, rows: Array, released_rows: Array) -> Array:
        """Whether the ranges of two records meet, pair by pair."""
        boxes, points = self.boxes.box_of_row[released_rows], self.point_of_row[rows]
        width = len(self.boxes.low)
        wide = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.isin(points * width + boxes, wide * width + self.listed)


def is_released(people: Table, on: Mapping[str, str], generalized: Generalized) -> bool:
    """Whether the other file is a release too: one of its columns holds ranges, prefixes, sets or `*`."""
    return any(forms_in(people[name], generalized) for name in on.values())


def _side(
    ours: Column, theirs: Column, rule: NullRule, generalized: Generalized
) -> tuple[ReleasedCells, ReleasedCells]:
    """A column of both releases over the same atoms. A set counts from its first to its last: the safe side."""
    both = pl.concat([one.decode().cast(pl.String) for one in (ours, theirs)])
    ranges = as_ranges(read(pl.DataFrame({ours.name: both}))[ours.name], generalized, rule == "wildcard")
    split = len(ours.codes)
    found = [
        ReleasedCells(ours.name, "fit", codes, ranges.low, ranges.high, ranges.atoms)
        for codes in (ranges.codes[:split], ranges.codes[split:])
    ]
    return found[0], found[1]


def _meeting(ours: ReleasedBoxes, low: Array, high: Array) -> tuple[Array, Array]:
    """Which boxes each point meets, end to end, and where those of each start."""
    counts, listed = np.zeros(len(low), np.int64), []
    step = max(1, _AT_ONCE // max(len(ours.low), 1))
    for start in range(0, len(low), step):
        part = slice(start, min(start + step, len(low)))
        meets = np.ones((part.stop - start, len(ours.low)), bool)
        for column in range(low.shape[1]):
            meets &= ours.low[None, :, column] <= high[part, None, column]
            meets &= low[part, None, column] <= ours.high[None, :, column]
        counts[part] = meets.sum(axis=1)
        listed.append(np.nonzero(meets)[1])
        if counts.sum() > MOST_PAIRS:
            raise InputError(
                "Nearly every record of one release may be every one of the other.", "Link on more columns."
            )
    return np.concatenate([[0], np.cumsum(counts)]), np.concatenate(listed) if listed else np.zeros(0, np.int64)
