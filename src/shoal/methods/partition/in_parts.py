"""Cutting a table that nobody holds whole: parts that one worker holds, from counts of coarse cells.

Each column is cut into bins of about as many records, most bins where most spread is left, and the records of every
cell of bins are counted where the rows are. The cells are cut in two where the sum of squares falls most, until a part
has few enough records; a part that is still too large has cells of its own, which are counted next. Every count is
exact, so that every part has at least k records. Groups of different parts never exchange records, which costs little:
parts are thousands of groups large.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from shoal.engine.base import CellsOf
from shoal.errors import InputError
from shoal.ranges.hierarchy.on_columns import PairCounts
from shoal.storage import Array, Column, Table

# records of a part at most, where cuts can tell them apart
PART = 1 << 20
# cells that are counted at once, and bins of a column at most, as powers of two
_CELLS, _BINS = 16, 6
# of a part that is cut no side is less than this share of what a part may have, while that can be
_SLIVER = 8

# the cells in which rows are, and the records of each
Tally: TypeAlias = "Callable[[CellsOf], tuple[Array, Array]]"


@dataclass(frozen=True)
class CutCells:
    """Cells of bins: `bins[c]` has the bin of each code of column c; the part of each cell, and what parts it anew."""

    bins: Sequence[Array]
    cells: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    parts: Array = field(default_factory=lambda: np.zeros(1, np.int64))
    inner: Mapping[int, CellsOf] = field(default_factory=dict)

    def cell(self, columns: Sequence[Column]) -> Array:
        """The cell of each row."""
        found = np.zeros(len(columns[0].codes), np.int64)
        for column, bins in zip(columns, self.bins, strict=True):
            found *= int(bins.max(initial=0)) + 1
            found += bins[column.codes]
        return found

    def __call__(self, columns: Sequence[Column]) -> Array:
        """The part of each row."""
        found = self.parts[np.searchsorted(self.cells, self.cell(columns))]
        for part, cells in self.inner.items():
            rows = np.flatnonzero(found == part)
            found[rows] = cells([column.take(rows) for column in columns])
        return found


@dataclass(frozen=True)
class Dealt:
    """Rows dealt out to several parts: those that no cut tells apart, or need not be."""

    first: int
    parts: int

    def __call__(self, columns: Sequence[Column]) -> Array:
        """The part of each row."""
        return self.first + np.arange(len(columns[0].codes)) % self.parts


@dataclass(frozen=True)
class _Inside:
    """What is asked of the rows of one part."""

    cells: CutCells
    part: int
    asked: CellsOf

    def __call__(self, columns: Sequence[Column]) -> Array:
        rows = np.flatnonzero(self.cells(columns) == self.part)
        return self.asked([column.take(rows) for column in columns])


@dataclass(frozen=True)
class _Codes:
    """Every code of every row, one column behind the other."""

    starts: Sequence[int]

    def __call__(self, columns: Sequence[Column]) -> Array:
        codes = [column.codes.astype(np.int64) + start for column, start in zip(columns, self.starts, strict=True)]
        return np.concatenate(codes)


@dataclass(frozen=True)
class _Pairs:
    """The code of one column beside the group of the values of each other column."""

    place: int
    groups: Sequence[tuple[int, Array, int, int]]

    def __call__(self, columns: Sequence[Column]) -> Array:
        codes = columns[self.place].codes.astype(np.int64)
        return np.concatenate(
            [start + codes * many + group[columns[place].codes] for place, group, many, start in self.groups]
        )


def pair_counts(table: Table, names: Sequence[str]) -> PairCounts:
    """How values go together in rows that are elsewhere."""

    def counts(column: Column, others: Sequence[tuple[Column, Array, int]]) -> list[Array]:
        starts = np.cumsum([0, *((len(column.values) + 1) * groups for _, _, groups in others)]).tolist()
        asked = [
            (names.index(other.name), group, groups, start)
            for (other, group, groups), start in zip(others, starts[:-1], strict=True)
        ]
        cells, records = table.elsewhere.counted(_Pairs(names.index(column.name), asked))
        every = np.zeros(starts[-1], np.int64)
        every[cells] = records
        return [every[low:high] for low, high in pairwise(starts)]

    return counts


def cut_into_parts(
    tables: Sequence[Array],
    records: Sequence[Array],
    tally: Tally,
    k: int,
    most: int = PART,
    first: int = 0,
    anew: bool = False,
) -> tuple[CellsOf, int]:
    """Parts of at least k records, and at most about `most`, numbered from `first` on; and the number after the last.

    `tables` have where each code of a column lies, `records` how many have it.

    >>> codes = [np.array([0, 0, 1, 1, 2, 2, 2])]
    >>> def tally(cells): return np.unique(cells([Column("age", codes[0], None, 0, None)]), return_counts=True)
    >>> cut, parts = cut_into_parts([np.array([1.0, 2.0, 9.0])], [np.array([2, 2, 3])], tally, 2, 4)
    >>> parts, cut([Column("age", codes[0], None, 0, None)]).tolist()
    (2, [0, 0, 0, 0, 1, 1, 1])
    """
    bins = _bins(tables, records)
    coarse = CutCells(bins)
    cells, counts = tally(coarse.cell)
    points, rest = [], cells
    for table, own, of_bin in zip(tables[::-1], records[::-1], bins[::-1], strict=True):
        radix = int(of_bin.max(initial=0)) + 1
        middle = np.bincount(of_bin, table * own, radix) / np.maximum(np.bincount(of_bin, own, radix), 1)
        points.append(middle[rest % radix])
        rest = rest // radix
    parts = upper_cuts(np.stack(points, axis=1), counts, most, k)
    sizes = np.bincount(parts, counts).astype(np.int64)
    if len(sizes) > 1 and int(sizes.min()) < k:
        raise InputError("A part of the table has fewer than k records.", "Run it again, or choose another method.")
    if anew and len(sizes) == 1:  # finer cells tell no more
        several = -(-int(sizes[0]) // most)
        return Dealt(first, several), first + several
    last, inner = first + len(sizes), dict[int, CellsOf]()
    cut = CutCells(bins, cells, parts + first)
    for part in (np.flatnonzero(sizes > 2 * most) + first).tolist():
        inner[part], last = _anew(tables, tally, cut, part, k, most, last)
    return CutCells(bins, cells, parts + first, inner), last


def _anew(
    tables: Sequence[Array], tally: Tally, cut: CutCells, part: int, k: int, most: int, first: int
) -> tuple[CellsOf, int]:
    """A part that is too large by finer cells of its own."""
    starts = np.cumsum([0, *(len(table) for table in tables)]).tolist()
    keys, counts = tally(_Inside(cut, part, _Codes(starts[:-1])))
    every = np.zeros(starts[-1], np.int64)
    every[keys] = counts
    records = [every[low:high] for low, high in pairwise(starts)]
    return cut_into_parts(tables, records, lambda asked: tally(_Inside(cut, part, asked)), k, most, first, True)


def _bins(tables: Sequence[Array], records: Sequence[Array]) -> list[Array]:
    """The bin of each code of every column: a column is cut in twice as many while that lowers the spread most."""
    columns = list(zip(tables, records, strict=True))
    choices = [[_cut_evenly(table, own, 1 << bits) for bits in range(_BINS + 1)] for table, own in columns]
    left = [
        [_spread_left(table, own, bins) for bins in of_column]
        for (table, own), of_column in zip(columns, choices, strict=True)
    ]
    bits = [0] * len(tables)
    for _ in range(_CELLS):
        gains = [left[c][at] - left[c][at + 1] if at < _BINS else 0.0 for c, at in enumerate(bits)]
        best = int(np.argmax(gains))
        if gains[best] <= 0:
            break
        bits[best] += 1
    return [of_column[at] for of_column, at in zip(choices, bits, strict=True)]


def _cut_evenly(table: Array, records: Array, count: int) -> Array:
    """The bin of each code: so many runs along the line, of about as many records each; what lies alike stays so."""
    _, place = np.unique(table, return_inverse=True)
    sizes = np.bincount(place, records)
    middle = np.cumsum(sizes) - sizes / 2
    which = (middle * count / max(sizes.sum(), 1)).astype(np.int64)
    return np.unique(which, return_inverse=True)[1].ravel()[place]


def _spread_left(table: Array, records: Array, bins: Array) -> float:
    totals = np.maximum(np.bincount(bins, records), 1)
    means = np.bincount(bins, records * table) / totals
    return float((records * (table - means[bins]) ** 2).sum())


def upper_cuts(points: Array, records: Array, most: int, least: int) -> Array:
    """The part of each point: cut in two where the sum of squares falls most, until a part has at most `most` records.

    gain = n_left n_right / n (mean_left - mean_right)^2, over every cut between two values that leaves `least` on
    either side, and no sliver where that can be. Points that no cut can tell apart stay together.

    >>> upper_cuts(np.array([[1.0], [9.0], [2.0]]), np.array([2, 2, 2]), 4, 2).tolist()
    [0, 1, 0]
    """
    part_of_point, parts = np.zeros(len(points), np.int64), 0
    waiting = [np.arange(len(points))]
    while waiting:
        some, side = waiting.pop(), None
        if records[some].sum() > most:
            for enough in (max(least, most // _SLIVER), least):
                side = _best_side(points[some], records[some], enough) if side is None else side
        if side is None:
            part_of_point[some] = parts
            parts += 1
        else:
            waiting += [some[~side], some[side]]
    return part_of_point


def _best_side(points: Array, records: Array, least: int) -> Array | None:
    """Which points lie below the best cut; None where there is none."""
    total, best, found = int(records.sum()), 0.0, None
    for column in points.T:
        values, code = np.unique(column, return_inverse=True)
        counts = np.bincount(code, records, len(values))
        below, summed = np.cumsum(counts)[:-1], np.cumsum(counts * values)
        above = total - below
        with np.errstate(divide="ignore", invalid="ignore"):
            apart = summed[:-1] / below - (summed[-1] - summed[:-1]) / above
            gain = np.where((below >= least) & (above >= least), below * above / total * apart**2, -1.0)
        if len(gain) and gain.max() > best:
            best, found = float(gain.max()), code <= int(gain.argmax())
    return found
