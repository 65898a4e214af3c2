"""The labelled set: columns with a header, values and the kind they hold, made by code from fixed seeds.

The recognisers were written against the group `dev`. `held out` and `real` were looked at when they were done, and the
general faults that they showed were mended; `fresh` was written and looked at after that.
"""

import random
import zlib
from dataclasses import dataclass

import labelled_makers as m
import numpy as np
import polars as pl
from labelled_cases import CASES, Case
from labelled_fresh import FRESH
from labelled_questions import QUESTIONS
from labelled_real import REAL

from shoal.identifiers import ColumnView


@dataclass(frozen=True)
class Labelled:
    """A column and the kind that a person would say it holds (None: none of ours)."""

    case: str
    header: str
    series: pl.Series
    kind: str | None
    source: str

    @property
    def group(self) -> str:
        """`dev`; `held out`, every third case by a checksum of its name; `real` and `fresh` by their files."""
        if self.source != "cases":
            return self.source
        return "held out" if zlib.crc32(self.case.encode()) % 3 == 0 else "dev"

    @property
    def view(self) -> ColumnView:
        """The column as the recognisers see it."""
        return as_view(self.header, self.series)


def as_view(header: str, series: pl.Series) -> ColumnView:
    """Distinct values and counts of a series."""
    counted = series.drop_nulls().value_counts()
    return ColumnView(header, counted.to_series(0), counted["count"].to_numpy().astype(np.int64), len(series))


def make(case: str, header: str, maker: m.Maker, *, rows: int, junk: float, nulls: float) -> pl.Series:
    """The values of a case: `junk` of them spoilt, `nulls` of them missing, always the same for the same case."""
    source = random.Random(zlib.crc32(f"{case}/{header}".encode()))
    values: list[object] = []
    for _ in range(rows):
        value = maker(source)
        if source.random() < junk:
            value = source.choice(["see notes", "??", "12", "x", "tbd", "9999999"]) if isinstance(value, str) else None
        values.append(None if source.random() < nulls else value)
    return pl.Series(header, values, strict=True)


def columns() -> list[Labelled]:
    """All cases, in the order of the files."""
    sources = {"cases": [*CASES, *QUESTIONS], "real": REAL, "fresh": FRESH}
    return [build(case, source) for source, cases in sources.items() for case in cases]


def build(case: Case, source: str) -> Labelled:
    """The column of a case."""
    kind, header, maker, options = case
    settings = {"rows": 400, "junk": 0.0, "nulls": 0.03, "tag": "", "dtype": None} | options
    name = f"{kind}/{header}/{settings['tag']}"
    sizes = {key: settings[key] for key in ("rows", "junk", "nulls")}
    series = make(name, header, maker, **sizes)
    dtype = settings["dtype"]
    return Labelled(name, header, series.cast(dtype) if dtype else series, kind, source)
