"""Writers of the formats that shoal writes by itself, without labels."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from shoal.formats.labels import Labels


def write_parquet(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A Parquet file."""
    frame.write_parquet(path)


def write_arrow(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """An Arrow IPC file, which Feather is another name of."""
    frame.write_ipc(path)


def write_json_lines(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """One JSON object per line."""
    frame.write_ndjson(path)


def write_csv(frame: pl.DataFrame, path: Path, labels: Labels) -> None:
    """A text file with commas, or with tabs where its extension says so."""
    frame.write_csv(path, separator="\t" if path.suffix.lower() == ".tsv" else ",")
