"""The desk's own copy of the table: capped rows, one file per column, each known by its hash, readable by its owner
only.

A copy, because a budget only means something about data that stays as it is: the file that a desk was opened on may
be moved, edited or deleted. One file per column, because a query should read and check only what it needs.

Rows over the cap are left out once and for all when the desk opens. Which rows of a person are kept is drawn from the
system's randomness: each row gets a random rank, independent of all else, and the m lowest of each person stay. A
person's rows are thus chosen from among that person's rows alone, and equally likely; that the same choice serves all
queries costs nothing, since the guarantee holds for every possible choice.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from shoal import progress
from shoal.dp.aggregates import PERSON
from shoal.dp.terms import StoredColumn, Terms
from shoal.dp.types import Type, convert
from shoal.errors import InputError
from shoal.storage import Array, Column, Table
from shoal.storage.writing import write_bytes

MOST_ROWS = 2**31


def kept_rows(persons: Column, most: int) -> Array:
    """Which rows stay: of each person at most `most`, drawn at random.

    >>> from shoal.storage.reading import read
    >>> people = read({"who": ["a", "a", "a", "b"]})
    >>> kept = kept_rows(people["who"], 2)
    >>> int(kept.sum()), bool(kept[3])
    (3, True)
    """
    ranks = np.random.default_rng(secrets.randbits(256)).random(len(persons.codes))
    order = np.lexsort((ranks, persons.codes))
    ordered = persons.codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    lengths = np.diff(np.r_[starts, len(ordered)])
    place = np.arange(len(ordered)) - np.repeat(starts, lengths)
    kept = np.zeros(len(ordered), bool)
    kept[order[place < most]] = True
    return kept


def write_columns(
    folder: Path, table: Table, types: Mapping[str, Type], person: str | None
) -> tuple[tuple[StoredColumn, ...], StoredColumn | None, dict[str, int]]:
    """Write each column to a file of its own in its declared type; persons as numbers that say nothing.

    Beside the files: how many values of each column did not fit its type, for the owner only.
    """
    if table.rows > MOST_ROWS:
        raise InputError(f"More than {MOST_ROWS:,} rows are too many for exact sums.", "Open a desk on a part of them.")
    folder.mkdir(mode=0o700)
    stored, persons, unfit = [], None, {}
    for number, column in enumerate(table.columns.values()):
        if column.name == person:
            series = pl.Series(PERSON, column.codes)
            persons = _write(folder / "persons.parquet", series, "person")
        else:
            series = typed_series(column, types[column.name])
            stored.append(_write(folder / f"{number}.parquet", series, types[column.name]))
            if lost := series.null_count() - column.nulls:
                unfit[column.name] = lost
        progress.report("writing", number + 1, len(table.columns))
    if not stored:
        raise InputError("There is no column to ask about.", "Open the desk on a table with more than the person.")
    return tuple(stored), persons, unfit


def typed_series(column: Column, wanted: Type) -> pl.Series:
    """The values row by row in a declared type; NaN and what does not fit are missing values.

    >>> from shoal.storage.reading import read
    >>> typed_series(read({"x": [1.5, float("nan")]})["x"], "number").to_list()
    [1.5, None]
    """
    if column.values.dtype == pl.Binary:
        raise InputError(f"Column '{column.name}' holds bytes.", "Leave it out: name the other columns.")
    # the dictionary is in value order, not in the order of rows, and each value is read by itself
    values = convert(column.values, wanted)
    return values.extend_constant(None, 1).gather(column.codes).alias(column.name)


def blanked(column: Column, words: Sequence[str]) -> Column:
    """Some texts of a column as missing values.

    >>> from shoal.storage.reading import read
    >>> blanked(read({"x": ["a", "", "NA"]})["x"], ["", "NA"]).decode().to_list()
    ['a', None, None]
    """
    if column.values.dtype != pl.String or not (gone := column.values.is_in(list(words))).any():
        return column
    kept = ~gone.to_numpy()
    values = column.values.filter(~gone)
    place = np.append(np.where(kept, np.cumsum(kept) - 1, len(values)), len(values))
    codes = place[column.codes].astype(column.codes.dtype)
    return replace(column, codes=codes, values=values, nulls=int((codes == len(values)).sum()))


def _write(path: Path, series: pl.Series, word: Type | Literal["person"]) -> StoredColumn:
    content = io.BytesIO()
    pl.DataFrame([series]).write_parquet(content, compression="zstd")
    written = content.getvalue()
    write_bytes(path, written, 0o600)
    return StoredColumn(series.name, word, path.name, hashlib.sha256(written).hexdigest())


def read_columns(folder: Path, terms: Terms, names: Sequence[str], persons: bool) -> pl.DataFrame:
    """The columns of a query, each checked against the hash that the terms name."""
    wanted = [column for column in terms.columns if column.name in names]
    if persons and terms.persons is not None:
        wanted.append(terms.persons)
    return pl.DataFrame([_read(folder, column) for column in wanted or terms.columns[:1]])


def _read(folder: Path, column: StoredColumn) -> pl.Series:
    try:
        content = (folder / column.file).read_bytes()
    except OSError as error:
        raise InputError(
            f"The desk's copy of column '{column.name}' cannot be read: {error.strerror}.", "Nothing was spent."
        ) from None
    if hashlib.sha256(content).hexdigest() != column.sha256:
        raise InputError(
            f"The desk's copy of column '{column.name}' is not the one that the desk was opened with (hash mismatch).",
            "Nothing was spent. Restore it, or open a new desk; budgets of desks on the same people add up.",
        )
    return pl.read_parquet(io.BytesIO(content)).to_series()
