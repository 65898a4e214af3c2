"""Many rows as a text file, of which few differ: each line is written out once, and lines come one after the other."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal import progress
from shoal.anonymization.results import Anonymized
from shoal.formats import plain
from shoal.releases.treatment import frame_of
from shoal.table import Array, Column
from shoal.table.classes import Coded, class_of_each_row, class_sizes, first_row_of_each_class, pack
from shoal.table.table import on_disk

# lines that are put together at once
_ROWS = 1 << 18
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
    *lines, rest = frame.write_csv(include_header=False, separator=separator).split("\n")
    if rest or len(lines) != count:  # a cell holds the end of a line
        return False
    texts = pl.Series(lines, dtype=pl.String)
    with draft.open("wb") as file:
        file.write(frame.clear().write_csv(separator=separator).encode())
        for start in range(0, rows, _ROWS):
            here = slice(start, min(start + _ROWS, rows))
            found = line_of_row[here if order is None else order[here]]
            file.write((texts.gather(found).str.join("\n").item() + "\n").encode())
            progress.report("writing", here.stop, rows)
    return True


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
