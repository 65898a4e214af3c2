"""A column of notes while identifiers are looked for in it, and when they are replaced."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl

from shoal.dataclasses import dataclass
from shoal.scrubbing.found_spans import FoundSpans
from shoal.table import Array, Column


@dataclass(frozen=True, repr=False)
class ScrubbedColumn:
    """A column of notes: which distinct note each row holds (-1: none), what was found in it, what it became.

    `altered`: which notes are not what they were.
    """

    name: str
    rows: Array
    spans: FoundSpans
    texts: pl.Series
    altered: Array

    def series(self) -> pl.Series:
        """The notes with their identifiers replaced, row by row."""
        there = self.rows >= 0
        if not len(self.texts):
            return pl.Series(self.name, [None] * len(self.rows), pl.String)
        found = self.texts.gather(np.where(there, self.rows, 0)).alias(self.name)
        return found if there.all() else found.zip_with(pl.Series(there), pl.Series([None], dtype=pl.String))

    @property
    def weights(self) -> Array:
        """How many rows hold each distinct note."""
        return np.bincount(self.rows[self.rows >= 0], minlength=len(self.texts))

    @property
    def notes(self) -> int:
        """How many rows hold a note."""
        return int(np.count_nonzero(self.rows >= 0))

    @property
    def changed(self) -> int:
        """How many rows have a note that is not the one that it was."""
        return int(self.weights[self.altered].sum())

    def counts(self) -> Counter[str]:
        """How many identifiers of each kind were replaced, over all rows."""
        return self.spans.counts(self.weights)

    def records(self) -> Counter[str]:
        """How many rows hold an identifier of each kind."""
        return self.spans.records(self.weights)

    def known_found(self) -> int:
        """How many of the identifiers are values that the table has of the person."""
        return self.spans.known(self.weights)

    def places(self) -> pl.DataFrame:
        """Row, start, end, kind and score of every span: no text."""
        frame = self.spans.places().select("note", pl.lit(self.name).alias("column"), "start", "end", "kind", "score")
        rows = pl.DataFrame({"row": np.arange(len(self.rows)), "note": self.rows.astype(np.int64)})
        return rows.join(frame, on="note", how="inner").sort("row", "start").drop("note")


@dataclass(frozen=True, repr=False)
class SearchedColumn:
    """A column of notes in which identifiers were found: its distinct notes, whose they are, and which rows hold them.

    Notes are numbered person by person; notes of different persons are one where all is alike.
    """

    column: Column
    rows: Array
    codes: Array
    people: Array
    spans: FoundSpans
