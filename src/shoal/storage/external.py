"""The kernel for tables past memory: keys cut into ranges, spilled, and counted range by range.

A block of rows is packed into keys, the keys are sorted and cut where ranges end, and each piece goes to the file of
its range. A range is then read alone: sorted pieces that are merged, and runs that are counted. Ranges are in the order
of their keys, so their results behind each other are what the kernel gives for the whole table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from shoal import progress
from shoal.storage import Array, Column, smallest_unsigned
from shoal.storage.classes import Coded, Codes, CountTable, pack_within, product, run_lengths, run_starts, unpack
from shoal.storage.order import key_of, siphash
from shoal.storage.spill import Spill, SpilledFile, forget, remove
from shoal.storage.table import blocks_of, records_with
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
        pieces = _RangeFiles(words, weights, spill).counted()
    return _together(columns, words, pieces, spill)


def _count_dense(words: PackedWords, weights: Array | None) -> tuple[list[Array], Array]:
    """Keys of few values, each with a counter."""
    rows = len(words.groups[0][0].codes)

    def count(block: slice) -> Array:
        (key,) = words.of_rows(block)
        # sums of weights are whole numbers under 2^53, which floats keep
        return np.bincount(key, None if weights is None else weights[block], minlength=words.limit(0)).astype(np.int64)

    total = np.zeros(words.limit(0), np.int64)
    several = 2 * processors()
    blocks = blocks_of(rows)
    for start in range(0, len(blocks), several):
        for counts in in_threads(count, blocks[start : start + several]):
            total += counts
    there = np.flatnonzero(total)
    return [there.astype(np.uint32)], total[there]


class _RangeFiles:
    """The rows of a table in files by ranges of their first word."""

    def __init__(self, words: PackedWords, weights: Array | None, spill: Spill) -> None:
        self.words, self.weights, self.spill = words, weights, spill
        self.rows = len(words.groups[0][0].codes)
        self.types: list[Any] = [
            np.uint32 if words.limit(number) <= 1 << 32 else np.uint64 for number in range(len(words.groups))
        ]
        if weights is not None:
            self.types.append(np.int64)

    def counted(self) -> Iterator[tuple[list[Array], Array]]:
        """The distinct words and their counts, range by range in order."""
        starts, alone = self.starts_of_ranges()
        files = [
            [] if number in alone else [self.spill.new_file("range") for _ in self.types]
            for number in range(len(starts) + 1)
        ]
        sizes = self._cut(starts, files)
        todo = [number for number, size in enumerate(sizes) if size and number not in alone]
        results = dict(zip(todo, in_threads(lambda number: self._count(files[number]), todo, "counting"), strict=True))
        for number, size in enumerate(sizes):
            if size and number in alone:
                yield [np.array([alone[number]], self.types[0])], np.array([size], np.int64)
            elif size:
                yield results.pop(number).taken()

    def _cut(self, starts: Array, files: Sequence[Sequence[SpilledFile]]) -> list[int]:
        """Pack, sort and cut all rows, block by block; the rows, or of a key that is alone the records, of each."""
        locks = [Lock() for _ in files]
        sizes = np.zeros(len(files), np.int64)

        def cut(block: slice) -> None:
            arrays = self._sorted(block)
            for group in self.words.groups:
                for column in group:  # codes that were packed need not stay in memory
                    forget(column.codes)
            ends = np.searchsorted(arrays[0], starts)
            for number, (low, high) in enumerate(zip([0, *ends], [*ends, len(arrays[0])], strict=True)):
                if low < high:
                    with locks[number]:
                        if not files[number]:  # one key: nothing to sort, so nothing to keep but how many
                            sizes[number] += high - low if self.weights is None else arrays[-1][low:high].sum()
                            continue
                        sizes[number] += high - low
                        for file, array in zip(files[number], arrays, strict=True):
                            file.append(array[low:high])

        in_threads(cut, blocks_of(self.rows), "sorting")
        return sizes.tolist()

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

    def starts_of_ranges(self) -> tuple[Array, dict[int, int]]:
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

    def _count(self, files: Sequence[SpilledFile]) -> _CountedRange:
        """Merge and count one range; the result is on disk."""
        arrays = []
        for file, dtype in zip(files, self.types, strict=True):
            arrays.append(file.read(0, dtype, file.bytes // np.dtype(dtype).itemsize))
            file.remove()
        words, counts = _runs(arrays[: len(self.words.groups)], arrays[-1] if self.weights is not None else None)
        counts = counts.astype(np.min_scalar_type(counts.max(initial=0)))
        found = _CountedRange(self.spill.new_file("counted"), [array.dtype for array in (*words, counts)], len(counts))
        for array in (*words, counts):
            found.file.append(array)
        return found


class _CountedRange(NamedTuple):
    """The distinct words of a range and their counts, one array behind the other in a file."""

    file: SpilledFile
    types: list[Any]
    length: int

    def taken(self) -> tuple[list[Array], Array]:
        """The arrays; the file is removed."""
        starts = [0, *np.cumsum([dtype.itemsize * self.length for dtype in self.types]).tolist()]
        *words, counts = [
            self.file.read(start, dtype, self.length) for start, dtype in zip(starts, self.types, strict=False)
        ]
        self.file.remove()
        return words, counts.astype(np.int64)


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
    gathered = [_Gathered(spill, len(columns) + 1) for _ in range(len(columns) + 1)]
    for found, counts in pieces:
        for column, codes in zip(gathered, [*words.codes_of(found), counts], strict=True):
            column.add(codes)
    whole = [column.whole() for column in gathered]
    named = zip(columns.items(), whole, strict=False)
    return CountTable({name: Coded(codes, column.cardinality) for (name, column), codes in named}, whole[-1])


class _Gathered:
    """Pieces of one array: in memory up to its share of the budget, then on disk."""

    def __init__(self, spill: Spill, among: int) -> None:
        self._spill = spill
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
            self._file = self._spill.new_file("tuples")
        if self._file is not None:
            for held in self._pieces:
                self._file.append(held)
            self._pieces.clear()

    def whole(self) -> Array:
        if self._file is not None:
            return self._file.mapped(self._dtype)
        return np.concatenate(self._pieces) if self._pieces else np.zeros(0, self._dtype)


# Which of some counted tuples each row on disk is: looked up by the words that its codes are packed into.


class TupleOfRow:
    """The tuples of some columns, in their order, and the place among them of any row.

    >>> tuples, rows = Coded(np.array([3, 7]), 9), Coded(np.array([7, 3, 7]), 9)
    >>> TupleOfRow([tuples], [rows]).of(slice(0, 3)).tolist()
    [1, 0, 1]
    """

    def __init__(self, tuples: Sequence[Codes], rows: Sequence[Codes]) -> None:
        self._rows = PackedWords.of(rows)
        self._steps: list[tuple[Array, Array]] = []
        found = PackedWords.of([Coded(one.codes, other.cardinality) for one, other in zip(tuples, rows, strict=True)])
        count = len(tuples[0].codes)
        rank = np.zeros(count, np.uint64)
        for word in found.of_rows(slice(0, count)):
            distinct, places = np.unique(word, return_inverse=True)
            together = rank * np.uint64(len(distinct)) + places.astype(np.uint64)
            pairs, ranks = np.unique(together, return_inverse=True)
            self._steps.append((distinct, pairs))
            rank = ranks.astype(np.uint64)
        # the first of the tuples that are equal in these columns
        self.first = np.full(int(rank.max(initial=0)) + 1, count, np.int64)
        np.minimum.at(self.first, rank.astype(np.int64), np.arange(count))

    def of(self, rows: slice) -> Array:
        """The number of the tuple of each row: of a tuple that is there."""
        rank = np.zeros(rows.stop - rows.start, np.uint64)
        for (distinct, pairs), word in zip(self._steps, self._rows.of_rows(rows), strict=True):
            rank = rank * np.uint64(len(distinct)) + np.searchsorted(distinct, word).astype(np.uint64)
            if len(self._steps) > 1:
                rank = np.searchsorted(pairs, rank).astype(np.uint64)
        return self.first[rank.astype(np.int64)]


# Another order of rows on disk: rows go to buckets, each bucket is put in order alone, and all arrays follow.
#
# A bucket is a range of what rows are sorted by, and fits in memory. So an array is brought into the order (`apply`),
# or back to the rows (`undo`), by reading and writing it in long stretches.


# bytes of memory for each row of a bucket while it is put in order
_BYTES_PER_ORDERED_ROW = 64
_MOST_BUCKETS = 1 << 14

# of a block of rows: the bucket of each, and what they are sorted by within it, the first key first
Keys = Callable[[slice], tuple[Array, Sequence[Array]]]


class DiskOrder(NamedTuple):
    """`starts[b]` is where bucket b begins, `local[p]` which of its rows, as they came, stands at position p."""

    bucket_of_row: Array
    starts: Array
    local: Array
    spill: Spill

    @classmethod
    def by(cls, rows: int, buckets: int, keys: Keys, spill: Spill) -> DiskOrder:
        """The order by keys; rows that are equal in all keys stay in their order.

        >>> ages = np.array([51, 34, 60, 34])
        >>> with Spill(memory=1000) as spill:
        ...     spill.start(1000)
        ...     order = DiskOrder.by(4, 2, lambda block: (ages[block] // 50, [ages[block]]), spill)
        ...     order.apply(ages).tolist(), order.undo(np.arange(4)).tolist()
        ([34, 34, 51, 60], [2, 0, 3, 1])
        """
        bucket_of_row = spill.array("buckets", smallest_unsigned(buckets), rows)
        counts, kinds = np.zeros(buckets, np.int64), []
        for block in blocks_of(rows):
            bucket, found = keys(block)
            bucket_of_row[block] = bucket
            counts += np.bincount(bucket, minlength=buckets)
            kinds = [key.dtype for key in found]
        starts = np.concatenate([[0], np.cumsum(counts)])
        order = cls(bucket_of_row, starts, spill.array("local", smallest_unsigned(int(counts.max()) + 1), rows), spill)
        held = [spill.array("keys", kind, rows) for kind in kinds]
        for block, sort, places in order._blocks():
            for array, key in zip(held, keys(block)[1], strict=True):
                array[places] = key[sort]
        for number, rows_of in enumerate(order._buckets()):
            arrays = [np.asarray(array[rows_of]) for array in held]
            order.local[rows_of] = np.lexsort(arrays[::-1]) if len(arrays) > 1 else np.argsort(arrays[0], kind="stable")
            progress.report("sorting", number + 1, buckets)
        for array in held:
            remove(array)
        return order

    def _buckets(self) -> list[slice]:
        ends = self.starts.tolist()
        return [slice(low, high) for low, high in pairwise(ends) if low < high]

    def _blocks(self) -> Iterator[tuple[slice, Array, Array]]:
        """Blocks of rows: their order by bucket, and where in the buckets they come to stand."""
        places = self.starts[:-1].copy()
        for block in blocks_of(len(self.bucket_of_row)):
            bucket = np.asarray(self.bucket_of_row[block])
            sort = np.argsort(bucket, kind="stable")
            counts = np.bincount(bucket, minlength=len(places))
            first = np.repeat(places - (np.cumsum(counts) - counts), counts)
            yield block, sort, first + np.arange(len(sort))
            places += counts

    def apply(self, array: Array) -> Array:
        """An array of the rows in this order."""
        out = self.spill.array("ordered", array.dtype, len(array))
        for block, sort, places in self._blocks():
            out[places] = np.asarray(array[block])[sort]
        for bucket in self._buckets():
            out[bucket] = np.asarray(out[bucket])[self.local[bucket]]
        self._forget(array, out)
        return out

    def undo(self, ordered: Array) -> Array:
        """An array in this order, as the rows are."""
        came = self.spill.array("came", ordered.dtype, len(ordered))
        for bucket in self._buckets():
            part = np.empty(bucket.stop - bucket.start, ordered.dtype)
            part[self.local[bucket]] = ordered[bucket]
            came[bucket] = part
        out = self.spill.array("rows", ordered.dtype, len(ordered))
        for block, sort, places in self._blocks():
            part = np.empty(len(sort), ordered.dtype)
            part[sort] = came[places]
            out[block] = part
        remove(came)
        self._forget(ordered, out)
        return out

    def _forget(self, *arrays: Array) -> None:
        for array in (self.bucket_of_row, self.local, *arrays):
            forget(array)

    def remove(self) -> None:
        """Give its disk free."""
        remove(self.bucket_of_row)
        remove(self.local)


def buckets_for(rows: int, spill: Spill) -> int:
    """Into how many buckets rows go, so that each fits in memory."""
    most = max(1_000, spill.budget // (2 * _BYTES_PER_ORDERED_ROW))
    return max(1, min(_MOST_BUCKETS, -(-rows // most)))


def shuffled_on_disk(rows: int, seed: int, spill: Spill) -> DiskOrder:
    """The order that `shuffled_order` gives for so many rows.

    >>> with Spill(memory=1000) as spill:
    ...     spill.start(1000)
    ...     shuffled_on_disk(8, 7, spill).apply(np.arange(8)).tolist()
    [7, 1, 2, 0, 6, 4, 5, 3]
    """
    bits = (buckets_for(rows, spill) - 1).bit_length()
    key = key_of(seed)

    def keys(block: slice) -> tuple[Array, list[Array]]:
        hashes = siphash(np.arange(block.start, block.stop, dtype=np.uint64), key)
        bucket = (hashes >> np.uint64(64 - bits)).astype(np.int64) if bits else np.zeros(len(hashes), np.int64)
        return bucket, [hashes]

    return DiskOrder.by(rows, 1 << bits, keys, spill)


def in_order(column: Column, order: DiskOrder) -> Column:
    """A column with its rows in an order."""
    written = None if column.written is None else (order.apply(column.written[0]), column.written[1])
    return replace(column, codes=order.apply(column.codes), written=written)


def only_rows(column: Column, kept: Array, spill: Spill) -> Column:
    """A column without the rows that a mask leaves out; its dictionary stays whole."""

    def cut(array: Array) -> Array:
        file = spill.new_file("kept")
        for block in blocks_of(len(array)):
            file.append(np.asarray(array[block])[kept[block]])
        return file.mapped(array.dtype)

    codes = cut(column.codes)
    nulls = records_with(codes, len(column.values)) if column.nulls else 0
    written = None if column.written is None else (cut(column.written[0]), column.written[1])
    return replace(column, codes=codes, nulls=nulls, written=written)
