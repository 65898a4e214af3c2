"""How far reading has come: codes are on disk already, dictionaries and places are noted after each file."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import polars as pl

from shoal.table.coded import FileTexts
from shoal.table.encode import ColumnEncoder, Part, PartOnDisk
from shoal.table.integers import Integers
from shoal.table.spill import Spill, SpilledFile

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
            assert not isinstance(part.values, (Integers, FileTexts)), "on disk a part has the dictionary as it was"
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
                Part(PartOnDisk(codes, start, np.dtype(dtype), length), None if at is None else _series(file, *at))
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
