"""The hot loops of looks at packed tables: keys of tuples, block by block, and the classes that they make."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.anonymization.search import kernels
from shoal.compiled import compiled, compiled_inside
from shoal.table import Array

# tuples whose keys are made together: one group after the other, in loops that are short enough for the cache
_BLOCK = 1024


@compiled
def add_codes(keys: Array, codes: Array, weight: int) -> None:
    """Add the codes of one more group to the keys, with its weight."""
    for t in range(len(keys)):
        keys[t] += codes[t] * weight


@compiled
def mark_keys(keys: Array, marks: Array, ranks: Array) -> int:
    """Set a bit for each key that there is; how many there are, and in `ranks` how many before each word."""
    for t in range(len(keys)):
        marks[keys[t] >> 6] |= np.uint64(1) << np.uint64(keys[t] & 63)
    count = 0
    for i in range(len(marks)):
        ranks[i] = count
        count += kernels.bits(marks[i])
    return count


@compiled
def number_keys(keys: Array, marks: Array, ranks: Array, present: Array) -> None:
    """Number the keys in their order; `present` is the key of each number."""
    for t in range(len(keys)):
        key = np.int64(keys[t])
        before = marks[key >> 6] & ((np.uint64(1) << np.uint64(key & 63)) - np.uint64(1))
        keys[t] = ranks[key >> 6] + kernels.bits(before)
        present[keys[t]] = key


@compiled
def by_stamp(keys: Array, stamp: Array) -> Any:
    """Number the keys as they come; `stamp` holds the number of each key, -1 before it came."""
    found = np.zeros(len(keys), np.int64)
    count = 0
    for i in range(len(keys)):
        if stamp[keys[i]] < 0:
            stamp[keys[i]] = count
            count += 1
        found[i] = stamp[keys[i]]
    return found, count


@compiled_inside
def _keys(codes: Array, starts: Array, table: Array, start: int, keys: Array) -> int:
    """Fill in the keys of the tuples from one on, as many as fit; how many they are."""
    groups, tuples = codes.shape
    count: int = min(len(keys), tuples - start)
    for g in range(groups):
        part = table[starts[g] :]
        row = codes[g, start : start + count]
        if g == 0:
            for i in range(count):
                keys[i] = part[row[i]]
        else:
            for i in range(count):
                keys[i] += part[row[i]]
    return count


@compiled
def small_classes(
    codes: Array,
    starts: Array,
    table: Array,
    total: int,
    counts: Array,
    capped: Array,
    k: int,
    limit: int,
    cells: Array,
    places: Array,
    found: Array,
) -> int:
    """Records in classes below k, counted up to k in a cell for each key; within the limit also by code (`found`)."""
    groups, tuples = codes.shape
    cells[:total] = 0
    keys = np.zeros(_BLOCK, table.dtype)
    enough, most = np.uint8(k), np.uint32(k)
    for start in range(0, tuples, _BLOCK):
        count = _keys(codes, starts, table, start, keys)
        more = capped[start : start + count]
        for i in range(count):
            cells[keys[i]] = min(np.uint32(cells[keys[i]]) + np.uint32(more[i]), most)
        kept = places[start : start + count]
        for i in range(count):
            kept[i] = keys[i]
    lost = 0
    for i in range(total):
        lost += int(cells[i]) if cells[i] < enough else 0
    if lost <= limit:
        # the tuples that are lost, without a branch that cannot be foreseen
        gone = 0
        for t in range(tuples):
            key = np.uint32(places[t])
            places[gone] = t
            gone += int(cells[key] < enough)
        for i in range(gone):
            t = places[i]
            for g in range(groups):
                found[starts[g] + codes[g, t]] += counts[t]
    return int(lost)


@compiled
def mark(codes: Array, starts: Array, table: Array, marks: Array, ranks: Array) -> int:
    """Set a bit for each key that there is; how many there are, and in `ranks` how many before each word."""
    keys = np.zeros(_BLOCK, table.dtype)
    for start in range(0, codes.shape[1], _BLOCK):
        for i in range(_keys(codes, starts, table, start, keys)):
            marks[keys[i] >> np.uint32(6)] |= np.uint64(1) << np.uint64(keys[i] & np.uint32(63))
    count = 0
    for i in range(len(marks)):
        ranks[i] = count
        count += kernels.bits(marks[i])
    return count


@compiled
def collect(
    codes: Array, starts: Array, table: Array, counts: Array, marks: Array, ranks: Array, classes: int
) -> Array:
    """The records of each key that is marked, in their order."""
    keys = np.zeros(_BLOCK, table.dtype)
    sizes = np.zeros(classes, np.int32)
    for start in range(0, codes.shape[1], _BLOCK):
        count = _keys(codes, starts, table, start, keys)
        own = counts[start : start + count]
        for i in range(count):
            word = keys[i] >> np.uint32(6)
            before = marks[word] & ((np.uint64(1) << np.uint64(keys[i] & np.uint32(63))) - np.uint64(1))
            sizes[ranks[word] + kernels.bits(before)] += own[i]
    return sizes


@compiled
def marked_keys(marks: Array, classes: int) -> Array:
    """The keys that are marked, in their order."""
    keys = np.zeros(classes, np.int64)
    place = 0
    for i in range(len(marks)):
        word = marks[i]
        while word:
            without = word & (word - np.uint64(1))
            keys[place] = 64 * i + kernels.bits((word ^ without) - np.uint64(1))
            place += 1
            word = without
    return keys


@compiled
def parts_of_keys(keys: Array, sizes: Array, found: Array) -> None:
    """The code of each group in keys."""
    for i in range(len(keys)):
        rest = keys[i]
        for g in range(len(sizes) - 1, -1, -1):
            above = rest // sizes[g]
            found[g, i] = rest - above * sizes[g]
            rest = above


@compiled
def note_keys(codes: Array, starts: Array, table: Array, place: Array, keys: Array) -> None:
    """The key of each class."""
    groups, tuples = codes.shape
    for t in range(tuples):
        key = 0
        for g in range(groups):
            key += table[starts[g] + codes[g, t]]
        keys[place[t]] = key
