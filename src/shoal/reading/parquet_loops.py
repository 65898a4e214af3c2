"""Cells of a Parquet page as numbers: runs of one number, and numbers packed bit by bit, as the format mixes them."""

from __future__ import annotations

import numpy as np

from shoal.compiled import Number, compiled, compiled_inside
from shoal.table import Array

# numbers of more bits are not read here: with the bits before them they would not fit four bytes
MOST_BITS = 24


@compiled_inside
def _wide(number: Number) -> Number:
    return np.int64(number)


@compiled
def unpack(data: Array, start: int, bits: int, first: int, codes: Array, held: Array) -> int:
    """Fill `codes` with the numbers that start there, each plus `first`; `held[n]` becomes whether n is among them.

    Returns where what was read ends; -1 where the bytes end before, a run is empty, or a number is not below
    `len(held)`.
    """
    end, count, limit = len(data), len(codes), len(held)
    size, mask = (bits + 7) // 8, (1 << bits) - 1
    at, done = start, 0
    while done < count:
        head, shift = 0, 0
        while True:
            if at >= end or shift > 35:
                return -1
            byte = _wide(data[at])
            at += 1
            head |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        length = head >> 1
        if length == 0:
            return -1
        if head & 1 == 0:  # one number so many times
            number = 0
            if at + size > end:
                return -1
            for place in range(size):
                number |= _wide(data[at + place]) << (8 * place)
            at += size
            if number >= limit:
                return -1
            held[number] = True
            number += first
            stop = min(done + length, count)
            for place in range(done, stop):
                codes[place] = number
            done = stop
            continue
        # eights of packed numbers; of the last, those past the end are padding
        if length > (end - at) // max(bits, 1) and bits > 0:
            return -1
        stop = min(done + 8 * length, count)
        # the last numbers that four bytes from their first bit on would leave the data for come byte by byte
        fast = max(min(stop - done, ((end - 4 - at) * 8) // max(bits, 1)), 0)
        most = _wide(0)
        for place in range(fast):
            bit = place * bits
            byte = at + (bit >> 3)
            word = np.uint32(data[byte]) | np.uint32(data[byte + 1]) << np.uint32(8)
            word |= np.uint32(data[byte + 2]) << np.uint32(16) | np.uint32(data[byte + 3]) << np.uint32(24)
            number = _wide(word >> np.uint32(bit & 7)) & mask
            most = max(most, number)
            codes[done + place] = number + first
        for place in range(fast, stop - done):
            bit = place * bits
            byte = at + (bit >> 3)
            rest = _wide(0)
            for more in range(min(end - byte, 4)):
                rest |= _wide(data[byte + more]) << (8 * more)
            number = (rest >> (bit & 7)) & mask
            most = max(most, number)
            codes[done + place] = number + first
        if most >= limit:
            return -1
        for place in range(done, stop):
            held[codes[place] - first] = True
        at += length * bits
        done = stop
    return at


@compiled_inside
def _compared(data: Array, one: int, other: int) -> Number:
    """Below, at or above 0 as a text comes before, is, or comes behind another one: byte by byte, as polars sorts.

    Both are told by where their lengths start, four bytes before them.
    """
    mine = _wide(data[one]) | _wide(data[one + 1]) << 8 | _wide(data[one + 2]) << 16
    theirs = _wide(data[other]) | _wide(data[other + 1]) << 8 | _wide(data[other + 2]) << 16
    for place in range(4, 4 + min(mine, theirs)):
        apart = _wide(data[one + place]) - _wide(data[other + place])
        if apart != 0:
            return apart
    return mine - theirs


@compiled
def text_starts(data: Array, firsts: Array, starts: Array) -> int:
    """Where texts start (their lengths in four bytes before them), all of some dictionaries one behind the other.

    `firsts` are the numbers of each dictionary's first text, and that past the last. Returns 1 if the texts of every
    dictionary are in order, each once; 0 if not, or if one is long; -1 where the lengths do not agree with the data.
    """
    end, at, ordered = len(data), 0, 1
    for group in range(len(firsts) - 1):
        for number in range(firsts[group], firsts[group + 1]):
            if at + 4 > end:
                return -1
            length = _wide(data[at]) | _wide(data[at + 1]) << 8 | _wide(data[at + 2]) << 16
            length |= _wide(data[at + 3]) << 24
            if length > end - at - 4:
                return -1
            starts[number] = at
            at += 4 + length
            if length >= 1 << 24:
                ordered = 0
            if ordered == 1 and number > firsts[group] and _compared(data, starts[number - 1], starts[number]) >= 0:
                ordered = 0
    return ordered if at == end else -1


@compiled
def merge_texts(data: Array, firsts: Array, starts: Array, heads: Array, places: Array, chosen: Array) -> int:
    """Unite dictionaries that are in order: `chosen` becomes one text of each value, in order, and `places` where each
    text is among them. Returns how many values there are; `heads` is work space, a number for each dictionary.
    """
    groups, count = len(firsts) - 1, 0
    for group in range(groups):
        heads[group] = firsts[group]
    while True:
        least = -1
        for group in range(groups):
            if heads[group] < firsts[group + 1] and (
                least < 0 or _compared(data, starts[heads[group]], starts[least]) < 0
            ):
                least = heads[group]
        if least < 0:
            return count
        chosen[count] = least
        for group in range(groups):
            head = heads[group]
            if head < firsts[group + 1] and (head == least or _compared(data, starts[head], starts[least]) == 0):
                places[head] = count
                heads[group] += 1
        count += 1


@compiled
def copy_texts(data: Array, starts: Array, chosen: Array, copied: Array) -> int:
    """The chosen texts with their lengths, one behind the other; returns how many bytes they are, at most all."""
    done = _wide(0)
    for number in chosen:
        at = starts[number]
        size = _wide(data[at]) | _wide(data[at + 1]) << 8 | _wide(data[at + 2]) << 16
        for place in range(4 + size):
            copied[done + place] = data[at + place]
        done += 4 + size
    return int(done)
