"""The kernel: rows that are equal in some columns form a class; everything that counts by equality counts here.

The codes of a row are packed into one unsigned key by mixed radix, the keys are sorted and the runs counted. Keys
past 64 bits are refined in steps: what is packed so far is renumbered densely, then packing goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import polars as pl

from shoal.storage import smallest_unsigned
from shoal.storage.table import Array, on_disk, rows_counted_at_once

# Rows packed at once, so that a key stays in the cache while every column is added to it.
_BLOCK = 1 << 16
# Counting in a dense table beats sorting while the table fits the cache.
_DENSE = 1 << 20
# Bits of keys that may be left out where they are sorted beside their rows in one word.
_LEFT_OUT = 10
# From so many rows on a compiled loop is worth being loaded, and up to so many classes are found without sorting.
MANY, _FEW_CLASSES = 1 << 17, 1 << 16
# Up to so many keys are counted in a table that stays in the cache, whatever the rows.
_FEW_KEYS = 1 << 17
# Rows that one thread takes at once, and from how many on threads pay.
STRETCH = 1 << 18
# Up to so many keys numpy sorts, then polars: past many on all processors, which costs two thirds more in all.
_SORTED_BY_NUMPY, _SORTED_BY_ALL = 1 << 16, 1 << 23


class Codes(Protocol):
    """Codes 0 .. cardinality-1, one per row."""

    @property
    def codes(self) -> Array: ...
    @property
    def cardinality(self) -> int: ...


class Coded(NamedTuple):
    """Codes and how many there are; a key is one too, so that keys of groups of columns combine."""

    codes: Array
    cardinality: int


def pack(columns: Sequence[Codes]) -> Coded:
    """One key per row, equal exactly where all columns are equal.

    key = ((c1 · n2 + c2) · n3 + c3) …, n = cardinality

    >>> pack([Coded(np.array([0, 1, 1]), 2), Coded(np.array([2, 0, 2]), 3)]).codes.tolist()
    [2, 3, 5]
    """
    columns = [column for column in columns if column.cardinality > 1] or list(columns[:1])
    ready: list[Codes] = []
    limit = 1
    for column in columns:
        if limit * column.cardinality > 1 << 64:
            packed = pack_within(ready, limit)
            dense, count = class_of_each_row(packed)
            ready, limit = [Coded(dense, count)], count
        ready.append(column)
        limit *= column.cardinality
    return pack_within(ready, limit)


def pack_within(columns: Sequence[Codes], limit: int) -> Coded:
    """Mixed radix, where `limit`, the product of the cardinalities, is known to fit."""
    rows = len(columns[0].codes)
    key = np.empty(rows, np.uint32 if limit <= 1 << 32 else np.uint64)

    def pack_block(here: slice) -> None:
        part = key[here]
        part[:] = columns[0].codes[here]
        for column in columns[1:]:
            np.multiply(part, part.dtype.type(column.cardinality), out=part)
            # in the key's own type: unsigned plus signed would go through floats and lose digits
            np.add(part, column.codes[here], out=part, dtype=part.dtype, casting="unsafe")

    _in_blocks(pack_block, rows)
    return Coded(key, limit)


def _in_blocks(work: Callable[[slice], None], rows: int) -> None:
    """Work on all rows, block by block, each of which stays in the cache; on all processors where they are many."""

    def work_on(start: int) -> None:
        end = min(start + STRETCH, rows)
        for first in range(start, end, _BLOCK):
            work(slice(first, min(first + _BLOCK, end)))

    if rows <= STRETCH:
        work_on(0)
        return
    from shoal.threads import in_threads

    in_threads(work_on, range(0, rows, STRETCH))


def class_sizes(columns: Sequence[Codes], weights: Array | None = None) -> Array:
    """How many records each class has, classes in the order of their keys; a weight is the records a row stands for.

    >>> class_sizes([Coded(np.array([4, 1, 4]), 5)]).tolist()
    [1, 2]
    """
    key = pack(columns)
    if weights is not None:
        _, sizes = _runs_with_weights(key, weights)
        return sizes
    if _is_dense(key):
        counts = np.bincount(key.codes, minlength=1)
        return counts[counts > 0]
    return lengths_of_runs(sorted_keys(key.codes))


def class_of_each_row(key: Coded) -> tuple[Array, int]:
    """The class of each row, numbered densely in the order of the keys, and how many classes there are.

    >>> class_of_each_row(Coded(np.array([40, 10, 40]), 50))
    (array([1, 0, 1]), 2)
    """
    if _is_dense(key):
        present = np.bincount(key.codes, minlength=1) > 0
        numbers = np.cumsum(present) - 1
        classes = np.empty(len(key.codes), np.int64)
        for start in range(0, len(classes), _BLOCK):
            here = slice(start, start + _BLOCK)
            classes[here] = numbers.take(key.codes[here])
        return classes, int(numbers[-1]) + 1
    if len(key.codes) >= MANY and (found := _class_of_many(key)) is not None:
        return found
    order, ordered = sorted_with_order(key)
    new = np.empty(len(ordered), bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    numbers = np.cumsum(new) - 1
    rows = np.empty_like(numbers)
    rows[order] = numbers
    return rows, int(numbers[-1]) + 1 if len(numbers) else 0


def _class_of_many(key: Coded) -> tuple[Array, int] | None:
    """The same by compiled loops: few classes by a table of their keys, more of them by sorting."""
    from shoal.kernels import rows

    bits = (len(key.codes) - 1).bit_length()
    left_out = max((key.cardinality - 1).bit_length() + bits - 64, 0)
    if left_out > _LEFT_OUT:
        return None
    classes, distinct = np.empty(len(key.codes), np.int64), np.empty(_FEW_CLASSES, np.uint64)
    codes = key.codes if key.codes.dtype == np.uint32 else key.codes.astype(np.uint64, copy=False)
    count = rows.number_as_they_come(codes, np.zeros(4 * _FEW_CLASSES, np.int32), distinct, classes)
    if count >= 0:
        place = np.empty(count, np.int64)
        place[np.argsort(distinct[:count])] = np.arange(count)
        return place.take(classes), count
    words = _sorted_with_rows(codes, bits, left_out)
    if not left_out:
        return classes, rows.number_in_order(words, bits, classes)
    return classes, rows.number_in_runs(words, codes, bits, left_out, np.zeros(1 << left_out, np.int64), classes)


def _sorted_with_rows(codes: Array, bits: int, left_out: int = 0) -> Array:
    """Keys (without so many of their low bits) and, in their low bits, their rows, in order: sorting words is twice as
    fast as sorting an index."""
    words = codes.astype(np.uint64)
    words >>= np.uint64(left_out)
    words <<= np.uint64(bits)
    words |= np.arange(len(words), dtype=np.uint64)
    return sorted_keys(words)


def first_row_of_each_class(class_of_row: Array, classes: int) -> Array:
    """The first row of each class, to look up what all its rows share.

    >>> first_row_of_each_class(np.array([1, 0, 1]), 2).tolist()
    [1, 0]
    """
    first = np.full(classes, -1, np.int64)
    look = _BLOCK
    for start in range(0, len(class_of_row), _BLOCK):
        here = class_of_row[start : start + _BLOCK]
        new = np.flatnonzero(first.take(here) < 0)[::-1]
        first[here[new]] = start + new  # the last written is the first row
        if start + _BLOCK == look:  # after 1, 2, 4, … blocks: a few classes are all met early
            if (first >= 0).all():
                break
            look *= 2
    return first


def _is_dense(key: Coded) -> bool:
    return key.cardinality <= max(_DENSE, 2 * len(key.codes)) and key.cardinality <= 1 << 26


def sorted_with_order(key: Coded) -> tuple[Array, Array]:
    """The order that sorts the keys, and the sorted keys.

    >>> order, ordered = sorted_with_order(Coded(np.array([30, 10, 20]), 40))
    >>> order.tolist(), ordered.tolist()
    ([1, 2, 0], [10, 20, 30])
    """
    bits = (len(key.codes) - 1).bit_length()
    if key.cardinality << bits <= 1 << 64:
        words = _sorted_with_rows(key.codes, bits)
        return (words & np.uint64((1 << bits) - 1)).astype(np.int64), words >> np.uint64(bits)
    order = order_of_words(key.codes.astype(np.uint64, copy=False))
    return order, key.codes[order]


def order_of_words(keys: Array) -> Array:
    """The stable order of keys of 64 bits: by as many of their high bits as stand beside a place in one word; keys that
    these do not tell apart are put in order by themselves.

    >>> order_of_words(np.array([2**63, 7, 2**63, 1], np.uint64)).tolist()
    [3, 1, 0, 2]
    """
    bits = max((len(keys) - 1).bit_length(), 1)
    if bits > 32 or not len(keys):
        return np.argsort(keys, kind="stable")
    least = keys.min()
    left_out = max((int(keys.max()) - int(least)).bit_length() + bits - 64, 0)
    words = _sorted_with_rows(keys - least, bits, left_out)
    order = (words & np.uint64((1 << bits) - 1)).astype(np.int64)
    if not left_out:
        return order
    heads, ordered = words >> np.uint64(bits), keys[order]
    mixed = np.flatnonzero((heads[1:] == heads[:-1]) & (ordered[1:] != ordered[:-1]))
    if len(mixed) > len(keys) >> 4:
        return _order_in_two(keys, bits)
    found = np.unique(heads[mixed])
    starts, ends = np.searchsorted(heads, found), np.searchsorted(heads, found, side="right")
    lengths = ends - starts
    places = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths) + np.arange(int(lengths.sum()))
    # within each run of equal heads, which is in the order of its rows
    order[places] = order[places][np.lexsort((ordered[places], heads[places]))]
    return order


def _order_in_two(keys: Array, bits: int) -> Array:
    """By their low bits, then by their high bits, each beside a place in one word.

    >>> _order_in_two(np.array([2**63, 7, 2**63, 1], np.uint64), 2).tolist()
    [3, 1, 0, 2]
    """
    places, low = np.arange(len(keys), dtype=np.uint64), np.uint64(64 - bits)
    place, mask = np.uint64(bits), np.uint64((1 << bits) - 1)
    first = (sorted_keys(keys << place | places) & mask).astype(np.int64)
    second = (sorted_keys((keys >> low)[first] << place | places) & mask).astype(np.int64)
    return first[second]


def _runs_with_weights(key: Coded, weights: Array) -> tuple[Array, Array]:
    """The distinct keys and the sum of the weights of each.

    >>> keys, sums = _runs_with_weights(Coded(np.array([3, 1, 3]), 4), np.array([5, 0, 2]))
    >>> keys.tolist(), sums.tolist()
    ([1, 3], [0, 7])
    """
    if _is_dense(key) and weights.dtype.kind in "iu" and float(weights.sum(dtype=np.float64)) < 1 << 53:
        present = np.flatnonzero(np.bincount(key.codes, minlength=1))
        sums = np.bincount(key.codes, weights, minlength=1)  # floats hold these whole numbers exactly
        return present.astype(np.uint64), sums[present].astype(weights.dtype)
    order, ordered = sorted_with_order(key)
    starts = run_starts(ordered)
    sums = np.add.reduceat(weights[order], starts) if len(starts) else np.zeros(0, np.int64)
    return ordered[starts], sums


def _counts_of_keys(columns: Sequence[Codes], limit: int) -> Array:
    """How many rows have each key of a few, block by block: no key of all rows is kept."""
    columns = [column for column in columns if column.cardinality > 1] or list(columns[:1])
    counts = np.zeros(limit, np.int64)
    block = rows_counted_at_once(limit)
    for start in range(0, len(columns[0].codes), block):
        here = [Coded(column.codes[start : start + block], column.cardinality) for column in columns]
        counts += np.bincount(pack_within(here, limit).codes, minlength=limit)
    return counts


@dataclass(frozen=True)
class Distinct:
    """The distinct tuples of some columns as their keys, in order, with the number of records of each.

    >>> found = Distinct.of([Coded(np.array([0, 1, 1]), 2), Coded(np.array([3, 3, 3]), 4)])
    >>> found.counts.tolist(), [codes.tolist() for codes in found.codes]
    ([1, 2], [[0, 1], [3, 3]])
    """

    counts: Array
    _unpack: Callable[[], list[Array]]

    @classmethod
    def of(cls, columns: Sequence[Codes], weights: Array | None = None) -> Distinct:
        """Count the rows of columns."""
        radices = [column.cardinality for column in columns]
        if weights is None and len(columns[0].codes) >= MANY and product(radices) <= _FEW_KEYS:
            counts = _counts_of_keys(columns, product(radices))
            present = np.flatnonzero(counts)
            return cls(counts[present], lambda: unpack(present.astype(np.uint32), radices))
        key = pack(columns)
        if key.cardinality != product(radices):
            return cls._of_refined(columns, key, weights)
        if weights is None:
            ordered = sorted_keys(key.codes)
            del key  # as large as what comes next
            counts = lengths_of_runs(ordered)
            return cls(counts, lambda: unpack(ordered[np.cumsum(counts) - counts], radices))
        distinct, counts = _runs_with_weights(key, weights)
        return cls(counts, lambda: unpack(distinct, radices))

    @classmethod
    def _of_refined(cls, columns: Sequence[Codes], key: Coded, weights: Array | None) -> Distinct:
        """Refined keys do not tell the codes: look them up in a row of each class."""
        order, ordered = sorted_with_order(key)
        starts = run_starts(ordered)
        rows = order[starts]
        if weights is None:
            counts = run_lengths(starts, len(ordered))
        else:
            counts = np.add.reduceat(weights[order], starts) if len(starts) else np.zeros(0, np.int64)
        return cls(counts, lambda: [column.codes[rows] for column in columns])

    @cached_property
    def codes(self) -> list[Array]:
        """The codes of each column, tuple by tuple; unpacked when they are asked for."""
        return self._unpack()

    def codes_of(self, column: int) -> Array:
        """Those of one column."""
        return self.codes[column]


@dataclass(frozen=True)
class CountTable:
    """The distinct tuples of some columns, sorted, with the number of records of each.

    The big table is touched once to make it; detection, risk and search run on it.

    >>> table = CountTable.of({"sex": Coded(np.array([0, 1, 1]), 2), "age": Coded(np.array([3, 3, 3]), 4)})
    >>> table.tuples["sex"].codes.tolist(), table.counts.tolist()
    ([0, 1], [1, 2])
    >>> table.roll_up(["age"]).counts.tolist()
    [3]
    """

    tuples: dict[str, Coded]
    counts: Array

    @classmethod
    def of(cls, columns: Mapping[str, Codes], weights: Array | None = None) -> CountTable:
        """Count the rows of columns."""
        found = Distinct.of(list(columns.values()), weights)
        named = zip(columns.items(), found.codes, strict=True)
        return cls({name: Coded(codes, column.cardinality) for (name, column), codes in named}, found.counts)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    def roll_up(self, names: Sequence[str]) -> CountTable:
        """The count table of fewer columns, from this one and not from the rows."""
        return CountTable.of({name: self.tuples[name] for name in names}, self.counts)


def product(numbers: Sequence[int]) -> int:
    """The product of whole numbers, however large."""
    product = 1
    for number in numbers:
        product *= number
    return product


def unpack(keys: Array, radices: Sequence[int]) -> list[Array]:
    """The codes that were packed into keys, column by column.

    >>> [codes.tolist() for codes in unpack(np.array([2, 3, 5], np.uint64), [2, 3])]
    [[0, 1, 1], [2, 0, 2]]
    """
    columns = [(np.zeros if radix <= 1 else np.empty)(len(keys), smallest_unsigned(radix)) for radix in radices]
    packed = [(codes, keys.dtype.type(radix)) for codes, radix in zip(columns, radices, strict=True) if radix > 1]

    def unpack_block(here: slice) -> None:
        rest = keys[here]
        for codes, radix in packed[:0:-1]:
            above = rest // radix
            np.subtract(rest, above * radix, out=codes[here], casting="unsafe")
            rest = above
        for codes, _ in packed[:1]:
            codes[here] = rest

    _in_blocks(unpack_block, len(keys))
    return columns


class SensitiveCounts(NamedTuple):
    """How often each sensitive value occurs in each class: a sparse list sorted by class, then by code."""

    classes: Array
    codes: Array
    counts: Array


def sensitive_counts(
    class_of_row: Array, classes: int, sensitive: Codes, weights: Array | None = None
) -> SensitiveCounts:
    """Count (class, sensitive code) pairs.

    >>> sensitive_counts(np.array([0, 0, 1]), 2, Coded(np.array([5, 5, 3]), 6)).counts.tolist()
    [2, 1]
    """
    pairs = CountTable.of({"class": Coded(class_of_row, classes), "code": sensitive}, weights)
    return SensitiveCounts(pairs.tuples["class"].codes, pairs.tuples["code"].codes, pairs.counts)


def class_of_each_person(class_of_row: Array, classes: int, person: Codes) -> tuple[Array, int]:
    """The class of each person: two persons are alike if the multisets of their records' classes are equal.

    The sorted records of a person are a sequence; neighbours are paired and renumbered until one number is left,
    so a history of m records takes log2(m) rounds.

    >>> rows, people = np.array([7, 9, 9, 7, 7]), Coded(np.array([0, 0, 1, 1, 2]), 3)
    >>> class_of_each_person(rows, 10, people)[0].tolist()
    [1, 1, 0]
    """
    order, _ = sorted_with_order(pack([person, Coded(class_of_row, classes)]))
    owner = person.codes[order].astype(np.int64)
    numbers = class_of_row[order].astype(np.int64)
    count = classes
    while True:
        starts = run_starts(owner)
        lengths = run_lengths(starts, len(owner))
        if len(lengths) == len(owner):
            return class_of_each_row(Coded(numbers, count))
        place = np.arange(len(owner)) - np.repeat(starts, lengths)
        first = np.flatnonzero(place % 2 == 0)
        # the second of a pair, or 0 where a sequence of odd length ends
        has_second = place[first] + 1 < np.repeat(lengths, lengths)[first]
        second = np.zeros(len(first), np.int64)
        second[has_second] = numbers[first[has_second] + 1] + 1
        numbers, count = class_of_each_row(pack([Coded(numbers[first], count), Coded(second, count + 1)]))
        owner = owner[first]


# The class of each of many rows by a hash table: what tuples there are is sorted, not the rows.


# fewer rows are sorted as fast
_FROM_ROWS = 1 << 18
# the table begins with so many bits, and is four times as large when half of it is taken
_BITS = 16
_WORK = 512


def class_of_rows(columns: Sequence[Codes]) -> tuple[Array, int]:
    """The class of each row, numbered densely in the order of the tuples, and how many classes there are.

    >>> from shoal.storage.classes import Coded
    >>> class_of_rows([Coded(np.array([1, 0, 1]), 2), Coded(np.array([3, 3, 3]), 4)])
    (array([1, 0, 1]), 2)
    """
    words = _words(columns) if len(columns[0].codes) >= _FROM_ROWS else None
    if words is None:
        return class_of_each_row(pack(columns))
    return _numbered(*words)


def _words(columns: Sequence[Codes]) -> tuple[list[Codes], list[Codes]] | None:
    """The columns that fit a word of 64 bits, and the others; None where they fit one word, or not two."""
    if any(on_disk(column.codes) for column in columns):
        return None
    many = [column for column in columns if column.cardinality > 1]
    first, limit = list[Codes](), 1
    for column in many:
        if limit * column.cardinality > 1 << 64:
            break
        first.append(column)
        limit *= column.cardinality
    rest = many[len(first) :]
    if not rest or product([column.cardinality for column in rest]) > 1 << 64:
        return None
    return first, rest


def _numbered(first: Sequence[Codes], rest: Sequence[Codes]) -> tuple[Array, int]:
    from shoal.kernels.rows import number_keys, place_keys

    high, low = (_packed(columns) for columns in (first, rest))
    numbers, slots = np.empty(len(high), np.int32), np.empty(_WORK, np.int64)
    bits, row, count = _BITS, 0, 0
    keys, table = np.empty(1 << bits, np.uint64), np.zeros(1 << bits, np.int32)
    while True:
        row = number_keys(high, low, row, table, bits, keys, count, numbers, slots)
        if row == len(high):
            break
        count, bits = len(keys) // 2, bits + 2
        keys, table = np.append(keys, np.empty(3 * len(keys), np.uint64)), np.zeros(1 << bits, np.int32)
        place_keys(keys, count, table, bits)
    del high, low, table
    count = int(numbers.max(initial=-1)) + 1
    high, low = (np.ascontiguousarray(keys[start : 2 * count : 2]) for start in (0, 1))
    order = order_of_words(low)
    order = order[order_of_words(high[order])]
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    return rank[numbers], count


def _packed(columns: Sequence[Codes]) -> Array:
    return pack_within(columns, product([column.cardinality for column in columns])).codes.astype(np.uint64, copy=False)


# Keys in order, and runs of equal keys: where they start and how long they are. Threads share many of them.


def sorted_keys(keys: Array) -> Array:
    """Keys in order; more than a few by polars, in less time than numpy takes, and many of them on all processors.

    >>> sorted_keys(np.array([30, 10, 20], np.uint64)).tolist()
    [10, 20, 30]
    """
    if len(keys) <= _SORTED_BY_NUMPY:
        return np.sort(keys)
    return pl.Series(keys).sort(multithreaded=len(keys) > _SORTED_BY_ALL).to_numpy()


def run_starts(ordered: Array) -> Array:
    """Where each run of equal keys starts.

    >>> run_starts(np.array([7, 7, 9])).tolist()
    [0, 2]
    """

    def starts_after(first: int) -> Array:
        here = ordered[first : first + STRETCH + 1]
        starts = np.flatnonzero(here[1:] != here[:-1])
        starts += first + 1
        return starts

    stretches = range(0, max(len(ordered) - 1, 0), STRETCH)
    if len(stretches) > 1:
        from shoal.threads import in_threads

        found = in_threads(starts_after, stretches)
    else:
        found = [starts_after(first) for first in stretches]
    return np.concatenate([np.zeros(min(len(ordered), 1), np.int64), *found])


def run_lengths(starts: Array, total: int) -> Array:
    """How long each run is, from where the runs start."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1:] = total - starts[-1:]
    return lengths


def lengths_of_runs(ordered: Array) -> Array:
    """How long each run of equal keys is; stretches of keys are counted first, then all write side by side.

    >>> lengths_of_runs(np.array([7, 7, 9])).tolist()
    [2, 1]
    """
    if len(ordered) <= STRETCH:
        return run_lengths(run_starts(ordered), len(ordered))
    from shoal.threads import in_threads

    def ends_in(first: int) -> Array:
        """Which keys of a stretch are the last of their run; the last key of all is told apart."""
        here = ordered[first : first + STRETCH + 1]
        return np.not_equal(here[1:], here[:-1])

    def count(first: int) -> tuple[int, int]:
        ends = ends_in(first)
        found = int(np.count_nonzero(ends))
        return found, first + len(ends) - int(ends[::-1].argmax()) if found else 0

    stretches = range(0, len(ordered) - 1, STRETCH)
    counted = in_threads(count, stretches)
    places = np.cumsum([0, *(found for found, _ in counted)])
    # where the last run that ended before each stretch ended, and the last of all
    before = np.maximum.accumulate([0, *(last for _, last in counted)])
    lengths = np.empty(int(places[-1]) + 1, np.int64)

    def write(number: int) -> None:
        ends = np.flatnonzero(ends_in(stretches[number]))
        ends += stretches[number] + 1
        here = lengths[places[number] : places[number + 1]]
        here[:1] = ends[:1] - before[number]
        np.subtract(ends[1:], ends[:-1], out=here[1:])

    in_threads(write, range(len(stretches)))
    lengths[-1] = len(ordered) - before[-1]
    return lengths
