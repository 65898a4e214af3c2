"""Loops over the codes of a column as a Parquet file is written from them."""

from __future__ import annotations

import numpy as np

from shoal.compiled import compiled
from shoal.table import Array


@compiled
def take_codes(codes: Array, rows: Array, taken: Array, held: Array) -> int:
    """The codes of some rows, and which codes these are; returns how many are past `held`: missing values."""
    missing = 0
    for place in range(len(rows)):
        code = np.int64(codes[rows[place]])
        taken[place] = code
        if code < len(held):
            held[code] = True
        else:
            missing += 1
    return missing


@compiled
def pack_numbers(codes: Array, numbers: Array, bits: int, packed: Array) -> None:
    """The number of each code in so many bits, the lowest first; `packed` has as many bytes as they take, or more."""
    waiting, held, at = np.uint64(0), 0, 0
    for place in range(len(codes)):
        waiting |= np.uint64(numbers[codes[place]]) << np.uint64(held)
        held += bits
        while held >= 8:
            packed[at] = waiting & np.uint64(255)
            waiting >>= np.uint64(8)
            held -= 8
            at += 1
    if held > 0:
        packed[at] = waiting & np.uint64(255)


def rehearse() -> None:
    """Run every loop for codes of each type, so that all are compiled."""
    taken, numbers = np.empty(3, np.uint32), np.array([0, 1], np.uint32)
    for kind in (np.uint8, np.uint16, np.uint32):
        take_codes(np.array([0, 1, 0], kind), np.arange(3), taken, np.zeros(2, bool))
    pack_numbers(taken, numbers, 1, np.zeros(1, np.uint8))
