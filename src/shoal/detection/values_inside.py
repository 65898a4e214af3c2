"""Columns of text that leave as they are and hold values of identifiers of the same record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from shoal.storage import Column
from shoal.wording import counted, in_words

# so many records are looked at, evenly spread: a warning needs no more
LOOKED_AT = 20_000
# words and codes of so many letters or digits; shorter ones stand in a text by chance
_WORD = r"[\p{L}\p{N}]{4,}"


def values_inside(column: Column, identifiers: Sequence[Column]) -> str | None:
    """A warning where texts of a column hold words of the identifiers of the same record; None where none does.

    >>> from shoal.storage.reading import read
    >>> table = read({"name": ["Ann Okonkwo", "Bo Li"], "note": ["okonkwo has fever", "better"]})
    >>> values_inside(table["note"], [table["name"]])
    'note leaves as it is, and holds values of name in 1 of 2 records looked at: with the role text it is scrubbed'
    """
    if column.values.dtype != pl.String or not column.values.str.contains(r"\S\s+\S").any():
        return None
    rows = len(column.codes)
    some = np.unique(np.linspace(0, rows - 1, min(rows, LOOKED_AT)).astype(np.int64)) if rows else np.arange(0)
    texts = _words(column, some)
    hits = {entry.name: _shared(texts, _words(entry, some)) for entry in identifiers if entry.name != column.name}
    found = [name for name, hit in hits.items() if hit.any()]
    if not found:
        return None
    count = int(np.logical_or.reduce([hits[name] for name in found]).sum())
    return (
        f"{column.name} leaves as it is, and holds values of {in_words(found)} in {count:,} of "
        f"{counted(len(some), 'record')} looked at: with the role text it is scrubbed"
    )


def _words(column: Column, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> pl.Series:
    """The words of each row's value, in lower case."""
    codes, inverse = np.unique(column.codes[rows].astype(np.int64), return_inverse=True)
    there = codes[(codes >= 0) & (codes < len(column.values))]
    values = column.values.gather(there).cast(pl.String, strict=False)
    words = values.fill_null("").str.to_lowercase().str.extract_all(_WORD)
    places = np.searchsorted(there, codes)
    known = np.isin(codes, there)
    every = words.extend(pl.Series([[]], dtype=pl.List(pl.String)))
    return every.gather(np.where(known, places, len(there))[inverse.ravel()])


def _shared(first: pl.Series, second: pl.Series) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Row by row, whether two lists of words have one in common."""
    shared = pl.DataFrame({"first": first, "second": second}).select(
        pl.col("first").list.set_intersection("second").list.len() > 0
    )
    return shared.to_series().to_numpy()
