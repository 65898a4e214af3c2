"""Loops over all rows of a large table: tuples numbered by a hash table, the hash of a secret order, codes in boxes."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

int64 = cython.typedef(cython.longlong)
int32 = cython.typedef(cython.int)
uint64 = cython.typedef(cython.ulonglong)
uint32 = cython.typedef(cython.uint)
uint16 = cython.typedef(cython.ushort)
uint8 = cython.typedef(cython.uchar)
float64 = cython.typedef(cython.double)
Code = cython.fused_type(cython.uchar, cython.ushort, cython.uint)
Key = cython.fused_type(cython.uint, cython.ulonglong)

# a product of two words is cut to 64 bits, in Python as in C
_WORD = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
_GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_MIX = cython.declare(cython.ulonglong, 0xD6E8FEB86659FD93)
_SIP_0 = cython.declare(cython.ulonglong, 0x736F6D6570736575)
_SIP_1 = cython.declare(cython.ulonglong, 0x646F72616E646F6D)
_SIP_2 = cython.declare(cython.ulonglong, 0x6C7967656E657261)
_SIP_3 = cython.declare(cython.ulonglong, 0x7465646279746573)
_SIP_LENGTH = cython.declare(cython.ulonglong, 8 << 56)
# rows whose boxes stay in the cache while one column after the other is looked at
_NEAR = cython.declare(cython.longlong, 1 << 11)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _slot(high: uint64, low: uint64, bits: int64) -> int64:
    """Where to look first for a key in a table of so many bits."""
    mixed: uint64 = high * _GOLDEN & _WORD
    mixed ^= mixed >> 32
    mixed = (mixed + low) * _MIX & _WORD
    mixed ^= mixed >> 32
    mixed = mixed * _MIX & _WORD
    return cython.cast(int64, mixed >> (64 - bits))


def number_keys(
    high: cython.const[uint64][::1], low: cython.const[uint64][::1], start: int64, table: int32[::1], bits: int64,
    keys: uint64[::1], count: int64, numbers: int32[::1], slots: int64[::1],
) -> int64:  # fmt: skip
    """Number keys of two words from a row on, as they come; `table` has the number of a key plus one, `keys` the words.

    Ends at the last row, or where there are as many different keys as `keys` has places. Returns the row; the keys
    that there are by then are one more than the highest number. `slots` is work space: of so many rows the places are
    looked at first, so that memory brings them all at once.
    """
    cython.declare(begin=int64, end=int64, row=int64, place=int64, slot=int64, found=int64)
    cython.declare(touched=uint64, one=uint64, other=uint64)
    rows: int64 = high.shape[0]
    mask: int64 = table.shape[0] - 1
    most: int64 = keys.shape[0] // 2
    block: int64 = slots.shape[0] // 2
    with cython.nogil:
        begin = start
        while begin < rows:
            end = min(begin + block, rows)
            for row in range(begin, end):
                slots[row - begin] = _slot(high[row], low[row], bits)
            for place in range(end - begin):
                slots[block + place] = table[slots[place]]
            touched = 0
            for place in range(end - begin):
                touched ^= keys[2 * max(slots[block + place] - 1, 0)]
            slots[block] = touched & 1
            for row in range(begin, end):
                one = high[row]
                other = low[row]
                slot = slots[row - begin]
                found = table[slot] - 1
                while found >= 0 and (keys[2 * found] != one or keys[2 * found + 1] != other):
                    slot = (slot + 1) & mask
                    found = table[slot] - 1
                if found < 0:
                    if count == most:  # no place for another key: the caller goes on from here with a larger table
                        rows = row
                        break
                    keys[2 * count] = one
                    keys[2 * count + 1] = other
                    table[slot] = count + 1
                    found = count
                    count += 1
                numbers[row] = found
            begin = end
    return rows


def place_keys(keys: cython.const[uint64][::1], count: int64, table: int32[::1], bits: int64) -> None:
    """Put the numbers of keys into an empty table."""
    cython.declare(number=int64, slot=int64)
    mask: int64 = table.shape[0] - 1
    with cython.nogil:
        for number in range(count):
            slot = _slot(keys[2 * number], keys[2 * number + 1], bits)
            while table[slot] != 0:
                slot = (slot + 1) & mask
            table[slot] = number + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _turned(word: uint64, by: int64) -> uint64:
    return (word << by) & _WORD | (word >> (64 - by))


def siphash_words(k0: uint64, k1: uint64, words: uint64[::1]) -> None:
    """Each word becomes its SipHash-2-4, under a key of two words."""
    cython.declare(place=int64, step=int64, word=uint64, v0=uint64, v1=uint64, v2=uint64, v3=uint64)
    with cython.nogil:
        for place in range(words.shape[0]):
            word = words[place]
            v0 = k0 ^ _SIP_0
            v1 = k1 ^ _SIP_1
            v2 = k0 ^ _SIP_2
            v3 = k1 ^ _SIP_3
            for step in range(8):
                if step == 0:
                    v3 ^= word
                elif step == 2:
                    v0 ^= word
                    v3 ^= _SIP_LENGTH
                elif step == 4:
                    v0 ^= _SIP_LENGTH
                    v2 ^= 0xFF
                v0 = v0 + v1 & _WORD
                v1 = _turned(v1, 13) ^ v0
                v0 = _turned(v0, 32)
                v2 = v2 + v3 & _WORD
                v3 = _turned(v3, 16) ^ v2
                v0 = v0 + v3 & _WORD
                v3 = _turned(v3, 21) ^ v0
                v2 = v2 + v1 & _WORD
                v1 = _turned(v1, 17) ^ v2
                v2 = _turned(v2, 32)
            words[place] = v0 ^ v1 ^ v2 ^ v3


def number_in_order(words: cython.const[uint64][::1], bits: int64, numbers: int64[::1]) -> int64:
    """Number the runs of equal keys among sorted words of a key and, in their low `bits`, a row; how many there are."""
    cython.declare(place=int64, word=uint64, key=uint64)
    mask: uint64 = (cython.cast(uint64, 1) << bits) - 1
    number: int64 = -1
    before: uint64 = 0
    with cython.nogil:
        for place in range(words.shape[0]):
            word = words[place]
            key = word >> bits
            if place == 0 or key != before:
                number += 1
                before = key
            numbers[word & mask] = number
    return number + 1


def number_in_runs(
    words: cython.const[uint64][::1], keys: cython.const[uint64][::1], bits: int64, left_out: int64, seen: int64[::1],
    numbers: int64[::1],
) -> int64:  # fmt: skip
    """As `number_in_order`, where the words lack so many of the lowest bits of their keys: rows that are alike in the
    others are numbered by these. `seen` has a number for each value of them, 0 before and after."""
    cython.declare(i=int64, end=int64, least=uint64, most=uint64, rest=uint64, row=uint64)
    rows: uint64 = (cython.cast(uint64, 1) << bits) - 1
    low: uint64 = (cython.cast(uint64, 1) << left_out) - 1
    count: int64 = 0
    start: int64 = 0
    with cython.nogil:
        while start < words.shape[0]:
            end = start + 1
            while end < words.shape[0] and words[end] >> bits == words[start] >> bits:
                end += 1
            least = low
            most = 0
            for i in range(start, end):
                rest = keys[words[i] & rows] & low
                seen[rest] = 1
                least = min(least, rest)
                most = max(most, rest)
            for rest in range(least, most + 1):
                if seen[rest]:
                    count += 1
                    seen[rest] = count
            for i in range(start, end):
                row = words[i] & rows
                numbers[row] = seen[keys[row] & low] - 1
            for rest in range(least, most + 1):
                seen[rest] = 0
            start = end
    return count


def number_as_they_come(
    keys: cython.const[Key][::1], slots: int32[::1], distinct: uint64[::1], numbers: int64[::1]
) -> int64:
    """Number keys in the order in which they come first, which `distinct` has then; -1 if they are too many for it.

    `slots` hold the number of a key and 1, or 0; their number is a power of two.
    """
    cython.declare(row=int64, key=uint64, mixed=uint64, slot=uint64, found=int64)
    mask: uint64 = slots.shape[0] - 1
    count: int64 = 0
    with cython.nogil:
        for row in range(keys.shape[0]):
            key = cython.cast(uint64, keys[row])
            mixed = key * _GOLDEN & _WORD
            slot = (mixed ^ mixed >> 32) & mask
            found = slots[slot]
            while found > 0 and distinct[found - 1] != key:
                slot = (slot + 1) & mask
                found = slots[slot]
            if found == 0:
                if count == distinct.shape[0]:
                    count = -1
                    break
                distinct[count] = key
                count += 1
                found = count
                slots[slot] = found
            numbers[row] = found - 1
    return count


def ends_of_clusters(
    codes: cython.const[Code][::1],
    order: cython.const[int64][::1],
    starts: cython.const[int64][::1],
    low: Code[::1],
    high: Code[::1],
) -> None:
    """The lowest and highest code of each cluster: rows in `order`, a new cluster at each of `starts`."""
    cython.declare(cluster=int64, start=int64, end=int64, place=int64, code=int64, least=int64, most=int64)
    with cython.nogil:
        for cluster in range(starts.shape[0]):
            start = starts[cluster]
            end = starts[cluster + 1] if cluster + 1 < starts.shape[0] else order.shape[0]
            least = most = codes[order[start]]
            for place in range(start + 1, end):
                code = codes[order[place]]
                least = min(least, code)
                most = max(most, code)
            low[cluster] = least
            high[cluster] = most


def take_codes(
    codes: cython.const[Code][::1], rows: cython.const[int64][::1], taken: uint32[::1], held: uint8[::1]
) -> int64:
    """The codes of some rows, and which codes these are; returns how many are past `held`: missing values."""
    cython.declare(place=int64, code=int64)
    missing: int64 = 0
    with cython.nogil:
        for place in range(rows.shape[0]):
            code = codes[rows[place]]
            taken[place] = code
            if code < held.shape[0]:
                held[code] = True
            else:
                missing += 1
    return missing


def pack_numbers(
    codes: cython.const[uint32][::1], numbers: cython.const[uint32][::1], bits: int64, packed: uint8[::1]
) -> None:
    """The number of each code in so many bits, the lowest first; `packed` has as many bytes as they take, or more."""
    cython.declare(place=int64)
    waiting: uint64 = 0
    held: int64 = 0
    at: int64 = 0
    with cython.nogil:
        for place in range(codes.shape[0]):
            waiting |= cython.cast(uint64, numbers[codes[place]]) << held
            held += bits
            while held >= 8:
                packed[at] = waiting & 255
                waiting >>= 8
                held -= 8
                at += 1
        if held > 0:
            packed[at] = waiting & 255


def squares_of_rows(
    boxes: cython.const[uint32][::1], codes: cython.const[uint16][:, ::1], ends: cython.const[uint16][:, ::1],
    scales: cython.const[float64][::1], values: cython.const[float64][::1], starts: cython.const[int64][:, ::1],
    spreads: cython.const[float64][::1], squares: float64[::1],
) -> None:  # fmt: skip
    """The squared distance of each row to the farthest corner of its box, in spreads.

    `ends[box]` are the low and the high end of each column, `starts[column]` where its scale and its values begin.
    """
    cython.declare(first=int64, last=int64, column=int64, row=int64, scale=int64, own=int64)
    cython.declare(unit=float64, value=float64, below=float64, above=float64, farthest=float64)
    with cython.nogil:
        for row in range(squares.shape[0]):
            squares[row] = 0
        first = 0
        while first < squares.shape[0]:
            last = min(first + _NEAR, squares.shape[0])
            for column in range(spreads.shape[0]):
                scale = starts[column, 0]
                own = starts[column, 1]
                unit = spreads[column]
                for row in range(first, last):
                    value = values[own + codes[column, row]]
                    below = value - scales[scale + ends[boxes[row], 2 * column]]
                    above = scales[scale + ends[boxes[row], 2 * column + 1]] - value
                    farthest = (above if above > below else below) / unit
                    squares[row] += farthest * farthest
            first = last


def swap_partners(window: int64, draws: cython.const[float64][::1]) -> Any:
    """For each rank the rank that it changes places with, at most `window` above or below; itself if none is left.

    From the lowest rank on, each that is still free takes one of the free ranks above it: the first from a random place
    on. `draws` are uniform, one for each rank.

    >>> swap_partners(2, np.array([0.1, 0.9, 0.5, 0.5, 0.2, 0.7])).tolist()
    [1, 0, 4, 5, 2, 3]
    """
    cython.declare(rank=int64, above=int64, start=int64, step=int64, other=int64)
    count: int64 = draws.shape[0]
    partners = np.full(count, -1, np.int64)
    partner: int64[::1] = partners
    with cython.nogil:
        for rank in range(count):
            if partner[rank] >= 0:
                continue
            above = min(window, count - 1 - rank)
            start = cython.cast(int64, draws[rank] * above)
            partner[rank] = rank
            for step in range(above):
                other = rank + 1 + (start + step) % above
                if partner[other] < 0:
                    partner[rank] = other
                    partner[other] = rank
                    break
    return partners
