"""A table on disk as a later run finds it: its codes stay where they are, its dictionaries are kept beside them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.formats import ColumnLabels
from shoal.table.spill import Spill
from shoal.table.table import Array, Column, Table


def keep_table(table: Table, spill: Spill) -> None:
    """Note a table that was read in the journal of its folder; one that is partly in memory cannot be kept."""
    columns = [_kept(column, number, spill) for number, column in enumerate(table.columns.values())]
    if all(columns):
        about = [table.rows, table.name, table.notes, table.source_names]
        labels = {name: [own.label, list(own.values.items()), list(own.missing)] for name, own in table.labels.items()}
        spill.keep(table={"columns": columns, "about": about, "labels": labels})


def kept_table(spill: Spill) -> Table | None:
    """The table that a run before kept, if it did."""
    if "table" not in spill.state:
        return None
    rows, name, notes, source_names = spill.state["table"]["about"]
    columns = [_found(kept, spill) for kept in spill.state["table"]["columns"]]
    by_name = {column.name: column for column in columns}
    return Table(
        by_name, rows, name, tuple(notes), None, tuple(source_names), labels=_labels(spill.state["table"]["labels"])
    )


def _labels(kept: dict[str, Any]) -> dict[str, ColumnLabels]:
    return {
        name: ColumnLabels(label, dict(map(tuple, values)), tuple(map(tuple, missing)))
        for name, (label, values, missing) in kept.items()
    }


def _kept(column: Column, number: int, spill: Spill) -> dict[str, Any] | None:
    if column.declared is not None:
        return None
    arrays = [column.codes, *([] if column.written is None else [column.written[0]])]
    if not all(_is_in(array, spill.folder) for array in arrays):
        return None
    values = {"values": column.values, "dtype": pl.Series([], dtype=column.dtype)}
    if column.written is not None:
        values["written"] = column.written[1]
    for word, series in values.items():
        _write(series, f"{word}-{number}", spill)
    files = [[Path(str(getattr(array, "filename", ""))).name, array.dtype.str] for array in arrays]
    return {
        "name": column.name,
        "number": number,
        "files": files,
        "nulls": column.nulls,
        "respelled": column.respelled,
    }


def _is_in(array: Array, folder: Path) -> bool:
    return isinstance(array, np.memmap) and Path(str(array.filename)).parent == folder.resolve()


def _write(series: pl.Series, name: str, spill: Spill) -> None:
    buffer = io.BytesIO()
    series.alias("series").to_frame().write_ipc(buffer)
    file = spill.file(name)
    file.append(np.frombuffer(buffer.getbuffer(), np.uint8))
    file.close()


def _found(kept: dict[str, Any], spill: Spill) -> Column:
    number = kept["number"]

    def series(word: str) -> pl.Series:
        return pl.read_ipc(io.BytesIO((spill.folder / f"{word}-{number}").read_bytes()))["series"]

    arrays = [np.memmap(spill.folder / name, dtype, "r") for name, dtype in kept["files"]]
    written = (arrays[1], series("written").alias("")) if len(arrays) > 1 else None
    values = series("values").alias(kept["name"])
    return Column(kept["name"], arrays[0], values, kept["nulls"], series("dtype").dtype, written, kept["respelled"])
