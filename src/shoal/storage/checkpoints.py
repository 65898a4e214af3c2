"""How far reading has come: codes are on disk already, dictionaries and places are noted after each file."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.storage.encode import ColumnEncoder, EncodedRows, PartOnDisk
from shoal.storage.formats import ColumnLabels
from shoal.storage.numbers import Integers
from shoal.storage.spill import Spill, SpilledFile
from shoal.storage.table import Array, Column, Table

# noting takes some milliseconds for each column
SECONDS_BETWEEN = 10.0


class Checkpoints:
    """What a run after a kill needs of the columns that are being read."""

    def __init__(self, spill: Spill) -> None:
        self.spill = spill
        self._files: dict[str, SpilledFile] = {}
        self._kept: dict[str, dict[str, Any]] = {}
        self._last = time.monotonic()

    def keep(self, encoders: Mapping[str, ColumnEncoder], about: dict[str, Any]) -> None:
        """Note what the encoders have, with what else is known, unless it was noted a moment ago."""
        if time.monotonic() - self._last < SECONDS_BETWEEN:
            return
        for number, (name, encoder) in enumerate(encoders.items()):
            if name not in self._files:
                self._files[name] = self.spill.file(f"dictionaries-{number}")
                self._kept[name] = {"parts": [], "texts": [], "file": f"dictionaries-{number}"}
            self._note(encoder, self._kept[name], self._files[name])
        self.spill.keep(reading={**about, "columns": self._kept})
        self._last = time.monotonic()

    def _note(self, encoder: ColumnEncoder, kept: dict[str, Any], file: SpilledFile) -> None:
        """Note what came since the last time."""
        for part in encoder.parts[len(kept["parts"]) :]:
            codes = part.codes
            assert isinstance(codes, PartOnDisk)
            assert not isinstance(part.values, Integers), "on disk a part has the dictionary as it was"
            values = None if part.values is None else _append(part.values, file)
            kept["parts"].append([codes.start, codes.dtype.str, codes.length, values])
        known = sum(count for _, _, count in kept["texts"])
        texts = encoder.texts_from(known)
        if len(texts):
            kept["texts"].append([*_append(texts, file), len(texts)])
        signs = encoder.negative_zeros
        kept["signs"] = [file.append(signs), len(signs)]
        kept["dtypes"] = [_append(pl.Series([], dtype=dtype), file) for dtype in encoder.dtypes]
        assert encoder.file is not None
        kept["codes"], kept["bytes"], kept["rows"] = encoder.file.path.name, encoder.file.bytes, encoder.rows
        kept["end"] = file.bytes

    def restored(self, new: Callable[[str], ColumnEncoder]) -> dict[str, ColumnEncoder] | None:
        """The encoders as a run that was killed noted them, if it did."""
        columns = self.spill.state.get("reading", {}).get("columns")
        if columns is None:
            return None
        found = {}
        for name, kept in columns.items():
            file = SpilledFile(self.spill.folder / kept["file"], kept["end"])
            codes = SpilledFile(self.spill.folder / kept["codes"], kept["bytes"])
            parts = [
                EncodedRows(
                    PartOnDisk(codes, start, np.dtype(dtype), length), None if at is None else _series(file, *at)
                )
                for start, dtype, length, at in kept["parts"]
            ]
            texts = [_series(file, start, length) for start, length, _ in kept["texts"]]
            encoder = new(name)
            encoder.restore(
                self.spill,
                codes,
                parts,
                pl.concat(texts) if texts else None,
                [_series(file, *at).dtype for at in kept["dtypes"]],
                file.read(kept["signs"][0], np.int64, kept["signs"][1]),
                kept["rows"],
            )
            found[name], self._files[name], self._kept[name] = encoder, file, kept
        return found


def _append(series: pl.Series, file: SpilledFile) -> tuple[int, int]:
    """Write a series at the end of a file: where it starts, and its bytes."""
    buffer = io.BytesIO()
    series.alias("series").to_frame().write_ipc_stream(buffer)
    return file.append(np.frombuffer(buffer.getbuffer(), np.uint8)), buffer.getbuffer().nbytes


def _series(file: SpilledFile, start: int, length: int) -> pl.Series:
    return pl.read_ipc_stream(io.BytesIO(file.read(start, np.uint8, length).tobytes()))["series"].alias("")


# A table on disk as a later run finds it: its codes stay where they are, its dictionaries are kept beside them.


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
