"""Columns of delimited text as codes: blocks go from bytes to codes without a text for every cell.

A column whose texts are too many is parsed as whole numbers where all of them are, and as text where not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from shoal.compiled import at_hand
from shoal.compiled.words import words_of
from shoal.reading import csv_fields as fields
from shoal.reading.bytes import PADDING, padded
from shoal.reading.csv_numbers import are_whole
from shoal.reading.repeated_lines import RepeatedLines
from shoal.table import Array, smallest_unsigned
from shoal.table.coded import CodedTexts

# entries of a dictionary at first, and how many times as many it has when these are not enough
_FIRST, _TIMES = 128, 4
# blocks one after the other that had to be parsed elsewhere, after which all are
_PATIENCE = 3
# a file of so many bytes is worth compiling the loops, where they are not
_LARGE = 1 << 26


def is_worth_it(size: int, delimiter: str) -> bool:
    """Whether a file of so many bytes should be read as codes."""
    plain = len(delimiter.encode()) == 1 and delimiter not in '"\r\n'
    return plain and (size >= _LARGE or at_hand(fields.code_fields))


class FieldCodes:
    """The dictionaries of the columns of a file, which grow block by block; columns are places in a record.

    >>> found = FieldCodes(2, [1], ",").parse(b"1,a\\n2,b\\n3,\\n4,a\\n")
    >>> found[1].codes.tolist(), found[1].new.to_list()
    ([0, 1, 255, 0], ['a', 'b'])
    """

    def __init__(self, width: int, wanted: Sequence[int], delimiter: str) -> None:
        count = len(wanted)
        self._delimiter, self._wanted, self._numbers = np.uint8(ord(delimiter)), list(wanted), 0
        self._kinds, self._places = np.zeros((2, width), np.uint64)
        self._kinds[self._wanted], self._places[self._wanted] = fields.CODED, np.arange(count)
        # of each dictionary: where its slots and its entries are, how many entries it has, and who knows how many
        self._entries = np.arange(count, dtype=np.uint64) * np.uint64(_FIRST)
        self._starts, self._masks = 2 * self._entries, np.full(count, 2 * _FIRST - 1, np.uint64)
        self._counts, self._known = np.zeros((2, count), np.uint64)
        self._slots = np.zeros(count * 2 * _FIRST, np.uint32)
        self._digests, self._lengths, self._offsets = np.zeros((3, count * _FIRST), np.uint64)
        self._kept, self._used, self._failed = np.zeros(1 << 12, np.uint64), 0, 0
        self._codes, self._found = np.zeros((0, 0), np.uint16), np.zeros((0, 0), np.int64)
        # lines that come again, the codes of the fields of each, and the line of each row of a block
        self._lines: RepeatedLines | None = RepeatedLines()
        self._codes_of_lines = np.zeros((count, 0), np.uint16)
        self._line_of_row: Array | None = None

    @property
    def given_up(self) -> bool:
        """Whether this is not the way to read the file."""
        return self._failed >= _PATIENCE or 2 * len(self.texts) > len(self._wanted)

    @property
    def texts(self) -> list[int]:
        """The wanted columns that must be parsed as texts."""
        return [column for column in self._wanted if self._kinds[column] == fields.SKIPPED]

    def parse(self, block: bytes) -> dict[int, CodedTexts | pl.Series] | None:
        """The wanted columns of whole records but for `texts`; None where the block must be parsed elsewhere."""
        return self.parse_padded(padded(block))

    def parse_padded(self, block: memoryview) -> dict[int, CodedTexts | pl.Series] | None:
        """The same of a block with `PADDING` behind it."""
        before, used = self._counts.copy(), self._used
        rows = self._coded_by_lines(block)
        if rows is None:
            rows = self._coded(block)
        if rows is None or self.given_up:
            self._forget(before, used)
            self._failed += 1
            return None
        self._failed = 0
        return {column: self._column(column, rows) for column in self._wanted if self._kinds[column] != fields.SKIPPED}

    def _coded_by_lines(self, block: memoryview) -> int | None:
        """Code the lines of a block that were not there before, once each; None where it is not made of such lines."""
        self._line_of_row = None
        if self._lines is None:
            return None
        known, counts, used, numbers = self._lines.count, self._counts.copy(), self._used, self._numbers
        kinds, places = self._kinds.copy(), self._places.copy()
        found = self._lines.numbered(block, len(block) - PADDING, len(kinds))
        if found is not None:
            self._line_of_row, new = found
            rows = self._coded(padded(new)) if len(new) else 0
            # as many records as lines: each of them is a record, wherever it stands
            if rows == self._lines.count - known and np.array_equal(kinds, self._kinds):
                self._codes_of_lines = np.hstack([self._codes_of_lines, self._codes[:, :rows]])
                return len(self._line_of_row)
            self._forget(counts, used)
            self._kinds, self._places, self._numbers = kinds, places, numbers
        self._lines = self._line_of_row = None
        return None

    def _coded(self, block: memoryview) -> int | None:
        """Code a block, with more space and other kinds of columns where it takes them: how many rows it has."""
        data, words, end = np.frombuffer(block, np.uint8), words_of(block), len(block) - PADDING
        rows = end // len(self._kinds) + 1  # a record takes a byte for every field at least
        self._codes = _space(self._codes, len(self._wanted), rows, np.uint16)
        self._found = _space(self._found, self._numbers, rows, np.int64)
        state = np.array([0, 0, self._used, 0], np.uint64)
        while True:
            ended = fields.code_fields(
                *(words, data, np.uint64(end), self._delimiter, self._kinds, self._places, self._codes, self._found),
                *(self._starts, self._masks, self._slots, self._entries, self._counts),
                *(self._digests, self._lengths, self._offsets, self._kept, state),
            )
            if ended == fields.UNUSUAL:
                return None
            self._used, column = int(state[fields.USED]), int(state[fields.COLUMN])
            if ended == fields.DONE:
                return int(state[fields.ROW])
            if ended == fields.NO_SPACE:
                more = max(len(self._kept), end // 8 + 1)
                self._kept = np.concatenate([self._kept, np.zeros(more, np.uint64)])
            elif ended == fields.FULL and self._counts[self._places[column]] < fields.NO_TEXT:
                self._grow(int(self._places[column]))
            else:
                self._change(column)
                return self._coded(block)

    def _grow(self, place: int) -> None:
        """Move a dictionary to where it has more space."""
        count, entry = int(self._counts[place]), int(self._entries[place])
        size = _TIMES * (int(self._masks[place]) + 1)
        self._starts[place], self._masks[place], self._entries[place] = len(self._slots), size - 1, len(self._digests)
        self._slots = np.concatenate([self._slots, np.empty(size, np.uint32)])
        self._digests, self._lengths, self._offsets = (
            np.concatenate([old, old[entry : entry + count], np.zeros(size // 2 - count, old.dtype)])
            for old in (self._digests, self._lengths, self._offsets)
        )
        self._fill(place)

    def _fill(self, place: int) -> None:
        start, size, entry = int(self._starts[place]), int(self._masks[place]) + 1, int(self._entries[place])
        fields.fill_slots(self._slots, start, size, self._digests, entry, int(self._counts[place]))

    def _forget(self, counts: Array, used: int) -> None:
        """Be without what a block brought that is parsed elsewhere: no row may have it."""
        self._used = used
        for place in np.flatnonzero(self._counts != counts):
            self._counts[place] = counts[place]
            self._fill(int(place))

    def _change(self, column: int) -> None:
        """A column that has too many texts, or a text that is not a number, becomes another kind of column."""
        if self._kinds[column] == fields.CODED and are_whole(self._texts(int(self._places[column]), 0)):
            self._kinds[column], self._places[column] = fields.NUMBER, self._numbers
            self._numbers += 1
        else:
            self._kinds[column] = fields.SKIPPED

    def _texts(self, place: int, first: int) -> pl.Series:
        """The texts of a dictionary from one of them on."""
        here = slice(int(self._entries[place]) + first, int(self._entries[place] + self._counts[place]))
        memory = self._kept.view(np.uint8).data
        spans = zip((8 * self._offsets[here]).tolist(), self._lengths[here].tolist(), strict=True)
        return pl.Series([str(memory[start : start + size], "utf-8") for start, size in spans], dtype=pl.String)

    def _column(self, column: int, rows: int) -> CodedTexts | pl.Series:
        place = int(self._places[column])
        if self._kinds[column] == fields.NUMBER:
            numbers = pl.Series(self._found[place, :rows].copy())
            return numbers.set(numbers == fields.NOTHING, None) if numbers.min() == fields.NOTHING else numbers
        known, count = int(self._known[place]), int(self._counts[place])
        self._known[place] = count
        # the code of no text is the widest of any type
        codes = self._codes_of_rows(place, rows, smallest_unsigned(count + 1))
        return CodedTexts(codes, self._texts(place, known), known)

    def _codes_of_rows(self, place: int, rows: int, dtype: np.dtype[Any]) -> Array:
        if self._line_of_row is None:
            return self._codes[place, :rows].astype(dtype)
        return np.asarray(self._codes_of_lines[place].astype(dtype).take(self._line_of_row))


def _space(array: Array, count: int, rows: int, dtype: Any) -> Array:
    fits = array.shape[0] == count and array.shape[1] >= rows
    return array if fits else np.empty((count, rows), dtype)
