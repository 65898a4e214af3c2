"""Loops over all rows of a large table, compiled: tuples numbered by a hash table, and the hash of a secret order."""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled, compiled_inside
from shoal.table.table import Array


@compiled_inside
def _slot(high: Number, low: Number, bits: int) -> Number:
    """Where to look first for a key in a table of so many bits."""
    mixed = high * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed = (mixed + low) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(64 - bits))


@compiled
def number_keys(
    high: Array, low: Array, start: int, table: Array, bits: int, keys: Array, count: int, numbers: Array, slots: Array
) -> int:
    """Number keys of two words from a row on, as they come; `table` has the number of a key plus one, `keys` the words.

    Ends at the last row, or where there are as many different keys as `keys` has places. Returns the row; the keys
    that there are by then are one more than the highest number. `slots` is work space: of so many rows the places are
    looked at first, so that memory brings them all at once.
    """
    rows, mask, most = len(high), len(table) - 1, len(keys) // 2
    block = len(slots) // 2
    for begin in range(start, rows, block):
        end = min(begin + block, rows)
        for row in range(begin, end):
            slots[row - begin] = _slot(high[row], low[row], bits)
        for place in range(end - begin):
            slots[block + place] = table[slots[place]]
        touched = np.uint64(0)
        for place in range(end - begin):
            touched ^= keys[2 * max(slots[block + place] - 1, 0)]
        slots[block] = touched & np.uint64(1)
        for row in range(begin, end):
            one, other = high[row], low[row]
            slot = slots[row - begin]
            while True:
                found = np.int64(table[slot]) - 1
                if found < 0:
                    if count == most:
                        return row
                    keys[2 * count], keys[2 * count + 1] = one, other
                    table[slot] = count + 1
                    numbers[row] = count
                    count += 1
                    break
                if keys[2 * found] == one and keys[2 * found + 1] == other:
                    numbers[row] = found
                    break
                slot = (slot + 1) & mask
    return rows


@compiled
def place_keys(keys: Array, count: int, table: Array, bits: int) -> None:
    """Put the numbers of keys into an empty table."""
    mask = len(table) - 1
    for number in range(count):
        slot = _slot(keys[2 * number], keys[2 * number + 1], bits)
        while table[slot] != 0:
            slot = (slot + 1) & mask
        table[slot] = number + 1


@compiled_inside
def _turned(word: Number, by: int) -> Number:
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@compiled
def siphash_words(k0: Number, k1: Number, words: Array) -> None:
    """Each word becomes its SipHash-2-4, under a key of two words."""
    for place in range(len(words)):
        word = words[place]
        v0, v1 = k0 ^ np.uint64(0x736F6D6570736575), k1 ^ np.uint64(0x646F72616E646F6D)
        v2, v3 = k0 ^ np.uint64(0x6C7967656E657261), k1 ^ np.uint64(0x7465646279746573)
        for step in range(8):
            if step == 0:
                v3 ^= word
            elif step == 2:
                v0 ^= word
                v3 ^= np.uint64(8 << 56)
            elif step == 4:
                v0 ^= np.uint64(8 << 56)
                v2 ^= np.uint64(0xFF)
            v0 += v1
            v1 = _turned(v1, 13) ^ v0
            v0 = _turned(v0, 32)
            v2 += v3
            v3 = _turned(v3, 16) ^ v2
            v0 += v3
            v3 = _turned(v3, 21) ^ v0
            v2 += v1
            v1 = _turned(v1, 17) ^ v2
            v2 = _turned(v2, 32)
        words[place] = v0 ^ v1 ^ v2 ^ v3


@compiled
def number_in_order(words: Array, bits: int, numbers: Array) -> int:
    """Number the runs of equal keys among sorted words of a key and, in their low `bits`, a row; how many there are."""
    shift = np.uint64(bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    number, before = -1, np.uint64(0)
    for place in range(len(words)):
        word = words[place]
        key = word >> shift
        if place == 0 or key != before:
            number += 1
            before = key
        numbers[word & mask] = number
    return number + 1


@compiled
def number_in_runs(words: Array, keys: Array, bits: int, left_out: int, seen: Array, numbers: Array) -> int:
    """As `number_in_order`, where the words lack so many of the lowest bits of their keys: rows that are alike in the
    others are numbered by these. `seen` has a number for each value of them, 0 before and after."""
    rows, low = np.uint64((1 << bits) - 1), np.uint64((1 << left_out) - 1)
    shift = np.uint64(bits)
    count = start = 0
    while start < len(words):
        end = start + 1
        while end < len(words) and words[end] >> shift == words[start] >> shift:
            end += 1
        least, most = low, np.uint64(0)
        for i in range(start, end):
            rest = keys[words[i] & rows] & low
            seen[rest] = 1
            least, most = min(least, rest), max(most, rest)
        for rest in range(least, most + np.uint64(1)):
            if seen[rest]:
                count += 1
                seen[rest] = count
        for i in range(start, end):
            row = words[i] & rows
            numbers[row] = seen[keys[row] & low] - 1
        for rest in range(least, most + np.uint64(1)):
            seen[rest] = 0
        start = end
    return count


@compiled
def number_as_they_come(keys: Array, slots: Array, distinct: Array, numbers: Array) -> int:
    """Number keys in the order in which they come first, which `distinct` has then; -1 if they are too many for it.

    `slots` hold the number of a key and 1, or 0; their number is a power of two.
    """
    mask, count = np.uint64(len(slots) - 1), 0
    for row in range(len(keys)):
        key = np.uint64(keys[row])
        mixed = key * np.uint64(0x9E3779B97F4A7C15)
        slot = (mixed ^ mixed >> np.uint64(32)) & mask
        found = slots[slot]
        while found > 0 and distinct[found - 1] != key:
            slot = (slot + np.uint64(1)) & mask
            found = slots[slot]
        if found == 0:
            if count == len(distinct):
                return -1
            distinct[count] = key
            count += 1
            found = count
            slots[slot] = found
        numbers[row] = found - 1
    return count


def rehearse() -> None:
    """Run every loop on a few rows, so that all are compiled."""
    words, numbers = np.array([7, 7, 9], np.uint64), np.empty(3, np.int32)
    table, keys = np.zeros(8, np.int32), np.empty(8, np.uint64)
    number_keys(words, words, 0, table, 3, keys, 0, numbers, np.empty(4, np.int64))
    place_keys(keys, 2, np.zeros(8, np.int32), 3)
    siphash_words(np.uint64(1), np.uint64(2), words.copy())
    for kind in (np.uint32, np.uint64):
        classes, found = np.empty(3, np.int64), np.zeros(3, np.uint64)
        number_as_they_come(words.astype(kind), np.zeros(8, np.int32), found, classes)
    ordered = np.arange(3, dtype=np.uint64)  # key 0, and a row in the low bits
    ordered.flags.writeable = False  # as polars gives what it sorted
    number_in_order(ordered, 2, classes)
    number_in_runs(ordered, words, 2, 1, np.zeros(2, np.int64), classes)
