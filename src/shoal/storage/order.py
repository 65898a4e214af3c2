"""Order and samples by a keyed hash.

A sample goes by what rows say, not by where they stand. Equal rows are numbered 0, 1, …, and each (row, number) has
a hash under a key of the seed. Sorted by hash, rows are in an order that does not depend on how they came in: its
first n are a sample. Equal rows are not drawn together, and every engine that has the same rows gives the same order.

The order of a release goes by the hash of the row's position: its owner has it again from the seed alone, whatever
types another file of the same rows has.

The hash is SipHash-2-4 (Aumasson and Bernstein, 2012), a pseudorandom function: who sees the order and knows some of
the rows learns nothing about the others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from shoal.storage.classes import Codes, order_of_words, pack, sorted_with_order
from shoal.storage.table import Array

_U = np.uint64


def secret_order(columns: Sequence[Codes], seed: int) -> Array:
    """The rows in the order of their keyed hashes: `order[r]` is the row that comes r-th.

    >>> from shoal.storage.classes import Coded
    >>> ages, other_way_round = np.array([2, 0, 1, 0]), np.array([0, 1, 0, 2])
    >>> ages[secret_order([Coded(ages, 3)], seed=7)].tolist()
    [0, 2, 0, 1]
    >>> other_way_round[secret_order([Coded(other_way_round, 3)], seed=7)].tolist()
    [0, 2, 0, 1]
    """
    return order_of_words(row_hashes(columns, seed))


def shuffled_order(rows: int, seed: int) -> Array:
    """So many rows in a secret order, which can be had again from the seed: positions by their keyed hashes.

    >>> shuffled_order(8, 7).tolist()
    [7, 1, 2, 0, 6, 4, 5, 3]
    """
    return order_of_words(siphash(np.arange(rows, dtype=_U), key_of(seed)))


def released_order(rows: int, seed: int | None, removed: Sequence[int] = ()) -> Array | None:
    """The row of the original that each released row is; None where that is its own number.

    >>> released_order(4, None, [1]).tolist()
    [0, 2, 3]
    """
    shuffled = None if seed is None else shuffled_order(rows - len(set(removed)), seed)
    return original_rows(rows, shuffled, removed)


def original_rows(rows: int, shuffled: Array | None, removed: Sequence[int] = ()) -> Array | None:
    """The same for rows that are in a known order once others were removed."""
    if not len(removed):
        return shuffled
    kept = np.delete(np.arange(rows), list(removed))
    return kept if shuffled is None else kept[shuffled]


def sample_rows(columns: Sequence[Codes], size: int, seed: int) -> Array:
    """So many rows drawn without replacement, in the order in which they came: the first of the secret order.

    >>> from shoal.storage.classes import Coded
    >>> sample_rows([Coded(np.array([2, 0, 1, 0]), 3)], 2, seed=7).tolist()
    [0, 3]
    """
    hashes = row_hashes(columns, seed)
    if not 0 < size < len(hashes):
        return np.sort(order_of_words(hashes)[:size])
    last = np.partition(hashes, size - 1)[size - 1]
    drawn = np.flatnonzero(hashes <= last)
    if len(drawn) > size:  # hashes that are equal: the first rows
        below = np.flatnonzero(hashes < last)
        drawn = np.sort(np.concatenate([below, np.flatnonzero(hashes == last)[: size - len(below)]]))
    return drawn


def row_hashes(columns: Sequence[Codes], seed: int) -> Array:
    """A keyed hash of each (row, occurrence number)."""
    order, ordered = sorted_with_order(pack(columns))
    new = np.empty(len(ordered), bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    # in this order the i-th row is known by i: the tuple's rank and the number among equals say the same
    starts = np.flatnonzero(new)
    rank = np.cumsum(new, dtype=_U) - _U(1)
    number = np.arange(len(ordered), dtype=_U) - starts.astype(_U)[rank.astype(np.int64)]
    found = np.empty(len(ordered), _U)
    found[order] = siphash(rank << _U(32) | number, key_of(seed))
    return found


def key_of(seed: int) -> tuple[int, int]:
    """The 128-bit key that a seed stands for."""
    digest = hashlib.blake2b(str(seed).encode(), digest_size=16, person=b"shoal row order").digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def siphash(words: Array, key: tuple[int, int]) -> Array:
    """SipHash-2-4 of each 64-bit word.

    >>> hex(int(siphash(np.array([0x0706050403020100], np.uint64), (0x0706050403020100, 0x0F0E0D0C0B0A0908))[0]))
    '0x93f5f5799a932462'
    """
    from shoal.kernels.rows import siphash_words

    hashes = words.copy()
    siphash_words(*key, hashes)
    return hashes
