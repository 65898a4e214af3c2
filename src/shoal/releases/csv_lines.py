"""Many rows as a text file, of which few differ: each line is written out once, and lines come one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal import progress
from shoal.anonymization.results import Anonymized
from shoal.compiled import at_hand
from shoal.compiled.words import SPARE, words_of
from shoal.formats import plain
from shoal.releases.line_loops import put_lines
from shoal.releases.treatment import frame_of
from shoal.table import Array, Column
from shoal.table.classes import Coded, class_of_each_row, class_sizes, first_row_of_each_class, pack
from shoal.table.table import on_disk

# lines that are put together at once, so that they stay in the cache
_ROWS = 1 << 15
# of so many rows at the start, and then of all, so many share a line with others where this pays
_FIRST, _ALIKE = 1 << 16, 4
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def write_lines(result: Anonymized, rows: int, draft: Path, target: Path, order: Array | None) -> bool:
    """Write a result as a text file, in an `order` of its rows, if any; False where that is not the way to do it."""
    separator, keys = _SEPARATORS.get(target.suffix.lower()), _keys(result)
    if separator is None or rows != result.table.rows or any(on_disk(key.codes) for key in keys):
        return False
    if len(class_sizes([Coded(key.codes[:_FIRST], key.cardinality) for key in keys])) * _ALIKE > min(rows, _FIRST):
        return False
    line_of_row, count = class_of_each_row(pack(keys))
    if count * _ALIKE > rows:
        return False
    frame = frame_of(result.block(first_row_of_each_class(line_of_row, count)), target)
    frame = frame.with_columns(plain.zoned_as_texts())
    lines = frame.write_csv(include_header=False, separator=separator).encode()
    starts = _starts(lines)
    if len(starts) != count + 1:  # a cell holds the end of a line
        return False
    with draft.open("wb") as file:
        file.write(frame.clear().write_csv(separator=separator).encode())
        for stop, block in _blocks(lines, starts, line_of_row, order):
            file.write(block)
            progress.report("writing", stop, rows)
    return True


def _starts(lines: bytes) -> Array:
    """Where lines start, and where the last one ends."""
    ends = np.flatnonzero(np.frombuffer(lines, np.uint8) == ord("\n"))
    return np.concatenate([[0], ends + 1]).astype(np.uint64)


def _blocks(lines: bytes, starts: Array, line_of_row: Array, order: Array | None) -> Iterator[tuple[int, Any]]:
    """The lines of all rows, some at a time, each block with the row behind its last."""
    put = _put_by_loop(lines, starts) if at_hand(put_lines) else _put_by_texts(lines)
    line_of_row = line_of_row.astype(np.uint32)
    for start in range(0, len(line_of_row), _ROWS):
        here = slice(start, min(start + _ROWS, len(line_of_row)))
        yield here.stop, put(line_of_row[here] if order is None else line_of_row.take(order[here]))


def _put_by_loop(lines: bytes, starts: Array) -> Callable[[Array], Any]:
    words, out = words_of(lines + bytes(2 * SPARE)), np.empty(_ROWS * int(np.diff(starts).max()) + 2 * SPARE, np.uint8)
    return lambda rows: out.data[: put_lines(words, starts, rows, words_of(out.data))]


def _put_by_texts(lines: bytes) -> Callable[[Array], Any]:
    texts = pl.Series(lines.decode().split("\n")[:-1], dtype=pl.String)
    return lambda rows: (texts.gather(rows).str.join("\n").item() + "\n").encode()


def _keys(result: Anonymized) -> list[Coded]:
    """What tells lines apart: the codes of all columns that are written, and of their cells as they came."""
    gone, found = set(result.policy.with_role("identifier")), list[Coded]()
    for name, own in result.table.columns.items():
        if name not in gone:
            shown = result.columns[name].encoded if name in result.columns else [own]
            found += [key for column in shown for key in _codes(column)]
    return found


def _codes(column: Column) -> list[Coded]:
    own = Coded(column.codes, len(column.values) + 1)
    return [own] if column.written is None else [own, Coded(column.written[0], len(column.written[1]) + 1)]
