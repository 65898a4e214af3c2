"""The class of each of many rows by a hash table: what tuples there are is sorted, not the rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.storage.classes import Codes, class_of_each_row, order_of_words, pack, pack_within, product
from shoal.storage.table import Array, on_disk

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
