"""Pseudonyms that are digits again, as many as before: a keyed permutation of all numbers of a length.

A Feistel network over decimal digits in the manner of FF1 (NIST SP 800-38G), with HMAC-SHA-256 as its round function:
one-to-one, so two persons never share a pseudonym, and undone by the key only. The standard asks for a million possible
values at least, so shorter numbers are refused.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.pseudonyms.keyed import Method, digester
from shoal.table import Array

ROUNDS = 10
FEWEST, MOST = 6, 18


def digits(values: list[bytes], secret: bytes, method: Method, name: str = "column") -> pl.Series:
    """A pseudonym of the same length for each number.

    >>> made = digits([b"000001", b"000002"], b"k" * 32, "blake2b")
    >>> [len(text) for text in made], made[0] != made[1], all(text.isdecimal() for text in made)
    ([6, 6], True, True)
    """
    texts = pl.Series(values, dtype=pl.Binary).cast(pl.String)
    if not texts.str.contains(rf"^[0-9]{{{FEWEST},{MOST}}}$").all():
        raise InputError(
            f"Column '{name}' holds values that are not {FEWEST} to {MOST} digits, so none of their form can be made.",
            "Use --format short, which fits every value.",
        )
    lengths = texts.str.len_bytes().to_numpy()
    numbers = texts.cast(pl.Int64).to_numpy()
    made = np.empty(len(numbers), np.int64)
    for length in np.unique(lengths).tolist():
        rows = lengths == length
        made[rows] = permuted(numbers[rows], length, secret, method)
    out = pl.DataFrame({"made": made, "length": lengths.astype(np.int64)})
    return out.select(pl.col("made").cast(pl.String).str.pad_start(pl.col("length"), "0")).to_series()


def permuted(numbers: Array, length: int, secret: bytes, method: Method) -> Array:
    """Numbers below 10^length, each to another, one-to-one.

    >>> sorted(set(permuted(np.arange(1000), 6, b"k" * 32, "blake2b").tolist())) != list(range(1000))
    True
    """
    left_digits = length // 2
    sizes = (10**left_digits, 10 ** (length - left_digits))
    left, right = numbers // sizes[1], numbers % sizes[1]
    for turn in range(ROUNDS):
        # the sides change places: the left one has the size of the turn
        size = sizes[turn % 2]
        left, right = right, (left + _round(right, turn, length, secret, method)) % size
    # after an even number of turns both have their first sizes again
    return np.asarray(left * sizes[1] + right)


def _round(halves: Array, turn: int, length: int, secret: bytes, method: Method) -> Array:
    """A keyed number for each half; each distinct half is hashed once."""
    distinct, where = np.unique(halves, return_inverse=True)
    digest, lead = digester(secret, method, 8), f"digits {length} {turn} ".encode()
    hashed = b"".join([digest(lead + b"%d" % half) for half in distinct.tolist()])
    return np.asarray((np.frombuffer(hashed, ">u8") >> np.uint64(1)).astype(np.int64)[where] % 10**18)
