"""Columns of a text file that hold whole numbers, parsed as numbers where that loses nothing of what is written.

A number in the least characters that say it (`7`, not `07` or `+7`) is its own text, so a block whose bytes are as many
as its cells, delimiters, line ends and quotes take when every number is written that way has no cell written otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
import polars as pl

# what may be parsed as a number: at most so many digits that every one of them fits 64 bits
_WHOLE = r"^(0|-?[1-9][0-9]{0,17})$"
_FIRST_SIGNS = "-0123456789"
_HEAD = 1 << 16
_QUOTE, _RETURN, _EMPTY_TEXT = b'"', b"\r", b'""'

Split = Callable[[bytes, Mapping[str, pl.DataType]], pl.DataFrame]


class WholeNumbers:
    """Which columns are parsed as whole numbers, block after block; `split` parses a block by a schema.

    The bytes of a block are accounted for by all columns, so where most are not wanted it is not worth the parsing.
    """

    def __init__(self, columns: Collection[str], wanted: Collection[str], split: Split) -> None:
        self._columns, self._wanted, self._split = list(columns), list(wanted), split
        self._numbers: set[str] | None = None if 2 * len(set(wanted)) >= len(self._columns) else set()

    def parse(self, block: bytes) -> pl.DataFrame | None:
        """All columns of a block, numbers as numbers; None where the block must be parsed as text."""
        if self._numbers is None:
            self._numbers = self._found_in(block)
        # as a number, an empty text in quotes would be a missing one
        if not self._numbers.intersection(self._wanted) or _EMPTY_TEXT in block:
            return None
        schema = {name: pl.Int64() if name in self._numbers else pl.String() for name in self._columns}
        try:
            frame = self._split(block, schema)
        except pl.exceptions.PolarsError:
            return None
        return frame if accounted_for(block, frame) else None

    def parsed_as_text(self, frame: pl.DataFrame) -> None:
        """Parse no column as a number from now on that is not one in this block, which was parsed as text."""
        left = {name for name in self._numbers or () if name in frame.columns and are_whole(frame[name])}
        # where all of them are, something else is not accounted for, and would not be the next time
        self._numbers = set() if left == self._numbers else left

    def _found_in(self, block: bytes) -> set[str]:
        head = block[: block.rfind(b"\n", 0, _HEAD) + 1]
        while head.count(_QUOTE) % 2:
            head = head[: head.rfind(b"\n", 0, -1) + 1]
        try:
            frame = self._split(head, {name: pl.String() for name in self._columns}).head(1_000)
        except pl.exceptions.PolarsError:
            return set()
        return {name for name in self._columns if are_whole(frame[name])}


def are_whole(texts: pl.Series) -> bool:
    """Whether texts are whole numbers in the least characters that say them, some at least.

    >>> are_whole(pl.Series(["7", None, "-12"])), are_whole(pl.Series(["07"]))
    (True, False)
    """
    known = texts.drop_nulls() if texts.null_count() else texts
    return len(known) > 0 and known[0][:1] in _FIRST_SIGNS and bool(known.str.contains(_WHOLE).all())


def accounted_for(block: bytes, frame: pl.DataFrame) -> bool:
    r"""Whether the cells of a block, each as it is written in the least characters, take all of its bytes.

    >>> accounted_for(b"7,a\n12,b\n", pl.DataFrame({"n": [7, 12], "t": ["a", "b"]}))
    True
    >>> accounted_for(b"07,a\n12,b\n", pl.DataFrame({"n": [7, 12], "t": ["a", "b"]}))
    False
    """
    returns = block.count(_RETURN) if _RETURN in block else 0
    if returns not in (0, len(frame)):
        return False
    # signs that are in no cell are ends of lines, or around cells
    apart = [sign for sign in (_QUOTE, _RETURN) if sign in block]
    total = len(frame) * frame.width + returns + (block.count(_QUOTE) if _QUOTE in apart else 0)
    for column in frame.get_columns():
        if column.dtype == pl.Int64:
            total += _characters(column)
        elif any(bool(column.str.contains(sign.decode(), literal=True).any()) for sign in apart):
            return False
        else:
            total += int(column.str.len_bytes().sum())
    return total == len(block)


def _characters(numbers: pl.Series) -> int:
    """How many characters whole numbers take.

    >>> _characters(pl.Series([0, 9, 10, -100, None]))
    8
    """
    low, high = numbers.min(), numbers.max()
    if low is None or high is None:
        return 0
    assert isinstance(low, int)
    assert isinstance(high, int)
    known = (numbers.drop_nulls() if numbers.null_count() else numbers).to_numpy()
    total = len(known)
    if low < 0:
        total += int(np.count_nonzero(known < 0))
        known = np.abs(known)
    power = 10
    while power <= max(high, -low):
        total += int(np.count_nonzero(known >= power))
        power *= 10
    return total
