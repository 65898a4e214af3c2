"""Suppressed cells as the columns of a file, as classes and as boxes."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.anonymization.suppression import Suppressed
from shoal.ranges.boxed import Boxed, Side, numbers
from shoal.ranges.columns import ReleasedColumns, as_it_was
from shoal.ranges.forms import ColumnForm, escape
from shoal.ranges.parsing import STAR
from shoal.table import Array
from shoal.table.classes import Coded, class_of_each_row, first_row_of_each_class, pack
from shoal.table.texts import texts_of, with_null
from shoal.table.type_words import type_word


def shown(found: Suppressed) -> tuple[dict[str, ReleasedColumns], tuple[Array, int]]:
    """The columns as they are written, the class of each row (-1: `*` throughout), and how many classes there are.

    >>> from shoal.reading import read
    >>> from shoal.anonymization.suppression import suppress
    >>> found = suppress(read({"sex": ["f", "f", "m"]}).select(["sex"]), 2)
    >>> columns, (classes, count) = shown(found)
    >>> columns["sex"].series[0].to_list(), classes.tolist(), count
    (['f', 'f', '*'], [0, 0, -1], 1)
    """
    columns = {}
    for place, column in enumerate(found.columns):
        cells = found.cells(place)
        if not cells.any():
            columns[column.name] = as_it_was(column)
            continue
        is_text = column.values.dtype == pl.String
        own = escape(column.values) if is_text else texts_of(column.values)
        form = ColumnForm(kind="suppressed-cells", type=type_word(column.dtype), escaped=is_text)
        texts = pl.concat([with_null(own, None), pl.Series("label", [STAR])])
        codes = np.where(cells, len(texts) - 1, column.codes)
        written = texts.gather(codes).alias(column.name)
        columns[column.name] = ReleasedColumns([written], "truthful", cells, form, Coded(codes, len(texts)))
    class_of_row, count = np.full(len(found.masks), -1, np.int64), 0
    kept = np.flatnonzero(~found.throughout)
    if len(kept):
        codes_shown = [Coded(column.codes[kept], column.cardinality) for column in _coded(found)]
        class_of_row[kept], count = class_of_each_row(pack(codes_shown))
    return columns, (class_of_row, count)


def boxes_of(found: Suppressed) -> Boxed | None:
    """The rows as boxes, a suppressed cell being the whole range; none where a column holds texts or nulls."""
    if any(column.nulls or not _has_distances(column.values) for column in found.columns):
        return None
    box_of_row, count = class_of_each_row(pack(_coded(found)))
    first = first_row_of_each_class(box_of_row, count)
    sides = {}
    for place, column in enumerate(found.columns):
        cells, codes = found.cells(place)[first], column.codes[first].astype(np.int64)
        last = len(column.values) - 1
        sides[column.name] = Side(numbers(column), np.where(cells, 0, codes), np.where(cells, last, codes))
    return Boxed(box_of_row, sides)


def _has_distances(values: pl.Series) -> bool:
    return values.dtype.is_numeric() or values.dtype.is_temporal()


def _coded(found: Suppressed) -> list[Coded]:
    """The columns with one more code for `*`."""
    return [
        Coded(np.where(found.cells(place), column.cardinality, column.codes), column.cardinality + 1)
        for place, column in enumerate(found.columns)
    ]
