"""Reads one SPSS, Stata or SAS file in a process of its own: a damaged file can end the library that reads it.

What is asked for comes in as two lines of JSON (the file; the columns that are wanted); out go a line of JSON with what
the file says of itself, and the rows as Arrow streams, each behind its length.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import polars as pl

_CELLS_AT_ONCE = 1 << 24
# a file is read anew up to each batch: with this many batches at most, reading stays linear in its rows
_MOST_BATCHES = 8

Read = Callable[..., tuple[pl.DataFrame, Any]]


def main(asked: BinaryIO, out: BinaryIO) -> None:
    """Answer one parent, and end."""
    request = json.loads(asked.readline())
    read = _reader(request["form"], request["path"], request["encoding"])
    about = read(metadataonly=True)[1]
    tags = _tags(read, about) if request["form"] in ("Stata", "SAS") else {}
    out.write(json.dumps(_said(about, tags)).encode() + b"\n")
    out.flush()
    line = asked.readline()
    if not line:
        return
    for frame in _batches(read, json.loads(line), about.number_rows, set(tags)):
        buffer = io.BytesIO()
        frame.write_ipc_stream(buffer)
        out.write(buffer.tell().to_bytes(8, "big"))
        out.write(buffer.getbuffer())
    out.write(bytes(8))
    out.flush()


def _reader(form: str, path: str, encoding: str | None) -> Read:
    import pyreadstat

    readers: dict[str, Any] = {
        "SPSS": pyreadstat.read_sav,
        "Stata": pyreadstat.read_dta,
        "SAS": pyreadstat.read_sas7bdat,
        "SAS transport": pyreadstat.read_xport,
    }
    extra = {} if form == "SAS transport" else {"user_missing": True}

    def read(**settings: Any) -> tuple[pl.DataFrame, Any]:
        frame, about = readers[form](path, output_format="polars", encoding=encoding, **extra, **settings)
        return frame, about

    return read


def _step(rows: int | None, columns: int) -> int:
    step = max(_CELLS_AT_ONCE // max(columns, 1), 1)
    return step if rows is None else max(step, -(-rows // _MOST_BATCHES))


def _frames(read: Read, columns: list[str], rows: int | None) -> Iterator[tuple[pl.DataFrame, Any]]:
    start, step = 0, _step(rows, len(columns))
    while True:
        frame, about = read(usecols=columns, row_offset=start, row_limit=step)
        start += len(frame)
        if len(frame):
            yield frame.select(columns), about
        if len(frame) < step or start == rows:
            break
    if rows is not None and start != rows:
        raise EOFError


def _tags(read: Read, about: Any) -> dict[str, list[str]]:
    """The letters of the extended missing values in each column: only its rows tell them."""
    found: dict[str, set[str]] = {}
    for _, part in _frames(read, list(about.column_names), about.number_rows):
        for name, letters in (part.missing_user_values or {}).items():
            found.setdefault(name, set()).update(letters)
    return {name: sorted(letters) for name, letters in found.items()}


def _batches(read: Read, columns: list[str], rows: int | None, tagged: set[str]) -> Iterator[pl.DataFrame]:
    for frame, _ in _frames(read, columns, rows):
        yield frame.with_columns(_with_tags(frame[name]) for name in columns if name in tagged)


def _with_tags(series: pl.Series) -> pl.Series:
    """Numbers beside letters of extended missing values, as texts: 1, 2.5 and .a.

    >>> _with_tags(pl.Series([1.0, "a", 2.5, None], dtype=pl.Object)).to_list()
    ['1', '.a', '2.5', None]
    """
    texts = pl.Series(series.name, series.to_list(), dtype=pl.String, strict=False)
    letters = texts.str.contains("^[A-Za-z_]$").fill_null(False)
    return texts.str.strip_suffix(".0").zip_with(~letters, "." + texts.str.to_lowercase())


def _said(about: Any, tags: dict[str, list[str]]) -> dict[str, Any]:
    """What a file says of itself: its columns, their labels, and the codes that mean missing."""
    columns = {
        name: {
            "label": about.column_names_to_labels.get(name) or None,
            "values": [[code, label] for code, label in (about.variable_value_labels or {}).get(name, {}).items()],
            "missing": [[pair["lo"], pair["hi"]] for pair in (about.missing_ranges or {}).get(name, [])],
            "tags": [letter.lower() for letter in tags.get(name, [])],
        }
        for name in about.column_names
    }
    return {"names": list(about.column_names), "rows": about.number_rows, "columns": columns}


if __name__ == "__main__":
    try:
        main(sys.stdin.buffer, sys.stdout.buffer)
    except Exception:  # the library's message may show values: the parent says what there is to say
        sys.exit(3)
