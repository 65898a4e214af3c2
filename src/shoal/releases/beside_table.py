"""A released file as others read it: texts as they are spelled, and nothing beside the table."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.policy.judgement.shown_classes import Check
from shoal.storage import Table
from shoal.storage.encode import encode
from shoal.storage.formats import format_of_file
from shoal.storage.reading.beside import held_beside
from shoal.storage.reading.bytes import chunks, compression_of
from shoal.storage.writing import OutputFormat

# of a text file so many bytes are written again
_LOOKED_AT = 1 << 26
_MARK = b"\xef\xbb\xbf"


def as_the_file_spells(table: Table, names: Sequence[str]) -> Table:
    """Columns of a text file in which a value is spelled in two ways: their texts are values then, for no manifest says
    that the file was written from one. An empty cell alone is missing.

    >>> from shoal.storage.encode import ColumnEncoder
    >>> ages = ColumnEncoder("age", from_text_file=True)
    >>> ages.add(pl.Series(["1.0", "1.00", "2.0"]))
    >>> as_the_file_spells(Table({"age": ages.finish()}, 3), ["age"])["age"].values.to_list()
    ['1.0', '1.00', '2.0']
    """
    spelled = {}
    for name in names:
        column = table.columns.get(name)
        if column is None or column.written is None or column.written[1].dtype != pl.String:
            continue
        codes, texts = column.written
        cells = texts.replace("", None).gather(codes).alias(name)
        if cells.drop_nulls().n_unique() > len(column.values):
            spelled[name] = encode(cells)
    return replace(table, columns={**table.columns, **spelled}) if spelled else table


def beside_the_table(data: Path, table: Table) -> list[Check]:
    """Whether a file holds nothing but the table that was judged."""
    found = held_beside(data, table)
    return [Check("file", False, f"beside its table it holds {', '.join(found)}")] if found else []


def written_again(data: Path, output: OutputFormat) -> list[Check]:
    """Whether a text file is what shoal writes of its cells, byte by byte. A cell in quotes that needs none, another
    line end, a blank, a number with another zero would mark a record; a line above the header is no part of the table.
    """
    if not data.is_file():
        return []
    with data.open("rb") as file:
        head = file.read(64)
    form = format_of_file(head, [end.lower() for end in data.suffixes])
    if form is not None and form.name not in ("CSV", "JSON lines"):
        return []
    body = bytearray()
    for piece, _ in chunks(data, compression_of(head)):
        body += piece
        if len(body) > _LOOKED_AT:
            del body[_last_record(body) :]
            break
    text = bytes(body)
    lines = form is not None and form.name == "JSON lines"
    try:
        same = (_as_json(text) if lines else _as_text(text, output, data)) == text
    except (pl.exceptions.PolarsError, UnicodeDecodeError):
        same = False
    detail = "it is not written as shoal writes its cells: a spelling, quotes or line ends would mark records"
    return [] if same else [Check("file", False, detail)]


def _as_text(body: bytes, output: OutputFormat, data: Path) -> bytes:
    mark = _MARK if output.bom else b""
    separator = output.separator(data)
    cells = pl.read_csv(body.removeprefix(mark), separator=separator, has_header=False, infer_schema=False)
    return mark + cells.write_csv(separator=separator, include_header=False).encode()


def _as_json(body: bytes) -> bytes:
    return pl.read_ndjson(io.BytesIO(body), infer_schema_length=None).write_ndjson().encode()


def _last_record(body: bytearray) -> int:
    """Where the last whole record ends: behind a line end with an even number of quotes before it."""
    end = body.rfind(b"\n") + 1
    while end > 0 and body.count(b'"', 0, end) % 2:
        end = body.rfind(b"\n", 0, end - 1) + 1
    return end
