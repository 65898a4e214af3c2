"""Released records as boxes: one range per column. Which boxes lie in others, which match, which are unique.

Uniqueness (Sánchez et al., Eq 1): a record is non-unique if every point of its box lies in the box of another record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations

import numpy as np

from shoal import progress
from shoal.classes import Coded, CountTable, class_of_each_row, pack
from shoal.errors import InputError
from shoal.generalized import RangeColumn
from shoal.table import Array, Column

# Work caps: past them a record counts as unique (the safe side) and is reported as undecided.
MOST_LOOKUPS = 4_000_000_000
MOST_OVERLAP_TESTS = 4_000_000_000
MOST_PIECES_PER_RECORD = 20_000
MOST_LEVEL_CELLS = 100_000_000
# Points of a box that are tried before the exact test: one that nobody else covers proves uniqueness.
_WITNESSES = 6


@dataclass(frozen=True)
class Fitting:
    """The distinct boxes: records of each, and whether a record in it is unique or undecided."""

    box_of_row: Array
    records: Array
    unique: Array
    undecided: Array


def fit(columns: Sequence[RangeColumn], weights: Array | None = None) -> Fitting:
    """Decide Eq 1 for every record.

    Identical boxes cover each other; a box inside another is covered; a point that nobody covers proves that a
    box is unique; what is left is decided by subtracting boxes.

    >>> from shoal.generalized import as_ranges
    >>> from shoal.table import Table
    >>> table = Table.of({"age": ["[20;29]", "25", "31"]})
    >>> found = fit([as_ranges(table["age"], "auto", False)])
    >>> found.unique[found.box_of_row].tolist()
    [True, False, True]
    """
    box_of_row, count = class_of_each_row(pack(columns))
    records = np.bincount(box_of_row, weights=weights, minlength=count).astype(np.int64)
    alone = np.flatnonzero(records == 1)
    unique, undecided = np.zeros(count, bool), np.zeros(count, bool)
    unique[alone] = undecided[alone] = True
    boxes = _Boxes.of(columns, box_of_row, count) if len(alone) else None
    if boxes is not None and len(boxes.patterns) * len(alone) * (1 + _WITNESSES) <= MOST_LOOKUPS:
        inside = boxes.inside_another(alone)
        unique[alone[inside]] = undecided[alone[inside]] = False
        alone = alone[~inside]
        undecided[alone] = boxes.covered_at_witnesses(alone)
        for box in _affordable(np.flatnonzero(undecided), len(boxes), len(columns)):
            covered = boxes.covered_by_others(box)
            unique[box], undecided[box] = covered is not True, covered is None
    return Fitting(box_of_row, records, unique, undecided)


def _affordable(boxes: Array, count: int, columns: int) -> Iterator[int]:
    """As many boxes as the cap on overlap tests allows."""
    most = MOST_OVERLAP_TESTS // max(count * columns, 1)
    for number, box in enumerate(boxes[:most].tolist()):
        progress.report("fitting boxes", number, len(boxes))
        yield box


@dataclass(frozen=True)
class Matching:
    """The distinct tuples: records of each, and how many records match it where null matches everything."""

    records: Array
    matches: Array


def match(columns: Sequence[Column], weights: Array | None = None) -> Matching:
    """Count for every record the records that agree with it in all columns where neither is null.

    Matching is not transitive: (1, null) matches (1, 2) and (1, 3), which do not match each other. Tuples with nulls
    in the same columns form a pattern; two patterns are joined on the columns that are known in both.

    >>> from shoal.table import Table
    >>> table = Table.of({"a": [1, 1, 1], "b": [2, 3, None]})
    >>> match(table.select(["a", "b"])).matches.tolist()
    [2, 2, 3]
    """
    tuples = CountTable.of({column.name: column for column in columns}, weights)
    known = np.stack([tuples.tuples[column.name].codes < len(column.values) for column in columns], axis=1)
    patterns, pattern_of = np.unique(known, axis=0, return_inverse=True)
    if len(patterns) * len(tuples) > MOST_LOOKUPS // 8:
        raise InputError(
            f"Missing values fall into {len(patterns):,} patterns over {len(tuples):,} tuples: too many to match.",
            "Use --null-rule value or drop, or fewer quasi-identifiers.",
        )
    rows_of = [np.flatnonzero(pattern_of.reshape(-1) == number) for number in range(len(patterns))]
    matches = tuples.counts.astype(np.int64)
    for first, second in combinations(range(len(patterns)), 2):
        progress.report("matching", first, len(patterns))
        ours, theirs = rows_of[first], rows_of[second]
        shared = [column.name for column, both in zip(columns, patterns[first] & patterns[second], strict=True) if both]
        group, groups = _same_on(tuples, shared, np.concatenate([ours, theirs]))
        group_of_ours, group_of_theirs = group[: len(ours)], group[len(ours) :]
        records_of_ours = np.bincount(group_of_ours, tuples.counts[ours], groups)
        records_of_theirs = np.bincount(group_of_theirs, tuples.counts[theirs], groups)
        matches[ours] += records_of_theirs[group_of_ours].astype(np.int64)
        matches[theirs] += records_of_ours[group_of_theirs].astype(np.int64)
    return Matching(tuples.counts, matches)


def _same_on(tuples: CountTable, names: list[str], rows: Array) -> tuple[Array, int]:
    """Groups of rows that agree on these columns; on no column all agree."""
    if not names:
        return np.zeros(len(rows), np.int64), 1
    return class_of_each_row(
        pack([Coded(tuples.tuples[name].codes[rows], tuples.tuples[name].cardinality) for name in names])
    )


@dataclass(frozen=True)
class _Boxes:
    """Distinct boxes: per column the code of its range, and per box its pattern.

    The ranges of a column are dealt to levels so that those of one level are disjoint. Then a value lies in at most
    one range of a level, and a box in at most one box of a *pattern*, a level per column: containment is a look-up.
    """

    columns: tuple[_Levels, ...]
    codes: tuple[Array, ...]
    patterns: Array  # distinct patterns, one row each
    pattern_of: Array

    @classmethod
    def of(cls, columns: Sequence[RangeColumn], box_of_row: Array, count: int) -> _Boxes | None:
        """The boxes of rows; None where ranges overlap so much that the levels would not fit into memory."""
        first = np.empty(count, np.int64)
        first[box_of_row[::-1]] = np.arange(len(box_of_row))[::-1]
        codes = tuple(column.codes[first].astype(np.int64) for column in columns)
        dealt = [_deal(column) for column in columns]
        if (
            sum(column.atoms * (int(level_of.max()) + 1) for column, level_of in zip(columns, dealt, strict=True))
            > MOST_LEVEL_CELLS
        ):
            return None
        levels = tuple(_Levels.of(column, level_of) for column, level_of in zip(columns, dealt, strict=True))
        by_box = np.stack([level.level_of[code] for level, code in zip(levels, codes, strict=True)], axis=1)
        patterns, pattern_of = np.unique(by_box, axis=0, return_inverse=True)
        return cls(levels, codes, patterns, pattern_of.reshape(-1))

    def __len__(self) -> int:
        return len(self.pattern_of)

    def inside_another(self, boxes: Array) -> Array:
        """Which of these boxes, each held by one record, lie inside one other box."""
        sought = [codes[boxes] for codes in self.codes]
        return self._found(boxes, [level.around_range(code) for level, code in zip(self.columns, sought, strict=True)])

    def covered_at_witnesses(self, boxes: Array) -> Array:
        """Which of these boxes have every tried point covered by another box; single points are tried whole."""
        alive = self._size(boxes) > 1  # a single point that lies in no other box is unique
        for number in range(_WITNESSES):
            left = np.flatnonzero(alive)
            atoms = [
                level.witness(code[boxes[left]], number) for level, code in zip(self.columns, self.codes, strict=True)
            ]
            around = [level.around_atom(atom) for level, atom in zip(self.columns, atoms, strict=True)]
            alive[left] = self._found(boxes[left], around)
        return alive

    def _size(self, boxes: Array) -> Array:
        size = np.ones(len(boxes))
        for level, code in zip(self.columns, self.codes, strict=True):
            size *= level.size[code[boxes]]
        return size

    def _found(self, boxes: Array, around: list[list[Array]]) -> Array:
        """Whether a box of another pattern exists with these ranges; around[column][level] has a code or -1."""
        found = np.zeros(len(boxes), bool)
        for number, pattern in enumerate(self.patterns):
            progress.report("fitting boxes", number, len(self.patterns))
            # within its own pattern a box lies in itself only
            left = np.flatnonzero(~found & (self.pattern_of[boxes] != number))
            sought = [column[level] for column, level in zip(around, pattern, strict=True)]
            for codes in sought:
                left = left[codes[left] >= 0]
            if not len(left):
                continue
            held = np.flatnonzero(self.pattern_of == number)
            keys = pack(
                [
                    Coded(np.concatenate([mine[held], codes[left]]), len(level.size))
                    for mine, codes, level in zip(self.codes, sought, self.columns, strict=True)
                ]
            ).codes
            found[left] = np.isin(keys[len(held) :], keys[: len(held)])
        return found

    def covered_by_others(self, box: int) -> bool | None:
        """Whether the other boxes together cover this one; None if the work cap is reached."""
        rows = np.flatnonzero(np.arange(len(self)) != box)
        for level, codes in zip(self.columns, self.codes, strict=True):
            rows = rows[
                (level.low[codes[rows]] <= level.high[codes[box]]) & (level.high[codes[rows]] >= level.low[codes[box]])
            ]
        others = [piece for row in rows.tolist() for piece in self._pieces(row)]
        budget = [MOST_PIECES_PER_RECORD]
        try:
            return all(_covered(piece, others, budget) for piece in self._pieces(box))
        except _TooMuchWork:
            return None

    def _pieces(self, box: int) -> list[_Box]:
        """A box with sets as several plain boxes."""
        pieces: list[_Box] = [()]
        for level, codes in zip(self.columns, self.codes, strict=True):
            pieces = [(*piece, part) for piece in pieces for part in level.parts(int(codes[box]))]
        return pieces


@dataclass(frozen=True)
class _Levels:
    """The ranges of a column dealt to levels of disjoint ranges; each set that is not one range has its own level."""

    low: Array
    high: Array
    size: Array
    level_of: Array
    # per level: the range around each atom, -1 where none; for a set its last atom does not bound it
    around: tuple[Array, ...]
    pieces: dict[int, list[tuple[int, int]]]

    @classmethod
    def of(cls, column: RangeColumn, level_of: Array) -> _Levels:
        levels = int(level_of.max(initial=0)) + 1
        around = []
        for level in range(levels):
            edges = np.full(column.atoms, -1, np.int64)
            for code in np.flatnonzero(level_of == level).tolist() if level else ():
                for low, high in column.pieces.get(code, [(int(column.low[code]), int(column.high[code]))]):
                    edges[low : high + 1] = code
            if level == 0:
                points = np.flatnonzero(level_of == 0)
                edges[column.low[points]] = points
            around.append(edges)
        size = (column.high - column.low + 1).astype(np.float64)
        for code, parts in column.pieces.items():
            size[code] = sum(high - low + 1 for low, high in parts)
        return cls(column.low, column.high, size, level_of, tuple(around), column.pieces)

    def parts(self, code: int) -> list[tuple[int, int]]:
        return self.pieces.get(code, [(int(self.low[code]), int(self.high[code]))])

    def around_atom(self, atoms: Array) -> list[Array]:
        """Per level, the range that holds each atom, or -1."""
        return [edges[atoms] for edges in self.around]

    def around_range(self, codes: Array) -> list[Array]:
        """Per level, the range that holds all of each range, or -1."""
        return [self._containing(edges)[codes] for edges in self.around]

    def _containing(self, edges: Array) -> Array:
        """For every range of the column, the range of a level that contains it, or -1."""
        found = edges[self.low]
        # all atoms from low to high have the same owner: no change of owner in between
        changes = np.concatenate([[0], np.cumsum(edges[1:] != edges[:-1])])
        found = np.where(changes[self.high] == changes[self.low], found, -1)
        for code, parts in self.pieces.items():
            owners = {int(owner) for low, high in parts for owner in np.unique(edges[low : high + 1])}
            found[code] = owners.pop() if len(owners) == 1 else -1
        return found

    def witness(self, codes: Array, number: int) -> Array:
        """A point of each range: its ends first, then points that differ from column to column."""
        if number < 2:
            return self.low[codes] if number == 0 else self.high[codes]
        spread = (codes * 2654435761 + number * 40503) % (self.high[codes] - self.low[codes] + 1)
        atoms = self.low[codes] + spread
        for code in self.pieces:  # a point between the pieces of a set is not in it
            atoms[codes == code] = self.low[code]
        return np.asarray(atoms)


def _deal(column: RangeColumn) -> Array:
    """A level for each range: points level 0, nested ranges one level per depth, sets one each."""
    level_of = np.zeros(len(column.low), np.int64)
    wide = np.flatnonzero(column.high > column.low)
    wide = np.array([code for code in wide.tolist() if code not in column.pieces], np.int64)
    order = wide[np.lexsort((-column.high[wide], column.low[wide]))]
    free: list[int] = []  # levels whose last range has ended
    busy: list[tuple[int, int]] = []  # (end, level)
    levels = 0
    for code in order.tolist():
        while busy and busy[0][0] < column.low[code]:
            heappush(free, heappop(busy)[1])
        if free:
            level = heappop(free)
        else:
            levels += 1
            level = levels
        level_of[code] = level
        heappush(busy, (int(column.high[code]), level))
    for code in column.pieces:
        levels += 1
        level_of[code] = levels
    return level_of


_Box = tuple[tuple[int, int], ...]


class _TooMuchWork(Exception):
    """The cap on the pieces of one record is reached."""


def _covered(box: _Box, others: list[_Box], budget: list[int]) -> bool:
    """Whether the union of `others` covers `box`: subtract the largest overlap, ask again for each slab left."""
    near = []
    for other in others:
        overlap = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(box, other, strict=True))
        if all(low <= high for low, high in overlap):
            if overlap == box:
                return True
            near.append(overlap)
    if not near:
        return False
    budget[0] -= len(near)
    if budget[0] < 0:
        raise _TooMuchWork
    largest = max(near, key=_volume)
    return all(_covered(slab, near, budget) for slab in _minus(box, largest))


def _volume(box: _Box) -> int:
    volume = 1
    for low, high in box:
        volume *= high - low + 1
    return volume


def _minus(box: _Box, hole: _Box) -> Iterator[_Box]:
    """The box without a hole inside it, as disjoint slabs."""
    for axis, ((low, high), (first, last)) in enumerate(zip(box, hole, strict=True)):
        before, after = box[:axis], box[axis + 1 :]
        if low < first:
            yield (*before, (low, first - 1), *after)
        if last < high:
            yield (*before, (last + 1, high), *after)
        box = (*before, (first, last), *after)
