"""Released records as boxes: one range per column. Which boxes lie in others, which match, which are unique.

Uniqueness (Sánchez et al., Eq 1): a record is non-unique if every point of its box lies in the box of another record.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from typing import NamedTuple

import numpy as np

from shoal import progress
from shoal.errors import InputError, Message
from shoal.ranges.parsing import RangeColumn
from shoal.storage import Array, Column
from shoal.storage.classes import Coded, CountTable, class_of_each_row, first_row_of_each_class, pack

# Work caps: past them a record counts as unique (the safe side) and is reported as undecided.
MOST_LOOKUPS = 4_000_000_000
MOST_OVERLAP_TESTS = 1_500_000_000
MOST_CELLS_PER_RECORD = 10_000_000
MOST_LEVEL_CELLS = 100_000_000
# Points of a box that are tried before the exact test: one that nobody else covers proves uniqueness.
_WITNESSES = 6


class Fitting(NamedTuple):
    """The distinct boxes: records of each, and whether a record in it is unique or undecided."""

    box_of_row: Array
    records: Array
    unique: Array
    undecided: Array


def fit(columns: Sequence[RangeColumn], weights: Array | None = None) -> Fitting:
    """Decide Eq 1 for every record.

    Identical boxes cover each other; a box inside another is covered; a point that nobody covers proves that a
    box is unique; what is left is decided on the grid of all ends.

    >>> from shoal.ranges.parsing import as_ranges
    >>> from shoal.storage.reading import read
    >>> table = read({"age": ["[20;29]", "25", "31"]})
    >>> found = fit([as_ranges(table["age"], "auto", False)])
    >>> found.unique[found.box_of_row].tolist()
    [True, False, True]
    """
    columns = [_equal_ranges_as_one(column) for column in columns]
    box_of_row, count = class_of_each_row(pack(columns))
    records = np.bincount(box_of_row, weights=weights, minlength=count).astype(np.int64)
    alone = np.flatnonzero(records == 1)
    unique, undecided = np.zeros(count, bool), np.zeros(count, bool)
    unique[alone] = undecided[alone] = True
    boxes = _Boxes.of(columns, box_of_row, count) if len(alone) else None
    if boxes is not None:
        inside, tested = boxes.inside_another(alone)
        unique[alone[inside]] = undecided[alone[inside]] = False
        alone = alone[tested & ~inside]
        undecided[alone] = boxes.covered_at_witnesses(alone)
        for box in _affordable(np.flatnonzero(undecided), len(boxes), len(columns)):
            covered = boxes.covered_by_others(box)
            unique[box], undecided[box] = covered is not True, covered is None
    return Fitting(box_of_row, records, unique, undecided)


def _equal_ranges_as_one(column: RangeColumn) -> RangeColumn:
    """Texts that mean the same range (`5` and `[5;5]`) cover each other: here, and only here, they are one."""
    numbers: dict[tuple[tuple[int, int], ...], int] = {}
    which_set = np.zeros(len(column.low), np.int64)
    for index, parts in column.pieces.items():
        which_set[index] = numbers.setdefault(tuple(parts), len(numbers) + 1)
    keys = [Coded(column.low, column.atoms), Coded(column.high, column.atoms), Coded(which_set, len(numbers) + 1)]
    codes, count = class_of_each_row(pack(keys))
    if count == len(codes):
        return column
    first = first_row_of_each_class(codes, count)
    pieces = {int(codes[index]): parts for index, parts in column.pieces.items()}
    narrow = codes.astype(np.min_scalar_type(max(count - 1, 0)))
    return replace(column, codes=narrow[column.codes], low=column.low[first], high=column.high[first], pieces=pieces)


def _affordable(boxes: Array, count: int, columns: int) -> Iterator[int]:
    """As many boxes as the cap on overlap tests allows."""
    most = MOST_OVERLAP_TESTS // max(count * columns, 1)
    for number, box in enumerate(boxes[:most].tolist()):
        progress.report("fitting boxes", number, len(boxes))
        yield box


class Matching(NamedTuple):
    """The distinct tuples: records of each, and how many records match it where null matches everything."""

    records: Array
    matches: Array


def match(columns: Sequence[Column], weights: Array | None = None) -> Matching:
    """Count for every record the records that agree with it in all columns where neither is null.

    Matching is not transitive: (1, null) matches (1, 2) and (1, 3), which do not match each other. Tuples with nulls
    in the same columns form a pattern; two patterns are joined on the columns that are known in both.

    >>> from shoal.storage.reading import read
    >>> table = read({"a": [1, 1, 1], "b": [2, 3, None]})
    >>> match(table.select(["a", "b"])).matches.tolist()
    [2, 2, 3]
    """
    tuples = CountTable.of({column.name: column for column in columns}, weights)
    known = np.stack([tuples.tuples[column.name].codes < len(column.values) for column in columns], axis=1)
    return Matching(tuples.counts, match_tuples(list(tuples.tuples.values()), known, tuples.counts))


def match_tuples(columns: Sequence[Coded], known: Array, counts: Array, alpha: float = 1.0) -> Array:
    """The records that match each tuple: those that agree wherever both are `known[tuple, column]`.

    Tuples that are known in the same columns must differ there. A record of another tuple that is not known in every
    column counts as `alpha` of one (sdcMicro's alpha): it may be somebody else. Counts may be weights of records.

    >>> a, b = Coded(np.array([0, 0, 0]), 1), Coded(np.array([0, 1, 2]), 3)
    >>> match_tuples([a, b], np.array([[True, True], [True, True], [True, False]]), np.array([1, 5, 1])).tolist()
    [2, 6, 7]
    >>> match_tuples([a, b], np.array([[True, True], [True, True], [True, False]]), np.array([1, 5, 1]), 0.5).tolist()
    [1.5, 5.5, 7.0]
    """
    patterns, pattern_of = np.unique(known, axis=0, return_inverse=True)
    if len(patterns) * len(counts) > MOST_LOOKUPS // 8:
        raise InputError(
            f"Missing values fall into {len(patterns):,} patterns over {len(counts):,} tuples: too many to match.",
            Message("Use `{null_rule}` value or drop, or fewer quasi-identifiers."),
        )
    rows_of = [np.flatnonzero(pattern_of.reshape(-1) == number) for number in range(len(patterns))]
    whole = alpha == 1 and np.issubdtype(counts.dtype, np.integer)
    matches = counts.astype(np.int64 if whole else np.float64)
    share = np.where(patterns.all(axis=1), 1.0, alpha)
    for first, second in combinations(range(len(patterns)), 2):
        progress.report("matching", first, len(patterns))
        ours, theirs = rows_of[first], rows_of[second]
        shared = [column for column, both in zip(columns, patterns[first] & patterns[second], strict=True) if both]
        group, groups = _same_on(shared, np.concatenate([ours, theirs]))
        group_of_ours, group_of_theirs = group[: len(ours)], group[len(ours) :]
        records_of_ours = np.bincount(group_of_ours, counts[ours], groups)
        records_of_theirs = np.bincount(group_of_theirs, counts[theirs], groups)
        matches[ours] += (share[second] * records_of_theirs[group_of_ours]).astype(matches.dtype)
        matches[theirs] += (share[first] * records_of_ours[group_of_theirs]).astype(matches.dtype)
    return matches


def like_rows(columns: Sequence[Coded], known: Array, counts: Array | None = None, matching: bool = True) -> Array:
    """The records that match each row in what is `known` of both, or with the same known in the same columns; a row
    stands for one record, or for as many as it `counts`.

    >>> a, known = Coded(np.array([0, 0, 1]), 2), np.array([[True], [True], [False]])
    >>> like_rows([a], known).tolist(), like_rows([a], known, matching=False).tolist()
    ([3, 3, 3], [2, 2, 1])
    """
    shown = [
        Coded(np.where(there, column.codes, 0), column.cardinality)
        for column, there in zip(columns, known.T, strict=True)
    ]
    which, count = class_of_each_row(pack([*shown, *(Coded(there.astype(np.int64), 2) for there in known.T)]))
    records = np.bincount(which, counts, count).astype(np.int64)
    if matching:
        first = first_row_of_each_class(which, count)
        tuples = [Coded(column.codes[first], column.cardinality) for column in shown]
        records = match_tuples(tuples, known[first], records)
    return records[which]


def _same_on(columns: Sequence[Coded], rows: Array) -> tuple[Array, int]:
    """Groups of rows that agree on these columns; on no column all agree."""
    if not columns:
        return np.zeros(len(rows), np.int64), 1
    return class_of_each_row(pack([Coded(column.codes[rows], column.cardinality) for column in columns]))


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
    def of(cls, columns: Sequence[RangeColumn], box_of_row: Array, count: int) -> _Boxes:
        """The boxes of rows."""
        first = first_row_of_each_class(box_of_row, count)
        codes = tuple(column.codes[first].astype(np.int64) for column in columns)
        levels = tuple(_Levels.of(column) for column in columns)
        by_box = np.stack([level.level_of[code] for level, code in zip(levels, codes, strict=True)], axis=1)
        patterns, pattern_of = np.unique(by_box, axis=0, return_inverse=True)
        return cls(levels, codes, patterns, pattern_of.reshape(-1))

    def __len__(self) -> int:
        return len(self.pattern_of)

    def inside_another(self, boxes: Array) -> tuple[Array, Array]:
        """Which of these boxes, each held by one record, lie inside one other box; and which could be tested."""
        if not self._has_few_patterns(len(boxes)):
            return self._inside_another_directly(boxes)
        around = [level.around_range(code[boxes]) for level, code in zip(self.columns, self.codes, strict=True)]
        return self._found(boxes, around), np.ones(len(boxes), bool)

    def _has_few_patterns(self, boxes: int) -> bool:
        cells = sum(len(level.edges) * level.atoms for level in self.columns)
        return len(self.patterns) * boxes * (1 + _WITNESSES) <= MOST_LOOKUPS and cells <= MOST_LEVEL_CELLS

    def _inside_another_directly(self, boxes: Array) -> tuple[Array, Array]:
        """Where ranges overlap in too many ways for look-ups: each box against all others, up to the cap."""
        inside, tested = np.zeros(len(boxes), bool), np.zeros(len(boxes), bool)
        low = [level.low[code] for level, code in zip(self.columns, self.codes, strict=True)]
        high = [level.high[code] for level, code in zip(self.columns, self.codes, strict=True)]
        for place in range(min(len(boxes), MOST_OVERLAP_TESTS // max(len(self) * 2, 1))):
            progress.report("fitting boxes", place, len(boxes))
            box = boxes[place]
            rows = np.flatnonzero((low[0] <= low[0][box]) & (high[0] >= high[0][box]))
            for first, last in zip(low[1:], high[1:], strict=True):
                rows = rows[(first[rows] <= first[box]) & (last[rows] >= last[box])]
            inside[place] = any(self._contains(row, int(box)) for row in rows.tolist() if row != box)
            tested[place] = True
        return inside, tested

    def _contains(self, outer: int, inner: int) -> bool:
        """Whether a box holds another, sets piece by piece."""
        for level, codes in zip(self.columns, self.codes, strict=True):
            held = level.parts(int(codes[outer]))
            if not all(any(a <= c and d <= b for a, b in held) for c, d in level.parts(int(codes[inner]))):
                return False
        return True

    def covered_at_witnesses(self, boxes: Array) -> Array:
        """Which of these boxes have every tried point covered by another box; single points are tried whole."""
        alive = self._size(boxes) > 1  # a single point that lies in no other box is unique
        for number in range(_WITNESSES if self._has_few_patterns(len(boxes)) else 0):
            left = np.flatnonzero(alive)
            columns = list(zip(self.columns, self.codes, strict=True))
            atoms = [level.witness(code[boxes[left]], number) for level, code in columns]
            around = [level.around_atom(atom) for level, atom in zip(self.columns, atoms, strict=True)]
            alive[left] = self._found(boxes[left], around)
        return alive

    def _size(self, boxes: Array) -> Array:
        size = np.ones(len(boxes))
        for level, code in zip(self.columns, self.codes, strict=True):
            size *= level.size[code[boxes]]
        return size

    def _found(self, boxes: Array, around: list[dict[int, Array]]) -> Array:
        """Whether a box of another pattern exists with these ranges; around[column][level] has a code or -1."""
        found = np.zeros(len(boxes), bool)
        for number, pattern in enumerate(self.patterns):
            progress.report("fitting boxes", number, len(self.patterns))
            # within its own pattern a box lies in itself only
            left = np.flatnonzero(~found & (self.pattern_of[boxes] != number))
            sought = [column[int(level)] for column, level in zip(around, pattern, strict=True)]
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
        return _all_or_unknown(_covered_on_grid(piece, others) for piece in self._pieces(box))

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
    atoms: int
    level_of: Array
    edges: tuple[Array, ...]  # per level, the codes of its ranges
    pieces: dict[int, list[tuple[int, int]]]

    @classmethod
    def of(cls, column: RangeColumn) -> _Levels:
        level_of = _deal(column)
        order = np.argsort(level_of, kind="stable")
        edges = np.split(order, np.flatnonzero(np.diff(level_of[order])) + 1)
        size = (column.high - column.low + 1).astype(np.float64)
        for code, parts in column.pieces.items():
            size[code] = sum(high - low + 1 for low, high in parts)
        return cls(column.low, column.high, size, column.atoms, level_of, tuple(edges), column.pieces)

    @cached_property
    def around(self) -> dict[int, Array]:
        """Per level, the range around each atom, -1 where none."""
        found = {}
        for codes in self.edges:
            owner = np.full(self.atoms, -1, np.int64)
            for code in codes.tolist():
                for low, high in self.parts(code):
                    owner[low : high + 1] = code
            found[int(self.level_of[codes[0]])] = owner
        return found

    def parts(self, code: int) -> list[tuple[int, int]]:
        return self.pieces.get(code, [(int(self.low[code]), int(self.high[code]))])

    def around_atom(self, atoms: Array) -> dict[int, Array]:
        """Per level, the range that holds each atom, or -1."""
        return {level: owner[atoms] for level, owner in self.around.items()}

    def around_range(self, codes: Array) -> dict[int, Array]:
        """Per level, the range that holds all of each range, or -1."""
        return {level: self._containing(owner)[codes] for level, owner in self.around.items()}

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


def _all_or_unknown(answers: Iterator[bool | None]) -> bool | None:
    """False if any is; else None if any is not known; else True."""
    known: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        known = known and answer
    return known


def _covered_on_grid(box: _Box, others: list[_Box]) -> bool | None:
    """Whether the union of `others` covers `box`, on the grid of all their ends; None past the work cap.

    Within a cell of that grid every box is either all there or not at all.
    """
    cuts = [
        np.unique([low, high + 1, *(end for other in others for end in _ends(other[axis], low, high))])
        for axis, (low, high) in enumerate(box)
    ]
    cells = math.prod(len(cut) - 1 for cut in cuts)
    if cells > MOST_CELLS_PER_RECORD:
        return None
    open_cells = np.ones([len(cut) - 1 for cut in cuts], bool)
    for other in others:
        sides = zip(cuts, other, strict=True)
        open_cells[tuple(slice(*np.searchsorted(cut, (low, high + 1))) for cut, (low, high) in sides)] = False
    return not open_cells.any()


def _ends(side: tuple[int, int], low: int, high: int) -> tuple[int, int]:
    """Where a side starts and stops inside a range."""
    return min(max(side[0], low), high + 1), min(max(side[1] + 1, low), high + 1)
