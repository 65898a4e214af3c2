"""SPSS, Stata and SAS files: codes as values, labels beside them, codes that mean missing as values of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError, Message
from shoal.storage.formats import ColumnLabels, needed
from shoal.storage.reading.files import InputFile, Options, TableFile

# the word among the `missing` ones that stands for all codes that a file declares as missing
USER_MISSING = "user-missing"
_SHOWN = 8
# a SAS transport file is whole records of so many bytes; it does not tell how many
_SAS_RECORD = 80


def open_survey(found: InputFile, options: Options, head: bytes, form: str) -> TableFile:
    """A file by `form`: SPSS, Stata, SAS or SAS transport."""
    with needed(form, "survey"):
        import pyreadstat  # noqa: F401
    path = found.path
    if form == "SAS transport" and path.stat().st_size % _SAS_RECORD:
        raise _damage(path)
    child = _child(path, form, options.encoding)
    about, encoding = child.about, child.encoding
    labels = {name: own for name, said in about["columns"].items() if (own := _labels(said)) is not None}
    words = frozenset(options.missing)
    waiting, met = [child], set[str]()

    def batches(columns: list[str]) -> Iterator[tuple[pl.DataFrame, int]]:
        reader = waiting.pop() if waiting else _Child(path, form, encoding)
        size, rows, seen = path.stat().st_size, about["rows"], 0
        for frame in reader.frames(columns):
            seen += len(frame)
            met.update(_met(frame, words))
            yield _clean(frame, labels, words), size * seen // max(rows or seen, 1)

    source = TableFile(path, about["names"], batches, labels=labels, met=met)
    if encoding != options.encoding:
        source.notes.append(f"read as {encoding}")
    declared = [name for name, own in labels.items() if own.missing]
    if declared and USER_MISSING not in words:
        more = " and more" if len(declared) > _SHOWN else ""
        source.notes.append(
            f"{', '.join(declared[:_SHOWN])}{more}: codes that the file declares as missing are values of their own; "
            f"--missing {USER_MISSING} reads them as missing"
        )
    return source


def _damage(path: Path) -> InputError:
    return InputError(
        f"{path} cannot be read to its end: it is damaged, cut short, or written in another encoding.",
        Message("Copy or export it again; or name its `{encoding}`, such as utf-8 or cp1252."),
    )


def _child(path: Path, form: str, encoding: str | None) -> _Child:
    """The process for a file; one of Stata before version 14 does not tell its encoding: the usual one, or UTF-8."""
    try:
        return _Child(path, form, encoding)
    except InputError:
        if form != "Stata" or encoding is not None:
            raise
        return _Child(path, form, "utf-8")


class _Child:
    """The process that reads a file: a damaged one can end the library, and must not end us."""

    def __init__(self, path: Path, form: str, encoding: str | None) -> None:
        self._path, self.encoding = path, encoding
        self._process = subprocess.Popen(
            [sys.executable, "-m", "shoal.storage.formats.survey_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._send({"path": str(path.resolve()), "form": form, "encoding": encoding})
        line = self._out.readline()
        if not line:
            raise self._damage()
        self.about: dict[str, Any] = json.loads(line)

    @property
    def _out(self) -> Any:
        return self._process.stdout

    def _send(self, content: Any) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(content).encode() + b"\n")
            self._process.stdin.flush()

    def frames(self, columns: list[str]) -> Iterator[pl.DataFrame]:
        """The rows, batch by batch."""
        self._send(columns)
        try:
            while True:
                length = self._out.read(8)
                if len(length) < 8:
                    raise self._damage()
                if not any(length):
                    return
                content = self._out.read(int.from_bytes(length, "big"))
                if len(content) < int.from_bytes(length, "big"):
                    raise self._damage()
                yield pl.read_ipc_stream(content)
        finally:
            self._end()

    def _damage(self) -> InputError:
        self._end()
        return _damage(self._path)

    def _end(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.kill()
        self._process.wait()

    def __del__(self) -> None:
        self._end()


def _labels(said: dict[str, Any]) -> ColumnLabels | None:
    """What a file says of a column."""
    tags = [f".{tag}" for tag in said["tags"]]
    missing = [*((low, high) for low, high in said["missing"]), *((tag, tag) for tag in tags)]
    values = {_code(code, bool(tags)): label for code, label in said["values"]}
    return ColumnLabels(said["label"], values, tuple(missing)) if said["label"] or values or missing else None


def _code(code: float | str, tagged: bool) -> float | str:
    if isinstance(code, str):
        return f".{code.lower()}" if tagged else code
    return int(code) if code == int(code) else code


def _clean(frame: pl.DataFrame, labels: dict[str, ColumnLabels], words: frozenset[str]) -> pl.DataFrame:
    return pl.DataFrame([_cleaned(series, labels.get(series.name), words) for series in frame.get_columns()])


def _cleaned(series: pl.Series, own: ColumnLabels | None, words: frozenset[str]) -> pl.Series:
    """Whole numbers as such, blanks as missing, moments as exact as the formats are, and what else means missing."""
    if own is not None and own.missing and USER_MISSING in words:
        series = series.set(own.declares_missing(series), None)
        if own.has_tags and series.dtype == pl.String:
            series = series.cast(pl.Float64)
    if series.dtype == pl.String:
        series = series.set(series.str.strip_chars() == "", None)
    elif isinstance(series.dtype, pl.Datetime):
        series = series.dt.round("1ms")
    elif series.dtype.is_float():
        series = _whole(series.fill_nan(None))
    plain = list(words - {USER_MISSING})
    return series.set(series.cast(pl.String).is_in(plain).fill_null(False), None) if plain else series


def _met(frame: pl.DataFrame, words: frozenset[str]) -> set[str]:
    """Which words for missing there are."""
    plain = list(words - {USER_MISSING})
    if not plain:
        return set()
    texts = [(_whole(series.fill_nan(None)) if series.dtype.is_float() else series).cast(pl.String) for series in frame]
    return {word for series in texts for word in series.filter(series.is_in(plain)).unique()}


def _whole(series: pl.Series) -> pl.Series:
    """Whole numbers as integers: these formats keep every number as a float."""
    known = series.drop_nulls()
    exact = known.abs() < 1 << 53
    return series.cast(pl.Int64) if bool(((known == known.round()) & exact).all()) else series
