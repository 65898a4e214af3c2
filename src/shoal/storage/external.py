"""The kernel for tables past memory: keys cut into ranges, spilled, and counted range by range.

A block of rows is packed into keys, the keys are sorted and cut where ranges end, and each piece goes to the file of
its range. A range is then read alone: sorted pieces that are merged, and runs that are counted. Ranges are in the order
of their keys, so their results behind each other are what the kernel gives for the whole table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from shoal.storage import Array
from shoal.storage.classes import Coded, Codes, CountTable, pack_within, product, unpack
from shoal.storage.sorting import run_lengths, run_starts
from shoal.storage.spill import Spill, SpilledFile, filling, forget
from shoal.storage.table import ROWS_AT_ONCE
from shoal.systems.files import replace
from shoal.threads import in_threads, processors

# keys of so few values are counted in a table of their own, without sorting
_DENSE = 1 << 24
# bytes of memory for each row of a range: its words, what merging needs, the runs
_BYTES_PER_ROW = 48
_MOST_RANGES = 256
_SAMPLE, _STRETCH = 1 << 20, 1 << 10


class PackedWords(NamedTuple):
    """Columns by the words that their codes are packed into: one, or several where a key is past 64 bits."""

    groups: list[list[Codes]]

    @classmethod
    def of(cls, columns: Sequence[Codes]) -> PackedWords:
        groups: list[list[Codes]] = [[]]
        for column in columns:
            if product([other.cardinality for other in groups[-1]]) * max(column.cardinality, 1) > 1 << 64:
                groups.append([])
            groups[-1].append(column)
        return cls(groups)

    def limit(self, number: int) -> int:
        return product([max(column.cardinality, 1) for column in self.groups[number]])

    def of_rows(self, rows: slice | Array) -> list[Array]:
        """The words of some rows."""
        return [
            pack_within(
                [Coded(np.asarray(column.codes[rows]), column.cardinality) for column in group], self.limit(number)
            ).codes
            for number, group in enumerate(self.groups)
        ]

    def codes_of(self, words: Sequence[Array]) -> list[Array]:
        """The codes of each column that were packed into words."""
        return [
            codes
            for group, word in zip(self.groups, words, strict=True)
            for codes in unpack(word, [column.cardinality for column in group])
        ]


def count_on_disk(columns: Mapping[str, Codes], weights: Array | None, spill: Spill) -> CountTable:
    """The count table of columns whose codes are on disk; a row of weight zero is not a record.

    >>> ages = Coded(np.array([3, 1, 3]), 4)
    >>> with Spill(memory=1000) as spill:
    ...     spill.start(1000)
    ...     count_on_disk({"age": ages}, None, spill).counts.tolist()
    [1, 2]
    """
    words = PackedWords.of(list(columns.values()))
    if len(words.groups) == 1 and words.limit(0) <= _DENSE:
        pieces: Iterator[tuple[list[Array], Array]] = iter([_count_dense(words, weights)])
    else:
        pieces = _RangeFiles(words, weights, spill, list(columns)).counted()
    return _together(columns, words, pieces, spill)


def _blocks(rows: int) -> list[slice]:
    return [slice(start, min(start + ROWS_AT_ONCE, rows)) for start in range(0, rows, ROWS_AT_ONCE)]


def _count_dense(words: PackedWords, weights: Array | None) -> tuple[list[Array], Array]:
    """Keys of few values, each with a counter."""
    rows = len(words.groups[0][0].codes)

    def count(block: slice) -> Array:
        (key,) = words.of_rows(block)
        # sums of weights are whole numbers under 2^53, which floats keep
        return np.bincount(key, None if weights is None else weights[block], minlength=words.limit(0)).astype(np.int64)

    total = np.zeros(words.limit(0), np.int64)
    several = 2 * processors()
    blocks = _blocks(rows)
    for start in range(0, len(blocks), several):
        for counts in in_threads(count, blocks[start : start + several]):
            total += counts
    there = np.flatnonzero(total)
    return [there.astype(np.uint32)], total[there]


class _RangeFiles:
    """The rows of a table in files by ranges of their first word."""

    def __init__(self, words: PackedWords, weights: Array | None, spill: Spill, names: Sequence[str]) -> None:
        self.words, self.weights, self.spill = words, weights, spill
        self.rows = len(words.groups[0][0].codes)
        cardinalities = [column.cardinality for group in words.groups for column in group]
        # what the ranges in the journal must be of: ranges of other columns would be decoded as these
        self._about = [self.rows, [list(pair) for pair in zip(names, cardinalities, strict=True)], weights is not None]

    def counted(self) -> Iterator[tuple[list[Array], Array]]:
        """The distinct words and their counts, range by range in order."""
        state = self.spill.state
        if not self._is_cut():
            self._clear()
            self._cut()
        todo = [
            number
            for number, size in enumerate(state["sizes"])
            if size and str(number) not in state["alone"] and not self._result(number).exists()
        ]
        in_threads(self._count, todo, "counting")
        for number, size in enumerate(state["sizes"]):
            if not size:
                continue
            if str(number) in state["alone"]:
                key = np.array([state["alone"][str(number)]], self._types()[0])
                yield [key], np.array([size], np.int64)
            else:
                with self._result(number).open("rb") as file:
                    yield [np.load(file) for _ in self.words.groups], np.load(file).astype(np.int64)
                self._result(number).unlink()

    def _is_cut(self) -> bool:
        """Whether a run before this one cut the same columns, and each of its ranges is there, counted or not."""
        state = self.spill.state
        return state.get("ranges_of") == self._about and all(
            self._result(number).exists() or self._is_whole(number, size)
            for number, size in enumerate(state["sizes"])
            if size and str(number) not in state["alone"]
        )

    def _is_whole(self, number: int, size: int) -> bool:
        """Whether the rows of a range are there, each of them."""
        paths = [self.spill.folder / name for name in self._names(number)]
        found = [path.stat().st_size if path.exists() else None for path in paths]
        return found == [size * np.dtype(dtype).itemsize for dtype in self._types()]

    def _clear(self) -> None:
        """Remove what a run before this one left of its ranges: a kill may have come while they were gathered."""
        for name in ("counted-*", "range-*"):
            for path in self.spill.folder.glob(name):
                path.unlink()

    def _result(self, number: int) -> Path:
        return self.spill.folder / f"counted-{number}"

    # cutting

    def _cut(self) -> None:
        """Pack, sort and cut all rows, block by block."""
        starts, alone = self._starts_of_ranges()
        files = [[] if number in alone else self._files(number) for number in range(len(starts) + 1)]
        locks = [Lock() for _ in files]
        sizes = np.zeros(len(files), np.int64)

        def cut(block: slice) -> None:
            arrays = self._sorted(block)
            self._forget()
            ends = np.searchsorted(arrays[0], starts)
            for number, (low, high) in enumerate(zip([0, *ends], [*ends, len(arrays[0])], strict=True)):
                if low < high:
                    with locks[number]:
                        if number in alone:  # one key: nothing to sort, so nothing to keep but how many
                            sizes[number] += high - low if self.weights is None else arrays[-1][low:high].sum()
                            continue
                        sizes[number] += high - low
                        for file, array in zip(files[number], arrays, strict=True):
                            file.append(array[low:high])

        blocks = _blocks(self.rows)
        in_threads(cut, blocks, "sorting")
        kept = {str(number): key for number, key in alone.items()}
        self.spill.keep(ranges_of=self._about, sizes=sizes.tolist(), alone=kept)

    def _forget(self) -> None:
        """Codes that were packed need not stay in memory."""
        for group in self.words.groups:
            for column in group:
                forget(column.codes)

    def _files(self, number: int) -> list[SpilledFile]:
        return [self.spill.file(name) for name in self._names(number)]

    def _names(self, number: int) -> list[str]:
        words = [f"range-{number}-{word}" for word in range(len(self.words.groups))]
        return words if self.weights is None else [*words, f"range-{number}-weights"]

    def _types(self) -> list[Any]:
        words = [
            np.uint32 if self.words.limit(number) <= 1 << 32 else np.uint64 for number in range(len(self.words.groups))
        ]
        return words if self.weights is None else [*words, np.int64]

    def _sorted(self, block: slice) -> list[Array]:
        """The words and weights of a block of rows, in the order of the first word."""
        arrays = self.words.of_rows(block)
        if self.weights is None and len(arrays) == 1:
            arrays[0].sort()
            return arrays
        if self.weights is not None:
            weights = np.asarray(self.weights[block])
            there = weights > 0
            arrays = [array[there] for array in (*arrays, weights)]
        order = np.argsort(arrays[0], kind="stable")
        return [array[order] for array in arrays]

    def _starts_of_ranges(self) -> tuple[Array, dict[int, int]]:
        """Where ranges begin, so that each has about as many rows, and which of them hold one frequent key alone."""
        most = max(1_000, self.spill.budget // (2 * processors() * _BYTES_PER_ROW))
        wanted = min(_MOST_RANGES, -(-self.rows // most))
        # whole stretches: rows far apart would bring every page of the codes into memory
        starts = np.unique(np.linspace(0, max(self.rows - _STRETCH, 0), _SAMPLE // _STRETCH).astype(np.int64))
        stretches = [slice(start, min(start + _STRETCH, self.rows)) for start in starts.tolist()]
        sample = np.sort(np.concatenate([self.words.of_rows(stretch)[0] for stretch in stretches]))
        drawn = sample[np.arange(1, wanted) * len(sample) // wanted] if wanted > 1 else sample[:0]
        starts = np.unique(drawn)
        if len(self.words.groups) > 1:
            return starts, {}
        frequent = np.unique(drawn[1:][drawn[1:] == drawn[:-1]])
        frequent = frequent[frequent < np.iinfo(frequent.dtype).max]
        starts = np.unique(np.concatenate([starts, frequent + frequent.dtype.type(1)]))
        # the range that begins with the i-th start has the number i + 1
        numbers = np.searchsorted(starts, frequent) + 1
        return starts, dict(zip(numbers.tolist(), frequent.tolist(), strict=True))

    # counting

    def _count(self, number: int) -> None:
        """Merge and count one range, and keep the result beside it."""
        paths = [self.spill.folder / name for name in self._names(number)]
        arrays = [np.fromfile(path, dtype) for path, dtype in zip(paths, self._types(), strict=True)]
        words, counts = _runs(arrays[: len(self.words.groups)], arrays[-1] if self.weights is not None else None)
        draft = self.spill.folder / f"draft-{number}"
        with (
            filling(self.spill.folder),
            os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file,
        ):
            for array in (*words, counts.astype(np.min_scalar_type(counts.max(initial=0)))):
                np.save(file, array)
        replace(draft, self._result(number))
        for path in paths:
            path.unlink()


def _runs(words: list[Array], weights: Array | None) -> tuple[list[Array], Array]:
    """The distinct words, sorted, and the records of each; pieces of the first word are sorted already."""
    if len(words) == 1 and weights is None:
        words[0].sort(kind="stable")  # merges sorted pieces
        starts = run_starts(words[0])
        return [words[0][starts]], run_lengths(starts, len(words[0]))
    order = np.argsort(words[0], kind="stable") if len(words) == 1 else np.lexsort(words[::-1])
    ordered = [word[order] for word in words]
    new = np.zeros(len(order), bool)
    new[:1] = True
    for word in ordered:
        new[1:] |= word[1:] != word[:-1]
    starts = np.flatnonzero(new)
    counts = run_lengths(starts, len(order)) if weights is None else np.add.reduceat(weights[order], starts)
    return [word[starts] for word in ordered], counts


def _together(
    columns: Mapping[str, Codes], words: PackedWords, pieces: Iterator[tuple[list[Array], Array]], spill: Spill
) -> CountTable:
    """The results of all ranges as one count table; on disk where it is too large for memory."""
    gathered = [_Gathered(spill, f"tuples-{number}", len(columns) + 1) for number in range(len(columns) + 1)]
    for found, counts in pieces:
        for column, codes in zip(gathered, [*words.codes_of(found), counts], strict=True):
            column.add(codes)
    whole = [column.whole() for column in gathered]
    named = zip(columns.items(), whole, strict=False)
    return CountTable({name: Coded(codes, column.cardinality) for (name, column), codes in named}, whole[-1])


class _Gathered:
    """Pieces of one array: in memory up to its share of the budget, then on disk."""

    def __init__(self, spill: Spill, name: str, among: int) -> None:
        self._spill, self._name = spill, name
        self._most = spill.budget // (4 * among)
        self._pieces: list[Array] = []
        self._bytes = 0
        self._file: SpilledFile | None = None
        self._dtype: Any = np.int64

    def add(self, piece: Array) -> None:
        self._dtype = piece.dtype
        self._bytes += piece.nbytes
        self._pieces.append(piece)
        if self._file is None and self._bytes > self._most:
            self._file = self._spill.file(self._name)
        if self._file is not None:
            for held in self._pieces:
                self._file.append(held)
            self._pieces.clear()

    def whole(self) -> Array:
        if self._file is not None:
            return self._file.mapped(self._dtype)
        return np.concatenate(self._pieces) if self._pieces else np.zeros(0, self._dtype)
