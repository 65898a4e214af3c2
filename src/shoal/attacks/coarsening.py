"""Columns made coarser for a sweep: numbers by width, times by duration, texts by their leading characters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.table import Column
from shoal.table.classes import Coded

_DURATION = re.compile(r"[1-9]\d{0,5}(?:s|m|h|d|w|mo|q|y)")


def coarsened(column: Column, step: str) -> Coded:
    """The codes of a column in steps: a width for numbers, `6h` or `1w` for times, leading characters for texts.

    Only the dictionary is touched, never a row.

    >>> from shoal.reading import read
    >>> coarsened(read({"hour": [0, 5, 6, 13]})["hour"], "6").codes.tolist()
    [0, 0, 1, 2]
    """
    values = column.values
    if values.dtype.is_temporal():
        coarse = _truncated(column, step)
    elif values.dtype.is_numeric():
        coarse = (values.cast(pl.Float64) / _width(column, step)).floor()
    else:
        width = _width(column, step)
        if width != int(width):
            raise InputError(f"{step} leading characters of '{column.name}' cannot be kept.", "Use a whole number.")
        coarse = values.cast(pl.String).str.head(int(width))
    group = coarse.rank("dense").to_numpy().astype(np.int64) - 1
    groups = int(group.max(initial=-1)) + 1
    return Coded(np.append(group, groups)[column.codes], groups + (column.nulls > 0))


def _truncated(column: Column, step: str) -> pl.Series:
    if not _DURATION.fullmatch(step):
        raise InputError(
            f"Step '{step}' of '{column.name}' is not a duration.", "Write a number and a unit, such as 6h, 1d or 1w."
        )
    values = column.values
    return values.cast(pl.Datetime("us")).dt.truncate(step)


def _width(column: Column, step: str) -> float:
    try:
        width = float(step)
    except ValueError:
        width = 0.0
    if not 0 < width < float("inf"):
        what = "a width" if column.values.dtype.is_numeric() else "a number of leading characters"
        cure = "Write a number above 0; durations such as 6h need a column of dates or times."
        raise InputError(f"Step '{step}' of '{column.name}' is not {what}.", cure)
    return width


def sweep(coarsen: Mapping[str, Sequence[str]], columns: Sequence[str]) -> Iterator[dict[str, str]]:
    """Every combination of steps, one for each column that is swept.

    >>> list(sweep({"cell": ["2"], "hour": ["1", "6"]}, ["cell", "hour"]))
    [{'cell': '2', 'hour': '1'}, {'cell': '2', 'hour': '6'}]
    """
    for name, steps in coarsen.items():
        if name not in columns:
            raise InputError(f"Column '{name}' is swept and is not one of those that the attacker knows.", "Name it.")
        if not steps:
            raise InputError(f"Column '{name}' is swept over no step.", "Write steps such as 1,2,4.")
    for steps in product(*coarsen.values()):
        yield dict(zip(coarsen, steps, strict=True))
